// The whole text of messages about wrong calls (docs/language.md §5).
#include "TestGraph.h"
#include "frontend/symbol/Layers.h"

namespace lstmc::symbol {
namespace {

Graph &netWithData() {
  static std::unique_ptr<Graph> graph;
  graph = std::make_unique<Graph>("net");
  return *graph;
}

TEST(Message, UnknownOp) {
  Graph &graph = netWithData();
  Call call = callOf("Embeding", {input(graph, "data", {2, 4})});
  call.origin = placeIn("char_lm.lnet", 6, "    x = Embeding(data, input_dim=vocab)", "Embeding");
  EXPECT_EQ(refusal(graph, call),
            "char_lm.lnet:6:9: error[E0201]: no op or function is named \"Embeding\"\n"
            "  6 |     x = Embeding(data, input_dim=vocab)\n"
            "    |         ^~~~~~~~\n"
            "    help: did you mean \"Embedding\"?\n");
}

TEST(Message, WrongArguments) {
  Graph &graph = netWithData();
  Symbol x = input(graph, "data", {2, 4});
  auto say = [&](Call call) { return refusal(graph, call); };
  EXPECT_EQ(say(callOf("FullyConnected", {x}, {{"num_hiden", int64_t(3)}})),
            "error[E0202]: FullyConnected has no attribute \"num_hiden\"\n    help: did you mean "
            "\"num_hidden\"?\n"
            "error[E0203]: FullyConnected needs num_hidden\n");
  EXPECT_EQ(say(callOf("FullyConnected", {x}, {{"num_hidden", std::string("ten")}})),
            "error[E0204]: num_hidden is an integer, got \"ten\"\n");
  EXPECT_EQ(
      say(callOf("Embedding", {x, x, x}, {{"input_dim", int64_t(5)}, {"output_dim", int64_t(5)}})),
      "error[E0205]: Embedding takes 2 inputs, got 3\n");
  EXPECT_EQ(say(callOf("Activation", {x}, {{"act_type", std::string("sigmod")}})),
            "error[E0204]: act_type is one of relu, sigmoid, tanh, softrelu, softsign, "
            "log_sigmoid, mish, "
            "got \"sigmod\"\n"
            "    help: did you mean \"sigmoid\"?\n");
  EXPECT_EQ(say(callOf("Cast", {x}, {{"dtype", std::string("flot32")}})),
            "error[E0204]: dtype is a dtype, got \"flot32\"\n");
  EXPECT_EQ(say(callOf("clip", {x}, {{"a_min", 0.0}})), "error[E0203]: clip needs a_max\n");
  EXPECT_EQ(say(callOf("elemwise_add", {x})), "error[E0203]: elemwise_add needs rhs\n");
  Call twice = callOf("tanh", {x});
  twice.named.emplace_back("data", x);
  EXPECT_EQ(say(twice), "error[E0202]: tanh gets data twice\n");
  Call wrongInput = callOf("tanh", {x});
  wrongInput.named.emplace_back("dta", x);
  EXPECT_EQ(say(wrongInput),
            "error[E0202]: tanh has no input \"dta\"\n    help: did you mean \"data\"?\n");
  Call bias = callOf("FullyConnected", {x}, {{"num_hidden", int64_t(3)}, {"no_bias", true}});
  bias.named.emplace_back("bias", x);
  EXPECT_EQ(say(bias), "error[E0202]: FullyConnected has no bias unless no_bias is False\n");
  EXPECT_EQ(say(callOf("Custom", {x}, {{"op_type", std::string("nce")}})),
            "error[E0213]: op type \"nce\" is Python code\n");
}

/// The tied decoder of docs/language.md §5, with its reasons and both places underlined.
TEST(Message, TiedDecoder) {
  Graph graph("tied");
  const std::string declared = "    w = Variable(\"tied_weight\", shape=(65, 200))";
  VariableOptions options;
  options.shape = {65, 200};
  options.dtype = DType::F32;
  options.shareIsMeant = true;
  Symbol w = *graph.variable("tied_weight", options, placeIn("tied.lnet", 6, declared, "Variable"));
  Symbol x =
      *graph.input("data", DType::F32, Shape({{64, "seq"}, {32, "batch"}, {300, ""}}), Role::Data);
  for (int64_t i = 0; i < 2; ++i) {
    LayerOptions layer;
    layer.origin = placeIn(
        "tied.lnet", 10, "        x, h, c = LSTM(x, num_hidden=256, name=\"lstm%d\" % i)", "LSTM");
    layer.origin.loops = {{"i", i}};
    auto made = lstm(graph, x, 256, "lstm" + std::to_string(i), layer);
    ASSERT_TRUE(made.ok()) << render(made.diagnostics());
    x = made->output;
  }
  const std::string line =
      "    y = FullyConnected(x, weight=w, num_hidden=vocab, flatten=False, name=\"decoder\")";
  Call call =
      callOf("FullyConnected", {x}, {{"num_hidden", int64_t(65)}, {"flatten", false}}, "decoder");
  call.named.emplace_back("weight", w);
  call.origin = placeIn("tied.lnet", 11, line, "FullyConnected");
  call.argumentPlace = [&](std::string_view name) -> std::optional<SourceRange> {
    SourceRange place = placeIn("tied.lnet", 11, line, name == "data" ? "x, weight" : "w, num");
    place.length = 1;
    place.bytes = 1;
    return place;
  };
  EXPECT_EQ(refusal(graph, call),
            "tied.lnet:11:24: error[E0207]: FullyConnected: weight has 200 inputs, data has 256\n"
            " 11 |     y = FullyConnected(x, weight=w, num_hidden=vocab, flatten=False, "
            "name=\"decoder\")\n"
            "    |                        ^         ~\n"
            "    = x is float32[seq=64, batch=32, 256], from LSTM(num_hidden=256) at "
            "tied.lnet:10:19, for i = 1\n"
            "    = w is float32[65, 200], declared at tied.lnet:6:9\n");
}

/// If a third op fixed an extent, the message names that op, not the one that made the value.
TEST(Message, ExplainsAnExtentByWhoFixedIt) {
  Graph graph("net");
  Symbol h = *graph.beginState("h", DType::F32, {kUnknown, 4},
                               placeIn("a.lnet", 2, "h = begin()", "begin"));
  Call add = callOf("elemwise_add", {h, input(graph, "x", {32, 4})});
  add.origin = placeIn("a.lnet", 3, "a = h + x", "+");
  make(graph, add);
  Call bad = callOf("elemwise_mul", {h, input(graph, "y", {16, 4})});
  bad.origin = placeIn("a.lnet", 4, "b = h * y", "*");
  EXPECT_EQ(refusal(graph, bad),
            "a.lnet:4:7: error[E0207]: elemwise_mul: lhs is float32[32, 4], rhs is float32[16, 4]\n"
            "  4 | b = h * y\n"
            "    |       ^\n"
            "    = lhs is float32[32, 4], from elemwise_add at a.lnet:3:7\n"
            "    = rhs is float32[16, 4], declared\n");
}

TEST(Message, TypesDisagree) {
  Graph graph("net");
  EXPECT_EQ(refusal(graph, callOf("Concat", {input(graph, "a", {2, 3}),
                                             input(graph, "b", {2, 3}, DType::I32)})),
            "error[E0208]: Concat: arg0 is float32, arg1 is int32\n"
            "    = arg0 is float32[2, 3], declared\n"
            "    = arg1 is int32[2, 3], declared\n"
            "    help: x.astype(\"float32\") converts a tensor to another type\n");
}

TEST(Message, DeclarationsDisagree) {
  Graph graph("net");
  VariableOptions options;
  options.shape = {4, 9};
  options.dtype = DType::F32;
  ASSERT_TRUE(
      graph.variable("W", options, placeIn("a.lnet", 6, "        Variable(\"W\")", "Variable"))
          .ok());
  options.shape = {4, 8};
  auto second = graph.variable("W", options);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(render(second.diagnostics()),
            "error[E0209]: \"W\" is float32[4, 8] here and float32[4, 9] at a.lnet:6:9\n");
  VariableOptions zero, one;
  zero.init.name = "zero";
  one.init.name = "one";
  ASSERT_TRUE(graph.variable("b", zero).ok());
  EXPECT_EQ(render(graph.variable("b", one).diagnostics()),
            "error[E0209]: \"b\" is One() here and Zero()\n");
}

TEST(Message, Dimensions) {
  Graph graph("net");
  EXPECT_EQ(render(graph.input("x", DType::F32, {0}, Role::Data).diagnostics()),
            "error[E0206]: dimension 0 (write _ for one to infer)\n");
  EXPECT_EQ(refusal(graph, callOf("Reshape", {input(graph, "y", {6})}, {{"shape", Tuple{-1, -1}}})),
            "error[E0206]: Reshape: -1 stands twice in shape\n");
}

TEST(Message, FollowsFromNothing) {
  Graph graph("net");
  Symbol x = *graph.variable("x", shaped({kUnknown, 3}));
  Symbol w = *graph.variable("w", {});
  Symbol y = make(graph, "dot", {w, x});
  EXPECT_EQ(render(graph.finish({y})), "error[E0211]: axis 0 of \"x\" follows from nothing\n"
                                       "error[E0211]: the shape of \"w\" follows from nothing\n");
}

} // namespace
} // namespace lstmc::symbol
