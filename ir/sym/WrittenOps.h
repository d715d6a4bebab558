// The ops of WrittenOps.td.
#pragma once

#include "ir/sym/SymOps.h"

#include "ir/sym/WrittenInterfaces.h.inc"

#define GET_OP_CLASSES
#include "ir/sym/WrittenOps.h.inc"

namespace lstmc::sym {

/// Whether a parameter has no gradient: an auxiliary state, or one that fix-parameters fixed.
inline bool isAuxiliary(ParameterOp parameter) {
  auto role = parameter->getAttrOfType<mlir::StringAttr>("role");
  return parameter->hasAttr("auxiliary") || (role && role.getValue() == "auxiliary");
}

} // namespace lstmc::sym
