#include "frontend/importers/mxnet/GraphReader.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/ranges.h>

#include "executor/base/LowerCase.h"
#include "executor/base/ParseNumber.h"
#include "executor/base/Quote.h"
#include "executor/base/Suggest.h"
#include "frontend/importers/mxnet/AttributeText.h"
#include "frontend/importers/mxnet/ControlFlow.h"
#include "frontend/importers/mxnet/InitialiserText.h"
#include "frontend/symbol/BatchAxes.h"
#include "frontend/symbol/View.h"

namespace lstmc::importers::mxnet {

using symbol::Graph, symbol::InputShape, symbol::OpSignature, symbol::Role, symbol::Scope,
    symbol::Symbol;

namespace {

/// Attributes that 0.8 wrote without underscores.
constexpr std::string_view kHidden[] = {"ctx_group", "force_mirroring", "lr_mult", "mirror_stage",
                                        "wd_mult"};
constexpr std::string_view kMultipliers[] = {"lr_mult", "wd_mult"};
/// Made by gluon of a matrix each, to join them into the RNN's vector.
constexpr std::string_view kJoined = "_rnn_param_concat", kFlattened = "Reshape";
constexpr std::string_view kCopied = "_copy";

using Texts = std::map<std::string_view, std::string_view>;

/// The attributes of a node: the op's own, and those of the graph by their bare names.
struct Attributes {
  std::vector<std::pair<std::string_view, std::string_view>> own;
  Texts hidden;
};

bool isHidden(std::string_view key) { return std::ranges::find(kHidden, key) != std::end(kHidden); }

/// "lr_mult" of "__lr_mult__"; the key itself where it has no underscores.
std::string_view bareName(std::string_view key) {
  return key.size() > 4 && key.starts_with("__") && key.ends_with("__")
             ? key.substr(2, key.size() - 4)
             : key;
}

/// {"weight", "lr_mult"} of "weight_lr_mult", with underscores around it or without.
std::optional<std::pair<std::string_view, std::string_view>>
multiplierOfInput(std::string_view key) {
  while (key.starts_with('_'))
    key.remove_prefix(1);
  while (key.ends_with('_'))
    key.remove_suffix(1);
  for (std::string_view multiplier : kMultipliers)
    if (key.size() > multiplier.size() + 1 && key.ends_with(multiplier) &&
        key[key.size() - multiplier.size() - 1] == '_')
      return std::pair(key.substr(0, key.size() - multiplier.size() - 1), multiplier);
  return std::nullopt;
}

/// The words of one attribute, for "found ..".
std::string shown(std::string_view text) { return inQuotes(text); }

bool isTrue(std::string_view text) {
  const std::string lower = lowerCase(text);
  return lower == "true" || lower == "1";
}

class GraphReader : public ControlFlow::Host {
public:
  /// For inputs whose layout the file does not say, `batchAxes` has the batch, by default the first
  /// axis; `inferred` has the shapes of inputs that have none by themselves.
  GraphReader(const SymbolFile &file, const symbol::NetworkRequest &request, const Limits &limits,
              std::map<std::string, int> batchAxes = {},
              std::map<std::string, symbol::Shape> inferred = {})
      : file_(file), request_(request), limits_(limits), batchAxes_(std::move(batchAxes)),
        inferred_(std::move(inferred)), orders_(file.graphCount()), symbols_(file.size()),
        multipliers_(file.size()), isLabel_(file.size()) {}

  Checked<symbol::Network> run() {
    readRequest();
    if (errors())
      return std::move(diagnostics_);
    const int64_t nodeLimit = int64_t(limits_.nodes) + 1'000'000;
    graph_ = std::make_unique<Graph>(netName(), symbol::GraphOptions{.nodeLimit = nodeLimit});
    control_.emplace(file_, *graph_, *this, limits_.nodes);
    checkGraph(SymbolFile::kNetwork);
    checkShapesUsed();
    if (errors())
      return std::move(diagnostics_);
    for (uint32_t node : orders_[SymbolFile::kNetwork]) {
      makeNode(node);
      if (errors())
        return std::move(diagnostics_);
    }
    checkInputShapes();
    std::optional<std::vector<Symbol>> outputs = symbolsOf(file_.heads());
    if (errors() || !outputs)
      return std::move(diagnostics_);
    return finish(*outputs);
  }

