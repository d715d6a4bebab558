// Backward computes the steps again in segments: the bits are those of stored values, and what is
// kept is a small part of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/Variants.h"

namespace lstmc::e2e {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kUpdates = 3;

Model model(const std::string &name) {
  for (const Model &known : models())
    if (known.name == name)
      return known;
  Model scopes{.name = "scopes",
               .recipe = {.file = "tests/e2e/nets/recompute.lnet"},
               .classes = 29,
               .learningRate = 0.1};
  scopes.recipe.load.net = name;
  scopes.recipe.compile.optimizer = {.name = "adam", .clipGradientNorm = 0.5};
  scopes.recipe.compile.carry = {"lstm*"};
  return scopes;
}

/// Carried states; tied weights; lengths; two LSTMs with dropout before a GRU of two directions,
/// which stays whole, without and with recompute groups; a GRU after one of two directions.
class Segments : public ::testing::TestWithParam<const char *> {
protected:
  /// Hash of a training in so many segments, 0 for none.
  uint64_t hash(int64_t segments, const Variant &variant = {}) {
    Model in = whole;
    in.recipe.compile.segments = segments;
    return trainAs(in, variant, kUpdates);
  }
  Model whole = model(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Models, Segments,
                         ::testing::Values("characters", "words", "lengths", "kept", "again",
                                           "directions"),
                         [](const auto &info) { return info.param; });

TEST_P(Segments, TrainToTheSameBits) {
  whole.recipe.compile.shards = 1;
  const uint64_t want = hash(0);
  for (int64_t segments : {passes::kChosen, int64_t(2), int64_t(5), int64_t(1000)})
    EXPECT_EQ(hash(segments), want) << segments;
  for (const char *pass : {"fuse", "schedule", "hoist-projection", "merge-equal-ops", "in-place"}) {
    whole.recipe.compile.disabled = {pass};
    EXPECT_EQ(hash(3), want) << "without " << pass;
  }
}

TEST_P(Segments, TrainToTheSameBitsOnSeveralDevices) {
  whole.recipe.compile.shards = 2;
  const uint64_t want = hash(0);
  for (const Variant &variant :
       {Variant{.accumulate = 2}, Variant{.devices = 2, .threads = 2},
        Variant{.devices = 2, .store = passes::KvStore::Local, .updateOnStore = false},
        Variant{.devices = 2, .stages = 2, .chunks = 3, .accumulate = 2}})
    EXPECT_EQ(hash(3, variant), want) << variant.text();
}

/// Enough steps that the values of all steps are most of what is stored.
TEST_P(Segments, NeedLessMemory) {
  whole.recipe.steps = 100;
  whole.recipe.compile.shards = 1;
  whole.recipe.compile.entries = {"step"};
  Model in = whole;
  in.recipe.compile.segments = passes::kChosen;
  package::PackageData kept = compileNet(whole.recipe).package;
  package::PackageData again = compileNet(in.recipe).package;
  if (!whole.recipe.load.net.starts_with("again")) { // it keeps little as it is
    EXPECT_LT(double(again.devices[0].arenaBytes), 0.8 * double(kept.devices[0].arenaBytes));
  }
  auto session = openSession(again);
  train(*session, in, 1, 1);
  EXPECT_LE(session->peaks()[0].touchedBytes, session->peaks()[0].plannedBytes);
}

std::string refusal(const Model &model) {
  try {
    compileNet(model.recipe);
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

TEST(Segments, AreRefusedWithTheReason) {
  Model shards = model("characters");
  shards.recipe.compile.segments = passes::kChosen;
  EXPECT_THAT(refusal(shards), HasSubstr("a part of the batch has 8 shards"));
  shards.recipe.compile.accumulate = 4;
  EXPECT_THAT(refusal(shards), HasSubstr("a part of the batch has 2 shards"));
  Model dense = model("classes");
  dense.recipe.compile.segments = 3;
  EXPECT_THAT(refusal(dense), HasSubstr("no recurrent layer can be cut between its steps"));
}

/// Only training is in segments.
TEST(Segments, AreNotOfOtherEntries) {
  Model other = model("classes");
  other.recipe.compile.segments = 3;
  other.recipe.compile.entries = {"forward", "evaluate"};
  EXPECT_EQ(refusal(other), "");
}

} // namespace
} // namespace lstmc::e2e
