// Layers that are written out step by step have the bits of the loops that they become.
#include <cstring>

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
    {"late", {"g: in training, gradients of h would be added in another order"}},
    {"broken", {"l0: step 2: its weights are not those of the first step"}},
    {"peeped", {"l0: step 1: its c is read by elemwise_add"}},
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
    uint64_t trained;    ///< train() of 20 updates
    bool operator==(const Results &) const = default;
  };

  Results results(const KernelChooser &kernels) {
    auto session = openSession(compileNet(model.recipe).package, 2, kernels);
    feed(*session, "forward", 1, 2, 5);
    EXPECT_TRUE(session->run("forward").ok());
    Results found;
    for (const package::Entry &entry : session->package().data().entries)
      for (const package::Binding &output : entry.outputs)
        if (entry.name == "forward") {
          const Tensor tensor = *session->output("forward", output.name);
          EXPECT_TRUE(tensor.dense());
          found.outputs.append(tensor.as<char>(), size_t(tensor.elements()) * sizeof(float));
        }
    EXPECT_FALSE(found.outputs.empty());
    found.trained = train(*session, model, 1, 20);
    return found;
  }

  void expectSame(const KernelChooser &kernels = kernelsOf(cpu::machineLevel())) {
    model.recipe.compile.disabled = {};
    const Results rolled = results(kernels);
    model.recipe.compile.disabled = {"roll-recurrence"};
    EXPECT_EQ(results(kernels), rolled);
  }

  Model model;
};

std::string nameOf(const ::testing::TestParamInfo<Written> &info) { return info.param.net; }

/// Where nothing is rolled, there is nothing to compare.
INSTANTIATE_TEST_SUITE_P(Nets, Roll, ::testing::ValuesIn(kNets, kNets + 4), nameOf);

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

} // namespace
} // namespace lstmc::e2e
