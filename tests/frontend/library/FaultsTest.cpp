// Nothing is silent: every key and option has an effect or is refused at its line, and what is not
// there is an error.
#include <cmath>

#include <gtest/gtest.h>
#include <lstmc/compile.hpp>

namespace lstmc {
namespace {

namespace lb = lstmc::build;
using Setting = std::pair<std::string, std::string>;

Result<Network> wave(const std::vector<Setting> &fit = {}) {
  lb::Net net("wave");
  const auto x = net.data("data", DType::F32, {{8, "batch"}, 6, 1});
  const auto y = net.label("label", DType::F32, {{8, "batch"}, 1});
  const auto last = lb::lstm(x, {.num_hidden = 4, .layout = "NTC", .name = "lstm"}).h[-1];
  for (const auto &[key, value] : fit)
    net.fit(key, value);
  return net.try_finish(
      {lb::linearRegressionOutput(lb::fullyConnected(last, {.num_hidden = 1, .name = "out"}), y)});
}

/// The package, or what was refused, at finish or by the compiler.
Result<std::vector<std::byte>> forecast(const std::vector<Setting> &fit,
                                        const CompileOptions &options = {}) {
  const Result<Network> network = wave(fit);
  if (!network)
    return network.error();
  return try_compile_bytes(*network, options);
}

TEST(Faults, ASettingIsWhatTheOptionIs) {
  const auto plain = forecast({});
  ASSERT_TRUE(plain) << plain.error().what();
  for (const Setting &setting : std::initializer_list<Setting>{{"optimizer", "adam"},
                                                               {"optimizer", "Adam"},
                                                               {"learning_rate", "0.25"},
                                                               {"carry", "lstm*"},
                                                               {"clip_gradient_norm", "5"},
                                                               {"momentum", "0.9"},
                                                               {"num_epoch", "3"},
                                                               {"seed", "7"},
                                                               {"eval_metric", "mse"}}) {
    const auto set = forecast({setting});
    CompileOptions options;
    options.fit = {setting};
    const auto given = forecast({}, options);
    ASSERT_TRUE(set) << set.error().what();
    ASSERT_TRUE(given) << given.error().what();
    EXPECT_NE(*set, *plain) << setting.first;
    EXPECT_EQ(*set, *given) << setting.first;
  }
}

TEST(Faults, AnInitializerIsACallOfTheLanguage) {
  const auto plain = forecast({}), set = forecast({{"initializer", "Xavier(magnitude=2.5)"}}),
             given = forecast({}, {.initializer = Xavier{.magnitude = 2.5}});
  ASSERT_TRUE(set) << set.error().what();
  ASSERT_TRUE(given) << given.error().what();
  EXPECT_NE(*set, *plain);
  EXPECT_EQ(*set, *given);
}

TEST(Faults, SettingsAreRefusedAtTheLineOfTheProgram) {
  const std::pair<Setting, const char *> cases[] = {
      {{"optimizer", "adma"}, "found \"adma\", want one of"},
      {{"optimiser", "adam"}, "fit has no key \"optimiser\"; did you mean"},
      {{"learning_rate", "fast"}, "found \"fast\", want a number from 0"},
      {{"initializer", "Xaver()"}, "Xaver"},
      {{"initializer", "Uniform(scale="}, "initializer Uniform(scale="},
      {{"banana", "Xavier()"}, "fit has no key \"banana\""},
      {{"carry", "gru*"}, "want a pattern of the names of states"},
      {{"beta1", "0.9"}, "optimizer \"sgd\" has no beta1"},
      {{"eval_metric", "acuracy"}, "there is no metric \"acuracy\""}};
  for (const auto &[setting, message] : cases) {
    const auto refused = forecast({setting});
    ASSERT_FALSE(refused) << setting.first;
    EXPECT_EQ(refused.error().code(), "E0214") << refused.error().what();
    EXPECT_NE(std::string(refused.error().what()).find(message), std::string::npos)
        << refused.error().what();
    EXPECT_NE(refused.error().place().find("FaultsTest.cpp:"), std::string_view::npos)
        << refused.error().what();
  }
}

TEST(Faults, OptionsHaveAnEffect) {
  const auto plain = forecast({});
  const std::pair<const char *, CompileOptions> cases[] = {
      {"devices", {.devices = "2xcpu"}},
      {"kvstore", {.devices = "2xcpu", .kvstore = "device"}},
      {"optimizer", {.optimizer = Adam{}}},
      {"a key of it", {.optimizer = Adam{.beta1 = 0.8}}},
      {"clip_gradient_norm", {.clip_gradient_norm = 5}},
      {"carry", {.carry = {"lstm*"}}},
      {"dtype", {.dtype = DType::F64}},
      {"fit", {.fit = {{"momentum", "0.5"}}}},
      {"entries", {.entries = {"forward"}}},
      {"work_load_list", {.devices = "2xcpu", .work_load_list = {1, 3}}},
      {"accumulate", {.accumulate = 2}},
      {"streams", {.streams = 2}},
      {"recompute", {.recompute = "lstm"}},
      {"shards", {.shards = 4}},
      {"check_nan", {.check_nan = true}},
      {"disable_pass", {.disable_pass = {"fuse"}}},
      {"fixed_params", {.fixed_params = {"out*"}}},
      {"gradient_norms", {.gradient_norms = true}}};
  for (const auto &[name, options] : cases) {
    const auto changed = forecast({}, options);
    ASSERT_TRUE(changed) << name << changed.error().what();
    EXPECT_NE(*changed, *plain) << name;
  }
}

TEST(Faults, OptionsThatCannotBeAreRefused) {
  const std::pair<const char *, CompileOptions> cases[] = {
      {".dims is for sources", {.dims = {{"batch", 9}}}},
      {".shapes is for sources", {.shapes = {{"data", {9, 6, 1}}}}},
      {".layouts is for sources", {.layouts = {"data=TNC"}}},
      {".net is for sources", {.net = "other"}},
      {".update_on_kvstore takes auto, 0 or 1, got \"2\"", {.update_on_kvstore = "2"}},
      {".shards takes 1 to", {.shards = 0}},
      {".fast knows tf32", {.fast = {"tf33"}}},
      {"fit has no key \"optimiser\"", {.fit = {{"optimiser", "adam"}}}},
      {"matches no parameter", {.fixed_params = {"gru*"}}}};
  for (const auto &[message, options] : cases) {
    const auto refused = forecast({}, options);
    ASSERT_FALSE(refused) << message;
    EXPECT_EQ(refused.error().status(), Status::usage) << refused.error().what();
    EXPECT_NE(std::string(refused.error().what()).find(message), std::string::npos)
        << refused.error().what();
    EXPECT_NE(refused.error().place().find("FaultsTest.cpp:"), std::string_view::npos)
        << refused.error().what();
  }
  const lstmc_option unknown = {"optimzer", "adam"};
  lstmc_bytes *bytes = nullptr;
  const Result<Network> network = wave();
  EXPECT_EQ(lstmc_network_compile(network->handle(), &unknown, 1, nullptr, &bytes), LSTMC_USAGE);
  EXPECT_NE(std::string(lstmc_compiler_message()).find("did you mean \"optimizer\""),
            std::string::npos)
      << lstmc_compiler_message();
}

TEST(Faults, WhatIsNotThereIsAnErrorAndNoCrash) {
  EXPECT_THROW(lb::tanh(lb::Value()), Error);
  EXPECT_THROW(lb::Value() + 1.0, Error);
  EXPECT_THROW(lb::lstm(lb::Value(), {.num_hidden = 3}), Error);
  EXPECT_THROW(lb::Value()[0], Error);
  EXPECT_EQ(lb::Value().name(), "");
  EXPECT_FALSE(lb::Value().shape());
  EXPECT_THROW(lb::Net("x").finish({}), Error);
  EXPECT_THROW(lb::Net("x").finish({lb::Value()}), Error);
  EXPECT_THROW(Network::parse("def net(x: float32[2]): return x +"), Error);
  EXPECT_THROW(Network::open("nothere.lnet"), Error);
  lb::Net one("one"), two("two");
  const auto a = one.data("a", DType::F32, {2}), b = two.data("b", DType::F32, {2});
  EXPECT_FALSE(a + b);
  EXPECT_THROW(one.finish({a}), Error);
}

TEST(Faults, NumbersThatCannotBeAreRefused) {
  const auto refused = [](auto make) {
    lb::Net net("x");
    const auto a = net.data("a", DType::F32, {2, 3, 4});
    const Result<Network> made = net.try_finish({make(a)});
    return made ? std::string() : std::string(made.error().what());
  };
  for (const lb::LstmOptions &options :
       {lb::LstmOptions{.num_hidden = -4}, lb::LstmOptions{.num_hidden = 4, .num_layers = 0},
        lb::LstmOptions{.num_hidden = 4, .num_layers = 2, .p = 7},
        lb::LstmOptions{.num_hidden = int64_t(1) << 40}})
    EXPECT_NE(refused([&](const lb::Value &a) { return lb::lstm(a, options).output; }), "");
  EXPECT_NE(refused([](const lb::Value &a) { return a[2]; }), "");
}

TEST(Faults, AMemoryThatIsTooSmallHasReasons) {
  const Result<Network> network = wave();
  const Result<Package> package = try_compile(*network, {.memory = 1 << 10});
  ASSERT_FALSE(package);
  EXPECT_EQ(package.error().status(), Status::does_not_fit);
  EXPECT_FALSE(package.error().reasons().empty());
}

} // namespace
} // namespace lstmc
