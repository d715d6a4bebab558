// Checks that the harness itself reports the errors that it is made for.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "backends/conformance/Conformance.h"
#include "backends/conformance/DeviceRun.h"
#include "executor/reference/Reference.h"

namespace lstmc::conformance {
namespace {

TestLaunch fill() {
  TestLaunch launch(KernelId::Fill);
  launch.operands = {Array(DType::F32, {3, 5}, Layout::Rows)};
  setArguments(launch, FillArguments{.value = 2});
  return launch;
}

TEST(Harness, SeesOneBit) {
  TestLaunch a = fill(), b = a.clone();
  a.run(reference::kernel(KernelId::Fill));
  b.run(reference::kernel(KernelId::Fill));
  EXPECT_EQ(a.difference(b), "");
  b.operands[0].storage->data()[9] ^= std::byte(1);
  EXPECT_EQ(a.difference(b), "operand 0 (y), element 2 of its 30 in memory: found 2 (0x1p+1), want "
                             "2.00006103515625 (0x1.0002p+1)");
}

TEST(Harness, SeesWritesBetweenRows) {
  TestLaunch a = fill(), b = a.clone();
  a.operands[0].storage->data()[4 * 5] ^= std::byte(1);
  EXPECT_NE(a.difference(b), "");
}

TEST(Harness, SeesWritesBesideTheOperand) {
  TestLaunch a = fill(), b = a.clone();
  a.operands[0].storage->data()[-1] ^= std::byte(1);
  EXPECT_EQ(a.difference(b), "operand 0 (y): bytes beside it were written");
}

TEST(Harness, SharesMemoryAsTheOriginalDoes) {
  TestLaunch a(KernelId::Softmax);
  Array x(DType::F32, {2, 3}, uniform(-1, 1));
  a.operands = {x, Array(), x};
  TestLaunch b = a.clone();
  EXPECT_EQ(b.operands[0].tensor.data, b.operands[2].tensor.data);
  EXPECT_NE(b.operands[0].tensor.data, x.tensor.data);
}

/// The reference, but the second worker flips a bit of the result.
void wrongOnTwo(const LaunchArgs &args, Worker &worker) {
  reference::kernel(KernelId::Fill)(args, worker);
  worker.barrier();
  if (worker.index == 1)
    args.operands[0].as<std::byte>()[1] ^= std::byte(1);
}

TEST(Harness, FindsWhatADeviceLeft) {
  TestLaunch expected = fill();
  expected.run(reference::kernel(KernelId::Fill));
  for (int threads : {1, 2}) {
    auto device = std::move(*makeHostDevice(
        "d", [](KernelId, std::span<const Tensor>) -> KernelFunction { return wrongOnTwo; },
        threads));
    TestLaunch launch = fill();
    ASSERT_TRUE(runOn(*device, launch).ok());
    EXPECT_EQ(launch.difference(expected) == "", threads == 1) << launch.difference(expected);
  }
}

TEST(Harness, SaysThatADeviceHasNoSuchKernel) {
  auto device = std::move(*makeHostDevice(
      "d", [](KernelId, std::span<const Tensor>) -> KernelFunction { return nullptr; }, 1));
  TestLaunch launch = fill();
  EXPECT_EQ(runOn(*device, launch).error().text(),
            "error[E0402]: d has no kernel \"fill\" for these types");
}

TEST(Harness, EveryKernelHasCasesOfDistinctNames) {
  for (KernelId id : allKernels()) {
    std::vector<Case> cases = casesOf(id);
    EXPECT_FALSE(cases.empty()) << kernelRecord(id).name;
    std::vector<std::string> names;
    for (const Case &c : cases) {
      names.push_back(c.name);
      EXPECT_EQ(c.make().id, id) << c.name;
    }
    std::sort(names.begin(), names.end());
    auto twice = std::adjacent_find(names.begin(), names.end());
    EXPECT_TRUE(twice == names.end()) << *twice;
  }
}

TEST(Harness, AnExceptionThatPassesFails) {
  static const Target target = hostTarget(
      "target", [](KernelId id, std::span<const Tensor>) { return reference::kernel(id); },
      "backends/null/unsupported.txt");
  EXPECT_NONFATAL_FAILURE(conform(target, KernelId::Arange), "remove its line");
}

} // namespace
} // namespace lstmc::conformance
