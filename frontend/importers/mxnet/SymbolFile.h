// MXNet's symbol.json as a table of nodes: parsed and checked, not yet understood.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/base/Diagnostic.h"
#include "executor/base/Limits.h"
#include "executor/base/Status.h"
#include "executor/data/SymbolTable.h"

namespace lstmc::importers::mxnet {

/// An output of a node.
struct Edge {
  uint32_t node = 0, output = 0;
};

/// A symbol.json of any age: attributes under `attrs`, `attr` (0.9 to 0.11, and the user's of 0.8)
/// or `param` (0.8), inputs as pairs or triples.
///
/// Refused: text that is not JSON, a field of another kind (E0603); a field that is missing, an
/// edge to a node that does not exist, a node on a cycle, no head, an `arg_nodes` that names an
/// operator, a `node_row_ptr` that does not begin with 0, falls or has another length than one more
/// than the nodes, attributes of one key with two values (E0605); nesting, names, strings and
/// counts of nodes above `limits` (E0606); a key that an object has twice, two variables of one
/// name in one graph (E0612); a NUL in a text (E0604). Unknown fields are ignored: unknownFields()
/// names them.
///
/// A node may have graphs of its own in `subgraphs`: the body of a loop, the branches of a choice.
/// Each is checked like the network's graph. Nodes of all graphs are numbered together, in the
/// order in which they begin in the text; an edge connects nodes of one graph.
///
/// Parsed event by event, because the places of nodes in the text are kept for messages, and so
/// that memory stays below 64 MiB and 4 times the text: each node takes 48 bytes, each edge 8, each
/// attribute 8, and each different text its own length and about 30 bytes.
class SymbolFile {
public:
  static Result<SymbolFile> parse(std::string text, std::string file, const Limits &limits = {});

  const std::string &file() const { return file_; }
  size_t size() const { return nodes_.size(); }
  std::string_view op(size_t node) const { return texts_[size_t(nodes_[node].op)]; }
  std::string_view name(size_t node) const { return texts_[size_t(nodes_[node].name)]; }
  bool isVariable(size_t node) const { return op(node) == "null"; }
  std::span<const Edge> inputs(size_t node) const {
    const Node &of = nodes_[node];
    return std::span(edges_).subspan(of.edgesBegin, of.edgesEnd - of.edgesBegin);
  }
  /// Keys and texts, in the order of the file.
  std::vector<std::pair<std::string_view, std::string_view>> attributes(size_t node) const;
  /// Of graph `kNetwork`, or of one in a node.
  std::span<const Edge> heads(size_t graph = kNetwork) const { return graphs_[graph].heads; }
  static constexpr uint32_t kNetwork = 0;
  size_t graphCount() const { return graphs_.size(); }
  /// The graphs in a node, in the order of the file.
  std::span<const uint32_t> subgraphs(size_t node) const;
  /// 10901 of MXNet 1.9.1; 800 where the file does not say.
  int64_t version() const { return version_; }
  const std::vector<std::string> &unknownFields() const { return unknownFields_; }

  /// The line of the node's name, where it is written.
  SourceRange place(size_t node) const;

private:
  friend class SymbolReader;

  struct Node {
    int32_t op = -1, name = -1; ///< in texts_
    uint64_t byte = 0;          ///< of the name in the text
    uint32_t edgesBegin = 0, edgesEnd = 0, attributesBegin = 0, attributesEnd = 0;
    uint32_t line = 0, column = 0;
  };

  struct SubGraph {
    std::vector<uint32_t> nodes; ///< by their number in this graph
    std::vector<Edge> heads;
    uint32_t in = 0, node = 0, number = 0; ///< subgraphs[number] of nodes[node] of graph `in`
  };

  /// "nodes[3].subgraphs[0]."; empty for the network.
  std::string pathOf(uint32_t graph) const;
  Status checkVariables() const;
  Status resolveEdges(uint32_t which);
  Status checkNoCycle() const;
  void findLines();
  Place placeOf(size_t node) const;

  std::string file_, text_;
  data::SymbolTable texts_;
  std::vector<Node> nodes_;
  std::vector<SubGraph> graphs_;                        ///< in the order in which they begin
  std::map<uint32_t, std::vector<uint32_t>> subgraphs_; ///< of nodes that have some
  std::vector<Edge> edges_;
  std::vector<std::pair<int32_t, int32_t>> attributes_; ///< key and text
  int64_t version_ = 800;
  std::vector<std::string> unknownFields_;
};

/// Whether a text begins as a JSON object with a key does.
bool beginsAsObject(std::string_view begin);

} // namespace lstmc::importers::mxnet
