#include "executor/training/Metrics.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "executor/abi/Formula.h"
#include "executor/base/ScalarSemantics.h"
#include "executor/session/UnknownName.h"

namespace lstmc::training {

HeadKind headKind(std::string_view name) {
  return name == "softmax" ? HeadKind::Softmax
         : name == "loss"  ? HeadKind::Loss
                           : HeadKind::Regression;
}

namespace {

/// Which heads have a metric.
enum class Heads { Softmax, TwoClasses, Regression, Scores };
/// Which of two values is the better one.
enum class Better { Larger, Smaller };

struct MetricRow {
  std::string_view name, other;
  Heads heads;
  bool shown;
  Better better;
  std::string_view formula, meaning;
};

constexpr MetricRow kMetrics[] = {
#define LSTMC_METRIC(NAME, OTHER, HEADS, SHOWN, BETTER, FORMULA, MEANING)                          \
  {NAME, OTHER, Heads::HEADS, SHOWN, Better::BETTER, FORMULA, MEANING},
#include "executor/training/Metrics.def"
};

using Names = std::span<const std::string_view>;
constexpr std::string_view kSoftmaxSums[] = {
    "loss", "weight", "counted", "ignored", "hits", "nll",  "tp",   "fp",   "fn",
    "top2", "top3",   "top4",    "top5",    "top6", "top7", "top8", "top9", "top10"};
constexpr std::string_view kRegressionSums[] = {
    "loss", "weight", "counted", "absolute", "squared", "", "agreeing", "p", "y", "pp", "yy", "py"};
constexpr std::string_view kScoreSums[] = {"area"};
static_assert(std::size(kSoftmaxSums) == kEvaluationFields && kSoftmaxSums[kMetricFields] == "tp" &&
              kTopClasses == 10);

constexpr Names namesOf(Heads heads) {
  return heads == Heads::Regression ? Names(kRegressionSums)
         : heads == Heads::Scores   ? Names(kScoreSums)
                                    : Names(kSoftmaxSums);
}

const MetricRow *findMetric(std::string_view name) {
  for (const MetricRow &row : kMetrics)
    if (row.name == name || (row.other == name && !name.empty()))
      return &row;
  return nullptr;
}

/// Whether a head is of the kind that a metric is of.
bool canHave(const Head &head, Heads wanted) {
  switch (wanted) {
  case Heads::Softmax:
    return head.kind == HeadKind::Softmax;
  case Heads::TwoClasses:
    return head.kind == HeadKind::Softmax && head.classes == 2;
  case Heads::Regression:
    return head.kind == HeadKind::Regression;
  case Heads::Scores:
    break;
  }
  return head.classes == 2;
}

/// The calculus (abi/Formula.h) of a row's formula. Its value is that of its last statement.
struct Sums {
  using Value = double;

  Names names;
  std::span<const double> sums;
  std::vector<std::pair<std::string_view, double>> assigned = {};
  double result = 0;

  Value number(double number) { return number; }
  Value name(std::string_view name) {
    for (auto [known, value] : assigned)
      if (known == name)
        return value;
    return sums[size_t(std::find(names.begin(), names.end(), name) - names.begin())];
  }
  Value apply(ScalarOp op, std::span<const Value> x) {
    return evaluate(op, x[0], x.size() > 1 ? x[1] : 0, x.size() > 2 ? x[2] : 0);
  }
  void assign(std::string_view name, Value value) {
    assigned.insert(assigned.begin(), {name, value});
    result = value;
  }
};

/// Reads a formula as Sums does, and throws for a name that its heads do not sum.
struct SumsCheck {
  using Value = int;

  Names names;
  std::array<std::string_view, 8> assigned = {};
  size_t count = 0;

  constexpr Value number(double) { return 0; }
  constexpr Value name(std::string_view name) {
    for (Names known : {names, Names(assigned)})
      for (std::string_view one : known)
        if (one == name)
          return 0;
    throw "want a name that the heads of the metric sum";
  }
  constexpr Value apply(ScalarOp, std::span<const Value>) { return 0; }
  constexpr void assign(std::string_view name, Value) { assigned[count++] = name; }
};

/// Computes nothing of a formula and notes the names that it reads.
struct NamesRead {
  using Value = int;

  std::vector<std::string_view> names = {};

