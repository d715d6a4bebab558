// Which devices have which parameter, state and sum.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include "ir/sym/SymOps.h"
#include "passes/Replica.h"

namespace lstmc::passes {

class Homes {
public:
  /// Looks at all functions of the module, and says on parameters and states where they are (sym::kDevicesAttr).
  /// `stages`: devices of a replica. `local`: the first device that has a parameter decides over it; else each does over some.
  Homes(mlir::ModuleOp module, int64_t stages, bool local, bool updateOnStore);

  /// Devices that have a parameter or state, the one that decides first.
  llvm::ArrayRef<int64_t> of(llvm::StringRef symbol) const { return devices.find(symbol)->second; }
  /// Where an op of a part runs.
  int64_t deviceOf(mlir::func::FuncOp part, mlir::Operation *op) const;
  /// Where a sum over the batch is finished: with the parameter whose gradient it is, else on the first device.
  int64_t ofSum(mlir::Operation *sum) const;

  const int64_t stages; ///< devices of a replica
  const bool updateOnStore;

private:
  void lookAt(mlir::func::FuncOp part);
  void decide(mlir::ModuleOp module, bool local);

  llvm::StringMap<llvm::SmallVector<int64_t>> devices; ///< looked up, never iterated
};

} // namespace lstmc::passes
