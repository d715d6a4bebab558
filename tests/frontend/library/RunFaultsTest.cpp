// Nothing is silent in runs either: values out of range, inputs that were never given, what an
// optimizer keeps, and memory for shapes of one network.
#include <fstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <lstmc/compile.hpp>

namespace lstmc {
namespace {

constexpr std::string_view kClassifier = R"(
N, T = dim("batch", 4), dim("seq", 6)
def classifier(data: float32[N, T, 2], length: int32[N], label: int32[N]):
    y, h, c = LSTM(data, num_hidden=5, length=length, layout="NTC", name="lstm")
    return SoftmaxOutput(FullyConnected(h[-1], num_hidden=3, name="out"), label, name="softmax")
)";

constexpr std::string_view kLm = R"(
N, T = dim("batch", 2), dim("seq", 6)
def lm(data: int32[N, T], label: int32[N, T]):
    y, h, c = LSTM(Embedding(data, input_dim=64, output_dim=8, name="embed"), num_hidden=8,
                   layout="NTC", name="lstm")
    return SoftmaxOutput(FullyConnected(y, num_hidden=64, flatten=False, name="out"), label,
                         preserve_shape=True, name="softmax")
fit(lm, carry=["lstm*"])
)";

/// Gives every input of an entry that is no scalar zeros, and the scalars of a first update.
void fill(Session &session, std::string_view entry) {
  for (const TensorInfo &input : session.inputs(entry)) {
    std::size_t elements = 1;
    for (const std::int64_t extent : input.shape)
      elements *= static_cast<std::size_t>(extent);
    if (input.role == "scalar")
      continue;
    if (input.dtype == DType::F32)
      session.try_fill(entry, {input.name, std::vector<float>(elements)}).value();
    else
      session.try_fill(entry, {input.name, std::vector<std::int32_t>(elements)}).value();
  }
  if (entry == "step")
    session.set_update(0.01, 1);
}

TEST(RunFaults, ValuesOutOfRangeAreRefusedInEveryEntry) {
  struct Case {
    std::string_view net, entry, input;
    std::int32_t value;
  };
  for (const Case &each :
       {Case{kLm, "forward", "data", 64}, Case{kLm, "forward", "data", 5000},
        Case{kLm, "forward", "data", -3}, Case{kLm, "step", "data", 64},
        Case{kLm, "step", "label", 5000}, Case{kLm, "evaluate", "label", -3},
        Case{kClassifier, "forward", "length", 1000}, Case{kClassifier, "forward", "length", -1},
        Case{kClassifier, "step", "label", 77}}) {
    const Package package = compile(Network::parse(each.net));
    Session session = package.session({.threads = 1});
    fill(session, each.entry);
    session.input<std::int32_t>(each.input, each.entry).span()[1] = each.value;
    const std::uint64_t hash = session.weights_hash();
    const Result<void> refused = session.try_run(each.entry);
    ASSERT_FALSE(refused) << each.entry << each.input << each.value;
    EXPECT_EQ(refused.error().code(), "E0604");
    EXPECT_EQ(refused.error().status(), Status::bad_file);
    for (const std::string &part :
         {"input \"" + std::string(each.input) + "\" row ", "found " + std::to_string(each.value)})
      EXPECT_NE(refused.error().message().find(part), std::string_view::npos)
          << refused.error().what();
    EXPECT_EQ(session.weights_hash(), hash);

    std::string told;
    {
      Session clips = package.session(
          {.threads = 1, .check_ranges = false, .log = [&](std::string_view m) { told += m; }});
      fill(clips, each.entry);
      clips.input<std::int32_t>(each.input, each.entry).span()[1] = each.value;
      clips.run(each.entry);
    }
    EXPECT_NE(told.find("W0703]: input \"" + std::string(each.input) + "\": 1 values outside 0 to"),
              std::string::npos)
        << told << each.entry << each.input << each.value;
  }
}

template <std::size_t... Index>
std::vector<Optimizer> allOptimizers(std::index_sequence<Index...>) {
  return {Optimizer(std::in_place_index<Index + 1>)...};
}
std::vector<Optimizer> allOptimizers() {
  return allOptimizers(std::make_index_sequence<std::variant_size_v<Optimizer> - 1>());
}

