// Assignment of parameters, states and gradient sums to devices.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

#include "ir/sym/SymOps.h"
#include "passes/Replica.h"

namespace lstmc::passes {

/// A range of a parameter's elements, in row-major order, owned by one device.
struct Slice {
  int64_t device, first, count;
};

/// Options of the parameter store (`--kv-store` and related flags).
struct StoreOptions {
  bool local =
      true; ///< the first device with a copy owns the parameter; false: ownership is sharded
  bool updateOnStore = true; ///< the owner updates; false: every device with a copy does
  int64_t bigArrayBound =
      0; ///< minimum elements for cutting a parameter into slices, if both allow it; 0: never
};

class ParameterPlacement {
public:
  /// Analyses all functions of the module and sets sym::kDevicesAttr on parameters and states.
  /// `stages`: devices per replica.
  ParameterPlacement(mlir::ModuleOp module, int64_t stages, const StoreOptions &store);

  /// Devices with a copy of a parameter or state, its owner first.
  llvm::ArrayRef<int64_t> of(llvm::StringRef symbol) const { return devices.find(symbol)->second; }
  /// The device that an op of a part runs on.
  int64_t deviceOf(mlir::func::FuncOp part, mlir::Operation *op) const;
  /// Slices of a parameter that is cut, in order: at least two, each on a different device. Empty
  /// if it is not cut.
  llvm::ArrayRef<Slice> slicesOf(llvm::StringRef parameter) const;
  /// The parameter whose gradient `sum` is, or is added to; empty if there is none.
  llvm::StringRef parameterOf(mlir::Operation *sum) const;

  const int64_t stages; ///< devices per replica
  const bool updateOnStore;

private:
  void lookAt(mlir::func::FuncOp part);
  void decide(mlir::ModuleOp module, const StoreOptions &store);
  void cut(llvm::StringRef parameter, int64_t elements);

  llvm::StringMap<llvm::SmallVector<int64_t>>
      devices; ///< looked up, never iterated; the same holds for `slices`
  llvm::StringMap<llvm::SmallVector<Slice>> slices;
  llvm::StringSet<> indivisible; ///< parameters whose gradient is not only a sum of sums
};

} // namespace lstmc::passes
