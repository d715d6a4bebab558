#include "backends/cuda/compiler/Cards.h"

namespace lstmc::cuda {

namespace {

constexpr double kMega = 1e6, kGiga = 1e9, kTera = 1e12;

/// Assumed: what a launch of a graph takes at least, and a message beyond its bytes.
constexpr double kLaunchSeconds = 3e-6, kLinkSeconds = 5e-6;

constexpr DataSheet kSheets[] = {
#define LSTMC_CARD(...) {__VA_ARGS__},
#include "backends/cuda/compiler/Cards.def"
};

} // namespace

std::span<const DataSheet> dataSheets() { return kSheets; }

GpuShape DataSheet::shape() const {
  return {.sharedBytes = int64_t(sharedKiBOfBlock) << 10,
          .multiprocessors = multiprocessors,
          .cluster = clusterOf(capability),
          .l2Bytes = int64_t(l2MiB) << 20,
          .clock = clockMegahertz * kMega,
          .memoryBytesPerSecond = memoryGigabytesPerSecond * kGiga,
          .f64Issue = f64IssueOf(capability)};
}

/// Without a rule of --fast, products have the bits of a CPU and use no tensor cores.
target::Speeds DataSheet::speeds() const {
  return {fp32Teraflops * kTera, memoryGigabytesPerSecond * kGiga, kLaunchSeconds};
}

GpuRates DataSheet::rates() const {
  return {speeds(), shape(), tf32Teraflops * kTera, bf16Teraflops * kTera};
}

target::Link DataSheet::link() const {
  return {.seconds = kLinkSeconds, .bytesPerSecond = linkGigabytesPerSecond * kGiga};
}

std::vector<double> GpuRates::figures() const {
  return {speeds.flopsPerSecond,
          speeds.bytesPerSecond,
          speeds.launchSeconds,
          double(shape.sharedBytes),
          double(shape.multiprocessors),
          double(shape.cluster),
          double(shape.l2Bytes),
          shape.clock,
          shape.memoryBytesPerSecond,
          shape.f64Issue,
          recurrences,
          tensorTf32,
          tensorBf16};
}

GpuRates GpuRates::of(const target::Machine &machine) {
  const std::vector<double> &f = machine.figures;
  GpuRates rates = kSheets[0].rates();
  if (f.size() == rates.figures().size())
    rates = {{f[0], f[1], f[2]},
             {.sharedBytes = int64_t(f[3]),
              .multiprocessors = int(f[4]),
              .cluster = int(f[5]),
              .l2Bytes = int64_t(f[6]),
              .clock = f[7],
              .memoryBytesPerSecond = f[8],
              .f64Issue = f[9]},
             f[11],
             f[12],
             f[10]};
  return rates;
}

} // namespace lstmc::cuda
