#include "frontend/importers/mxnet/SymbolWriter.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include <fmt/format.h>

#include "executor/base/Quote.h"
#include "frontend/importers/mxnet/AttributeText.h"
#include "frontend/importers/mxnet/InitialiserText.h"
#include "frontend/importers/mxnet/JsonText.h"
#include "ir/sym/FileRecord.h"

namespace lstmc::importers::mxnet {

using symbol::EdgeView, symbol::GraphView, symbol::NodeView, symbol::OpSignature;

namespace {

constexpr std::string_view kVersion = "10901"; ///< of the MXNet whose format is written
constexpr std::string_view kJoined = "_rnn_param_concat";
constexpr std::string_view kBatch = "batch"; ///< the dim that MXNet infers

/// A step of an op that MXNet lacks: it reads x (-1) or earlier steps.
struct Step {
  std::string_view op, attribute, value;
  std::array<int, 2> inputs;
  int count = 1;
};
constexpr int kX = -1;
constexpr Step kSoftRelu = {"Activation", "act_type", "softrelu", {kX}};
constexpr Step negated(int of) { return {"_mul_scalar", "scalar", "-1.0", {of}}; }
struct Formula {
  std::string_view op;
  std::vector<Step> steps;
};
const Formula *formulaOf(std::string_view op) {
  static const Formula kFormulas[] = {
      {"softplus", {kSoftRelu}},
      {"log_sigmoid", {negated(kX), {"Activation", "act_type", "softrelu", {0}}, negated(1)}},
      {"silu", {{"sigmoid", "", "", {kX}}, {"elemwise_mul", "", "", {kX, 0}, 2}}},
      {"mish", {kSoftRelu, {"tanh", "", "", {0}}, {"elemwise_mul", "", "", {kX, 1}, 2}}},
      {"gelu", {{"LeakyReLU", "act_type", "gelu", {kX}}}}};
  const auto *found = std::ranges::find(kFormulas, op, &Formula::op);
  return found == std::end(kFormulas) ? nullptr : found;
}

/// A node of the file.
struct Written {
  std::string op, name;
  NodeMarks attributes;
  std::vector<std::array<size_t, 2>> inputs; ///< node and output
  int outputs = 1;
};

using Entry = std::array<size_t, 2>;
/// An input or a node of the view.
using Key = std::pair<bool, size_t>;

/// Extents that are open are 0, and so is the batch where `dims`, the names of the extents, say it.
std::string shapeText(const symbol::Shape &shape, const std::vector<std::string> &dims = {}) {
  symbol::Tuple extents;
  for (size_t i = 0; i < shape.dims.size(); ++i)
    extents.push_back(
        i < dims.size() && dims[i] == kBatch ? 0 : std::max<int64_t>(shape.dims[i].extent, 0));
  return attributeText(extents);
}

const symbol::AttributeValue *find(const NodeView &node, std::string_view name) {
  const auto found = std::ranges::find(node.attributes, name, &symbol::NamedAttribute::name);
  return found == node.attributes.end() ? nullptr : &found->value;
}
int64_t integer(const NodeView &node, std::string_view name, int64_t otherwise) {
  const symbol::AttributeValue *value = find(node, name);
  const int64_t *number = value ? std::get_if<int64_t>(value) : nullptr;
  return number ? *number : otherwise;
}
std::string word(const NodeView &node, std::string_view name) {
  const symbol::AttributeValue *value = find(node, name);
  const std::string *text = value ? std::get_if<std::string>(value) : nullptr;
  return text ? *text : std::string();
}
int64_t directionsOf(const NodeView &node) {
  const symbol::AttributeValue *value = find(node, "bidirectional");
  const bool *both = value ? std::get_if<bool>(value) : nullptr;
  return both && *both ? 2 : 1;
}

class SymbolWriter {
public:
  SymbolWriter(const GraphView &view, const SymbolMarks &marks) : view_(view), marks_(marks) {}