  /// After run(): whether a batch is open, and so has no name until it is inferred.
  bool hasOpenBatch() const { return hasOpenBatch_; }
  /// After run(): the batch axis of inputs whose layout the file says.
  const std::map<std::string, int> &layouts() const { return layouts_; }

private:
  //===---- messages --------------------------------------------------------------------------===//

  bool errors() const {
    return std::ranges::any_of(diagnostics_, [](const Diagnostic &diagnostic) {
      return diagnostic.severity == Severity::Error;
    });
  }
  Diagnostic &note(ErrorCode code, SourceRange place, std::string message, std::string help = {}) {
    Diagnostic diagnostic;
    diagnostic.code = code;
    diagnostic.place = std::move(place);
    if (diagnostic.place.loops.empty())
      diagnostic.place.loops = loops_;
    diagnostic.message = std::move(message);
    diagnostic.help = std::move(help);
    diagnostics_.push_back(std::move(diagnostic));
    return diagnostics_.back();
  }
  void warn(ErrorCode code, SourceRange place, std::string message) {
    note(code, std::move(place), std::move(message)).severity = Severity::Warning;
  }
  void take(Diagnostics diagnostics) {
    for (Diagnostic &diagnostic : diagnostics)
      diagnostics_.push_back(std::move(diagnostic));
  }
  /// FullyConnected "fc1"
  std::string nodeText(uint32_t node) const {
    return fmt::format("{} {}", file_.op(node), inQuotes(file_.name(node)));
  }

  //===---- the request -----------------------------------------------------------------------===//

  void readRequest() {
    const SourceRange place{.file = file_.file()};
    for (const auto &[name, value] : request_.settings) {
      if (name != "batch") {
        report(ErrorCode::E0001, place,
               fmt::format("--set {}={}: a symbol.json has no settings", name, value));
        continue;
      }
      batch_ = parseNumber<int64_t>(value);
      if (!batch_ || *batch_ < 1)
        report(ErrorCode::E0001, place,
               fmt::format("--batch takes a number from 1, got {}", inQuotes(value)));
    }
    if (!request_.net.empty())
      report(ErrorCode::E0001, place,
             fmt::format("--net {}: a symbol.json has one net, without a name", request_.net));
    for (const std::string &field : file_.unknownFields())
      warn(ErrorCode::E0603, place, fmt::format("unknown field {} is ignored", inQuotes(field)));
  }

  /// --shape of a variable; of several the last.
  const InputShape *shapeFor(std::string_view name) const {
    const InputShape *found = nullptr;
    for (const InputShape &shape : request_.shapes)
      if (shape.input == name)
        found = &shape;
    return found;
  }
  const symbol::OfferedInput *offeredFor(std::string_view name) const {
    auto found = std::ranges::find(request_.offeredInputs, name, &symbol::OfferedInput::name);
    return found == request_.offeredInputs.end() ? nullptr : &*found;
  }

  void checkShapesUsed() {
    std::vector<std::string_view> names;
    for (size_t node = 0; node < file_.size(); ++node)
      if (file_.isVariable(node))
        names.push_back(file_.name(node));
    const auto check = [&](const std::string &input) {
      if (std::ranges::find(names, input) == names.end())
        report(ErrorCode::E0001, {.file = file_.file()},
               fmt::format("the file has no input {}", inQuotes(input)), didYouMean(input, names));
    };
    for (const InputShape &shape : request_.shapes)
      check(shape.input);
    for (const auto &[input, axes] : request_.layouts)
      check(input);
  }

