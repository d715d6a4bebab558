// Redundant round brackets.
#pragma once

#include "frontend/lnet/text/Tree.h"

namespace lstmc::lnet {

/// Marks the tokens of redundant round brackets with the roles NeedlessGroup and NeedlessClose:
/// without these brackets the tree would be the same. The tree is CPython's, in which `(a and b)
/// and c` differs from `a and b and c`.
void markNeedlessGroups(Tree &tree);

} // namespace lstmc::lnet