  Result<SymbolText> run() {
    findPackedShapes();
    findStates();
    for (const EdgeView &head : view_.outputs)
      LSTMC_TRY(add(head));
    return SymbolText{text(), std::move(warnings_)};
  }

private:
  const NodeView *nodeAt(const EdgeView &edge) const {
    return edge.input ? nullptr : &view_.nodes[edge.index];
  }
  static Key keyOf(const EdgeView &edge) { return {edge.input, edge.index}; }
  Entry entryOf(const EdgeView &edge) const {
    return {numbers_.at(keyOf(edge)), size_t(edge.output)};
  }
  const SymbolMarks::Vector *vectorOf(const NodeView &node) const {
    const auto found = marks_.vectors.find(node.name);
    return found == marks_.vectors.end() ? nullptr : &found->second;
  }
  static const EdgeView *inputOf(const NodeView &node, std::string_view name) {
    const auto found =
        std::ranges::find_if(node.inputs, [&](const auto &input) { return input.first == name; });
    return found == node.inputs.end() ? nullptr : &found->second;
  }

  //===---- shapes that MXNet does not infer --------------------------------------------------===//

  /// Of all that is joined to a vector. The widths of matrices above the first layer follow from
  /// the layer that reads it, whether or not shapes are known.
  void findPackedShapes() {
    for (const NodeView &node : view_.nodes)
      if (node.op == kJoined)
        for (const auto &[name, part] : node.inputs)
          if (const NodeView *source = nodeAt(part); source && source->shape.ranked)
            packed_[part.index] = source->shape;
    for (const NodeView &node : view_.nodes) {
      const EdgeView *vector = node.op == "RNN" ? inputOf(node, "parameters") : nullptr;
      const NodeView *joined = vector ? nodeAt(*vector) : nullptr;
      if (joined && joined->op == kJoined)
        widenUpperLayers(node, *joined);
    }
  }
  void widenUpperLayers(const NodeView &layer, const NodeView &joined) {
    const int64_t layers = integer(layer, "num_layers", 1), directions = directionsOf(layer);
    const int64_t width =
        integer(layer, "projection_size", integer(layer, "state_size", symbol::kUnknown));
    if (layers * directions == 0)
      return;
    // Of each layer and direction some matrices, and two biases.
    const int64_t each = int64_t(joined.inputs.size()) / (layers * directions) - 2;
    for (int64_t i = each * directions; each > 0 && i < each * layers * directions; i += each) {
      const EdgeView &part = joined.inputs[size_t(i)].second;
      if (auto shape = packed_.find(part.index);
          !part.input && shape != packed_.end() && shape->second.dims.size() == 2)
        shape->second.dims[1] = {directions * width, {}};
    }
  }

  /// Begin states of recurrent layers, whose second axis is the batch.
  void findStates() {
    for (const NodeView &node : view_.nodes)
      if (node.op == "RNN")
        for (std::string_view name : {"state", "state_cell"})
          if (const EdgeView *state = inputOf(node, name); state && !state->input)
            states_.insert(state->index);
  }

  //===---- nodes -----------------------------------------------------------------------------===//

  /// Adds nodes depth first, inputs from left to right, each once.
  Status add(const EdgeView &head) {
    std::vector<std::pair<EdgeView, bool>> work = {{head, false}};
    while (!work.empty()) {
      auto [edge, isReady] = work.back();
      work.pop_back();
      if (numbers_.contains(keyOf(edge)))
        continue;
      const NodeView *node = nodeAt(edge);
      if (!isReady && node && !vectorOf(*node)) {
        work.emplace_back(edge, true);
        for (auto input = node->inputs.rbegin(); input != node->inputs.rend(); ++input)
          work.emplace_back(input->second, false);
        continue;
      }
      if (!node) {
        numbers_[keyOf(edge)] = emitInput(view_.inputs[edge.index].name);
        continue;
      }
      LSTMC_ASSIGN(const size_t number, emitNode(*node, edge.index));
      numbers_[keyOf(edge)] = number;
    }
    return {};
  }

  size_t emit(Written node) {
    written_.push_back(std::move(node));
    return written_.size() - 1;
  }

  NodeMarks marksFor(const std::string &name) const {
    const auto found = marks_.nodes.find(name);
    return found == marks_.nodes.end() ? NodeMarks() : found->second;
  }
  /// What every node may have.
  NodeMarks marksFor(const NodeView &node) const {
    NodeMarks attributes = marksFor(node.name);
    if (!node.group.empty())
      attributes["__ctx_group__"] = node.group;
    if (node.recompute)
      attributes["__force_mirroring__"] = "True";
    return attributes;
  }

  size_t emitInput(const std::string &name) { return emit({"null", name, marksFor(name), {}}); }