  /// "lm" of "nets/lm-symbol.json".
  std::string netName() const {
    std::string_view name = file_.file();
    name = name.substr(name.find_last_of('/') + 1);
    name = name.substr(0, name.find_first_of('.'));
    constexpr std::string_view kEnd = "-symbol";
    if (name.ends_with(kEnd))
      name.remove_suffix(kEnd.size());
    return name.empty() || name.starts_with('<') ? "net" : std::string(name);
  }

  //===---- the file --------------------------------------------------------------------------===//

  /// What a node reads. A matrix is joined as it is: gluon flattens it first, so that nothing would
  /// say its shape.
  std::vector<Edge> edgesOf(uint32_t node) const {
    std::vector<Edge> edges(file_.inputs(node).begin(), file_.inputs(node).end());
    if (file_.op(node) == kJoined)
      for (Edge &edge : edges)
        edge = unflattened(edge);
    return edges;
  }
  Edge unflattened(Edge edge) const {
    const OpSignature *op = symbol::findOp(file_.op(edge.node));
    if (!op || op->name != kFlattened || file_.inputs(edge.node).size() != 1)
      return edge;
    const auto attributes = file_.attributes(edge.node);
    const symbol::Tuple all = {-1};
    if (attributes.size() != 1 || attributes[0].first != "shape" ||
        tupleOf(attributes[0].second) != all)
      return edge;
    const Edge source = file_.inputs(edge.node)[0];
    if (!file_.isVariable(source.node))
      return edge;
    const Texts hidden = attributesOf(source.node).hidden;
    auto shape = hidden.find("shape");
    std::optional<symbol::Tuple> extents =
        shape == hidden.end() ? std::nullopt : tupleOf(shape->second);
    return extents && extents->size() == 2 ? source : edge;
  }

  /// Finds the order of a graph's nodes and of those of the graphs in them, and checks all of them.
  void checkGraph(uint32_t graph) {
    std::vector<uint32_t> work = {graph};
    while (!work.empty()) {
      const uint32_t next = work.back();
      work.pop_back();
      orders_[next] = orderFromHeads(file_.heads(next));
      for (uint32_t node : orders_[next]) {
        checkOp(node);
        readUses(node);
        if (isControlFlow(file_.op(node)))
          work.insert(work.end(), file_.subgraphs(node).begin(), file_.subgraphs(node).end());
      }
    }
  }

  /// The nodes that the heads depend on, each after those that it reads.
  std::vector<uint32_t> orderFromHeads(std::span<const Edge> heads) const {
    std::vector<uint32_t> order;
    std::vector<bool> seen(file_.size());
    struct Open {
      uint32_t node;
      std::vector<Edge> edges;
      size_t next = 0;
    };
    std::vector<Open> work;
    auto open = [&](uint32_t node) {
      if (!seen[node])
        work.push_back({node, edgesOf(node)});
      seen[node] = true;
    };
    for (Edge head : heads) {
      open(head.node);
      while (!work.empty()) {
        Open &last = work.back();
        if (last.next < last.edges.size()) {
          open(last.edges[last.next++].node);
          continue;
        }
        order.push_back(last.node);
        work.pop_back();
      }
    }
    return order;
  }

  Attributes attributesOf(uint32_t node) const {
    Attributes found;
    for (auto [key, text] : file_.attributes(node)) {
      const std::string_view bare = bareName(key);
      if (bare.size() != key.size() || isHidden(key))
        found.hidden[bare] = text;
      else if (std::optional suffixed = multiplierOfInput(key); !suffixed)
        found.own.emplace_back(key, text);
    }
    return found;
  }

  /// E0605 where both spellings of an attribute stand and say different things.
  void checkSpellings(uint32_t node) {
    Texts first;
    for (auto [key, text] : file_.attributes(node)) {
      const std::string_view bare = bareName(key);
      if (bare.size() == key.size() && !isHidden(key))
        continue;
      if (auto [known, isNew] = first.emplace(bare, text); !isNew && known->second != text)
        report(ErrorCode::E0605, file_.place(node),
               fmt::format("{}: {} is {} and {}", nodeText(node), bare, shown(known->second),
                           shown(text)));
    }
  }

