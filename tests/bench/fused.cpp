// Speed of fused programs at each level: GB/s of operands read and written, compared with a plain
// copy of as many bytes.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "backends/cpu/runtime/Fused.h"
#include "executor/abi/FusedProgram.h"
#include "executor/base/FloatMode.h"
#include "executor/device/TeamMemory.h"

namespace {

using namespace lstmc;

struct Alone final : Worker {
  void barrier() override {}
};

/// The best time of several runs, in seconds.
template <typename F> double best(F f) {
  double least = 1e9;
  for (int i = 0; i < 15; ++i) {
    auto begin = std::chrono::steady_clock::now();
    f();
    least = std::min(
        least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return least;
}

Tensor vectorOf(std::vector<float> &memory) {
  Tensor t;
  t.data = memory.data();
  t.rank = 1;
  t.shape[0] = int64_t(memory.size());
  t.strides[0] = 1;
  return t;
}

FusedInstruction f32(ScalarOp op, int a = 0, int b = 0, int c = 0, double immediate = 0) {
  return {op, DType::F32, uint16_t(a), uint16_t(b), uint16_t(c), immediate};
}

/// Operands w, g, m, v; all but g are updated in place. The scalars are constants.
FusedProgram adam() {
  FusedProgram p;
  p.types = {DType::F32, DType::F32, DType::F32, DType::F32};
  p.instructions = {f32(ScalarOp::Constant, 0, 0, 0, 0.9),
                    f32(ScalarOp::Constant, 0, 0, 0, 0.1),
                    f32(ScalarOp::Constant, 0, 0, 0, 0.999),
                    f32(ScalarOp::Constant, 0, 0, 0, 0.001),
                    f32(ScalarOp::Constant, 0, 0, 0, 1e-8),
                    f32(ScalarOp::Mul, 2, 4),
                    f32(ScalarOp::Fma, 1, 5, 9),
                    f32(ScalarOp::Mul, 1, 1),
                    f32(ScalarOp::Mul, 3, 6),
                    f32(ScalarOp::Fma, 11, 7, 12),
                    f32(ScalarOp::Sqrt, 13),
                    f32(ScalarOp::Add, 14, 8),
                    f32(ScalarOp::Div, 10, 15),
                    f32(ScalarOp::Mul, 16, 7),
                    f32(ScalarOp::Sub, 0, 17)};
  p.results = {18, -1, 10, 13};
  return p;
}

/// Momentum, with operands w, g, m: seven instructions, none of them slow.
FusedProgram momentum() {
  FusedProgram p;
  p.types = {DType::F32, DType::F32, DType::F32};
  p.instructions = {f32(ScalarOp::Constant, 0, 0, 0, 0.9),
                    f32(ScalarOp::Constant, 0, 0, 0, 1e-4),
                    f32(ScalarOp::Constant, 0, 0, 0, 0.1),
                    f32(ScalarOp::Fma, 0, 4, 1),
                    f32(ScalarOp::Mul, 2, 3),
                    f32(ScalarOp::Mul, 6, 5),
                    f32(ScalarOp::Sub, 7, 8),
                    f32(ScalarOp::Add, 0, 9)};
  p.results = {10, -1, 9};
  return p;
}

FusedProgram activation() {
  FusedProgram p;
  p.types = {DType::F32, DType::F32};
  p.instructions = {f32(ScalarOp::Tanh, 0)};
  p.results = {-1, 2};
  return p;
}

} // namespace

int main() {
  FloatMode mode;
  struct Case {
    const char *name;
    FusedProgram program;
    int streams;
  } cases[] = {{"adam", adam(), 7}, {"momentum", momentum(), 5}, {"tanh", activation(), 2}};
  for (int64_t n : {int64_t(512), int64_t(16384), int64_t(1100000)}) {
    int repeat = int(std::max<int64_t>(1, 200000 / n));
    std::vector<float> from(size_t(n) * 2, 1), to(size_t(n) * 2);
    double copy = best([&] {
      for (int r = 0; r < repeat; ++r)
        std::memcpy(to.data(), from.data(), from.size() * sizeof(float));
    });
    std::printf("%8lld elements: copy %.1f GB/s\n", (long long)n,
                double(from.size()) * 8 * repeat / copy * 1e-9);
    for (Case &c : cases) {
      std::vector<std::vector<float>> memory(c.program.types.size(),
                                             std::vector<float>(size_t(n), 0.5f));
      std::vector<Tensor> operands;
      for (auto &m : memory)
        operands.push_back(vectorOf(m));
      for (int level = 0; level <= int(cpu::machineLevel()); ++level) {
        cpu::FusedCode code = cpu::tileEngine(cpu::Level(level)).prepare(c.program);
        const int64_t ints[] = {0};
        LaunchArgs args{operands, ints, {}, &c.program};
        Alone worker;
        const TeamMemory memory(1);
        const WithWorkerMemory use(memory);
        double seconds = best([&] {
                           for (int r = 0; r < repeat; ++r)
                             code.run(code.context, args, worker);
                         }) /
                         repeat;
        std::printf("  %-9s %-7s %8.2f us %7.1f GB/s\n", c.name,
                    std::string(cpu::kLevelNames[size_t(level)]).c_str(), seconds * 1e6,
                    double(n) * 4 * c.streams / seconds * 1e-9);
      }
    }
  }
}
