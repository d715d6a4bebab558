// symbol.json to a graph: inputs, parameters, attributes, and what is refused.
#include <algorithm>

#include <gtest/gtest.h>

#include "frontend/importers/Importer.h"
#include "frontend/symbol/View.h"
#include "tests/frontend/importers/SymbolText.h"

namespace lstmc::importers {
namespace {

using mxnet::document, mxnet::Json, mxnet::node, mxnet::small, mxnet::variable;

Checked<symbol::Network> read(const Json &json, const ImportRequest &request = {}) {
  return load({"net-symbol.json", json.dump(2)}, request);
}

ImportRequest shaped(std::vector<symbol::InputShape> shapes) {
  ImportRequest request;
  request.shapes = std::move(shapes);
  return request;
}

std::string textOf(const Diagnostics &diagnostics) {
  std::string text;
  for (const Diagnostic &diagnostic : diagnostics)
    text += std::string(errorRecord(diagnostic.code).name) + " " + diagnostic.message + " / " +
            diagnostic.help + "\n";
  return text;
}

void refused(const Json &json, const ImportRequest &request, const std::string &message) {
  Checked<symbol::Network> network = read(json, request);
  ASSERT_FALSE(network.ok());
  EXPECT_NE(textOf(network.diagnostics()).find(message), std::string::npos)
      << textOf(network.diagnostics());
}

const symbol::NodeView *nodeNamed(const symbol::GraphView &view, std::string_view name) {
  auto found = std::ranges::find(view.nodes, name, &symbol::NodeView::name);
  return found == view.nodes.end() ? nullptr : &*found;
}

TEST(MxnetSymbol, InputsAndParameters) {
  Checked<symbol::Network> network = read(small(), shaped({{"data", {4, 5}, {}}}));
  ASSERT_TRUE(network.ok()) << textOf(network.diagnostics());
  EXPECT_EQ(network->net, "net");
  const symbol::GraphView view = symbol::view(*network->graph);
  ASSERT_EQ(view.inputs.size(), 1u);
  EXPECT_EQ(view.inputs[0].name, "data");
  EXPECT_EQ(view.inputs[0].shape.dims[0].name, "batch");
  ASSERT_TRUE(nodeNamed(view, "w"));
  EXPECT_EQ(nodeNamed(view, "w")->shape.dims[1].extent, 5);
  EXPECT_EQ(network->graph->listOutputs(), std::vector<std::string>{"fc_output"});
}

TEST(MxnetSymbol, BatchAndLayout) {
  Json json = document({variable("data", {{"__layout__", "TNC"}, {"__shape__", "(7, 0, 2)"}}),
                        node("tanh", "t", {0})});
  ImportRequest request;
  request.settings = {{"batch", "3"}};
  Checked<symbol::Network> network = read(json, request);
  ASSERT_TRUE(network.ok()) << textOf(network.diagnostics());
  const symbol::Shape shape = symbol::view(*network->graph).inputs[0].shape;
  EXPECT_EQ(shape.dims[1].extent, 3);
  EXPECT_EQ(shape.dims[1].name, "batch");
  request.shapes = {{"data", {7, 4, 2}, {}}};
  refused(json, request, "--shape data has a batch of 4, --batch is 3");
  request.settings = {{"batch", "none"}};
  refused(json, request, "--batch takes a number from 1");
}

/// The batch of an input is the second axis where a fused recurrence reads the first as its steps,
/// also after ops that keep the axes, and the first after they have changed places.
TEST(MxnetSymbol, TheBatchOfAnInputByItsReaders) {
  const Json embedding = node("Embedding", "e", {0, 1}, {{"input_dim", "9"}, {"output_dim", "4"}});
  const Json rnn = {{"state_size", "5"}, {"num_layers", "1"}, {"mode", "lstm"}};
  const Json steps = document({variable("data"), variable("table"), embedding, variable("p"),
                               node("RNN", "r", {2, 3}, rnn)});
  const Json rows = document({variable("data"), variable("table"), embedding,
                              node("SwapAxis", "s", {2}, {{"dim1", "0"}, {"dim2", "1"}}),
                              variable("p"), node("RNN", "r", {3, 4}, rnn)});
  for (const auto &[json, axis] : {std::pair(steps, 1), std::pair(rows, 0)}) {
    Checked<symbol::Network> network = read(json, shaped({{"data", {7, 3}, {}}}));
    ASSERT_TRUE(network.ok()) << textOf(network.diagnostics());
    const symbol::Shape shape = symbol::view(*network->graph).inputs[0].shape;
    EXPECT_EQ(shape.dims[size_t(axis)].name, "batch");
    EXPECT_EQ(shape.dims[size_t(1 - axis)].name, "");
  }
}

TEST(MxnetSymbol, LabelsByNameAndByUse) {
  Json json = document(
      {variable("data"), variable("truth"), node("LinearRegressionOutput", "out", {0, 1})});
  Checked<symbol::Network> network = read(json, shaped({{"data", {4, 5}, {}}}));
  ASSERT_TRUE(network.ok()) << textOf(network.diagnostics());
  const symbol::GraphView view = symbol::view(*network->graph);
  ASSERT_EQ(view.inputs.size(), 2u);
  EXPECT_EQ(view.inputs[1].role, symbol::Role::Label);
  EXPECT_EQ(view.inputs[1].shape.dims[1].extent, 5);
}

TEST(MxnetSymbol, OfferedInputs) {
  Json json = document({variable("x"), variable("state"), node("elemwise_add", "sum", {0, 1})});
  ImportRequest request;
  request.offeredInputs = {{"x", symbol::Shape{2, 3}, DType::F64}, {"state", {}, DType::F64}};
  Checked<symbol::Network> network = read(json, request);
  ASSERT_TRUE(network.ok()) << textOf(network.diagnostics());
  const symbol::GraphView view = symbol::view(*network->graph);
  ASSERT_EQ(view.inputs.size(), 2u);
  EXPECT_EQ(view.inputs[0].dtype, DType::F64);
  EXPECT_EQ(view.inputs[1].shape.dims[1].extent, 3);
}

TEST(MxnetSymbol, AttributesOfVariables) {
  Json json = small();
  json["nodes"][1]["attrs"] = {
      {"__lr_mult__", "0.5"}, {"__init__", "[\"normal\", {\"sigma\": 0.25}]"},
      {"__dtype__", "0"},     {"__ctx_group__", "one"},
      {"__mood__", "blue"},   {"num_hidden", "3"}};
  json["nodes"][3]["attrs"]["bias_wd_mult"] = "0.25";
  json["nodes"][3]["attrs"]["__force_mirroring__"] = "True";
  Checked<symbol::Network> network = read(json, shaped({{"data", {4, 5}, {}}}));
  ASSERT_TRUE(network.ok()) << textOf(network.diagnostics());
  EXPECT_TRUE(network.diagnostics().empty()) << textOf(network.diagnostics());
  const symbol::GraphView view = symbol::view(*network->graph);
  const symbol::NodeView &weight = *nodeNamed(view, "w");
  EXPECT_EQ(weight.lrMult, 0.5);
  EXPECT_EQ(weight.init.name, "normal");
  EXPECT_EQ(weight.group, "one");
  EXPECT_EQ(nodeNamed(view, "b")->wdMult, 0.25);
  EXPECT_TRUE(nodeNamed(view, "fc")->recompute);
}

TEST(MxnetSymbol, InitialisersThatAreNotKnownAreWarnedAbout) {
  Json json = small();
  json["nodes"][1]["attrs"] = {{"__init__", "[\"bilinear\", {}]"}};
  Checked<symbol::Network> network = read(json, shaped({{"data", {4, 5}, {}}}));
  ASSERT_TRUE(network.ok());
  EXPECT_NE(textOf(network.diagnostics()).find("is not known"), std::string::npos);
  ImportRequest request = shaped({{"data", {4, 5}, {}}});
  request.werror = true;
  EXPECT_FALSE(read(json, request).ok());
}

TEST(MxnetSymbol, MatricesAreJoinedAsTheyAre) {
  std::vector<Json> nodes = {variable("data")};
  std::vector<int> joined;
  for (auto [name, shape] :
       {std::pair("i", "(16, 0)"), {"h", "(16, 4)"}, {"a", "(16,)"}, {"b", "(16,)"}}) {
    nodes.push_back(variable(name, {{"__shape__", shape}}));
    nodes.push_back(node("Reshape", std::string(name) + "_flat", {int(nodes.size()) - 1},
                         {{"shape", "(-1,)"}}));
    joined.push_back(int(nodes.size()) - 1);
  }
  nodes.push_back(node("_rnn_param_concat", "all", joined, {{"dim", "0"}, {"num_args", "4"}}));
  nodes.push_back(node("RNN", "rnn", {0, int(nodes.size()) - 1},
                       {{"mode", "lstm"}, {"state_size", "4"}, {"num_layers", "1"}}));
  Checked<symbol::Network> network = read(document(nodes), shaped({{"data", {7, 2, 3}, {}}}));
  ASSERT_TRUE(network.ok()) << textOf(network.diagnostics());
  const symbol::GraphView view = symbol::view(*network->graph);
  EXPECT_EQ(nodeNamed(view, "i")->shape.dims[1].extent, 3);
  EXPECT_FALSE(nodeNamed(view, "i_flat"));
}

TEST(MxnetSymbol, BroadcastingAlignsAxesAtTheLast) {
  Json json = document({variable("data"), variable("b", {{"__shape__", "(13, 16)"}}),
                        node("broadcast_add", "sum", {0, 1})});
  Checked<symbol::Network> network = read(json, shaped({{"data", {8, 13, 16}, {}}}));
  ASSERT_TRUE(network.ok()) << textOf(network.diagnostics());
  auto shapes = network->graph->inferredShapes();
  EXPECT_EQ(shapes.back().second.dims.size(), 3u);
  EXPECT_EQ(shapes.back().second.dims[0].extent, 8);
  json["nodes"][1]["attrs"]["__shape__"] = "(12, 16)";
  EXPECT_FALSE(read(json, shaped({{"data", {8, 13, 16}, {}}})).ok());
}

TEST(MxnetSymbol, UnknownOpsAreNamedWithWhatTheyRead) {
  Json json = document(
      {variable("data"), variable("w"), node("ROIPooling", "bn", {0, 1}, {{"eps", "0.1"}})});
  refused(json, {},
          "E0201 ROIPooling \"bn\" reads \"data\", \"w\", and no op is named "
          "\"ROIPooling\" / the nearest are ");
}

TEST(MxnetSymbol, RefusedWithTheirNode) {
  const ImportRequest request = shaped({{"data", {4, 5}, {}}});
  Json json = small();
  json["nodes"][3]["attrs"]["num_hidden"] = "ten";
  refused(json, request, "E0605 FullyConnected \"fc\": num_hidden is an integer, found \"ten\"");
  json["nodes"][3]["attrs"]["num_hidden"] = "-3";
  EXPECT_FALSE(read(json, request).ok());
  json["nodes"][3]["attrs"]["num_hidden"] = std::string(30, '9');
  refused(json, request, "num_hidden is an integer");
  json = small();
  json["nodes"][3]["attrs"]["mood"] = "blue";
  refused(json, request, "has no attribute \"mood\"");
  json = small();
  json["heads"] = {{3, 1, 0}};
  refused(json, request, "E0605 output 1 of FullyConnected \"fc\" is read, which has 1");
  json = small();
  json["nodes"][1]["attrs"] = {{"__shape__", "(1, 'a')"}};
  refused(json, request, "E0605 \"w\": __shape__ is a tuple of integers");
  json["nodes"][1]["attrs"] = {{"__lr_mult__", "fast"}};
  refused(json, request, "__lr_mult__ is a number, found \"fast\"");
  json["nodes"][1]["attrs"] = {{"lr_mult", "1"}, {"__lr_mult__", "2"}};
  refused(json, request, "lr_mult is \"1\" and \"2\"");
  refused(small(), {}, "E0211 the shape of input \"data\" is not known / --shape data:32x35");
  refused(small(), shaped({{"dta", {4, 5}, {}}}), "no input \"dta\" / did you mean \"data\"?");
}

TEST(MxnetSymbol, RequestsThatTheFileHasNoUseFor) {
  ImportRequest request = shaped({{"data", {4, 5}, {}}});
  request.settings = {{"hidden", "3"}};
  refused(small(), request, "E0001 --set hidden=3");
  request.settings.clear();
  request.net = "lm";
  refused(small(), request, "E0001 --net lm");
}

TEST(Importers, KindsAreKnownByTheirBytes) {
  EXPECT_EQ(importerOf(Source{"a.lnet", small().dump()})->name, "symbol.json");
  EXPECT_EQ(importerOf(Source{"a", " \n{ \"nodes\": ["})->name, "symbol.json");
  EXPECT_EQ(importerOf(Source{"a.json", "[["})->name, "symbol.json");
  EXPECT_EQ(importerOf(Source{"a.lnet", "def net(data: float32[2]):"})->name, "lnet");
  EXPECT_EQ(importerOf(Source{"a.txt", "def net(data: float32[2]):"}), nullptr);
  EXPECT_EQ(importerOf("none.lnet")->name, "lnet");
  Checked<symbol::Network> onnx =
      load({"m.onnx", std::string("\x08\x08\x12\x07pytorch\x1a", 12)}, {});
  ASSERT_FALSE(onnx.ok());
  EXPECT_NE(textOf(onnx.diagnostics()).find("E0603 this is no network, but an ONNX model"),
            std::string::npos);
}

} // namespace
} // namespace lstmc::importers
