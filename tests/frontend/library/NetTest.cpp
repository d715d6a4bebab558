// Networks written in C++ are those of the language, and their errors name the program's line.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <lstmc/compile.hpp>

namespace lstmc {
namespace {

using namespace build;

/// What is wrong with a network that has to be refused.
Error refused(Net &net, const Values &outputs) {
  Result<Network> made = net.try_finish(outputs);
  EXPECT_FALSE(made);
  return made ? Error() : made.error();
}

TEST(Net, IsTheNetworkOfTheLanguage) {
  Net net("net");
  auto x = net.data("data", DType::F32, {{5, "seq"}, {2, "batch"}, 8});
  x = lstm(x, {.num_hidden = 4, .num_layers = 2, .bidirectional = true, .p = 0.25, .name = "l"})
          .output;
  x = activation(x, {.act_type = "relu"}) * 2.0 + 1;
  x = concat({x, 1.0 - x}, {.dim = 2});
  const Value picked = x[-1] / x[0];
  const Value more = fullyConnected(picked, {.num_hidden = 3, .no_bias = true, .name = "fc"}) > 0.5;
  const Network built = net.finish({transpose(more, {.axes = {1, 0}})});
  const Network parsed = Network::parse(R"(
T, N = dim("seq", 5), dim("batch", 2)
def net(data: float32[T, N, 8]):
    x, h, c = LSTM(data, num_hidden=4, num_layers=2, bidirectional=True, p=0.25, name="l")
    x = Activation(x, act_type="relu") * 2.0 + 1
    x = Concat(x, 1.0 - x, dim=2)
    y = FullyConnected(x[-1] / x[0], num_hidden=3, no_bias=True, name="fc") > 0.5
    return transpose(y, axes=(1, 0))
)");
  EXPECT_EQ(built.hash(), parsed.hash());
  ASSERT_EQ(built.arguments().size(), parsed.arguments().size());
  EXPECT_EQ(built.arguments()[0].dims, (std::vector<std::string>{"seq", "batch", ""}));
}

TEST(Net, HasAFunctionForEveryOp) {
  std::stringstream ops, records;
  ops << std::ifstream(LSTMC_OPS).rdbuf();
  records << std::ifstream(LSTMC_RECORDS).rdbuf();
  const std::string text = records.str(), key = "\"mxnetName\":\"";
  int found = 0;
  for (size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1)) {
    const size_t begin = at + key.size(), end = text.find('"', begin);
    if (end == begin)
      continue;
    ++found;
    const std::string call = "OpCall(\"" + text.substr(begin, end - begin) + "\",";
    EXPECT_NE(ops.str().find(call), std::string::npos) << call;
  }
  EXPECT_GT(found, 150);
}

TEST(Net, CollectsErrorsAtTheirLines) {
  std::filesystem::current_path(LSTMC_BUILD); // where names of source files begin
  Net net("net");
  const Value x = net.data("data", DType::F32, {2, 3});
  const auto line = std::to_string(__LINE__ + 1);
  const Value sum = x + net.data("other", DType::F32, {2, 4});
  const Value follows = tanh(lstm(sum, {.num_hidden = 4}).h);
  const Value unnamed = dot(x, Value());
  EXPECT_FALSE(sum);
  EXPECT_FALSE(follows);
  const Error error = refused(net, {follows, unnamed});
  EXPECT_EQ(error.code(), "E0207");
  const std::string what = error.what();
  EXPECT_NE(error.place().find("NetTest.cpp:" + line + ":"), std::string::npos) << what;
  EXPECT_NE(what.find("E0203"), std::string::npos) << what;
  EXPECT_NE(what.find("x + net.data(\"other\""), std::string::npos) << what; // the line itself
}

TEST(Net, ValuesKeepTheirNetwork) {
  const Value y = [] {
    Net net("net");
    return tanh(net.data("data", DType::F32, {2, 3}));
  }();
  EXPECT_EQ(y.shape()->at(1), 3);
  EXPECT_TRUE(-y);
}

TEST(Net, ChoicesTakeWordsOfTheProgram) {
  Net net("net");
  const Value x = net.data("data", DType::F32, {2, 3});
  const std::string good = "tanh", bad = "tahn";
  EXPECT_TRUE(activation(x, {.act_type = good}));
  EXPECT_FALSE(activation(x, {.act_type = bad}));
  EXPECT_NE(std::string(refused(net, {x}).what()).find("tahn"), std::string::npos);
}

TEST(Net, ScopesEndWithTheirObjects) {
  Net net("net");
  Value x = net.data("data", DType::F32, {2, 3});
  {
    const Scoped prefix = net.prefix("a");
    x = tanh(x, {.name = "t"});
  }
  x += tanh(x, {.name = "u"});
  EXPECT_EQ(net.finish({x}).outputs().size(), 1u);
}

} // namespace
} // namespace lstmc
