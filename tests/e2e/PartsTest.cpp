// Nets that mix rows of the batch and nets that do not: with any number of devices and parts, the
// weights are those of one device.
#include <gtest/gtest.h>

#include "tests/e2e/Variants.h"

namespace lstmc::e2e {
namespace {

constexpr int64_t kUpdates = 3;

const std::vector<Model> &nets() {
  static const std::vector<Model> nets = modelsOf("tests/e2e/nets/parts");
  return nets;
}

class Parts : public ::testing::TestWithParam<size_t> {};

INSTANTIATE_TEST_SUITE_P(Nets, Parts, ::testing::Range(size_t(0), nets().size()),
                         [](const auto &info) { return nets()[info.param].name; });

TEST_P(Parts, TrainToTheSameBits) {
  const Model &model = nets()[GetParam()];
  const uint64_t want = trainAs(model, {}, kUpdates);
  for (const Variant &variant :
       {Variant{.devices = 2}, Variant{.devices = 3, .accumulate = 2},
        Variant{.devices = 4, .store = passes::KvStore::Device, .bigArrayBound = 1},
        Variant{.devices = 5, .bucketBytes = 1024}, Variant{.devices = 8, .updateOnStore = false},
        Variant{.accumulate = 2}, Variant{.accumulate = 4},
        Variant{.devices = 2, .accumulate = 4, .workLoads = {3, 1}}})
    EXPECT_EQ(trainAs(model, variant, kUpdates), want) << variant.text();
}

/// A part with a single row looks like a value that all rows share.
TEST_P(Parts, TrainToTheSameBitsOfTwoRows) {
  Model model = nets()[GetParam()];
  model.recipe.load.settings.push_back({"batch", "2"});
  // These nets read the fourth row and the first three rows.
  if (model.name == "batch_index3" || model.name == "fcw")
    GTEST_SKIP() << "the net reads rows that a batch of two does not have";
  const uint64_t want = trainAs(model, {}, kUpdates);
  EXPECT_EQ(trainAs(model, {.devices = 2}, kUpdates), want);
  EXPECT_EQ(trainAs(model, {.accumulate = 2}, kUpdates), want);
}

} // namespace
} // namespace lstmc::e2e
