// Annotates every op that a builder creates with its device or stage.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace lstmc::passes {

/// Builder listener: new ops of a function get the IntegerAttr `attribute` with the current number,
/// and the attribute `also` of the op last passed to setAs().
class PlacementListener : public mlir::OpBuilder::Listener {
public:
  explicit PlacementListener(llvm::StringRef attribute, llvm::StringRef also = {})
      : attribute(attribute), also(also) {}

  void set(int64_t number) { value = number; }
  /// Copies the attributes of `op`; clears them if `op` has none.
  void setAs(mlir::Operation *op) {
    auto said = op->getAttrOfType<mlir::IntegerAttr>(attribute);
    value = said ? std::optional<int64_t>(said.getInt()) : std::nullopt;
    alsoValue = also.empty() ? mlir::Attribute() : op->getAttr(also);
  }

private:
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override {
    if (!llvm::isa_and_present<mlir::func::FuncOp>(op->getParentOp()))
      return;
    if (value && !op->hasAttr(attribute))
      op->setAttr(attribute, mlir::Builder(op).getI64IntegerAttr(*value));
    if (alsoValue && !op->hasAttr(also))
      op->setAttr(also, alsoValue);
  }

  llvm::StringRef attribute, also;
  std::optional<int64_t> value;
  mlir::Attribute alsoValue;
};

} // namespace lstmc::passes