TEST(RunFaults, AnUpdateNeedsItsInputs) {
  const Network network = Network::parse(kClassifier);
  EXPECT_GE(allOptimizers().size(), 13u);
  for (const Optimizer &optimizer : allOptimizers()) {
    Session session = compile(network, {.optimizer = optimizer}).session({.threads = 1});
    const std::uint64_t hash = session.weights_hash();
    Result<void> refused = session.try_run("step");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().status(), Status::usage);
    EXPECT_EQ(refused.error().message(),
              "step needs data, length, label, learning_rate, update, which were not given");
    EXPECT_EQ(session.weights_hash(), hash);
  }
}

double update(Trainer &trainer, int number) {
  std::vector<std::int32_t> ids(12), next(12);
  for (int i = 0; i < 12; ++i) {
    ids[static_cast<std::size_t>(i)] = (7 * number + i) % 64;
    next[static_cast<std::size_t>(i)] = (7 * number + i + 1) % 64;
  }
  return trainer.update({{"data", ids}, {"label", next}});
}

template <Element T> std::vector<T> copied(Tensor<const T> from) {
  return {from.begin(), from.end()};
}

/// Gives a trainer all that another one has come to, by values in memory.
void carryOver(Trainer &from, Trainer &to) {
  for (const TensorInfo &info : from.session().parameters())
    to.session().set_parameter({info.name, copied(from.session().parameter<float>(info.name))});
  for (const TensorInfo &info : from.session().slots())
    to.session().set_slot({info.name, copied(from.session().slot<float>(info.name))});
  to.session().restore(from.session().state());
  to.set_updates(from.updates());
}

TEST(RunFaults, WhatTrainingKeepsIsReadAndWritten) {
  const Network network = Network::parse(kLm);
  for (const Optimizer &optimizer : allOptimizers()) {
    const std::string devices = optimizer.index() % 2 ? "cpu" : "2xcpu";
    const Package package = compile(network, {.devices = devices, .optimizer = optimizer});
    const SessionOptions alone = {.threads = 1};
    Trainer whole(package, alone), half(package, alone), rest(package, alone);
    for (int i = 0; i < 8; ++i)
      update(whole, i);
    for (int i = 0; i < 4; ++i)
      update(half, i);
    carryOver(half, rest);
    for (int i = 4; i < 8; ++i)
      update(rest, i);
    EXPECT_EQ(rest.updates(), 8);
    EXPECT_EQ(rest.session().weights_hash(), whole.session().weights_hash())
        << optimizer.index() << " of optimizers, on " << devices;
  }
  const Package package = compile(network, {.optimizer = Adam{}});
  Trainer trainer(package);
  EXPECT_EQ(package.slots().size(), 2 * package.parameters().size());
  EXPECT_EQ(trainer.session().slot<float>("out_bias/mean").size(), 64u);
  EXPECT_THROW((void)trainer.session().slot<float>("out_bias/maen"), Error);
  EXPECT_THROW(trainer.session().set_slot({"out_bias/mean", std::vector<float>(3)}), Error);
  EXPECT_THROW(trainer.set_updates(-1), Error);
}

/// Bytes of memory of this process, pages that several sessions map counted once.
std::int64_t resident() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("Pss:"))
      return std::stoll(line.substr(4)) << 10;
  return 0;
}

TEST(RunFaults, ShapesOfOneNetworkShareWeights) {
  const Network network = Network::parse(R"(
N, T = dim("batch", 1), dim("seq", 4)
def lm(data: int32[N, T]):
    x = Embedding(data, input_dim=8192, output_dim=256, name="embed")
    y, h, c = LSTM(x, num_hidden=16, layout="NTC", name="lstm")
    return y
)");
  const Package package = compile(network, {.entries = {"forward"}});
  Session first = package.session({.threads = 1});
  first.run();
  const Weights weights = first.weights(); // 8 MiB
  std::vector<Session> sessions;
  const std::int64_t before = resident();
  for (const std::int64_t steps : {1, 2, 3, 5, 8, 13, 21, 34, 55, 89}) {
    sessions.push_back(
        package.session({.threads = 1, .weights = weights, .dims = {{"seq", steps}}}));
    sessions.back().run();
    EXPECT_EQ(sessions.back().weights_hash(), weights.hash());
  }
  EXPECT_LT(resident() - before, 2 * (8 << 20)); // copies would be 80 MiB
}

} // namespace
} // namespace lstmc
