// Kernels of the sums over the batch, and of the other ops in TrainingOps.td.
#include "executor/abi/Scratch.h"
#include "ir/sym/Create.h"
#include "ir/sym/KernelBuilder.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

namespace {

/// How sym.weight_gradient reads x; the record of the op defines the kinds.
enum UseKind : int64_t { kProduct, kIndex, kDelayed, kAhead };

/// Collects the pairs of a weight_gradient launch.
class Uses {
public:
  Uses(KernelBuilder &builder, int64_t batch) : builder(builder), batch(batch) {}

  /// Adds a pair: dy and x over the same rows.
  void add(View dy, View x, int64_t outer, int64_t inner, bool indices) {
    pairs.push_back(rows(dy, outer, inner, true));
    pairs.push_back(rows(x, outer, inner, !indices));
  }

  /// Adds the pairs of a recurrence: dy of step t is multiplied by x of step t - 1 (ahead: t + 1).
  /// The step without such a neighbour uses `initial`, or nothing. Steps are on axis 0 and enter
  /// the sum last to first.
  void addShifted(View dy, View x, View initial, int64_t outer, int64_t inner, bool ahead) {
    int64_t steps = dy.shape[0], each = outer / steps, edge = ahead ? steps - 1 : 0;
    auto addEdge = [&] {
      if (initial)
        add(dy.slice(0, edge, 1), initial, each, inner, false);
    };
    if (ahead)
      addEdge();
    if (steps > 1)
      add(dy.slice(0, ahead ? 0 : 1, steps - 1), x.slice(0, ahead ? 1 : 0, steps - 1),
          each * (steps - 1), inner, false);
    if (!ahead)
      addEdge();
  }

  llvm::SmallVector<View, 0> pairs;

private:
  View rows(View view, int64_t outer, int64_t inner, bool features) {
    llvm::SmallVector<int64_t, 4> shape = {outer, batch, inner};
    if (features)
      shape.push_back(view.elements() / (outer * batch * inner));
    return builder.reshaped(view, shape);
  }

  KernelBuilder &builder;
  int64_t batch;
};

} // namespace

llvm::LogicalResult WeightGradientOp::emitKernels(KernelBuilder &builder) {
  const ShardRange shards = range();
  Uses uses(builder, shards.rows());
  auto initials = getInitials().begin();
  bool indices = false;
  for (size_t i = 0; i < getKinds().size(); ++i) {
    View dy = builder.view(getDys()[i]), x = builder.view(getXs()[i]);
    View initial = getHasInitial()[i] ? builder.view(*initials++) : View();
    int64_t kind = getKinds()[i], outer = getOuter()[i], inner = getInner()[i];
    indices |= kind == kIndex;
    if (kind == kDelayed || kind == kAhead)
      uses.addShifted(dy, x, initial, outer, inner, kind == kAhead);
    else
      uses.add(dy, x, outer, inner, kind == kIndex);
  }
  View dw = builder.view(getDw());
  if (uses.pairs.empty()) {
    if (getBegin())
      builder.copy(builder.view(getBegin()), dw);
    else
      builder.launch(FillArguments{.value = 0}, {dw});
    return mlir::success();
  }
  const WeightGradientArguments arguments{.range = shards};
  View scratch;
  if (indices)
    scratch = builder.scratch(
        scratchOf(arguments, dw.shape[0], dw.shape[1], int64_t(dtypeBytes(dw.dtype))).bytes);
  llvm::SmallVector<View, 0> operands = {builder.output(dw, dw.shape), scratch,
                                         getBegin() ? builder.view(getBegin()) : View()};
  operands.append(uses.pairs);
  builder.launch(arguments, operands);
  return mlir::success();
}

llvm::LogicalResult BiasGradientOp::emitKernels(KernelBuilder &builder) {
  View db = builder.view(getDb());
  int64_t width = db.elements();
  const ShardRange shards = range();
  llvm::SmallVector<View, 0> operands = {
      builder.output(db, {width}),
      getBegin() ? builder.reshaped(builder.view(getBegin()), {width}) : View()};
  for (auto [dy, outer, inner] : llvm::zip_equal(getDys(), getOuter(), getInner()))
    operands.push_back(builder.reshaped(builder.view(dy), {outer, shards.rows(), inner, width}));
  builder.launch(BiasGradientArguments{.range = shards}, operands);
  return mlir::success();
}

llvm::LogicalResult NormSquaredOp::emitKernels(KernelBuilder &builder) {
  llvm::SmallVector<View, 0> operands = {builder.output(builder.view(getNorm()), {1}),
                                         getBegin() ? builder.view(getBegin()) : View()};
  for (mlir::Value x : getXs())
    operands.push_back(builder.view(x));
  builder.launch(KernelId::NormSquared, operands);
  return mlir::success();
}

llvm::LogicalResult PlaceOp::emitKernels(KernelBuilder &builder) {
  View x = builder.view(getX()), y = builder.view(getY());
  builder.launch(FillArguments{.value = 0}, {y});
  View window = y;
  for (auto [axis, begin, step] : llvm::enumerate(getBegin(), getStep()))
    window = window.slice(int64_t(axis), begin, x.shape[axis], step);
  builder.copy(x, window);
  return mlir::success();
}

} // namespace lstmc::sym
