// Texts of symbol.json for tests.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace lstmc::importers::mxnet {

using Json = nlohmann::ordered_json;

/// A node; inputs are outputs 0 of the nodes of these numbers.
inline Json node(const std::string &op, const std::string &name, const std::vector<int> &inputs,
                 const Json &attributes = Json::object()) {
  Json made = {{"op", op}, {"name", name}};
  if (!attributes.empty())
    made["attrs"] = attributes;
  made["inputs"] = Json::array();
  for (int input : inputs)
    made["inputs"].push_back({input, 0, 0});
  return made;
}

inline Json variable(const std::string &name, const Json &attributes = Json::object()) {
  return node("null", name, {}, attributes);
}

/// A document as MXNet 1.9.1 writes it, with the last node as its head.
inline Json document(const std::vector<Json> &nodes) {
  Json made = {{"nodes", nodes}};
  made["arg_nodes"] = Json::array();
  made["node_row_ptr"] = {0};
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i]["op"] == "null")
      made["arg_nodes"].push_back(i);
    made["node_row_ptr"].push_back(i + 1);
  }
  made["heads"] = {{nodes.size() - 1, 0, 0}};
  made["attrs"] = {{"mxnet_version", {"int", 10901}}};
  return made;
}

/// A node whose bodies are graphs in it.
inline Json nodeWithGraphs(const std::string &op, const std::string &name,
                           const std::vector<int> &inputs, const Json &attributes,
                           const std::vector<Json> &graphs) {
  Json made = node(op, name, inputs, attributes);
  made["subgraphs"] = graphs;
  return made;
}

/// Data [steps, N, H] times a matrix, and the sums of all rows so far: nodes data, s, w, loop.
inline Json runningSum() {
  Json body =
      document({variable("x"), variable("w"), variable("before"),
                node("FullyConnected", "fc", {0, 1}, {{"num_hidden", "3"}, {"no_bias", "True"}}),
                node("elemwise_add", "sum", {3, 2}), node("_copy", "y", {4})});
  body["heads"] = {{5, 0, 0}, {4, 0, 0}};
  Json made = document({variable("data"), variable("s_data"), variable("w"),
                        nodeWithGraphs("_foreach", "loop", {0, 1, 2},
                                       {{"in_data_locs", "[0]"},
                                        {"in_state_locs", "[2]"},
                                        {"remain_locs", "[1]"},
                                        {"num_args", "4"},
                                        {"num_out_data", "1"},
                                        {"num_outputs", "2"}},
                                       {body})});
  made["heads"] = {{3, 0, 0}, {3, 1, 0}};
  made["node_row_ptr"] = {0, 1, 2, 3, 5};
  return made;
}

/// Data times a matrix, and a bias: nodes data, w, b, fc.
inline Json small() {
  return document({variable("data"), variable("w"), variable("b"),
                   node("FullyConnected", "fc", {0, 1, 2}, {{"num_hidden", "3"}})});
}

} // namespace lstmc::importers::mxnet
