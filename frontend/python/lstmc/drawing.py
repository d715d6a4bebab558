"""Drawing: repeats the calls of a network in the compiler, with shapes."""

from . import _core
from .arguments import RECORDS
from .attribute import scopes_of
from .error import usage
from .init import Unknown, spec_of
from .nodes import batch_axis, dim, is_input, prefixes, reached, variables
from .values import plain


def unknown_initialisers(symbol):
    """[(parameter, text)] of initialisers that lstmc does not know."""
    return [(name, node.options["init"].text) for name, node in variables(symbol).items()
            if isinstance(node.options["init"], Unknown)]


def draw(symbol, name="net", shapes=None, types=None, declared=None):
    """The finished network for these shapes and dtypes of inputs. The Variables in `declared` are
    parameters with these shapes."""
    shapes, types = dict(shapes or {}), types or {}
    for variable in variables(symbol).values():
        if is_input(variable.name) and variable.options["shape"] is not None:
            shapes.setdefault(variable.name, variable.options["shape"])
    drawing, values = _draw(symbol._outputs, name, shapes, types, declared or {})
    drawing.finish(values)
    unknown = ({*shapes, *types, *(declared or {})} - set(drawing.list_arguments())
               - set(drawing.list_auxiliary_states()))
    if unknown:
        raise usage(
            f'no input is named "{min(unknown)}"; there are {", ".join(drawing.list_arguments())}')
    return drawing


def begin(symbol, shapes, types, declared):
    """An unfinished drawing for these shapes and dtypes of inputs, and its outputs. The Variables
    in `declared` are parameters with these shapes."""
    return _draw(symbol._outputs, "net", shapes, types, declared)


def begin_for_names(outputs):
    """An unfinished drawing without shapes and multipliers, and its outputs."""
    return _draw(outputs, "net", {}, {}, multipliers=False)


def draw_for_names(symbol):
    """The network without shapes, for properties that do not depend on them."""
    drawing, values = _draw(symbol._outputs, "net", {}, {})
    drawing.finish_for_names(values)
    return drawing


def _draw(outputs, name, shapes, types, declared=(), multipliers=True):
    """An unfinished drawing, and its outputs. Parameters that a call makes have the multipliers of
    the call."""
    drawing = _core.Drawing(name)
    nodes = reached(outputs)
    named = {node.name: node for node in nodes if node.kind == "variable"}
    for parameter in declared:
        drawing.variable(parameter,
                         {"shape": _extents(declared[parameter]), "dtype": types.get(parameter)},
                         None)
    made = _described(nodes) if multipliers else {}
    inputs = {name: _draw_input(drawing, name, shape, types.get(name), named.get(name))
              for name, shape in shapes.items()}
    values = {}
    for node in nodes:
        for parameter, options in made.get(node, ()):
            drawing.variable(parameter, options, node.place)
        values[node] = _draw_node(drawing, node, values, inputs)
    return drawing, [values[node][index] for node, index in outputs]


def takes_statistics(node):
    """Whether it is a BatchNorm whose training takes those of the batch."""
    return (node.kind == "op" and node.op in ("BatchNorm", "BatchNorm_v1")
            and not dict(node.options["given"]).get("use_global_stats"))


def draw_into(drawing, symbol, value_of, training, prefix):
    """Repeats the calls of a network in a drawing, whose values `value_of` has by the names of its
    Variables, and returns the outputs. Dropout drops out if `training`, whatever the entry;
    `prefix` is put before names of nodes."""
    values = {}
    for node in reached(symbol._outputs):
        if node.kind == "variable":
            values[node] = [value_of(node.name)]
            continue
        given = dict(node.options.get("given", ()), **node.options)
        if takes_statistics(node):  # in training it is no part of a tape
            marked = node.reading(node.inputs)
            marked.options = {"given": [*((key, value) for key, value in node.options["given"]
                                          if key != "use_global_stats"),
                                        ("use_global_stats", True)]}
        elif node.kind == "op" and node.op == "Dropout":
            if not training and given.get("mode") != "always":
                values[node] = [_value_of(node.inputs[0][1], values)] * node.outputs
                continue
            marked = node.reading(node.inputs)
            marked.options = {"given": [*((key, value) for key, value in node.options["given"]
                                          if key != "mode"), ("mode", "always")]}
        elif training and (node.kind == "layer" or node.op == "RNN") and given.get("p"):
            raise usage(f"{node.name}: a recurrent layer of a block does not drop out inside of "
                        "itself: take layers one by one with Dropout between them")
        else:
            marked = node.reading(node.inputs)
        marked.name = prefix + node.name
        values[node] = _draw_node(drawing, marked, values, {})
    return [values[node][index] for node, index in symbol._outputs]


def _draw_input(drawing, name, shape, dtype, variable):
    options = variable.options if variable else {}
    dtype = plain(dtype or options.get("dtype") or "float32")
    batch = batch_axis(options.get("layout") or "N")
    return drawing.input(name, dtype, _extents(shape, batch), name.endswith("label"),
                         variable.place if variable else None)


def _draw_node(drawing, node, values, inputs):
    if node.kind == "variable" and node.name in inputs:
        return [inputs[node.name]]
    scopes = scopes_of(node.attributes, node.dtype)
    for scope in scopes:
        drawing.push(*scope)
    try:
        return _DRAW[node.kind](drawing, node, values)
    finally:
        for _ in scopes:
            drawing.pop()


