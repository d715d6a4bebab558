#include "frontend/importers/mxnet/SymbolFile.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <nlohmann/json.hpp>

#include "executor/base/ByteOrderMark.h"
#include "executor/base/Escape.h"
#include "executor/base/NoMemory.h"
#include "executor/base/Quote.h"
#include "executor/data/StrictJson.h"

namespace lstmc::importers::mxnet {

using nlohmann::json;

/// Line and column of a byte, from 1.
static std::pair<uint32_t, uint32_t> lineOf(std::string_view text, uint64_t byte) {
  std::string_view before = text.substr(0, byte);
  const size_t lineBegin = before.rfind('\n') + 1; // 0 where there is none
  return {uint32_t(1 + std::ranges::count(before, '\n')), uint32_t(1 + before.size() - lineBegin)};
}

namespace {

struct Field {
  std::string_view name;
  bool required = false, read = true;
};

constexpr Field kDocumentFields[] = {
    {"nodes", true}, {"heads", true}, {"arg_nodes"}, {"node_row_ptr"}, {"attrs"}};
/// Those that are not read have no effect on the network.
constexpr Field kNodeFields[] = {{"op", true},
                                 {"name", true},
                                 {"inputs", true},
                                 {"attrs"},
                                 {"attr"},
                                 {"param"},
                                 {"control_deps", false, false},
                                 {"backward_source_id", false, false},
                                 {"subgraphs"}};

} // namespace

/// Fills a SymbolFile from parser events, and stops at the first error.
class SymbolReader : public nlohmann::json_sax<json> {
public:
  SymbolReader(SymbolFile &to, std::string_view text, const char *const *position,
               const Limits &limits)
      : to_(to), text_(text), position_(position), limits_(limits) {}

  std::optional<Error> error;

  bool null() override { return skips() || takesAttributes() || wrong("null", wanted()); }
  bool boolean(bool value) override { return skips() || wrong(value ? "true" : "false", wanted()); }
  bool number_integer(number_integer_t value) override {
    if (skips())
      return true;
    if (at() != At::Edge && at() != At::HeadEdge && at() != At::ArgNodes && at() != At::RowPtr)
      return wrong(std::to_string(value), wanted());
    return refuse(ErrorCode::E0605, "{} is {}, want a number from 0", where(), value);
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (skips())
      return true;
    switch (at()) {
    case At::Edge:
    case At::HeadEdge:
      return edgeNumber(value);
    case At::ArgNodes:
      if (graph().argNodes.size() >= limits_.nodes)
        return tooMany("arg_nodes");
      graph().argNodes.push_back(index(value));
      return true;
    case At::RowPtr:
      return rowNumber(value);
    case At::Version:
      if (counts_.back()++ == 1 && openGraphs_.size() == 1)
        to_.version_ = int64_t(std::min<uint64_t>(value, INT64_MAX));
      return true;
    default:
      return wrong(std::to_string(value), wanted());
    }
  }
  bool number_float(number_float_t, const string_t &text) override {
    return skips() || wrong(shortened(text), wanted());
  }
  bool string(string_t &value) override {
    if (skips())
      return true;
    if (value.size() > limits_.jsonString)
      return refuse(ErrorCode::E0606, "{}: found {} bytes, want at most {} (limit json-string)",
                    where(), value.size(), limits_.jsonString);
    if (value.find('\0') != value.npos)
      return refuse(ErrorCode::E0604, "{}: found a NUL in the text", where());
    if (at() == At::Node && (field_ == "op" || field_ == "name"))
      return nodeText(value);
    if (at() == At::Attributes)
      return attribute(value);
    if (at() == At::Version) {
      ++counts_.back();
      return true;
    }
    return wrong(inQuotes(value), wanted());
  }
  bool binary(binary_t &) override { return false; }

