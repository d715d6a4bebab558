// One entry function as a program of launches.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include "executor/abi/FastRules.h"
#include "ir/sym/KernelBuilder.h"
#include "ir/sym/SymOps.h"
#include "passes/lowering/PlanBuilder.h"

namespace lstmc::passes {

/// A program is main launches, then the commit, then what writes parameters, slots and states. An
/// op whose results are only written there, or read by such ops, is carried out after the commit.
/// The launches of ops that depend on unchanged parameters alone are put in `prepare:ENTRY`.
class EntryLowering : public sym::KernelBuilder {
public:
  /// `devices`: names, of whose targets is asked what libraries want under the rule.
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

  // The program and what it is bound to: EntryLowering.cpp.
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

  // Its ops and their memory: EntryOps.cpp.
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
  /// The program that launches go to now.
  mlir::OpBuilder &target() { return preparing ? prepare : main; }

  mlir::Value memoryOf(llvm::StringRef symbol) const { return plan.declared(symbol, device); }
  /// What a read or write is of: a symbol's memory here, or so many of its elements from `first`
  /// on.
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

  llvm::DenseMap<mlir::Value, sym::View> storage; ///< where values are
  llvm::DenseMap<mlir::Value, sym::View>
      places; ///< where results are to be put, decided before they are made
  llvm::DenseSet<mlir::Value> returned; ///< values that are outputs of the entry
  llvm::DenseSet<mlir::Value> constant; ///< buffers that depend on unchanged parameters alone
  llvm::DenseSet<mlir::Value> changing; ///< persistent buffers that this entry writes
  llvm::DenseSet<mlir::Operation *> committed; ///< ops after the commit
  llvm::DenseSet<mlir::Operation *> written;   ///< sym.write ops whose value is made in place
  ViewMemo copies;
  std::vector<std::pair<sym::View, sym::View>> pendingCopies;
};

} // namespace lstmc::passes