  Result<size_t> emitNode(const NodeView &node, size_t index) {
    if (const SymbolMarks::Vector *vector = vectorOf(node))
      return emitVector(*vector);
    switch (node.kind) {
    case NodeView::Kind::Variable:
      return emitVariable(node, index);
    case NodeView::Kind::BeginState:
      return emitZeros(node.name,
                       shapeText(node.shape, states_.contains(index)
                                                 ? std::vector<std::string>{"", std::string(kBatch)}
                                                 : node.dims),
                       node.dtype);
    case NodeView::Kind::Op:
      break;
    }
    const std::string activation = node.op == "Activation" ? word(node, "act_type") : "";
    if (const Formula *formula = formulaOf(activation.empty() ? node.op : activation))
      return emitFormula(node, *formula);
    return emitCall(node);
  }

  /// One, for all layers that read it.
  size_t emitVector(const SymbolMarks::Vector &vector) {
    auto [found, isNew] = vectorNumbers_.try_emplace(vector.variable, 0);
    if (isNew)
      found->second = emit({"null", vector.variable, {{"__init__", vector.init}}, {}});
    return found->second;
  }

  size_t emitVariable(const NodeView &node, size_t index) {
    NodeMarks attributes = marksFor(node);
    if (auto shape = packed_.find(index); shape != packed_.end())
      attributes["__shape__"] = shapeText(shape->second);
    if (node.lrMult)
      attributes["__lr_mult__"] = attributeText(*node.lrMult);
    if (node.wdMult)
      attributes["__wd_mult__"] = attributeText(*node.wdMult);
    if (std::string init = textOfInitialiser(node.init, node.name); !init.empty())
      attributes.try_emplace("__init__", std::move(init));
    return emit({"null", node.name, std::move(attributes), {}});
  }

  /// Zeros; MXNet infers an extent that is written as 0.
  size_t emitZeros(const std::string &name, std::string shape, DType dtype) {
    NodeMarks attributes = {{"shape", std::move(shape)}};
    if (dtype != DType::F32)
      attributes["dtype"] = dtypeLongName(dtype);
    return emit({"_zeros", name, std::move(attributes), {}});
  }

  size_t emitFormula(const NodeView &node, const Formula &formula) {
    const Entry x = entryOf(node.inputs.front().second);
    std::vector<size_t> numbers;
    for (size_t i = 0; i < formula.steps.size(); ++i) {
      const Step &step = formula.steps[i];
      const bool isLast = i + 1 == formula.steps.size();
      Written made{std::string(step.op),
                   isLast ? node.name : fmt::format("{}_{}", node.name, i),
                   isLast ? marksFor(node) : scopesOf(node),
                   {}};
      if (!step.attribute.empty())
        made.attributes.insert_or_assign(std::string(step.attribute), step.value);
      for (int input : std::span(step.inputs).first(size_t(step.count)))
        made.inputs.push_back(input == kX ? x : Entry{numbers[size_t(input)], 0});
      numbers.push_back(emit(std::move(made)));
    }
    return numbers.back();
  }
  /// Group and recomputation, without marks.
  NodeMarks scopesOf(const NodeView &node) const {
    NodeView unnamed;
    unnamed.group = node.group;
    unnamed.recompute = node.recompute;
    return marksFor(unnamed);
  }

