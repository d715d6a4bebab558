// What a driver's GPUs are, for those who choose among them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/cuda/runtime/Driver.h"
#include "backends/cuda/runtime/Nvml.h"

namespace lstmc::cuda {

struct CardFacts {
  CardNumber number = 0;
  std::string name; ///< "NVIDIA H200"
  uint64_t memoryBytes = 0;
  int multiprocessors = 0;
  int capability = 0; ///< 90: compute capability 9.0

  // Only NVML knows these.
  uint64_t freeBytes = 0;                             ///< 0: unknown
  unsigned clock = 0, mostClock = 0, memoryClock = 0; ///< in MHz now, at most, now; 0: unknown
  /// The way to each card, in nvidia-smi's words: "X" itself, "NV18" that many NVLinks, "PIX" one
  /// PCIe switch, "PXB" several, "PHB" the host's bridge, "NODE" and "SYS" beyond it; empty where
  /// it is unknown.
  std::vector<std::string> links;
};

/// All GPUs of a driver in the order of their numbers; without `nvml`, what the driver says. E0501
/// if it refuses.
Result<std::vector<CardFacts>> cardFacts(const Driver &driver, const Nvml *nvml);

/// What a card does now, whoever uses it.
struct CardLoad {
  uint64_t freeBytes = 0;
  unsigned busyPercent = 0; ///< of the last moments
};

/// Nothing if NVML does not say.
std::optional<CardLoad> cardLoad(const Driver &driver, const Nvml &nvml, CardNumber card);

} // namespace lstmc::cuda
