// The tests that every target runs: each kernel against the reference, bit for bit, on 1, 2, 3 and
// 5 threads.
#pragma once

#include <string>
#include <vector>

#include "backends/conformance/TestLaunch.h"
#include "executor/device/HostDevice.h"

namespace lstmc::conformance {

/// What is tested: the devices that `make` gives. One is kept for each name and number of threads.
struct Target {
  std::string name;
  std::function<Result<std::unique_ptr<Device>>(int threads)> make;
  /// Path of its list of exceptions from the source tree's root: a line `KERNEL/CASE: reason`, or
  /// `KERNEL: reason`; # begins a comment. Empty for none. One that passes must leave the list.
  std::string unsupported;
  /// How many threads each case is carried out on, one after the other.
  std::vector<int> threads = {1, 2, 3, 5};
};

/// A set of host kernels, on devices made of this machine.
Target hostTarget(std::string name, KernelChooser choose, std::string unsupported = "",
                  std::vector<int> threads = {1, 2, 3, 5});

/// One launch, made afresh at each call.
struct Case {
  std::string name; ///< "KERNEL/what is special about it"
  std::function<TestLaunch()> make;
};

/// The cases of a kernel, in a fixed order; every kernel has some.
std::vector<Case> casesOf(KernelId id);

/// Runs them on each device, with memory that the host reaches through the device alone. Every
/// failure is a GoogleTest failure that names target, case, threads and the first difference.
void conform(const Target &target, KernelId id);

/// All kernels that targets have functions for, for INSTANTIATE_TEST_SUITE_P.
std::vector<KernelId> allKernels();

} // namespace lstmc::conformance

/// One test per kernel: SUITE/Kernels.GivesTheBitsOfTheReference/KERNEL. `target` is an expression
/// of type Target.
#define LSTMC_CONFORMANCE(SUITE, target)                                                           \
  class SUITE : public testing::TestWithParam<lstmc::KernelId> {};                                 \
  TEST_P(SUITE, GivesTheBitsOfTheReference) { lstmc::conformance::conform(target, GetParam()); }   \
  INSTANTIATE_TEST_SUITE_P(Kernels, SUITE, testing::ValuesIn(lstmc::conformance::allKernels()),    \
                           [](const testing::TestParamInfo<lstmc::KernelId> &info) {               \
                             return std::string(lstmc::kernelRecord(info.param).name);             \
                           })