  Result<size_t> emitCall(const NodeView &node) {
    static const std::vector<symbol::OpAttribute> kNoAttributes;
    const OpSignature *op = symbol::findOp(node.op);
    const sym::FileRecord *record = sym::fileRecordOf(op ? std::string_view(op->name) : node.op);
    if (record && record->missing)
      warnings_.push_back(fmt::format("{}: MXNet 1.9.1 has no {}, so it does not load this "
                                      "network; lstmc does",
                                      inQuotes(node.name), node.op));
    // An alias that is an op of its own in MXNet has none of these attributes there.
    Written made{op && !node.attributes.empty() ? op->name : node.op,
                 node.name,
                 marksFor(node),
                 {},
                 node.outputs};
    LSTMC_ASSIGN(made.inputs, node.op == "RNN" ? rnnInputs(node) : plainInputs(node, op));
    if (op && op->variadic)
      made.attributes["num_args"] = std::to_string(made.inputs.size());
    for (const symbol::OpAttribute &attribute : op ? op->attributes : kNoAttributes)
      if (record && std::ranges::find(record->required, attribute.name) != record->required.end())
        made.attributes[attribute.name] = attribute.defaultText;
    for (const auto &[name, value] : node.attributes)
      made.attributes[fileName(record, name)] = attributeText(
          node.inputs.empty() && name == "shape" ? withOpenBatch(value, node.dims) : value);
    if (record && !record->name.empty())
      made.op = record->name;
    if (record && record->outputs > 0)
      made.outputs = record->outputs;
    return emit(std::move(made));
  }
  /// A shape of zeros and the like, of which MXNet infers an extent of 0.
  static symbol::AttributeValue withOpenBatch(symbol::AttributeValue value,
                                              const std::vector<std::string> &dims) {
    if (auto *shape = std::get_if<symbol::Tuple>(&value))
      for (size_t i = 0; i < std::min(shape->size(), dims.size()); ++i)
        if (dims[i] == kBatch)
          (*shape)[i] = 0;
    return value;
  }
  static std::string fileName(const sym::FileRecord *record, const std::string &attribute) {
    if (record)
      for (auto [ours, theirs] : record->attributes)
        if (ours == attribute)
          return std::string(theirs);
    return attribute;
  }

  Result<std::vector<Entry>> plainInputs(const NodeView &node, const OpSignature *op) {
    std::vector<Entry> entries;
    if (op && !op->variadic)
      LSTMC_TRY(checkNoneLeftOut(node, *op));
    for (const auto &[name, source] : node.inputs)
      entries.push_back(node.op == kJoined ? flat(source) : entryOf(source));
    return entries;
  }

  /// MXNet knows by an attribute use_NAME which of those inputs there are; others stand in order.
  static Status checkNoneLeftOut(const NodeView &node, const OpSignature &op) {
    size_t next = 0;
    for (const symbol::OpInput &input : op.inputs) {
      if (next == node.inputs.size())
        return {};
      const bool isSwitched =
          std::ranges::any_of(op.attributes, [&](const symbol::OpAttribute &attribute) {
            return attribute.name == "use_" + input.name;
          });
      if (node.inputs[next].first == input.name)
        ++next;
      else if (!isSwitched)
        return fail(ErrorCode::E0613,
                    "{} {} leaves out an input before one that it has: symbol.json cannot say it",
                    node.op, inQuotes(node.name));
    }
    return {};
  }

  /// MXNet requires initial states.
  Result<std::vector<Entry>> rnnInputs(const NodeView &node) {
    const int64_t rows = integer(node, "num_layers", 1) * directionsOf(node);
    const int64_t units = integer(node, "state_size", 0);
    const bool hasCell = word(node, "mode") == "lstm";
    std::map<std::string_view, Entry> given;
    for (const auto &[name, source] : node.inputs)
      given[name] = entryOf(source);
    const EdgeView *parameters = inputOf(node, "parameters");
    const DType dtype = parameters ? typeOfVector(*parameters) : DType::F32;
    const std::pair<std::string_view, int64_t> states[] = {
        {"state", integer(node, "projection_size", units)}, {"state_cell", units}};
    for (size_t i = 0; i < (hasCell ? 2U : 1U); ++i)
      if (!given.contains(states[i].first)) {
        const size_t zeros =
            emitZeros(fmt::format("{}_begin_state_{}", node.name, i),
                      attributeText(symbol::Tuple{rows, 0, states[i].second}), dtype);
        given[states[i].first] = {zeros, 0};
      }
    std::vector<Entry> entries;
    for (const symbol::OpInput &input : symbol::findOp("RNN")->inputs)
      if (auto found = given.find(input.name); found != given.end())
        entries.push_back(found->second);
    return entries;
  }

  /// That of the first parameter that is joined.
  DType typeOfVector(EdgeView edge) const {
    for (const NodeView *node = nodeAt(edge); node && !node->inputs.empty(); node = nodeAt(edge))
      edge = node->inputs.front().second;
    return edge.input ? view_.inputs[edge.index].dtype : view_.nodes[edge.index].dtype;
  }

  /// MXNet joins vectors alone.
  Entry flat(const EdgeView &source) {
    const NodeView *node = nodeAt(source);
    const symbol::AttributeValue *shape =
        node && node->op == "Reshape" ? find(*node, "shape") : nullptr;
    if (node && ((node->shape.ranked && node->shape.dims.size() == 1) ||
                 (shape && *shape == symbol::AttributeValue(symbol::Tuple{-1}))))
      return entryOf(source);
    const std::string &name = node ? node->name : view_.inputs[source.index].name;
    return {emit({"Reshape", name + "_flat", {{"shape", "(-1,)"}}, {entryOf(source)}}), 0};
  }

