// Trained weights and metrics have one hash on any number of devices.
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "executor/abi/KernelArguments.h"
#include "executor/base/Hash.h"
#include "tests/e2e/Variants.h"

namespace lstmc::e2e {
namespace {

constexpr int64_t kUpdates = 6;

uint64_t hashOf(const Tensor &tensor) {
  return hashBytes(tensor.data, size_t(tensor.elements()) * dtypeBytes(tensor.dtype));
}

class Devices : public ::testing::TestWithParam<size_t> {
protected:
  Model model = models()[GetParam()];

  package::PackageData compileFor(int devices) {
    model.recipe.compile.devices.clear();
    for (int device = 0; device < devices; ++device)
      model.recipe.compile.devices.push_back("cpu:" + std::to_string(device));
    return compileNet(model.recipe).package;
  }
};

INSTANTIATE_TEST_SUITE_P(Models, Devices, ::testing::Range(size_t(0), models().size()),
                         [](const auto &info) { return models()[info.param].name; });

TEST_P(Devices, TrainToTheSameBits) {
  auto one = openSession(compileFor(1), 1);
  const uint64_t want = train(*one, model, 1, kUpdates);
  for (int devices = 2; devices <= 8; ++devices) {
    package::PackageData data = compileFor(devices);
    ASSERT_EQ(data.devices.size(), size_t(devices));
    auto several = openSession(data, devices == 2 ? 2 : 1);
    EXPECT_EQ(train(*several, model, 1, kUpdates), want) << devices << " devices";
    for (const package::State &state : data.states)
      EXPECT_EQ(hashOf(*several->state(state.name)), hashOf(*one->state(state.name)))
          << state.name << " on " << devices << " devices";
    for (const DevicePeak &peak : several->peaks())
      EXPECT_LE(peak.touchedBytes, peak.plannedBytes) << peak.device;
  }
}

/// Reads and sets inputs, weights, slots, states and outputs; any other access to the memory would
/// end the process.
TEST_P(Devices, TrainToTheSameBitsWhereTheHostSeesNoMemory) {
  auto one = openSession(compileFor(1), 1);
  const uint64_t want = train(*one, model, 1, kUpdates);
  for (int devices : {1, 3}) {
    package::PackageData data = compileFor(devices);
    auto unseen = openUnseen(data);
    EXPECT_EQ(train(*unseen, model, 1, kUpdates), want) << devices << " devices";
    for (const package::State &state : data.states)
      EXPECT_EQ(hashOf(*unseen->state(state.name)), hashOf(*one->state(state.name)))
          << state.name << " on " << devices << " devices";
  }
}

/// Layers on different devices, chunks of steps, replicas of these, uneven work, parts one after
/// the other, and different places for sums and updates.
TEST_P(Devices, TrainToTheSameBitsInEveryMix) {
  const uint64_t want = train(*openSession(compileFor(1), 1), model, 1, kUpdates);
  std::vector<Variant> variants = coveringVariants(model);
  EXPECT_GT(variants.size(), 20u);
  for (const Variant &variant : variants)
    EXPECT_EQ(trainAs(model, variant, kUpdates), want) << variant.text();
}

/// Large arrays are updated in slices, each with its own part of the optimizer's slots; reading and
/// setting a slot uses the whole.
TEST_P(Devices, KeepSlotsInSlicesAndGiveThemWhole) {
  auto one = openSession(compileFor(1), 1);
  train(*one, model, 1, kUpdates);
  model.recipe.compile = Variant{.devices = 3, .bigArrayBound = 1}.applyTo(model.recipe.compile);
  package::PackageData data = compileNet(model.recipe).package;
  auto cut = openSession(data, 1), resumed = openSession(data, 1), unseen = openUnseen(data);
  train(*cut, model, 1, kUpdates);
  train(*unseen, model, 1, kUpdates);
  bool large = false, sliced = false;
  for (const package::Parameter &parameter : data.parameters) {
    large |= data.buffers[parameter.buffers[0]].elements() > 4096;
    ASSERT_TRUE(resumed->setParameter(parameter.name, *one->parameter(parameter.name)).ok());
    for (const package::Slot &slot : parameter.slots) {
      sliced |= package::isSliced(data, parameter, slot);
      Tensor want = *one->slot(parameter.name, slot.name);
      EXPECT_EQ(hashOf(*cut->slot(parameter.name, slot.name)), hashOf(want))
          << parameter.name << " " << slot.name;
      EXPECT_EQ(hashOf(*unseen->slot(parameter.name, slot.name)), hashOf(want))
          << parameter.name << " " << slot.name;
      EXPECT_EQ(unseen->storedSlot(parameter.name, slot.name)->hash(), hashOf(want));
      ASSERT_TRUE(resumed->setSlot(parameter.name, slot.name, want).ok());
    }
  }
  EXPECT_EQ(sliced, large && !data.parameters[0].slots.empty());
  for (const package::State &state : data.states)
    ASSERT_TRUE(resumed->setState(state.name, *one->state(state.name)).ok());
  const uint64_t want = train(*one, model, kUpdates + 1, 2);
  EXPECT_EQ(train(*cut, model, kUpdates + 1, 2), want);
  EXPECT_EQ(train(*resumed, model, kUpdates + 1, 2), want);
  EXPECT_EQ(train(*unseen, model, kUpdates + 1, 2), want);
}

/// With the stages and chunks that the compiler chooses as the fastest.
TEST_P(Devices, TrainToTheSameBitsAsIsFastest) {
  const uint64_t want = train(*openSession(compileFor(1), 1), model, 1, kUpdates);
  model.recipe.compile = Variant{.devices = 2}.applyTo(model.recipe.compile);
  model.recipe.compile.stages = 0;
  model.recipe.compile.chunks = 0;
  passes::Compiled compiled = compileNet(model.recipe);
  ASSERT_GE(compiled.layouts.size(), 2u);
  EXPECT_EQ(compiled.layouts.front().devices, int64_t(compiled.package.devices.size()));
  for (const passes::Layout &layout : compiled.layouts)
    EXPECT_GE(layout.seconds, compiled.layouts.front().seconds);
  EXPECT_EQ(train(*openSession(compiled.package, 1), model, 1, kUpdates), want);
}

/// Exchanges the sum of devices 0 and 1 with what device 2 has sent, where both are terms of one
/// sum of floats. False if there is no such place.
bool swapAddends(package::PackageData &data) {
  for (package::Entry &entry : data.entries) {
    std::vector<int64_t> received(data.buffers.size(), -1); // by buffer: the peer
    std::vector<bool> isSum(data.buffers.size());
    for (package::Launch &launch : entry.programs[0].launches) {
      if (entry.name != "step" || launch.operands.empty())
        continue;
      if (launch.kernel == KernelId::Receive)
        received[launch.operands[0].buffer] = argumentsOf<ReceiveArguments>(launch).peer;
      package::Operand *sum = nullptr, *third = nullptr;
      bool readsSecond = false;
      for (package::Operand &operand : launch.operands) {
        if (operand.buffer == package::kNoBuffer || launch.kernel != KernelId::Fused)
          continue;
        const package::Buffer &buffer = data.buffers[operand.buffer];
        readsSecond |= received[operand.buffer] == 1;
        if (buffer.dtype != DType::F32 || buffer.bytes < 200)
          continue;
        if (isSum[operand.buffer])
          sum = &operand;
        else if (received[operand.buffer] == 2)
          third = &operand;
      }
      if (sum && third && sum->shape == third->shape) {
        std::swap(*sum, *third);
        return true;
      }
      for (size_t k = 0; readsSecond && k < launch.operands.size(); ++k)
        if (launch.operands[k].buffer != package::kNoBuffer && package::writes(data, launch, k))
          isSum[launch.operands[k].buffer] = true;
    }
  }
  return false;
}

/// ((0-1) + (2-3)) + ((4-5) + (6-7)), one pair per device; then with 2-3 and 4-5 exchanged.
TEST_P(Devices, EndWhenTwoAddendsAreSwapped) {
  package::PackageData data = compileFor(4);
  const uint64_t want = train(*openSession(data, 1), model, 1, kUpdates);
  ASSERT_TRUE(swapAddends(data));
  EXPECT_NE(train(*openSession(data, 1), model, 1, kUpdates), want);
}

TEST_P(Devices, AnswerAndMeasureToTheSameBits) {
  auto one = openSession(compileFor(1), 1);
  for (int devices : {2, 3, 5}) {
    auto several = openSession(compileFor(devices), 1);
    for (const char *entry : {"forward", "evaluate"}) {
      for (Session *session : {one.get(), several.get()}) {
        session->resetStates();
        feed(*session, entry, 1, model.classes, model.recipe.steps);
        Status done = session->run(entry);
        ASSERT_TRUE(done.ok()) << done.error().text();
      }
      const package::PackageData &data = one->package().data();
      for (const package::Binding &output :
           data.entries[*one->package().findEntry(entry)].outputs) {
        EXPECT_EQ(hashOf(*several->output(entry, output.name)),
                  hashOf(*one->output(entry, output.name)))
            << output.name << " of " << entry << " on " << devices;
      }
    }
  }
}

/// The proof at load that no device waits in a circle covers what the compiler makes: of each
/// device's messages, two neighbours change places.
TEST(DevicesRefused, APlanWithOneSwappedPairOfMessages) {
  Model model = models()[0];
  model.recipe.compile.devices = {"cpu:0", "cpu:1", "cpu:2"};
  const package::PackageData good = compileNet(model.recipe).package;
  auto open = [](const package::PackageData &data) {
    return package::Package::open(package::serialize(data)).status();
  };
  ASSERT_TRUE(open(good).ok());
  size_t swapped = 0;
  for (size_t entry = 0; entry < good.entries.size(); ++entry)
    for (size_t device = 0; device < good.entries[entry].programs.size(); ++device) {
      const auto &launches = good.entries[entry].programs[device].launches;
      std::optional<size_t> before;
      for (size_t at = 0; at < launches.size(); ++at) {
        if (launches[at].kernel != KernelId::Send && launches[at].kernel != KernelId::Receive)
          continue;
        const std::optional<size_t> last = std::exchange(before, at);
        auto number = [&](size_t i) { return argumentsOf<TransferArguments>(launches[i]).message; };
        // A send may come before a receive of a smaller number.
        if (!last || number(*last) > number(at) ||
            (launches[*last].kernel == KernelId::Receive && launches[at].kernel == KernelId::Send))
          continue;
        package::PackageData data = good;
        auto &changed = data.entries[entry].programs[device].launches;
        std::swap(changed[*last], changed[at]);
        const Status status = open(data);
        ASSERT_FALSE(status.ok()) << good.entries[entry].name << ", device " << device
                                  << ", launches " << *last << " and " << at;
        EXPECT_EQ(status.error().code, ErrorCode::E0611) << status.error().text();
        ++swapped;
      }
    }
  EXPECT_GT(swapped, 10u);
}

} // namespace
} // namespace lstmc::e2e
