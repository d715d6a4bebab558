// The small parts of the training loop: rates, amounts, metrics, documents.
#include <cmath>
#include <numbers>

#include <nlohmann/json.hpp>

#include "executor/abi/Optimizers.h"
#include "executor/session/UpdateScalars.h"
#include "executor/training/AreaUnderCurve.h"
#include "executor/training/FitSettings.h"
#include "executor/training/Metrics.h"
#include "executor/training/TrainReport.h"
#include "tests/executor/data/Files.h"

namespace lstmc::training {
namespace {

/// MXNet's FactorScheduler as written in MXNet: it has state, and is called once per update.
double mxnetFactor(double base, int64_t step, double factor, double stop, int64_t n) {
  double rate = base;
  int64_t count = 0;
  while (n > count + step) {
    count += step;
    rate *= factor;
    if (rate < stop)
      rate = stop;
  }
  return rate;
}

TEST(Schedule, Factor) {
  auto schedule = Schedule::parse("factor(step=3, factor=0.7, stop_factor_lr=0.05)");
  ASSERT_OK(schedule);
  for (int64_t n = 1; n < 50; ++n)
    EXPECT_EQ(schedule->rate(0.9, n), mxnetFactor(0.9, 3, 0.7, 0.05, n)) << n;
  EXPECT_EQ(schedule->rate(0.9, 3), 0.9); // n > count + step, not n >= it
  EXPECT_EQ(schedule->rate(0.9, 4), 0.9 * 0.7);
}

TEST(Schedule, MultiFactor) {
  auto schedule = Schedule::parse("MultiFactorScheduler(step=[10, 20], factor=0.5)");
  ASSERT_OK(schedule);
  EXPECT_EQ(schedule->rate(8, 10), 8);
  EXPECT_EQ(schedule->rate(8, 11), 4);
  EXPECT_EQ(schedule->rate(8, 20), 4);
  EXPECT_EQ(schedule->rate(8, 1000), 2);
}

TEST(Schedule, PolyAndCosineWithWarmUp) {
  auto poly =
      Schedule::parse("poly(max_update=110, warmup_steps=10, warmup_begin_lr=0.2, final_lr=0.1)");
  ASSERT_OK(poly);
  EXPECT_EQ(poly->rate(1.2, 5), 0.2 + (1.2 - 0.2) * 5 / 10);
  EXPECT_EQ(poly->rate(1.2, 10), 0.1 + (1.2 - 0.1) * std::pow(1.0, 2));
  EXPECT_EQ(poly->rate(1.2, 60), 0.1 + (1.2 - 0.1) * std::pow(1 - 50.0 / 100, 2));
  EXPECT_EQ(poly->rate(1.2, 110), 0.1);
  EXPECT_EQ(poly->rate(1.2, 500), 0.1);
  auto cosine = Schedule::parse(
      "cosine(max_update=100, warmup_steps=20, warmup_mode=constant, warmup_begin_lr=0.3)");
  ASSERT_OK(cosine);
  EXPECT_EQ(cosine->rate(2, 19), 0.3);
  EXPECT_EQ(cosine->rate(2, 60), 0 + 2 * (1 + std::cos(std::numbers::pi * 0.5)) / 2);
  EXPECT_NEAR(cosine->rate(2, 100), 0, 1e-15);
}

// The rate rises in the first 3 of 10 updates after the warm-up, then falls. The places where the
// cosines meet are exact.
TEST(Schedule, OneCycle) {
  auto cycle = Schedule::parse("onecycle(max_update=12, warmup_steps=2, warmup_mode=constant)");
  ASSERT_OK(cycle);
  EXPECT_EQ(cycle->rate(2.5, 1), 0);
  EXPECT_NEAR(cycle->rate(2.5, 2), 2.5 / 25, 1e-16);
  EXPECT_EQ(cycle->rate(2.5, 5), 2.5);
  EXPECT_NEAR(cycle->rate(2.5, 4), 2.5 + (0.1 - 2.5) * (1 + std::cos(std::numbers::pi * 2 / 3)) / 2,
              1e-15);
  EXPECT_NEAR(cycle->rate(2.5, 12), 2.5 / 25 / 1e4, 1e-18);
  EXPECT_EQ(cycle->rate(2.5, 50), cycle->rate(2.5, 12));
  for (int64_t n = 6; n <= 12; ++n)
    EXPECT_LT(cycle->rate(2.5, n), cycle->rate(2.5, n - 1)) << n;
}

TEST(Schedule, Plateau) {
  auto plateau = Schedule::parse(
      "plateau(factor=0.5, patience=1, threshold=0.1, cooldown=2, min_lr=0.3, warmup_steps=3)");
  ASSERT_OK(plateau);
  PlateauState state;
  auto rateAfter = [&](double loss) {
    state.see(*plateau, loss);
    return plateau->rate(1, 10, state.scale);
  };
  EXPECT_EQ(plateau->rate(1, 10), 1);
  EXPECT_EQ(rateAfter(HUGE_VAL), 1); // not better than before, but patience is 1
  EXPECT_EQ(rateAfter(8), 1);
  EXPECT_EQ(rateAfter(7.5), 1);   // not a tenth better: the first time
  EXPECT_EQ(rateAfter(7.5), 0.5); // the second time
  EXPECT_EQ(rateAfter(8), 0.5);   // two that are not counted
  EXPECT_EQ(rateAfter(8), 0.5);
  EXPECT_EQ(rateAfter(8), 0.5);
  EXPECT_EQ(rateAfter(std::nan("")), 0.3); // 0.25 is below min_lr
  EXPECT_EQ(rateAfter(7), 0.3);            // the best again
  EXPECT_EQ(*state.best, 7);
  EXPECT_EQ(plateau->rate(1, 1, state.scale), 1.0 / 3); // the warm-up ignores the scale
}

TEST(Schedule, Refused) {
  EXPECT_REFUSED(Schedule::parse("factor"), E0001, "lr_scheduler step: found none");
  EXPECT_REFUSED(Schedule::parse("factor(step=2, pwr=2)"), E0001,
                 "factor takes step, factor, stop_factor_lr, warmup_steps");
  EXPECT_REFUSED(Schedule::parse("plateau(patience=1.5)"), E0001, "a whole number from 0");
  EXPECT_REFUSED(Schedule::parse("cosine(max_update=9223372036854775807)"), E0001,
                 "a whole number from 1 to 1000000000000000");
  EXPECT_EQ(Schedule::parse("cosine(max_update=1000000000000000)")->rate(0.1, 1), 0.1);
  EXPECT_REFUSED(Schedule::parse("cosin"), E0001, "lr_scheduler \"cosin\" is unknown");
  EXPECT_REFUSED(Schedule::parse("factor(stepp=1)"), E0001, "\"stepp\"");
  EXPECT_REFUSED(Schedule::parse("factor(factor=1.5)"), E0001, "from 0 to 1");
  EXPECT_REFUSED(Schedule::parse("multifactor(step=[3, 2])"), E0001, "ascending");
  EXPECT_REFUSED(Schedule::parse("poly(max_update=5, warmup_steps=5)"), E0001,
                 "more than warmup_steps");
}

TEST(FitSettings, AdamsRate) {
  FitSettings fit;
  ASSERT_TRUE(*fit.set("optimizer", "adam"));
  EXPECT_EQ(fit.baseRate(), 1e-3);
  ASSERT_TRUE(*fit.set("learning_rate", "0.002"));
  EXPECT_FALSE(*fit.set("wd", "0.1")); // a key of the compiler
  session::UpdateFormula formula(fit.row(), {});
  EXPECT_EQ(formula.at(fit.baseRate(), 1).learningRate, 0.002 * std::sqrt(1 - 0.999) / (1 - 0.9));
  double expected = 0.002 * std::sqrt(1 - std::pow(0.999, 37)) / (1 - std::pow(0.9, 37));
  EXPECT_NEAR(formula.at(fit.baseRate(), 37).learningRate / expected, 1,
              1e-14); // 12 roundings of a power by squaring
  EXPECT_REFUSED(fit.set("optimizer", "adamm"), E0001, "want one of sgd, ");
  EXPECT_REFUSED(fit.set("beta1", "1"), E0001, "fit key beta1");
}

TEST(FitSettings, KeysOfOptimizers) {
  FitSettings fit;
  ASSERT_TRUE(*fit.set("optimizer", "rmsprop"));
  EXPECT_EQ(fit.baseRate(), 1e-3);
  ASSERT_TRUE(*fit.set("centered", "True"));
  EXPECT_REFUSED(fit.set("centered", "2"), E0001, "want True or False");
  EXPECT_REFUSED(fit.set("gamma1", "1"), E0001, "want a number from 0 to below 1");
  EXPECT_REFUSED(fit.set("epsilon", "tiny"), E0001, "fit key epsilon");
  ASSERT_TRUE(*fit.set("clip_weights", "None"));
}

TEST(UpdateFormula, IsOfTheSettingsThatComeLast) {
  auto formula = session::UpdateFormula::of({{"optimizer", "sgd"},
                                             {"beta1", "0.5"},
                                             {"optimizer", "adamax"},
                                             {"beta1", "0.75"},
                                             {"wd", "1"}});
  ASSERT_OK(formula);
  EXPECT_TRUE(formula->readsUpdate());
  EXPECT_EQ(formula->at(2, 1).learningRate, 8);
  auto plain = session::UpdateFormula::of({});
  ASSERT_OK(plain);
  EXPECT_FALSE(plain->readsUpdate());
  EXPECT_EQ(plain->at(2, 1).learningRate, 2);
  EXPECT_REFUSED(session::UpdateFormula::of({{"optimizer", "adamm"}}), E0001, "want one of sgd, ");
  EXPECT_REFUSED(session::UpdateFormula::of({{"optimizer", "adam"}, {"beta1", "2"}}), E0001,
                 "fit key beta1");
}

// The product in nadam's schedule is the same whether or not updates are computed in sequence, and
// it equals the one computed here.
TEST(UpdateFormula, ProductFollowsFromTheUpdate) {
  const Optimizer &nadam = *findOptimizer("nadam");
  session::UpdateFormula all(nadam, {{"schedule_decay", 0.01}});
  double product = 1;
  for (int64_t t = 1; t <= 40; ++t) {
    double now = 0.9 * (1 - 0.5 * std::pow(0.96, double(t) * 0.01));
    product *= now;
    session::UpdateScalars inOrder = all.at(0.5, t);
    session::UpdateScalars alone =
        session::UpdateFormula(nadam, {{"schedule_decay", 0.01}}).at(0.5, t);
    EXPECT_EQ(inOrder.learningRate, 0.5);
    EXPECT_EQ(inOrder, alone);
    EXPECT_EQ(all.at(0.5, t), alone); // once more
    ASSERT_EQ(nadam.inputs[0], "g_share");
    EXPECT_EQ(inOrder.inputs[0], (1 - now) / (1 - product)) << t;
  }
  session::UpdateScalars third =
      session::UpdateFormula(nadam, {{"schedule_decay", 0.01}}).at(0.5, 3);
  EXPECT_EQ(all.at(0.5, 3), third);
  all.at(0.5, INT64_MAX); // the product has come to the least number long before
  EXPECT_EQ(all.at(0.5, 3), third);
}

TEST(Amount, ParseAndPass) {
  auto parsed = Amount::parse("1.5Gt", "--after");
  ASSERT_OK(parsed);
  EXPECT_EQ(parsed->value, 1.5e9);
  EXPECT_EQ(parsed->unit, Amount::Unit::Labels);
  EXPECT_EQ(Amount::parse("2m", "--after")->value, 120);
  EXPECT_EQ(Amount::parse("250ms", "--after")->value, 0.25);
  EXPECT_EQ(Amount::parse("2Ku", "--after")->value, 2000);
  for (const char *bad : {"10", "e", "-1e", "0u", "10x", "1e5", "nanu", "99999999999999999999u",
                          "1e10Gu", "1e-300e", "1e-300s"})
    EXPECT_REFUSED(Amount::parse(bad, "--after"), E0001, "--after: found");
  Amount every{50, Amount::Unit::Updates};
  EXPECT_TRUE(every.passed({49}, {50}));
  EXPECT_FALSE(every.passed({50}, {51}));
  Amount half{0.5, Amount::Unit::Epochs};
  EXPECT_TRUE(half.passed({0, 0.49}, {0, 0.51}));
}

TEST(Metrics, FromTheirNumbers) {
  MetricTotals totals({{"softmax", HeadKind::Softmax}, {"value", HeadKind::Regression}});
  totals.add(0, {5, 4, 3, 1, 2, 6});
  totals.add(0, {1, 2, 1, 0, 1, 2});
  totals.add(1, {1, 4, 4, 6, 2, 0});
  EXPECT_EQ(totals.value("perplexity"), std::exp(2.0));
  EXPECT_EQ(totals.value("bits_per_label"), 2 / std::numbers::ln2);
  EXPECT_EQ(totals.value("accuracy"), 0.75);
  EXPECT_EQ(totals.value("mae"), 1.5);
  EXPECT_EQ(totals.value("mse"), 0.5);
  EXPECT_EQ(totals.value("rmse"), std::sqrt(0.5));
  EXPECT_EQ(totals.value("cross-entropy"), 2);
  EXPECT_EQ(totals.value("ce"), 2);
  EXPECT_EQ(totals.value("nll-loss"), 2);
  EXPECT_EQ(totals.value("acc"), 0.75);
  EXPECT_EQ(totals.value("top_k_accuracy_1"), 0.75);
  EXPECT_FALSE(totals.value("f1")); // not two classes
  EXPECT_FALSE(totals.value("auc"));
  EXPECT_FALSE(totals.value("top_k_accuracy"));
  EXPECT_TRUE(measures(totals.heads(), "rmse"));
  EXPECT_FALSE(measures({{"softmax", HeadKind::Softmax}}, "rmse"));
  EXPECT_FALSE(measures(totals.heads(), ""));
  EXPECT_EQ(totals.value("loss"), 1 + 0.25);
  EXPECT_EQ(totals.ignored(), 1);
  EXPECT_FALSE(MetricTotals({{"x", HeadKind::Loss}}).value("loss")); // nothing was counted
}

/// The record of `evaluate` of a softmax of two classes that has met that many labels.
MetricValues ofTwoClasses(double tp, double fp, double fn, double tn) {
  const double counted = tp + fp + fn + tn;
  return {0, 0, counted, 0, tp + tn, 0, tp, fp, fn};
}

TEST(Metrics, OfTwoClasses) {
  auto valuesOf = [](const MetricValues &values) {
    MetricTotals totals({{"softmax", HeadKind::Softmax, 2}});
    totals.add(0, values);
    return std::pair(*totals.value("f1"), *totals.value("mcc"));
  };
  const double tp = 30, fp = 7, fn = 11, tn = 52, precision = tp / (tp + fp),
               recall = tp / (tp + fn);
  auto [f1, mcc] = valuesOf(ofTwoClasses(tp, fp, fn, tn));
  EXPECT_NEAR(f1, 2 * precision * recall / (precision + recall), 4e-16); // four roundings
  EXPECT_NEAR(mcc, (tp * tn - fp * fn) / std::sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)),
              4e-16);
  EXPECT_EQ(valuesOf(ofTwoClasses(3e3, 0, 0, 5e3)), std::pair(1.0, 1.0));
  EXPECT_EQ(valuesOf(ofTwoClasses(0, 3, 5, 0)), std::pair(0.0, -1.0));
  // One class only: 0 as in MXNet, where that would be 0 / 0.
  EXPECT_EQ(valuesOf(ofTwoClasses(0, 0, 0, 9)), std::pair(0.0, 0.0));
  EXPECT_EQ(valuesOf(ofTwoClasses(9, 0, 0, 0)), std::pair(1.0, 0.0));
  EXPECT_EQ(valuesOf(ofTwoClasses(0, 0, 9, 0)), std::pair(0.0, 0.0));
  EXPECT_EQ(valuesOf(ofTwoClasses(0, 4, 0, 5)), std::pair(0.0, 0.0));
}

