// Memory use is the plan: the measured memory is the planned one, a call allocates nothing, and
// neither plan nor package grows with the number of steps.
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "executor/base/Hash.h"
#include "tests/e2e/Net.h"

// Counts every allocation of the process, through all forms of operator new.
static std::atomic<size_t> allocations{0};
static void *allocated(void *memory) {
  ++allocations;
  if (!memory)
    std::abort();
  return memory;
}
void *operator new(size_t bytes) { return allocated(std::malloc(bytes)); }
void *operator new(size_t bytes, std::align_val_t alignment) {
  return allocated(std::aligned_alloc(
      size_t(alignment), (bytes + size_t(alignment) - 1) / size_t(alignment) * size_t(alignment)));
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void *memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace lstmc::e2e {
namespace {

/// For each entry, in several orders.
void expectPlanned(const Model &model, const package::PackageData &data, const std::string &what) {
  for (int threads : {1, 3}) {
    auto session = openSession(data, threads);
    session->setScalar("learning_rate", model.learningRate);
    for (const char *entry : {"forward", "step", "evaluate", "step", "forward"}) {
      feed(*session, entry, 1, model.classes, model.recipe.steps);
      session->setScalar("update", int64_t(1));
      const size_t before = allocations;
      const Status status = session->run(entry);
      const size_t after = allocations;
      ASSERT_TRUE(status.ok()) << status.error().text();
      EXPECT_EQ(after, before) << what << ", " << entry << ", " << threads << " threads";
    }
    for (const DevicePeak &peak : session->peaks()) {
      EXPECT_EQ(peak.plannedBytes, data.devices[0].arenaBytes) << what;
      EXPECT_LE(peak.touchedBytes, peak.plannedBytes) << what;
    }
  }
}

class Memory : public ::testing::TestWithParam<size_t> {
protected:
  Model model = models()[GetParam()];
};

INSTANTIATE_TEST_SUITE_P(Models, Memory, ::testing::Range(size_t(0), models().size()),
                         [](const auto &info) { return models()[info.param].name; });

TEST_P(Memory, IsThePlan) {
  for (std::vector<std::string> disabled : std::vector<std::vector<std::string>>{
           {},
           {"hoist-projection"},
           {"fuse"},
           {"schedule"},
           {"in-place"},
           {"sharing"},
           {"hoist-projection", "fuse", "schedule", "in-place", "sharing"}}) {
    model.recipe.compile.disabled = disabled;
    expectPlanned(model, compileNet(model.recipe).package,
                  disabled.empty() ? "all passes" : "without " + disabled.front());
  }
}

/// Uses the reference's kernels, which are those for f64.
TEST_P(Memory, IsThePlanInDoublePrecision) {
  model.recipe.compile.dtype = DType::F64;
  expectPlanned(model, compileNet(model.recipe).package, "f64");
}

TEST_P(Memory, OfThePlanDoesNotDependOnTheNumberOfSteps) {
  if (model.recipe.steps == 0)
    return; // the model has no dim for steps
  auto of = [&](int64_t steps) {
    model.recipe.steps = steps;
    model.recipe.compile.countOps = true;
    return compileNet(model.recipe);
  };
  passes::Compiled few = of(35), many = of(10000);
  EXPECT_EQ(few.package.buffers.size(), many.package.buffers.size());
  const auto fewBytes = double(package::serialize(few.package).size());
  const auto manyBytes = double(package::serialize(many.package).size());
  EXPECT_LT(std::abs(manyBytes - fewBytes), 0.05 * fewBytes);
  ASSERT_EQ(few.times.size(), many.times.size());
  for (size_t i = 0; i < few.times.size(); ++i)
    EXPECT_EQ(few.times[i].opsAfter, many.times[i].opsAfter) << few.times[i].pass;
}

/// The hash of all outputs of forward.
uint64_t forwardHash(Session &session, const Model &model) {
  session.resetStates();
  feed(session, "forward", 1, model.classes, model.recipe.steps);
  EXPECT_TRUE(session.run("forward").ok());
  uint64_t hash = 0;
  const package::PackageData &data = session.package().data();
  for (const package::Binding &output :
       data.entries[*session.package().findEntry("forward")].outputs) {
    const Tensor values = *session.output("forward", output.name);
    hash = hashBytes(values.data, size_t(values.elements()) * dtypeBytes(values.dtype), hash);
  }
  return hash;
}

/// A step may use their memory; see executor/package/PackedLife.h.
TEST_P(Memory, PackedWeightsAreMadeAgainAfterAStep) {
  const package::PackageData data = compileNet(model.recipe).package;
  auto often = openSession(data), once = openSession(data);
  const uint64_t before = forwardHash(*often, model);
  for (int64_t update : {1, 2}) {
    for (Session *session : {often.get(), once.get()}) {
      session->resetStates();
      train(*session, model, update, 1);
    }
    forwardHash(*often, model);
    EXPECT_TRUE(often->run("evaluate").ok());
  }
  EXPECT_EQ(forwardHash(*often, model), forwardHash(*once, model));
  EXPECT_NE(forwardHash(*often, model), before);
}

TEST(PackedWeights, LendTheirMemoryToAStep) {
  const package::PackageData data = compileNet(models().front().recipe).package;
  bool overlap = false;
  for (const package::Buffer &packed : data.buffers)
    for (const package::Buffer &other : data.buffers)
      overlap |= packed.kind == package::Kind::Packed && other.entry != package::kPersistent &&
                 data.entries[size_t(other.entry)].name == "step" &&
                 packed.offset < other.offset + other.bytes &&
                 other.offset < packed.offset + packed.bytes;
  EXPECT_TRUE(overlap);
}

} // namespace
} // namespace lstmc::e2e
