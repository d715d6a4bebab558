#include "backends/cuda/compiler/GpuTarget.h"

#include <algorithm>

#include "backends/cuda/compiler/Cards.h"
#include "backends/cuda/kernels/TensorProducts.h"
#include "backends/cuda/model/LibraryScratch.h"
#include "backends/cuda/model/LocalMemory.h"
#include "backends/cuda/model/ProductWay.h"
#include "backends/cuda/model/RecurrenceWay.h"
#include "backends/cuda/model/TableBytes.h"

namespace lstmc::cuda {

namespace {

/// Assumed to be enough: beside the layers' chain there are mostly a gradient of weights and an
/// update.
constexpr int kStreams = 3;

/// cuBLASLt makes W x: in training always, else where there is room for all steps. A forecast takes
/// it that there is.
bool projectsApart(KernelId kernel, const target::Work &work) {
  return kernel == KernelId::RnnForward && work.fast.cublasLt && !work.layer.wide;
}

RecurrenceWay wayFor(GpuShape gpu, KernelId kernel, const target::Work &work) {
  const target::Layer &layer = work.layer;
  gpu.fast = work.fast;
  return recurrenceWay({.steps = work.steps,
                        .batch = layer.batch,
                        .inputs = projectsApart(kernel, work) ? 0 : layer.inputs,
                        .units = layer.units,
                        .mode = RnnMode(layer.mode),
                        .gates = layer.gates,
                        .reverse = false},
                       kernel == KernelId::RnnForward ? Direction::Forward : Direction::Backward,
                       layer.wide ? DType::F64 : DType::F32, gpu);
}

bool isRecurrence(const target::Work &work) { return work.layer.units > 0; }

std::string_view nameOf(RecurrenceWay::Kind kind) {
  switch (kind) {
  case RecurrenceWay::Kind::OnChip:
    return "on-chip";
  case RecurrenceWay::Kind::TensorCores:
    return "tensor-cores";
  case RecurrenceWay::Kind::StepByStep:
    return "step-by-step";
  case RecurrenceWay::Kind::ThroughCache:
    break;
  }
  return "through-cache";
}

/// Whether the device has a fused program to carry out.
bool runsProgram(const package::PackageData &package, uint32_t device) {
  for (const package::Entry &entry : package.entries)
    for (const package::DeviceProgram &program : entry.programs)
      if (program.device == device &&
          std::ranges::any_of(program.launches, [](const package::Launch &launch) {
            return launch.kernel == KernelId::Fused;
          }))
        return true;
  return false;
}

/// Figures are those of GpuRates.
class GpuTarget : public target::Target {
public:
  /// A product of its own makes W x, of as many steps as there is room for, and step by step one of
  /// R h has room beside it. Where gates are kept, their place takes W x.
  int64_t projectionSteps(const target::Projection &all) const override {
    if (all.keepsGates || all.elementBytes != int64_t(sizeof(float)))
      return 1;
    const int64_t bytes = std::max<int64_t>(all.batch * all.width * all.elementBytes, 1);
    return std::clamp<int64_t>(int64_t(all.maxBytes) / bytes, 1, all.steps + 1);
  }

  int streams() const override { return kStreams; }

  int64_t tableBytes(KernelId kernel, const target::LaunchExtents &launch) const override {
    return cuda::tableBytes(kernel, launch.operands, launch.rank, launch.ints, launch.instructions);
  }

  int64_t libraryBytes(FastRules rules, const target::LibraryProduct &p) const override {
    const bool theirs = rules.cublasLt && p.elementBytes == int64_t(sizeof(float)) && p.depth > 0;
    return theirs ? libraryScratchBytes(p.matrices, p.columns, p.depth) : 0;
  }
  int64_t libraryBytes(FastRules rules, const target::LibraryLayer &l) const override {
    const bool theirs = rules.cudnn && l.elementBytes == int64_t(sizeof(float));
    return theirs ? libraryScratchOf({.gates = l.gates,
                                      .steps = l.steps,
                                      .batch = l.batch,
                                      .inputs = l.inputs,
                                      .units = l.units,
                                      .copiesInputs = l.copiesX,
                                      .copiesOutputs = l.copiesY})
                        .bytes
                  : 0;
  }

  double launchSeconds(const target::Machine &machine, KernelId kernel,
                       const target::Work &work) const override {
    const GpuRates rates = GpuRates::of(machine);
    return rates.speeds.launchSeconds + (isRecurrence(work) ? recurrenceSeconds(rates, kernel, work)
                                                            : streamSeconds(rates, kernel, work));
  }

  /// While a launch begins, the GPU is free. Then a recurrence on the chip has the multiprocessors
  /// of its blocks; all else has that part of the arithmetic or of the memory which it keeps busy.
  target::Share shareOf(const target::Machine &machine, KernelId kernel,
                        const target::Work &work) const override {
    const GpuRates rates = GpuRates::of(machine);
    const bool recurrence = isRecurrence(work);
    target::Share share = {.alone = rates.speeds.launchSeconds};
    if (recurrence) {
      const RecurrenceWay way = wayFor(rates.shape, kernel, work);
      if (way.kind != RecurrenceWay::Kind::StepByStep) {
        const int64_t clusters = (work.layer.batch + way.rows - 1) / way.rows;
        share.part = double(clusters * way.cluster) / rates.shape.multiprocessors;
        return {share.alone, std::min(share.part, 1.0)};
      }
    }
    const double seconds =
        recurrence ? recurrenceSeconds(rates, kernel, work) : streamSeconds(rates, kernel, work);
    const double bytes = double(work.bytes) + double(work.stepsAgain()) * double(work.stepBytes);
    const double least = std::max(double(work.flops) / rates.productFlops(work.fast.roundedTo),
                                  bytes / rates.speeds.bytesPerSecond);
    share.part = seconds > 0 ? std::min(least / seconds, 1.0) : 0;
    return share;
  }

