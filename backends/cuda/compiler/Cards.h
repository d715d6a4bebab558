// What is known of GPUs that need not be here: data sheets, and what they are to forecasts.
#pragma once

#include <span>
#include <string_view>

#include "backends/cuda/model/GpuShape.h"
#include "backends/target/Machine.h"

namespace lstmc::cuda {

struct GpuRates;

/// A GPU as its data sheet describes it; every rate is its limit.
struct DataSheet {
  std::string_view name;
  int multiprocessors;
  double clockMegahertz;
  int l2MiB, sharedKiBOfBlock, sharedKiB;
  int registers;
  int capability; ///< 90: 9.0
  double memoryGigabytes, memoryGigabytesPerSecond;
  double fp32Teraflops, tf32Teraflops, bf16Teraflops;
  double linkGigabytesPerSecond;

  GpuShape shape() const;
  uint64_t memoryBytes() const { return uint64_t(memoryGigabytes * 1e9); }
  target::Speeds speeds() const;
  GpuRates rates() const;
  target::Link link() const;
};

/// The first is the one that is planned for where none is named.
std::span<const DataSheet> dataSheets();

/// A GPU as forecasts see it.
struct GpuRates {
  target::Speeds speeds;
  GpuShape shape;
  double tensorTf32, tensorBf16; ///< f32 operations a second by tensor cores, for rules of --fast
  double recurrences = 1;        ///< times as long as the model of the shape says

  /// Of products, and gradients of weights.
  double productFlops(RoundedTo roundedTo) const {
    return roundedTo == RoundedTo::F32    ? speeds.flopsPerSecond
           : roundedTo == RoundedTo::Tf32 ? tensorTf32
                                          : tensorBf16;
  }

  /// As Machine::figures; of none, the first data sheet.
  static GpuRates of(const target::Machine &machine);
  std::vector<double> figures() const;
};

} // namespace lstmc::cuda