  //===---- the text --------------------------------------------------------------------------===//

  static std::string nodeText(const Written &node) {
    JsonObject object(2);
    object.add("op", jsonQuoted(node.op));
    object.add("name", jsonQuoted(node.name));
    if (!node.attributes.empty()) {
      JsonObject attributes(3);
      for (const auto &[key, value] : node.attributes)
        attributes.add(key, jsonQuoted(value));
      object.add("attrs", attributes.text());
    }
    object.add("inputs", entriesText(node.inputs, 3));
    return object.text();
  }
  static std::string entriesText(const std::vector<Entry> &entries, int depth) {
    std::vector<std::string> texts;
    for (auto [node, output] : entries)
      texts.push_back(fmt::format("[{}, {}, 0]", node, output));
    return jsonList(texts, depth);
  }

  std::string text() const {
    std::vector<std::string> nodes, variables, rows = {"0"};
    size_t row = 0;
    for (size_t i = 0; i < written_.size(); ++i) {
      nodes.push_back(nodeText(written_[i]));
      if (written_[i].op == "null")
        variables.push_back(std::to_string(i));
      rows.push_back(std::to_string(row += size_t(written_[i].outputs)));
    }
    std::vector<Entry> heads;
    for (const EdgeView &head : view_.outputs)
      heads.push_back(entryOf(head));
    JsonObject document(0);
    document.add("nodes", jsonList(nodes, 1, !nodes.empty()));
    document.add("arg_nodes", jsonList(variables, 1));
    document.add("node_row_ptr", jsonList(rows, 1));
    document.add("heads", entriesText(heads, 1));
    document.add("attrs", fmt::format("{{\"mxnet_version\": [\"int\", {}]}}", kVersion));
    return document.text();
  }

  const GraphView &view_;
  const SymbolMarks &marks_;
  std::map<size_t, symbol::Shape> packed_; ///< of nodes that are joined to a vector
  std::set<size_t> states_;
  std::map<Key, size_t> numbers_;
  std::map<std::string_view, size_t> vectorNumbers_;
  std::vector<Written> written_;
  std::vector<std::string> warnings_;
};

/// "TNC", with the batch where the shape has it; empty for the first axis, which is MXNet's
/// default.
std::string layoutOf(const symbol::Shape &shape) {
  const auto batch = std::ranges::find(shape.dims, kBatch, &symbol::Dim::name);
  const auto axis = size_t(batch - shape.dims.begin());
  if (batch == shape.dims.end() || axis == 0)
    return {};
  constexpr std::string_view kOthers = "TCHWD";
  std::string layout;
  for (size_t i = 0, next = 0; i < shape.dims.size(); ++i)
    layout += i == axis ? 'N' : kOthers[std::min(next++, kOthers.size() - 1)];
  return layout;
}

} // namespace

Result<SymbolText> writeSymbol(const GraphView &view, const SymbolMarks &marks) {
  return SymbolWriter(view, marks).run();
}

SymbolMarks marksOf(const GraphView &view) {
  SymbolMarks marks;
  for (const symbol::InputView &input : view.inputs) {
    NodeMarks &own = marks.nodes[input.name];
    std::vector<std::string> dims;
    for (const symbol::Dim &dim : input.shape.dims)
      dims.push_back(dim.name);
    if (input.shape.ranked)
      own["__shape__"] = shapeText(input.shape, dims);
    if (std::string layout = layoutOf(input.shape); !layout.empty())
      own["__layout__"] = std::move(layout);
    if (isFloat(input.dtype) && input.dtype != DType::F32)
      own["__dtype__"] = std::to_string(codeOf(input.dtype));
  }
  for (const NodeView &node : view.nodes) {
    if (node.kind != NodeView::Kind::Variable)
      continue;
    NodeMarks &own = marks.nodes[node.name];
    if (node.shape.ranked)
      own["__shape__"] = shapeText(node.shape);
    if (node.dtype != DType::F32)
      own["__dtype__"] = std::to_string(codeOf(node.dtype));
  }
  return marks;
}

} // namespace lstmc::importers::mxnet
