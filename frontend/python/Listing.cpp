#include "frontend/python/Listing.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "frontend/symbol/View.h"

namespace nb = nanobind;

namespace lstmc::python {

static nb::object asObject(std::monostate) { return nb::none(); }
static nb::object asObject(const symbol::Tuple &tuple) { return nb::tuple(nb::cast(tuple)); }
template <typename T> static nb::object asObject(const T &value) { return nb::cast(value); }

static nb::list asPairs(const std::vector<symbol::NamedAttribute> &attributes) {
  nb::list pairs;
  for (const symbol::NamedAttribute &attribute : attributes)
    pairs.append(
        nb::make_tuple(attribute.name, std::visit([](const auto &value) { return asObject(value); },
                                                  attribute.value)));
  return pairs;
}

static nb::object asSpec(const symbol::Initialiser &init) {
  if (init.name.empty())
    return nb::none();
  nb::list inner;
  for (const symbol::Initialiser &each : init.initialisers)
    inner.append(asSpec(each));
  return nb::make_tuple(init.name, asPairs(init.arguments), init.patterns, inner);
}

static nb::tuple asTuple(const symbol::EdgeView &edge) {
  return nb::make_tuple(edge.input, edge.index, edge.output);
}

/// None where nothing is known; -1 for an extent that is open.
static nb::object asExtents(const symbol::Shape &shape) {
  if (!shape.ranked)
    return nb::none();
  nb::list extents;
  for (const symbol::Dim &dim : shape.dims)
    extents.append(dim.extent == symbol::kUnknown ? int64_t(-1) : dim.extent);
  return nb::tuple(extents);
}

static nb::dict asDict(const symbol::NodeView &node) {
  using Kind = symbol::NodeView::Kind;
  nb::list inputs;
  for (const auto &[name, edge] : node.inputs)
    inputs.append(nb::make_tuple(name, asTuple(edge)));
  nb::dict values;
  values["kind"] = node.kind == Kind::Variable     ? "variable"
                   : node.kind == Kind::BeginState ? "state"
                                                   : "op";
  values["name"] = node.name;
  values["op"] = node.op;
  values["inputs"] = inputs;
  values["attributes"] = asPairs(node.attributes);
  values["outputs"] = node.outputs;
  values["dtype"] = std::string(dtypeLongName(node.dtype));
  values["shape"] = asExtents(node.shape);
  values["init"] = asSpec(node.init);
  values["lr_mult"] = node.lrMult;
  values["wd_mult"] = node.wdMult;
  values["group"] = node.group;
  values["recompute"] = node.recompute;
  return values;
}

nb::tuple nodesOf(const symbol::Graph &graph) {
  symbol::GraphView view = symbol::view(graph);
  nb::list inputs, nodes, outputs;
  for (const symbol::InputView &input : view.inputs)
    inputs.append(nb::make_tuple(input.name, std::string(dtypeLongName(input.dtype))));
  for (const symbol::NodeView &node : view.nodes)
    nodes.append(asDict(node));
  for (const symbol::EdgeView &output : view.outputs)
    outputs.append(asTuple(output));
  return nb::make_tuple(inputs, nodes, outputs);
}

} // namespace lstmc::python
