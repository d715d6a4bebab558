// product, pack and the gradients of weights, with extents that need several passes, pieces and
// levels of the tree.
#include "tests/backends/cpu/Everywhere.h"

namespace lstmc::cpu::testing {
namespace {

using conformance::Array;
using conformance::TestLaunch;
using conformance::uniform;

TestLaunch product(int64_t a, int64_t m, int64_t n, int64_t k) {
  TestLaunch launch(KernelId::Product);
  launch.operands = {Array(DType::F32, {a, m, k}, uniform(-1, 1, 1)),
                     conformance::packed(Array(DType::F32, {a, n, k}, uniform(-1, 1, 2)), 0),
                     Array(DType::F32, {n}, uniform(-1, 1, 3)), Array(DType::F32, {a, m, n})};
  return launch;
}

TEST(Product, GivesTheBitsOfTheReferenceBeyondOnePass) {
  expectEqualEverywhere(product(1, 100, 70, 300));
  expectEqualEverywhere(product(1, 1, 200, 500));
  expectEqualEverywhere(product(1, 400, 10, 20)); // split by rows
  expectEqualEverywhere(product(9, 7, 20, 40));
  expectEqualEverywhere(product(1, 3, 33, 1));
}

TEST(Product, OfNoTermsIsTheBias) { expectEqualEverywhere(product(1, 3, 20, 0)); }

TEST(Product, SeesASwappedAddition) {
  TestLaunch launch = product(1, 4, 20, 64), swapped = launch.clone();
  runOn(launch, machineLevel(), 1);
  // The same terms with two neighbours exchanged give another sum if rounding differs.
  swapped["x"] = Array(DType::F32, {1, 4, 64}, [](uint64_t i) { return uniform(-1, 1, 1)(i ^ 1); });
  swapped["p"] = conformance::packed(
      Array(DType::F32, {1, 20, 64}, [](uint64_t i) { return uniform(-1, 1, 2)(i ^ 1); }), 0);
  runOn(swapped, machineLevel(), 1);
  EXPECT_NE(launch["y"].values(), swapped["y"].values());
}

struct Use {
  int64_t o, q;
  bool embedding = false;
};

TestLaunch weightGradient(int64_t n, int64_t k, int64_t batch, int64_t shards,
                          std::vector<Use> uses) {
  const WeightGradientArguments arguments{.range = ShardRange::all(batch, shards)};
  TestLaunch launch(KernelId::WeightGradient);
  setArguments(launch, arguments);
  launch.operands = {Array(DType::F32, {n, k}),
                     Array(DType::U8, {scratchOf(arguments, n, k, sizeof(float)).bytes}), Array()};
  uint64_t salt = 0;
  for (const Use &use : uses) {
    launch.operands.emplace_back(DType::F32,
                                 conformance::Shape{use.o, batch, use.q, use.embedding ? k : n},
                                 uniform(-1, 1, ++salt));
    if (use.embedding)
      launch.operands.emplace_back(DType::I32, conformance::Shape{use.o, batch, use.q},
                                   conformance::integers(0, n - 1, ++salt));
    else
      launch.operands.emplace_back(DType::F32, conformance::Shape{use.o, batch, use.q, k},
                                   uniform(-1, 1, ++salt));
  }
  return launch;
}

TEST(WeightGradient, GivesTheBitsOfTheReferenceBeyondOnePiece) {
  expectEqualEverywhere(weightGradient(400, 40, 9, 8, {{3, 1}}));
  expectEqualEverywhere(weightGradient(30, 600, 3, 2, {{4, 1}}));
  expectEqualEverywhere(weightGradient(200, 210, 2, 8, {{2, 2}}));
}

TEST(WeightGradient, GivesTheBitsOfTheReferenceBeyondOnePass) {
  expectEqualEverywhere(weightGradient(20, 70, 3, 1, {{150, 1}}));
  expectEqualEverywhere(weightGradient(13, 20, 16, 8, {{70, 1}, {3, 40}}));
}

TEST(WeightGradient, TakesEmbeddingsAndProductsOfOneWeight) {
  expectEqualEverywhere(weightGradient(250, 200, 5, 8, {{3, 1}, {4, 1, true}, {2, 1}}));
  expectEqualEverywhere(weightGradient(300, 33, 16, 8, {{6, 1, true}}));
}

TEST(WeightGradient, FoldsTheTreeRoundEmptyShards) {
  for (int64_t batch : {1, 2, 3, 5, 8, 9})
    for (int64_t shards : {1, 3, 8, 13, 16})
      expectEqualEverywhere(weightGradient(7, 20, batch, shards, {{3, 1}}));
}

TEST(WeightGradient, IsZeroOverNoRows) {
  expectEqualEverywhere(weightGradient(20, 30, 0, 8, {{3, 1}}));
}

TEST(BiasGradient, GivesTheBitsOfTheReference) {
  for (int64_t n : {1, 100, 300}) {
    TestLaunch launch(KernelId::BiasGradient);
    launch.operands = {Array(DType::F32, {n}), Array(),
                       Array(DType::F32, {20, 11, 1, n}, uniform(-1, 1, 1)),
                       Array(DType::F32, {3, 11, 2, n}, uniform(-1, 1, 2))};
    setArguments(launch, BiasGradientArguments{.range = ShardRange::all(11, 8)});
    expectEqualEverywhere(launch);
  }
}

TEST(Pack, GivesTheBitsOfTheReference) {
  for (int64_t gates : {0, 1, 3, 4})
    for (bool transposed : {false, true}) {
      TestLaunch launch(KernelId::Pack);
      const int64_t n = 37 * std::max<int64_t>(gates, 1), k = 70;
      Array w(DType::F32, {2, n, k}, uniform(-1, 1, 1));
      if (transposed)
        w = Array(DType::F32, {2, k, n}, uniform(-1, 1, 1)).permuted({0, 2, 1});
      launch.operands = {w, Array(DType::F32, {2 * packedElements(n, k, gates)})};
      setArguments(launch, PackArguments{.gates = gates});
      expectEqualEverywhere(launch);
    }
}

} // namespace
} // namespace lstmc::cpu::testing