  bool start_object(std::size_t) override {
    if (skips())
      return skipInto();
    if (open_.empty() || at() == At::SubGraphs)
      return beginGraph();
    if (at() == At::Nodes)
      return beginNode();
    if (takesAttributes())
      return enter(at() == At::Document ? At::GraphAttributes : At::Attributes);
    return wrong("an object", wanted());
  }
  bool key(string_t &name) override {
    if (skipped_ > 0)
      return true;
    if (name.size() > limits_.name)
      return refuse(ErrorCode::E0606, "key: found {} bytes, want at most {} (limit name)",
                    name.size(), limits_.name);
    if (name.find('\0') != name.npos)
      return refuse(ErrorCode::E0604, "key: found a NUL in the text");
    if (at() == At::Attributes) {
      attributeKey_ = std::move(name);
      return true;
    }
    field_ = std::move(name);
    if (at() == At::GraphAttributes)
      return true;
    const std::span<const Field> known = at() == At::Document
                                             ? std::span<const Field>(kDocumentFields)
                                             : std::span<const Field>(kNodeFields);
    const auto found = std::ranges::find(known, field_, &Field::name);
    if (found == known.end()) {
      noteUnknown();
      return true;
    }
    const uint32_t bit = 1u << (found - known.begin());
    uint32_t &have = at() == At::Document ? graph().haveDocument : graph().haveNode;
    if (have & bit)
      return refuse(ErrorCode::E0612, "{}: found the key twice in one object", where());
    have |= bit;
    return true;
  }
  bool end_object() override {
    if (skipped_ > 0)
      return skipOut();
    const At ended = leave();
    if (ended == At::Node)
      return endNode();
    if (ended == At::Document)
      return endGraph();
    return true;
  }

  bool start_array(std::size_t) override {
    if (skips())
      return skipInto();
    if (at() == At::Document && !open_.empty()) {
      if (field_ == "nodes")
        return enter(At::Nodes);
      if (field_ == "heads")
        return enter(At::Heads);
      if (field_ == "arg_nodes")
        return enter(At::ArgNodes);
      if (field_ == "node_row_ptr")
        return enter(At::RowPtr);
    } else if (at() == At::Node && field_ == "inputs") {
      currentNode().edgesBegin = uint32_t(to_.edges_.size());
      return enter(At::Inputs);
    } else if (at() == At::Node && field_ == "subgraphs") {
      return enter(At::SubGraphs);
    } else if (at() == At::Inputs || at() == At::Heads) {
      edge_ = {};
      return enter(at() == At::Inputs ? At::Edge : At::HeadEdge);
    } else if (at() == At::GraphAttributes) { // of mxnet_version; others are skipped
      return enter(At::Version);
    }
    return wrong("a list", wanted());
  }
  bool end_array() override {
    if (skipped_ > 0)
      return skipOut();
    if (at() == At::Edge || at() == At::HeadEdge) {
      if (counts_.back() < 2) {
        const uint64_t numbers = counts_.back();
        leave();
        return refuse(ErrorCode::E0603,
                      "this is no symbol.json: {} has {} numbers, want a node and an output",
                      where(), numbers);
      }
      (at() == At::Edge ? to_.edges_ : stored().heads).push_back(edge_);
      leave();
      ++counts_.back();
      return true;
    }
    if (leave() == At::Inputs)
      currentNode().edgesEnd = uint32_t(to_.edges_.size());
    return true;
  }
  bool parse_error(std::size_t byte, const std::string &, const json::exception &fault) override {
    std::string_view what = fault.what();
    const size_t colon = what.rfind("; ");
    what = colon == what.npos ? what : what.substr(colon + 2);
    error = errorAt(byte == 0 ? 0 : byte - 1, ErrorCode::E0603, "this is no symbol.json: {}",
                    escaped(what));
    return false;
  }

private:
  /// What is open.
  enum class At {
    Document,
    Nodes,
    Node,
    Inputs,
    Edge,
    Attributes,
    SubGraphs,
    Heads,
    HeadEdge,
    ArgNodes,
    RowPtr,
    GraphAttributes,
    Version,
  };
  At at() const { return open_.empty() ? At::Document : open_.back(); }
  bool enter(At what) {
    if (open_.size() >= limits_.depth)
      return tooDeep();
    open_.push_back(what);
    counts_.push_back(0);
    if (what == At::Document)
      field_.clear();
    return true;
  }
  At leave() {
    const At left = open_.back();
    open_.pop_back();
    counts_.pop_back();
    return left;
  }
  bool tooDeep() {
    return refuse(ErrorCode::E0606, "nesting: found more than {} levels (limit depth)",
                  limits_.depth);
  }
  bool tooMany(std::string_view what) {
    return refuse(ErrorCode::E0606, "{}: found more than {} (limit nodes)", what, limits_.nodes);
  }

