// Whether ops are in one group.
#pragma once

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"

#include "ir/sym/Attributes.h"

namespace lstmc::sym {

/// The group of an op by `attribute`, kGroupAttr or kRecomputeAttr; null: it is in none. All scopes
/// `recompute()` are one group.
inline mlir::Attribute groupOf(mlir::Operation *op, llvm::StringRef attribute) {
  mlir::Attribute group = op->getAttr(attribute);
  return llvm::isa_and_nonnull<mlir::LocationAttr>(group) ? mlir::UnitAttr::get(op->getContext())
                                                          : group;
}

} // namespace lstmc::sym
