// Layers that are written out step by step have the bits of the loops that they become.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/reference/Reference.h"
#include "tests/e2e/Net.h"

namespace lstmc::e2e {
namespace {

struct Written {
  const char *net;
  std::vector<std::string> layers; ///< name, and why it stays as it is
};

void PrintTo(const Written &written, std::ostream *os) { *os << written.net; }

const Written kNets[] = {
    {"stepwise", {"l0", "l1"}},
    {"layerwise", {"l0", "l1"}},
    {"both", {"d0", "d1"}},
    {"last", {"g", "t", "u"}},
    {"peeped", {"l0", "l0"}},
    {"turned", {"l0", "l1", "g"}},
    {"backward", {"b"}},
    {"joined", {"l"}},
    {"late", {"g"}},
    {"broken", {"l0: step 2: its weights are not those of the first step"}},
    {"peeped_often", {"l0: step 0: its c is read by elemwise_add"}},
    {"fed", {"l0: step 1: its input depends on the steps before"}},
    {"repeated", {"l0: in training, gradients of its input would be added in another order"}},
};

class Roll : public ::testing::TestWithParam<Written> {
protected:
  void SetUp() override {
    model.name = GetParam().net;
    model.recipe.file = "tests/e2e/nets/rolled.lnet";
    model.recipe.load.net = GetParam().net;
    model.recipe.compile.optimizer = {.name = "adam", .clipGradientNorm = 0.5};
  }

  struct Results {
    std::string outputs; ///< bytes of a forward
    uint64_t trained;    ///< train() of some updates
    bool operator==(const Results &) const = default;
  };

  static std::string results(Session &session) {
    feed(session, "forward", 1, 2, 5);
    EXPECT_TRUE(session.run("forward").ok());
    std::string outputs;
    for (const package::Entry &entry : session.package().data().entries)
      for (const package::Binding &output : entry.outputs)
        if (entry.name == "forward") {
          const Tensor tensor = *session.output("forward", output.name);
          EXPECT_TRUE(tensor.dense());
          outputs.append(tensor.as<char>(), size_t(tensor.elements()) * sizeof(float));
        }
    EXPECT_FALSE(outputs.empty());
    return outputs;
  }

  Results results(const KernelChooser &kernels, int64_t updates = 20) {
    auto session = openSession(compileNet(model.recipe).package, 2, kernels);
    Results found;
    found.outputs = results(*session);
    found.trained = train(*session, model, 1, updates);
    return found;
  }

  void expectSame(const KernelChooser &kernels = kernelsOf(cpu::machineLevel())) {
    model.recipe.compile.disabled = {};
    const Results rolled = results(kernels);
    model.recipe.compile.disabled = {"roll-recurrence"};
    EXPECT_EQ(results(kernels), rolled);
  }

  struct Numbers {
    std::string outputs; ///< bytes of a forward
    std::map<std::string, std::vector<float>> gradients;
  };

  /// Of one update that changes nothing.
  Numbers gradients(const KernelChooser &kernels) {
    model.recipe.compile.optimizer = {.name = "none"};
    auto session = openSession(compileNet(model.recipe).package, 2, kernels);
    Numbers found;
    found.outputs = results(*session);
    feed(*session, "step", 1, 2, 5);
    session->setScalar("update", int64_t(1));
    session->setScalar("seed", int64_t(1));
    session->setScalar("learning_rate", 0.0);
    EXPECT_TRUE(session->run("step").ok());
    for (const package::Parameter &parameter : session->package().data().parameters) {
      const Tensor gradient = *session->output("step", "gradient:" + parameter.name);
      EXPECT_TRUE(gradient.dense());
      found.gradients[parameter.name].assign(gradient.as<float>(),
                                             gradient.as<float>() + gradient.elements());
    }
    return found;
  }

