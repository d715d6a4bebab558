#include "tests/nets/Generator.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "frontend/lnet/Load.h"
#include "frontend/symbol/Layers.h"
#include "frontend/symbol/Module.h"
#include "frontend/symbol/Render.h"
#include "ir/sym/SymOps.h"
#include "tests/nets/Arguments.h"
#include "tests/nets/Cells.h"
#include "tests/nets/Domains.h"
#include "tests/nets/Rebuild.h"

namespace lstmc::nets {

using symbol::Symbol;

namespace {

/// The ops of the records in groups; `shaped` ops are element-wise and have other attributes than
/// one number.
struct Catalogue {
  std::vector<const sym::OpRecord *> elementwise, shaped, others, heads;

  static bool isNumber(const sym::AttributeRecord &attribute) {
    return attribute.kind == sym::AttributeKind::Float;
  }

  explicit Catalogue(mlir::MLIRContext &context) {
    for (const sym::OpRecord &op : sym::opRecords()) {
      mlir::OperationName name(op.opName, &context);
      if (op.mxnetName.empty())
        continue; // users make these in other ways
      (name.hasInterface<sym::LossHead>()             ? heads
       : !name.hasInterface<sym::ScalarRule>()        ? others
       : std::ranges::all_of(op.attributes, isNumber) ? elementwise
                                                      : shaped)
          .push_back(&op);
    }
  }
};

class Grower {
public:
  explicit Grower(uint64_t seed)
      : pool_(seed), draw_(pool_.draw), ops_(symbol::contextOf(pool_.graph)) {}

  /// Empty if no end for the net is found.
  std::string run() {
    makeInputs();
    const int64_t wanted = draw_.chance(0.7) ? draw_.between(5, 22) : draw_.between(22, 60);
    for (int attempts = 0; pool_.calls < wanted && attempts < 200; ++attempts)
      grow();
    closeScope();
    std::vector<Symbol> outputs = makeHeads();
    if (outputs.empty())
      return {};
    for (const Diagnostic &diagnostic : pool_.graph.finish(outputs))
      if (diagnostic.severity == Severity::Error)
        return {};
    symbol::GraphView view = pruned(symbol::view(pool_.graph));
    for (symbol::InputView &input : view.inputs)
      nameBatch(input.shape);
    for (symbol::NodeView &node : view.nodes)
      if (node.kind == symbol::NodeView::Kind::BeginState)
        nameBatch(node.shape);
    return view.inputs.empty() ? std::string() : written(view);
  }

private:
  /// The text, which loads to the graph from which it was written.
  std::string written(const symbol::GraphView &view) {
    Written written = write(view, makeFit());
    if (written.text.empty())
      return {};
    Checked<symbol::Network> net = lnet::loadText("net.lnet", written.text);
    if (!net.ok())
      throw Finding{"text", symbol::render(net.diagnostics()) + written.text};
    if (net->graph->hash() != written.hash)
      throw Finding{"text", "another graph comes of what is written:\n" + written.text};
    return written.text;
  }

  /// Inference yields a number; in a net for several devices it is written as the dim "batch".
  void nameBatch(symbol::Shape &shape) {
    for (symbol::Dim &dim : shape.dims)
      if (!dim.name.empty())
        return;
    for (symbol::Dim &dim : shape.dims)
      if (dim.extent == pool_.sizes.batch) {
        dim.name = "batch";
        return;
      }
  }

  void makeInputs() {
    const Sizes &sizes = pool_.sizes;
    int64_t width = draw_.oneOf(sizes.features);
    Extents extents = draw_.oneOf<Extents>({{sizes.batch, width},
                                            {sizes.batch, sizes.steps, width},
                                            {sizes.steps, sizes.batch, width},
                                            {sizes.steps, sizes.batch, width}});
    add(pool_.input("data", extents, DType::F32));
    if (draw_.chance(0.3))
      add(pool_.input("index", {sizes.steps, sizes.batch}, DType::I32));
    if (draw_.chance(0.3))
      add(pool_.parameter(extents.size() > 1 ? Extents{width, draw_.oneOf(sizes.features)}
                                             : Extents{width}));
  }
  void add(const Item &item) { pool_.items.push_back(item); }

  /// Adds one call, a layer, a loop, or the begin or end of a scope.
  void grow() {
    double kind = double(draw_.below(1000)) / 1000;
    if (kind < 0.05)
      changeScope();
    else if (kind < 0.12)
      layer();
    else if (kind < 0.16)
      unroll();
    else if (kind < 0.19)
      growCells(pool_, *sequence());
    else if (kind < 0.55)
      call(ops_.others);
    else
      call(draw_.chance(0.2) ? ops_.shaped : ops_.elementwise);
  }