  //===---- what is not read ------------------------------------------------------------------===//

  /// Whether the value that begins now, or the one that is open, is not read.
  bool skips() const {
    if (skipped_ > 0)
      return true;
    if (open_.empty())
      return false;
    switch (at()) {
    case At::Document:
      return !reads(kDocumentFields);
    case At::Node:
      return !reads(kNodeFields);
    case At::GraphAttributes:
      return field_ != "mxnet_version";
    default:
      return false;
    }
  }
  bool reads(std::span<const Field> fields) const {
    return std::ranges::any_of(
        fields, [&](const Field &field) { return field.name == field_ && field.read; });
  }
  bool skipInto() {
    if (open_.size() + ++skipped_ > limits_.depth)
      return tooDeep();
    return true;
  }
  bool skipOut() {
    --skipped_;
    return true;
  }
  void noteUnknown() {
    constexpr size_t kMost = 8;
    std::vector<std::string> &fields = to_.unknownFields_;
    if (fields.size() < kMost && std::ranges::find(fields, field_) == fields.end())
      fields.push_back(field_);
  }

  //===---- nodes -----------------------------------------------------------------------------===//

  bool beginNode() {
    if (to_.nodes_.size() >= limits_.nodes)
      return tooMany("nodes");
    stored().nodes.push_back(uint32_t(to_.nodes_.size()));
    to_.nodes_.emplace_back();
    graph().haveNode = 0;
    graph().attributes.clear();
    return enter(At::Node);
  }
  bool endNode() {
    SymbolFile::Node &node = currentNode();
    node.attributesBegin = uint32_t(to_.attributes_.size());
    to_.attributes_.insert(to_.attributes_.end(), graph().attributes.begin(),
                           graph().attributes.end());
    node.attributesEnd = uint32_t(to_.attributes_.size());
    if (const Field *absent = firstAbsent(graph().haveNode, kNodeFields))
      return refuse(ErrorCode::E0603, "this is no symbol.json: there is no {}.{}", nodePath(),
                    absent->name);
    ++counts_.back();
    return true;
  }

  //===---- graphs ----------------------------------------------------------------------------===//

  /// A graph that is open: the network's, and those in nodes of it, outermost first.
  struct OpenGraph {
    uint32_t number = 0;
    uint32_t haveDocument = 0, haveNode = 0;             ///< bits of the fields that stood already
    std::vector<std::pair<int32_t, int32_t>> attributes; ///< of the node that is open
    bool wasLeft = false; ///< for a graph in that node since its attributes were noted in `seen_`
    std::vector<uint32_t> argNodes;
    uint64_t rows = 0, lastRow = 0;
  };
  OpenGraph &graph() { return openGraphs_.back(); }
  SymbolFile::SubGraph &stored() { return to_.graphs_[openGraphs_.back().number]; }
  const SymbolFile::SubGraph &stored() const { return to_.graphs_[openGraphs_.back().number]; }
  SymbolFile::Node &currentNode() { return to_.nodes_[stored().nodes.back()]; }

