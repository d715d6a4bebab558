#include "executor/training/Metrics.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lstmc::training {

HeadKind headKind(std::string_view name) {
  return name == "softmax" ? HeadKind::Softmax
         : name == "loss"  ? HeadKind::Loss
                           : HeadKind::Regression;
}

/// The heads that have a metric other than the loss.
static HeadKind kindFor(std::string_view metric) {
  return metric == "mse" || metric == "mae" ? HeadKind::Regression : HeadKind::Softmax;
}

bool measures(const std::vector<Head> &heads, std::string_view metric) {
  return std::any_of(heads.begin(), heads.end(), [&](const Head &head) {
    return metric == "loss" || head.kind == kindFor(metric);
  });
}

double MetricTotals::loss() const {
  double loss = 0;
  for (const MetricValues &sum : sums_)
    loss += sum[0] / sum[1];
  return loss;
}

double MetricTotals::ignored() const {
  return sums_.empty() || heads_[0].kind != HeadKind::Softmax ? 0 : sums_[0][2];
}

std::optional<double> MetricTotals::value(std::string_view metric) const {
  if (metric == "loss")
    return sums_.empty() || !(labels() > 0) ? std::nullopt : std::optional(loss());
  HeadKind wanted = kindFor(metric);
  for (size_t i = 0; i < heads_.size(); ++i) {
    const auto &[first, count, third, fourth] = sums_[i];
    if (heads_[i].kind != wanted || !(count > 0))
      continue;
    if (metric == "perplexity")
      return std::exp(first / count);
    if (metric == "bits_per_label")
      return first / count / std::numbers::ln2;
    if (metric == "accuracy" || metric == "mse")
      return fourth / count;
    if (metric == "mae")
      return third / count;
  }
  return std::nullopt;
}

} // namespace lstmc::training
