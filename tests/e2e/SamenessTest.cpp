// Trained weights have one hash for every way to run the training, and another hash as soon as one
// addition is done in another order.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "executor/abi/Packing.h"
#include "executor/base/Tree.h"
#include "executor/reference/Reference.h"
#include "passes/Pipelines.h"
#include "tests/e2e/Net.h"

namespace lstmc::e2e {
namespace {

constexpr int64_t kUpdates = 10;

class Sameness : public ::testing::TestWithParam<size_t> {
protected:
  Model model = models()[GetParam()];

  uint64_t hash(const package::PackageData &data, int threads = 2,
                KernelChooser kernels = kernelsOf(cpu::machineLevel())) {
    return train(*openSession(data, threads, kernels), model, 1, kUpdates);
  }
};

INSTANTIATE_TEST_SUITE_P(Models, Sameness, ::testing::Range(size_t(0), models().size()),
                         [](const auto &info) { return models()[info.param].name; });

TEST_P(Sameness, OfThreads) {
  package::PackageData data = compileNet(model.recipe).package;
  uint64_t one = hash(data, 1);
  for (int threads : {2, 3, 5})
    EXPECT_EQ(hash(data, threads), one) << threads << " threads";
}

TEST_P(Sameness, OfLevels) {
  package::PackageData data = compileNet(model.recipe).package;
  uint64_t scalar = hash(data, 2, kernelsOf(cpu::Level::Scalar));
  for (int level = 1; level <= int(cpu::machineLevel()); ++level)
    EXPECT_EQ(hash(data, 2, kernelsOf(cpu::Level(level))), scalar) << cpu::kLevelNames[level];
}

TEST_P(Sameness, WithOptimisationsLeftOut) {
  const std::vector<std::string> all = passes::optimisations();
  uint64_t want = hash(compileNet(model.recipe).package);
  for (size_t i = 0; i <= all.size(); ++i) {
    model.recipe.compile.disabled = i < all.size() ? std::vector{all[i]} : all;
    EXPECT_EQ(hash(compileNet(model.recipe).package), want) << (i < all.size() ? all[i] : "all");
  }
}

/// Copies weights, optimizer slots and states of one session to another, which continues.
TEST_P(Sameness, OfAStopAndAResume) {
  package::PackageData data = compileNet(model.recipe).package;
  auto straight = openSession(data), first = openSession(data), second = openSession(data);
  ASSERT_TRUE(second->initialise(2).ok());
  train(*first, model, 1, 4);
  for (const package::Parameter &parameter : data.parameters) {
    ASSERT_TRUE(second->setParameter(parameter.name, *first->parameter(parameter.name)).ok());
    for (const package::Slot &slot : parameter.slots)
      ASSERT_TRUE(
          second->setSlot(parameter.name, slot.name, *first->slot(parameter.name, slot.name)).ok());
  }
  for (const package::State &state : data.states)
    ASSERT_TRUE(second->setState(state.name, *first->state(state.name)).ok());
  train(*straight, model, 1, 4);
  EXPECT_EQ(train(*second, model, 5, kUpdates - 4), train(*straight, model, 5, kUpdates - 4));
}

// ---- changes that do change the hash ----

TEST_P(Sameness, IsOfOneNumberOfShards) {
  uint64_t eight = hash(compileNet(model.recipe).package);
  model.recipe.compile.shards = 4;
  EXPECT_NE(hash(compileNet(model.recipe).package), eight);
}

/// weight_gradient with the tree computed here; the reference gives the sums of single shards.
template <size_t... Place> void gradientByShards(const LaunchArgs &args, Worker &worker) {
  if (worker.index != 0)
    return;
  const size_t place[] = {Place...};
  const Tensor &dw = args.operands[0];
  const int64_t batch = args.operands[WeightGradientOperand::kFixed].shape[1],
                elements = dw.elements();
  std::vector<std::vector<float>> leaves;
  for (size_t shard : place) {
    int64_t begin = shardBegin(batch, std::size(place), int64_t(shard));
    int64_t end = shardBegin(batch, std::size(place), int64_t(shard) + 1);
    std::vector<float> sum(size_t(elements), 0.0f);
    std::vector<Tensor> operands(args.operands.begin(), args.operands.end());
    operands[0].data = sum.data();
    for (Tensor &use : std::span(operands).subspan(WeightGradientOperand::kFixed)) {
      use.data = use.as<std::byte>() + begin * use.strides[1] * int64_t(dtypeBytes(use.dtype));
      use.shape[1] = end - begin;
    }
    const WireArguments all =
        wireArguments(WeightGradientArguments{.range = ShardRange::all(end - begin, 1)});
    if (begin < end)
      reference::kernel(KernelId::WeightGradient)({operands, all.ints, {}, nullptr}, worker);
    else
      sum.clear();
    leaves.push_back(std::move(sum));
  }
  for (int64_t e = 0; e < elements; ++e) {
    TreeFold<float> fold;
    for (const std::vector<float> &leaf : leaves)
      leaf.empty() ? fold.skip() : fold.add(leaf[size_t(e)]);
    dw.as<float>()[e] = fold.finish();
  }
}

template <size_t... Place> KernelFunction withTree(KernelId id, std::span<const Tensor> operands) {
  bool dense = id == KernelId::WeightGradient && operands[0].dense();
  return dense ? gradientByShards<Place...> : kernelsOf(cpu::machineLevel())(id, operands);
}

/// The plan's tree is ((0+1)+(2+3))+((4+5)+(6+7)). With leaves 1 and 2 exchanged, the same eight
/// numbers are added.
TEST_P(Sameness, EndsWhenTwoOperandsOfTheTreeAreSwapped) {
  package::PackageData data = compileNet(model.recipe).package;
  uint64_t want = hash(data);
  EXPECT_EQ(hash(data, 2, withTree<0, 1, 2, 3, 4, 5, 6, 7>), want)
      << "the tree of this test is not the plan's";
  EXPECT_NE(hash(data, 2, withTree<0, 2, 1, 3, 4, 5, 6, 7>), want);
}

} // namespace
} // namespace lstmc::e2e