  /// E0201 for an op that there is not, once for each.
  void checkOp(uint32_t node) {
    checkSpellings(node);
    const std::string_view op = file_.op(node);
    // Python's own ops have a message of their own.
    if (file_.isVariable(node) || symbol::findOp(op) || op == "Custom" || isControlFlow(op))
      return;
    if (!unknownOps_.insert(op).second)
      return;
    std::vector<std::string_view> names;
    for (const OpSignature &known : symbol::allOps())
      names.push_back(known.name);
    names = nearestFirst(op, std::move(names));
    names.resize(std::min<size_t>(names.size(), 3));
    std::vector<std::string> reads;
    for (Edge edge : file_.inputs(node))
      reads.push_back(inQuotes(file_.name(edge.node)));
    constexpr size_t kShown = 6;
    const bool more = reads.size() > kShown;
    reads.resize(std::min(reads.size(), kShown));
    report(ErrorCode::E0201, file_.place(node),
           fmt::format("{} reads {}{}, and no op is named {}", nodeText(node),
                       reads.empty() ? "nothing" : fmt::format("{}", fmt::join(reads, ", ")),
                       more ? ", .." : "", inQuotes(op)),
           fmt::format("the nearest are {}", fmt::join(names, ", ")));
  }

  /// What an op says of the variables that it reads: multipliers, and which one is its label.
  void readUses(uint32_t node) {
    const OpSignature *op = symbol::findOp(file_.op(node));
    if (!op || op->variadic)
      return;
    std::span<const Edge> edges = file_.inputs(node);
    for (size_t i = 0; i < std::min(edges.size(), op->inputs.size()); ++i)
      if (op->inputs[i].label && file_.isVariable(edges[i].node))
        isLabel_[edges[i].node] = true;
    for (auto [key, text] : file_.attributes(node))
      if (auto found = multiplierOfInput(key))
        for (size_t i = 0; i < std::min(edges.size(), op->inputs.size()); ++i)
          if (op->inputs[i].name == found->first)
            multipliers_[edges[i].node].insert_or_assign(found->second, text);
  }

  //===---- nodes -----------------------------------------------------------------------------===//

  void makeNode(uint32_t node) {
    Attributes attributes = attributesOf(node);
    for (auto [key, text] : multipliers_[node])
      attributes.hidden.insert_or_assign(key, text);
    int scopes = 0;
    auto push = [&](Scope::Kind kind, std::string_view value) {
      graph_->push({kind, std::string(value)});
      ++scopes;
    };
    if (auto group = attributes.hidden.find("ctx_group"); group != attributes.hidden.end())
      push(Scope::Kind::ContextGroup, group->second);
    if (auto mirrored = attributes.hidden.find("force_mirroring");
        mirrored != attributes.hidden.end() && isTrue(mirrored->second))
      push(Scope::Kind::Recompute, "");
    if (file_.isVariable(node))
      makeVariable(node, attributes.hidden);
    else
      makeCall(node, attributes);
    for (; scopes > 0; --scopes)
      graph_->pop();
  }

  /// Reads an attribute of a variable. E0605, naming what it is to be, if `read` gives nothing.
  template <typename Read>
  auto hiddenValue(uint32_t node, const Texts &hidden, std::string_view key, std::string_view want,
                   Read &&read) -> decltype(read(std::string_view())) {
    auto found = hidden.find(key);
    if (found == hidden.end() || found->second == "None")
      return std::nullopt;
    auto value = read(found->second);
    if (!value)
      report(ErrorCode::E0605, file_.place(node),
             fmt::format("{}: __{}__ is {}, found {}", inQuotes(file_.name(node)), key, want,
                         shown(found->second)));
    return value;
  }

