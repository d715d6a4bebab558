// Measured rates of this machine, cached in a file across processes.
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

  /// Lower bound on the time of a call with that many flops that reads `weightBytes` bytes of
  /// weights once. An f64 flop counts twice.
  double limitSeconds(double flops, double weightBytes, bool f64) const;
};

/// Measures each number of threads, for some seconds each, and stores the rates. E0601 if they
/// cannot be stored.
Status calibrate(const std::set<int> &threadCounts);

/// Sizes used in the calibration of a GPU.
struct GpuProbe {
  int extent = 2048;                        ///< of the matrices in the product
  int elements = 1 << 26;                   ///< of the copied vector
  int launches = 64;                        ///< in the chain of dependent launches
  int steps = 64, batch = 64, hidden = 256; ///< of the recurrence
  int rounds = 10;
};

/// Measures a GPU and stores its rates under the name of the card. Emulated GPUs are measured too,
/// for tests; their rates are meaningless.
Status calibrateGpu(const DeviceName &device, const GpuProbe &probe = {});

/// Rates of a GPU, or an emulated one, for forecasts: as stored by calibrateGpu(), else from its
/// driver and data sheet; built-in if there is no device.
target::Machine gpuMachineOf(const DeviceName &device);

/// A measurement that was stored.
struct Measured {
  double seconds; ///< duration of the measurement
  std::string file;
};

/// Measures configurations without stored rates, about a second for each number of threads, and
/// stores them as calibrate() does. Nullopt if all are known, or if there is no folder to store
/// them in, which would repeat the measurement in every process.
std::optional<Measured> measureIfNew(const std::set<int> &threadCounts);

/// Rates of a cpu device with `threads` threads, for forecasts: as stored by calibrate() or
/// measureIfNew(), else built-in.
target::Machine machineOf(int threads);

/// Whether calibrate() measures devices of that kind; other kinds have fixed costs.
bool isMeasured(DeviceKind kind);

/// The machines of concurrent devices, which divide the processors as sessions do if `threads` is
/// 0: one for all if they are of one kind, else one per device.
target::Machines machinesOf(const std::vector<DeviceName> &devices, int threads);
target::Machines machinesOf(const package::PackageData &data, int threads);

/// All rates stored for this processor, as text for LSTMC_RATES of a process on another host that
/// must plan with the same rates.
std::string keptRatesText();

/// The stored rates for this processor, instruction set and number of threads; nullopt before
/// calibrate().
std::optional<MachineRates> keptRates(int threads);

} // namespace lstmc::planning
