// The reported loss is the minimised one: an update subtracts its derivatives, which are computed
// here as differences in f64. Parts of the batch report the same bits.
#include <cmath>

#include <gtest/gtest.h>

#include "executor/training/SessionTrainable.h"
#include "tests/e2e/Variants.h"

namespace lstmc::e2e {
namespace {

using training::SessionTrainable;
using Entry = training::Trainable::Entry;

/// One net for each kind of head, and some with several heads.
const std::vector<Model> &nets() {
  static const std::vector<Model> nets = [] {
    std::vector<Model> models = modelsOf("tests/e2e/nets/losses");
    for (Model &model : models)
      model.recipe.compile.optimizer = {.name = "sgd"};
    return models;
  }();
  return nets;
}

class ReportedLoss : public ::testing::TestWithParam<size_t> {
protected:
  /// A session of the net, with inputs.
  void open(const Variant &variant) {
    Recipe recipe = model.recipe;
    recipe.compile = variant.applyTo(recipe.compile);
    session = openSession(compileNet(recipe).package, 1);
    for (const char *entry : {"step", "evaluate"})
      feed(*session, entry, 1, model.classes, 0);
    trainable = std::move(*SessionTrainable::create(*session));
  }

  double measured(Entry entry) {
    training::MetricTotals totals(trainable->heads());
    for (size_t head = 0; head < trainable->heads().size(); ++head)
      totals.add(head, trainable->metric(entry, head));
    return totals.value("loss").value_or(NAN);
  }

  double reported() {
    session->parametersChanged();
    return trainable->evaluate().ok() ? measured(Entry::Evaluate) : NAN;
  }

  /// (4 D(h/2) - D(h)) / 3 of central differences D: an error of h^4, 1e-12, beside 1e-13 of
  /// rounding.
  double difference(double &element) {
    constexpr double kStep = 1e-3;
    const double kept = element;
    auto at = [&](double value) {
      element = value;
      return reported();
    };
    auto central = [&](double h) { return (at(kept + h) - at(kept - h)) / (2 * h); };
    const double result = (4 * central(kStep / 2) - central(kStep)) / 3;
    at(kept);
    return result;
  }

  /// With a rate of 1, an update subtracts the gradient itself.
  void update() { ASSERT_TRUE(trainable->step({.learningRate = 1, .update = 1}).ok()); }

  const Model &model = nets()[GetParam()];
  std::unique_ptr<Session> session;
  std::unique_ptr<SessionTrainable> trainable;
};

INSTANTIATE_TEST_SUITE_P(Nets, ReportedLoss, ::testing::Range(size_t(0), nets().size()),
                         [](const auto &info) { return nets()[info.param].name; });

TEST_P(ReportedLoss, IsWhatAnUpdateMinimises) {
  open({});
  std::vector<std::vector<double>> want, before;
  for (const StoredTensor &parameter : trainable->parameters()) {
    double *begin = parameter.tensor.as<double>();
    for (double &element : std::span(begin, size_t(parameter.tensor.elements())))
      element += 0.25; // a bias begins at 0
    before.emplace_back(begin, begin + parameter.tensor.elements());
  }
  for (const StoredTensor &parameter : trainable->parameters()) {
    std::vector<double> &derivatives = want.emplace_back();
    for (int64_t i = 0; i < parameter.tensor.elements(); ++i)
      derivatives.push_back(difference(parameter.tensor.as<double>()[i]));
  }
  const double loss = reported();
  update();
  // The same elements in another order: by rows, and by shards.
  EXPECT_NEAR(measured(Entry::Step), loss, 1e-14 * (1 + std::fabs(loss)));

  std::vector<StoredTensor> after = trainable->parameters();
  for (size_t p = 0; p < after.size(); ++p) {
    double largest = 0;
    for (double derivative : want[p])
      largest = std::max(largest, std::fabs(derivative));
    EXPECT_GT(largest, 1e-3) << after[p].name;
    for (size_t i = 0; i < want[p].size(); ++i)
      EXPECT_NEAR(before[p][i] - after[p].tensor.as<double>()[i], want[p][i], 1e-9 * largest)
          << after[p].name << "[" << i << "]";
  }
}

TEST_P(ReportedLoss, HasTheSameBitsInParts) {
  auto bits = [&](const Variant &variant) {
    open(variant);
    std::vector<double> all;
    auto add = [&](Entry entry) {
      for (size_t head = 0; head < trainable->heads().size(); ++head)
        for (double value : trainable->metric(entry, head))
          all.push_back(value);
    };
    update();
    add(Entry::Step); // the next entry reuses its memory
    all.push_back(reported());
    add(Entry::Evaluate);
    all.push_back(double(session->weightsHash() >> 12));
    return all;
  };
  const std::vector<double> want = bits({});
  for (const Variant &variant : {Variant{.devices = 2}, Variant{.devices = 6},
                                 Variant{.accumulate = 2}, Variant{.devices = 3, .accumulate = 2}})
    EXPECT_EQ(bits(variant), want) << variant.text();
}

} // namespace
} // namespace lstmc::e2e
