// Networks in the making: calls of the C interface as calls of the Symbol API.
#include <limits>
#include <map>
#include <span>

#include <fmt/format.h>

#include "executor/c/CallerStruct.h"
#include "frontend/library/GraphSettings.h"
#include "frontend/library/Network.h"
#include "frontend/symbol/Copy.h"
#include "frontend/symbol/Layers.h"

struct lstmc_net {
  explicit lstmc_net(std::string name) : graph(std::move(name)) {}
  lstmc::symbol::Graph graph;
  std::vector<lstmc::symbol::Symbol> values; ///< by number, from 1
  lstmc::Diagnostics errors, warnings;
  std::map<std::string, int> layers; ///< that got a name of their kind, by kind
  std::vector<lstmc::symbol::Setting> fit, data;
  std::string name;  ///< of the value that was asked for last
  size_t scopes = 0; ///< that were entered and not left
};

namespace lstmc::library {

namespace {

void refuse(lstmc_net &net, ErrorCode code, const symbol::Origin &origin, std::string message) {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.place = origin;
  diagnostic.message = std::move(message);
  net.errors.push_back(std::move(diagnostic));
}

/// The value, or nullopt with what it says noted.
template <typename T> std::optional<T> take(lstmc_net &net, Checked<T> made) {
  Diagnostics &into = made.ok() ? net.warnings : net.errors;
  into.insert(into.end(), made.diagnostics().begin(), made.diagnostics().end());
  return made.ok() ? std::optional<T>(std::move(*made)) : std::nullopt;
}

lstmc_value numberOf(lstmc_net &net, const symbol::Symbol &symbol) {
  net.values.push_back(symbol);
  return lstmc_value(net.values.size());
}

/// A symbol, an empty one for an argument left out; nullopt for what failed before, in silence, and
/// for what is none, with an error.
std::optional<symbol::Symbol> symbolOf(lstmc_net &net, lstmc_value value,
                                       const symbol::Origin &origin) {
  if (value == LSTMC_NO_VALUE)
    return symbol::Symbol();
  if (value > 0 && size_t(value) <= net.values.size())
    return net.values[size_t(value) - 1];
  if (value != LSTMC_FAILED_VALUE)
    refuse(net, ErrorCode::E0203, origin, "an argument is a value of another network");
  return std::nullopt;
}

/// Arguments and attributes of a call, read from the caller's structs.
class CallReader {
public:
  CallReader(lstmc_net &net, const lstmc_call &call)
      : net_(net), call_(call), origin_(placeOf(&call.place)) {}

  const symbol::Origin &origin() const { return origin_; }
  std::string name() const { return call_.name ? call_.name : ""; }

  /// Those by position and by name; false where one is none.
  bool readArguments(std::vector<symbol::Symbol> &positional,
                     std::vector<std::pair<std::string, symbol::Symbol>> &named) {
    for (size_t i = 0; i < call_.argument_count; ++i) {
      const lstmc_argument &argument = call_.arguments[i];
      const std::optional<symbol::Symbol> symbol = symbolOf(net_, argument.value, origin_);
      if (!symbol)
        return false;
      if (argument.name && *symbol)
        named.emplace_back(argument.name, *symbol);
      else if (!argument.name)
        positional.push_back(*symbol);
    }
    return true;
  }

  static symbol::AttributeValue valueOf(const lstmc_attribute &attribute) {
    switch (attribute.kind) {
    case LSTMC_INTEGER:
      return attribute.integer;
    case LSTMC_NUMBER:
      return attribute.number;
    case LSTMC_BOOLEAN:
      return attribute.integer != 0;
    case LSTMC_TEXT:
      return std::string(attribute.text ? attribute.text : "");
    case LSTMC_LIST:
      break;
    }
    symbol::Tuple tuple;
    for (size_t i = 0; i < attribute.count; ++i)
      tuple.push_back(attribute.list[i] == LSTMC_NONE ? std::nullopt
                                                      : std::optional(attribute.list[i]));
    return tuple;
  }