TEST(Metrics, AmongTheLikeliest) {
  MetricTotals totals({{"softmax", HeadKind::Softmax, 50}});
  totals.add(0, {0, 0, 100, 3, 7, 0, 0, 0, 0, 12, 23, 34, 45, 56, 67, 78, 89, 90});
  const double hits[] = {7, 12, 23, 34, 45, 56, 67, 78, 89, 90};
  for (int top = 1; top <= 10; ++top)
    EXPECT_EQ(totals.value("top_k_accuracy_" + std::to_string(top)), hits[top - 1] / 100) << top;
  EXPECT_FALSE(isMetric("top_k_accuracy_11"));
  EXPECT_FALSE(isMetric("top_k_accuracy"));
  EXPECT_FALSE(measures(totals.heads(), "mcc"));
}

/// The record of `evaluate` of a regression.
MetricValues moments(std::span<const double> p, std::span<const double> y) {
  MetricValues values{0, 0, double(p.size())};
  for (size_t i = 0; i < p.size(); ++i) {
    const double terms[] = {
        double((p[i] > 0.5) == (y[i] > 0.5)), p[i], y[i], p[i] * p[i], y[i] * y[i], p[i] * y[i]};
    for (size_t k = 0; k < std::size(terms); ++k)
      values[6 + k] += terms[k];
  }
  return values;
}

