// A package reads back as it was written, and a valid package passes all checks.
#include "executor/package/Package.h"

#include <gtest/gtest.h>

#include "executor/abi/Version.h"
#include "executor/package/Check.h"
#include "executor/package/Plan.h"
#include "tests/executor/package/SamplePackage.h"

namespace lstmc::package {
namespace {

TEST(Package, ParsesToWhatWasSerialised) {
  PackageData data = samplePackage();
  addNext(data);
  EXPECT_TRUE(Package::open(serialize(data)).ok());
  data.entries[sample::kStep].programs[0].launches[1].pieces = {lastRows()};
  data.entries[sample::kStep].programs[0].launches[1].chunk = 2;
  data.entries[sample::kStep].programs[0].launches[1].firstStep = 7;
  auto parsed = parse(serialize(data));
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  data.abi = kPackageAbi;
  EXPECT_EQ(*parsed, data);
  EXPECT_EQ(serialize(*parsed), serialize(data));
}

TEST(Package, ReadsFromBytesOnAnyBorder) {
  Bytes bytes = serialize(samplePackage());
  for (size_t shift = 1; shift < 8; ++shift) {
    Bytes shifted(shift);
    shifted.insert(shifted.end(), bytes.begin(), bytes.end());
    auto package = Package::open(std::span(shifted).subspan(shift));
    EXPECT_TRUE(package.ok()) << package.error().text();
  }
}

TEST(Package, OpensAndAnswersByName) {
  Bytes bytes = serialize(samplePackage());
  auto package = Package::open(bytes, "a.lstmc");
  ASSERT_TRUE(package.ok()) << package.error().text();
  EXPECT_EQ((*package)->findEntry("step"), size_t(sample::kStep));
  EXPECT_EQ((*package)->findEntry("walk"), std::nullopt);
  EXPECT_EQ((*package)->findParameter("w"), 0u);
  EXPECT_EQ((*package)->findState("h"), 0u);
  EXPECT_EQ((*package)->digest().size(), 64u);
  EXPECT_EQ((*package)->bytes(), bytes.size());
  ASSERT_EQ((*package)->data().programs.size(), 1u);
  EXPECT_TRUE((*package)->data().programs[0].writes(3));
  EXPECT_FALSE((*package)->data().programs[0].writes(0));
}

TEST(Package, AnInputMayHaveARangeOfOneNumber) {
  PackageData data = samplePackage();
  data.entries[sample::kStep].inputs[0].range = {3, 3, {}};
  auto package = Package::open(serialize(data));
  EXPECT_TRUE(package.ok()) << package.error().text();
}

TEST(Package, APieceMayHaveOneAxis) {
  PackageData data = samplePackage();
  for (Launch &launch : data.entries[sample::kStep].programs[0].launches)
    if (launch.kernel == KernelId::NormSquared)
      launch.pieces = {{0, {1, 1, 1}, {2}}}; // the second of two elements
  auto package = Package::open(serialize(data));
  EXPECT_TRUE(package.ok()) << package.error().text();
}

/// Step with a buffer of two lines, half of which is squared in place, and what lies in the other
/// half from the next launch on.
PackageData replacedInPlace() {
  using namespace sample;
  constexpr int64_t kLine = kAlignment / 4;
  PackageData data = samplePackage();
  DeviceProgram &program = data.entries[kStep].programs[0];
  const auto at = uint32_t(program.commit);
  const auto first = uint32_t(data.buffers.size());
  const uint64_t end = data.devices[0].arenaBytes;
  auto add = [&](int64_t elements, uint64_t offset, uint32_t from, uint32_t to) {
    data.buffers.push_back({0,
                            offset,
                            uint64_t(4 * elements),
                            DType::F32,
                            {elements},
                            Kind::Activation,
                            "half",
                            1,
                            kStep,
                            from,
                            to});
  };
  add(2 * kLine, end, at, at + 1);
  add(kLine, end, at + 1, at + 2);
  add(kLine, end + kAlignment, at + 2, at + 2);
  data.devices[0].arenaBytes = end + 2 * kAlignment;
  data.programs.push_back(
      {{DType::F32, DType::F32}, {{ScalarOp::Mul, DType::F32, 0, 0, 0, 0}}, {-1, 2}});
  const Operand whole{first, 0, {2 * kLine}, {}}, half{first, 0, {kLine}, {}},
      square{first + 1, 0, {kLine}, {}}, rest{first + 2, 0, {kLine}, {}};
  program.launches.insert(program.launches.begin() + at,
                          {Launch{KernelId::Fill, {whole}, {}, {1}, 1},
                           Launch{KernelId::Fused, {half, square}, {1}, {}, 1},
                           Launch{KernelId::Fill, {rest}, {}, {1}, 1}});
  program.commit += 3;
  return data;
}

TEST(Package, AResultMayTakeThePlaceOfWhatItsLaunchReadsLast) {
  PackageData data = replacedInPlace();
  auto package = Package::open(serialize(data));
  ASSERT_TRUE(package.ok()) << package.error().text();
  // Not of other elements, and not before that launch.
  data.entries[sample::kStep].programs[0].launches[6].operands[0].offset = 1;
  EXPECT_FALSE(Package::open(serialize(data)).ok());
  data = replacedInPlace();
  data.buffers.back().from = data.buffers.back().to = 6;
  EXPECT_FALSE(Package::open(serialize(data)).ok());
}

/// In place of the copy of the result into the state.
TEST(Package, AStateMayHoldASoftmaxOrASum) {
  using namespace sample;
  const Operand y{kForwardY, 0, {kBatch, kUnits}, {}};
  const Operand all{kState, 0, {kBatch, kUnits}, {}}, one{kState, 0, {1}, {}};
  for (const Launch &launch : {Launch{KernelId::Softmax, {y, {}, all}, {0}, {0.5}, 1},
                               Launch{KernelId::Reduce, {y, one}, {0, 0}, {}, 1}}) {
    PackageData data = samplePackage();
    data.entries[kForward].programs[0].launches[1] = launch;
    auto package = Package::open(serialize(data));
    EXPECT_TRUE(package.ok()) << package.error().text();
  }
}

TEST(Package, FileThatIsMissingIsNamed) {
  auto package = Package::open(std::string("/nowhere/a.lstmc"));
  ASSERT_FALSE(package.ok());
  EXPECT_EQ(errorRecord(package.error().code).name, "E0601");
  EXPECT_EQ(package.error().place.file, "/nowhere/a.lstmc");
}

TEST(Package, EveryKernelHasARule) {
  for (const KernelRecord &record : kernelRecords())
    EXPECT_TRUE(hasKernelRule(record.id)) << record.name;
}

TEST(Plan, PartsAddUpToTheArena) {
  auto package = Package::open(serialize(samplePackage()));
  ASSERT_TRUE(package.ok());
  std::vector<DevicePlan> plans = planOf((*package)->data(), 2);
  ASSERT_EQ(plans.size(), 1u);
  const DevicePlan &plan = plans[0];
  EXPECT_EQ(plan.arenaBytes, (*package)->data().devices[0].arenaBytes);
  EXPECT_EQ(plan.weightBytes() + plan.gradientBytes() + plan.optimizerBytes() +
                plan.activationBytes() + plan.workspaceBytes(),
            plan.arenaBytes);
  EXPECT_EQ(plan.weightBytes(), 3 * 4 * 4 + 16 * 4 * 4u); // w, and 16 columns of 4 packed
  EXPECT_EQ(plan.gradientBytes(), 48u);
  EXPECT_EQ(plan.optimizerBytes(), 48u);
  // state 24, x 32, rate 4, update 8, seed 8, loss 48, norm 8, y 24
  EXPECT_EQ(plan.activationBytes(), 156u);
  EXPECT_EQ(plan.largest, (std::vector<uint32_t>{sample::kPackedWeight, sample::kWeight}));
}

/// Packed weights are made again after a step, which may use their memory if it does not read them.
TEST(Plan, PackedWeightsAreLostInAStep) {
  PackageData data = samplePackage();
  packApart(data);
  data.buffers[sample::kStepY].offset = data.buffers[sample::kPackedWeight].offset;
  auto package = Package::open(serialize(data));
  ASSERT_TRUE(package.ok()) << package.error().text();
  const uint64_t packed = data.buffers[sample::kPackedWeight].bytes;
  auto packedAt = [&](size_t entry, size_t launch) {
    return bytesAlive(data, 0, entry)[launch][size_t(Kind::Packed)];
  };
  EXPECT_EQ(packedAt(sample::kForward, 0), packed);
  EXPECT_EQ(packedAt(sample::kStep, 2), 0u);
}

TEST(Plan, PeakIsTheLaunchWhereMostLives) {
  PackageData data = samplePackage();
  // Another activation of step, alive at launches 2 and 3, moves the peak from 1 to 2.
  uint64_t end = data.devices[0].arenaBytes;
  data.buffers.push_back(
      {0, end, 64, DType::U8, {64}, Kind::Workspace, "scratch", 0, sample::kStep, 2, 3});
  data.devices[0].arenaBytes += 64;
  auto package = Package::open(serialize(data));
  ASSERT_TRUE(package.ok()) << package.error().text();
  DevicePlan plan = planOf((*package)->data())[0];
  EXPECT_EQ(plan.peakEntry, int32_t(sample::kStep));
  EXPECT_EQ(plan.peakLaunch, 2u);

  const Launch &launch = data.entries[sample::kStep].programs[0].launches[2];
  std::optional<PeakLaunch> at = launchAtPeak(data, plan);
  ASSERT_TRUE(at);
  EXPECT_EQ(at->entry, "step");
  EXPECT_EQ(at->op, data.locations[launch.location].name);
  EXPECT_EQ(at->kernel, kernelRecord(launch.kernel).name);
  plan.peakEntry = kPersistent;
  EXPECT_FALSE(launchAtPeak(data, plan));
}

/// A backward launch has the same place in the source and the same name as its forward launch, if
/// there is one.
TEST(Plan, PeakInBackwardHasTheNameOfForward) {
  PackageData data = samplePackage();
  DevicePlan plan = planOf(data)[0];
  plan.peakEntry = sample::kStep;
  plan.peakLaunch = 2;
  data.locations.push_back(data.locations[1]);
  data.locations.back().name = "";
  data.entries[sample::kStep].programs[0].launches[2].location = 2;
  EXPECT_EQ(launchAtPeak(data, plan)->op, "fc");
  data.locations.push_back(data.locations[1]);
  EXPECT_EQ(launchAtPeak(data, plan)->op, "fc");
  data.locations.back().name = "other";
  EXPECT_EQ(launchAtPeak(data, plan)->op, "");
  data.locations.back().notes = {"for i = 2"};
  EXPECT_EQ(launchAtPeak(data, plan)->op, "fc");
}

/// The steps in the order in which a layer processes them, counted from the first step of all
/// chunks.
TEST(Plan, PeakInALayerHasItsSteps) {
  PackageData data = samplePackage();
  DevicePlan plan = planOf(data)[0];
  plan.peakEntry = sample::kStep;
  plan.peakLaunch = 2;
  Launch &launch = data.entries[sample::kStep].programs[0].launches[2];
  EXPECT_FALSE(launchAtPeak(data, plan)->steps);
  EXPECT_FALSE(launchAtPeak(data, plan)->chunk);
  launch.chunk = 3;
  launch.firstStep = 96;
  const Operand steps{0, 0, {32, 2, 4}, {}};
  launch.kernel = KernelId::RnnForward;
  launch.operands.assign(RnnForwardOperand::kFixed, {});
  launch.operands[RnnForwardOperand::y] = steps;
  auto expect = [&](bool reverse, int64_t first, int64_t last) {
    setArguments(launch,
                 RnnForwardArguments{.mode = RnnMode::Relu, .reverse = reverse, .chunk = 1});
    PeakLaunch at = *launchAtPeak(data, plan);
    EXPECT_EQ(at.steps->first, first);
    EXPECT_EQ(at.steps->last, last);
    EXPECT_EQ(at.chunk, 3);
  };
  expect(false, 96, 127);
  expect(true, 127, 96);
  launch.kernel = KernelId::RnnBackward;
  launch.operands.assign(17, {});
  launch.operands[0] = steps; // gates
  expect(0, 127, 96);
  expect(1, 96, 127);
}

TEST(Plan, TypeText) { EXPECT_EQ(typeText(DType::F32, {3, 4}), "f32[3, 4]"); }

} // namespace
} // namespace lstmc::package
