#include "frontend/builders/Layers.h"

#include "frontend/symbol/Layers.h"

namespace lstmc::build {

/// `make` receives the graph, x, the units, the name and the remaining options.
template <typename Options, typename Make>
static LayerValues layer(const char *hint, const Value &x, const Options &options, const Value &c,
                         const Net::Place &place, Make make) {
  Net net(x);
  if (!net)
    return {};
  const std::string name = net.layerName(options.name, hint);
  const Value none = net.value({});
  for (const Value &value : {x, options.h, c, options.length})
    if (Net::isFailed(value))
      return {none, none, none};
  symbol::LayerOptions rest;
  rest.layers = options.num_layers;
  rest.bidirectional = options.bidirectional;
  rest.dropout = options.p;
  rest.h = options.h.symbol();
  rest.c = c.symbol();
  rest.length = options.length.symbol();
  rest.batchMajor = options.layout.word() && options.layout.word() == std::string_view("NTC");
  rest.origin = Net::origin(place);
  const symbol::LayerOutputs made =
      net.take(make(net.graph(), x.symbol(), options.num_hidden.value(), name, rest));
  return {net.value(made.output), net.value(made.h), made.c ? net.value(made.c) : none};
}

LayerValues lstm(const Value &x, const LstmOptions &options, Net::Place place) {
  return layer("lstm", x, options, options.c, place,
               [](auto &&...arguments) { return symbol::lstm(arguments...); });
}

LayerValues gru(const Value &x, const GruOptions &options, Net::Place place) {
  return layer("gru", x, options, {}, place,
               [](auto &&...arguments) { return symbol::gru(arguments...); });
}

LayerValues rnnLayer(const Value &x, const RnnLayerOptions &options, Net::Place place) {
  const std::string activation = options.activation.word() ? options.activation.word() : "tanh";
  return layer("rnn", x, options, {}, place,
               [&](auto &graph, auto symbol, auto units, auto &name, auto &rest) {
                 return symbol::rnnLayer(graph, symbol, units, activation, name, rest);
               });
}

} // namespace lstmc::build
