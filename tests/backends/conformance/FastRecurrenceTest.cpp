// Recurrent layers by tensor cores on emulated GPUs with and without clusters. One step is within a
// bound of the exact result that is known beforehand, and many steps are that step again and again.
#include <algorithm>
#include <cmath>

#include "backends/conformance/RecurrenceLaunch.h"
#include "executor/reference/Reference.h"
#include "tests/backends/conformance/GpuCards.h"
#include "tests/backends/conformance/Magnitudes.h"
#include "tests/backends/conformance/StepBound.h"

namespace lstmc::conformance {
namespace {

constexpr RnnMode kModes[] = {RnnMode::Relu, RnnMode::Tanh, RnnMode::Lstm, RnnMode::Gru};
constexpr FastRules kRules[] = {FastRules{RoundedTo::Bf16}, FastRules{RoundedTo::Fp16}};

/// Shapes with numbers of sequences, inputs and units that fill no tile, and one that fills some.
std::vector<RnnShape> shapes(int64_t steps) {
  std::vector<RnnShape> all;
  for (RnnMode mode : kModes)
    for (auto [batch, inputs, units] : {std::array<int64_t, 3>{1, 3, 7}, {3, 5, 17}, {10, 33, 40}})
      all.push_back(
          {.mode = mode, .steps = steps, .batch = batch, .inputs = inputs, .units = units});
  return all;
}

void expectNear(TestLaunch &fast, TestLaunch &exact, std::string_view name, double bound,
                const std::string &what) {
  const std::vector<double> is = valuesOf(fast, name), want = valuesOf(exact, name);
  ASSERT_EQ(is.size(), want.size());
  for (size_t i = 0; i < is.size(); ++i)
    ASSERT_NEAR(is[i], want[i], bound) << what << ", " << name << " element " << i;
}
void expectSame(TestLaunch &a, TestLaunch &b, std::initializer_list<std::string_view> names,
                const std::string &what) {
  for (std::string_view name : names)
    EXPECT_EQ(valuesOf(a, name), valuesOf(b, name)) << what << ", " << name;
}

const std::initializer_list<std::string_view> kStates = {"y", "hN", "cN"};

void expectStep(Device &device) {
  int64_t changed = 0;
  for (FastRules rule : kRules)
    for (RnnShape shape : shapes(1)) {
      TestLaunch fast = runFast(device, rnnForward(shape), rule);
      TestLaunch f32 = rnnForward(shape);
      f32.run(reference::kernel(KernelId::RnnForward));
      shape.type = DType::F64;
      TestLaunch exact = rnnForward(shape);
      exact.run(reference::kernel(KernelId::RnnForward));
      const double bound = stepBound(shape, exact, rule, /*biasesInSum=*/false);
      const std::string what = shape.text() + " " + rulesText(rule);
      for (std::string_view name : kStates)
        expectNear(fast, exact, name, bound, what);
      expectNear(fast, exact, "gates", 2 * bound, what);
      changed += valuesOf(fast, "y") != valuesOf(f32, "y");
    }
  EXPECT_EQ(changed, int64_t(2 * shapes(1).size())); // else no tensor core was used
}

/// The gradients of gates are those of f32. What goes back through R is a sum of products of them.
void expectStepBack(Device &device) {
  for (FastRules rule : kRules)
    for (RnnShape shape : shapes(1)) {
      TestLaunch fast = runFast(device, rnnBackward(shape), rule);
      shape.type = DType::F64;
      TestLaunch exact = rnnBackward(shape);
      exact.run(reference::kernel(KernelId::RnnBackward));
      const std::string what = shape.text() + " " + rulesText(rule);
      for (std::string_view name : {"dgates", "dhidden", "dc0"})
        expectNear(fast, exact, name, 0x1p-18, what);
      const bool gru = shape.mode == RnnMode::Gru;
      const double dz = largest(valuesOf(exact, gru ? "dhidden" : "dgates"));
      const auto terms = double(shape.units * gateCount(shape.mode));
      expectNear(fast, exact, "dh0",
                 boundOf(dz * largestRow(rnnRecurrentWeights(shape), true), terms, rule) + 0x1p-18,
                 what);
      expectNear(
          fast, exact, "dx",
          boundOf(largest(valuesOf(exact, "dgates")) * largestRow(rnnInputWeights(shape), true),
                  terms, rule) +
              0x1p-18,
          what);
    }
}

TEST(FastRecurrence, OneStepIsWithinItsBound) {
  expectStep(fastCard());
  expectStepBack(fastCard());
}
TEST(RealGpu, AdvancesLayersWithinTheBoundOfEachRule) {
  auto device = realGpu();
  if (!device.ok())
    GTEST_SKIP() << device.error().message;
  expectStep(**device);
  expectStepBack(**device);
}

Array stepOf(const Array &array, int64_t t) {
  return array.storage ? array.slice(0, t, 1) : Array();
}
/// A step of a sequence as a state.
Array stateOf(const Array &array, int64_t t) {
  if (!array.storage)
    return {};
  Array state = array.slice(0, t, 1);
  std::copy(state.tensor.shape.begin() + 1, state.tensor.shape.end(), state.tensor.shape.begin());
  std::copy(state.tensor.strides.begin() + 1, state.tensor.strides.end(),
            state.tensor.strides.begin());
  --state.tensor.rank;
  return state;
}
/// Which sequences have step t, as lengths of one step.
Array lengthsAt(const Array &length, int64_t t) {
  const std::vector<double> all = length.values();
  return Array(DType::I32, {int64_t(all.size())},
               [=](uint64_t i) { return all[size_t(i)] > double(t) ? 1.0 : 0.0; });
}

/// Runs of one step each, in which the state goes on in f32, give the bits of all steps at once.
TEST(FastRecurrence, ManyStepsAreOneStepRepeated) {
  for (RnnShape shape : shapes(4))
    for (bool reverse : {false, true}) {
      shape.reverse = reverse;
      shape.lengths = true;
      const FastRules rule = FastRules{RoundedTo::Bf16};
      TestLaunch all = onFastCard(rnnForward(shape), rule);
      TestLaunch one = rnnForward(shape);
      TestLaunch whole = rnnForward(shape);
      for (int64_t i = 0; i < shape.steps; ++i) {
        const int64_t t = reverse ? shape.steps - 1 - i : i;
        one["x"] = stepOf(whole["x"], t);
        one["length"] = lengthsAt(whole["length"], t);
        for (std::string_view name : {"y", "gates", "cells", "before"})
          if (one[name].storage)
            one[name] = Array(DType::F32, {1, shape.batch, one[name].tensor.shape[2]});
        TestLaunch done = onFastCard(one, rule);
        for (std::string_view name : {"y", "gates", "cells", "before"})
          if (one[name].storage) {
            EXPECT_EQ(done[name].values(), stepOf(all[name], t).values())
                << shape.text() << ", " << name << " of step " << t;
          }
        one["h0"] = done["hN"];
        if (one["c0"].storage)
          one["c0"] = done["cN"];
        if (i + 1 == shape.steps)
          expectSame(done, all, {"hN", "cN"}, shape.text());
      }
    }
}

/// The same backward, step by step from the last.
void expectStepsBack(std::optional<int> cluster) {
  for (RnnShape shape : shapes(4)) {
    shape.lengths = true;
    const FastRules rule = FastRules{RoundedTo::Fp16};
    TestLaunch whole = rnnBackward(shape);
    TestLaunch all = onFastCard(whole, rule, cluster);
    Array dh = whole["dhN"], dc = whole["dcN"];
    for (int64_t t = shape.steps - 1; t >= 0; --t) {
      RnnShape single = shape;
      single.steps = 1;
      TestLaunch one = rnnBackward(single);
      for (std::string_view name : {"gates", "cells", "y", "before", "dy"})
        one[name] = stepOf(whole[name], t);
      one["h0"] = t > 0 ? stateOf(whole["before"], t) : whole["h0"];
      one["c0"] = t > 0 && whole["c0"].storage ? stateOf(whole["cells"], t - 1) : whole["c0"];
      one["length"] = lengthsAt(whole["length"], t);
      one["dhN"] = dh;
      one["dcN"] = dc;
      TestLaunch done = onFastCard(one, rule, cluster);
      for (std::string_view name : {"dgates", "dhidden", "dx"})
        if (all[name].storage) {
          EXPECT_EQ(done[name].values(), stepOf(all[name], t).values())
              << shape.text() << ", " << name << " of step " << t;
        }
      dh = done["dh0"];
      dc = done["dc0"];
    }
    EXPECT_EQ(dh.values(), all["dh0"].values()) << shape.text();
  }
}
TEST(FastRecurrence, ManyStepsBackAreOneStepRepeated) {
  expectStepsBack(std::nullopt);
  expectStepsBack(0);
}

/// The bits are the same in clusters of any size, and whatever sequences are advanced beside one.
TEST(FastRecurrence, BitsDependOnNeitherClustersNorTheBatch) {
  for (RnnShape shape : shapes(3)) {
    shape.lengths = true;
    TestLaunch forward = onFastCard(rnnForward(shape), FastRules{RoundedTo::Bf16}, 1);
    TestLaunch backward = onFastCard(rnnBackward(shape), FastRules{RoundedTo::Bf16}, 1);
    for (int cluster : {2, 8}) {
      TestLaunch other = onFastCard(rnnForward(shape), FastRules{RoundedTo::Bf16}, cluster);
      expectSame(other, forward, {"y", "hN", "cN", "gates", "cells", "before"}, shape.text());
      other = onFastCard(rnnBackward(shape), FastRules{RoundedTo::Bf16}, cluster);
      expectSame(other, backward, {"dgates", "dhidden", "dx", "dh0", "dc0"}, shape.text());
    }
    TestLaunch one = rnnForward(shape);
    const int64_t last = shape.batch - 1;
    for (auto [name, axis] : {std::pair{"x", 1},
                              {"y", 1},
                              {"gates", 1},
                              {"cells", 1},
                              {"before", 1},
                              {"h0", 0},
                              {"c0", 0},
                              {"hN", 0},
                              {"cN", 0},
                              {"length", 0}})
      if (one[name].storage)
        one[name] = one[name].slice(axis, last, 1);
    TestLaunch alone = onFastCard(one, FastRules{RoundedTo::Bf16});
    EXPECT_EQ(alone["y"].values(), forward["y"].slice(1, last, 1).values()) << shape.text();
  }
}

/// The products with the inputs of a few steps at a time, in scratch memory, or of all, in the
/// place of the gates.
TEST(FastRecurrence, BitsDependOnNoChunk) {
  for (RnnShape shape : shapes(5))
    for (bool reverse : {false, true}) {
      shape.reverse = reverse;
      shape.lengths = true;
      shape.stash = true;
      TestLaunch whole = onFastCard(rnnForward(shape), FastRules{RoundedTo::Fp16});
      shape.stash = false;
      for (int64_t chunk : {1, 2, 5}) {
        shape.chunk = chunk;
        TestLaunch parts = onFastCard(rnnForward(shape), FastRules{RoundedTo::Fp16});
        expectSame(parts, whole, kStates, shape.text());
      }
    }
}

/// Step by step, where the weights fit on no chip: forward to the bits of the other way on the
/// emulated GPU, whose sums have the same order; backward within the bound of one step.
TEST(FastRecurrence, GoesStepByStepWhereWeightsDoNotFit) {
  expectStep(fastCard(0));
  expectStepBack(fastCard(0));
  for (RnnShape shape : shapes(5))
    for (bool stash : {false, true})
      for (bool reverse : {false, true}) {
        shape.stash = stash;
        shape.reverse = reverse;
        shape.lengths = true;
        TestLaunch steps = onFastCard(rnnForward(shape), FastRules{RoundedTo::Bf16}, 0);
        TestLaunch together = onFastCard(rnnForward(shape), FastRules{RoundedTo::Bf16});
        expectSame(steps, together, {"y", "hN", "cN", "gates", "cells", "before"}, shape.text());
      }
}

/// Weights that are kept in registers and in shared memory.
TEST(FastRecurrence, KeepsWeightsWhereverTheyFit) {
  for (auto [inputs, units] : {std::pair<int64_t, int64_t>{40, 330}, {300, 270}}) {
    RnnShape shape = {.steps = 1, .batch = 2, .inputs = inputs, .units = units};
    TestLaunch forward = onFastCard(rnnForward(shape), FastRules{RoundedTo::Fp16}, 8);
    TestLaunch backward = onFastCard(rnnBackward(shape), FastRules{RoundedTo::Fp16}, 8);
    shape.type = DType::F64;
    TestLaunch exact = rnnForward(shape), exactBack = rnnBackward(shape);
    exact.run(reference::kernel(KernelId::RnnForward));
    exactBack.run(reference::kernel(KernelId::RnnBackward));
    const double e =
        boundOf(largestRow(rnnInputWeights(shape)) + largestRow(rnnRecurrentWeights(shape)),
                double(inputs + units), FastRules{RoundedTo::Fp16});
    for (std::string_view name : kStates)
      expectNear(forward, exact, name, 1.01 * 1.75 * e + 0x1p-20, shape.text());
    expectNear(backward, exactBack, "dh0",
               boundOf(largest(valuesOf(exactBack, "dgates")) *
                           largestRow(rnnRecurrentWeights(shape), true),
                       double(4 * units), FastRules{RoundedTo::Fp16}) +
                   0x1p-18,
               shape.text());
  }
}

} // namespace
} // namespace lstmc::conformance