  //===---- single calls ----------------------------------------------------------------------===//

  std::optional<std::vector<Item>> call(const std::vector<const sym::OpRecord *> &from) {
    const sym::OpRecord &op = *draw_.oneOf(from);
    for (int attempt = 0; attempt < 12; ++attempt) {
      symbol::Call call = drawCall(pool_, op);
      if (!tame(op, call))
        continue;
      if (std::optional<std::vector<Item>> made = pool_.put(std::move(call))) {
        if (draw_.chance(0.2))
          bound(made->front());
        return made;
      }
    }
    return std::nullopt;
  }

  std::optional<Item> one(const char *op, const Item &x,
                          std::vector<symbol::NamedAttribute> attributes = {}) {
    symbol::Call call{.op = op, .positional = {x.symbol}, .attributes = std::move(attributes)};
    std::optional<std::vector<Item>> made = pool_.put(std::move(call));
    return made ? std::optional(made->front()) : std::nullopt;
  }
  void bound(const Item &x) {
    if (isFloating(x.dtype))
      one(draw_.chance(0.7) ? "tanh" : "sigmoid", x);
  }

  /// Usually moves operands into the range in which the op gives finite numbers.
  bool tame(const sym::OpRecord &op, symbol::Call &call) {
    Domain domain = domainOf(op.opName);
    if (domain == Domain::Any || draw_.chance(0.03))
      return true;
    double scale = domain == Domain::AboveOne ? 0.7 : 0.6;
    double least = domain == Domain::AboveOne ? 1.2 : 0.3;
    auto inside = [&](Symbol &symbol) {
      if (symbol.dtype() != DType::F32)
        return true;
      auto squashed = one("sigmoid", {symbol, {}, DType::F32});
      auto scaled = squashed ? one("_mul_scalar", *squashed, {{"scalar", scale}}) : squashed;
      auto moved = scaled ? one("_plus_scalar", *scaled, {{"scalar", least}}) : scaled;
      if (moved)
        symbol = moved->symbol;
      return bool(moved);
    };
    return std::ranges::all_of(call.positional, inside) &&
           std::ranges::all_of(call.named, [&](auto &named) { return inside(named.second); });
  }

  //===---- scopes ----------------------------------------------------------------------------===//

  void closeScope() {
    for (; scopes_ > 0; --scopes_)
      pool_.graph.pop();
  }
  void changeScope() {
    closeScope();
    if (draw_.chance(0.7)) {
      pool_.graph.push({symbol::Scope::Kind::ContextGroup, "g" + std::to_string(groups_++)});
      ++scopes_;
    }
    if (draw_.chance(0.4)) {
      pool_.graph.push({symbol::Scope::Kind::Recompute, ""});
      ++scopes_;
    }
    if (draw_.chance(0.1)) {
      pool_.graph.push({symbol::Scope::Kind::DType, draw_.oneOf({"bfloat16", "float16"})});
      ++scopes_;
    }
  }

  //===---- layers and loops ------------------------------------------------------------------===//

  std::optional<Item> sequence() {
    const Item *found = pool_.find([&](const Item &item) {
      return item.rank() == 3 && item.dtype == DType::F32 && item.extents[1] == pool_.sizes.batch &&
             item.extents[0] <= 8;
    });
    if (found)
      return *found;
    return pool_.input("data",
                       {pool_.sizes.steps, pool_.sizes.batch, draw_.oneOf(pool_.sizes.features)},
                       DType::F32);
  }

  /// A recurrent layer as a layer of the language.
  void layer() {
    Item x = *sequence();
    symbol::LayerOptions options;
    options.layers = draw_.chance(0.25) ? 2 : 1;
    options.bidirectional = draw_.chance(0.25);
    if (options.layers > 1 && draw_.chance(0.5))
      options.dropout = 0.3;
    if (draw_.chance(0.3))
      options.length = pool_.input("length", {x.extents[1]}, DType::F32).symbol;
    int64_t units = draw_.oneOf(pool_.sizes.features);
    if (draw_.chance(0.2)) {
      Extents extents = {options.layers * (options.bidirectional ? 2 : 1), x.extents[1], units};
      const Item *state = pool_.find(
          [&](const Item &item) { return item.extents == extents && item.dtype == DType::F32; });
      options.h = state ? state->symbol : pool_.input("data", extents, DType::F32).symbol;
    }
    const int64_t kind = draw_.below(4);
    const std::string activation = draw_.chance(0.7) ? "tanh" : "relu";
    auto make = [&](const Item &of, const std::string &name, const symbol::LayerOptions &with) {
      return kind == 0   ? symbol::gru(pool_.graph, of.symbol, units, name, with)
             : kind == 1 ? symbol::rnnLayer(pool_.graph, of.symbol, units, activation, name, with)
                         : symbol::lstm(pool_.graph, of.symbol, units, name, with);
    };
    const std::string name = pool_.newName("layer");
    Checked<symbol::LayerOutputs> made = make(x, name, options);
    if (!made.ok())
      return;
    // The same layer of another sequence: its calls share their parameters, and have states of
    // their own.
    for (options.h = {}, options.length = {}; draw_.chance(0.3);) {
      const Item again = draw_.chance(0.5) ? x : *sequence();
      if (Checked<symbol::LayerOutputs> more = make(again, name, options); more.ok())
        pool_.take(more->output);
    }
    pool_.calls += 2;
    pool_.take(made->output);
    if (draw_.chance(0.3))
      pool_.take(made->h);
  }

