#include "executor/training/Metrics.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "executor/abi/Formula.h"
#include "executor/base/ScalarSemantics.h"

namespace lstmc::training {

HeadKind headKind(std::string_view name) {
  return name == "softmax" ? HeadKind::Softmax
         : name == "loss"  ? HeadKind::Loss
                           : HeadKind::Regression;
}

namespace {

struct MetricRow {
  std::string_view name, other;
  HeadKind head;
  bool shown;
  std::string_view formula, meaning;
};

constexpr MetricRow kMetrics[] = {
#define LSTMC_METRIC(NAME, OTHER, HEAD, SHOWN, FORMULA, MEANING)                                   \
  {NAME, OTHER, HeadKind::HEAD, SHOWN, FORMULA, MEANING},
#include "executor/training/Metrics.def"
};

constexpr std::string_view kSums[][kMetricFields] = {
    {"loss", "weight", "counted", "ignored", "hits", "nll"},
    {"loss", "weight", "counted", "absolute", "squared"}};

const MetricRow *findMetric(std::string_view name) {
  for (const MetricRow &row : kMetrics)
    if (row.name == name || (row.other == name && !name.empty()))
      return &row;
  return nullptr;
}

/// The calculus (abi/Formula.h) of a row's formula. Its value is that of its last statement.
struct Sums {
  using Value = double;

  HeadKind head;
  const MetricValues &sums;
  double result = 0;

  Value number(double number) { return number; }
  Value name(std::string_view name) {
    auto &names = kSums[size_t(head)];
    return sums[size_t(std::find(std::begin(names), std::end(names), name) - std::begin(names))];
  }
  Value apply(ScalarOp op, std::span<const Value> x) {
    return evaluate(op, x[0], x.size() > 1 ? x[1] : 0, x.size() > 2 ? x[2] : 0);
  }
  void assign(std::string_view, Value value) { result = value; }
};

} // namespace

bool measures(const std::vector<Head> &heads, std::string_view metric) {
  const MetricRow *row = findMetric(metric);
  return std::any_of(heads.begin(), heads.end(), [&](const Head &head) {
    return metric == "loss" || (row && head.kind == row->head);
  });
}

bool isMetric(std::string_view name) { return name == "loss" || findMetric(name); }

std::vector<std::string_view> metricNames() {
  std::vector<std::string_view> names = {"loss"};
  for (const MetricRow &row : kMetrics)
    for (std::string_view name : {row.name, row.other})
      if (!name.empty())
        names.push_back(name);
  return names;
}

std::vector<std::string_view> shownMetrics() {
  std::vector<std::string_view> names = {"loss"};
  for (const MetricRow &row : kMetrics)
    if (row.shown)
      names.push_back(row.name);
  return names;
}

std::vector<std::string_view> metricsReported(const std::vector<std::string> &asked) {
  if (asked.empty())
    return shownMetrics();
  std::vector<std::string_view> names = metricNames();
  std::erase_if(names, [&](std::string_view name) {
    return std::find(asked.begin(), asked.end(), name) == asked.end();
  });
  return names;
}

std::string_view headOf(std::string_view metric) {
  const MetricRow *row = findMetric(metric);
  return row && row->head == HeadKind::Regression ? "a regression output" : "a softmax output";
}

double MetricTotals::loss() const {
  double loss = 0;
  for (const MetricValues &sum : sums_)
    loss += sum[kLoss] / std::max(sum[kWeight], 1.0); // MXNet divides by one label at least
  return loss;
}

double MetricTotals::ignored() const {
  return sums_.empty() || heads_[0].kind != HeadKind::Softmax ? 0 : sums_[0][3];
}

std::optional<double> MetricTotals::value(std::string_view metric) const {
  if (metric == "loss")
    return sums_.empty() || !(labels() > 0) ? std::nullopt : std::optional(loss());
  const MetricRow *row = findMetric(metric);
  for (size_t i = 0; row && i < heads_.size(); ++i)
    if (heads_[i].kind == row->head && sums_[i][kCounted] > 0) {
      Sums calculus{row->head, sums_[i]};
      readFormula(fmt::format("value = {}", row->formula), calculus);
      return calculus.result;
    }
  return std::nullopt;
}

} // namespace lstmc::training
