// Time of the kernels besides the recurrence, at the shapes of char-LM training: 32 sequences, 64
// steps, 256 units, 65 classes, 1.1 M parameters. One worker.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include "backends/cpu/runtime/KernelTable.h"
#include "executor/abi/FusedProgram.h"
#include "executor/abi/Kernels.h"
#include "executor/abi/Scratch.h"
#include "executor/base/FloatMode.h"
#include "executor/device/TeamMemory.h"

namespace {

using namespace lstmc;

struct Alone final : Worker {
  void barrier() override {}
};

std::deque<std::vector<double>> memory; // memory of the tensors of all cases

Tensor dense(DType type, std::vector<int64_t> shape, double value = 0.5) {
  Tensor t;
  t.dtype = type;
  t.rank = int(shape.size());
  int64_t step = 1;
  for (int d = t.rank - 1; d >= 0; --d) {
    t.shape[size_t(d)] = shape[size_t(d)];
    t.strides[size_t(d)] = step;
    step *= shape[size_t(d)];
  }
  memory.emplace_back(size_t(step) + 8);
  t.data = memory.back().data();
  for (int64_t i = 0; i < step; ++i)
    if (type == DType::F32)
      t.as<float>()[i] = float(value == 0.5 ? double(i * 7 % 31) * 0.05 - 0.7 : value);
    else if (type == DType::I32)
      t.as<int32_t>()[i] = int32_t(i * 7 % 65);
    else if (type == DType::I64)
      t.as<int64_t>()[i] = 3;
  return t;
}

Tensor permuted(const Tensor &t, std::vector<int> axes) {
  Tensor p = t;
  for (size_t d = 0; d < axes.size(); ++d) {
    p.shape[d] = t.shape[size_t(axes[d])];
    p.strides[d] = t.strides[size_t(axes[d])];
  }
  return p;
}

Tensor everywhere(const Tensor &scalar, const Tensor &like) {
  Tensor t = like;
  t.data = scalar.data;
  t.dtype = scalar.dtype;
  t.strides = {};
  return t;
}

struct Case {
  std::string name;
  KernelId id;
  std::vector<Tensor> operands;
  std::vector<int64_t> ints;
  std::vector<double> floats;
  const FusedProgram *program = nullptr;
};

template <typename Arguments>
Case caseOf(std::string name, const Arguments &arguments, std::vector<Tensor> operands,
            const FusedProgram *program = nullptr) {
  WireArguments wire = wireArguments(arguments);
  return {std::move(name),      Arguments::kKernel,     std::move(operands),
          std::move(wire.ints), std::move(wire.floats), program};
}

} // namespace