  void makeVariable(uint32_t node, const Texts &hidden) {
    const std::string_view name = file_.name(node);
    std::optional<symbol::Tuple> extents =
        hiddenValue(node, hidden, "shape", "a tuple of integers", tupleOf);
    auto typed = hiddenValue(node, hidden, "dtype", "an element type", typeOf);
    if (errors())
      return;
    std::optional<DType> dtype;
    if (const DType *said = typed ? std::get_if<DType>(&*typed) : nullptr)
      dtype = *said;
    if (const bool label = name.ends_with("label") || isLabel_[node];
        label || name.ends_with("data") || shapeFor(name) || offeredFor(name))
      return makeInput(node, extents, dtype, label ? Role::Label : Role::Data, hidden);
    symbol::VariableOptions options{.dtype = dtype, .shape = shapeOf(extents)};
    options.shareIsMeant = true;
    options.lrMult = hiddenValue(node, hidden, "lr_mult", "a number", parseFinite);
    options.wdMult = hiddenValue(node, hidden, "wd_mult", "a number", parseFinite);
    options.init = initialiserFor(node, hidden);
    if (errors())
      return;
    Checked<Symbol> made = graph_->variable(std::string(name), options, file_.place(node));
    if (made.ok())
      symbols_[node] = {*made};
    take(std::move(made.diagnostics()));
  }

  /// Extents of 0 and below are open.
  static symbol::Shape shapeOf(const std::optional<symbol::Tuple> &extents) {
    symbol::Shape shape;
    if (!extents)
      return shape;
    shape.ranked = true;
    for (std::optional<int64_t> extent : *extents)
      shape.dims.push_back({extent && *extent > 0 ? *extent : symbol::kUnknown, {}});
    return shape;
  }

  symbol::Initialiser initialiserFor(uint32_t node, const Texts &hidden) {
    auto found = hidden.find("init");
    if (found == hidden.end())
      return {};
    std::optional<symbol::Initialiser> init = initialiserOf(found->second);
    if (!init)
      unknownInitialisers_.push_back(
          {std::string(file_.name(node)), std::string(found->second), file_.place(node)});
    else if (isFusedRnn(found->second))
      warn(ErrorCode::E0613, file_.place(node),
           fmt::format("{}: first values that set the biases of forget gates apart (FusedRNN) are "
                       "not here; a file's weights are",
                       inQuotes(file_.name(node))));
    return init.value_or(symbol::Initialiser());
  }

  void makeInput(uint32_t node, const std::optional<symbol::Tuple> &extents,
                 std::optional<DType> dtype, Role role, const Texts &hidden) {
    const std::string name(file_.name(node));
    symbol::Shape shape = shapeOf(extents);
    if (const InputShape *given = shapeFor(name)) {
      shape = symbol::Shape();
      shape.ranked = true;
      for (int64_t extent : given->extents)
        shape.dims.push_back({extent, {}});
      if (given->dtype)
        dtype = given->dtype;
    } else if (const symbol::OfferedInput *offered = offeredFor(name)) {
      // Of labels the loss says the shape.
      if (offered->shape.ranked &&
          !(offered->ofAllSamples && (shape.ranked || role == Role::Label)))
        shape = offered->shape;
      if (offered->dtype)
        dtype = offered->dtype;
    }
    if (auto known = inferred_.find(name); known != inferred_.end() && !shape.known())
      shape = known->second;
    nameBatch(node, shape, hidden);
    if (errors())
      return;
    Checked<Symbol> made =
        graph_->input(name, dtype.value_or(DType::F32), shape, role, file_.place(node));
    if (made.ok())
      symbols_[node] = {*made};
    if (made.ok() && role == Role::Data)
      inputs_.push_back(node);
    take(std::move(made.diagnostics()));
  }

  /// That of the request, of several the last, else of the file; empty for neither.
  std::string_view layoutFor(std::string_view name, const Texts &hidden) const {
    std::string_view layout;
    if (auto found = hidden.find("layout"); found != hidden.end())
      layout = found->second;
    for (const auto &[input, axes] : request_.layouts)
      if (input == name)
        layout = axes;
    return layout;
  }

  bool isLayoutAsked(std::string_view name) const {
    return std::ranges::any_of(request_.layouts,
                               [&](const auto &layout) { return layout.first == name; });
  }

