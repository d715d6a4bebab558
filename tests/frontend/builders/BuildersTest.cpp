// Typed functions build the same networks as generic calls, and their errors name the program's
// line.
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "frontend/builders/Layers.h"
#include "frontend/builders/Ops.h"
#include "frontend/symbol/Layers.h"
#include "frontend/symbol/Render.h"

namespace lstmc::build {
namespace {

using symbol::Call;

/// The line of a message at this file.
std::string at(int line, int column) {
  return std::string(__FILE__) + ":" + std::to_string(line) + ":" + std::to_string(column) + ": ";
}

symbol::Symbol generic(symbol::Graph &graph, std::string op, std::vector<symbol::Symbol> inputs,
                       std::vector<symbol::NamedAttribute> attributes, std::string name = {}) {
  Call call;
  call.op = std::move(op);
  call.positional = std::move(inputs);
  call.attributes = std::move(attributes);
  call.name = std::move(name);
  auto made = graph.apply(call);
  EXPECT_TRUE(made.ok()) << symbol::render(made.diagnostics());
  return made->front();
}

TEST(Builders, MakeTheNodesOfGenericCalls) {
  Net net("net");
  Value x = net.data("data", DType::F32, {5, 2, 8});
  Value y = lstm(x, {.num_hidden = 4, .num_layers = 2, .bidirectional = true, .p = 0.25}).output;
  y = activation(y, {.act_type = "relu"}) * 2.0 + 1;
  y = concat({y, 1.0 - y}, {.dim = 2});
  y = fullyConnected(y, {.num_hidden = 3, .no_bias = true, .flatten = false, .name = "fc"});
  y = transpose(slice(y, {.begin = {0, std::nullopt}, .end = {4, 1}}), {.axes = {2, 0, 1}});
  ASSERT_TRUE(net.finish({softmaxOutput(y, {.normalization = "batch", .name = "out"})}).empty());

  symbol::Graph graph("net");
  symbol::Symbol data = *graph.input("data", DType::F32, {5, 2, 8}, symbol::Role::Data);
  symbol::LayerOptions options;
  options.layers = 2;
  options.bidirectional = true;
  options.dropout = 0.25;
  symbol::Symbol z = symbol::lstm(graph, data, 4, "lstm0", options)->output;
  z = generic(graph, "Activation", {z}, {{"act_type", std::string("relu")}});
  z = generic(graph, "_mul_scalar", {z}, {{"scalar", 2.0}});
  z = generic(graph, "_plus_scalar", {z}, {{"scalar", 1.0}});
  symbol::Symbol other = generic(graph, "_rminus_scalar", {z}, {{"scalar", 1.0}});
  z = generic(graph, "Concat", {z, other}, {{"dim", int64_t(2)}});
  z = generic(graph, "FullyConnected", {z},
              {{"num_hidden", int64_t(3)}, {"no_bias", true}, {"flatten", false}}, "fc");
  z = generic(graph, "slice", {z},
              {{"begin", symbol::Tuple{0, std::nullopt}}, {"end", symbol::Tuple{4, 1}}});
  z = generic(graph, "transpose", {z}, {{"axes", symbol::Tuple{2, 0, 1}}});
  z = generic(graph, "SoftmaxOutput", {z}, {{"normalization", std::string("batch")}}, "out");
  ASSERT_TRUE(graph.finish({z}).empty());
  EXPECT_EQ(net.graph().text(), graph.text());
}

/// The op records are the reference: an op without a builder would be missing in the text.
TEST(Builders, AreThereForEveryOp) {
  std::ifstream file(LSTMC_BUILDERS);
  std::stringstream text;
  text << file.rdbuf();
  for (const symbol::OpSignature &op : symbol::allOps()) {
    const size_t call = text.str().find("OpCall(\"" + op.name + "\",");
    ASSERT_NE(call, std::string::npos) << op.name;
    const std::string body = text.str().substr(call, text.str().find(";", call) - call);
    for (const symbol::OpInput &input : op.inputs)
      EXPECT_NE(body.find(".input(\"" + input.name + "\""), std::string::npos) << op.name;
    for (const symbol::OpAttribute &attribute : op.attributes)
      if (attribute.name != "ctx" && attribute.name != "output_mean_var") {
        EXPECT_NE(body.find(".attribute(\"" + attribute.name + "\""), std::string::npos) << op.name;
      }
  }
}

TEST(Builders, CollectErrorsAtTheirLines) {
  Net net("net");
  Value x = net.data("data", DType::F32, {2, 3});
  const int line = __LINE__ + 1;
  Value sum = x + net.data("other", DType::F32, {2, 4});
  Value follows = tanh(lstm(sum, {.num_hidden = 4}).h);
  Value unnamed = dot(x, Value());
  EXPECT_FALSE(sum);
  EXPECT_FALSE(follows);
  const Diagnostics errors = net.finish({follows, unnamed});
  ASSERT_EQ(errors.size(), 2u) << symbol::render(errors);
  EXPECT_EQ(errors[0].code, ErrorCode::E0207);
  EXPECT_EQ(errors[1].code, ErrorCode::E0203);
  // The column of a call is chosen by the C++ compiler.
  EXPECT_EQ(symbol::render(errors).rfind(at(line, errors[0].place.column), 0), 0u)
      << symbol::render(errors);
  EXPECT_EQ(errors[1].place.line, line + 2);
}

TEST(Builders, RefuseAnOutputThatIsNone) {
  Net net("net");
  EXPECT_EQ(symbol::render(net.finish({Value()})),
            "error[E0203]: output 1 of the net \"net\" is no value\n");
  EXPECT_FALSE(net.isFinished());
}

TEST(Builders, ValuesKeepTheirGraph) {
  Value y = [] {
    Net net("net");
    return tanh(net.data("data", DType::F32, {2, 3}));
  }();
  EXPECT_EQ(y.shape().dims[1].extent, 3);
  Net again(y);
  ASSERT_TRUE(again.finish({-y}).empty());
  EXPECT_EQ(again.graph().listArguments(), std::vector<std::string>{"data"});
}

TEST(Builders, StretchWhereAnExtentIsOne) {
  Net net("net");
  Value x = net.data("data", DType::F32, {2, 3});
  Value y = (x - net.parameter("p", {.shape = {1, 3}})) / (x * x);
  ASSERT_TRUE(net.finish({y}).empty()) << symbol::render(net.errors());
  EXPECT_NE(net.graph().text().find("sym.broadcast_sub"), std::string::npos);
  EXPECT_NE(net.graph().text().find("sym.elemwise_div"), std::string::npos);
}

TEST(Builders, LeaveScopesAtTheirEnd) {
  Net net("net");
  Value x = net.data("data", DType::F32, {2, 3});
  {
    const Scoped group = net.group("first");
    const Scoped prefix = net.prefix("a");
    x = tanh(x, {.name = "t"});
  }
  Value y = tanh(x, {.name = "u"});
  EXPECT_EQ(x.name(), "a_t");
  EXPECT_EQ(y.name(), "u");
  ASSERT_TRUE(net.finish({y}).empty());
  const std::string text = net.graph().text();
  EXPECT_EQ(text.find("first"), text.rfind("first")) << text;
}

} // namespace
} // namespace lstmc::build