int main() { // NOLINT(readability-function-size): a table
  constexpr int64_t kT = 64, kN = 32, kH = 256, kV = 65, kRows = kT * kN;
  constexpr DType kF = DType::F32;
  const InitialiseArguments normal{
      .kind = InitKind::Normal, .ordinal = 1, .variant = OrthogonalStart::Uniform, .a = 1, .b = 0};
  InitialiseArguments orthogonal = normal;
  orthogonal.kind = InitKind::Orthogonal;
  Tensor logits = dense(kF, {kRows, kV}), probabilities = dense(kF, {kRows, kV});
  Tensor labels = dense(DType::I32, {kRows, 1}), states = dense(kF, {kT, kN, kH});
  Tensor rows = dense(kF, {kRows, kH}), gammas = dense(kF, {kH}), means = dense(kF, {kRows});
  Tensor absent;

  FusedProgram dropout; // operands seed, update, x, y
  dropout.types = {DType::I64, DType::I64, kF, kF};
  auto f32 = [](ScalarOp op, int a, int b, int c, double immediate) {
    return FusedInstruction{op, DType::F32, uint16_t(a), uint16_t(b), uint16_t(c), immediate};
  };
  dropout.instructions = {f32(ScalarOp::Uniform, 0, 1, 0, 5),
                          f32(ScalarOp::Constant, 0, 0, 0, 0.5),
                          {ScalarOp::Less, DType::Bool, 4, 5, 0, 0},
                          f32(ScalarOp::Constant, 0, 0, 0, 2),
                          f32(ScalarOp::Mul, 2, 7, 0, 0),
                          f32(ScalarOp::Constant, 0, 0, 0, 0),
                          f32(ScalarOp::Select, 6, 8, 9, 0)};
  dropout.results = {-1, -1, -1, 10};
  Tensor seed = everywhere(dense(DType::I64, {1}), states);

  FusedProgram bias; // y = x + b, b a row
  bias.types = {kF, kF, kF};
  bias.instructions = {f32(ScalarOp::Add, 0, 1, 0, 0)};
  bias.results = {-1, -1, 3};
  Tensor row = logits;
  row.data = dense(kF, {kV}).data;
  row.strides[0] = 0;

  std::vector<Case> cases = {
      caseOf("copy [64,32,256] swap", CopyArguments{},
             {permuted(states, {1, 0, 2}), dense(kF, {kN, kT, kH})}),
      caseOf("copy [1024,256] transpose", CopyArguments{},
             {permuted(dense(kF, {1024, kH}), {1, 0}), dense(kF, {kH, 1024})}),
      caseOf("fill 1.1M", FillArguments{.value = 0}, {dense(kF, {1100000})}),
      caseOf("gather 2048 x 256", GatherArguments{.mode = IndexMode::Clip},
             {dense(kF, {1, kV, kH}), labels, dense(kF, {1, kRows, kH})}),
      caseOf("one_hot 2048 x 65", OneHotArguments{.on = 1, .off = 0},
             {dense(DType::I32, {kRows}), dense(kF, {kRows, kV})}),
      caseOf("sequence_reverse", SequenceReverseArguments{},
             {states, dense(DType::I32, {kN}), dense(kF, {kT, kN, kH})}),
      caseOf("dropout 524K", FusedArguments{.program = 0, .window = {}},
             {seed, seed, states, dense(kF, {kT, kN, kH})}, &dropout),
      caseOf("bias over 2048 x 65", FusedArguments{.program = 0, .window = {}},
             {logits, row, dense(kF, {kRows, kV})}, &bias),
      caseOf("softmax 2048 x 65", SoftmaxArguments{.log = false, .temperature = 1},
             {logits, absent, dense(kF, {kRows, kV})}),
      caseOf("softmax_gradient", SoftmaxGradientArguments{.log = false, .temperature = 1},
             {probabilities, logits, absent, dense(kF, {kRows, kV})}),
      caseOf("softmax_output_gradient",
             SoftmaxOutputGradientArguments{.useIgnore = false,
                                            .normalization = SoftmaxNormalization::Valid,
                                            .multi = false,
                                            .ignoreLabel = -1,
                                            .gradScale = 1,
                                            .smoothAlpha = 0},
             {[&] {
                Tensor p = probabilities;
                p.rank = 3;
                p.shape[2] = 1;
                p.strides[2] = 1;
                return p;
              }(),
              labels, absent, dense(kF, {kRows, kV, 1})}),
      caseOf("softmax_cross_entropy", SoftmaxCrossEntropyArguments{},
             {logits, dense(DType::I32, {kRows}), dense(kF, {1})}),
      caseOf("softmax_metric",
             SoftmaxMetricArguments{.range = ShardRange::all(kN, 8),
                                    .useIgnore = false,
                                    .valid = false,
                                    .ignoreLabel = -1,
                                    .smoothAlpha = 0,
                                    .scale = 1},
             {dense(kF, {kT, kN, 1, kV}), dense(DType::I32, {kT, kN, 1}),
              dense(DType::F64, {kMetricFields})}),
      caseOf("layer_norm 2048 x 256", LayerNormArguments{.epsilon = 1e-5},
             {rows, gammas, gammas, dense(kF, {kRows, kH}), means, means}),
      caseOf("layer_norm_gradient", LayerNormGradientArguments{},
             {rows, gammas, means, means, rows, dense(kF, {kRows, kH}), dense(kF, {kRows, kH})}),
      caseOf("sum over columns", ReduceArguments{.kind = ReduceKind::Sum, .kept = 1},
             {rows, dense(kF, {kRows})}),
      caseOf("sum over rows", ReduceArguments{.kind = ReduceKind::Sum, .kept = 1},
             {permuted(rows, {1, 0}), dense(kF, {kH})}),
      caseOf("argmax 2048 x 65", ReduceArguments{.kind = ReduceKind::ArgMax, .kept = 1},
             {logits, dense(kF, {kRows})}),
      caseOf("norm_squared 1.1M", NormSquaredArguments{},
             {dense(DType::F64, {1}), {}, dense(kF, {1100000})}),
      caseOf("initialise normal 262K", normal, {dense(DType::I64, {1}), dense(kF, {1024, kH}), {}}),
      caseOf("initialise orthogonal [512,128]", orthogonal,
             {dense(DType::I64, {1}), dense(kF, {512, 128}),
              dense(DType::U8, {scratchOf<int64_t>(orthogonal, 512, 128, 4).bytes})}),
  };
  FloatMode mode;
  std::printf("%-34s", "microseconds");
  for (int level = 0; level <= int(cpu::machineLevel()); ++level)
    std::printf("%10s", std::string(cpu::kLevelNames[size_t(level)]).c_str());
  std::printf("\n");
  for (const Case &c : cases) {
    std::printf("%-34s", c.name.c_str());
    for (int level = 0; level <= int(cpu::machineLevel()); ++level) {
      KernelFunction function = cpu::kernelTable(cpu::Level(level)).find(c.id, c.operands);
      Alone worker;
      const TeamMemory memory(1);
      const WithWorkerMemory use(memory);
      LaunchArgs args{c.operands, c.ints, c.floats, c.program};
      double least = 1e9;
      for (int i = 0; i < 9; ++i) {
        auto begin = std::chrono::steady_clock::now();
        function(args, worker);
        least = std::min(
            least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      }
      std::printf("%10.1f", least * 1e6);
    }
    std::printf("\n");
  }
}
