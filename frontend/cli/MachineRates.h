// Measured limits of this machine, kept from one `bench --calibrate` to the next run of bench.
#pragma once

#include <optional>

#include "executor/base/Status.h"

namespace lstmc::cli {

struct MachineRates {
  double flopsPerSecond = 0;  ///< f32 multiply-adds from registers
  double streamPerSecond = 0; ///< bytes read from memory

  /// No call that computes so much and reads so many bytes of weights at least once can be faster. An f64 counts twice.
  double limitSeconds(double flops, double weightBytes, bool f64) const;
};

/// Measures with that many threads, and keeps what it found. E0601 when it cannot be kept.
Status calibrate(int threads);

/// What was kept for this processor, level and number of threads; none before a calibrate.
std::optional<MachineRates> keptRates(int threads);

} // namespace lstmc::cli
