// Runs launches at every level and with several numbers of threads.
#pragma once

#include <gtest/gtest.h>

#include "backends/conformance/TestLaunch.h"
#include "backends/cpu/runtime/KernelTable.h"
#include "executor/device/ThreadTeam.h"
#include "executor/reference/Reference.h"

namespace lstmc::cpu::testing {

inline void runOn(conformance::TestLaunch &launch, Level level, int threads) {
  ThreadTeam team(threads);
  const std::vector<Tensor> operands = launch.tensors();
  const LaunchArgs args{operands, launch.ints, launch.floats, launch.program.get()};
  const KernelFunction function = kernelTable(level).own(launch.id);
  team.run([&](Worker &worker) { function(args, worker); });
}

/// Every level and thread count gives the bytes of `expected`, and of the reference if asked.
inline void expectEqualEverywhere(const conformance::TestLaunch &launch, bool reference = true) {
  conformance::TestLaunch expected = launch.clone();
  if (reference)
    expected.run(reference::kernel(launch.id));
  else
    runOn(expected, machineLevel(), 1);
  for (int level = 0; level <= int(machineLevel()); ++level)
    for (int threads : {1, 2, 3, 5}) {
      conformance::TestLaunch run = launch.clone();
      runOn(run, Level(level), threads);
      ASSERT_EQ(run.difference(expected), "")
          << kLevelNames[level] << ", " << threads << " threads";
    }
}

} // namespace lstmc::cpu::testing
