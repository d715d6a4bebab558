// 2 bit compression of gradients between processes, as MXNet has it between workers and servers.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include "passes/PlacementListener.h"
#include "passes/ShardTree.h"

namespace lstmc::passes {

/// A process adds its gradient to what it has kept back, gives t of every element that is t or
/// more, -t of one that is -t or less, 0 of the others, and keeps the rest: a slot of the parameter
/// for each process.
class GradientCompression {
public:
  /// `workers`: the process of each device.
  GradientCompression(mlir::ModuleOp module, double threshold, llvm::ArrayRef<int64_t> workers);

  /// What the processes give of the sums, which ascend, of a parameter's gradient, as leaves of a
  /// tree over processes; the sums themselves where one process has them all. New ops go where the
  /// builder is.
  Subtrees compress(llvm::StringRef parameter, mlir::Location loc, Subtrees sums,
                    mlir::OpBuilder &builder, PlacementListener &listener);

private:
  mlir::Value give(llvm::StringRef parameter, int64_t worker, mlir::Location loc, mlir::Value sum,
                   mlir::OpBuilder &builder, PlacementListener &listener);
  std::string declareResidual(llvm::StringRef parameter, int64_t worker, int64_t device);

  mlir::SymbolTable symbols;
  const double threshold;
  const llvm::SmallVector<int64_t> workers;
  mlir::Operation *lastDeclared = nullptr; ///< of parameters and slots
};

} // namespace lstmc::passes