  Value number(double) { return 0; }
  Value name(std::string_view name) {
    names.push_back(name);
    return 0;
  }
  Value apply(ScalarOp, std::span<const Value>) { return 0; }
  void assign(std::string_view, Value) {}
};

/// A row's formula with a name for its last expression. (A std::string cannot be made at compile
/// time by this library.)
struct Statements {
  std::array<char, 512> text{};
  size_t length = 0;

  constexpr explicit Statements(std::string_view formula) {
    const size_t last = formula.rfind(';') + 1; // 0 where there is none
    for (std::string_view part :
         {formula.substr(0, last), std::string_view(" value = "), formula.substr(last)})
      for (char letter : part)
        text[length++] = letter;
  }
  constexpr operator std::string_view() const { return {text.data(), length}; }
};

consteval bool formulasAreKnown() {
  for (const MetricRow &row : kMetrics) {
    SumsCheck check{namesOf(row.heads)};
    const Statements statements(row.formula); // names in `check` are of it
    readFormula(statements, check);
  }
  return true;
}
static_assert(formulasAreKnown());

} // namespace

Head headOf(const package::Metric &metric) {
  return {metric.name, headKind(metric.head), metric.classes, !metric.scores.empty()};
}

bool measures(const std::vector<Head> &heads, std::string_view metric) {
  const MetricRow *row = findMetric(metric);
  return std::any_of(heads.begin(), heads.end(), [&](const Head &head) {
    return metric == "loss" || (row && canHave(head, row->heads));
  });
}

bool needsScores(std::string_view metric) {
  const MetricRow *row = findMetric(metric);
  return row && row->heads == Heads::Scores;
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

bool measuredByStep(std::string_view metric) {
  const MetricRow *row = findMetric(metric);
  if (!row || row->heads == Heads::Scores)
    return metric == "loss";
  const Statements statements(row->formula); // names in `read` are of it
  NamesRead read;
  readFormula(statements, read);
  return std::ranges::none_of(namesOf(row->heads).subspan(kMetricFields),
                              [&](std::string_view name) {
                                return std::ranges::find(read.names, name) != read.names.end();
                              });
}

std::vector<MetricDescription> metricDescriptions() {
  std::vector<MetricDescription> all;
  for (const MetricRow &row : kMetrics)
    all.push_back({row.name, row.other, row.formula, row.meaning});
  return all;
}

std::string_view headsWith(std::string_view metric) {
  constexpr std::string_view kTexts[] = {
      "a softmax output", "a softmax output of two classes", "a regression output",
      "a softmax output of two classes or a logistic regression"};
  const MetricRow *row = findMetric(metric);
  return kTexts[row ? size_t(row->heads) : 0];
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
    return std::ranges::none_of(sums_, [](const MetricValues &sum) { return sum[kCounted] > 0; })
               ? std::nullopt
               : std::optional(loss());
  const MetricRow *row = findMetric(metric);
  for (size_t i = 0; row && i < heads_.size(); ++i) {
    const bool scores = row->heads == Heads::Scores;
    if (!canHave(heads_[i], row->heads) || !(sums_[i][kCounted] > 0) || (scores && !areas_[i]))
      continue;
    const double area = areas_[i].value_or(0);
    const Statements statements(row->formula);
    Sums calculus{namesOf(row->heads), scores ? std::span(&area, 1) : std::span(sums_[i])};
    readFormula(statements, calculus);
    return calculus.result;
  }
  return std::nullopt;
}

bool largerIsBetter(std::string_view metric) {
  const MetricRow *row = findMetric(metric);
  return row && row->better == Better::Larger;
}

Status checkMeasured(const std::vector<Head> &heads, std::string_view metric,
                     std::string_view remedy) {
  if (!isMetric(metric))
    return session::unknownName("metric", metric, "lstmc", metricNames());
  if (!measures(heads, metric))
    return fail(ErrorCode::E0001, "metric \"{}\" is of {}, and the net has none", metric,
                headsWith(metric));
  if (needsScores(metric) && std::ranges::none_of(heads, &Head::scores))
    return fail(ErrorCode::E0001,
                "metric \"{}\" needs the score of every label, and this package was compiled "
                "without: {}",
                metric,
                remedy.empty() ? fmt::format("compile it with fit key eval_metric={}", metric)
                               : std::string(remedy));
  return {};
}

} // namespace lstmc::training
