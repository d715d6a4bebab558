// symbol.json to a graph: inputs, parameters, attributes, and what is refused.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "executor/base/InputFile.h"
#include "executor/data/MxnetParams.h"
#include "frontend/importers/Importer.h"
#include "frontend/importers/mxnet/JsonText.h"
#include "frontend/importers/mxnet/ParamsWriter.h"
#include "frontend/importers/mxnet/SymbolWriter.h"
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

TEST(MxnetSymbol, InitialisersThatAreNotKnownAreKept) {
  Json json = small();
  json["nodes"][1]["attrs"] = {{"__init__", "[\"bilinear\", {}]"}};
  Checked<symbol::Network> network = read(json, shaped({{"data", {4, 5}, {}}}));
  ASSERT_TRUE(network.ok());
  EXPECT_TRUE(network.diagnostics().empty());
  ASSERT_EQ(network->unknownInitialisers.size(), 1U);
  EXPECT_EQ(network->unknownInitialisers[0].parameter, "w");
  EXPECT_EQ(network->unknownInitialisers[0].text, "[\"bilinear\", {}]");
  EXPECT_GT(network->unknownInitialisers[0].origin.line, 0);
}

/// What is read is written to the byte, with the marks of a network that has its shapes: the batch
/// is open.
TEST(MxnetSymbol, WritesWhatItReads) {
  const Json json = document({variable("data", {{"__shape__", "(0, 5)"}}),
                              variable("w", {{"__lr_mult__", "0.5"}, {"__shape__", "(3, 5)"}}),
                              variable("b", {{"__shape__", "(3,)"}}),
                              node("FullyConnected", "fc", {0, 1, 2}, {{"num_hidden", "3"}})});
  Checked<symbol::Network> network = read(json, shaped({{"data", {4, 5}, {}}}));
  ASSERT_TRUE(network.ok()) << textOf(network.diagnostics());
  const symbol::GraphView view = symbol::view(*network->graph);
  Result<mxnet::SymbolText> written = mxnet::writeSymbol(view, mxnet::marksOf(view));
  ASSERT_TRUE(written.ok());
  EXPECT_TRUE(written->warnings.empty());
  EXPECT_EQ(Json::parse(written->text), json);
  EXPECT_NE(written->text.find("\n  \"heads\": [[3, 0, 0]], \n"), std::string::npos);
}

TEST(MxnetSymbol, TextsHaveTheLayoutOfMxnet) {
  EXPECT_EQ(mxnet::jsonList({"1", "2"}, 1), "[1, 2]");
  EXPECT_EQ(mxnet::jsonList(std::vector<std::string>(11, "0"), 0).substr(0, 12), "[\n  0, \n  0,");
  mxnet::JsonObject one(0), two(0);
  one.add("a", "1");
  EXPECT_EQ(one.text(), "{\"a\": 1}");
  two.add("a", "1");
  two.add("b\n", mxnet::jsonQuoted("\t\"\\"));
  EXPECT_EQ(two.text(), "{\n  \"a\": 1, \n  \"b\\n\": \"\\t\\\"\\\\\"\n}");
}

