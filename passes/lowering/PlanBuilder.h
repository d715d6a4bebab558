// The exec.plan under construction, shared by all entries.
#pragma once

#include <map>
#include <string>

#include "mlir/IR/BuiltinOps.h"

#include "ir/exec/Exec.h"
#include "ir/sym/KernelBuilder.h"
#include "passes/lowering/FusedPrograms.h"

namespace lstmc::passes {

/// Cache of packed weights and dense copies by view.
class ViewMemo {
public:
  /// The buffer for a view and a use, a number chosen by the caller; null on the first call, for
  /// the caller to fill in.
  mlir::Value &find(const sym::View &view, int64_t use);

private:
  llvm::DenseMap<mlir::Value, std::map<std::vector<int64_t>, mlir::Value>> byValue;
};

class PlanBuilder {
public:
  PlanBuilder(mlir::ModuleOp module, llvm::ArrayRef<std::string> devices);

  /// Creates buffers for the module's parameters, slots and states, and the program `initialise`.
  mlir::LogicalResult declare(mlir::ModuleOp module);
  /// Memory of a parameter, slot or state on a device with a copy.
  mlir::Value declared(llvm::StringRef symbol, int64_t device) const;
  /// The input or scalar of that name and type, shared by all entries.
  mlir::Value input(exec::Kind kind, llvm::StringRef name, mlir::RankedTensorType type,
                    int64_t device, mlir::Location location);

  /// Creates a buffer that keeps its contents between calls.
  mlir::Value persistent(exec::Kind kind, llvm::StringRef name, int64_t device,
                         llvm::ArrayRef<int64_t> shape, mlir::Type element,
                         mlir::Location location);
  /// Creates the program of an entry for a device, after the existing programs.
  exec::ProgramOp program(llvm::StringRef entry, int64_t device, mlir::Location location);

  exec::PlanOp plan() { return planOp; }
  FusedPrograms &fused() { return *programs; }
  /// Buffers computed from parameters in prepare entries, shared by all entries.
  ViewMemo &prepared() { return preparedViews; }

private:
  mlir::LogicalResult initialise(mlir::ModuleOp module);
  exec::ProgramOp initialiseOn(int64_t device);

  exec::PlanOp planOp;
  exec::ProgramOp initialiseOp;
  std::unique_ptr<FusedPrograms> programs;
  llvm::StringMap<llvm::SmallVector<std::pair<int64_t, mlir::Value>>>
      memories; ///< by device, the one that decides first
  std::map<std::tuple<std::string, const void *, int64_t>, mlir::Value>
      inputs;                                      ///< by name, type and device; never iterated
  std::map<int64_t, exec::ProgramOp> initialisers; ///< by device
  ViewMemo preparedViews;
};

/// Creates a buffer at the builder's insertion point.
mlir::Value createBuffer(mlir::OpBuilder &builder, exec::Kind kind, llvm::StringRef name,
                         int64_t device, llvm::ArrayRef<int64_t> shape, mlir::Type element,
                         mlir::Location location);

} // namespace lstmc::passes
