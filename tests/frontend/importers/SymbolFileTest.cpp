// Every hostile row of symbol.json is refused with its place.
#include "frontend/importers/mxnet/SymbolFile.h"

#include <chrono>

#include <gtest/gtest.h>

#include "tests/frontend/importers/SymbolText.h"

namespace lstmc::importers::mxnet {
namespace {

Result<SymbolFile> parse(const std::string &text, const Limits &limits = {}) {
  return SymbolFile::parse(text, "net-symbol.json", limits);
}

void refused(const std::string &text, ErrorCode code, const std::string &message) {
  Result<SymbolFile> file = parse(text);
  ASSERT_FALSE(file.ok()) << text.substr(0, 200);
  EXPECT_EQ(file.error().code, code) << file.error().text();
  EXPECT_NE(file.error().message.find(message), std::string::npos) << file.error().text();
  EXPECT_EQ(file.error().place.file, "net-symbol.json");
}

/// The small document with a change.
template <typename Change> std::string with(Change &&change) {
  Json changed = small();
  change(changed);
  return changed.dump(2);
}

TEST(SymbolFile, Nodes) {
  Result<SymbolFile> file = parse(small().dump(2));
  ASSERT_TRUE(file.ok()) << file.error().text();
  ASSERT_EQ(file->size(), 4u);
  EXPECT_EQ(file->op(3), "FullyConnected");
  EXPECT_EQ(file->name(3), "fc");
  EXPECT_TRUE(file->isVariable(0));
  ASSERT_EQ(file->inputs(3).size(), 3u);
  EXPECT_EQ(file->inputs(3)[2].node, 2u);
  ASSERT_EQ(file->attributes(3).size(), 1u);
  EXPECT_EQ(file->attributes(3)[0].second, "3");
  ASSERT_EQ(file->heads().size(), 1u);
  EXPECT_EQ(file->version(), 10901);
  SourceRange place = file->place(3);
  EXPECT_EQ(place.text.substr(size_t(place.column) - 1, size_t(place.length)), "\"fc\"");
  EXPECT_EQ(place.file, "net-symbol.json");
}

TEST(SymbolFile, AllAgesAndAByteOrderMark) {
  for (const char *key : {"attrs", "attr", "param"}) {
    std::string text = with([&](Json &json) {
      json["nodes"][3].erase("attrs");
      json["nodes"][3][key] = {{"num_hidden", "3"}};
      json["nodes"][3]["backward_source_id"] = -1;
      for (Json &input : json["nodes"][3]["inputs"])
        input.erase(2);
      json.erase("node_row_ptr");
      json.erase("attrs");
    });
    Result<SymbolFile> file = parse("\xef\xbb\xbf" + text);
    ASSERT_TRUE(file.ok()) << file.error().text();
    EXPECT_EQ(file->attributes(3)[0].first, "num_hidden");
    EXPECT_EQ(file->version(), 800);
    EXPECT_EQ(file->place(0).text.find("\"data\""), size_t(file->place(0).column) - 1);
  }
}

TEST(SymbolFile, UnknownFieldsAreNamed) {
  Result<SymbolFile> file = parse(with([](Json &json) {
    json["mood"] = {{"a", {1, 2, {{"nodes", 3}}}}};
    json["nodes"][1]["colour"] = "red";
    json["nodes"][2]["control_deps"] = {0};
  }));
  ASSERT_TRUE(file.ok()) << file.error().text();
  EXPECT_EQ(file->unknownFields(), (std::vector<std::string>{"colour", "mood"}));
  EXPECT_EQ(file->size(), 4u);
}

TEST(SymbolFile, NoSymbolJson) {
  refused("", ErrorCode::E0603, "this is no symbol.json");
  refused("{", ErrorCode::E0603, "this is no symbol.json");
  refused("[]", ErrorCode::E0603, "the text is a list, want an object");
  refused("7", ErrorCode::E0603, "the text is 7, want an object");
  refused("{}", ErrorCode::E0603, "there is no nodes");
  refused("{} {}", ErrorCode::E0603, "this is no symbol.json");
  refused("{\"nodes\": [], \"\xff\": []}", ErrorCode::E0603, "this is no symbol.json");
  refused("{\"nodes\": null, \"heads\": []}", ErrorCode::E0603, "nodes is null, want a list");
  refused("{\"nodes\": [7], \"heads\": []}", ErrorCode::E0603, "nodes[0] is 7, want an object");
  for (std::string opens : {"[", "{\"a\":", "{\"nodes\": ["})
    for (std::string text; text.empty();) {
      for (int i = 0; i < 100000; ++i)
        text += opens;
      EXPECT_FALSE(parse(text).ok());
    }
  refused("{\"a\": " + std::string(100000, '['), ErrorCode::E0606, "limit depth");
}

TEST(SymbolFile, Kinds) {
  refused(with([](Json &json) { json["heads"] = 3; }), ErrorCode::E0603, "heads is 3, want a list");
  refused(with([](Json &json) { json["heads"] = {3}; }), ErrorCode::E0603,
          "heads[0] is 3, want a list");
  refused(with([](Json &json) { json["nodes"][3]["op"] = Json::array(); }), ErrorCode::E0603,
          "nodes[3].op is a list, want a string");
  refused(with([](Json &json) { json["nodes"][3]["op"] = nullptr; }), ErrorCode::E0603,
          "nodes[3].op is null");
  refused(with([](Json &json) { json["nodes"][3].erase("op"); }), ErrorCode::E0603,
          "there is no nodes[3].op");
  refused(with([](Json &json) { json["nodes"][3]["inputs"] = Json::object(); }), ErrorCode::E0603,
          "nodes[3].inputs is an object, want a list");
  refused(with([](Json &json) { json["nodes"][3]["inputs"][0] = {0}; }), ErrorCode::E0603,
          "nodes[3].inputs[0] has 1 numbers");
  refused(with([](Json &json) { json["nodes"][3]["inputs"][0][0] = "0"; }), ErrorCode::E0603,
          "nodes[3].inputs[0][0] is \"0\", want an integer");
  refused(with([](Json &json) { json["nodes"][3]["inputs"][0][0] = true; }), ErrorCode::E0603,
          "nodes[3].inputs[0][0] is true");
  refused(with([](Json &json) { json["nodes"][3]["inputs"][1][0] = 0.7; }), ErrorCode::E0603,
          "nodes[3].inputs[1][0] is 0.7, want an integer");
  refused(with([](Json &json) { json["nodes"][3]["attrs"]["num_hidden"] = 10; }), ErrorCode::E0603,
          "nodes[3].attrs.num_hidden is 10, want a string");
  std::string digits = small().dump();
  digits.replace(digits.find("[0,0,0]"), 7, "[" + std::string(30, '9') + ",0,0]");
  refused(digits, ErrorCode::E0603, "nodes[3].inputs[0][0] is 99999");
  refused(with([](Json &json) { json["nodes"][3]["name"] = std::string("a\0b", 3); }),
          ErrorCode::E0604, "NUL");
}

TEST(SymbolFile, EdgesAndLists) {
  refused(with([](Json &json) { json["heads"] = Json::array(); }), ErrorCode::E0605,
          "heads: found none");
  refused(with([](Json &json) { json["heads"] = {{9, 0, 0}}; }), ErrorCode::E0605,
          "heads[0] is node 9, there are 4 nodes");
  refused(with([](Json &json) { json["heads"] = {{3, -1, 0}}; }), ErrorCode::E0605,
          "heads[0][1] is -1, want a number from 0");
  refused(with([](Json &json) { json["nodes"][3]["inputs"][0][0] = 4; }), ErrorCode::E0605,
          "nodes[3].inputs[0] is node 4, there are 4 nodes");
  refused(with([](Json &json) { json["nodes"][3]["inputs"][0][0] = 3; }), ErrorCode::E0605,
          "\"fc\" depends on itself");
  refused(document({node("tanh", "a", {1}), node("tanh", "b", {0})}).dump(), ErrorCode::E0605,
          "depends on itself");
  refused(with([](Json &json) { json["nodes"][0]["inputs"] = {{1, 0, 0}}; }), ErrorCode::E0605,
          "found a variable with 1 inputs");
  refused(with([](Json &json) { json["arg_nodes"] = {0, 3}; }), ErrorCode::E0605,
          "arg_nodes[1] is node 3, a FullyConnected: want a variable");
  refused(with([](Json &json) { json["arg_nodes"] = {7}; }), ErrorCode::E0605, "arg_nodes[0] is 7");
  refused(with([](Json &json) { json["node_row_ptr"] = {0, 1, 3, 2, 4}; }), ErrorCode::E0605,
          "node_row_ptr[3] is 2, want at least 3");
  refused(with([](Json &json) { json["node_row_ptr"] = {1, 2, 3, 4, 5}; }), ErrorCode::E0605,
          "node_row_ptr[0] is 1, want 0");
  refused(with([](Json &json) { json["node_row_ptr"] = {0, 1, 2}; }), ErrorCode::E0605,
          "node_row_ptr has 3 numbers, want 5");
}

TEST(SymbolFile, ForwardReferencesAreLegal) {
  Json nodes = {node("tanh", "a", {1}), variable("data")};
  Json made = document(nodes);
  made["heads"] = {{0, 0, 0}};
  EXPECT_TRUE(parse(made.dump()).ok());
}

TEST(SymbolFile, Twice) {
  std::string text = small().dump();
  refused(text.substr(0, text.size() - 1) + ",\"heads\":[[0,0,0]]}", ErrorCode::E0612,
          "heads: found the key twice");
  std::string twice = text;
  twice.insert(twice.find("\"name\":\"fc\""), "\"op\":\"tanh\",");
  refused(twice, ErrorCode::E0612, "nodes[3].op: found the key twice");
  twice = text;
  twice.insert(twice.find("\"num_hidden\""), "\"num_hidden\":\"3\",");
  refused(twice, ErrorCode::E0612, "nodes[3].attrs.num_hidden: found the key twice");
  refused(with([](Json &json) { json["nodes"][3]["param"] = {{"num_hidden", "4"}}; }),
          ErrorCode::E0605, "nodes[3].param.num_hidden is \"4\" and \"3\"");
  EXPECT_TRUE(
      parse(with([](Json &json) { json["nodes"][3]["param"] = {{"num_hidden", "3"}}; })).ok());
  refused(with([](Json &json) { json["nodes"][2]["name"] = "w"; }), ErrorCode::E0612,
          "nodes[2]: found variable \"w\", which nodes[1] is too");
}

/// Nodes of a graph in a node follow it; their edges stay among themselves.
TEST(SymbolFile, GraphsInNodes) {
  Result<SymbolFile> file = parse(runningSum().dump(2));
  ASSERT_TRUE(file.ok()) << file.error().text();
  ASSERT_EQ(file->size(), 10u);
  ASSERT_EQ(file->graphCount(), 2u);
  ASSERT_EQ(file->subgraphs(3).size(), 1u);
  EXPECT_TRUE(file->subgraphs(2).empty());
  EXPECT_EQ(file->name(3), "loop");
  EXPECT_EQ(file->name(8), "sum");
  ASSERT_EQ(file->inputs(8).size(), 2u);
  EXPECT_EQ(file->name(file->inputs(8)[0].node), "fc");
  EXPECT_EQ(file->inputs(3).size(), 3u);
  EXPECT_EQ(file->attributes(3).size(), 6u);
  ASSERT_EQ(file->heads(1).size(), 2u);
  EXPECT_EQ(file->name(file->heads(1)[0].node), "y");
  EXPECT_LT(file->place(3).line, file->place(8).line);
}

/// A node that says its name and attributes after its graphs, and another spelling of them.
TEST(SymbolFile, GraphsBeforeTheRestOfANode) {
  Json json = runningSum();
  Json &loop = json["nodes"][3];
  Json turned = {{"subgraphs", loop["subgraphs"]}};
  turned["subgraphs"][0]["nodes"][3]["attrs"]["num_args"] = "9";
  for (const auto &[key, value] : loop.items())
    if (key != "subgraphs")
      turned[key] = value;
  turned["param"] = {{"num_args", "4"}};
  loop = turned;
  Result<SymbolFile> file = parse(json.dump(2));
  ASSERT_TRUE(file.ok()) << file.error().text();
  EXPECT_EQ(file->name(3), "loop");
  EXPECT_GT(file->place(3).line, file->place(8).line);
  EXPECT_EQ(file->attributes(3).size(), 6u);
  Json &again = json["nodes"][3];
  again = runningSum()["nodes"][3];
  again["subgraphs"][0]["nodes"][3]["attrs"]["num_args"] = "9";
  again["param"] = {{"num_args", "5"}};
  refused(json.dump(), ErrorCode::E0605, "nodes[3].param.num_args is \"5\" and \"4\"");
}

TEST(SymbolFile, FaultsInGraphsOfNodes) {
  auto body = [](const std::function<void(Json &)> &change) {
    Json json = runningSum();
    change(json["nodes"][3]["subgraphs"][0]);
    return json.dump(2);
  };
  refused(body([](Json &graph) { graph.erase("heads"); }), ErrorCode::E0603,
          "there is no nodes[3].subgraphs[0].heads");
  refused(body([](Json &graph) { graph["heads"] = Json::array(); }), ErrorCode::E0605,
          "nodes[3].subgraphs[0].heads: found none");
  refused(body([](Json &graph) { graph["heads"] = {{6, 0, 0}}; }), ErrorCode::E0605,
          "nodes[3].subgraphs[0].heads[0] is node 6, there are 6 nodes");
  refused(body([](Json &graph) { graph["nodes"][4]["inputs"][1][0] = 7; }), ErrorCode::E0605,
          "nodes[3].subgraphs[0].nodes[4].inputs[1] is node 7, there are 6 nodes");
  refused(body([](Json &graph) { graph["nodes"][4]["inputs"][1][0] = 5; }), ErrorCode::E0605,
          "depends on itself");
  refused(body([](Json &graph) { graph["nodes"][1]["name"] = "x"; }), ErrorCode::E0612,
          "nodes[3].subgraphs[0].nodes[1]: found variable \"x\", which "
          "nodes[3].subgraphs[0].nodes[0] is too");
  refused(body([](Json &graph) { graph["nodes"][3]["op"] = 3; }), ErrorCode::E0603,
          "nodes[3].subgraphs[0].nodes[3].op is 3");
  refused(body([](Json &graph) { graph["arg_nodes"] = {3}; }), ErrorCode::E0605,
          "nodes[3].subgraphs[0].arg_nodes[0] is node 3, a FullyConnected");
  refused(body([](Json &graph) { graph["node_row_ptr"] = {0, 1}; }), ErrorCode::E0605,
          "nodes[3].subgraphs[0].node_row_ptr has 2 numbers, want 7");
  refused(body([](Json &graph) { graph = 3; }), ErrorCode::E0603,
          "nodes[3].subgraphs[0] is 3, want an object");
  Json deep = runningSum();
  for (int i = 0; i < 100; ++i) {
    Json outer = runningSum();
    outer["nodes"][3]["subgraphs"] = Json::array({deep});
    deep = outer;
  }
  refused(deep.dump(), ErrorCode::E0606, "limit depth");
}

/// A line is shown if it is short, wherever the file ends.
TEST(SymbolFile, LinesOfPlaces) {
  for (size_t length : {399u, 400u, 401u})
    for (const char *end : {"", "\n"}) {
      std::string text = R"({"heads":[[0,0]],"nodes":[)";
      text += "\n";
      std::string line = R"({"op":"null","name":"a","inputs":[]}]})";
      line.insert(0, length - line.size(), ' ');
      Result<SymbolFile> file = parse(text + line + end);
      ASSERT_TRUE(file.ok()) << file.error().text();
      EXPECT_EQ(file->place(0).text, length <= 400 ? line : "");
      EXPECT_EQ(file->place(0).line, 2);
    }
}

/// In a file of one line, the time for all places is that of reading it.
TEST(SymbolFile, PlacesInOneLongLine) {
  std::string text = R"({"heads":[[0,0]],"nodes":[)";
  for (int i = 0; i < 300'000; ++i)
    text += R"({"op":"a","name":"","inputs":[]},)";
  text.back() = ']';
  Result<SymbolFile> file = parse(text + "}");
  ASSERT_TRUE(file.ok()) << file.error().text();
  const auto begin = std::chrono::steady_clock::now();
  for (size_t node = 0; node < file->size(); ++node)
    EXPECT_EQ(file->place(node).text, "");
  // 1,500 GB of text where each place looks for the end of the line: 15 s and more.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
}

TEST(SymbolFile, NamesOfOpsMayRepeat) {
  EXPECT_TRUE(
      parse(document({variable("data"), node("tanh", "t", {0}), node("tanh", "t", {1})}).dump())
          .ok());
}

TEST(SymbolFile, LimitsAreThoseOfTheRequest) {
  Limits limits;
  limits.nodes = 3;
  EXPECT_EQ(parse(small().dump(), limits).error().code, ErrorCode::E0606);
  limits = {};
  limits.name = 1;
  EXPECT_EQ(parse(small().dump(), limits).error().code, ErrorCode::E0606);
  limits = {};
  limits.depth = 3;
  EXPECT_EQ(parse(small().dump(), limits).error().code, ErrorCode::E0606);
}

TEST(SymbolFile, EveryTruncationAndChangedByteIsRefusedOrRead) {
  const std::string good = runningSum().dump();
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(parse(good.substr(0, length)).ok()) << length;
  for (size_t at = 0; at < good.size(); ++at)
    for (int change : {0x01, 0x80, 0xff, 0x20}) {
      std::string bad = good;
      bad[at] = char(bad[at] ^ change);
      if (Result<SymbolFile> file = parse(bad); !file.ok())
        EXPECT_EQ(errorRecord(file.error().code).exit, ExitCode::File) << file.error().text();
    }
}

} // namespace
} // namespace lstmc::importers::mxnet
