// Time of the kernels around the recurrence at the shapes of char-LM training: 32 sequences, 64
// steps, 256 units, 65 classes, 1.1 M parameters. One worker.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include "backends/cpu/runtime/KernelTable.h"
#include "executor/abi/Kernels.h"
#include "executor/abi/Scratch.h"
#include "executor/base/FloatMode.h"
#include "executor/package/Program.h"

namespace {

using namespace lstmc;

struct Alone final : Worker {
  void barrier() override {}
};

std::deque<std::vector<double>> memory; // what the tensors of all cases view

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

} // namespace

int main() {
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
      {"copy [64,32,256] swap",
       KernelId::Copy,
       {permuted(states, {1, 0, 2}), dense(kF, {kN, kT, kH})},
       {},
       {}},
      {"copy [1024,256] transpose",
       KernelId::Copy,
       {permuted(dense(kF, {1024, kH}), {1, 0}), dense(kF, {kH, 1024})},
       {},
       {}},
      {"fill 1.1M", KernelId::Fill, {dense(kF, {1100000})}, {}, {0}},
      {"gather 2048 x 256",
       KernelId::Gather,
       {dense(kF, {1, kV, kH}), labels, dense(kF, {1, kRows, kH})},
       {0},
       {}},
      {"one_hot 2048 x 65",
       KernelId::OneHot,
       {dense(DType::I32, {kRows}), dense(kF, {kRows, kV})},
       {},
       {1, 0}},
      {"sequence_reverse",
       KernelId::SequenceReverse,
       {states, dense(DType::I32, {kN}), dense(kF, {kT, kN, kH})},
       {},
       {}},
      {"dropout 524K",
       KernelId::Fused,
       {seed, seed, states, dense(kF, {kT, kN, kH})},
       {0},
       {},
       &dropout},
      {"bias over 2048 x 65",
       KernelId::Fused,
       {logits, row, dense(kF, {kRows, kV})},
       {0},
       {},
       &bias},
      {"softmax 2048 x 65", KernelId::Softmax, {logits, absent, dense(kF, {kRows, kV})}, {0}, {1}},
      {"softmax_gradient",
       KernelId::SoftmaxGradient,
       {probabilities, logits, absent, dense(kF, {kRows, kV})},
       {0},
       {1}},
      {"softmax_output_gradient",
       KernelId::SoftmaxOutputGradient,
       {[&] {
          Tensor p = probabilities;
          p.rank = 3;
          p.shape[2] = 1;
          p.strides[2] = 1;
          return p;
        }(),
        labels, absent, dense(kF, {kRows, kV, 1})},
       {0, 2, 0},
       {-1, 1, 0}},
      {"softmax_cross_entropy",
       KernelId::SoftmaxCrossEntropy,
       {logits, dense(DType::I32, {kRows}), dense(kF, {1})},
       {},
       {}},
      {"softmax_metric",
       KernelId::SoftmaxMetric,
       {dense(kF, {kT, kN, 1, kV}), dense(DType::I32, {kT, kN, 1}), dense(DType::F64, {4})},
       {kN, 8, 0, 8, 0},
       {-1}},
      {"layer_norm 2048 x 256",
       KernelId::LayerNorm,
       {rows, gammas, gammas, dense(kF, {kRows, kH}), means, means},
       {},
       {1e-5}},
      {"layer_norm_gradient",
       KernelId::LayerNormGradient,
       {rows, gammas, means, means, rows, dense(kF, {kRows, kH}), dense(kF, {kRows, kH})},
       {},
       {}},
      {"sum over columns",
       KernelId::Reduce,
       {rows, dense(kF, {kRows})},
       {int64_t(ReduceKind::Sum), 1},
       {}},
      {"sum over rows",
       KernelId::Reduce,
       {permuted(rows, {1, 0}), dense(kF, {kH})},
       {int64_t(ReduceKind::Sum), 1},
       {}},
      {"argmax 2048 x 65",
       KernelId::Reduce,
       {logits, dense(kF, {kRows})},
       {int64_t(ReduceKind::ArgMax), 1},
       {}},
      {"norm_squared 1.1M",
       KernelId::NormSquared,
       {dense(DType::F64, {1}), {}, dense(kF, {1100000})},
       {},
       {}},
      {"initialise normal 262K",
       KernelId::Initialise,
       {dense(DType::I64, {1}), dense(kF, {1024, kH}), {}},
       wireArguments(normal).ints,
       wireArguments(normal).floats},
      {"initialise orthogonal [512,128]",
       KernelId::Initialise,
       {dense(DType::I64, {1}), dense(kF, {512, 128}),
        dense(DType::U8, {scratchOf<int64_t>(orthogonal, 512, 128, 4).bytes})},
       wireArguments(orthogonal).ints,
       wireArguments(orthogonal).floats},
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
