// The exec.plan while it is being made: what all entries share.
#pragma once

#include <map>
#include <string>

#include "mlir/IR/BuiltinOps.h"

#include "ir/exec/Exec.h"
#include "ir/sym/KernelBuilder.h"
#include "passes/lowering/FusedPrograms.h"

namespace lstmc::passes {

/// Packed weights and copies that were made of a view once.
class ViewMemo {
public:
  /// The buffer for this view and use, a number that is the caller's; null at first, to be filled
  /// in.
  mlir::Value &find(const sym::View &view, int64_t use);

private:
  llvm::DenseMap<mlir::Value, std::map<std::vector<int64_t>, mlir::Value>> byValue;
};

class PlanBuilder {
public:
  PlanBuilder(mlir::ModuleOp module, llvm::ArrayRef<std::string> devices);

  /// Buffers for the module's parameters, slots and states, and the program `initialise`.
  mlir::LogicalResult declare(mlir::ModuleOp module);
  /// Memory of a parameter, slot or state on a device that has it.
  mlir::Value declared(llvm::StringRef symbol, int64_t device) const;
  /// An input or scalar of that name and type, one for all entries.
  mlir::Value input(exec::Kind kind, llvm::StringRef name, mlir::RankedTensorType type,
                    int64_t device, mlir::Location location);

  /// Memory that keeps its contents.
  mlir::Value persistent(exec::Kind kind, llvm::StringRef name, int64_t device,
                         llvm::ArrayRef<int64_t> shape, mlir::Type element,
                         mlir::Location location);
  /// The part of an entry that runs on a device, after the programs before.
  exec::ProgramOp program(llvm::StringRef entry, int64_t device, mlir::Location location);

  exec::PlanOp plan() { return planOp; }
  FusedPrograms &fused() { return *programs; }
  /// What prepare entries make, of parameters: shared by the entries.
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

/// A buffer before `builder`'s place.
mlir::Value createBuffer(mlir::OpBuilder &builder, exec::Kind kind, llvm::StringRef name,
                         int64_t device, llvm::ArrayRef<int64_t> shape, mlir::Type element,
                         mlir::Location location);

} // namespace lstmc::passes
