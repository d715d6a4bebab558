// Round brackets that change nothing.
#pragma once

#include "frontend/lnet/text/Tree.h"

namespace lstmc::lnet {

/// Gives the tokens of every round bracket that the tree would be the same without the roles
/// NeedlessGroup and NeedlessClose; "the same" as CPython sees it, for which `(a and b) and c` is
/// another tree than `a and b and c`.
void markNeedlessGroups(Tree &tree);

} // namespace lstmc::lnet
