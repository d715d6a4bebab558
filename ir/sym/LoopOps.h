// The ops of LoopOps.td.
#pragma once

#include "ir/sym/SymOps.h"

namespace lstmc::sym {
class NextOp;
} // namespace lstmc::sym

#define GET_OP_CLASSES
#include "ir/sym/LoopOps.h.inc"