  std::optional<target::Way> wayOf(const target::Machine &machine, KernelId kernel,
                                   const target::Work &work) const override {
    if (!isRecurrence(work))
      return std::nullopt;
    const GpuRates rates = GpuRates::of(machine);
    const RecurrenceWay way = wayFor(rates.shape, kernel, work);
    if (kernel == KernelId::RnnForward && work.fast.cudnn && work.layer.light)
      return target::Way{.name = "library", .stepSeconds = stepSeconds(rates, way)};
    return target::Way{.name = nameOf(way.kind),
                       .blocks = way.cluster,
                       .rows = way.rows,
                       .clusters = (work.layer.batch + way.rows - 1) / way.rows,
                       .keepsInputs = way.kind != RecurrenceWay::Kind::ThroughCache,
                       .stepSeconds = stepSeconds(rates, way)};
  }

  target::DriverBytes driverBytes(const target::Machine &machine,
                                  const package::PackageData &package,
                                  uint32_t device) const override {
    const auto reserved = [&](LocalMemory kind) {
      return uint64_t(reservedBytes(kind, GpuRates::of(machine).shape.multiprocessors));
    };
    const bool many = fastRulesOf(package.numerics).value_or(FastRules()).usesTensorCores() &&
                      package.shards >> gpu::kFewLevels;
    target::DriverBytes bytes;
    bytes.compiled = reserved(many ? LocalMemory::ManyShards : LocalMemory::Others);
    bytes.interpreted = runsProgram(package, device)
                            ? std::max(bytes.compiled, reserved(LocalMemory::Interpreter))
                            : bytes.compiled;
    return bytes;
  }

  target::Speeds speeds(const target::Machine &machine) const override {
    return GpuRates::of(machine).speeds;
  }
  target::Machine withSpeeds(const target::Machine &known,
                             const target::Speeds &speeds) const override {
    GpuRates rates = GpuRates::of(known);
    const double faster = speeds.flopsPerSecond / rates.speeds.flopsPerSecond;
    rates.recurrences /= faster;
    rates.tensorTf32 *= faster;
    rates.tensorBf16 *= faster;
    rates.speeds = speeds;
    target::Machine machine = known;
    machine.figures = rates.figures();
    return machine;
  }
  target::Machine slowed(const target::Machine &machine, double times) const override {
    const target::Speeds own = speeds(machine);
    return withSpeeds(machine, {own.flopsPerSecond / times, own.bytesPerSecond / times,
                                own.launchSeconds * times});
  }
  std::span<const target::KnownMachine> knownMachines() const override {
    static const std::vector<target::KnownMachine> all = [] {
      std::vector<target::KnownMachine> machines;
      for (const DataSheet &sheet : dataSheets())
        machines.push_back({sheet.name,
                            {.figures = sheet.rates().figures(), .link = sheet.link()},
                            sheet.memoryBytes()});
      return machines;
    }();
    return all;
  }

private:
  /// The longer of computing and moving.
  static double streamSeconds(const GpuRates &rates, KernelId kernel, const target::Work &work) {
    const bool product = kernel == KernelId::Product || kernel == KernelId::WeightGradient;
    return std::max(wasteOf(rates, work) * double(work.flops) /
                        rates.productFlops(product ? work.fast.roundedTo : RoundedTo::F32),
                    double(work.bytes) / rates.speeds.bytesPerSecond);
  }

  /// Of an exact product of f32: times as long as one that fills the GPU, which has the GPU's rate.
  static double wasteOf(const GpuRates &rates, const target::Work &work) {
    if (work.depth <= 0 || work.rows <= 0 || !work.fast.hasExactProducts())
      return 1;
    return productWay({.matrices = 1,
                       .rows = work.rows,
                       .columns = std::max<int64_t>(1, work.flops / (2 * work.rows * work.depth)),
                       .depth = work.depth},
                      rates.shape)
        .waste;
  }

  static double stepSeconds(const GpuRates &rates, const RecurrenceWay &way) {
    return way.stepCycles / rates.shape.clock * rates.recurrences;
  }

  /// The steps, and what is no step: backward, the product that makes the gradient of the inputs.
  static double recurrenceSeconds(const GpuRates &rates, KernelId kernel,
                                  const target::Work &work) {
    const RecurrenceWay way = wayFor(rates.shape, kernel, work);
    const target::Layer &layer = work.layer;
    const double steps = double(work.steps) * layer.real;
    const bool projected = way.kind != RecurrenceWay::Kind::ThroughCache; // in a product of its own
    const int64_t terms =
        layer.units + (projected || projectsApart(kernel, work) ? 0 : layer.inputs);
    const double ofSteps = 2 * steps * double(layer.batch * layer.gates * layer.units) *
                           double(terms) * (layer.wide ? 2 : 1);
    const double beside = std::max(0.0, double(work.flops) - ofSteps);
    return steps * stepSeconds(rates, way) + beside / rates.productFlops(work.fast.roundedTo);
  }
};

} // namespace

const target::Target &gpuTarget() {
  static const GpuTarget target;
  return target;
}

} // namespace lstmc::cuda
