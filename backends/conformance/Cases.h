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

/// Parts of a batch: the left half, one shard, shards without rows among others, the ragged right
/// of a tree, ranges that are no subtree.
inline constexpr ShardRange kShardRanges[] = {{20, 8, 0, 4}, {20, 8, 6, 1}, {11, 8, 2, 2},
                                              {5, 8, 4, 4},  {3, 8, 0, 6},  {9, 13, 8, 5},
                                              {41, 13, 3, 7}};

/// The ints of a launch over a range of shards, and those behind them.
inline std::vector<int64_t> shardInts(const ShardRange &range,
                                      std::initializer_list<int64_t> more = {}) {
  const std::array<int64_t, 4> first = range.ints();
  std::vector<int64_t> ints(first.begin(), first.end());
  ints.insert(ints.end(), more);
  return ints;
}
/// All shards.
inline std::vector<int64_t> shardInts(int64_t batch, int64_t shards,
                                      std::initializer_list<int64_t> more = {}) {
  return shardInts({batch, shards, 0, shards}, more);
}
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
