// Round brackets that change nothing.
#pragma once

#include "frontend/lnet/text/Tree.h"

namespace lstmc::lnet {

/// Finds the round brackets without which the tree would be the same, and gives their tokens the
/// roles NeedlessGroup and NeedlessClose. The tree is CPython's, in which `(a and b) and c` differs
/// from `a and b and c`.
void markNeedlessGroups(Tree &tree);

} // namespace lstmc::lnet