  /// Gives the batch axis its name, and its extent where the request has one.
  void nameBatch(uint32_t node, symbol::Shape &shape, const Texts &hidden) {
    const std::string name(file_.name(node));
    const std::string_view layout = layoutFor(name, hidden);
    size_t axis = 0;
    if (!layout.empty()) {
      if (shape.ranked && shape.dims.size() != layout.size() && isLayoutAsked(name))
        report(ErrorCode::E0001, {.file = file_.file()},
               fmt::format("--layout {}={} has {} axes, the input has {}", name, layout,
                           layout.size(), shape.dims.size()));
      const size_t found = layout.find('N');
      axis = found == std::string_view::npos ? 0 : found;
      layouts_[name] = int(axis);
    } else if (auto found = batchAxes_.find(name); found != batchAxes_.end()) {
      axis = size_t(found->second);
    }
    if (axis >= shape.dims.size()) {
      hasOpenBatch_ |= axis > 0;
      return;
    }
    symbol::Dim &dim = shape.dims[axis];
    const symbol::OfferedInput *offered = offeredFor(name);
    if (offered && offered->ofAllSamples && !shapeFor(name))
      dim.extent = symbol::kUnknown;
    if (batch_ && dim.extent != symbol::kUnknown && dim.extent != *batch_ && shapeFor(name))
      report(ErrorCode::E0001, {.file = file_.file()},
             fmt::format("--shape {} has a batch of {}, --batch is {}", name, dim.extent, *batch_));
    if (batch_)
      dim.extent = *batch_;
    if (dim.extent != symbol::kUnknown)
      dim.name = "batch";
    else
      hasOpenBatch_ = true;
  }

  void makeCall(uint32_t node, const Attributes &attributes) {
    const OpSignature *op = symbol::findOp(file_.op(node));
    symbol::Call call;
    call.op = file_.op(node);
    call.name = file_.name(node);
    call.origin = file_.place(node);
    call.origin.loops = loops_;
    for (Edge edge : edgesOf(node)) {
      std::optional<Symbol> output = outputOf(edge);
      if (!output)
        return;
      call.positional.push_back(*output);
    }
    if (isControlFlow(call.op)) {
      symbols_[node] =
          control_->make(node, call.positional, call.origin).value_or(std::vector<Symbol>());
      return;
    }
    for (auto [key, text] : attributes.own)
      addAttribute(node, op, key, text, call);
    if (errors())
      return;
    call.dims = stateDims(call, attributes.hidden);
    declareMade(node, op, call, attributes.hidden);
    Checked<std::vector<Symbol>> made = graph_->apply(call);
    if (made.ok())
      symbols_[node] = std::move(*made);
    take(std::move(made.diagnostics()));
  }

  void addAttribute(uint32_t node, const OpSignature *op, std::string_view key,
                    std::string_view text, symbol::Call &call) {
    if (op && op->variadic && key == "num_args")
      return;
    // The call refuses an attribute that the op does not have.
    auto kind = symbol::OpAttribute::Kind::String;
    const symbol::OpAttribute *known = nullptr;
    if (op)
      for (const symbol::OpAttribute &attribute : op->attributes)
        if (attribute.name == key ||
            std::ranges::find(attribute.aliases, key) != attribute.aliases.end())
          known = &attribute;
    if (known)
      kind = known->kind;
    std::optional<symbol::AttributeValue> value = attributeValue(text, kind);
    if (!value) {
      report(ErrorCode::E0605, file_.place(node),
             fmt::format("{}: {} is {}, found {}", nodeText(node), key, wantedText(*known),
                         shown(text)));
      return;
    }
    call.attributes.push_back({std::string(key), std::move(*value)});
  }

