// What loss heads measured, summed over batches.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/abi/Kernels.h"
#include "executor/base/Status.h"
#include "executor/package/PackageData.h"

namespace lstmc::training {

/// What the numbers of a head's metric mean: abi/Kernels.def, "metrics".
enum class HeadKind {
  Softmax,    ///< loss, weight, labels counted, labels ignored, labels hit, sum of -log p, ..
  Regression, ///< loss, weight, count, sums of absolute and of squared differences, 0, ..
  Loss,       ///< loss, weight, count
};

struct Head {
  std::string name;
  HeadKind kind = HeadKind::Loss;
  uint64_t classes = 0; ///< package::Metric
  bool scores = false;  ///< whether `evaluate` gives them
};

/// What a head measured. Of `step` the first kMetricFields; the others are 0.
using MetricValues = std::array<double, kEvaluationFields>;

/// Sums in the order of the batches, one head after the other.
class MetricTotals {
public:
  explicit MetricTotals(std::vector<Head> heads = {})
      : heads_(std::move(heads)), sums_(heads_.size()), areas_(heads_.size()) {}

  void add(size_t head, const MetricValues &values) {
    for (size_t i = 0; i < values.size(); ++i)
      sums_[head][i] += values[i];
  }
  void clear() { sums_.assign(sums_.size(), {}); }
  /// The area under the ROC curve of a head with scores.
  void setArea(size_t head, double area) { areas_[head] = area; }

  const std::vector<Head> &heads() const { return heads_; }
  std::vector<MetricValues> &sums() { return sums_; }
  const std::vector<MetricValues> &sums() const { return sums_; }

  /// What training minimises: the sum over heads of the loss of each over its weight.
  double loss() const;
  /// Counted and ignored labels of the first head.
  double labels() const { return sums_.empty() ? 0 : sums_[0][kCounted]; }
  double ignored() const;
  /// "loss" of all heads, or a row of Metrics.def, of the first head that has it and has counted
  /// labels. Nothing where none has.
  std::optional<double> value(std::string_view metric) const;

private:
  static constexpr size_t kLoss = 0, kWeight = 1, kCounted = 2;
  std::vector<Head> heads_;
  std::vector<MetricValues> sums_;
  std::vector<std::optional<double>> areas_;
};

/// Of a head's kind as a package names it (ir/sym: metricKind).
HeadKind headKind(std::string_view name);
/// What a package says of a head.
Head headOf(const package::Metric &metric);

/// Whether `value` has that metric of some of these heads, once they have counted labels and, where
/// it needs them, scores are compiled in.
bool measures(const std::vector<Head> &heads, std::string_view metric);
/// Whether the metric is made of the score of each label, which `evaluate` gives only where it was
/// asked for at compile time.
bool needsScores(std::string_view metric);

/// Whether `value` knows a metric of that name.
bool isMetric(std::string_view name);

/// All names that `value` knows: "loss", and both names of the rows.
std::vector<std::string_view> metricNames();
/// Those that are reported unasked.
std::vector<std::string_view> shownMetrics();
/// What was asked for, in the table's order; those that are shown where nothing was.
std::vector<std::string_view> metricsReported(const std::vector<std::string> &asked);

/// E0001 for a metric that there is not, with the nearest, that none of the heads measures, or
/// whose scores were not compiled in; then with `remedy`, or else what to compile.
Status checkMeasured(const std::vector<Head> &heads, std::string_view metric,
                     std::string_view remedy = {});

/// Whether a larger value of the metric is the better one; not so of "loss".
bool largerIsBetter(std::string_view metric);

/// Whether the sums that `step` gives are enough for the metric; `evaluate` gives all.
bool measuredByStep(std::string_view metric);

/// A row of Metrics.def, for who explains it.
struct MetricDescription {
  std::string_view name, other, formula, meaning;
};
std::vector<MetricDescription> metricDescriptions();

/// "a softmax output": the heads that have a metric other than the loss.
std::string_view headsWith(std::string_view metric);

} // namespace lstmc::training
