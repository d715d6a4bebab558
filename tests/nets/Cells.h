// Unrolled recurrent layers, as scripts write them.
#pragma once

#include "tests/nets/Pool.h"

namespace lstmc::nets {

/// One or two layers of one kind over two steps or more of `sequence` [T, N, I], sometimes with a
/// step that differs from a layer's. Adds nothing to the items except their results.
void growCells(Pool &pool, const Item &sequence);

} // namespace lstmc::nets
