// Lowering of one entry function to a program of launches.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include "executor/abi/FastRules.h"
#include "ir/sym/KernelBuilder.h"
#include "ir/sym/SymOps.h"
#include "passes/lowering/PlanBuilder.h"

namespace lstmc::passes {

/// A program consists of the main launches, the commit, and the writes of parameters, slots and
/// states. An op whose results are only written there, or only read by such ops, runs after the
/// commit. Launches that depend only on parameters that the entry does not change go to
/// `prepare:ENTRY`.
class EntryLowering : public sym::KernelBuilder {
public:
  /// `devices`: device names, whose targets determine the scratch memory of libraries under the
  /// rules `fast`.
  EntryLowering(PlanBuilder &plan, mlir::func::FuncOp entry, llvm::ArrayRef<std::string> devices,
                FastRules fast);

  mlir::LogicalResult run();

  sym::View view(mlir::Value value) override;
  sym::View temporary(llvm::ArrayRef<int64_t> shape, DType dtype) override;
  sym::View scratch(int64_t bytes) override;
  int64_t libraryBytes(const sym::View &weight) override;
  int64_t libraryBytes(const RnnForwardArguments &arguments, const sym::View &x,
                       const sym::View &y) override;
  sym::View denseCopy(sym::View view) override;
  sym::View output(sym::View target, llvm::ArrayRef<int64_t> shape) override;
  sym::View packed(sym::View weight, int64_t gates) override;
  using KernelBuilder::launch;
  void launch(KernelId kernel, llvm::ArrayRef<sym::View> operands, llvm::ArrayRef<int64_t> ints,
              llvm::ArrayRef<double> floats) override;
  void alias(mlir::Value result, sym::View of) override;

private:
  static mlir::RankedTensorType tensorType(mlir::Value value) {
    return llvm::cast<mlir::RankedTensorType>(value.getType());
  }
  static bool isElementwise(mlir::Operation *op) {
    return llvm::isa<sym::ScalarRule, sym::FusedOp>(op);
  }

  // Program and bindings: EntryLowering.cpp.
  mlir::LogicalResult checkDevices();
  void bindInputs();
  void placeOutputs();
  void placeParts();
  void findCommitted();
  void placeDirectWrites();
  void saveOverwritten();
  void writeBack();
  void copyTogether(llvm::ArrayRef<std::pair<sym::View, sym::View>> copies, mlir::Type element);
  void bindOutputs();

  // Ops and their memory: EntryOps.cpp.
  mlir::LogicalResult lower(mlir::Operation *op);
  mlir::LogicalResult lowerElementwise(mlir::Operation *op);
  void launchFused(mlir::Operation *op, mlir::Block &body);
  void appendPieceOf(const sym::View &operand, size_t number,
                     llvm::SmallVectorImpl<int64_t> &pieces);
  void keepApart(mlir::Operation *op);
  bool dependsOnParametersAlone(mlir::Operation *op);
  sym::View whole(mlir::Value memory) const;
  mlir::Value allocate(exec::Kind kind, llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
                       mlir::Type element);
  mlir::Value allocateResult(mlir::Value value);
  /// The program that new launches are added to.
  mlir::OpBuilder &target() { return preparing ? prepare : main; }

  mlir::Value memoryOf(llvm::StringRef symbol) const { return plan.declared(symbol, device); }
  /// The memory that a read or write refers to: a symbol's memory on this device, or its elements
  /// from `first` on.
  sym::View placeOf(llvm::StringRef symbol, std::optional<uint64_t> first, mlir::Type tensor) const;

  PlanBuilder &plan;
  mlir::func::FuncOp entry;
  const int64_t device;
  const llvm::ArrayRef<std::string> devices;
  const FastRules fast;
  exec::ProgramOp program, prepareProgram;
  mlir::OpBuilder main, prepare;
  bool preparing = false;
  mlir::Location location;
  mlir::Operation *current = nullptr;
  mlir::ArrayAttr instructions; ///< locations, of the fused program that is launched

  llvm::DenseMap<mlir::Value, sym::View> storage; ///< memory of each value
  llvm::DenseMap<mlir::Value, sym::View>
      places; ///< destinations of results, chosen before they are computed
  llvm::DenseSet<mlir::Value> returned; ///< values that are outputs of the entry
  llvm::DenseSet<mlir::Value>
      constant; ///< buffers that depend only on parameters the entry does not change
  llvm::DenseSet<mlir::Value> changing;        ///< persistent buffers that this entry writes
  llvm::DenseSet<mlir::Operation *> committed; ///< ops after the commit
  llvm::DenseSet<mlir::Operation *> written;   ///< sym.write ops whose value is computed in place
  ViewMemo copies;
  std::vector<std::pair<sym::View, sym::View>> pendingCopies;
};

} // namespace lstmc::passes
