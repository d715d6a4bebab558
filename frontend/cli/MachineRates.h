// Measured limits of this machine, kept from one `bench --calibrate` to the next run of bench.
#pragma once

#include <optional>
#include <set>

#include "backends/cpu/compiler/CostModel.h"
#include "executor/base/Status.h"

namespace lstmc::cli {

struct MachineRates {
  double flopsPerSecond = 0;  ///< f32 multiply-adds from registers
  double streamPerSecond = 0; ///< bytes read from memory

  /// No call that computes so much and reads so many bytes of weights at least once can be faster.
  /// An f64 counts twice.
  double limitSeconds(double flops, double weightBytes, bool f64) const;
};

/// Measures with each number of threads, some seconds each, and keeps what it found. E0601 when it
/// cannot be kept.
Status calibrate(const std::set<int> &threadCounts);

/// A device of that many threads, for forecasts: as calibrate() found it, else built in.
cpu::Machine machineOf(int threads);

/// The same for each of `count` devices at work together, which share the processors out as
/// sessions do where `threads` is 0.
cpu::Machine machineOf(int threads, size_t count);

/// What was kept for this processor, level and number of threads; none before a calibrate.
std::optional<MachineRates> keptRates(int threads);

} // namespace lstmc::cli
