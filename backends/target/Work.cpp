#include "backends/target/Work.h"

#include <algorithm>
#include <bit>

#include "executor/abi/KernelArguments.h"
#include "executor/abi/Sizes.h"

namespace lstmc::target {

namespace {

int64_t elements(const Window &w) { return w.present ? product(w.shape) : 0; }

int64_t last(const Window &w) { return w.shape.empty() ? 1 : w.shape.back(); }

/// Of elements in memory: an axis of stride 0 reads one again and again.
int64_t bytes(const Window &w) {
  int64_t count = w.present ? 1 : 0;
  for (size_t axis = 0; axis < w.shape.size(); ++axis)
    count = product({count, w.strides.empty() || w.strides[axis] != 0 ? w.shape[axis] : 1});
  return product({count, int64_t(dtypeBytes(w.dtype))});
}

/// Whether steps along an axis go over `run` elements, as in memory that is dense up to it.
bool isDenseAt(const Window &w, size_t axis, int64_t run) {
  return w.strides.empty() || w.shape[axis] == 1 || w.strides[axis] == run;
}

/// Whether this use of a weight gradient adds rows by index and multiplies nothing.
bool isByIndex(const std::vector<Window> &operands, size_t use) {
  return operands[use + 1].shape.size() < operands[use].shape.size();
}

int64_t flopsOf(KernelId kernel, const std::vector<Window> &operands, std::span<const int64_t> ints,
                int64_t instructions) {
  const KernelRecord &record = kernelRecord(kernel);
  auto named = [&](std::string_view name) -> const Window & {
    return operands[size_t(record.operand(name))];
  };
  switch (kernel) {
  case KernelId::Fused:
    return operands.empty() ? 0 : product({elements(operands.back()), instructions});
  case KernelId::Product:
    return product({2, elements(named("y")), last(named("x"))});
  case KernelId::RnnForward: {
    using Operand = RnnForwardOperand;
    const Window &x = operands[Operand::x], &y = operands[Operand::y];
    return product({2, elements(y), gateCount(argumentsOf<RnnForwardArguments>(ints).mode),
                    sum({last(x), last(y)})});
  }
  case KernelId::RnnBackward: {
    using Operand = RnnBackwardOperand;
    const Window &dx = operands[Operand::dx];
    return product({2, elements(operands[Operand::gates]),
                    sum({dx.present ? last(dx) : 0, last(operands[Operand::y])})});
  }
  case KernelId::WeightGradient: {
    // The shards' sums are added up. Pairs after the fixed operands; a use by index adds rows and
    // multiplies nothing.
    int64_t flops = product({argumentsOf<WeightGradientArguments>(ints).range.count,
                             elements(operands[WeightGradientOperand::dw])});
    for (size_t i = WeightGradientOperand::kFixed; i + 1 < operands.size(); i += 2) {
      int64_t each = isByIndex(operands, i) ? 1 : product({2, last(operands[i + 1])});
      flops = sum({flops, product({elements(operands[i]), each})});
    }
    return flops;
  }
  case KernelId::BiasGradient:
  case KernelId::NormSquared: {
    int64_t flops = 0, each = kernel == KernelId::NormSquared ? 2 : 1;
    for (size_t i = record.operands.size(); i < operands.size(); ++i)
      flops = sum({flops, product({each, elements(operands[i])})});
    return flops;
  }
  case KernelId::Reduce:
  case KernelId::RegressionMetric:
  case KernelId::LossMetric:
    return elements(named("x"));
  case KernelId::Softmax:
  case KernelId::SoftmaxCrossEntropy:
    return product({5, elements(named("x"))});
  case KernelId::SoftmaxMetric: // the rank of the label compares it with every class
    return product({last(named("y")) == kEvaluationFields ? 6 : 5, elements(named("x"))});
  case KernelId::SoftmaxGradient:
  case KernelId::SoftmaxOutputGradient:
    return product({4, elements(named("dx"))});
  case KernelId::ValidCount:
    return elements(named("label"));
  case KernelId::LayerNorm:
  case KernelId::LayerNormGradient:
    return product({8, elements(named("x"))});
  default:
    return 0; // moves elements
  }
}

/// Functions of kernels that are no fused programs.
int64_t functionsOf(KernelId kernel, const std::vector<Window> &operands,
                    std::span<const int64_t> ints) {
  switch (kernel) {
  case KernelId::RnnForward:
    return product({elements(operands[RnnForwardOperand::y]),
                    gateCount(argumentsOf<RnnForwardArguments>(ints).mode)});
  case KernelId::RnnBackward:
    return elements(operands[RnnBackwardOperand::gates]);
  case KernelId::Softmax:
    return elements(operands[SoftmaxOperand::x]);
  case KernelId::SoftmaxCrossEntropy:
    return elements(operands[SoftmaxCrossEntropyOperand::x]);
  case KernelId::SoftmaxMetric:
    return elements(operands[SoftmaxMetricOperand::x]);
  default:
    return 0;
  }
}

/// Of two axes that change places: elements of 4 bytes are moved in blocks of 4 by 4, a row of 4 at
/// a time, what is beside the blocks and other elements one by one, which takes twice as long.
int64_t turnedMoves(int64_t rows, int64_t columns, DType dtype) {
  constexpr int64_t kBlock = 4;
  if (dtypeBytes(dtype) != 4)
    return product({2, rows, columns});
  const int64_t whole = product({rows / kBlock * kBlock, columns / kBlock * kBlock});
  return sum({whole / kBlock, product({2, product({rows, columns}) - whole})});
}

/// Whether `axis` is the one along which the elements of `w` lie side by side.
bool liesAlong(const Window &w, size_t axis) {
  return w.shape[axis] > 1 &&
         (w.strides.empty() ? axis + 1 == w.shape.size() : w.strides[axis] == 1);
}

/// What a copy moves one after the other. It is fast along axes that are dense on both sides.
int64_t movesOf(const Window &x, const Window &y) {
  for (size_t to = 0; to < y.shape.size(); ++to)
    for (size_t from = 0; from < y.shape.size(); ++from)
      if (from != to && liesAlong(y, to) && liesAlong(x, from)) {
        const int64_t both = product({y.shape[to], y.shape[from]});
        return product({elements(y) / both, turnedMoves(y.shape[to], y.shape[from], y.dtype)});
      }
  int64_t run = 1;
  for (size_t axis = y.shape.size();
       axis-- > 0 && isDenseAt(x, axis, run) && isDenseAt(y, axis, run);)
    run *= y.shape[axis];
  return run > 0 ? elements(y) / run : 0;
}

/// Of a value whose rows are added up. Elements that do not lie side by side are brought
/// together first, a vector at a time, which takes as long as a short row does.
int64_t rowsGathered(const Window &w) {
  constexpr int64_t kLanes = 16; // of numbers of 4 bytes
  const int64_t width = last(w);
  if (width <= 0)
    return 0;
  const bool apart = width > 1 && !w.strides.empty() && w.strides.back() != 1;
  return product({elements(w) / width, apart ? 1 + sum({width, kLanes - 1}) / kLanes : 1});
}

int64_t rowsOf(KernelId kernel, const std::vector<Window> &operands) {
  auto rows = [&](std::string_view name, size_t axesBehind = 0) {
    const Window &w = operands[size_t(kernelRecord(kernel).operand(name))];
    const int64_t width =
        w.shape.size() > axesBehind ? w.shape[w.shape.size() - 1 - axesBehind] : 1;
    return width > 0 ? elements(w) / width : 0;
  };
  switch (kernel) {
  case KernelId::Copy:
    return movesOf(operands[CopyOperand::x], operands[CopyOperand::y]);
  case KernelId::Product:
  case KernelId::LayerNorm:
  case KernelId::Softmax:
  case KernelId::SoftmaxCrossEntropy:
  case KernelId::SoftmaxMetric:
    return rows("x");
  case KernelId::LayerNormGradient:
  case KernelId::SoftmaxGradient:
    return rows("dx");
  case KernelId::SoftmaxOutputGradient:
    return rows("dx", 1); // [A, C, D]
  case KernelId::Gather:
  case KernelId::RnnForward:
    return rows("y");
  case KernelId::RnnBackward:
    return rows("gates");
  case KernelId::BiasGradient:
  case KernelId::WeightGradient: {
    int64_t all = 0;
    const size_t each = kernel == KernelId::WeightGradient ? 2 : 1;
    for (size_t use = kernelRecord(kernel).operands.size(); use < operands.size(); use += each)
      all = sum({all, rowsGathered(operands[use])});
    return all;
  }
  default:
    return 0;
  }
}

/// What a weight gradient does shard by shard, and then along their tree.
void addShards(const std::vector<Window> &operands, int64_t shards, Work &work) {
  const Window &dw = operands[WeightGradientOperand::dw];
  int64_t embedded = 0, products = 0;
  for (size_t use = WeightGradientOperand::kFixed; use + 1 < operands.size(); use += 2)
    if (isByIndex(operands, use))
      embedded = sum({embedded, bytes(operands[use])});
    else
      ++products;
  if (embedded == 0) {
    work.sums = shards;
    work.sumBytes = bytes(dw);
    return;
  }
  // Rows with an index; all rows of all shards where a chain goes on, or where a product reaches
  // them too, which copies each to where it multiplies and back.
  const int64_t table = product({2, shards, bytes(dw)});
  const int64_t levels = 1 + std::bit_width(uint64_t(std::max<int64_t>(shards, 1) - 1));
  const bool allRows = products > 0 || operands[WeightGradientOperand::begin].present;
  work.bytes = sum({work.bytes, allRows ? table : std::min(table, product({2, levels, embedded}))});
  if (dw.shape[0] > 0)
    work.rows = sum({work.rows, product({products, shards, dw.shape[0]})});
}

/// `y` is [T, B, H].
Layer layerOf(const Window &y, int64_t inputs, RnnMode mode) {
  return {.batch = y.shape.size() > 1 ? y.shape[1] : 1,
          .inputs = inputs,
          .units = last(y),
          .mode = int32_t(mode),
          .gates = int32_t(gateCount(mode)),
          .wide = y.dtype == DType::F64};
}

} // namespace

bool isFunction(ScalarOp op) {
  // From cbrt on, ScalarOps.def has nothing else.
  return op == ScalarOp::Uniform || op == ScalarOp::Pow || op == ScalarOp::Hypot ||
         op >= ScalarOp::Cbrt;
}

Work workOf(KernelId kernel, const std::vector<Window> &operands, std::span<const int64_t> ints,
            ProgramWork program) {
  const KernelRecord &record = kernelRecord(kernel);
  Work work{.flops = flopsOf(kernel, operands, ints, program.instructions),
            .functions = functionsOf(kernel, operands, ints),
            .rows = rowsOf(kernel, operands)};
  bool wide = false;
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string_view name = i < record.operands.size() ? record.operands[i].name : "";
    wide |= operands[i].present && operands[i].dtype == DType::F64;
    if (name == "scratch")
      continue;
    // An embedding reads the rows that it copies, not the table.
    bool rows = kernel == KernelId::Gather && i == GatherOperand::w;
    work.bytes = sum({work.bytes, bytes(operands[rows ? size_t(GatherOperand::y) : i])});
  }
  work.instructions = program.instructions;
  if (kernel == KernelId::Fused && !operands.empty())
    work.functions = product({elements(operands.back()), program.functions});
  if (kernel == KernelId::WeightGradient) {
    work.width = last(operands[WeightGradientOperand::dw]);
    addShards(operands, argumentsOf<WeightGradientArguments>(ints).range.count, work);
  }
  if (kernel == KernelId::Product)
    work.width = last(operands[ProductOperand::y]);
  if (kernel == KernelId::RnnForward) {
    work.steps = operands[RnnForwardOperand::y].shape[0];
    work.stepBytes = bytes(operands[RnnForwardOperand::r]);
    work.stepUnits = last(operands[RnnForwardOperand::y]);
    work.layer = layerOf(operands[RnnForwardOperand::y], last(operands[RnnForwardOperand::x]),
                         argumentsOf<RnnForwardArguments>(ints).mode);
    work.layer.light =
        !operands[RnnForwardOperand::gates].present && !operands[RnnForwardOperand::length].present;
  }
  if (kernel == KernelId::RnnBackward) {
    work.steps = operands[RnnBackwardOperand::gates].shape[0];
    work.stepBytes = bytes(operands[RnnBackwardOperand::rt]);
    work.stepUnits = last(operands[RnnBackwardOperand::y]);
    work.layer =
        layerOf(operands[RnnBackwardOperand::y], 0, argumentsOf<RnnBackwardArguments>(ints).mode);
  }
  if (kernel == KernelId::Product && !wide)
    work.depth = last(operands[ProductOperand::x]);
  if (wide)
    work.flops = product({work.flops, 2});
  return work;
}

