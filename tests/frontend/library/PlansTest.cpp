// Sessions with other extents of one network: their plan is made at first use and kept.
#include <atomic>
#include <thread>

#include <gtest/gtest.h>
#include <lstmc/compile.hpp>

namespace lstmc {
namespace {

constexpr std::string_view kClassifier = R"(
N, T, K = dim("batch", 4), dim("seq", 6), setting("classes", 3)
def classifier(data: float32[N, T, 2], length: int32[N], label: int32[N]):
    y, h, c = LSTM(data, num_hidden=5, length=length, layout="NTC", name="lstm")
    return SoftmaxOutput(FullyConnected(h[-1], num_hidden=K, name="out"), label, name="softmax")
)";

std::vector<float> outputOf(Session session) {
  const TensorInfo data = session.inputs()[0];
  std::vector<float> x(static_cast<std::size_t>(data.shape[0] * data.shape[1] * 2));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = 0.1f * static_cast<float>(i);
  session.run({{"data", x}, {"length", std::vector<std::int32_t>(std::size_t(data.shape[0]), 2)}});
  const auto y = session.output<float>("softmax_output");
  return {y.begin(), y.end()};
}

Error refused(const Package &package, const Dims &dims) {
  const Result<Session> session = package.try_session({.dims = dims});
  EXPECT_FALSE(session);
  return session ? Error::make(Status::ok, "", {"none"}) : session.error();
}

/// Compiles a text and counts how often.
struct Counting final : Planner {
  Network network;
  mutable std::atomic<int> calls = 0;
  explicit Counting(std::string_view text) : network(Network::parse(text)) {}
  Result<std::vector<std::byte>> plan(const Dims &dims) const override {
    ++calls;
    return try_compile_bytes(network, {.dims = dims, .entries = {"forward"}});
  }
};

TEST(Plans, OtherExtentsAreThoseOfACompilationOfTheirOwn) {
  const Network network = Network::parse(kClassifier);
  const Package package = compile(network, {.entries = {"forward"}});
  Session four = package.session();
  Session one = package.session({.weights = four.weights(), .dims = {{"seq", 3}, {"batch", 1}}});
  EXPECT_EQ(one.inputs()[0].shape, (std::vector<std::int64_t>{1, 3, 2}));
  EXPECT_EQ(one.weights_hash(), four.weights_hash());
  const Package own =
      compile(network, {.dims = {{"batch", 1}, {"seq", 3}}, .entries = {"forward"}});
  EXPECT_EQ(outputOf(std::move(one)), outputOf(own.session()));
  EXPECT_EQ(package.inputs()[0].shape, (std::vector<std::int64_t>{4, 6, 2}));
  // What is not asked for is as it was compiled, whatever was asked for before.
  EXPECT_EQ(package.session({.dims = {{"seq", 3}}}).inputs()[0].shape[0], 4);
}

TEST(Plans, AreMadeOnceAndKept) {
  const auto planner = std::make_shared<const Counting>(kClassifier);
  const Result<Package> package = Package::try_read(*planner->plan({{"batch", 2}}), planner);
  ASSERT_TRUE(package) << package.error().what();
  EXPECT_EQ(package->session({.dims = {{"batch", 2}}}).inputs()[0].shape[0], 2);
  EXPECT_EQ(planner->calls, 1); // of the package itself
  EXPECT_EQ(package->session({.dims = {{"batch", 3}}}).inputs()[0].shape[0], 3);
  const Package copy = *package;
  EXPECT_EQ(copy.session({.dims = {{"batch", 3}}}).inputs()[0].shape[0], 3);
  EXPECT_EQ(planner->calls, 2);
}

TEST(Plans, AreMadeByAnyThread) {
  const Package package = compile(Network::parse(kClassifier), {.entries = {"forward"}});
  const Weights weights = package.session().weights();
  std::vector<std::vector<float>> found(4);
  {
    std::vector<std::jthread> threads;
    for (std::vector<float> &to : found)
      threads.emplace_back([&] {
        to = outputOf(package.session({.threads = 1, .weights = weights, .dims = {{"batch", 2}}}));
      });
  }
  EXPECT_EQ(found[0].size(), 6u);
  for (const std::vector<float> &each : found)
    EXPECT_EQ(each, found[0]);
}

TEST(Plans, ATrainerTakesThem) {
  const Package package = compile(Network::parse(kClassifier), {.optimizer = Adam{}});
  Trainer trainer(package, {.dims = {{"batch", 2}}});
  EXPECT_GT(trainer.update({{"data", std::vector<float>(2 * 6 * 2, 0.5f)},
                            {"length", std::vector<std::int32_t>{6, 3}},
                            {"label", std::vector<std::int32_t>{0, 2}}}),
            0);
}

TEST(Plans, WhatCannotBeIsRefused) {
  const Package package = compile(Network::parse(kClassifier), {.entries = {"forward"}});
  EXPECT_NE(refused(package, {{"bach", 2}}).message().find("did you mean \"batch\"?"),
            std::string_view::npos);
  EXPECT_EQ(refused(package, {{"batch", 0}}).status(), Status::usage);
  EXPECT_EQ(refused(package, {{"batch", std::int64_t(1) << 50}}).status(), Status::does_not_fit)
      << refused(package, {{"batch", std::int64_t(1) << 50}}).what();

  build::Net net("built");
  const auto x = net.data("data", DType::F32, {{4, "batch"}, 3});
  const Package built =
      compile(net.finish({build::fullyConnected(x, {.num_hidden = 2})}), {.entries = {"forward"}});
  const Error error = refused(built, {{"batch", 2}});
  EXPECT_NE(error.message().find(".dims is for sources"), std::string_view::npos) << error.what();
  EXPECT_NE(error.place().find("PlansTest.cpp:"), std::string_view::npos) << error.what();

  std::string other(kClassifier);
  other.replace(other.find("num_hidden=5"), 12, "num_hidden=7");
  const auto planner = std::make_shared<const Counting>(other);
  const Package mixed = *Package::try_read(
      compile_bytes(Network::parse(kClassifier), {.entries = {"forward"}}), planner);
  EXPECT_NE(refused(mixed, {{"batch", 2}}).message().find("the plan is of another network"),
            std::string_view::npos)
      << refused(mixed, {{"batch", 2}}).what();
}

} // namespace
} // namespace lstmc
