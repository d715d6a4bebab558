// How many shards a batch may be cut into (docs/numerics.md rule 3), for the check of packages and
// for kernels that keep partial sums of the tree.
#pragma once

#include <bit>
#include <cstdint>

namespace lstmc {

inline constexpr int64_t kMaxShards = 4096;
/// Levels of the tree over so many shards.
inline constexpr int kShardLevels = std::bit_width(uint64_t(kMaxShards));

} // namespace lstmc