  std::vector<symbol::NamedAttribute> attributes() const {
    std::vector<symbol::NamedAttribute> all;
    for (size_t i = 0; i < call_.attribute_count; ++i)
      all.push_back({call_.attributes[i].name, valueOf(call_.attributes[i])});
    return all;
  }

  /// The attribute of that name and kind, or null.
  const lstmc_attribute *find(std::string_view name) const {
    for (size_t i = 0; i < call_.attribute_count; ++i)
      if (call_.attributes[i].name == name)
        return &call_.attributes[i];
    return nullptr;
  }
  int64_t integer(std::string_view name, int64_t otherwise) const {
    const lstmc_attribute *found = find(name);
    return found ? found->integer : otherwise;
  }
  double number(std::string_view name, double otherwise) const {
    const lstmc_attribute *found = find(name);
    return found ? found->number : otherwise;
  }
  std::string text(std::string_view name) const {
    const lstmc_attribute *found = find(name);
    return found && found->text ? found->text : "";
  }

private:
  lstmc_net &net_;
  const lstmc_call &call_;
  symbol::Origin origin_;
};

/// What of a call cannot be read; empty: all of it can.
std::string_view unreadable(const lstmc_call &call) {
  if (call.size < sizeof call)
    return "a size that is less than sizeof(lstmc_call)";
  if (!call.op || (!call.arguments && call.argument_count > 0) ||
      (!call.attributes && call.attribute_count > 0))
    return "a null pointer";
  for (const lstmc_attribute &each : std::span(call.attributes, call.attribute_count)) {
    if (!each.name)
      return "an attribute without a name";
    const bool known = unsigned(each.kind) <= unsigned(LSTMC_LIST);
    if (!known || (each.kind == LSTMC_TEXT && !each.text) || (!each.list && each.count > 0))
      return "an attribute that is not of its kind";
  }
  return {};
}

bool isDType(int64_t number) { return number >= 0 && number < kDTypeCount; }

using Symbols = std::vector<symbol::Symbol>;

std::optional<Symbols> applyOp(lstmc_net &net, const lstmc_call &call, CallReader &reader) {
  symbol::Call made;
  made.op = call.op;
  made.name = reader.name();
  made.origin = reader.origin();
  made.attributes = reader.attributes();
  if (!reader.readArguments(made.positional, made.named))
    return std::nullopt;
  return take(net, net.graph.apply(made));
}

/// LSTM, GRU and RNNLayer of the language.
std::optional<Symbols> applyLayer(lstmc_net &net, const lstmc_call &call, CallReader &reader,
                                  const std::string &hint) {
  Symbols positional;
  std::vector<std::pair<std::string, symbol::Symbol>> named;
  if (!reader.readArguments(positional, named))
    return std::nullopt;
  if (positional.size() != 1 || !positional[0]) {
    refuse(net, ErrorCode::E0203, reader.origin(), fmt::format("{} needs x", call.op));
    return std::nullopt;
  }
  symbol::LayerOptions options;
  options.origin = reader.origin();
  options.layers = reader.integer("num_layers", 1);
  options.bidirectional = reader.integer("bidirectional", 0) != 0;
  options.dropout = reader.number("p", 0);
  const std::string layout = reader.text("layout");
  options.batchMajor = layout == "NTC";
  if (!layout.empty() && layout != "NTC" && layout != "TNC") {
    refuse(net, ErrorCode::E0204, reader.origin(),
           fmt::format("{}: .layout is TNC or NTC, got \"{}\"", call.op, layout));
    return std::nullopt;
  }
  for (const auto &[name, symbol] : named)
    (name == "h" ? options.h : name == "c" ? options.c : options.length) = symbol;
  const std::string name =
      reader.name().empty() ? hint + std::to_string(net.layers[hint]++) : reader.name();
  const int64_t units = reader.integer("num_hidden", 0);
  const std::string activation = reader.text("activation");
  const std::optional<symbol::LayerOutputs> outputs =
      take(net, hint == "lstm" ? symbol::lstm(net.graph, positional[0], units, name, options)
                : hint == "gru"
                    ? symbol::gru(net.graph, positional[0], units, name, options)
                    : symbol::rnnLayer(net.graph, positional[0], units,
                                       activation.empty() ? "relu" : activation, name, options));
  if (!outputs)
    return std::nullopt;
  Symbols all = {outputs->output, outputs->h};
  if (outputs->c)
    all.push_back(outputs->c);
  return all;
}

std::optional<Symbols> makeVariable(lstmc_net &net, CallReader &reader) {
  symbol::VariableOptions options;
  options.shareIsMeant = true;
  if (const lstmc_attribute *shape = reader.find("shape")) {
    std::vector<symbol::Dim> dims;
    for (size_t i = 0; i < shape->count; ++i)
      dims.push_back({shape->list[i], {}});
    options.shape = symbol::Shape(std::move(dims));
  }
  if (const lstmc_attribute *dtype = reader.find("dtype")) {
    if (!isDType(dtype->integer)) {
      refuse(net, ErrorCode::E0001, reader.origin(), "dtype is none of lstmc_dtype");
      return std::nullopt;
    }
    options.dtype = DType(dtype->integer);
  }
  if (reader.find("lr_mult"))
    options.lrMult = reader.number("lr_mult", 1);
  if (reader.find("wd_mult"))
    options.wdMult = reader.number("wd_mult", 1);
  if (reader.find("init")) {
    std::optional<symbol::Setting> init =
        take(net, initializerOf(reader.text("init"), reader.origin()));
    if (!init)
      return std::nullopt;
    options.init = *init->initialiser;
  }
  const std::optional<symbol::Symbol> made =
      take(net, net.graph.variable(reader.name(), options, reader.origin()));
  return made ? std::optional(Symbols{*made}) : std::nullopt;
}

std::optional<Symbols> applyCall(lstmc_net &net, const lstmc_call &call) {
  if (const std::string_view wrong = unreadable(call); !wrong.empty()) {
    refuse(net, ErrorCode::E0001, {}, fmt::format("call: found {}", wrong));
    return std::nullopt;
  }
  CallReader reader(net, call);
  const std::string_view op = call.op;
  if (op == "LSTM")
    return applyLayer(net, call, reader, "lstm");
  if (op == "GRU")
    return applyLayer(net, call, reader, "gru");
  if (op == "RNNLayer")
    return applyLayer(net, call, reader, "rnn");
  if (op == "Variable")
    return makeVariable(net, reader);
  return applyOp(net, call, reader);
}

/// slice_axis and squeeze, as the language makes them of x[index].
lstmc_value indexed(lstmc_net &net, lstmc_value x, int64_t index, const symbol::Origin &origin) {
  const std::optional<symbol::Symbol> from = symbolOf(net, x, origin);
  if (!from)
    return LSTMC_FAILED_VALUE;
  if (!*from) {
    refuse(net, ErrorCode::E0203, origin, "x[index] of a value that is none");
    return LSTMC_FAILED_VALUE;
  }
  const symbol::Shape shape = from->shape();
  if (shape.ranked && !shape.dims.empty() && shape.dims[0].extent != symbol::kUnknown &&
      (index < -shape.dims[0].extent || index >= shape.dims[0].extent)) {
    refuse(net, ErrorCode::E0305, origin,
           fmt::format("index {} of axis 0, which has {}", index, shape.dims[0].extent));
    return LSTMC_FAILED_VALUE;
  }
  symbol::Call slice;
  slice.op = "slice_axis";
  slice.positional = {*from};
  slice.origin = origin;
  symbol::AttributeValue end; // after the last one
  if (index != -1 && index != std::numeric_limits<int64_t>::max())
    end = index + 1;
  slice.attributes = {{"axis", int64_t(0)}, {"begin", index}, {"end", end}};
  const std::optional<Symbols> sliced = take(net, net.graph.apply(slice));
  if (!sliced)
    return LSTMC_FAILED_VALUE;
  symbol::Call squeeze;
  squeeze.op = "squeeze";
  squeeze.positional = *sliced;
  squeeze.origin = origin;
  squeeze.attributes = {{"axis", symbol::Tuple{0}}};
  const std::optional<Symbols> squeezed = take(net, net.graph.apply(squeeze));
  return squeezed ? numberOf(net, squeezed->front()) : LSTMC_FAILED_VALUE;
}

Diagnostics finish(lstmc_net &net, const lstmc_value *outputs, size_t count,
                   const symbol::Origin &origin, lstmc_network **network) {
  Symbols symbols;
  for (size_t i = 0; i < count; ++i) {
    if (outputs[i] == LSTMC_NO_VALUE)
      refuse(net, ErrorCode::E0203, origin,
             fmt::format("output {} of the net \"{}\" is no value", i + 1, net.graph.name()));
    symbols.push_back(symbolOf(net, outputs[i], origin).value_or(symbol::Symbol()));
  }
  if (!net.errors.empty())
    return net.errors;
  net.graph.setFit(net.fit);
  net.graph.setData(net.data);
  Diagnostics said = checkSettings(net.graph), ended = net.graph.finish(symbols);
  for (Diagnostic &diagnostic : ended) {
    if (diagnostic.severity == Severity::Error && diagnostic.place.file.empty())
      diagnostic.place = origin;
    said.push_back(std::move(diagnostic));
  }
  for (const Diagnostic &diagnostic : said)
    (diagnostic.severity == Severity::Error ? net.errors : net.warnings).push_back(diagnostic);
  if (!net.errors.empty())
    return net.errors;
  auto made = std::make_unique<lstmc_network>();
  made->graph = symbol::copyOf(net.graph);
  symbol::Network described;
  described.fit = net.graph.fit();
  described.data = net.graph.data();
  described.graph = symbol::copyOf(net.graph);
  made->known = knownOf(described);
  *network = made.release();
  return net.warnings;
}

} // namespace

} // namespace lstmc::library

