// A recurrent layer whose steps are written out, and the one op that it can become.
#pragma once

#include <optional>
#include <string>

#include "passes/rolling/Cell.h"
#include "passes/rolling/GradientOrder.h"
#include "passes/rolling/StepInput.h"

namespace lstmc::passes {

class UnrolledLayer {
public:
  using Removed = llvm::SmallVector<mlir::Operation *>;

  /// `steps` follow one another: each but the first reads the state of the one before.
  UnrolledLayer(llvm::ArrayRef<Cell *> steps, GradientOrder &order) : steps(steps), order(order) {}

  /// Looks at all steps. Empty if one op can take their place with the same bits; else why not.
  std::string whyNot();

  /// Puts a `sym.rnn` in the place of the steps. Ops that nothing reads any more are taken out of
  /// the net and given to `removed`; they are not destroyed. After whyNot().
  void roll(mlir::OpBuilder &builder, Removed &removed);

  /// What the parameters' names begin with; else the first step's name.
  std::string name() const;

  /// The op in whose place the layer stands.
  mlir::Operation *place() const { return steps.front()->h.getDefiningOp(); }

private:
  using Check = std::string (UnrolledLayer::*)();

  // What the steps are; each fails with a reason.
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
  std::string atStep(size_t step, const std::string &what) const;
  std::string readBy(size_t step, const char *what, mlir::Operation *reader) const;

  mlir::Value inputOf(size_t step) const { return steps[step]->products[0].getData(); }
  mlir::Value beginH() const { return steps.front()->products[1].getData(); }
  mlir::Value beginC() const {
    return steps.front()->mode == RnnMode::Lstm ? steps.front()->stateBefore->get() : mlir::Value();
  }

  mlir::Value buildInput(mlir::OpBuilder &builder) const;
  mlir::Value buildParameters(mlir::OpBuilder &builder) const;
  mlir::Value buildState(mlir::OpBuilder &builder, mlir::Value begin) const;
  sym::RnnOp buildLayer(mlir::OpBuilder &builder);
  void replaceMerges(mlir::OpBuilder &builder, mlir::Value y, Removed &removed);
  void replaceReaders(mlir::OpBuilder &builder, sym::RnnOp layer);

  llvm::SmallVector<Cell *> steps;
  GradientOrder &order;
  Move move;
  std::optional<StepSlices> slices; ///< the input, if it is one tensor
  llvm::SmallVector<llvm::SmallVector<mlir::OpOperand *, 1>> readers; ///< of each step's h, outside
};

} // namespace lstmc::passes
