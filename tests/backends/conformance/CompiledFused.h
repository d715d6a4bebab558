// Fused programs of conformance, compiled.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "backends/conformance/Conformance.h"
#include "backends/conformance/DeviceRun.h"
#include "executor/reference/Reference.h"

namespace lstmc::conformance {

inline std::vector<TestLaunch> fusedLaunches() {
  std::vector<TestLaunch> launches;
  for (const Case &c : casesOf(KernelId::Fused))
    launches.push_back(c.make());
  return launches;
}

/// The programs of launches, each once.
inline std::vector<FusedProgram> programsOf(std::span<const TestLaunch> launches) {
  std::vector<FusedProgram> programs;
  for (const TestLaunch &launch : launches)
    if (std::ranges::find(programs, *launch.program) == programs.end())
      programs.push_back(*launch.program);
  return programs;
}

/// All of the launches give the bits of the reference once the device has compiled their programs.
inline void expectCompiledBits(Device &device, std::span<const TestLaunch> launches) {
  const std::vector<FusedProgram> programs = programsOf(launches);
  const Status status = device.compile(programs);
  ASSERT_TRUE(status.ok()) << status.error().text();
  const std::optional<Error> notice = device.notice();
  ASSERT_FALSE(notice) << notice->text();
  for (const TestLaunch &launch : launches) {
    TestLaunch expected = launch.clone(), run = launch.clone();
    expected.run(reference::kernel(KernelId::Fused));
    const FusedProgram &program = *std::ranges::find(programs, *launch.program);
    run.program = std::shared_ptr<const FusedProgram>(std::shared_ptr<void>(), &program);
    const Status ran = runOn(device, run);
    ASSERT_TRUE(ran.ok()) << ran.error().text();
    EXPECT_EQ(run.difference(expected), "");
  }
}

} // namespace lstmc::conformance
