#include "tests/nets/Cells.h"

#include <algorithm>

namespace lstmc::nets {

using symbol::Symbol;

namespace {

struct Refused {};

enum class Kind { Lstm, Gru, Tanh, Relu };
enum class Fault { None, Weight, Function, State, Order };

class CellWriter {
public:
  CellWriter(Pool &pool, const Item &sequence)
      : pool_(pool), draw_(pool.draw), x_(sequence), rows_(sequence.extents[1]),
        kind_(draw_.oneOf({Kind::Lstm, Kind::Lstm, Kind::Gru, Kind::Tanh, Kind::Relu})) {}

  /// Builds the layers and returns their results.
  std::vector<Item> run() {
    std::vector<Symbol> xs = steps();
    units_ = draw_.oneOf(pool_.sizes.features);
    biases_ = draw_.chance(0.7);
    const bool stepwise = draw_.chance(0.5);
    std::vector<Layer> layers;
    for (int64_t i = draw_.between(1, 2), inputs = x_.extents[2]; i > 0; --i, inputs = units_)
      layers.push_back(layer(inputs));
    if (draw_.chance(0.4)) {
      fault_ = draw_.oneOf({Fault::Weight, Fault::Function, Fault::State, Fault::Order});
      faultAt_ = size_t(draw_.below(int64_t(xs.size())));
    }
    if (stepwise) {
      for (size_t t = 0; t < xs.size(); ++t)
        for (Layer &layer : layers)
          xs[t] = step(layer, xs[t], t);
    } else {
      for (Layer &layer : layers)
        for (size_t t = 0; t < xs.size(); ++t)
          xs[t] = step(layer, xs[t], t);
    }
    return ends(xs, layers.back());
  }

private:
  struct Layer {
    Symbol w, r, b, d, other; ///< `other` is a second w
    Symbol h, c;
    int64_t inputs = 0;
  };

  std::vector<Item> call(const char *op, std::vector<Symbol> inputs,
                         std::vector<symbol::NamedAttribute> attributes = {}) {
    std::optional<std::vector<Item>> made =
        pool_.put({.op = op, .positional = std::move(inputs), .attributes = std::move(attributes)});
    if (!made)
      throw Refused();
    return *made;
  }
  Symbol one(const char *op, std::vector<Symbol> inputs,
             std::vector<symbol::NamedAttribute> attributes = {}) {
    return call(op, std::move(inputs), std::move(attributes)).front().symbol;
  }
  /// Operands in either order.
  Symbol two(const char *op, Symbol a, Symbol b) {
    return one(op, draw_.chance(0.5) ? std::vector{a, b} : std::vector{b, a});
  }
  Symbol function(const char *name, Symbol x) {
    return draw_.chance(0.5) ? one(name, {x}) : one("Activation", {x}, {{"act_type", name}});
  }

  std::vector<Symbol> steps() {
    std::vector<Symbol> xs;
    const int64_t steps = x_.extents[0];
    if (draw_.chance(0.6))
      for (const Item &x :
           call("SliceChannel", {x_.symbol},
                {{"num_outputs", steps}, {"axis", int64_t(0)}, {"squeeze_axis", true}}))
        xs.push_back(x.symbol);
    else
      for (int64_t t = 0; t < steps; ++t)
        xs.push_back(one(
            "squeeze",
            {one("slice_axis", {x_.symbol}, {{"axis", int64_t(0)}, {"begin", t}, {"end", t + 1}})},
            {{"axis", symbol::Tuple{0}}}));
    if (xs.size() < 2)
      throw Refused();
    if (draw_.chance(0.2))
      std::ranges::reverse(xs);
    return xs;
  }

  int64_t gates() const { return kind_ == Kind::Lstm ? 4 : kind_ == Kind::Gru ? 3 : 1; }

  Layer layer(int64_t inputs) {
    const int64_t width = gates() * units_;
    Layer made;
    made.inputs = inputs;
    made.w = pool_.parameter({width, inputs}).symbol;
    made.r = pool_.parameter({width, units_}).symbol;
    if (biases_) {
      made.b = pool_.parameter({width}).symbol;
      made.d = pool_.parameter({width}).symbol;
    }
    made.h = begin();
    made.c = draw_.chance(0.5) ? made.h : begin();
    return made;
  }

  Symbol begin() {
    if (draw_.chance(0.3))
      return pool_.input("data", {rows_, units_}, DType::F32).symbol;
    symbol::Call zeros{.op = "_zeros", .attributes = {{"shape", symbol::Tuple{rows_, units_}}}};
    if (rows_ == pool_.sizes.batch && draw_.chance(0.9))
      zeros.dims = {"batch", ""};
    auto made = pool_.put(std::move(zeros));
    if (!made)
      throw Refused();
    return made->front().symbol;
  }

