// Recurrent layers: the names of their parameters, and their nodes.
#include "frontend/symbol/Layers.h"
#include "TestGraph.h"

namespace lstmc::symbol {
namespace {

TEST(Layers, NamesParametersAsMxnetsCells) {
  Graph graph("net");
  LayerOptions options;
  options.layers = 2;
  options.bidirectional = true;
  auto made = lstm(graph, input(graph, "data", {5, 2, 8}), 4, "lstm", options);
  ASSERT_TRUE(made.ok()) << render(made.diagnostics());
  EXPECT_EQ(extents(made->output), (Extents{5, 2, 8}));
  EXPECT_EQ(extents(made->h), (Extents{4, 2, 4}));
  EXPECT_EQ(extents(made->c), (Extents{4, 2, 4}));
  ASSERT_TRUE(graph.finish({made->output}).empty());
  EXPECT_EQ(graph.listArguments(),
            (Names{"data", "lstm_i2h_weight", "lstm_h2h_weight", "lstm_r0_i2h_weight",
                   "lstm_r0_h2h_weight", "lstm_l1_i2h_weight", "lstm_l1_h2h_weight",
                   "lstm_r1_i2h_weight", "lstm_r1_h2h_weight", "lstm_i2h_bias", "lstm_h2h_bias",
                   "lstm_r0_i2h_bias", "lstm_r0_h2h_bias", "lstm_l1_i2h_bias", "lstm_l1_h2h_bias",
                   "lstm_r1_i2h_bias", "lstm_r1_h2h_bias"}));
}

/// The first layer reads 8 inputs, the second the 4 units of both directions.
TEST(Layers, FindsTheWidthsOfItsWeights) {
  Graph graph("net");
  LayerOptions options;
  options.layers = 2;
  auto made = gru(graph, input(graph, "data", {5, 2, 8}), 4, "gru", options);
  ASSERT_TRUE(made.ok()) << render(made.diagnostics());
  EXPECT_FALSE(made->c);
  ASSERT_TRUE(graph.finish({made->output, made->h}).empty());
  auto shapes = graph.inferredShapes();
  EXPECT_EQ(shapes[1].first, "gru_i2h_weight");
  EXPECT_EQ(shapes[1].second.dims[1].extent, 8);
  EXPECT_EQ(shapes[3].first, "gru_l1_i2h_weight");
  EXPECT_EQ(shapes[3].second.dims[0].extent, 12);
  EXPECT_EQ(shapes[3].second.dims[1].extent, 4);
  EXPECT_EQ(graph.listOutputs(), (Names{"gru_output", "gru_state_output"}));
}

TEST(Layers, TakesTheNameScopeOnce) {
  Graph graph("net");
  graph.push({Scope::Kind::NameScope, "enc"});
  auto made = gru(graph, input(graph, "data", {5, 2, 8}), 4, "gru");
  graph.pop();
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->output.name(), "enc_gru");
  ASSERT_TRUE(graph.finish({made->output}).empty());
  EXPECT_EQ(graph.listArguments()[1], "enc_gru_i2h_weight");
}

TEST(Layers, SwapsABatchThatComesFirst) {
  Graph graph("net");
  LayerOptions options;
  options.batchMajor = true;
  auto made = rnnLayer(graph, input(graph, "data", {2, 5, 8}), 4, "relu", "rnn", options);
  ASSERT_TRUE(made.ok()) << render(made.diagnostics());
  EXPECT_EQ(extents(made->output), (Extents{2, 5, 4}));
}

/// One warning, for all parameters; a state for each call.
TEST(Layers, OfOneNameShareTheirParameters) {
  Graph graph("net");
  LayerOptions options;
  options.layers = 2;
  Symbol x = input(graph, "data", {5, 2, 8}), y = input(graph, "more", {3, 2, 8});
  auto first = gru(graph, x, 4, "gru", options), second = gru(graph, y, 4, "gru", options),
       third = gru(graph, y, 4, "gru", options);
  ASSERT_TRUE(first.ok() && second.ok() && third.ok());
  const std::string warning = "warning[W0209]: GRU(num_hidden=4) shares \"gru_i2h_weight\" and its "
                              "like with the call\n";
  EXPECT_EQ(render(first.diagnostics()), "");
  EXPECT_EQ(render(second.diagnostics()), warning);
  EXPECT_EQ(render(third.diagnostics()), warning);
  ASSERT_TRUE(graph.finish({first->output, second->output, third->output}).empty());
  EXPECT_EQ(
      graph.listArguments(),
      (Names{"data", "gru_i2h_weight", "gru_h2h_weight", "gru_l1_i2h_weight", "gru_l1_h2h_weight",
             "gru_i2h_bias", "gru_h2h_bias", "gru_l1_i2h_bias", "gru_l1_h2h_bias", "more"}));
  for (const char *state :
       {"\"gru_begin_state_0\"", "\"gru_begin_state_0_1\"", "\"gru_begin_state_0_2\""})
    EXPECT_NE(graph.text().find(state), std::string::npos) << state;
}

TEST(Layers, OfOneNameAndOtherSizesAreRefused) {
  Graph graph("net");
  Symbol x = input(graph, "data", {5, 2, 8});
  ASSERT_TRUE(lstm(graph, x, 4, "lstm").ok());
  auto second = lstm(graph, x, 5, "lstm");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(render(second.diagnostics()),
            "error[E0209]: \"lstm_i2h_weight\" is float32[20, _] here and float32[16, 8]\n"
            "    help: layers of one name share their parameters: give one of them another name\n");
}

TEST(Layers, SayTheirOwnNameInMessages) {
  Graph graph("net");
  auto made = lstm(graph, input(graph, "data", {5, 2, 8}), 4, "lstm");
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(refusal(graph, callOf("elemwise_add", {made->output, input(graph, "x", {5, 2, 3})})),
            "error[E0207]: elemwise_add: lhs is float32[5, 2, 4], rhs is float32[5, 2, 3]\n"
            "    = lhs is float32[5, 2, 4], from LSTM(num_hidden=4)\n"
            "    = rhs is float32[5, 2, 3], declared\n");
}

} // namespace
} // namespace lstmc::symbol