  /// A cell of random calls, written out for every step: one state, one input, shared weights.
  void unroll() {
    Item x = *sequence();
    auto steps = pool_.put({.op = "SliceChannel",
                            .positional = {x.symbol},
                            .attributes = {{"num_outputs", x.extents[0]},
                                           {"axis", int64_t(0)},
                                           {"squeeze_axis", true}}});
    if (!steps || steps->size() < 2)
      return;
    int64_t units = draw_.oneOf(pool_.sizes.features);
    std::optional<Item> begin = beginState(x.extents[1], units);
    if (!begin)
      return;
    std::vector<std::pair<symbol::Call, std::vector<Symbol>>> calls;
    std::vector<Item> outside = std::exchange(pool_.items, {steps->front(), *begin});
    pool_.record = &calls;
    for (int64_t size = draw_.between(1, 5), attempts = 0;
         int64_t(calls.size()) < size && attempts < 20; ++attempts)
      call(draw_.chance(0.3) ? ops_.others : ops_.elementwise);
    std::optional<Item> end = stateOf(begin->extents);
    pool_.record = nullptr;
    outside.insert(outside.end(), pool_.items.begin() + 2, pool_.items.end());
    pool_.items = std::move(outside);
    if (!end)
      return;
    repeat(*steps, *begin, *end, calls);
  }

  std::optional<Item> beginState(int64_t rows, int64_t units) {
    if (draw_.chance(0.5))
      return pool_.input("data", {rows, units}, DType::F32);
    std::vector<std::string> dims = {rows == pool_.sizes.batch ? "batch" : "", ""};
    auto made = pool_.put({.op = draw_.chance(0.5) ? "_zeros" : "_ones",
                           .attributes = {{"shape", symbol::Tuple{rows, units}}},
                           .dims = dims[0].empty() ? std::vector<std::string>() : dims});
    return made ? std::optional(made->front()) : std::nullopt;
  }

  /// The next state, with the shape of the state, from the results of the cell.
  std::optional<Item> stateOf(const Extents &extents) {
    auto last = pool_.items.end() - 1;
    auto product = [&](const Item &of) {
      return pool_.put({.op = "FullyConnected",
                        .positional = {of.symbol},
                        .attributes = {{"num_hidden", extents[1]}}});
    };
    Item first = pool_.items[0], state = pool_.items[1], top = *last;
    std::optional<std::vector<Item>> a, b = product(state);
    if (isFloating(top.dtype) && top.rank() > 1 && top.extents[0] == extents[0])
      a = product(top);
    if (!a)
      a = product(first);
    if (!a || !b)
      return std::nullopt;
    auto sum =
        pool_.put({.op = "elemwise_add", .positional = {a->front().symbol, b->front().symbol}});
    return sum ? one("tanh", sum->front()) : std::nullopt;
  }

  void repeat(const std::vector<Item> &steps, const Item &begin, const Item &end,
              const std::vector<std::pair<symbol::Call, std::vector<Symbol>>> &calls) {
    std::vector<Symbol> states = {end.symbol};
    for (size_t t = 1; t < steps.size(); ++t) {
      std::vector<std::pair<Symbol, Symbol>> becomes = {{steps[0].symbol, steps[t].symbol},
                                                        {begin.symbol, states.back()}};
      auto now = [&](Symbol &symbol) {
        for (const auto &[from, to] : becomes)
          if (from == symbol) {
            symbol = to;
            return;
          }
      };
      for (const auto &[first, results] : calls) {
        symbol::Call call = first;
        call.name.clear();
        shareParameters(first, call);
        std::ranges::for_each(call.positional, now);
        for (auto &[name, symbol] : call.named)
          now(symbol);
        auto made = pool_.put(std::move(call));
        if (!made || made->size() != results.size())
          return;
        for (size_t i = 0; i < results.size(); ++i)
          becomes.push_back({results[i], (*made)[i].symbol});
      }
      Symbol next = end.symbol;
      now(next);
      states.push_back(next);
    }
    symbol::Call stack{.op = "stack", .positional = states};
    stack.attributes.push_back({"axis", int64_t(0)});
    pool_.put(std::move(stack));
  }