TEST(Metrics, OfRegressions) {
  auto valueOf = [](std::string_view metric, std::span<const double> p, std::span<const double> y) {
    MetricTotals totals({{"value", HeadKind::Regression}});
    totals.add(0, moments(p, y));
    return *totals.value(metric);
  };
  std::vector<double> p, y, far;
  long double meanP = 0, meanY = 0, spp = 0, syy = 0, spy = 0;
  for (int i = 0; i < 200; ++i) {
    p.push_back(std::sin(i) + 0.3);
    y.push_back(std::sin(i + 0.7) + 0.2 * std::cos(5.0 * i));
    far.push_back(1e9 + 1e-3 * p.back());
    meanP += p.back() / 200.0L;
    meanY += y.back() / 200.0L;
  }
  for (size_t i = 0; i < p.size(); ++i) {
    spp += (p[i] - meanP) * (p[i] - meanP);
    syy += (y[i] - meanY) * (y[i] - meanY);
    spy += (p[i] - meanP) * (y[i] - meanY);
  }
  // The bound of Metrics.def: variances of about 0.5 beside squared means below 0.1.
  EXPECT_NEAR(valueOf("pearsonr", p, y), double(spy / std::sqrt(spp * syy)),
              2 * 3 * 220 * 0x1p-53 * 1.2);
  EXPECT_EQ(
      valueOf("binary_accuracy", std::vector{0.5, 0.6, 0.2, 0.9}, std::vector{0.5, 1.0, 1.0, 0.0}),
      0.5);
  // Of one value, and of values whose differences rounding has taken, there is no correlation.
  EXPECT_TRUE(std::isnan(valueOf("pearsonr", p, std::vector(200, 0.1))));
  EXPECT_TRUE(std::isnan(valueOf("pearsonr", std::vector(200, 0.0), y)));
  EXPECT_TRUE(std::isnan(valueOf("pearsonr", far, y)));
}

