// The tests that every target runs: each kernel against the reference, bit for bit, on 1, 2, 3 and
// 5 threads.
#pragma once

#include <string>
#include <vector>

#include "backends/conformance/TestLaunch.h"
#include "executor/device/HostDevice.h"

namespace lstmc::conformance {

/// The target under test: `make` makes its devices. One is kept for each name and number of
/// threads.
struct Target {
  std::string name;
  std::function<Result<std::unique_ptr<Device>>(int threads)> make;
  /// The target's list of exceptions, a path from the root of the source tree. A line is
  /// `KERNEL/CASE: reason` or `KERNEL: reason`; # begins a comment. Empty for no list. An exception
  /// that passes has to be removed from the list.
  std::string unsupported;
  /// Every case runs with each of these numbers of threads.
  std::vector<int> threads = {1, 2, 3, 5};
};

/// Makes a target from a set of host kernels, with devices on this machine.
Target hostTarget(std::string name, KernelChooser choose, std::string unsupported = "",
                  std::vector<int> threads = {1, 2, 3, 5});

/// A test launch; `make` builds a new one at each call.
struct Case {
  std::string name; ///< "KERNEL/what distinguishes the case"
  std::function<TestLaunch()> make;
};

/// The cases of a kernel in a fixed order; every kernel has at least one.
std::vector<Case> casesOf(KernelId id);

/// Runs the cases on each device. The host reaches their memory only through the device. Every
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