  bool beginGraph() {
    if (to_.graphs_.size() > limits_.nodes)
      return tooMany("subgraphs");
    SymbolFile::SubGraph begun;
    if (!openGraphs_.empty()) {
      begun.in = graph().number;
      begun.node = uint32_t(stored().nodes.size() - 1);
      begun.number = uint32_t(counts_.back());
      to_.subgraphs_[stored().nodes.back()].push_back(uint32_t(to_.graphs_.size()));
      graph().wasLeft = true;
    }
    openGraphs_.push_back({.number = uint32_t(to_.graphs_.size())});
    to_.graphs_.push_back(std::move(begun));
    return enter(At::Document);
  }
  bool endGraph() {
    if (const Field *absent = firstAbsent(graph().haveDocument, kDocumentFields))
      return refuse(ErrorCode::E0603, "this is no symbol.json: there is no {}{}", graphPath(),
                    absent->name);
    if (!checkLists())
      return false;
    openGraphs_.pop_back();
    if (!counts_.empty())
      ++counts_.back();
    return true;
  }
  /// What only a whole graph shows.
  bool checkLists() {
    const SymbolFile::SubGraph &whole = stored();
    const std::vector<uint32_t> &named = graph().argNodes;
    auto refuseAt = [&](uint64_t byte, std::string message) {
      error = errorAt(byte, ErrorCode::E0605, "{}{}", graphPath(), message);
      return false;
    };
    for (size_t i = 0; i < named.size(); ++i) {
      if (named[i] >= whole.nodes.size())
        return refuseAt(here(), fmt::format("arg_nodes[{}] is {}, there are {} nodes", i, named[i],
                                            whole.nodes.size()));
      const uint32_t node = whole.nodes[named[i]];
      if (!to_.isVariable(node))
        return refuseAt(to_.nodes_[node].byte,
                        fmt::format("arg_nodes[{}] is node {}, a {}: want a variable", i, named[i],
                                    to_.op(node)));
    }
    if (const uint64_t rows = graph().rows; rows > 0 && rows != whole.nodes.size() + 1)
      return refuseAt(here(), fmt::format("node_row_ptr has {} numbers, want {}, one more than "
                                          "there are nodes",
                                          rows, whole.nodes.size() + 1));
    if (whole.heads.empty())
      return refuseAt(here(), "heads: found none, want at least one output");
    return true;
  }

  static const Field *firstAbsent(uint32_t have, std::span<const Field> fields) {
    for (size_t i = 0; i < fields.size(); ++i)
      if (fields[i].required && !(have & 1u << i))
        return &fields[i];
    return nullptr;
  }
  bool nodeText(const std::string &value) {
    if (value.size() > limits_.name)
      return refuse(ErrorCode::E0606, "{}: found {} bytes, want at most {} (limit name)", where(),
                    value.size(), limits_.name);
    SymbolFile::Node &node = currentNode();
    (field_ == "op" ? node.op : node.name) = to_.texts_.add(value).first;
    if (field_ == "name")
      node.byte = here() - std::min<uint64_t>(here(), value.size() + 2);
    return true;
  }

  /// Whether the value at hand is a dict of attributes.
  bool takesAttributes() const {
    if (open_.empty())
      return false;
    return at() == At::Document
               ? field_ == "attrs"
               : at() == At::Node && (field_ == "attrs" || field_ == "attr" || field_ == "param");
  }
  /// One key of a node has one value, wherever it stands; twice in one dict is refused.
  bool attribute(const std::string &value) {
    if (std::exchange(graph().wasLeft, false))
      noteAttributes();
    auto &attributes = graph().attributes;
    const int32_t key = to_.texts_.add(attributeKey_).first;
    const int32_t text = to_.texts_.add(value).first;
    if (seen_.size() <= size_t(key))
      seen_.resize(std::max(size_t(key) + 1, 2 * seen_.size()));
    Seen &seen = seen_[size_t(key)];
    const uint32_t node = stored().nodes.back();
    const bool again = seen.node == node + 1;
    if (again && seen.dict == graph().haveNode)
      return refuse(ErrorCode::E0612, "{}: found the key twice in one object", where());
    if (again && attributes[seen.attribute].second != text)
      return refuse(ErrorCode::E0605, "{} is {} and {}", where(), inQuotes(value),
                    inQuotes(to_.texts_[size_t(attributes[seen.attribute].second)]));
    if (!again)
      attributes.emplace_back(key, text);
    seen = {node + 1, graph().haveNode, again ? seen.attribute : uint32_t(attributes.size() - 1)};
    return true;
  }
  /// Notes what the node has, because nodes of a graph in it may have the same keys.
  void noteAttributes() {
    for (uint32_t i = 0; i < graph().attributes.size(); ++i)
      seen_[size_t(graph().attributes[i].first)] = {stored().nodes.back() + 1, 0, i};
  }

  //===---- numbers ---------------------------------------------------------------------------===//

  /// A number of a node or output; one that none has for a larger one.
  static uint32_t index(uint64_t value) { return uint32_t(std::min<uint64_t>(value, UINT32_MAX)); }