  /// Names of the extents of an initial state: the N of its layout is the batch, and open.
  static std::vector<std::string> stateDims(const symbol::Call &call, const Texts &hidden) {
    auto layout = hidden.find("layout");
    auto shape = std::ranges::find(call.attributes, "shape", &symbol::NamedAttribute::name);
    if (!call.positional.empty() || layout == hidden.end() || shape == call.attributes.end())
      return {};
    const auto *extents = std::get_if<symbol::Tuple>(&shape->value);
    if (!extents || extents->size() != layout->second.size())
      return {};
    std::vector<std::string> dims;
    for (size_t axis = 0; axis < extents->size(); ++axis)
      dims.push_back(layout->second[axis] == 'N' && (*extents)[axis] == 0 ? "batch" : "");
    return dims;
  }

  /// Parameters that the call makes have its multipliers.
  void declareMade(uint32_t node, const OpSignature *op, const symbol::Call &call,
                   const Texts &hidden) {
    symbol::VariableOptions options;
    options.shareIsMeant = true;
    options.lrMult = hiddenValue(node, hidden, "lr_mult", "a number", parseFinite);
    options.wdMult = hiddenValue(node, hidden, "wd_mult", "a number", parseFinite);
    if (!op || op->variadic || (!options.lrMult && !options.wdMult))
      return;
    for (size_t i = call.positional.size(); i < op->inputs.size(); ++i)
      if (op->inputs[i].parameter)
        take(graph_->variable(call.name + "_" + op->inputs[i].name, options, call.origin)
                 .diagnostics());
  }

  std::optional<Symbol> outputOf(Edge edge) {
    const std::vector<Symbol> &outputs = symbols_[edge.node];
    if (edge.output < outputs.size())
      return outputs[edge.output];
    report(ErrorCode::E0605, file_.place(edge.node),
           fmt::format("output {} of {} is read, which has {}", edge.output, nodeText(edge.node),
                       outputs.size()));
    return std::nullopt;
  }

  //===---- graphs in nodes -------------------------------------------------------------------===//

  size_t inputsOf(uint32_t graph) const override {
    return size_t(std::ranges::count_if(orders_[graph],
                                        [&](uint32_t node) { return file_.isVariable(node); }));
  }
  std::optional<ControlFlow::Symbols> makeGraph(uint32_t graph, std::span<const Symbol> inputs,
                                                const symbol::Origin &origin) override {
    const auto outer = std::exchange(loops_, origin.loops);
    size_t variables = 0;
    for (uint32_t node : orders_[graph]) {
      if (file_.isVariable(node))
        symbols_[node] = {inputs[variables++]};
      else
        makeNode(node);
      if (errors())
        return std::nullopt;
    }
    std::vector<Edge> heads(file_.heads(graph).begin(), file_.heads(graph).end());
    for (Edge &head : heads)
      head = uncopied(head);
    loops_ = outer;
    return symbolsOf(heads);
  }
  /// MXNet copies a head that is an input, or another head too.
  Edge uncopied(Edge head) const {
    while (head.output == 0 && file_.op(head.node) == kCopied &&
           file_.inputs(head.node).size() == 1)
      head = file_.inputs(head.node)[0];
    return head;
  }

  std::optional<Symbol> apply(symbol::Call call) override {
    Checked<std::vector<Symbol>> made = graph_->apply(call);
    std::optional<Symbol> result = made.ok() ? std::optional(made->front()) : std::nullopt;
    take(std::move(made.diagnostics()));
    return result;
  }
  void report(ErrorCode code, const symbol::Origin &place, std::string message,
              std::string help = {}) override {
    note(code, place, std::move(message), std::move(help));
  }

  //===---- the end ---------------------------------------------------------------------------===//

  std::optional<std::vector<Symbol>> symbolsOf(std::span<const Edge> heads) {
    std::vector<Symbol> outputs;
    for (Edge head : heads)
      if (std::optional<Symbol> output = outputOf(head))
        outputs.push_back(*output);
    if (outputs.size() < heads.size())
      return std::nullopt;
    return outputs;
  }

