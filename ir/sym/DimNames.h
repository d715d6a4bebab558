// Names of extents that the source wrote as dims ("batch"), for messages.
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace lstmc::sym {

/// Names of extents, found by following the dims through shape rules when a message needs them, so
/// that solving a graph without errors costs nothing extra.
class DimNames {
public:
  /// Visits the ops of the block up to its end. When the block has grown, the next call continues
  /// after the last op visited.
  void update(mlir::Block &block);

  /// Null if the extent has no name.
  mlir::StringAttr find(mlir::Value value, int64_t axis) const;
  /// Records that two axes have one name, if either has a name.
  void join(mlir::Value a, int64_t axisA, mlir::Value b, int64_t axisB);

  /// Call this before an op leaves the block.
  void forget(mlir::Operation *op) {
    if (last_ == op)
      last_ = op->getPrevNode();
    for (mlir::Value result : op->getResults())
      names_.erase(result);
  }

private:
  void set(mlir::Value value, int64_t axis, mlir::StringAttr name);
  void setAll(mlir::Value value, mlir::ArrayAttr dims);

  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::StringAttr, 4>> names_;
  mlir::Operation *last_ = nullptr;
};

/// "float32[seq=64, batch=32, 256]"; "_" for an open extent, "float32[...]" without rank, "any" for
/// an open type.
std::string typeText(mlir::TensorType type, mlir::Value value, const DimNames &names);
/// The same without names of dims.
std::string typeText(mlir::TensorType type);
/// "float32".
std::string elementText(mlir::Type element);

} // namespace lstmc::sym
