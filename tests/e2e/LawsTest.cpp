// Laws of recurrent layers, bit for bit: a batch equals its rows, a sequence its steps, a layer its
// cell.
#include <cstring>
#include <tuple>

#include <gtest/gtest.h>

#include "tests/e2e/Net.h"

namespace lstmc::e2e {
namespace {

/// A part of an input or output [T, B, C] or of states [L, B, H].
struct Part {
  int64_t step = 0, steps = 0, row = 0, rows = 0;
};

class Layer : public ::testing::TestWithParam<std::tuple<const char *, int64_t>> {
protected:
  static constexpr int64_t kSteps = 6, kRows = 20, kInputs = 5;

  package::PackageData compiled(int64_t steps, int64_t rows) {
    auto [mode, hidden] = GetParam();
    Recipe recipe{.file = "tests/e2e/nets/layers.lnet", .steps = steps};
    recipe.load.settings = {{"hidden", std::to_string(hidden)},
                            {"batch", std::to_string(rows)},
                            {"inputs", std::to_string(kInputs)}};
    recipe.load.net = mode;
    recipe.compile.carry = {"*"};
    return compileNet(recipe).package;
  }

  /// Copies `part` of a tensor [T, B, C] to the whole of `to`, or the whole of `from` to `part`.
  static void copy(const Tensor &whole, const Part &part, const Tensor &small, bool toSmall) {
    const int64_t rows = whole.shape[1], width = whole.shape[2];
    for (int64_t t = 0; t < part.steps; ++t) {
      float *a = whole.as<float>() + ((part.step + t) * rows + part.row) * width;
      float *b = small.as<float>() + t * part.rows * width;
      std::memcpy(toSmall ? b : a, toSmall ? a : b, size_t(part.rows * width) * sizeof(float));
    }
  }

  /// Runs `session` on a part of the input of `whole`. Its outputs must have the bits of that part
  /// of the outputs of `whole`.
  static void expectPart(Session &whole, Session &session, const Part &part) {
    copy(*whole.input("forward", "data"), part, *session.input("forward", "data"), true);
    ASSERT_TRUE(session.run("forward").ok());
    for (const package::Binding &binding :
         whole.package().data().entries[*whole.package().findEntry("forward")].outputs) {
      Tensor want = *whole.output("forward", binding.name),
             got = *session.output("forward", binding.name);
      bool state = want.shape[0] != kSteps;
      if (state && part.step + part.steps != kSteps)
        continue; // the state after the last step
      std::vector<float> expected(size_t(got.elements()));
      Tensor place = got;
      place.data = expected.data();
      copy(want, state ? Part{0, want.shape[0], part.row, part.rows} : part, place, true);
      EXPECT_EQ(std::memcmp(expected.data(), got.data, expected.size() * sizeof(float)), 0)
          << binding.name << ", step " << part.step << ", row " << part.row << ", " << part.rows
          << " rows";
    }
  }

  std::unique_ptr<Session> runWhole() {
    auto whole = openSession(compiled(kSteps, kRows));
    feed(*whole, "forward", 1, 2, kSteps);
    EXPECT_TRUE(whole->run("forward").ok());
    return whole;
  }
};

// Odd H, H below, at and above a multiple of 16.
INSTANTIATE_TEST_SUITE_P(
    Modes, Layer,
    ::testing::Combine(::testing::Values("lstm", "gru", "rnn_tanh", "rnn_relu"),
                       ::testing::Values(int64_t(5), int64_t(16), int64_t(33), int64_t(50))),
    [](const auto &info) {
      return std::string(std::get<0>(info.param)) + std::to_string(std::get<1>(info.param));
    });

TEST_P(Layer, ABatchIsItsRowsRunAlone) {
  auto whole = runWhole();
  for (int64_t rows : {1, 6, 7}) {
    auto some = openSession(compiled(kSteps, rows));
    for (int64_t row = 0; row + rows <= kRows; row += rows) {
      some->resetStates();
      expectPart(*whole, *some, {0, kSteps, row, rows});
    }
  }
}

TEST_P(Layer, StepsAtOnceAreCallsThatCarryState) {
  auto whole = runWhole();
  for (int64_t steps : {1, 2, 3}) {
    auto few = openSession(compiled(steps, kRows));
    for (int64_t step = 0; step < kSteps; step += steps)
      expectPart(*whole, *few, {step, steps, 0, kRows});
  }
}

/// Forward, gradients and updates of `layer` equal those of `unrolled`, the cell written out for
/// every step.
TEST(Cell, WrittenByHandIsTheLayer) {
  auto make = [](const char *net) {
    Recipe recipe{.file = "tests/e2e/nets/cell.lnet"};
    recipe.load.net = net;
    recipe.compile.disabled = {"roll-recurrence"};
    recipe.compile.optimizer = {.name = "sgd", .keys = {{"momentum", 0.9}}};
    return openSession(compileNet(recipe).package);
  };
  Model model{.name = "cell", .learningRate = 0.1};
  auto layer = make("layer"), unrolled = make("unrolled");
  for (const char *name : {"lstm_i2h_weight", "lstm_i2h_bias", "lstm_h2h_weight", "lstm_h2h_bias",
                           "out_weight", "out_bias"})
    ASSERT_TRUE(unrolled->setParameter(name, *layer->parameter(name)).ok());
  for (Session *session : {layer.get(), unrolled.get()}) {
    feed(*session, "forward", 1, 2, 1);
    ASSERT_TRUE(session->run("forward").ok());
  }
  auto output = [](Session &session) {
    const package::PackageData &data = session.package().data();
    return *session.output("forward",
                           data.entries[*session.package().findEntry("forward")].outputs[0].name);
  };
  Tensor want = output(*layer), got = output(*unrolled);
  EXPECT_EQ(std::memcmp(want.data, got.data, size_t(want.elements()) * sizeof(float)), 0);
  train(*layer, model, 1, 5);
  train(*unrolled, model, 1, 5);
  for (const package::Parameter &parameter : layer->package().data().parameters) {
    Tensor a = *layer->parameter(parameter.name), b = *unrolled->parameter(parameter.name);
    EXPECT_EQ(std::memcmp(a.data, b.data, size_t(a.elements()) * sizeof(float)), 0)
        << parameter.name;
  }
}

} // namespace
} // namespace lstmc::e2e
