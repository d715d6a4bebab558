// The cases by group of kernels, one source file each.
#pragma once

#include <fmt/format.h>

#include "backends/conformance/Conformance.h"

namespace lstmc::conformance {

/// Adds case KERNEL/WHAT.
inline void add(std::vector<Case> &cases, KernelId id, std::string_view what,
                std::function<TestLaunch()> make) {
  cases.push_back({fmt::format("{}/{}", kernelRecord(id).name, what), std::move(make)});
}

inline TestLaunch makeLaunch(KernelId id, std::vector<Array> operands,
                             std::vector<int64_t> ints = {}, std::vector<double> floats = {}) {
  TestLaunch launch(id);
  launch.operands = std::move(operands);
  launch.ints = std::move(ints);
  launch.floats = std::move(floats);
  return launch;
}

void addMovementCases(std::vector<Case> &cases);
void addFusedCases(std::vector<Case> &cases);
void addProductCases(std::vector<Case> &cases);
void addRecurrenceCases(std::vector<Case> &cases);
void addReductionCases(std::vector<Case> &cases);
void addLossCases(std::vector<Case> &cases);
void addInitialCases(std::vector<Case> &cases);

} // namespace lstmc::conformance
