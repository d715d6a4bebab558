// Values that backward computes again have the same bits as stored ones, and need less memory.
#include <map>

#include <gtest/gtest.h>

#include "tests/e2e/Variants.h"

namespace lstmc::e2e {
namespace {

constexpr int64_t kUpdates = 4;

/// A model, and the same model with parts of it computed again.
struct Pair {
  Model kept, again;
};

std::vector<Pair> pairs() {
  // Groups and names in the nets: layers, stacks with dropout inside, two directions.
  const std::map<std::string, std::vector<std::string>> kNames = {
      {"characters", {"layer0", "lstm1"}},
      {"words", {"lstm", "embed"}},
      {"lengths", {"lstm0", "lstm1"}},
      {"directions", {"both", "one", "norm"}},
      {"classes", {"low", "fc1"}}};
  std::vector<Pair> pairs;
  for (const Model &model : models())
    if (auto names = kNames.find(model.name); names != kNames.end()) {
      pairs.push_back({model, model});
      pairs.back().again.recipe.compile.recompute = names->second;
    }
  Model scopes{.name = "scopes",
               .recipe = {.file = "tests/e2e/nets/recompute.lnet"},
               .classes = 29,
               .learningRate = 0.1};
  scopes.recipe.compile.optimizer = {.name = "adam", .clipGradientNorm = 0.5};
  scopes.recipe.compile.carry = {"lstm*"};
  pairs.push_back({scopes, scopes});
  pairs.back().kept.recipe.load.net = "kept";
  pairs.back().again.recipe.load.net = "again";
  return pairs;
}

class Recompute : public ::testing::TestWithParam<size_t> {
protected:
  Pair pair = pairs()[GetParam()];
};

INSTANTIATE_TEST_SUITE_P(Models, Recompute, ::testing::Range(size_t(0), pairs().size()),
                         [](const auto &info) { return pairs()[info.param].kept.name; });

TEST_P(Recompute, TrainsToTheSameBits) {
  const uint64_t want = trainAs(pair.kept, {}, kUpdates);
  EXPECT_EQ(trainAs(pair.again, {}, kUpdates), want);
  for (const char *pass : {"fuse", "schedule", "hoist-projection"}) {
    pair.again.recipe.compile.disabled = {pass};
    EXPECT_EQ(trainAs(pair.again, {}, kUpdates), want) << "without " << pass;
  }
}

TEST_P(Recompute, TrainsToTheSameBitsInEveryMix) {
  const uint64_t want = trainAs(pair.kept, {}, kUpdates);
  for (const Variant &variant : coveringVariants(pair.kept))
    EXPECT_EQ(trainAs(pair.again, variant, kUpdates), want) << variant.text();
}

/// Enough steps that the values of all steps are most of what is stored.
TEST_P(Recompute, NeedsLessMemory) {
  if (pair.kept.recipe.file.ends_with("classes.lnet"))
    return; // it has no steps
  pair.kept.recipe.steps = pair.again.recipe.steps = 96;
  for (const Variant &variant : {Variant(), Variant{.accumulate = 2}, Variant{.devices = 2},
                                 Variant{.devices = 2, .stages = 2, .chunks = 3}}) {
    auto compiled = [&](Model &model) {
      Recipe recipe = model.recipe;
      recipe.compile = variant.applyTo(recipe.compile);
      recipe.compile.entries = {"step"}; // the other entries have their own peaks
      return compileNet(recipe).package;
    };
    package::PackageData kept = compiled(pair.kept), again = compiled(pair.again);
    for (size_t device = 0; device < kept.devices.size(); ++device)
      EXPECT_LT(again.devices[device].arenaBytes, kept.devices[device].arenaBytes)
          << again.devices[device].name << " of " << variant.text();
    auto session = openSession(again, variant.threads);
    train(*session, pair.again, 1, 1);
    for (const DevicePeak &peak : session->peaks())
      EXPECT_LE(peak.touchedBytes, peak.plannedBytes) << peak.device << " of " << variant.text();
  }
}

} // namespace
} // namespace lstmc::e2e
