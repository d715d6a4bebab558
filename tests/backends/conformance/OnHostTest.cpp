// Which launches a GPU leaves to the host.
#include <gtest/gtest.h>

#include "backends/conformance/Conformance.h"
#include "backends/cuda/runtime/Launches.h"
#include "executor/abi/KernelArguments.h"

namespace lstmc::conformance {
namespace {

/// Each vector depends on the ones before it; no GPU kernel does that.
bool isOrthogonal(const TestLaunch &launch) {
  return launch.id == KernelId::Initialise &&
         argumentsOf<InitialiseArguments>(launch).kind == InitKind::Orthogonal;
}

TEST(OnHost, OnlyOrthogonalMatrices) {
  size_t onHost = 0, all = 0;
  for (KernelId id : allKernels())
    for (const Case &c : casesOf(id)) {
      const TestLaunch launch = c.make();
      const std::vector<Tensor> tensors = launch.tensors();
      const bool given =
          cuda::gpuLaunches(id, {tensors, launch.ints, launch.floats, launch.program.get()}, {})
              .has_value();
      EXPECT_EQ(given, !isOrthogonal(launch)) << c.name;
      onHost += !given;
      ++all;
    }
  EXPECT_GT(onHost, 0u);
  EXPECT_LT(onHost, all / 20);
}

} // namespace
} // namespace lstmc::conformance