  bool edgeNumber(uint64_t value) {
    const uint64_t number = counts_.back()++;
    if (number == 0)
      edge_.node = index(value);
    else if (number == 1)
      edge_.output = index(value);
    return true; // the version of a variable that an op changes
  }
  bool rowNumber(uint64_t value) {
    uint64_t &rows = graph().rows;
    const uint64_t least = rows == 0 ? 0 : graph().lastRow;
    if (value < least || (rows == 0 && value != 0))
      return refuse(ErrorCode::E0605, "{} is {}, want {}", where(), value,
                    rows == 0 ? "0" : fmt::format("at least {}, as before it", least));
    ++rows;
    ++counts_.back();
    graph().lastRow = value;
    return true;
  }

  //===---- messages --------------------------------------------------------------------------===//

  uint64_t here() const { return uint64_t(*position_ - text_.data()); }

  template <typename... Args>
  Error errorAt(uint64_t byte, ErrorCode code, fmt::format_string<Args...> format,
                Args &&...args) const {
    auto [line, column] = lineOf(text_, std::min<uint64_t>(byte, text_.size()));
    return failAt({to_.file_, int(line), int(column)}, code, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  bool refuse(ErrorCode code, fmt::format_string<Args...> format, Args &&...args) {
    error = errorAt(here() == 0 ? 0 : here() - 1, code, format, std::forward<Args>(args)...);
    return false;
  }
  bool wrong(std::string_view found, std::string_view want) {
    return refuse(ErrorCode::E0603, "this is no symbol.json: {} is {}, want {}", where(), found,
                  want);
  }
  static std::string shortened(std::string_view text) {
    constexpr size_t kShown = 40;
    return std::string(text.substr(0, kShown)) + (text.size() > kShown ? ".." : "");
  }

  /// What the value at hand is to be.
  std::string_view wanted() const {
    if (open_.empty())
      return "an object";
    switch (at()) {
    case At::Document:
      return field_ == "attrs" ? "an object" : "a list";
    case At::Node:
      return field_ == "op" || field_ == "name"            ? "a string"
             : field_ == "inputs" || field_ == "subgraphs" ? "a list"
                                                           : "an object";
    case At::Nodes:
      return "an object";
    case At::Inputs:
    case At::Heads:
    case At::GraphAttributes:
      return "a list";
    case At::SubGraphs:
      return "an object";
    case At::Attributes:
    case At::Version:
      return "a string";
    case At::Edge:
    case At::HeadEdge:
    case At::ArgNodes:
    case At::RowPtr:
      break;
    }
    return "an integer";
  }
  std::string graphPath() const { return to_.pathOf(openGraphs_.back().number); }
  /// "nodes[3]", the node at hand.
  std::string nodePath() const {
    const size_t nodes = stored().nodes.size();
    return nodes == 0 ? std::string() : fmt::format("{}nodes[{}]", graphPath(), nodes - 1);
  }
  /// The path of the value at hand: "nodes[3].inputs[0][1]".
  std::string where() const {
    if (open_.empty())
      return "the text";
    const std::string node = nodePath(), path = graphPath();
    const uint64_t number = counts_.back();
    const uint64_t outer = counts_.size() > 1 ? counts_[counts_.size() - 2] : 0;
    switch (at()) {
    case At::Document:
      return path + field_;
    case At::Nodes:
      return fmt::format("{}nodes[{}]", path, number);
    case At::Node:
      return node + "." + field_;
    case At::Inputs:
      return fmt::format("{}.inputs[{}]", node, number);
    case At::Edge:
      return fmt::format("{}.inputs[{}][{}]", node, outer, number);
    case At::Attributes:
      return fmt::format("{}.{}.{}", node, field_, attributeKey_);
    case At::SubGraphs:
      return fmt::format("{}.subgraphs[{}]", node, number);
    case At::Heads:
      return fmt::format("{}heads[{}]", path, number);
    case At::HeadEdge:
      return fmt::format("{}heads[{}][{}]", path, outer, number);
    case At::ArgNodes:
      return fmt::format("{}arg_nodes[{}]", path, openGraphs_.back().argNodes.size());
    case At::RowPtr:
      return fmt::format("{}node_row_ptr[{}]", path, number);
    case At::GraphAttributes:
    case At::Version:
      break;
    }
    return path + "attrs." + field_;
  }

  SymbolFile &to_;
  std::string_view text_;
  const char *const *position_;
  const Limits &limits_;

  std::vector<At> open_;
  std::vector<uint64_t> counts_; ///< values that each of them has so far
  uint64_t skipped_ = 0;         ///< open objects and lists that are not read
  std::string field_, attributeKey_;
  std::vector<OpenGraph> openGraphs_;

  /// The last node, by its number from 1, that has a key, in which dict, and the attribute.
  struct Seen {
    uint32_t node = 0, dict = 0, attribute = 0;
  };
  std::vector<Seen> seen_; ///< by the key's number

  Edge edge_;
};

Result<SymbolFile> SymbolFile::parse(std::string text, std::string file, const Limits &limits) try {
  SymbolFile symbol;
  symbol.file_ = file;
  symbol.text_ = std::move(text);
  const std::string_view whole = withoutByteOrderMark(symbol.text_);
  if (whole.size() > uint64_t(INT32_MAX))
    return failAt({symbol.file_}, ErrorCode::E0606, "text: found {} bytes, want at most {}",
                  whole.size(), INT32_MAX);
  const char *position = whole.data();
  SymbolReader reader(symbol, whole, &position, limits);
  data::CountingIterator begin{whole.data(), &position};
  data::CountingIterator end{whole.data() + whole.size(), &position};
  const bool parsed = json::sax_parse(begin, end, &reader);
  if (reader.error)
    return *reader.error;
  if (!parsed)
    return failAt({symbol.file_, 1, 1}, ErrorCode::E0603, "this is no symbol.json");
  symbol.text_.erase(0, symbol.text_.size() - whole.size());
  symbol.findLines();
  for (uint32_t graph = 0; graph < symbol.graphs_.size(); ++graph)
    LSTMC_TRY(symbol.resolveEdges(graph));
  LSTMC_TRY(symbol.checkVariables());
  LSTMC_TRY(symbol.checkNoCycle());
  return symbol;
} catch (const std::bad_alloc &) {
  return noMemory(file);
}

std::vector<std::pair<std::string_view, std::string_view>>
SymbolFile::attributes(size_t node) const {
  std::vector<std::pair<std::string_view, std::string_view>> all;
  for (size_t i = nodes_[node].attributesBegin; i < nodes_[node].attributesEnd; ++i)
    all.emplace_back(texts_[size_t(attributes_[i].first)], texts_[size_t(attributes_[i].second)]);
  return all;
}

std::span<const uint32_t> SymbolFile::subgraphs(size_t node) const {
  auto found = subgraphs_.find(uint32_t(node));
  return found == subgraphs_.end() ? std::span<const uint32_t>() : std::span(found->second);
}

std::string SymbolFile::pathOf(uint32_t graph) const {
  std::string path;
  for (; graph != kNetwork; graph = graphs_[graph].in)
    path =
        fmt::format("nodes[{}].subgraphs[{}].", graphs_[graph].node, graphs_[graph].number) + path;
  return path;
}

/// Names of nodes stand in the text one after the other, but for nodes with graphs in them that say
/// their own name last.
void SymbolFile::findLines() {
  std::vector<uint32_t> order(nodes_.size());
  std::iota(order.begin(), order.end(), 0);
  auto byte = [&](uint32_t node) { return nodes_[node].byte; };
  if (!std::ranges::is_sorted(order, {}, byte))
    std::ranges::sort(order, {}, byte);
  uint32_t line = 1;
  uint64_t at = 0, lineBegin = 0;
  for (uint32_t number : order) {
    Node &node = nodes_[number];
    for (; at < node.byte; ++at)
      if (text_[at] == '\n') {
        ++line;
        lineBegin = at + 1;
      }
    node.line = line;
    node.column = uint32_t(node.byte - lineBegin + 1);
  }
}

Place SymbolFile::placeOf(size_t node) const {
  return {file_, int(nodes_[node].line), int(nodes_[node].column)};
}

SourceRange SymbolFile::place(size_t node) const {
  constexpr size_t kLongestLine = 400;
  const Node &at = nodes_[node];
  SourceRange range;
  range.file = file_;
  range.line = int(at.line);
  range.column = int(at.column);
  range.byte = int64_t(at.byte);
  range.length = int(name(node).size()) + 2;
  range.bytes = range.length;
  if (at.column > kLongestLine)
    return range;
  // Looks no further than a line may be long: a file may have one line of many megabytes.
  const std::string_view line =
      std::string_view(text_).substr(at.byte - (at.column - 1), kLongestLine + 1);
  if (const size_t length = line.find('\n'); length != line.npos || line.size() <= kLongestLine)
    range.text = line.substr(0, length);
  return range;
}

/// Edges as the graph numbers its nodes become edges of all nodes.
Status SymbolFile::resolveEdges(uint32_t which) {
  SubGraph &graph = graphs_[which];
  const std::vector<uint32_t> &nodes = graph.nodes;
  for (size_t number = 0; number < nodes.size(); ++number)
    for (uint32_t edge = nodes_[nodes[number]].edgesBegin; edge < nodes_[nodes[number]].edgesEnd;
         ++edge) {
      uint32_t &source = edges_[edge].node;
      if (source >= nodes.size())
        return failAt(placeOf(nodes[number]), ErrorCode::E0605,
                      "{}nodes[{}].inputs[{}] is node {}, there are {} nodes", pathOf(which),
                      number, edge - nodes_[nodes[number]].edgesBegin, source, nodes.size());
      source = nodes[source];
    }
  for (size_t i = 0; i < graph.heads.size(); ++i) {
    uint32_t &source = graph.heads[i].node;
    if (source >= nodes.size())
      return failAt({file_}, ErrorCode::E0605, "{}heads[{}] is node {}, there are {} nodes",
                    pathOf(which), i, source, nodes.size());
    source = nodes[source];
  }
  return {};
}

Status SymbolFile::checkVariables() const {
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<std::pair<uint32_t, uint32_t>> owner(texts_.size(), {kNone, 0}); // graph, number
  for (uint32_t in = 0; in < graphs_.size(); ++in) {
    const SubGraph &graph = graphs_[in];
    for (uint32_t number = 0; number < graph.nodes.size(); ++number) {
      const uint32_t node = graph.nodes[number];
      if (!isVariable(node))
        continue;
      auto &earlier = owner[size_t(nodes_[node].name)];
      if (earlier.first == in)
        return failAt(placeOf(node), ErrorCode::E0612,
                      "{0}nodes[{1}]: found variable {2}, which {0}nodes[{3}] is too", pathOf(in),
                      number, inQuotes(name(node)), earlier.second);
      earlier = {in, number};
      if (!inputs(node).empty())
        return failAt(placeOf(node), ErrorCode::E0605,
                      "{}nodes[{}]: found a variable with {} inputs", pathOf(in), number,
                      inputs(node).size());
    }
  }
  return {};
}

/// Visits all nodes depth first; one that is met while it is open reads itself.
Status SymbolFile::checkNoCycle() const {
  enum class Mark : uint8_t { New, Open, Done };
  std::vector<Mark> marks(nodes_.size(), Mark::New);
  std::vector<std::pair<uint32_t, uint32_t>> work; // node, and its next input
  for (uint32_t root = 0; root < nodes_.size(); ++root) {
    if (marks[root] != Mark::New)
      continue;
    work.emplace_back(root, 0);
    marks[root] = Mark::Open;
    while (!work.empty()) {
      auto &[node, next] = work.back();
      if (next == inputs(node).size()) {
        marks[node] = Mark::Done;
        work.pop_back();
        continue;
      }
      const uint32_t source = inputs(node)[next++].node;
      if (marks[source] == Mark::Open)
        return failAt(placeOf(source), ErrorCode::E0605, "{} depends on itself",
                      inQuotes(name(source)));
      if (marks[source] == Mark::New) {
        marks[source] = Mark::Open;
        work.emplace_back(source, 0);
      }
    }
  }
  return {};
}

bool beginsAsObject(std::string_view begin) {
  constexpr std::string_view kBlanks = " \t\r\n";
  begin = withoutByteOrderMark(begin);
  size_t at = begin.find_first_not_of(kBlanks);
  if (at == begin.npos || begin[at] != '{')
    return false;
  at = begin.find_first_not_of(kBlanks, at + 1);
  return at != begin.npos && begin[at] == '"';
}

} // namespace lstmc::importers::mxnet
