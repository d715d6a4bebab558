// An unrolled recurrent layer, and its replacement by one op.
#pragma once

#include <optional>
#include <string>

#include "passes/rolling/Cell.h"
#include "passes/rolling/GradientOrder.h"
#include "passes/rolling/MergedSteps.h"
#include "passes/rolling/StepInput.h"

namespace lstmc::passes {

class UnrolledLayer {
public:
  using Removed = llvm::SmallVector<mlir::Operation *>;

  /// `steps` are consecutive: each one but the first reads the state of its predecessor.
  UnrolledLayer(llvm::ArrayRef<Cell *> steps, GradientOrder &order) : steps(steps), order(order) {}

  /// Checks all steps. Returns an empty string if one op can replace them with the same outputs to
  /// the bit, else the reason.
  std::string whyNot();

  /// Which gradients the op adds in another order than the steps; empty if none. Call after
  /// whyNot().
  const std::string &rounding() const { return rounds; }

  /// Replaces the steps by a `sym.rnn`. Ops without readers are removed from the net and appended
  /// to `removed`; they are not destroyed. Call after whyNot().
  void roll(mlir::OpBuilder &builder, Removed &removed);

  /// Common prefix of the parameters' names; else the first step's name.
  std::string name() const;

  /// The op at whose position the layer is created.
  mlir::Operation *place() const { return steps.front()->h.getDefiningOp(); }

private:
  using Check = std::string (UnrolledLayer::*)();

  // Analysis of the steps; each function returns a reason on failure.
  std::string areCells();
  std::string findProducts();
  std::string shareWeights();
  std::string beginAlike();
  std::string areClosed();
  std::string areInOneGroup();
  std::string haveOneBatch();
  std::string findInput();
  std::string keepOrder();

  void findReaders();
  bool takesSource();
  std::string hoist();
  bool addNeeded(mlir::Value value);
  bool readersKeepOrder() const;
  std::string gradientsInAnotherOrder() const;
  std::string atStep(size_t step, const std::string &what) const;
  std::string readBy(size_t step, const char *what, mlir::Operation *reader) const;

  mlir::Value inputOf(size_t step) const { return steps[step]->products[0].getData(); }
  mlir::Value beginH() const { return steps.front()->products[1].getData(); }
  mlir::Value beginC() const {
    return steps.front()->mode == RnnMode::Lstm ? steps.front()->stateBefore->get() : mlir::Value();
  }

  mlir::Value buildInput(mlir::OpBuilder &builder) const;
  mlir::Value inOrder(mlir::OpBuilder &builder, mlir::Value rows) const;
  mlir::Value buildParameters(mlir::OpBuilder &builder) const;
  mlir::Value buildState(mlir::OpBuilder &builder, mlir::Value begin) const;
  sym::RnnOp buildLayer(mlir::OpBuilder &builder);
  llvm::SmallVector<MergedSteps> merges() const;
  void replaceMerges(mlir::OpBuilder &builder, mlir::Value y, Removed &removed);
  void replaceReaders(mlir::OpBuilder &builder, sym::RnnOp layer);

  llvm::SmallVector<Cell *> steps;
  GradientOrder &order;
  std::string rounds;
  Move move;
  std::optional<StepSlices> slices; ///< set if the input is one tensor
  llvm::SmallVector<llvm::SmallVector<mlir::OpOperand *, 1>>
      readers; ///< uses of each step's h outside of the layer
};

} // namespace lstmc::passes
