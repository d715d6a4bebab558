// Recurrent layers that are written out step by step, as scripts unroll them.
#pragma once

#include "tests/nets/Pool.h"

namespace lstmc::nets {

/// One or two layers of one kind over two steps or more of `sequence` [T, N, I], sometimes with a
/// step that is no step of a layer. Nothing is added but what they end with.
void growCells(Pool &pool, const Item &sequence);

} // namespace lstmc::nets
