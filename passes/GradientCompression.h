// 2-bit compression of gradients between processes, as MXNet applies it between workers and
// servers.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include "passes/PlacementListener.h"
#include "passes/ShardTree.h"

namespace lstmc::passes {

/// Each process adds its gradient to its residual, sends t for every element >= t, -t for every
/// element <= -t and 0 for the others, and keeps the difference as the new residual. The residual
/// of each process is a slot of the parameter.
class GradientCompression {
public:
  /// `workers`: the process of each device.
  GradientCompression(mlir::ModuleOp module, double threshold, llvm::ArrayRef<int64_t> workers);

  /// Compresses a parameter's gradient, given as subtree sums in ascending order: returns one sum
  /// per process, to be added as leaves of a tree over processes. Returns `sums` unchanged if one
  /// process has them all. New ops go to the builder's insertion point.
  Subtrees compress(llvm::StringRef parameter, mlir::Location loc, Subtrees sums,
                    mlir::OpBuilder &builder, PlacementListener &listener);

private:
  mlir::Value give(llvm::StringRef parameter, int64_t worker, mlir::Location loc, mlir::Value sum,
                   mlir::OpBuilder &builder, PlacementListener &listener);
  std::string declareResidual(llvm::StringRef parameter, int64_t worker, int64_t device);

  mlir::SymbolTable symbols;
  const double threshold;
  const llvm::SmallVector<int64_t> workers;
  mlir::Operation *lastDeclared = nullptr; ///< last parameter or slot of the module
};

} // namespace lstmc::passes
