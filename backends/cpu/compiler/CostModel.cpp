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

/// What a core computes at once of a row.
static constexpr double kBlockUnits = 16;

static double blocksOf(int64_t units) { return std::ceil(double(units) / kBlockUnits); }

/// How many times as much is computed of a row as it has: all of its last block.
static double roundedUp(int64_t units) {
  return units > 0 ? blocksOf(units) * kBlockUnits / double(units) : 1;
}

Terms termsOf(const Work &work) {
  auto far = [](int64_t bytes) { return double(std::max<int64_t>(0, bytes - kNearBytes)); };
  const int64_t units = std::max(work.stepUnits, work.width);
  const auto steps = double(work.steps), sums = double(work.sums), rows = double(work.rows);
  const auto again = double(work.stepsAgain());
  return {1,
          double(work.flops) * roundedUp(units),
          double(work.functions),
          double(work.bytes),
          far(work.bytes),
          steps + sums,
          again * double(work.stepBytes) + sums * double(work.sumBytes) * roundedUp(work.width),
          again * far(work.stepBytes) + sums * far(work.sumBytes),
          steps * blocksOf(work.stepUnits),
          rows,
          rows * blocksOf(units),
          double(work.instructions)};
}

/// By what a kernel spends its time on.
static Terms builtIn(KernelId kernel) {
  switch (kernel) {
  case KernelId::WeightGradient: // a shard's sum is a step
    return {1e-6, 1 / 80e9, 1e-9, 1 / 40e9, 1 / 12e9, 2e-8, 1 / 2e12, 0, 0, 0, 0, 0};
  case KernelId::Product:
  case KernelId::RnnForward:
  case KernelId::RnnBackward:
    return {1e-6, 1 / 80e9, 1e-9, 1 / 40e9, 1 / 12e9, 1e-7, 1 / 100e9, 1 / 30e9, 0, 0, 0, 0};
  case KernelId::Copy: // an element of a transposed matrix is a row
    return {1e-6, 1 / 10e9, 1e-9, 1 / 40e9, 1 / 12e9, 0, 0, 0, 0, 1e-9, 0, 0};
  default:
    return {1e-6, 1 / 10e9, 1e-9, 1 / 40e9, 1 / 12e9, 0, 0, 0, 0, 3e-8, 0, 2e-8};
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
                          : term == "launch" || term.starts_with("step")
                              ? asked.launchSeconds / own.launchSeconds
                              : own.flopsPerSecond / asked.flopsPerSecond;
  }
  return machine;
}

/// How much a term is held to what is built in: little, but for those that the samples hardly have.
static constexpr double kHold = 0.02;

struct Row {
  Terms terms; ///< of a second
  double weight;
};

/// Minimises the sum over rows of (weight * (terms . x - 1))^2, and over terms of
/// (kHold * (x / usual - 1))^2, with no x below 0, one coordinate at a time. Weights are of a mean
/// square of 1.
static Terms leastSquares(const std::vector<Row> &rows, const Terms &usual) {
  constexpr size_t kCount = kTerms.size();
  std::array<Terms, kCount> products{};
  Terms right{}, x{};
  double squares = 0;
  for (const Row &row : rows)
    squares += row.weight * row.weight;
  for (const auto &[terms, weight] : rows)
    for (size_t i = 0; i < kCount; ++i) {
      const double factor = weight * weight / squares * double(rows.size());
      right[i] += factor * terms[i];
      for (size_t j = 0; j < kCount; ++j)
        products[i][j] += factor * terms[i] * terms[j];
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
  std::array<std::vector<Row>, kLaunchKinds> rows;
  for (const Sample &sample : samples) {
    if (!(sample.seconds > 0) || !(sample.share > 0))
      continue;
    Row &row = rows[size_t(sample.kernel)].emplace_back(
        Row{termsOf(sample.work), std::sqrt(sample.share)});
    for (double &term : row.terms)
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