  Model model;
};

std::string nameOf(const ::testing::TestParamInfo<Written> &info) { return info.param.net; }

/// Where nothing is rolled, there is nothing to compare.
INSTANTIATE_TEST_SUITE_P(Nets, Roll, ::testing::ValuesIn(kNets, kNets + 5), nameOf);

class RollSays : public Roll {};
INSTANTIATE_TEST_SUITE_P(Nets, RollSays, ::testing::ValuesIn(kNets), nameOf);

TEST_P(RollSays, WhatBecameALoop) {
  std::vector<std::string> said;
  for (const passes::RolledLayer &layer : compileNet(model.recipe).rolled)
    said.push_back(layer.name + (layer.reason.empty() ? "" : ": ") + layer.reason);
  ASSERT_EQ(said.size(), GetParam().layers.size()) << ::testing::PrintToString(said);
  for (size_t i = 0; i < said.size(); ++i)
    EXPECT_THAT(said[i], ::testing::StartsWith(GetParam().layers[i]));
}

TEST_P(Roll, KeepsBits) { expectSame(); }

TEST_P(Roll, KeepsBitsOfTheReference) {
  expectSame([](KernelId id, std::span<const Tensor>) { return reference::kernel(id); });
}

TEST_P(Roll, KeepsBitsOnTwoDevices) {
  model.recipe.compile.devices = {"cpu:0", "cpu:1"};
  expectSame();
}

TEST_P(Roll, KeepsBitsOfPartsOneAfterTheOther) {
  model.recipe.compile.accumulate = 2;
  expectSame();
}

/// Outputs have the bits of the steps, and gradients those of the loop's own order: of sums of at
/// most 24 terms, over 5 steps and 3 layers.
class RollRounds : public Roll {
protected:
  void expectNear(const KernelChooser &kernels) {
    const Numbers rolled = gradients(kernels);
    model.recipe.compile.disabled = {"roll-recurrence"};
    const Numbers written = gradients(kernels);
    EXPECT_EQ(rolled.outputs, written.outputs);
    ASSERT_EQ(rolled.gradients.size(), written.gradients.size());
    for (const auto &[name, numbers] : written.gradients) {
      const std::vector<float> &ours = rolled.gradients.at(name);
      float largest = 0, apart = 0;
      for (size_t i = 0; i < numbers.size(); ++i) {
        largest = std::max(largest, std::abs(numbers[i]));
        apart = std::max(apart, std::abs(ours[i] - numbers[i]));
      }
      EXPECT_GT(largest, 0) << name;
      EXPECT_LE(apart, 0x1p-19f * largest) << name;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Nets, RollRounds, ::testing::ValuesIn(kNets + 5, kNets + 9), nameOf);

/// The same for a net that a test names.
class RollOrders : public RollRounds {
protected:
  void SetUp() override { model.recipe.file = "tests/e2e/nets/rolled.lnet"; }

  void expectEveryOrder(const char *net, size_t gates) {
    std::vector<int> order(gates);
    std::iota(order.begin(), order.end(), 0);
    do {
      SCOPED_TRACE(::testing::PrintToString(order));
      model.recipe.load.net = net;
      model.recipe.load.settings.clear();
      for (size_t gate = 0; gate < gates; ++gate)
        model.recipe.load.settings.emplace_back("g" + std::to_string(gate),
                                                std::to_string(order[gate]));
      model.recipe.compile.disabled = {};
      model.recipe.compile.optimizer = {.name = "none"};
      const auto rolled = compileNet(model.recipe).rolled;
      ASSERT_EQ(rolled.size(), 1u);
      EXPECT_EQ(rolled[0].reason, "");
      expectNear([](KernelId id, std::span<const Tensor>) { return reference::kernel(id); });
    } while (std::ranges::next_permutation(order).found);
  }
};
INSTANTIATE_TEST_SUITE_P(Nets, RollOrders, ::testing::Values(Written{"ordered", {}}), nameOf);

TEST_P(RollOrders, OfLstm) { expectEveryOrder("ordered", 4); }
TEST_P(RollOrders, OfGru) { expectEveryOrder("ordered_gru", 3); }

TEST_P(RollRounds, OnlyGradients) { expectNear(kernelsOf(cpu::machineLevel())); }

TEST_P(RollRounds, OnlyGradientsOfTheReference) {
  expectNear([](KernelId id, std::span<const Tensor>) { return reference::kernel(id); });
}

/// What a step is divided by, and the loss that it reports, do not depend on how its rows lie.
TEST_P(RollRounds, TheSameUpdate) {
  auto updated = [&](std::vector<std::string> disabled) {
    model.recipe.compile.disabled = std::move(disabled);
    model.recipe.compile.optimizer = {.name = "sgd"};
    auto session = openSession(compileNet(model.recipe).package);
    feed(*session, "step", 1, 2, 5);
    session->setScalar("update", int64_t(1));
    session->setScalar("seed", int64_t(1));
    session->setScalar("learning_rate", 0.5);
    EXPECT_TRUE(session->run("step").ok());
    std::vector<double> values;
    for (const package::Parameter &parameter : session->package().data().parameters) {
      const Tensor weight = *session->parameter(parameter.name);
      values.insert(values.end(), weight.as<float>(), weight.as<float>() + weight.elements());
    }
    for (const package::Entry &entry : session->package().data().entries)
      for (const package::Binding &output : entry.outputs)
        if (entry.name == "step" && output.role == "metric") {
          const Tensor metric = *session->output("step", output.name);
          values.insert(values.end(), metric.as<double>(), metric.as<double>() + metric.elements());
        }
    return values;
  };
  const std::vector<double> rolled = updated({}), written = updated({"roll-recurrence"});
  ASSERT_EQ(rolled.size(), written.size());
  for (size_t i = 0; i < rolled.size(); ++i)
    EXPECT_NEAR(rolled[i], written[i], 1e-6 * std::max(1.0, std::abs(written[i]))) << i;
}

TEST_P(RollRounds, NotOnSeveralDevices) {
  const KernelChooser kernels = kernelsOf(cpu::machineLevel());
  const Results one = results(kernels, 3);
  model.recipe.compile.devices = {"cpu:0", "cpu:1"};
  EXPECT_EQ(results(kernels, 3), one);
  model.recipe.compile.devices = {"cpu:0"};
  model.recipe.compile.accumulate = 2;
  EXPECT_EQ(results(kernels, 3), one);
}

TEST_P(RollRounds, NotInSegmentsOfSteps) {
  model.recipe.compile.shards = 1;
  const KernelChooser kernels = kernelsOf(cpu::machineLevel());
  const Results one = results(kernels, 3);
  model.recipe.compile.segments = 2;
  EXPECT_EQ(results(kernels, 3), one);
}

TEST_P(RollRounds, NotOnAnEmulatedGpu) {
  const passes::Compiled onHost = compileNet(model.recipe);
  const uint64_t wanted = train(*openSession(onHost.package, 1), model, 1, 2);
  model.recipe.compile.devices = {"gpu:0"};
  EXPECT_EQ(train(*openEmulated(compileNet(model.recipe).package, 1), model, 1, 2), wanted);
}

TEST_P(RollRounds, SaysWhichGradients) {
  for (const passes::RolledLayer &layer : compileNet(model.recipe).rolled)
    EXPECT_THAT(layer.rounding, ::testing::StartsWith("gradients of ")) << layer.name;
}

} // namespace
} // namespace lstmc::e2e
