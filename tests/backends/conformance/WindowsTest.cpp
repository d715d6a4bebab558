// A part of a tensor of random numbers has the numbers of the whole: rows of a batch, steps of
// time, both, and any other window.
#include <gtest/gtest.h>

#include <random>

#include "backends/conformance/Cases.h"
#include "backends/cpu/runtime/KernelTable.h"
#include "executor/abi/FusedProgram.h"
#include "executor/base/Numeric.h"
#include "executor/reference/Reference.h"

namespace lstmc::conformance {
namespace {

/// Which elements of a tensor of ones dropout keeps, and the numbers that decided it.
TestLaunch dropout(const Shape &shape, const std::vector<int64_t> &window, DType type) {
  TestLaunch launch(KernelId::Fused);
  auto scalar = [&](double value) {
    Array array(DType::I64, Shape(shape.size(), 1), constant(value));
    for (size_t i = 0; i < shape.size(); ++i)
      array = array.broadcast(int(i), shape[i]);
    return array;
  };
  FusedProgram program;
  program.types = {DType::I64, DType::I64, type, type};
  const DType wide = widenedType(type);
  program.instructions = {{ScalarOp::Uniform, wide, 0, 1, 0, 9},
                          {ScalarOp::Constant, wide, 0, 0, 0, 0.25},
                          {ScalarOp::Sub, wide, 4, 5, 0, 0}};
  program.results = {-1, -1, 4, 6};
  launch.operands = {scalar(123456789), scalar(42), Array(type, shape), Array(type, shape)};
  setArguments(launch, FusedArguments{.program = 0, .window = window});
  launch.program = std::make_shared<FusedProgram>(program);
  return launch;
}

void run(TestLaunch &launch, const char *target) {
  if (std::string_view(target) == "reference")
    return launch.run(reference::kernel(KernelId::Fused));
  for (cpu::Level level : {cpu::Level::Scalar, cpu::Level::Avx2, cpu::Level::Avx512})
    if (std::string_view(target) == cpu::kLevelNames[size_t(level)])
      return launch.run(cpu::kernelTable(level).find(KernelId::Fused, launch.tensors()));
}

class Windows : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    std::string_view level = GetParam();
    for (size_t i = size_t(cpu::machineLevel()) + 1; i < cpu::kLevels; ++i)
      if (level == cpu::kLevelNames[i])
        GTEST_SKIP() << "this machine has no " << level;
  }
  /// Element `index` of the part is element `window.at` of the whole.
  void expectPartOf(const Shape &whole, const Shape &part, const std::vector<int64_t> &window,
                    DType type = DType::F32) {
    TestLaunch all = dropout(whole, {}, type), some = dropout(part, window, type);
    run(all, GetParam());
    run(some, GetParam());
    for (size_t operand : {2, 3}) {
      std::vector<double> from = all.operands[operand].values(),
                          found = some.operands[operand].values();
      // Computes the coordinates independently of the code under test.
      for (size_t i = 0; i < found.size(); ++i) {
        auto left = int64_t(i);
        int64_t at = window[0];
        for (size_t pair = window.size(); pair > 1; pair -= 2) {
          at += left % window[pair - 2] * window[pair - 1];
          left /= window[pair - 2];
        }
        ASSERT_EQ(found[i], from[size_t(at)])
            << "element " << i << ", window " << fmt::format("{}", fmt::join(window, " "));
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Targets, Windows, testing::Values("reference", "scalar", "avx2", "avx512"),
                         [](const auto &info) { return std::string(info.param); });

// A tensor [T, N, H]; rows [first, last) of its batch, as a device holds them.
TEST_P(Windows, RowsOfABatch) {
  const int64_t T = 5, N = 11, H = 70;
  for (auto [first, last] : {std::pair<int64_t, int64_t>{0, 11}, {0, 3}, {3, 4}, {4, 11}, {10, 11}})
    expectPartOf({T, N, H}, {T, last - first, H}, {first * H, T, N * H, last - first, H, H, 1});
}

TEST_P(Windows, StepsOfTime) {
  const int64_t T = 7, N = 3, H = 33;
  for (auto [first, last] : {std::pair<int64_t, int64_t>{0, 2}, {2, 3}, {3, 7}})
    expectPartOf({T, N, H}, {last - first, N, H}, {first * N * H, last - first, N * H, N, H, H, 1});
}

TEST_P(Windows, Both) {
  const int64_t T = 9, N = 8, H = 130;
  expectPartOf({T, N, H}, {5, 3, H}, {3 * N * H + 4 * H, 5, N * H, 3, H, H, 1});
}

TEST_P(Windows, OtherTypes) {
  for (DType type : {DType::F64, DType::BF16, DType::F16})
    expectPartOf({4, 6, 19}, {4, 2, 19}, {3 * 19, 4, 6 * 19, 2, 19, 19, 1}, type);
}

TEST_P(Windows, Any) {
  std::mt19937 random(7);
  auto below = [&](int64_t bound) { return int64_t(random() % uint64_t(bound)); };
  for (int n = 0; n < 100; ++n) {
    Shape whole, part;
    std::vector<int64_t> window = {0};
    int64_t stride = 1;
    for (int axes = int(1 + below(4)); axes > 0; --axes) {
      int64_t extent = 1 + below(stride == 1 ? 200 : 11), first = below(extent),
              step = 1 + below(2);
      int64_t count = 1 + below((extent - 1 - first) / step + 1);
      whole.insert(whole.begin(), extent);
      part.insert(part.begin(), count);
      window[0] += first * stride;
      window.insert(window.begin() + 1, {count, step * stride});
      stride *= extent;
    }
    expectPartOf(whole, part, window);
    if (HasFatalFailure())
      return;
  }
}

} // namespace
} // namespace lstmc::conformance
