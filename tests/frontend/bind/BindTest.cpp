#include "frontend/bind/Bind.h"

#include <gtest/gtest.h>

#include "frontend/symbol/Layers.h"
#include "frontend/symbol/Render.h"

namespace lstmc::symbol {
namespace {

Symbol check(Checked<Symbol> made) { return *made; }

/// Two layers in groups "low" and "top", and a regression.
std::unique_ptr<Graph> makeNet() {
  auto net = std::make_unique<Graph>("net");
  Shape rows({{6, ""}, {8, "batch"}, {5, ""}});
  Symbol x = check(net->input("data", DType::F32, rows, Role::Data));
  Symbol label = check(net->input("label", DType::F32, rows, Role::Label));
  for (const char *group : {"low", "top"}) {
    net->push({Scope::Kind::ContextGroup, group});
    x = lstm(*net, x, 5, std::string("lstm_") + group)->output;
    net->pop();
  }
  Call loss;
  loss.op = "LinearRegressionOutput";
  loss.positional = {x, label};
  Symbol output = net->apply(loss)->front();
  EXPECT_TRUE(net->finish({output}).empty());
  return net;
}

uint64_t train(Session &session) {
  session.setScalar("learning_rate", 0.1);
  for (int64_t update = 1; update <= 3; ++update) {
    for (const char *name : {"data", "label"}) {
      Tensor input = *session.input("step", name);
      for (int64_t i = 0; i < input.elements(); ++i)
        input.as<float>()[i] = float((i * 7 + update) % 11) / 11;
    }
    session.setScalar("update", update);
    EXPECT_TRUE(session.run("step").ok());
  }
  return session.weightsHash();
}

uint64_t trainOn(const BindOptions &options) {
  std::unique_ptr<Graph> net = makeNet();
  auto session = bind(*net, options);
  if (!session.ok()) {
    ADD_FAILURE() << render(session.diagnostics());
    return 0;
  }
  return train(**session);
}

TEST(Bind, TrainsAlikeOnWhateverContexts) {
  const uint64_t one = trainOn({});
  EXPECT_NE(one, 0u);
  EXPECT_EQ(trainOn({.contexts = {"cpu:0", "cpu:1"}}), one);
  EXPECT_EQ(trainOn({.contexts = {"cpu:0", "cpu:1"}, .workLoads = {3, 1}}), one);
  const std::map<std::string, std::string> groups = {{"low", "cpu:0"}, {"top", "cpu:1"}};
  EXPECT_EQ(trainOn({.contexts = {"cpu:0", "cpu:1"}, .groupToContext = groups}), one);
  EXPECT_EQ(trainOn({.contexts = {"cpu:0", "cpu:1", "cpu:2", "cpu:3"},
                     .groupToContext = groups,
                     .threads = 2}),
            one);
}

TEST(Bind, PutsGroupsWhereTheyAreSaidToBe) {
  std::unique_ptr<Graph> net = makeNet();
  auto session = bind(*net, {.contexts = {"cpu:0", "cpu:1"},
                             .groupToContext = {{"low", "cpu:1"}, {"top", "cpu:0"}}});
  ASSERT_TRUE(session.ok());
  const package::PackageData &data = (*session)->package().data();
  for (const package::Parameter &parameter : data.parameters) {
    ASSERT_EQ(parameter.buffers.size(), 1u);
    EXPECT_EQ(data.buffers[parameter.buffers[0]].device,
              parameter.name.find("low") != std::string::npos ? 1u : 0u)
        << parameter.name;
  }
}

std::string refusal(const BindOptions &options) {
  std::unique_ptr<Graph> net = makeNet();
  auto session = bind(*net, options);
  return session.ok() ? "" : session.diagnostics().front().message;
}

TEST(Bind, SaysWhatIsWrong) {
  EXPECT_EQ(refusal({.groupToContext = {{"low", "cpu:1"}}}),
            "group \"low\" is on cpu:1, which is not among the contexts, cpu:0");
  EXPECT_EQ(refusal({.contexts = {"cpu:0", "cpu:1"}, .groupToContext = {{"middle", "cpu:1"}}}),
            "no op is in ctx_group \"middle\", which is to be placed");
  EXPECT_EQ(refusal({.contexts = {"cpu:0", "cpu:1", "cpu:2"},
                     .groupToContext = {{"low", "cpu:0"}, {"top", "cpu:1"}}}),
            "3 devices cannot be replicas of 2 devices each");
}

} // namespace
} // namespace lstmc::symbol
