#include "frontend/python/Drawing.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "frontend/lnet/Emit.h"
#include "frontend/python/Failure.h"
#include "frontend/python/Listing.h"
#include "frontend/python/Values.h"
#include "frontend/symbol/Layers.h"

namespace nb = nanobind;

namespace lstmc::python {

using symbol::Symbol;

symbol::Call PythonCall::call() const {
  symbol::Call call;
  call.op = op;
  call.positional = positional;
  call.named = named;
  for (nb::handle pair : attributes)
    call.attributes.push_back({nb::cast<std::string>(pair[0]), attributeValue(pair[1])});
  call.name = name;
  call.origin = placeOf(place);
  call.dims = dims;
  return call;
}

Symbol Drawing::input(const std::string &name, const std::string &dtype, nb::handle shape,
                      bool label, nb::handle place) {
  return valueOf(graph_->input(name, dtypeOf(dtype), shapeOf(shape),
                               label ? symbol::Role::Label : symbol::Role::Data, placeOf(place)));
}

/// An option that is there and not None.
template <typename T> static std::optional<T> optionOf(const nb::dict &options, const char *key) {
  if (!options.contains(key) || nb::object(options[key]).is_none())
    return std::nullopt;
  return nb::cast<T>(options[key]);
}

Symbol Drawing::variable(const std::string &name, const nb::dict &given, nb::handle place) {
  symbol::VariableOptions options;
  options.shareIsMeant = true;
  if (std::optional<std::string> dtype = optionOf<std::string>(given, "dtype"))
    options.dtype = dtypeOf(*dtype);
  if (given.contains("shape"))
    options.shape = shapeOf(given["shape"]);
  if (given.contains("init"))
    options.init = initialiserOf(given["init"]);
  options.lrMult = optionOf<double>(given, "lr_mult");
  options.wdMult = optionOf<double>(given, "wd_mult");
  return valueOf(graph_->variable(name, options, placeOf(place)));
}

std::vector<Symbol> Drawing::apply(const PythonCall &call) {
  return valueOf(graph_->apply(call.call()));
}

std::vector<Symbol> Drawing::layer(const std::string &kind, Symbol x, int64_t units,
                                   const std::string &name, const nb::dict &given,
                                   nb::handle place) {
  symbol::LayerOptions options;
  options.layers = optionOf<int64_t>(given, "num_layers").value_or(1);
  options.bidirectional = optionOf<bool>(given, "bidirectional").value_or(false);
  options.dropout = optionOf<double>(given, "p").value_or(0);
  options.h = optionOf<Symbol>(given, "h").value_or(Symbol());
  options.c = optionOf<Symbol>(given, "c").value_or(Symbol());
  options.length = optionOf<Symbol>(given, "length").value_or(Symbol());
  options.batchMajor = optionOf<std::string>(given, "layout").value_or("TNC") == "NTC";
  options.origin = placeOf(place);
  std::string activation = optionOf<std::string>(given, "activation").value_or("tanh");
  symbol::LayerOutputs made =
      valueOf(kind == "LSTM"  ? symbol::lstm(*graph_, x, units, name, options)
              : kind == "GRU" ? symbol::gru(*graph_, x, units, name, options)
                              : symbol::rnnLayer(*graph_, x, units, activation, name, options));
  std::vector<Symbol> outputs = {made.output, made.h};
  if (made.c)
    outputs.push_back(made.c);
  return outputs;
}

void Drawing::push(const std::string &scope, const std::string &value) {
  using Kind = symbol::Scope::Kind;
  graph_->push({scope == "ctx_group"   ? Kind::ContextGroup
                : scope == "recompute" ? Kind::Recompute
                : scope == "dtype"     ? Kind::DType
                                       : Kind::NameScope,
                value});
}

void Drawing::finish(const std::vector<Symbol> &outputs) {
  Diagnostics found = graph_->finish(outputs);
  for (const Diagnostic &diagnostic : found)
    if (diagnostic.severity == Severity::Error)
      throw Failure(std::move(found));
  warn(found);
}

void Drawing::finishForNames(const std::vector<Symbol> &outputs) {
  (void)graph_->finish(outputs); // shapes that are open are no error here
}

int64_t rehearseCall(const PythonCall &given) {
  // One graph for many calls, since each has a compiler context of its own. The GIL guards it, and
  // it is never destroyed: the compiler's libraries may be gone by then.
  static constexpr int64_t kCalls = 500;
  static std::unique_ptr<symbol::Graph> &graph = *new std::unique_ptr<symbol::Graph>;
  static int64_t calls = 0, names = 0;
  if (!graph || ++calls > kCalls) {
    graph = std::make_unique<symbol::Graph>("call");
    calls = 0;
  }
  symbol::Call call = given.call();
  call.name.clear(); // or it would share parameters with another call of that name
  auto standIn = [&](Symbol &symbol) {
    if (symbol)
      symbol = valueOf(graph->variable("x" + std::to_string(names++), {.shareIsMeant = true}));
  };
  for (Symbol &symbol : call.positional)
    standIn(symbol);
  for (auto &[name, symbol] : call.named)
    standIn(symbol);
  Checked<std::vector<Symbol>> made = graph->apply(call);
  if (!made.ok())
    throw Failure(std::move(made.diagnostics()));
  return int64_t(made->size());
}

//===---- bindings ----------------------------------------------------------------------------===//

static nb::object asTuple(const symbol::Shape &shape) {
  if (!shape.ranked)
    return nb::none();
  nb::list extents;
  for (const symbol::Dim &dim : shape.dims)
    extents.append(dim.extent == symbol::kUnknown ? nb::object(nb::none())
                                                  : nb::object(nb::int_(dim.extent)));
  return nb::tuple(extents);
}

static nb::list inferredShapes(Drawing &drawing) {
  nb::list shapes;
  for (auto &[name, shape] : drawing.graph().inferredShapes())
    shapes.append(nb::make_tuple(name, asTuple(shape)));
  return shapes;
}

void addDrawings(nb::module_ &module) {
  nb::class_<Symbol>(module, "Value", "A tensor of a drawing.")
      .def(nb::init<>(), "No tensor: an input that is left out.")
      .def_prop_ro("name", &Symbol::name)
      .def_prop_ro("shape", [](const Symbol &symbol) { return asTuple(symbol.shape()); })
      .def_prop_ro("dtype", [](const Symbol &symbol) {
        std::optional<DType> dtype = symbol.dtype();
        return dtype ? nb::object(nb::cast(std::string(dtypeLongName(*dtype)))) : nb::none();
      });

  nb::class_<PythonCall>(module, "Call", "A call of an op.")
      .def(
          "__init__",
          [](PythonCall *self, std::string op, std::vector<Symbol> positional,
             std::vector<std::pair<std::string, Symbol>> named, nb::list attributes,
             std::string name, nb::object place, std::vector<std::string> dims) {
            new (self) PythonCall{std::move(op),         std::move(positional), std::move(named),
                                  std::move(attributes), std::move(name),       std::move(place),
                                  std::move(dims)};
          },
          nb::arg("op"), nb::arg("positional"), nb::arg("named"), nb::arg("attributes"),
          nb::arg("name"), nb::arg("place").none(), nb::arg("dims") = std::vector<std::string>());
  module.def("rehearse_call", &rehearseCall, "How many outputs a call has; raises what is wrong.");
  module.def(
      "stand_in",
      [] {
        static symbol::Graph &graph = *new symbol::Graph("stand-ins");
        static Symbol symbol = valueOf(graph.variable("x", {.shareIsMeant = true}));
        return symbol;
      },
      "An input that is there, for rehearse_call.");

  nb::class_<Drawing>(module, "Drawing", "A network while it is drawn, and after.")
      .def(nb::init<const std::string &>())
      .def("input", &Drawing::input, nb::arg("name"), nb::arg("dtype"), nb::arg("shape"),
           nb::arg("label"), nb::arg("place").none())
      .def("variable", &Drawing::variable, nb::arg("name"), nb::arg("options"),
           nb::arg("place").none())
      .def("apply", &Drawing::apply)
      .def("layer", &Drawing::layer, nb::arg("kind"), nb::arg("x"), nb::arg("units"),
           nb::arg("name"), nb::arg("options"), nb::arg("place").none())
      .def("push", &Drawing::push)
      .def("pop", &Drawing::pop)
      .def("finish", &Drawing::finish)
      .def("finish_for_names", &Drawing::finishForNames)
      .def("list_arguments", [](Drawing &d) { return d.graph().listArguments(); })
      .def("list_outputs", [](Drawing &d) { return d.graph().listOutputs(); })
      .def("list_auxiliary_states", [](Drawing &d) { return d.graph().listAuxiliaryStates(); })
      .def("inferred_shapes", &inferredShapes)
      .def("text", [](Drawing &d) { return d.graph().text(); })
      .def("hash", [](Drawing &d) { return d.graph().hash(); })
      .def("nodes", [](Drawing &d) { return nodesOf(d.graph()); })
      .def("lnet", [](Drawing &d) { return lnet::emitLnet(d.graph()); });
}

} // namespace lstmc::python