TEST(Metrics, AreaUnderTheCurve) {
  auto areaOf = [](const std::vector<std::pair<double, bool>> &labels) {
    AreaUnderCurve curve;
    for (auto [score, positive] : labels)
      curve.add(score, positive);
    return curve.area();
  };
  std::vector<std::pair<double, bool>> labels;
  for (int i = 0; i < 300; ++i) // many are equal
    labels.push_back({double(i * 37 % 23) / 4, i * 53 % 7 < 3 + (i * 37 % 23) / 12});
  double pairs = 0, ordered = 0;
  for (auto [one, positive] : labels)
    for (auto [other, also] : labels)
      if (positive && !also) {
        ++pairs;
        ordered += one > other ? 1 : one == other ? 0.5 : 0;
      }
  EXPECT_EQ(areaOf(labels), ordered / pairs);
  std::ranges::reverse(labels);
  EXPECT_EQ(areaOf(labels), ordered / pairs);
  EXPECT_EQ(areaOf({{0.0, true}, {-0.0, false}}), 0.5);
  EXPECT_EQ(areaOf({{1, false}, {2, true}, {3, true}}), 1);
  EXPECT_TRUE(std::isnan(areaOf({{1, true}, {2, true}})));
  EXPECT_TRUE(std::isnan(areaOf({{1, true}, {2, false}, {std::nan(""), false}})));

  MetricTotals totals({{"softmax", HeadKind::Softmax, 2, true}});
  totals.add(0, ofTwoClasses(1, 1, 1, 1));
  EXPECT_FALSE(totals.value("auc"));
  totals.setArea(0, 0.75);
  EXPECT_EQ(totals.value("auc"), 0.75);
}

