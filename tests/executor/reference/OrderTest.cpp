// The order of sums, tested with numbers for which another order gives another result
// (docs/numerics.md rules 1, 4, 5, 9).
#include <cmath>

#include <gtest/gtest.h>

#include "executor/abi/Kernels.h"
#include "tests/executor/reference/Run.h"

namespace lstmc::reference {
namespace {

constexpr double kBig =
    0x1p24; // in f32, kBig + 1 is kBig again: a 1 counts only before a cancellation, or after it

double product(const std::vector<double> &x, const std::vector<double> &w, double bias) {
  const int64_t k = int64_t(x.size());
  Array y(DType::F32, {1, 1, 1});
  run(KernelId::Product,
      {Array(DType::F32, {1, 1, k}, listed(x)), packed(Array(DType::F32, {1, k}, listed(w)), 0),
       Array(DType::F32, {1}, constant(bias)), y});
  return y.at({0, 0, 0});
}

TEST(Order, ProductsAscendAndTheBiasIsLast) {
  EXPECT_EQ(product({1, kBig, -kBig}, {1, 1, 1}, 0), 0);
  EXPECT_EQ(product({kBig, -kBig, 1}, {1, 1, 1}, 0), 1);
  EXPECT_EQ(product({kBig, -kBig}, {1, 1}, 1), 1); // adding the bias first would lose it
  EXPECT_EQ(product({1 + 0x1p-12, 1}, {1 + 0x1p-12, -1}, 0), 0x1p-11); // chain from +0, k 0 rounded
  EXPECT_EQ(product({-1, 1 + 0x1p-12}, {1, 1 + 0x1p-12}, 0), 0x1p-11 + 0x1p-24); // k 1 by fma
}

/// dw of one element from dy values [o][b] with x = 1.
double gradient(int64_t steps, int64_t batch, int64_t shards, const std::vector<double> &dy) {
  Array dw(DType::F32, {1, 1}), db(DType::F32, {1});
  Array g(DType::F32, {steps, batch, 1, 1}, listed(dy)),
      x(DType::F32, {steps, batch, 1, 1}, constant(1));
  run(WeightGradientArguments{.range = ShardRange::all(batch, shards)},
      {dw, Array(), Array(), g, x});
  run(BiasGradientArguments{.range = ShardRange::all(batch, shards)}, {db, Array(), g});
  EXPECT_EQ(dw.at({0, 0}), db.at({0}));
  Array table(DType::F32, {1, 1});
  run(WeightGradientArguments{.range = ShardRange::all(batch, shards)},
      {table, Array(), Array(), g, Array(DType::I32, {steps, batch, 1}, constant(0))});
  EXPECT_EQ(table.at({0, 0}), db.at({0}));
  return dw.at({0, 0});
}

TEST(Order, GradientsTakeTheLastStepFirst) {
  EXPECT_EQ(gradient(3, 1, 1, {1, -kBig, kBig}), 1); // kBig, -kBig, 1
  EXPECT_EQ(gradient(3, 1, 1, {-kBig, kBig, 1}), 0);
}

TEST(Order, RowsOfAStepAscend) {
  EXPECT_EQ(gradient(1, 3, 1, {kBig, -kBig, 1}), 1);
  EXPECT_EQ(gradient(1, 3, 1, {1, kBig, -kBig}), 0);
  EXPECT_EQ(gradient(2, 2, 1, {1, 0, kBig, -kBig}), 1); // step 1: rows 0 and 1; then step 0
}

TEST(Order, ShardsAreSummedByTheTree) {
  EXPECT_EQ(gradient(1, 4, 4, {kBig, 1, 1, -kBig}),
            1); // (kBig + 1) + (1 - kBig); in sequence the sum would be 0
  EXPECT_EQ(gradient(1, 3, 3, {kBig, 1, 1}), kBig);        // (kBig + 1) + 1
  EXPECT_EQ(gradient(1, 4, 4, {kBig, 0, 1, 1}), kBig + 2); // kBig + (1 + 1)
}

TEST(Order, UsesAreOneChainInTheOrderGiven) {
  auto dw = [](double first, double second, double third) {
    Array y(DType::F32, {1, 1}), z(DType::F32, {1, 1}), one(DType::F32, {1, 1, 1, 1}, constant(1));
    auto use = [](double v) { return Array(DType::F32, {1, 1, 1, 1}, constant(v)); };
    run(WeightGradientArguments{.range = ShardRange::all(1, 1)},
        {y, Array(), Array(), use(first), one, use(second), one, use(third), one});
    // In two launches, the second of which goes on with the first one's sum.
    run(WeightGradientArguments{.range = ShardRange::all(1, 1)},
        {z, Array(), Array(), use(first), one});
    run(WeightGradientArguments{.range = ShardRange::all(1, 1)},
        {z, Array(), z, use(second), one, use(third), one});
    EXPECT_EQ(z.at({0, 0}), y.at({0, 0}));
    return y.at({0, 0});
  };
  EXPECT_EQ(dw(kBig, -kBig, 1), 1);
  EXPECT_EQ(dw(1, kBig, -kBig), 0);
}

TEST(Order, ReductionsHaveSixteenLanes) {
  // Elements 0 and 16 are both in lane 0, so 2^24 and -2^24 cancel there before anything is lost.
  auto sum = [](Values x, int64_t count) {
    Array y(DType::F32, {1});
    run(ReduceArguments{.kind = ReduceKind::Sum, .kept = 1}, {Array(DType::F32, {1, count}, x), y});
    return y.at({0});
  };
  EXPECT_EQ(sum([](uint64_t i) { return i == 0 ? kBig : i == 16 ? -kBig : 1; }, 32), 30);
  // In lanes 0 and 8 the two meet only at the root. Before that, the values of lanes 1 to 7 and 9
  // to 15 are added to them in pairs: kBig + 1 is lost; +2 from lanes 2 and 3 is not, nor is +4
  // from 4 to 7.
  EXPECT_EQ(sum([](uint64_t i) { return i == 0   ? kBig
                                        : i == 8 ? -kBig
                                                 : 1; }, 16),
            (kBig + 2 + 4) + (-kBig + 1 + 2 + 4));
}

// 2^54 has an ulp of 4 in f64: adding 2 is lost, adding 4 is not.
TEST(Order, NormsAreSummedByTilesThatAscend) {
  auto norm = [](std::vector<std::pair<int64_t, double>> values) {
    std::vector<double> x(3 * 4096);
    for (auto [at, value] : values)
      x[at] = value;
    Array y(DType::F64, {1});
    run(KernelId::NormSquared, {y, {}, Array(DType::F64, {3 * 4096}, listed(x))});
    return y.at({0});
  };
  const int64_t second = 4096, third = 2 * 4096;
  // Four ones in one lane: a lane that continued from tile to tile would lose them.
  EXPECT_EQ(norm({{0, 0x1p27}, {second, 1}, {second + 16, 1}, {second + 32, 1}, {second + 48, 1}}),
            0x1p54 + 4);
  EXPECT_EQ(norm({{0, 0x1p27}, {second, 1}, {second + 1, 1}, {third, 1}, {third + 1, 1}}), 0x1p54);
  EXPECT_EQ(norm({{0, 1}, {1, 1}, {second, 1}, {second + 1, 1}, {third, 0x1p27}}), 0x1p54 + 4);
}

} // namespace
} // namespace lstmc::reference
