// Which devices have which parameter, state and sum.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

#include "ir/sym/SymOps.h"
#include "passes/Replica.h"

namespace lstmc::passes {

/// Elements of a parameter, in row-major order, over which a device decides.
struct Slice {
  int64_t device, first, count;
};

/// What `--kv-store` and the like ask for.
struct StoreOptions {
  bool local =
      true; ///< the first device that has a parameter decides over it; else each does over some
  bool updateOnStore = true; ///< the device that decides updates; else every one that has a copy
  int64_t bigArrayBound =
      0; ///< elements from which a parameter is cut, where both allow it; 0: none is
};

class ParameterPlacement {
public:
  /// Looks at all functions of the module, and says on parameters and states where they are
  /// (sym::kDevicesAttr). `stages`: devices of a replica.
  ParameterPlacement(mlir::ModuleOp module, int64_t stages, const StoreOptions &store);

  /// Devices that have a parameter or state, the one that decides first.
  llvm::ArrayRef<int64_t> of(llvm::StringRef symbol) const { return devices.find(symbol)->second; }
  /// Where an op of a part runs.
  int64_t deviceOf(mlir::func::FuncOp part, mlir::Operation *op) const;
  /// Slices of a parameter that is cut, in order: at least two, each on a device of its own. Empty:
  /// it is not.
  llvm::ArrayRef<Slice> slicesOf(llvm::StringRef parameter) const;
  /// The parameter whose gradient a sum over the batch is, or is added to; empty where there is
  /// none.
  llvm::StringRef parameterOf(mlir::Operation *sum) const;

  const int64_t stages; ///< devices of a replica
  const bool updateOnStore;

private:
  void lookAt(mlir::func::FuncOp part);
  void decide(mlir::ModuleOp module, const StoreOptions &store);
  void cut(llvm::StringRef parameter, int64_t elements);

  llvm::StringMap<llvm::SmallVector<int64_t>> devices; ///< looked up, never iterated, as the others
  llvm::StringMap<llvm::SmallVector<Slice>> slices;
  llvm::StringSet<> indivisible; ///< parameters whose gradient is something else than sums, added
};

} // namespace lstmc::passes