  /// E0211 for inputs whose shape neither the request nor the file says.
  void checkInputShapes() {
    for (uint32_t node : inputs_)
      if (!symbols_[node][0].shape().known())
        report(ErrorCode::E0211, file_.place(node),
               fmt::format("the shape of input {} is not known", inQuotes(file_.name(node))),
               lacksBatch(symbols_[node][0].shape())
                   ? std::string("-b 32 gives the batch")
                   : fmt::format("--shape {}:32x35", file_.name(node)));
  }
  /// Whether one extent is open, and the others are known.
  static bool lacksBatch(const symbol::Shape &shape) {
    return shape.ranked &&
           std::ranges::count(shape.dims, symbol::kUnknown, &symbol::Dim::extent) == 1;
  }

  Checked<symbol::Network> finish(const std::vector<Symbol> &outputs) {
    for (Diagnostic &diagnostic : finishGraph(outputs))
      diagnostics_.push_back(std::move(diagnostic));
    if (errors())
      return std::move(diagnostics_);
    symbol::Network network;
    network.net = graph_->name();
    network.nets = {network.net};
    network.files = {file_.file()};
    network.unknownInitialisers = std::move(unknownInitialisers_);
    network.graph = std::move(graph_);
    return {std::move(network), std::move(diagnostics_)};
  }
  Diagnostics finishGraph(const std::vector<Symbol> &outputs) {
    Diagnostics found = graph_->finish(outputs);
    for (Diagnostic &diagnostic : found)
      if (diagnostic.code == ErrorCode::E0211 && diagnostic.help.empty())
        diagnostic.help = "--shape NAME:32x35 makes a variable an input of that shape";
    return found;
  }

  const SymbolFile &file_;
  const symbol::NetworkRequest &request_;
  const Limits &limits_;
  std::map<std::string, int> batchAxes_, layouts_;
  std::map<std::string, symbol::Shape> inferred_;
  std::optional<int64_t> batch_;
  bool hasOpenBatch_ = false;
  std::unique_ptr<Graph> graph_;
  Diagnostics diagnostics_;
  std::vector<std::vector<uint32_t>> orders_; ///< of the nodes of each graph
  std::optional<ControlFlow> control_;
  std::vector<std::pair<std::string, int64_t>> loops_; ///< the steps in force
  std::vector<std::vector<Symbol>> symbols_;           ///< the outputs of the nodes that are made
  std::vector<Texts> multipliers_;                     ///< of variables, that ops set
  std::vector<bool> isLabel_;
  std::vector<uint32_t> inputs_; ///< data that are made
  std::set<std::string_view> unknownOps_;
  std::vector<symbol::UnknownInitialiser> unknownInitialisers_;
};

/// Of inputs, without names of dims.
std::map<std::string, symbol::Shape> shapesOf(const Graph &graph) {
  std::map<std::string, symbol::Shape> shapes;
  for (symbol::InputView &input : symbol::view(graph).inputs) {
    for (symbol::Dim &dim : input.shape.dims)
      dim.name.clear();
    shapes[input.name] = std::move(input.shape);
  }
  return shapes;
}

} // namespace

Checked<symbol::Network> readGraph(const SymbolFile &file, const symbol::NetworkRequest &request,
                                   const Limits &limits) {
  GraphReader reader(file, request, limits);
  Checked<symbol::Network> network = reader.run();
  if (!network.ok())
    return network;
  std::map<std::string, int> axes = symbol::batchAxes(*network->graph, reader.layouts());
  std::erase_if(axes, [&](const auto &input) { return reader.layouts().contains(input.first); });
  if (!reader.hasOpenBatch() &&
      std::ranges::all_of(axes, [](const auto &input) { return input.second == 0; }))
    return network;
  // With a batch of the request the shapes are right once it is on the right axes.
  const bool hasBatch = std::ranges::any_of(
      request.settings, [](const auto &setting) { return setting.first == "batch"; });
  GraphReader second(file, request, limits, axes,
                     hasBatch ? std::map<std::string, symbol::Shape>() : shapesOf(*network->graph));
  network = second.run();
  if (!network.ok() || !hasBatch || !second.hasOpenBatch())
    return network;
  return GraphReader(file, request, limits, std::move(axes), shapesOf(*network->graph)).run();
}

} // namespace lstmc::importers::mxnet
