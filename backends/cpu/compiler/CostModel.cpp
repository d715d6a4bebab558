#include "backends/cpu/compiler/CostModel.h"

#include <algorithm>
#include <cmath>

namespace lstmc::cpu {

using target::FigureName;
using target::Machine;
using target::Sample;
using target::Speeds;
using target::Work;

/// What a core has near, the second level of its cache.
static constexpr int64_t kNearBytes = 1 << 20;

/// What a core computes at once of a step's units.
static constexpr double kBlockUnits = 16;

Terms termsOf(const Work &work) {
  auto far = [](int64_t bytes) { return double(std::max<int64_t>(0, bytes - kNearBytes)); };
  return {1,
          double(work.flops),
          double(work.functions),
          double(work.bytes),
          far(work.bytes),
          double(work.steps),
          double(work.steps) * double(work.stepBytes),
          double(work.steps) * far(work.stepBytes),
          double(work.steps) * std::ceil(double(work.stepUnits) / kBlockUnits)};
}

/// By what a kernel spends its time on.
static Terms builtIn(KernelId kernel) {
  switch (kernel) {
  case KernelId::Product:
  case KernelId::WeightGradient:
  case KernelId::RnnForward:
  case KernelId::RnnBackward:
    return {1e-6, 1 / 80e9, 1e-9, 1 / 40e9, 1 / 12e9, 1e-7, 1 / 100e9, 1 / 30e9, 0};
  default:
    return {1e-6, 1 / 10e9, 1e-9, 1 / 40e9, 1 / 12e9, 0, 0, 0, 0};
  }
}

static std::vector<double> builtInFigures() {
  std::vector<double> figures;
  for (size_t kernel = 0; kernel < kLaunchKinds; ++kernel)
    for (double seconds : builtIn(KernelId(kernel)))
      figures.push_back(seconds);
  return figures;
}

std::span<const FigureName> figureNames() {
  static const std::vector<FigureName> names = [] {
    std::vector<FigureName> all;
    for (size_t kernel = 0; kernel < kLaunchKinds; ++kernel)
      for (std::string_view term : kTerms)
        all.push_back({kernelRecord(KernelId(kernel)).name, term});
    return all;
  }();
  return names;
}

const std::vector<double> &figuresOf(const Machine &machine) {
  static const std::vector<double> builtIn = builtInFigures();
  return machine.figures.empty() ? builtIn : machine.figures;
}

Machine withTerms(Machine machine, KernelId kernel, const Terms &terms) {
  machine.figures = figuresOf(machine);
  std::copy(terms.begin(), terms.end(), machine.figures.begin() + long(firstFigure(kernel)));
  return machine;
}

double secondsOf(const Machine &machine, KernelId kernel, const Work &work) {
  const std::vector<double> &seconds = figuresOf(machine);
  Terms terms = termsOf(work);
  double sum = 0;
  for (size_t i = 0; i < kTerms.size(); ++i)
    sum += terms[i] * seconds[firstFigure(kernel) + i];
  return sum;
}

Speeds speeds(const Machine &machine) {
  const std::vector<double> &seconds = figuresOf(machine);
  const double *product = &seconds[firstFigure(KernelId::Product)],
               *fused = &seconds[firstFigure(KernelId::Fused)];
  auto rate = [](double secondsOfOne, double most) {
    return secondsOfOne > 1 / most ? 1 / secondsOfOne : most;
  };
  return {.flopsPerSecond = rate(product[1], 1e15),
          .bytesPerSecond = rate(fused[3] + fused[4], 1e14),
          .launchSeconds = fused[0]};
}

Machine withSpeeds(const Speeds &asked) {
  Machine machine{.figures = builtInFigures()};
  Speeds own = speeds(machine);
  for (size_t i = 0; i < machine.figures.size(); ++i) {
    std::string_view term = kTerms[i % kTerms.size()];
    machine.figures[i] *= term.ends_with("byte") ? own.bytesPerSecond / asked.bytesPerSecond
                          : term == "flop" || term == "function"
                              ? own.flopsPerSecond / asked.flopsPerSecond
                              : asked.launchSeconds / own.launchSeconds;
  }
  return machine;
}

/// How much a term is held to what is built in: little, but for those that the samples hardly have.
static constexpr double kHold = 0.02;

/// Minimises the sum over rows of (row . x - 1)^2, and over terms of (kHold * (x / usual - 1))^2,
/// with no x below 0, one coordinate at a time.
static Terms leastSquares(const std::vector<Terms> &rows, const Terms &usual) {
  constexpr size_t kCount = kTerms.size();
  std::array<Terms, kCount> products{};
  Terms right{}, x{};
  for (const Terms &row : rows)
    for (size_t i = 0; i < kCount; ++i) {
      right[i] += row[i];
      for (size_t j = 0; j < kCount; ++j)
        products[i][j] += row[i] * row[j];
    }
  for (size_t i = 0; i < kCount; ++i)
    if (usual[i] > 0) {
      products[i][i] += kHold * kHold / (usual[i] * usual[i]);
      right[i] += kHold * kHold / usual[i];
    }
  for (int round = 0; round < 20'000; ++round)
    for (size_t i = 0; i < kCount; ++i) {
      if (products[i][i] <= 0)
        continue;
      double rest = right[i];
      for (size_t j = 0; j < kCount; ++j)
        rest -= j == i ? 0 : products[i][j] * x[j];
      x[i] = std::max(0.0, rest / products[i][i]);
    }
  return x;
}

Machine fit(std::span<const Sample> samples, int threads) {
  Machine machine{.figures = builtInFigures(), .measuredThreads = threads};
  std::array<std::vector<Terms>, kLaunchKinds> rows;
  for (const Sample &sample : samples) {
    if (!(sample.seconds > 0))
      continue;
    Terms &row = rows[size_t(sample.kernel)].emplace_back(termsOf(sample.work));
    for (double &term : row)
      term /= sample.seconds;
  }
  std::vector<double> launches; // what a launch takes that does nothing
  for (size_t kernel = 0; kernel < kLaunchKinds; ++kernel)
    if (!rows[kernel].empty()) {
      const Terms found = leastSquares(rows[kernel], builtIn(KernelId(kernel)));
      machine = withTerms(std::move(machine), KernelId(kernel), found);
      launches.push_back(found[0]);
    }
  if (launches.empty())
    return machine;
  std::sort(launches.begin(), launches.end());
  for (size_t kernel = 0; kernel < kLaunchKinds; ++kernel)
    if (rows[kernel].empty())
      machine.figures[firstFigure(KernelId(kernel))] = launches[launches.size() / 2];
  return machine;
}

} // namespace lstmc::cpu
