// How a GPU carries out a recurrent layer.
#pragma once

#include <cstdint>
#include <optional>

#include "backends/cuda/kernels/RecurrenceOnChip.h"

namespace lstmc::cuda {

/// What of a GPU decides which kernels run on it.
struct GpuShape {
  int64_t sharedBytes = 99 * 1024; ///< that a block may have; the least of any GPU from sm_80 on
  int multiprocessors = 108;
  int cluster = 1; ///< most blocks of a cluster; 1: there are none
  /// For tests: weights stay on the chip in clusters of so many blocks wherever they fit, or, with
  /// 0, nowhere. Else what is estimated to take less time.
  std::optional<int> asked = std::nullopt;
};

/// Weights stay in the shared memory of a cluster.
struct OnChip {
  int cluster;
  int rows; ///< sequences of a cluster
  gpu::OnChipShape shape;
  int64_t sharedBytes;
};

/// Nothing if the weights of f32 do not fit into a cluster, or reading them through the cache at
/// each step is estimated to take less time. Every way gives the same bits.
std::optional<OnChip> forwardOnChip(const gpu::LayerShape &layer, const GpuShape &gpu);
/// The same; the layer has no inputs.
std::optional<OnChip> backwardOnChip(const gpu::LayerShape &layer, const GpuShape &gpu);

} // namespace lstmc::cuda
