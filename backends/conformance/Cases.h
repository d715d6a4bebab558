// The test cases, with one source file per group of kernels.
#pragma once

#include <fmt/format.h>

#include "backends/conformance/Conformance.h"

namespace lstmc::conformance {

/// Adds case KERNEL/WHAT.
inline void add(std::vector<Case> &cases, KernelId id, std::string_view what,
                std::function<TestLaunch()> make) {
  cases.push_back({fmt::format("{}/{}", kernelRecord(id).name, what), std::move(make)});
}

inline TestLaunch makeLaunch(KernelId id, std::vector<Array> operands) {
  TestLaunch launch(id);
  launch.operands = std::move(operands);
  return launch;
}

/// A launch of the kernel that has these arguments.
template <typename Arguments>
TestLaunch makeLaunch(const Arguments &arguments, std::vector<Array> operands) {
  TestLaunch launch = makeLaunch(Arguments::kKernel, std::move(operands));
  setArguments(launch, arguments);
  return launch;
}

/// Ranges of shards: the left half, a single shard, shards with and without rows, the uneven right
/// part of the tree, ranges that are no subtree.
inline constexpr ShardRange kShardRanges[] = {{20, 8, 0, 4}, {20, 8, 6, 1}, {11, 8, 2, 2},
                                              {5, 8, 4, 4},  {3, 8, 0, 6},  {9, 13, 8, 5},
                                              {41, 13, 3, 7}};

inline std::string rangeName(const ShardRange &range) {
  return fmt::format("shards {} to {} of {} over {} rows", range.first,
                     range.first + range.count - 1, range.shards, range.batch);
}

void addMovementCases(std::vector<Case> &cases);
void addFusedCases(std::vector<Case> &cases);
void addProductCases(std::vector<Case> &cases);
void addRecurrenceCases(std::vector<Case> &cases);
void addReductionCases(std::vector<Case> &cases);
void addLossCases(std::vector<Case> &cases);
void addInitialCases(std::vector<Case> &cases);

} // namespace lstmc::conformance