/// Of a recurrence that knows the lengths of its sequences: what it does for steps beyond them too.
/// The gradient of its input is one product over all steps.
static int64_t flopsOfAllSteps(KernelId kernel, const std::vector<Window> &operands) {
  if (kernel != KernelId::RnnBackward || !operands[RnnBackwardOperand::dx].present)
    return 0;
  const Window &gates = operands[RnnBackwardOperand::gates];
  return product(
      {gates.dtype == DType::F64 ? 4 : 2, elements(gates), last(operands[RnnBackwardOperand::dx])});
}

/// Whether a launch is a recurrence that knows the lengths of its sequences.
static bool readsLengths(const package::Launch &launch) {
  auto has = [&](size_t operand) { return launch.operands[operand].buffer != package::kNoBuffer; };
  return (launch.kernel == KernelId::RnnForward && has(RnnForwardOperand::length)) ||
         (launch.kernel == KernelId::RnnBackward && has(RnnBackwardOperand::length));
}

Work workOf(const package::PackageData &package, const package::Launch &launch, double realSteps) {
  std::vector<Window> operands;
  for (const package::Operand &operand : launch.operands) {
    Window &window = operands.emplace_back();
    if (operand.buffer != package::kNoBuffer)
      window = {operand.shape, operand.strides, package.buffers[operand.buffer].dtype, true};
  }
  ProgramWork program;
  if (launch.kernel == KernelId::Fused)
    for (const FusedInstruction &instruction : programOf(package, launch).instructions) {
      ++program.instructions;
      program.functions += isFunction(instruction.op);
    }
  Work work = workOf(launch.kernel, operands, launch.ints, program);
  if (std::ranges::none_of(operands, [](const Window &w) { return w.dtype == DType::F64; }))
    work.fast = fastRulesOf(package.numerics).value_or(FastRules());
  if (readsLengths(launch)) {
    const int64_t always = flopsOfAllSteps(launch.kernel, operands);
    work.flops = always + int64_t(double(work.flops - always) * realSteps);
    work.functions = int64_t(double(work.functions) * realSteps);
    work.rows = int64_t(double(work.rows) * realSteps);
    work.layer.real = realSteps;
  }
  return work;
}

} // namespace lstmc::target