TEST(TrainReport, LinesAndDocument) {
  std::vector<std::string> lines;
  TrainReport report(TrainReport::Form::Lines,
                     {"0.1.0", "abc", "m.lnet", {"cpu:0"}, 64, R"({"fits":true})"},
                     [&](const std::string &text) { lines.push_back(text); });
  report.start({{}, 7, "m", "hash", 10, 32, 8, "cpu-f32", "", "", ""});
  UpdateEvent update;
  update.progress = {50, 0.5, 100, 2.5};
  update.loss = std::nan("");
  report.update(update);
  report.valid({{50, 0.5}, 1.5, 4.5, {{"accuracy", 0.5}}, true});
  report.save({{50, 0.5}, "ck/update-000050", 123, "00ff", true});
  report.end({{50, 0.5}, EndReason::Signal, 15, 1.5, 1.5, "beef", "ck/update-000050", {}});
  report.finish({{{"cpu:0", 10, 9}}, 5}, {{"loss<2", 1.5, true}}, 143);
  ASSERT_EQ(lines.size(), 5u);
  std::vector<nlohmann::json> events;
  for (const std::string &line : lines) {
    events.push_back(nlohmann::json::parse(line));
    for (const char *field : {"schema", "event", "update", "epoch", "time_s"})
      EXPECT_TRUE(events.back().contains(field)) << line;
  }
  EXPECT_EQ(events[0]["plan"]["fits"], true);
  EXPECT_TRUE(events[1]["loss"].is_null());
  EXPECT_EQ(events[2]["metrics"]["accuracy"], 0.5);
  EXPECT_EQ(events[4]["reason"], "signal");
  EXPECT_EQ(events[4]["peak"][0]["planned_bytes"], 10);
  EXPECT_EQ(events[4]["peak"][0]["measured_bytes"], 9);
  EXPECT_EQ(events[4]["resident_beyond_bytes"], 5);
  EXPECT_EQ(events[4]["expect"][0]["held"], true);
  EXPECT_EQ(events[4]["exit"], 143);
}

} // namespace
} // namespace lstmc::training
