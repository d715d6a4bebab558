// How a GPU carries out a recurrent layer, and how long it takes: the same answer when a plan is
// made and when a package is loaded.
#pragma once

#include <cstdint>

#include "backends/cuda/kernels/RecurrenceOnChip.h"
#include "backends/cuda/kernels/RecurrenceTensor.h"
#include "backends/cuda/model/GpuShape.h"
#include "executor/abi/DType.h"

namespace lstmc::cuda {

enum class Direction : uint8_t { Forward, Backward };

/// Every way but the two of tensor cores gives the same bits.
struct RecurrenceWay {
  enum class Kind : uint8_t {
    OnChip,       ///< weights stay in registers and in the shared memory of a cluster
    TensorCores,  ///< they stay there in 16 bits: with bf16 or fp16 of --fast
    StepByStep,   ///< products and a cell each, where they do not fit: with those too
    ThroughCache, ///< a block reads them through the cache at each step
  };
  Kind kind = Kind::ThroughCache;
  int cluster = 1; ///< blocks that advance sequences together
  int rows = 1;    ///< sequences that they advance
  gpu::OnChipShape chip = {};
  int threads = 0;         ///< OnChip: most of a block, for its kernel (kOnChipThreads)
  int64_t sharedBytes = 0; ///< of a block
  double stepCycles = 0;   ///< of one step of all sequences; of a host, as many as it takes
};

/// Tensor cores, where the GPU's rule allows them and the weights fit, else that which takes least.
/// Only f32 stays on the chip.
RecurrenceWay recurrenceWay(const gpu::LayerShape &layer, Direction direction, DType type,
                            const GpuShape &gpu);

} // namespace lstmc::cuda