def _extents(shape, batch=None):
    """A shape in the form of lstmc._core. 0, -1 and None are extents to infer."""
    if shape is None:
        return None
    if isinstance(shape, int):
        shape = (shape,)
    extents = []
    for axis, extent in enumerate(shape):
        if isinstance(extent, dim):
            extents.append((int(extent), extent.name))
        elif extent in (None, 0, -1):
            extents.append(None)
        elif axis == batch:
            extents.append((int(extent), "batch"))
        else:
            extents.append(int(extent))
    return extents


_MULTIPLIERS = ("lr_mult", "wd_mult")


def _described(nodes):
    """{node: [(parameter that it makes, its multipliers)]} of calls with multipliers; copies of a
    node share its parameters."""
    calls = [node for node in nodes
             if node.is_copy or any(f"__{name}__" in node.attributes for name in _MULTIPLIERS)]
    made = made_by([(node, 0) for node in calls if node.kind != "variable"]) if calls else {}
    described = {}
    for parameter, (node, _, is_parameter) in made.items():
        if is_parameter:
            options = {name: float(node.attributes[f"__{name}__"]) for name in _MULTIPLIERS
                       if f"__{name}__" in node.attributes}
            described.setdefault(node, []).append((parameter, options))
    return described


def _draw_variable(drawing, node, _):
    options = {key: value for key, value in node.options.items() if key != "layout"}
    options["shape"] = _extents(options["shape"])
    options["init"] = spec_of(options["init"])
    options["dtype"] = plain(options["dtype"])
    return [drawing.variable(node.name, options, node.place)]


def _value_of(symbol, values):
    if symbol is None:
        return _core.Value()
    node, index = symbol._outputs[0]
    return values[node][index]


def call_of(node, values):
    """Repeats the call with these values for its inputs."""
    positional = [value for (argument, _), value in zip(node.inputs, values) if argument is None]
    named = [(argument, value) for (argument, _), value in zip(node.inputs, values)
             if argument is not None]
    return _core.Call(node.op, positional, named, node.options["given"], node.name, node.place,
                      _dims(node))


def _dims(node):
    """Names of the extents of an initial state: N of its layout is the batch, whose extent is
    inferred."""
    layout = node.attributes.get("__layout__")
    shape = dict(node.options["given"]).get("shape")
    if node.inputs or not layout or not isinstance(shape, tuple) or len(shape) != len(layout):
        return []
    return ["batch" if axis == "N" and extent == 0 else "" for axis, extent in zip(layout, shape)]


def _draw_op(drawing, node, values):
    return drawing.apply(call_of(node, [_value_of(symbol, values) for _, symbol in node.inputs]))


def _draw_layer(drawing, node, values):
    options = dict(node.options)
    units, forget_bias = options.pop("units"), options.pop("forget_bias", None)
    x, *states = [_value_of(symbol, values) for _, symbol in node.inputs]
    options.update((key, value) for (key, symbol), value in zip(node.inputs[1:], states)
                   if symbol is not None)
    made = drawing.layer(node.op, x, units, node.name, options, node.place)
    if forget_bias is not None:  # a second declaration would add its value
        for prefix in prefixes(node.name, options.get("num_layers", 1),
                               options.get("bidirectional", False)):
            spec = ("lstmbias", [("forget_bias", float(forget_bias))], [], [])
            drawing.variable(prefix + "i2h_bias", {"init": spec}, node.place)
    return made


_DRAW = {"variable": _draw_variable, "op": _draw_op, "layer": _draw_layer}


def shapes_in_order(drawing):
    """(shapes of arguments, of outputs, of auxiliary states)"""
    names = [drawing.list_arguments(), drawing.list_outputs(), drawing.list_auxiliary_states()]
    found = drawing.inferred_shapes()
    boundary = len(found) - len(names[1])
    sources, outputs = dict(found[:boundary]), [shape for _, shape in found[boundary:]]
    return [sources[name] for name in names[0]], outputs, [sources[name] for name in names[2]]


def made_by(outputs):
    """{name: (node, argument, whether it is a parameter)} of all Variables that calls make."""
    nodes = reached(outputs)
    known = {node.name for node in nodes if node.kind == "variable"}
    drawing, values = begin_for_names(outputs)
    drawing.finish_for_names(values)
    names = {*drawing.list_arguments(), *drawing.list_auxiliary_states()} - known
    made = {}
    for node in nodes:
        for argument, is_parameter in _made_for(node):
            name = f"{node.name}_{argument}" if node.kind == "op" else argument
            if name in names:
                made.setdefault(name, (node, argument, is_parameter))
    return made


def _made_for(node):
    """(argument of an op, or name of a layer's parameter; whether it is a parameter) of all
    Variables that the call may make."""
    if node.kind == "layer":
        layers, both = node.options.get("num_layers", 1), node.options.get("bidirectional", False)
        return [(prefix + part, True) for prefix in prefixes(node.name, layers, both)
                for part in ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias")]
    if node.kind == "op":
        return [(argument, left_out == "parameter") for argument, left_out in RECORDS[node.op][2]
                if left_out in ("parameter", "label")]
    return []
