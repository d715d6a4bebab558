// Kernels of tensor cores on an emulated GPU, for each rule of --fast: within a bound of the exact
// result that is known beforehand, and equal bits where they are promised.
#include <algorithm>
#include <bit>
#include <cmath>

#include <gtest/gtest.h>

#include "backends/conformance/Conformance.h"
#include "tests/backends/conformance/GpuCards.h"
#include "tests/backends/conformance/Magnitudes.h"

namespace lstmc::conformance {
namespace {

DType resultType(TestLaunch launch) { return resultArray(launch).tensor.dtype; }
std::vector<double> onCard(const TestLaunch &launch, FastRules rule) {
  return resultOf(onFastCard(launch, rule));
}

/// The launch with numbers that no rule rounds: of 8 digits, and neither small nor large.
TestLaunch shortNumbersOf(const TestLaunch &launch) {
  return launch.changed([](float number) {
    const float cut = std::bit_cast<float>(std::bit_cast<uint32_t>(number) & 0xffff0000);
    return std::fabs(cut) >= 0x1p-6f && std::fabs(cut) <= 0x1p12f ? cut : 0;
  });
}

/// Terms of the longest sum.
int64_t termsOf(const TestLaunch &launch) {
  if (launch.id == KernelId::Product)
    return launch.operands[0].tensor.shape[2];
  int64_t terms = 0;
  for (size_t i = WeightGradientOperand::kFixed; i < launch.operands.size(); i += 2) {
    const Tensor &dy = launch.operands[i].tensor;
    terms += dy.shape[0] * dy.shape[1] * dy.shape[2];
  }
  return terms;
}

class RoundedProducts : public testing::TestWithParam<FastRules> {};
INSTANTIATE_TEST_SUITE_P(All, RoundedProducts,
                         testing::Values(FastRules{RoundedTo::Tf32}, FastRules{RoundedTo::Bf16},
                                         FastRules{RoundedTo::Fp16}),
                         [](const auto &info) { return rulesText(info.param); });

void expectWithinBound(Device &device, FastRules rule) {
  int64_t compared = 0, changed = 0;
  for (KernelId id : {KernelId::Product, KernelId::WeightGradient})
    for (const Case &test : casesOf(id)) {
      const TestLaunch launch = test.make();
      if (resultType(launch) != DType::F32)
        continue;
      const std::vector<double> exact = exactly(launch),
                                fast = resultOf(runFast(device, launch, rule));
      const std::vector<double> magnitudes = magnitudesOf(launch);
      const auto terms = double(termsOf(launch));
      for (size_t i = 0; i < exact.size(); ++i) {
        if (!(magnitudes[i] < 6e4)) // beyond fp16, or no number
          continue;
        ASSERT_NEAR(fast[i], exact[i], boundOf(magnitudes[i], terms, rule))
            << test.name << ", element " << i;
        ++compared;
        changed += fast[i] != exact[i];
      }
    }
  EXPECT_GT(compared, 10'000);
  EXPECT_GT(changed, compared / 4); // else no tensor core was used
}

TEST_P(RoundedProducts, AreWithinTheirBound) { expectWithinBound(fastCard(), GetParam()); }
TEST(RealGpu, MultipliesWithinTheBoundOfEachRule) {
  auto device = realGpu();
  if (!device.ok())
    GTEST_SKIP() << device.error().message;
  for (FastRules rule :
       {FastRules{RoundedTo::Tf32}, FastRules{RoundedTo::Bf16}, FastRules{RoundedTo::Fp16}})
    expectWithinBound(**device, rule);
}

/// Where nothing is to be rounded, the emulated GPU gives the bits of the reference, since it adds
/// the terms of a group one by one: groups, uses and shards come in the order of the rules.
TEST_P(RoundedProducts, KeepTheOrderOfSums) {
  for (KernelId id : {KernelId::Product, KernelId::WeightGradient})
    for (const Case &test : casesOf(id)) {
      const TestLaunch launch = shortNumbersOf(test.make());
      EXPECT_EQ(onCard(launch, GetParam()), exactly(launch)) << test.name;
    }
}

/// Not of f64, nor of the gradient of an embedding, which multiplies nothing.
TEST_P(RoundedProducts, AreOfProductsOfF32) {
  for (KernelId id : {KernelId::Product, KernelId::WeightGradient})
    for (const Case &test : casesOf(id)) {
      const TestLaunch launch = test.make();
      const bool wide = resultType(launch) == DType::F64;
      const bool embedding =
          id == KernelId::WeightGradient &&
          std::ranges::any_of(launch.operands, [](const Array &operand) {
            return operand.storage && operand.tensor.rank == 3 && !isFloat(operand.tensor.dtype);
          });
      if (wide || embedding) {
        EXPECT_EQ(onCard(launch, GetParam()), exactly(launch)) << test.name;
      }
    }
}

/// The bits of a row depend on no other row, and of a column on no other column.
TEST_P(RoundedProducts, GiveRowsThatDependOnNoOthers) {
  const int64_t rows = 70, columns = 90, depth = 53;
  const Array x(DType::F32, {1, rows, depth}, uniform(-1, 1)),
      w(DType::F32, {1, columns, depth}, uniform(-1, 1, 1));
  auto product = [&](const Array &some, const Array &weights) {
    TestLaunch launch(KernelId::Product);
    launch.operands = {some, packed(weights, 0), Array(),
                       Array(DType::F32, {1, some.tensor.shape[1], weights.tensor.shape[1]})};
    return onCard(launch, GetParam());
  };
  const std::vector<double> all = product(x, w);
  for (int64_t row : {0, 9, 69})
    for (int64_t column : {0, 33, 89})
      EXPECT_EQ(product(x.slice(1, row, 1), w.slice(1, column, 1))[0],
                all[size_t(row * columns + column)]);
}

} // namespace
} // namespace lstmc::conformance