  Symbol product(Symbol x, Symbol weight, Symbol bias) {
    std::vector<Symbol> inputs = {x, weight};
    std::vector<symbol::NamedAttribute> attributes = {{"num_hidden", gates() * units_}};
    if (biases_)
      inputs.push_back(bias);
    else
      attributes.push_back({"no_bias", true});
    return one("FullyConnected", std::move(inputs), std::move(attributes));
  }

  std::vector<Symbol> cut(Symbol z) {
    std::vector<Symbol> parts;
    for (const Item &part : call("SliceChannel", {z}, {{"num_outputs", gates()}}))
      parts.push_back(part.symbol);
    return parts;
  }

  /// The h of a layer's next step.
  Symbol step(Layer &layer, Symbol x, size_t t) {
    const Fault fault = t == faultAt_ ? fault_ : Fault::None;
    if (fault == Fault::Weight && !layer.other)
      layer.other = pool_.parameter({gates() * units_, layer.inputs}).symbol;
    Symbol a = product(x, fault == Fault::Weight ? layer.other : layer.w, layer.b);
    Symbol b =
        product(fault == Fault::State ? one("_mul_scalar", {layer.h}, {{"scalar", 0.5}}) : layer.h,
                layer.r, layer.d);
    switch (kind_) {
    case Kind::Lstm:
      return layer.h = lstm(layer, a, b, fault);
    case Kind::Gru:
      return layer.h = gru(layer.h, a, b, fault);
    default:
      return layer.h = function(fault == Fault::Function ? "sigmoid"
                                : kind_ == Kind::Tanh    ? "tanh"
                                                         : "relu",
                                two("elemwise_add", a, b));
    }
  }

  Symbol lstm(Layer &layer, Symbol a, Symbol b, Fault fault) {
    std::vector<Symbol> gates = cut(two("elemwise_add", a, b));
    if (fault == Fault::Order)
      std::swap(gates[1], gates[2]);
    Symbol kept = two("elemwise_mul", function("sigmoid", gates[1]), layer.c);
    Symbol added = two("elemwise_mul", function("sigmoid", gates[0]), function("tanh", gates[2]));
    layer.c = two("elemwise_add", kept, added);
    return two("elemwise_mul", function(fault == Fault::Function ? "tanh" : "sigmoid", gates[3]),
               function("tanh", layer.c));
  }

  Symbol gru(Symbol h, Symbol a, Symbol b, Fault fault) {
    std::vector<Symbol> in = cut(a), re = cut(b);
    if (fault == Fault::Order)
      std::swap(in[0], in[1]);
    Symbol r = function("sigmoid", two("elemwise_add", in[0], re[0]));
    Symbol z = function("sigmoid", two("elemwise_add", in[1], re[1]));
    Symbol n = function(fault == Fault::Function ? "sigmoid" : "tanh",
                        two("elemwise_add", in[2], two("elemwise_mul", r, re[2])));
    return two("elemwise_add",
               two("elemwise_mul", one("_rminus_scalar", {z}, {{"scalar", 1.0}}), n),
               two("elemwise_mul", z, h));
  }

  std::vector<Item> ends(const std::vector<Symbol> &hs, const Layer &layer) {
    std::vector<Item> made;
    const bool all = draw_.chance(0.7);
    if (all)
      made.push_back(call("stack", hs, {{"axis", draw_.between(0, 1)}}).front());
    auto add = [&](const Symbol &symbol) {
      if (std::optional<Item> item = pool_.take(symbol))
        made.push_back(*item);
    };
    if (!all || draw_.chance(0.3))
      add(hs.back());
    if (draw_.chance(0.2))
      add(hs.front());
    if (kind_ == Kind::Lstm && draw_.chance(0.3))
      add(layer.c);
    return made;
  }

  Pool &pool_;
  Draw &draw_;
  Item x_;
  int64_t rows_, units_ = 1;
  Kind kind_;
  bool biases_ = true;
  Fault fault_ = Fault::None;
  size_t faultAt_ = 0;
};

} // namespace

void growCells(Pool &pool, const Item &sequence) {
  std::vector<Item> outside = pool.items, made;
  try {
    made = CellWriter(pool, sequence).run();
  } catch (const Refused &) {
    made.clear(); // some op refused its call, or a value is too large
  }
  pool.items = std::move(outside);
  pool.items.insert(pool.items.end(), made.begin(), made.end());
}

} // namespace lstmc::nets
