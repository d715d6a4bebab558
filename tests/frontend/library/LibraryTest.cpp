// Every argument of the library's compiler functions has its effect, or is an error at the caller's
// line.
#include <algorithm>
#include <optional>

#include <gtest/gtest.h>

#include "executor/package/Package.h"
#include "frontend/builders/Layers.h"
#include "frontend/builders/Ops.h"
#include "frontend/library/Compiler.h"
#include "frontend/symbol/Render.h"

namespace lstmc {
namespace {

namespace lb = lstmc::build;
using symbol::Setting;

/// A forecast of one value, with these settings of training.
CompiledPackage forecast(const std::vector<Setting> &fit, const CompileOptions &options = {}) {
  lb::Net net("wave");
  auto x = net.data("data", DType::F32, {8, 6, 1});
  auto y = net.label("label", DType::F32, {8, 1});
  auto steps = lb::lstm(x, {.num_hidden = 4, .layout = "NTC", .name = "lstm"}).output;
  auto last = lb::sliceAxis(steps, {.axis = 1, .begin = 5});
  auto out = lb::fullyConnected(last, {.num_hidden = 1, .name = "out"});
  net.graph().setFit(fit);
  EXPECT_TRUE(net.finish({lb::linearRegressionOutput(out, {.label = y})}).empty());
  return compile(net, options);
}

/// The inputs of `step`, as the package names them.
std::vector<std::string> inputsOfStep(const CompiledPackage &bytes) {
  std::vector<std::string> names;
  Result<package::Package::Pointer> opened = package::Package::open(*bytes, "compiled");
  EXPECT_TRUE(opened.ok());
  for (const package::Entry &entry : (*opened)->data().entries)
    if (entry.name == "step")
      for (const package::Binding &input : entry.inputs)
        names.push_back(input.name);
  return names;
}

std::string errorOf(const CompiledPackage &bytes) {
  return bytes.ok() ? "compiles" : symbol::render(bytes.diagnostics());
}

TEST(Library, SetFitIsWhatTheOptionIs) {
  const std::pair<Setting, std::pair<std::string, std::string>> cases[] = {
      {{.key = "optimizer", .value = "adam"}, {"optimizer", "adam"}},
      {{.key = "optimizer", .value = std::string("Adam")}, {"optimizer", "adam"}},
      {{.key = "learning_rate", .value = 0.25}, {"learning_rate", "0.25"}},
      {{.key = "carry", .value = "lstm*"}, {"carry", "lstm*"}},
      {{.key = "clip_gradient_norm", .value = 5.0}, {"clip_gradient_norm", "5"}},
      {{.key = "momentum", .value = 0.9}, {"momentum", "0.9"}},
      {{.key = "num_epoch", .value = int64_t(3)}, {"num_epoch", "3"}},
      {{.key = "seed", .value = int64_t(7)}, {"seed", "7"}},
      {{.key = "eval_metric", .value = "mse"}, {"eval_metric", "mse"}}};
  const CompiledPackage plain = forecast({});
  ASSERT_TRUE(plain.ok()) << errorOf(plain);
  for (const auto &[setting, flag] : cases) {
    const CompiledPackage set = forecast({setting});
    const CompiledPackage flagged = forecast({}, {.fit = {flag}});
    ASSERT_TRUE(set.ok()) << flag.first << errorOf(set);
    ASSERT_TRUE(flagged.ok()) << flag.first << errorOf(flagged);
    EXPECT_NE(*set, *plain) << flag.first;
    EXPECT_EQ(*set, *flagged) << flag.first;
  }
  const std::vector<std::string> inputs =
      inputsOfStep(forecast({{.key = "optimizer", .value = "adam"}}));
  EXPECT_NE(std::ranges::find(inputs, "learning_rate"), inputs.end());
}

TEST(Library, SetFitTakesInitialisersByNameAndWithArguments) {
  const CompiledPackage plain = forecast({}),
                        named = forecast({{.key = "initializer", .value = "xavier"}}),
                        whole = forecast({{.key = "initializer",
                                           .value = "xavier",
                                           .initialiser = symbol::Initialiser{.name = "xavier"}}});
  ASSERT_TRUE(named.ok()) << errorOf(named);
  EXPECT_NE(*named, *plain);
  EXPECT_EQ(*named, *whole);
}

TEST(Library, SetFitRefusesAtTheLineOfTheProgram) {
  const std::pair<Setting, std::string> cases[] = {
      {{.key = "optimizer", .value = "adma"}, "found \"adma\", want one of"},
      {{.key = "optimiser", .value = "adam"}, "fit has no key \"optimiser\"; did you mean"},
      {{.key = "learning_rate", .value = "fast"}, "found \"fast\", want a number from 0"},
      {{.key = "initializer", .value = "xaver"}, "there is no initialiser \"xaver\""},
      {{.key = "initializer", .value = 0.1}, "the value of initializer is the name of one"},
      {{.key = "banana", .value = "xavier", .initialiser = symbol::Initialiser{.name = "xavier"}},
       "fit has no key \"banana\""},
      {{.key = "carry", .value = "gru*"}, "want a pattern of the names of states"},
      {{.key = "beta1", .value = 0.9}, "optimizer \"sgd\" has no beta1"},
      {{.key = "eval_metric", .value = "acuracy"}, "there is no metric \"acuracy\""}};
  for (const auto &[setting, message] : cases) {
    const CompiledPackage refused = forecast({setting});
    ASSERT_FALSE(refused.ok()) << setting.key;
    const Diagnostic &error = refused.diagnostics().front();
    EXPECT_EQ(error.code, ErrorCode::E0214) << errorOf(refused);
    EXPECT_NE(errorOf(refused).find(message), std::string::npos) << errorOf(refused);
    EXPECT_NE(error.place.file.find("LibraryTest.cpp"), std::string::npos) << errorOf(refused);
    EXPECT_GT(error.place.line, 0);
  }
}

TEST(Library, SetDataRefusesUnknownKeys) {
  lb::Net net("twice");
  auto x = net.data("data", DType::F32, {2, 3});
  net.graph().setData({{.key = "trian", .value = "csv:x.csv"}});
  ASSERT_TRUE(net.finish({x * 2.0}).empty());
  EXPECT_NE(errorOf(compile(net)).find("data has no key \"trian\""), std::string::npos);
}

TEST(Library, OptionsHaveAnEffect) {
  const CompiledPackage plain = forecast({});
  const std::pair<const char *, CompileOptions> cases[] = {
      {"devices", {.devices = "2xcpu"}},
      {"workLoadList", {.devices = "2xcpu", .workLoadList = {1, 3}}},
      {"kvStore", {.devices = "2xcpu", .kvStore = "device"}},
      {"accumulate", {.accumulate = 2}},
      {"streams", {.streams = 2}},
      {"recompute", {.recompute = "lstm"}},
      {"dtype", {.dtype = DType::F64}},
      {"shards", {.shards = 4}},
      {"checkNan", {.checkNan = true}},
      {"optimizer", {.optimizer = "adam"}},
      {"lr", {.lr = 0.5}},
      {"fit", {.fit = {{"momentum", "0.5"}}}},
      {"entry", {.entry = {"forward"}}},
      {"disablePass", {.disablePass = {"fuse"}}},
      {"fixedParams", {.fixedParams = {"out*"}}},
      {"gradientNorms", {.gradientNorms = true}}};
  for (const auto &[name, options] : cases) {
    const CompiledPackage changed = forecast({}, options);
    ASSERT_TRUE(changed.ok()) << name << errorOf(changed);
    EXPECT_NE(*changed, *plain) << name;
  }
}

TEST(Library, OptionsThatCannotBeAreRefusedAsTheFlagIs) {
  const std::pair<std::string, CompileOptions> cases[] = {
      {"--batch is for files", {.batch = 9}},
      {"--shape is for files", {.shape = {{"data", {9, 6, 1}}}}},
      {"--set is for files", {.set = {{"seq", "3"}}}},
      {"--net is for files", {.net = "other"}},
      {"there is no optimizer \"adma\"; there are adam, ", {.optimizer = "adma"}},
      {"--update-on-kvstore takes auto, 0 or 1, got \"2\"", {.updateOnKvstore = "2"}},
      {"--shards takes 1 to", {.shards = 0}},
      {"--mem takes bytes", {.mem = -1}},
      {"--fast knows tf32", {.fast = {"tf33"}}},
      {"matches no parameter", {.fixedParams = {"gru*"}}}};
  for (const auto &[message, options] : cases) {
    const CompiledPackage refused = forecast({}, options);
    ASSERT_FALSE(refused.ok()) << message;
    EXPECT_EQ(refused.diagnostics().front().code, ErrorCode::E0001) << errorOf(refused);
    EXPECT_NE(errorOf(refused).find(message), std::string::npos) << errorOf(refused);
  }
}

TEST(Library, WhatIsNotThereIsAnErrorAndNoCrash) {
  const CompiledPackage failed = compile(lb::Net("unfinished"));
  ASSERT_FALSE(failed.ok());
  EXPECT_THROW((void)*failed, std::logic_error);
  EXPECT_THROW((void)failed->size(), std::logic_error);

  lb::Net none{lb::Value()};
  EXPECT_FALSE(none);
  EXPECT_FALSE(none.data("a", DType::F32, {2}));
  EXPECT_TRUE(none.apply({.op = "tanh"}).empty());
  EXPECT_EQ(none.finish({}).size(), 1u);
  EXPECT_FALSE(compile(none).ok());
  EXPECT_FALSE(lb::tanh(lb::Value()));
  EXPECT_FALSE(lb::Value() + 1.0);
  EXPECT_FALSE(lb::lstm(lb::Value(), {.num_hidden = 3}).output);
}

TEST(Library, ASymbolOfANetThatIsGoneIsNone) {
  symbol::Symbol gone;
  {
    lb::Net net("short");
    gone = net.data("a", DType::F32, {2}).symbol();
    EXPECT_EQ(gone.name(), "a");
  }
  lb::Net next("next"); // has the slot of the first one
  auto x = next.data("b", DType::F32, {2});
  EXPECT_FALSE(gone);
  EXPECT_EQ(gone.name(), "");
  EXPECT_FALSE(gone.shape().ranked);
  EXPECT_EQ(gone.dtype(), std::nullopt);
  EXPECT_TRUE(next.apply({.op = "tanh", .positional = {gone}}).empty());
  EXPECT_EQ(next.finish({x}).size(), 1u);
}

} // namespace
} // namespace lstmc