using namespace lstmc;
using namespace lstmc::library;

extern "C" {

lstmc_status lstmc_net_create(const char *name, lstmc_net **net) {
  return guarded(nullptr, [&]() -> Diagnostics {
    if (!name || !net)
      return failureOf(Status(fail(ErrorCode::E0001, "found a null pointer, want an argument")));
    *net = new lstmc_net(name);
    return {};
  });
}

void lstmc_net_close(lstmc_net *net) { delete net; }

lstmc_value lstmc_net_input(lstmc_net *net, const char *name, lstmc_dtype dtype,
                            const lstmc_dim *dims, size_t rank, uint32_t is_label,
                            const lstmc_place *place) {
  return guardedValue<lstmc_value>(LSTMC_FAILED_VALUE, [&]() -> lstmc_value {
    if (!net)
      return LSTMC_FAILED_VALUE;
    if (!name || (!dims && rank > 0) || !isDType(int64_t(dtype))) {
      refuse(*net, ErrorCode::E0001, placeOf(place),
             "an input has a name, extents and a type: found a null pointer or another type");
      return LSTMC_FAILED_VALUE;
    }
    std::vector<symbol::Dim> shape;
    for (size_t i = 0; i < rank; ++i)
      shape.push_back({dims[i].extent, dims[i].name ? dims[i].name : ""});
    const auto role = is_label ? symbol::Role::Label : symbol::Role::Data;
    const std::optional<symbol::Symbol> made =
        take(*net, net->graph.input(name, DType(int(dtype)), symbol::Shape(std::move(shape)), role,
                                    placeOf(place)));
    return made ? numberOf(*net, *made) : LSTMC_FAILED_VALUE;
  });
}

size_t lstmc_net_call(lstmc_net *net, const lstmc_call *call, lstmc_value *results, size_t room) {
  return guardedValue<size_t>(0, [&]() -> size_t {
    if (!net || !call)
      return 0;
    const std::optional<Symbols> made = applyCall(*net, *call);
    if (!made)
      return 0;
    for (size_t i = 0; i < made->size(); ++i) {
      const lstmc_value number = numberOf(*net, (*made)[i]);
      if (i < room && results)
        results[i] = number;
    }
    return made->size();
  });
}

lstmc_value lstmc_net_index(lstmc_net *net, lstmc_value x, int64_t index,
                            const lstmc_place *place) {
  return guardedValue<lstmc_value>(LSTMC_FAILED_VALUE, [&]() -> lstmc_value {
    return net ? indexed(*net, x, index, placeOf(place)) : LSTMC_FAILED_VALUE;
  });
}

lstmc_status lstmc_net_value(lstmc_net *net, lstmc_value value, lstmc_value_info *info) {
  return guarded(nullptr, [&]() -> Diagnostics {
    if (!net || !info || value <= 0 || size_t(value) > net->values.size())
      return failureOf(Status(fail(ErrorCode::E0001, "found a value that is none of this net")));
    const symbol::Symbol &symbol = net->values[size_t(value) - 1];
    const symbol::Shape shape = symbol.shape();
    net->name = symbol.name();
    lstmc_value_info found = {};
    found.rank = shape.ranked ? int32_t(shape.dims.size()) : -1;
    found.dtype = symbol.dtype() ? int32_t(*symbol.dtype()) : -1;
    found.name = net->name.c_str();
    for (size_t i = 0; i < shape.dims.size() && i < LSTMC_MAX_RANK; ++i)
      found.shape[i] = shape.dims[i].extent;
    c::give(found, info);
    return {};
  });
}

lstmc_status lstmc_net_enter(lstmc_net *net, const char *kind, const char *value) {
  return guarded(nullptr, [&]() -> Diagnostics {
    const std::string_view name = kind ? kind : "";
    using Kind = symbol::Scope::Kind;
    const std::pair<std::string_view, Kind> kinds[] = {{"group", Kind::ContextGroup},
                                                       {"recompute", Kind::Recompute},
                                                       {"dtype", Kind::DType},
                                                       {"prefix", Kind::NameScope}};
    for (const auto &[known, of] : kinds)
      if (net && name == known) {
        net->graph.push({of, value ? value : ""});
        ++net->scopes;
        return {};
      }
    return failureOf(Status(
        fail(ErrorCode::E0001, "a scope is group, recompute, dtype or prefix, got \"{}\"", name)));
  });
}

void lstmc_net_leave(lstmc_net *net) {
  if (!net)
    return;
  if (net->scopes == 0)
    return refuse(*net, ErrorCode::E0001, {}, "found a scope left that was not entered");
  net->graph.pop();
  --net->scopes;
}

lstmc_status lstmc_net_set(lstmc_net *net, uint32_t of_data, const char *key, const char *value,
                           const lstmc_place *place) {
  return guarded(place, [&]() -> Diagnostics {
    if (!net || !key || !value)
      return failureOf(Status(fail(ErrorCode::E0001, "found a null pointer, want an argument")));
    symbol::Setting setting;
    setting.key = key;
    setting.value = std::string(value);
    setting.origin = placeOf(place);
    if (!of_data && setting.key == "initializer") {
      std::optional<symbol::Setting> init = take(*net, initializerOf(value, setting.origin));
      if (!init)
        return {};
      setting = std::move(*init);
    }
    (of_data ? net->data : net->fit).push_back(std::move(setting));
    return {};
  });
}

lstmc_status lstmc_net_finish(lstmc_net *net, const lstmc_value *outputs, size_t count,
                              const lstmc_place *place, lstmc_network **network) {
  return guarded(place, [&]() -> Diagnostics {
    if (!net || (!outputs && count > 0) || !network)
      return failureOf(Status(fail(ErrorCode::E0001, "found a null pointer, want an argument")));
    return finish(*net, outputs, count, placeOf(place), network);
  });
}
}