TEST(ParamsWriter, IsReadAgain) {
  const std::string path = testing::TempDir() + "written.params";
  std::vector<float> numbers = {1, 2, 3, 4, 5, 6};
  const int64_t shape[] = {2, 3};
  const data::NamedTensor tensors[] = {
      {"arg:w", data::denseTensor(numbers.data(), DType::F32, shape)},
      {"aux:s", data::denseTensor(numbers.data(), DType::F32, {})}};
  ASSERT_TRUE(mxnet::writeParams(path, tensors, OutputFile::Existing::Replace).ok());
  Result<Bytes> bytes = readFile(path);
  ASSERT_TRUE(bytes.ok());
  Result<data::MxnetParams> params = data::MxnetParams::parse(std::move(*bytes), path);
  ASSERT_TRUE(params.ok()) << params.error().text();
  EXPECT_EQ(params->name(0), "w");
  EXPECT_EQ(params->writtenName(1), "aux:s");
  EXPECT_EQ(params->array(0)->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(params->array(1)->shape, (std::vector<int64_t>{1})); // the format has no scalars
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

//===---- loops and choices -------------------------------------------------------------------===//

ImportRequest forRunningSum(int64_t steps = 3) {
  return shaped({{"data", {steps, 2, 5}, {}}, {"s_data", {2, 3}, {}}});
}

size_t countOf(const symbol::Network &network, std::string_view op) {
  const symbol::GraphView view = symbol::view(*network.graph);
  return size_t(std::ranges::count(view.nodes, op, &symbol::NodeView::op));
}

TEST(MxnetSymbol, ForeachBecomesItsSteps) {
  Checked<symbol::Network> network = read(mxnet::runningSum(), forRunningSum());
  ASSERT_TRUE(network.ok()) << textOf(network.diagnostics());
  EXPECT_EQ(countOf(*network, "FullyConnected"), 3u);
  EXPECT_EQ(countOf(*network, "slice_axis"), 3u);
  EXPECT_EQ(countOf(*network, "stack"), 1u);
  EXPECT_EQ(countOf(*network, "_copy"), 0u);
  const auto shapes = network->graph->inferredShapes();
  auto shapeOf = [&](std::string_view name) {
    std::vector<int64_t> extents;
    for (const auto &[of, shape] : shapes)
      if (of == name)
        for (const symbol::Dim &dim : shape.dims)
          extents.push_back(dim.extent);
    return extents;
  };
  EXPECT_EQ(shapeOf("w"), (std::vector<int64_t>{3, 5}));
  EXPECT_EQ(network->graph->listOutputs().size(), 2u);
  const symbol::GraphView view = symbol::view(*network->graph);
  EXPECT_EQ(std::ranges::count(view.nodes, "w", &symbol::NodeView::name), 1);
}

TEST(MxnetSymbol, ForeachThatContradictsItself) {
  auto loop = [](const std::string &key, const std::string &value) {
    Json json = mxnet::runningSum();
    json["nodes"][3]["attrs"][key] = value;
    return json;
  };
  refused(loop("in_data_locs", "[7]"), forRunningSum(),
          "_foreach \"loop\": in_data_locs is a list of numbers below 3, found \"[7]\"");
  refused(loop("in_data_locs", "[]"), forRunningSum(), "are 2 numbers for 3 inputs");
  refused(loop("remain_locs", "[0]"), forRunningSum(), "are 3 numbers for 3 inputs and 3");
  refused(loop("num_out_data", "2"), forRunningSum(), "subgraphs[0] has 2 heads, want 3");
  refused(loop("num_out_data", "-1"), forRunningSum(), "num_out_data is a number from 0");
  Json none = mxnet::runningSum();
  none["nodes"][3].erase("subgraphs");
  refused(none, forRunningSum(), "found 0 subgraphs, want 1");
  refused(mxnet::runningSum(), shaped({{"s_data", {2, 3}, {}}}),
          "its steps are axis 0 of \"data\", whose shape is not known");
  Json unknown = mxnet::runningSum();
  unknown["nodes"][3]["subgraphs"][0]["nodes"][4]["op"] = "elemwise_ad";
  refused(unknown, forRunningSum(), "no op is named \"elemwise_ad\"");
  Json changed = mxnet::runningSum();
  changed["nodes"][3]["subgraphs"][0]["heads"][1] = {0, 0, 0};
  refused(changed, forRunningSum(), "state 0 has another type after a step than before it");
}

/// Numbers 0 to 7 are counted in a state, of which five rows are made.
Json counting(const std::string &limit, const std::string &begin = "_zeros") {
  Json condition =
      document({variable("i"), node("_lesser_scalar", "less", {0}, {{"scalar", limit}})});
  Json body = document({variable("s"), variable("i"), node("elemwise_add", "sum", {0, 0}),
                        node("_plus_scalar", "next", {1}, {{"scalar", "1"}})});
  body["heads"] = {{2, 0, 0}, {3, 0, 0}, {2, 0, 0}};
  Json made =
      document({begin == "null" ? variable("i_data") : node(begin, "zero", {}, {{"shape", "(1,)"}}),
                variable("data"),
                mxnet::nodeWithGraphs("_while_loop", "loop", {0, 1},
                                      {{"cond_input_locs", "[0]"},
                                       {"func_input_locs", "[1, 0]"},
                                       {"func_var_locs", "[1, 0]"},
                                       {"max_iterations", "40"},
                                       {"num_args", "4"},
                                       {"num_out_data", "1"},
                                       {"num_outputs", "3"}},
                                      {condition, body})});
  made["heads"] = {{2, 0, 0}, {2, 2, 0}};
  made["node_row_ptr"] = {0, 1, 2, 5};
  return made;
}

TEST(MxnetSymbol, WhileLoopOfAKnownCount) {
  const ImportRequest request = shaped({{"data", {2, 3}, {}}});
  Checked<symbol::Network> network = read(counting("36"), request);
  ASSERT_TRUE(network.ok()) << textOf(network.diagnostics());
  EXPECT_EQ(countOf(*network, "elemwise_add"), 36u);
  EXPECT_EQ(countOf(*network, "Concat"), 1u); // with the rows that no step makes
  network = read(counting("100"), request);
  ASSERT_TRUE(network.ok()) << textOf(network.diagnostics());
  EXPECT_EQ(countOf(*network, "elemwise_add"), 40u);
  EXPECT_EQ(countOf(*network, "Concat"), 0u);
  refused(counting("0"), request, "it has no step");
}

TEST(MxnetSymbol, WhileLoopThatDependsOnValues) {
  refused(counting("5", "null"), shaped({{"data", {2, 3}, {}}, {"i_data", {1}, {}}}),
          "E0215 _while_loop \"loop\": its condition is not known before the run");
}

Json choice(const std::string &value) {
  const Json is = document({variable("p"), node("_copy", "is", {0})});
  const Json twice = document({variable("a"), node("elemwise_add", "twice", {0, 0})});
  const Json tanh = document({variable("a"), node("tanh", "bent", {0})});
  return document({node("_full", "p", {}, {{"shape", "(1,)"}, {"value", value}}), variable("data"),
                   mxnet::nodeWithGraphs("_cond", "choice", {0, 1},
                                         {{"cond_input_locs", "[0]"},
                                          {"then_input_locs", "[1]"},
                                          {"else_input_locs", "[1]"},
                                          {"num_args", "5"},
                                          {"num_outputs", "1"}},
                                         {is, twice, tanh})});
}

TEST(MxnetSymbol, ChoicesAreMadeByConstants) {
  const ImportRequest request = shaped({{"data", {2, 3}, {}}});
  for (const auto &[value, op] : {std::pair("1", "elemwise_add"), {"0", "tanh"}}) {
    Checked<symbol::Network> network = read(choice(value), request);
    ASSERT_TRUE(network.ok()) << textOf(network.diagnostics());
    EXPECT_EQ(countOf(*network, op), 1u);
    EXPECT_EQ(symbol::view(*network->graph).nodes.size(), 1u);
  }
  Json values = choice("1");
  values["nodes"][0] = variable("p_data");
  ImportRequest two = request;
  two.shapes.push_back({"p_data", {1}, {}});
  refused(values, two, "E0215 _cond \"choice\": its condition is not known before the run");
}

/// A loop in a loop: rows of rows.
TEST(MxnetSymbol, LoopsInLoops) {
  Json inner = mxnet::runningSum();
  inner["heads"] = {{3, 1, 0}, {3, 1, 0}};
  Json outer = document({variable("data"), variable("s_data"), variable("w"),
                         mxnet::nodeWithGraphs("_foreach", "outer", {0, 1, 2},
                                               {{"in_data_locs", "[0]"},
                                                {"in_state_locs", "[1]"},
                                                {"remain_locs", "[2]"},
                                                {"num_args", "4"},
                                                {"num_out_data", "1"},
                                                {"num_outputs", "2"}},
                                               {inner})});
  Checked<symbol::Network> network =
      read(outer, shaped({{"data", {4, 3, 2, 5}, {}}, {"s_data", {2, 3}, {}}}));
  ASSERT_TRUE(network.ok()) << textOf(network.diagnostics());
  EXPECT_EQ(countOf(*network, "FullyConnected"), 12u);
}

/// All strings and numbers of a document, for one of which a test puts another.
void eachLeaf(Json &json, std::vector<Json *> &leaves) {
  if (!json.is_structured())
    leaves.push_back(&json);
  else
    for (Json &item : json)
      eachLeaf(item, leaves);
}

/// A changed document is read or refused, and every refusal has a code of its own.
TEST(MxnetSymbol, ChangedLoopsAreReadOrRefused) {
  std::mt19937 random(7);
  const std::vector<Json> documents = {mxnet::runningSum(), counting("5"), choice("1")};
  const std::vector<std::string> words = {"",    "null", "tanh",  "_foreach", "_while_loop",
                                          "[0]", "[]",   "[1,0]", "-1",       "99999999"};
  size_t read = 0, refusals = 0;
  for (int turn = 0; turn < 3000; ++turn) {
    Json json = documents[random() % documents.size()];
    for (uint64_t changes = 1 + random() % 2; changes > 0; --changes) {
      std::vector<Json *> leaves;
      eachLeaf(json, leaves);
      Json &leaf = *leaves[random() % leaves.size()];
      if (leaf.is_string())
        leaf = words[random() % words.size()];
      else
        leaf = random() % 6;
    }
    Checked<symbol::Network> network =
        load({"net-symbol.json", json.dump()},
             shaped({{"data", {2, 3, 5}, {}}, {"s_data", {3, 3}, {}}}));
    ++(network.ok() ? read : refusals);
    if (!network.ok())
      EXPECT_NE(textOf(network.diagnostics()).substr(0, 5), "E0099") << json.dump(2);
  }
  EXPECT_GT(read, 100u);
  EXPECT_GT(refusals, 1000u);
}

} // namespace
} // namespace lstmc::importers
