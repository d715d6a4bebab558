// Names, lists, and what a graph stores of its calls.
#include "TestGraph.h"

namespace lstmc::symbol {
namespace {

TEST(Graph, NamesCallsAsMxnetDoes) {
  Graph graph("net");
  Symbol x = input(graph, "data", {2, 4});
  Symbol a = make(graph, "FullyConnected", {x}, {{"num_hidden", int64_t(3)}});
  Symbol b = make(graph, "FullyConnected", {a}, {{"num_hidden", int64_t(3)}});
  Symbol c = make(graph, "Activation", {b}, {{"act_type", std::string("relu")}});
  EXPECT_EQ(a.name(), "fullyconnected0");
  EXPECT_EQ(b.name(), "fullyconnected1");
  EXPECT_EQ(c.name(), "activation0");
  ASSERT_TRUE(graph.finish({c}).empty());
  EXPECT_EQ(graph.listArguments(), (Names{"data", "fullyconnected0_weight", "fullyconnected0_bias",
                                          "fullyconnected1_weight", "fullyconnected1_bias"}));
  EXPECT_EQ(graph.listOutputs(), Names{"activation0_output"});
}

TEST(Graph, CountsPerNetAndOp) {
  Graph first("a"), second("b");
  EXPECT_EQ(make(first, "tanh", {input(first, "x", {2})}).name(), "tanh0");
  EXPECT_EQ(make(second, "tanh", {input(second, "x", {2})}).name(), "tanh0");
}

TEST(Graph, ARefusedCallLeavesTheGraphAsItWas) {
  Graph graph("net");
  Symbol x = input(graph, "data", {2, 4});
  Symbol w = *graph.variable("w", shaped({3, 5}));
  int64_t before = graph.nodeCount();
  Call call = callOf("FullyConnected", {x, w}, {{"num_hidden", int64_t(3)}});
  EXPECT_FALSE(graph.apply(call).ok());
  EXPECT_EQ(graph.nodeCount(), before);
  EXPECT_EQ(make(graph, "FullyConnected", {x}, {{"num_hidden", int64_t(3)}}).name(),
            "fullyconnected0");
  EXPECT_EQ(graph.text().find("tensor<3x4xf32>") != std::string::npos, true) << graph.text();
}

TEST(Graph, AlignsOperandsOfDifferentRankAtTheLastAxis) {
  Graph graph("net");
  Symbol x = input(graph, "data", {8, 13, 16});
  Symbol b = *graph.variable("b", shaped({16}));
  Symbol sum = make(graph, "broadcast_add", {b, x}, {}, "sum");
  EXPECT_EQ(extents(sum), (Extents{8, 13, 16}));
  EXPECT_NE(graph.text().find("\"sum_lhs_axis1\""), std::string::npos) << graph.text();
  EXPECT_EQ(make(graph, "broadcast_mul", {x, x}).name(), "broadcast_mul0");
  // A refused call takes its axes back.
  const int64_t before = graph.nodeCount();
  Symbol odd = *graph.variable("odd", shaped({12, 16}));
  EXPECT_NE(refusal(graph, callOf("broadcast_add", {x, odd})).find("E0207"), std::string::npos);
  EXPECT_NE(refusal(graph, callOf("elemwise_add", {x, b})).find("E0207"), std::string::npos);
  EXPECT_EQ(graph.nodeCount(), before + 1);
}

TEST(Graph, NumbersOutputsWhereThereAreSeveral) {
  Graph graph("net");
  Symbol x = input(graph, "data", {2, 4});
  auto parts = *graph.apply(callOf("SliceChannel", {x}, {{"num_outputs", int64_t(2)}}, "part"));
  ASSERT_EQ(parts.size(), 2u);
  ASSERT_TRUE(graph.finish({parts[1], parts[0]}).empty());
  EXPECT_EQ(graph.listOutputs(), (Names{"part_output1", "part_output0"}));
}

TEST(Graph, HidesWhatBackwardAloneNeeds) {
  Graph graph("net");
  auto made = *graph.apply(callOf("LayerNorm", {input(graph, "data", {2, 4})}, {}, "norm"));
  EXPECT_EQ(made.size(), 1u);
  ASSERT_TRUE(graph.finish(made).empty());
  EXPECT_EQ(graph.listArguments(), (Names{"data", "norm_gamma", "norm_beta"}));
  EXPECT_EQ(graph.listOutputs(), Names{"norm_output"});
}

TEST(Graph, PutsScopesOnNodes) {
  Graph graph("net");
  Symbol x = input(graph, "data", {2, 4});
  graph.push({Scope::Kind::ContextGroup, "outer"});
  graph.push({Scope::Kind::NameScope, "enc"});
  graph.push({Scope::Kind::ContextGroup, "inner"});
  Symbol y = make(graph, "FullyConnected", {x}, {{"num_hidden", int64_t(3)}}, "fc");
  graph.pop();
  graph.pop();
  graph.pop();
  EXPECT_EQ(y.name(), "enc_fc");
  ASSERT_TRUE(graph.finish({y}).empty());
  EXPECT_EQ(graph.listArguments(), (Names{"data", "enc_fc_weight", "enc_fc_bias"}));
  EXPECT_NE(graph.text().find("sym.group = \"inner\""), std::string::npos) << graph.text();
}

TEST(Graph, MakesLabelsAsInputs) {
  Graph graph("net");
  Symbol y = make(graph, "SoftmaxOutput", {input(graph, "data", {2, 4})}, {}, "softmax");
  ASSERT_TRUE(graph.finish({y}).empty());
  EXPECT_EQ(graph.listArguments(), (Names{"data", "softmax_label"}));
  EXPECT_EQ(graph.listOutputs(), Names{"softmax_output"});
}

TEST(Graph, OneNameIsOneParameter) {
  Graph graph("net");
  Symbol w = *graph.variable("w", {});
  Symbol again = *graph.variable("w", shaped({3, kUnknown}));
  EXPECT_EQ(w, again);
  EXPECT_EQ(extents(w), (Extents{3, kUnknown}));
}

TEST(Graph, WarnsOfAParameterThatTwoCallsShareByChance) {
  Graph graph("net");
  Symbol x = input(graph, "data", {2, 3});
  make(graph, "FullyConnected", {x}, {{"num_hidden", int64_t(3)}}, "fc");
  auto second = graph.apply(callOf("FullyConnected", {x}, {{"num_hidden", int64_t(3)}}, "fc"));
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(render(second.diagnostics()), "warning[W0209]: \"fc_weight\" is shared with the call\n"
                                          "warning[W0209]: \"fc_bias\" is shared with the call\n");
}

/// As in MXNet; a package needs each name once.
TEST(Graph, GivesOutputsOfOneNameNumbers) {
  Graph graph("net");
  Symbol x = input(graph, "data", {2, 3});
  Symbol a = make(graph, "tanh", {x}, {}, "a"), b = make(graph, "sigmoid", {x}, {}, "a");
  ASSERT_TRUE(graph.finish({a, a, b, x, x}).empty());
  EXPECT_EQ(graph.listOutputs(), (Names{"a_output", "a_output", "a_output", "data", "data"}));
  EXPECT_EQ(graph.outputNames(), (Names{"a_output", "a_output_1", "a_output_2", "data", "data_1"}));
  Graph other("net");
  x = input(other, "a_output_1", {2, 3});
  a = make(other, "tanh", {x}, {}, "a");
  ASSERT_TRUE(other.finish({a, a, x}).empty());
  EXPECT_EQ(other.outputNames(), (Names{"a_output", "a_output_2", "a_output_1"}));
}

TEST(Graph, RefusesNamesWithControlCharacters) {
  Graph graph("net");
  Symbol x = input(graph, "data", {2, 3});
  EXPECT_EQ(refusal(graph, callOf("tanh", {x}, {}, "a\nb")),
            "error[E0204]: a name is UTF-8 without control characters, got \"a\\nb\"\n");
  EXPECT_FALSE(graph.variable("w\x07", {}).ok());
  graph.push({Scope::Kind::ContextGroup, "g\xff"});
  EXPECT_EQ(refusal(graph, callOf("tanh", {x}, {}, "a")),
            "error[E0204]: the name of a scope is UTF-8 without control characters, got "
            "\"g\\xff\"\n");
}

/// Each change of a function's lists makes new ones, which are kept: 2 * 10^4 inputs and outputs
/// one by one took 5 GiB.
TEST(Graph, TakesManyInputsAndOutputs) {
  Graph graph("net");
  std::vector<Symbol> outputs;
  for (int i = 0; i < 20000; ++i)
    outputs.push_back(input(graph, "x" + std::to_string(i), {2}));
  for (int i = 0; i < 20000; ++i)
    outputs.push_back(outputs[size_t(i)]);
  ASSERT_TRUE(graph.finish(outputs).empty());
  EXPECT_EQ(graph.outputNames()[30000], "x10000_1");
}

TEST(Graph, TakesOutWhatNoOutputNeeds) {
  Graph graph("net");
  Symbol x = input(graph, "data", {2, 3});
  Symbol dead = make(graph, "FullyConnected", {x}, {{"num_hidden", int64_t(3)}}, "dead");
  Symbol y = make(graph, "tanh", {x});
  for (const Diagnostic &said : graph.finish({y})) // warns that nobody reads the layer
    EXPECT_EQ(said.severity, Severity::Warning);
  EXPECT_EQ(graph.listArguments(), Names{"data"});
  EXPECT_EQ(graph.text().find("dead"), std::string::npos);
  EXPECT_EQ(dead.name(), "dead");
  EXPECT_EQ(extents(dead), (Extents{2, 3}));
}

/// Names of dims are known up to the last op visited; that op may be removed.
TEST(Graph, ShapesCanBeReadOnBothSidesOfFinish) {
  Graph graph("net");
  Symbol x = *graph.input("data", DType::F32, Shape({{2, "batch"}, {3, ""}}), Role::Data);
  Symbol y = make(graph, "tanh", {x});
  Symbol dead = make(graph, "sigmoid", {make(graph, "exp", {x})});
  EXPECT_EQ(dead.shape().dims[0].name, "batch");
  ASSERT_TRUE(graph.finish({y}).empty());
  EXPECT_EQ(y.shape().dims[0].name, "batch");
  EXPECT_EQ(extents(dead), (Extents{2, 3}));
}

TEST(Graph, HashIsOfTheNetAloneWithoutPlaces) {
  auto build = [](int line, double rate, int64_t units) {
    auto graph = std::make_unique<Graph>("net");
    Call call = callOf("FullyConnected", {input(*graph, "data", {2, 3})}, {{"num_hidden", units}});
    call.origin = placeIn("a.lnet", line, "y = FullyConnected(x)", "FullyConnected");
    Symbol y = make(*graph, call);
    graph->setFit({{"learning_rate", rate, {}, {}, {}}});
    EXPECT_TRUE(graph->finish({y}).empty());
    return graph->hash();
  };
  std::string hash = build(1, 0.1, 4);
  EXPECT_EQ(hash.size(), 32u);
  EXPECT_EQ(hash, build(7, 0.2, 4));
  EXPECT_NE(hash, build(1, 0.1, 5));
}

TEST(Graph, StopsAtItsLimitOfNodes) {
  Graph graph("net", {3});
  Symbol x = input(graph, "data", {2, 3});
  x = make(graph, "tanh", {x});
  x = make(graph, "tanh", {x});
  EXPECT_EQ(refusal(graph, callOf("tanh", {x})),
            "error[E0311]: the graph has reached 3 nodes, the limit\n"
            "    help: --limit nodes=N changes the limit\n");
}

//===---- rehearsals --------------------------------------------------------------------------===//

TEST(Rehearsal, CallsLikeOthersAreCountedAndNotMade) {
  Graph graph("net", {.rehearsable = true});
  Call layer = callOf("FullyConnected", {input(graph, "x", {4, 8})}, {{"num_hidden", int64_t(8)}});
  layer.positional = {make(graph, layer)};
  ASSERT_EQ(graph.nodeCount(), 4);
  graph.rehearse();
  const Symbol first = layer.positional[0];
  for (int i = 0; i < 1000; ++i) {
    layer.positional = {make(graph, layer)};
    EXPECT_EQ(layer.positional[0], first);
  }
  EXPECT_EQ(graph.nodeCount(), 4 + 1000 * 3);

  // A call with another shape is another call.
  layer.attributes = {{"num_hidden", int64_t(5)}};
  Symbol other = make(graph, layer);
  EXPECT_NE(other, first);
  EXPECT_EQ(extents(other), Extents({4, 5}));
  EXPECT_EQ(graph.nodeCount(), 4 + 1001 * 3);
}

TEST(Rehearsal, ParametersOfOneNameCountOnce) {
  Graph graph("net", {.rehearsable = true});
  Symbol x = input(graph, "x", {4, 8});
  auto layer = [&](std::string name) {
    make(graph, "FullyConnected", {x}, {{"num_hidden", int64_t(8)}}, std::move(name));
  };
  layer("a");
  Symbol w = *graph.variable("w", shaped({8, 8}));
  ASSERT_EQ(graph.nodeCount(), 5);
  graph.rehearse();
  layer("a");
  EXPECT_EQ(graph.nodeCount(), 6);
  layer("b");
  EXPECT_EQ(graph.nodeCount(), 9);
  layer("b");
  EXPECT_EQ(graph.nodeCount(), 10);
  EXPECT_TRUE(graph.variable("b_weight", shaped({8, 8})).ok());
  EXPECT_EQ(*graph.variable("w", shaped({8, 8})), w);
  EXPECT_EQ(graph.nodeCount(), 10);
  EXPECT_TRUE(graph.variable("v", shaped({8, 8})).ok());
  EXPECT_TRUE(graph.variable("v", shaped({8, 8})).ok());
  EXPECT_EQ(graph.nodeCount(), 11);
}

} // namespace
} // namespace lstmc::symbol