  /// Other calls read the parameters that the first call made for itself.
  void shareParameters(const symbol::Call &first, symbol::Call &call) {
    const sym::OpRecord *op = sym::findOpRecord(first.op);
    size_t position = 0;
    for (const sym::InputRecord &input : op->inputs) {
      bool given = position++ < first.positional.size() ||
                   std::ranges::any_of(
                       first.named, [&](const auto &named) { return named.first == input.name; });
      if (given || !input.parameter || !hasInput(*op, input, first.attributes))
        continue;
      symbol::VariableOptions options;
      options.shareIsMeant = true;
      std::string name = first.name + "_" + std::string(input.name);
      if (Checked<Symbol> shared = pool_.graph.variable(name, options); shared.ok())
        call.named.push_back({std::string(input.name), *shared});
    }
  }

  //===---- heads -----------------------------------------------------------------------------===//

  std::vector<Symbol> makeHeads() {
    std::vector<Symbol> outputs;
    std::vector<Item> unread;
    for (const Item &item : pool_.items)
      if (item.reads == 0)
        unread.push_back(item);
    std::ranges::reverse(unread);
    for (const Item &item : unread) {
      // A parameter or input that no output depends on.
      if (item.symbol.name().starts_with("v") || item.symbol.name().starts_with("data"))
        continue;
      if (outputs.size() >= 5)
        break;
      if (std::optional<Symbol> head = makeHead(item))
        outputs.push_back(*head);
    }
    if (!outputs.empty() && draw_.chance(0.05))
      outputs.push_back(draw_.oneOf(outputs));
    return outputs;
  }

  std::optional<Symbol> makeHead(Item item) {
    if (item.dtype == DType::F16 || item.dtype == DType::BF16) {
      std::optional<Item> wide = one("Cast", item, {{"dtype", std::string("float32")}});
      if (!wide)
        return std::nullopt;
      item = *wide;
    }
    if (!isFloating(item.dtype))
      return draw_.chance(0.5) ? std::optional(item.symbol) : std::nullopt;
    if (draw_.chance(0.05))
      return item.symbol;
    std::vector<Item> all = std::exchange(pool_.items, {item});
    std::optional<std::vector<Item>> made;
    bool rows = std::ranges::count(item.extents, pool_.sizes.batch);
    for (int attempt = 0; attempt < 4 && !made && (rows || draw_.chance(0.2)); ++attempt)
      made = call(ops_.heads);
    if (!made)
      made = pool_.put({.op = "MakeLoss", .positional = {item.symbol}});
    pool_.items = std::move(all);
    return made ? std::optional(made->front().symbol) : std::nullopt;
  }

  std::vector<symbol::Setting> makeFit() {
    std::vector<symbol::Setting> fit;
    auto set = [&](const char *key, symbol::AttributeValue value) {
      symbol::Setting setting;
      setting.key = key;
      setting.value = std::move(value);
      fit.push_back(setting);
    };
    bool adam = draw_.chance(0.4);
    set("optimizer", std::string(adam ? "adam" : "sgd"));
    set("learning_rate", adam ? 0.01 : 0.05);
    if (!adam && draw_.chance(0.6))
      set("momentum", 0.9);
    if (draw_.chance(0.3))
      set("wd", 0.001);
    if (draw_.chance(0.3))
      set("clip_gradient", 0.2);
    if (draw_.chance(0.3))
      set("clip_gradient_norm", 0.5);
    if (draw_.chance(0.6))
      set("carry", std::string("layer*"));
    symbol::Setting initializer;
    initializer.key = "initializer";
    initializer.initialiser = symbol::Initialiser{"uniform", {{"scale", 0.5}}, {}, {}};
    fit.push_back(initializer);
    return fit;
  }

  Pool pool_;
  Draw &draw_;
  Catalogue ops_;
  int scopes_ = 0, groups_ = 0;
};

} // namespace

std::string generate(uint64_t seed) {
  for (uint64_t attempt = 0; attempt < 100; ++attempt)
    if (std::string text = Grower(seed * 1000 + attempt).run(); !text.empty())
      return text;
  throw std::runtime_error("no net comes of seed " + std::to_string(seed));
}

} // namespace lstmc::nets
