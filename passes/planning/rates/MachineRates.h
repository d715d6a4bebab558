// Measured rates of this machine, kept in a file from one process to the next.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "backends/target/Machine.h"
#include "executor/base/Status.h"
#include "executor/device/DeviceNames.h"
#include "executor/package/PackageData.h"

namespace lstmc::planning {

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

/// What is measured of a GPU.
struct GpuProbe {
  int extent = 2048;                        ///< of matrices that are multiplied
  int elements = 1 << 26;                   ///< of a vector that is copied
  int launches = 64;                        ///< one after the other
  int steps = 64, batch = 64, hidden = 256; ///< of a recurrence
  int rounds = 10;
};

/// Measures a GPU and keeps what it found by the name of the card. An emulated one is measured too,
/// for tests: nothing of it says anything about a GPU.
Status calibrateGpu(const DeviceName &device, const GpuProbe &probe = {});

/// A GPU, or an emulated one, for forecasts: as calibrateGpu() found the card, else as its driver
/// and data sheet describe it; built in where there is none.
target::Machine gpuMachineOf(const DeviceName &device);

/// A measurement that was made and kept.
struct Measured {
  double seconds; ///< that it took
  std::string file;
};

/// Measures what was never measured here, in about a second for each number of threads, and keeps
/// it as calibrate() does. Nothing where all is known, and where there is no folder to keep it in:
/// it would be measured again and again.
std::optional<Measured> measureIfNew(const std::set<int> &threadCounts);

/// A cpu of that many threads, for forecasts: as calibrate() or measureIfNew() found it, else built
/// in.
target::Machine machineOf(int threads);

/// Whether calibrate() measures devices of that kind; of others the costs are fixed.
bool isMeasured(DeviceKind kind);

/// The machines of devices at work together, which share the processors out as sessions do where
/// `threads` is 0: one for all where they are of one kind, else one for each.
target::Machines machinesOf(const std::vector<DeviceName> &devices, int threads);
target::Machines machinesOf(const package::PackageData &data, int threads);

/// All that is kept for this processor, for LSTMC_RATES of a process that is to plan with the same
/// figures on another host.
std::string keptRatesText();

/// What was kept for this processor, level and number of threads; none before a calibrate.
std::optional<MachineRates> keptRates(int threads);

} // namespace lstmc::planning
