// --expect 'loss<1.56': metric, relation, number.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "executor/training/TrainReport.h"
#include "frontend/cli/Console.h"
#include "frontend/cli/Options.h"

namespace lstmc::cli {

struct Expectation {
  std::string text, metric, relation;
  double bound = 0;

  /// Metric, one of < <= > >= == !=, number; E0001 otherwise, with "did you mean" for the metric.
  static Result<Expectation> parse(const std::string &text,
                                   const std::vector<std::string_view> &metrics);
  bool holds(double value) const;
};

Result<std::vector<Expectation>> expectations(const Options &options,
                                              const std::vector<std::string_view> &metrics);

/// The metrics that --expect names, whether there are such or not.
std::vector<std::string> metricsExpected(const Options &options);

/// Each with its value and whether it held; a metric without a value does not hold.
std::vector<training::HeldExpectation>
judge(const std::vector<Expectation> &expectations,
      const std::function<std::optional<double>(const std::string &)> &valueOf);

/// Whether all held; says which did not.
bool allHeld(const std::vector<training::HeldExpectation> &held, const Console &console);

} // namespace lstmc::cli
