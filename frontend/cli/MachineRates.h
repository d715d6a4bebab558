// Measured limits of this machine, kept from one `bench --calibrate` to the next run of bench.
#pragma once

#include <optional>
#include <set>

#include "backends/cpu/compiler/CostModel.h"
#include "executor/base/Status.h"
#include "executor/package/PackageData.h"
#include "frontend/cli/Console.h"
#include "frontend/cli/Options.h"

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

/// Measures what was never measured here, in about a second for each number of threads, and keeps
/// it as calibrate() does. Nothing where there is no folder to keep it in: it would be measured
/// again and again. Says so where it took its time.
void measureIfNew(const std::set<int> &threadCounts, Console &console);

/// Threads of each device that the options ask for, with which it may run.
std::set<int> threadsInQuestion(const Options &options);

/// A device of that many threads, for forecasts: as calibrate() or measureIfNew() found it, else
/// built in.
cpu::Machine machineOf(int threads);

/// Threads of each device where `asked` is 0: a processor each as far as they go, and one where
/// launches are so short that a second thread would be waited for.
int threadsInForce(const package::PackageData &data, int64_t asked);

/// The same for each of `count` devices at work together, which share the processors out as
/// sessions do where `threads` is 0.
cpu::Machine machineOf(int threads, size_t count);

/// What was kept for this processor, level and number of threads; none before a calibrate.
std::optional<MachineRates> keptRates(int threads);

} // namespace lstmc::cli
