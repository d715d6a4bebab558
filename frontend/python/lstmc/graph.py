"""Symbols: nodes that remember how they were called and where. The compiler sees them when shapes are asked for."""

import itertools

from . import _core, arithmetic
from .attribute import AttrScope
from .error import usage
from .init import spec_of
from .name import NameManager
from .place import of_caller

_numbers = itertools.count()


class dim(int):
    """An extent with a name, which messages show and devices share out: `dim("batch", 32)`."""

    def __new__(cls, name, extent):
        self = super().__new__(cls, extent)
        self.name = name
        return self


class _Node:
    """A variable, a call of an op or a layer."""

    __slots__ = ("kind", "name", "inputs", "options", "outputs", "number", "place", "scopes", "op")

    def __init__(self, kind, name, inputs=(), outputs=1, op=None, **options):
        self.kind = kind
        self.name = name
        self.inputs = inputs  # (input's name or None, Symbol of one output or None)
        self.options = options
        self.outputs = outputs
        self.op = op
        self.number = next(_numbers)  # nodes are drawn in the order in which they were made
        self.place = of_caller()
        self.scopes = AttrScope.current()


class Symbol:
    """One tensor or several that will exist when a network runs. Nothing is computed when it is made."""

    __slots__ = ("_outputs",)
    __array_priority__ = 1000.0  # or NumPy would take the operators of its scalars

    def __init__(self, outputs):
        self._outputs = tuple(outputs)  # (node, index)

    # What it is.

    @property
    def name(self):
        """The node's name; None for a group of several."""
        nodes = {node for node, _ in self._outputs}
        return next(iter(nodes)).name if len(nodes) == 1 else None

    def __len__(self):
        return len(self._outputs)

    def __iter__(self):
        return (Symbol([output]) for output in self._outputs)

    def __getitem__(self, index):
        """An output by number, or by name as `list_outputs()` has it."""
        if isinstance(index, str):
            names = self.list_outputs()
            if index not in names:
                raise usage(f'no output is named "{index}"; there are {", ".join(names)}')
            index = names.index(index)
        return Symbol([self._outputs[index]])

    def __repr__(self):
        return f"<Symbol {self.name or ', '.join(node.name for node, _ in self._outputs)}>"

    def __bool__(self):
        raise TypeError("a symbol has no truth value: nothing is computed yet")

    __hash__ = object.__hash__

    # Operators; those of two operands are added below.

    def __neg__(self):
        return self * -1.0

    def __matmul__(self, other):
        return apply("dot", [(None, self), (None, other)], {})

    # What the compiler says.

    def list_arguments(self):
        """Names of inputs and parameters, in MXNet's order."""
        return draw_for_names(self).list_arguments()

    def list_outputs(self):
        """"softmax_output" and so on."""
        return draw_for_names(self).list_outputs()

    def list_auxiliary_states(self):
        """Names of what is kept beside parameters, such as moving means."""
        return draw_for_names(self).list_auxiliary_states()

    def get_internals(self):
        """A group of the outputs of all nodes, in the order in which they were made."""
        return Group([Symbol([(node, i)]) for node in _reached(self._outputs) for i in range(node.outputs)])

    def infer_shape(self, **shapes):
        """(shapes of arguments, of outputs, of auxiliary states) from the shapes of inputs. Raises lstmc.Error for shapes that
        disagree (E0207) or stay open (E0211)."""
        drawing = draw(self, shapes=shapes)
        names = [drawing.list_arguments(), drawing.list_outputs(), drawing.list_auxiliary_states()]
        found = drawing.inferred_shapes()
        boundary = len(found) - len(names[1])
        sources, outputs = dict(found[:boundary]), [shape for _, shape in found[boundary:]]
        return [sources[name] for name in names[0]], outputs, [sources[name] for name in names[2]]

    def tolnet(self, **shapes):
        """The network as text of the language `.lnet`, for these shapes of its inputs."""
        return draw(self, shapes=shapes).lnet()

    def simple_bind(self, ctx=None, grad_req="write", type_dict=None, **shapes):
        """An Executor on the CPU, with arrays of zeros. `shapes` are those of the inputs; all other arguments get gradients, and of inputs
        those that `grad_req` names (a dict)."""
        from .executor import Executor

        return Executor(self, grad_req, type_dict, **shapes)

    def tojson(self):
        """The network as MXNet's symbol.json."""
        from .symbol_json import dumps

        return dumps(self)

    def save(self, path):
        """Writes `tojson()` to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.tojson())


def Variable(name, shape=None, dtype=None, init=None, lr_mult=None, wd_mult=None, layout=None):
    """An input or a parameter. It is an input if its shape is given when the network is compiled, or if its name ends with
    "data" or "label"; of an input, the N of `layout` ("NT", "TNC") says which axis is the batch, else the first is."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a Variable is a string, got {name!r}")
    name = NameManager.current().get(name, "variable")
    return Symbol([(_Node("variable", name, shape=shape, dtype=dtype, init=init, lr_mult=lr_mult, wd_mult=wd_mult,
                          layout=layout), 0)])


def Group(symbols):
    """The outputs of all of them, as one symbol."""
    return Symbol([output for symbol in symbols for output in symbol._outputs])


def apply(op, inputs, attributes, name=None):
    """Makes a node. `inputs` are (input's name or None, symbol or None). What is wrong with the call by itself is raised here, at
    the user's line; shapes that disagree when they are known."""
    inputs = [(argument, _one(op, argument, symbol)) for argument, symbol in inputs]
    node = _Node("op", NameManager.current().get(name, op.lower()), inputs, 1, op,
                 attributes=[(key, plain(value)) for key, value in attributes.items()])
    present, absent = _core.stand_in(), _core.Value()
    node.outputs = _core.rehearse_call(_call(node, [absent if s is None else present for _, s in inputs]))
    return Symbol([(node, i) for i in range(node.outputs)])


def layer(kind, x, num_hidden, outputs, name, **options):
    """Makes a recurrent layer: output and last states."""
    states = [(key, _one(kind, key, options.pop(key, None))) for key in ("h", "c", "length")]
    node = _Node("layer", NameManager.current().get(name, kind.lower().removesuffix("layer")),
                 [("x", _one(kind, "x", x)), *states], outputs, kind, units=num_hidden, **options)
    return Symbol([(node, i) for i in range(outputs)])


def _one(op, argument, symbol):
    """An input: a symbol of one tensor."""
    if symbol is None:
        return None
    if not isinstance(symbol, Symbol):
        raise TypeError(f"{op} takes symbols as inputs, got {symbol!r}" + (f" for {argument}" if argument else ""))
    if len(symbol) != 1:
        raise TypeError(f"{op} takes inputs of one tensor, {symbol.name or 'this group'} has {len(symbol)}: take one by [i]")
    return symbol


def plain(value):
    """An attribute's value without NumPy: dtypes by name."""
    if isinstance(value, type) and hasattr(value, "__name__"):  # numpy.float32, float
        return {"float": "float32", "int": "int32"}.get(value.__name__, value.__name__)
    if hasattr(value, "char") and hasattr(value, "name"):  # numpy.dtype
        return value.name
    return value


binary = arithmetic.functions(Symbol, apply, stretch=False)
arithmetic.add_operators(Symbol, binary)


def _reached(outputs):
    """All nodes that these need, in the order in which they were made."""
    seen, work = set(), [node for node, _ in outputs]
    while work:
        node = work.pop()
        if node not in seen:
            seen.add(node)
            work.extend(source for _, symbol in node.inputs if symbol is not None for source, _ in symbol._outputs)
    return sorted(seen, key=lambda node: node.number)


# Drawing: the same calls once more, with shapes.


def is_input(name):
    """Whether a Variable is fed by its name alone, as in MXNet's FeedForward."""
    return name.endswith("data") or name.endswith("label")


def batch_axis(node_or_layout):
    layout = node_or_layout if isinstance(node_or_layout, str) else node_or_layout.options.get("layout")
    return max(layout.find("N"), 0) if layout else 0


def _extents(shape, batch=None):
    """A shape as lstmc._core takes it. 0, -1 and None are extents to infer."""
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


def variables(symbol):
    """The Variables of a network by name."""
    return {node.name: node for node in _reached(symbol._outputs) if node.kind == "variable"}


def draw(symbol, name="net", shapes=None, types=None):
    """The network for these shapes and dtypes of inputs, finished."""
    shapes, types = dict(shapes or {}), types or {}
    for variable in variables(symbol).values():
        if is_input(variable.name) and variable.options["shape"] is not None:
            shapes.setdefault(variable.name, variable.options["shape"])
    drawing, values = _draw(symbol._outputs, name, shapes, types)
    drawing.finish(values)
    unknown = shapes.keys() - set(drawing.list_arguments())
    if unknown:
        raise usage(f'no input is named "{min(unknown)}"; there are {", ".join(drawing.list_arguments())}')
    return drawing


def begin(symbol, shapes, types, declared):
    """A drawing for these shapes and dtypes of inputs that is not finished, and its outputs. Variables of `declared` are parameters of
    these shapes."""
    return _draw(symbol._outputs, "net", shapes, types, declared)


def draw_for_names(symbol):
    """The network without shapes, for what does not depend on them."""
    drawing, values = _draw(symbol._outputs, "net", {}, {})
    drawing.finish_for_names(values)
    return drawing


def _draw(outputs, name, shapes, types, declared=()):
    """A drawing that is not finished, and its outputs."""
    drawing = _core.Drawing(name)
    for parameter in declared:
        drawing.variable(parameter, {"shape": _extents(declared[parameter]), "dtype": types.get(parameter)}, None)
    nodes = _reached(outputs)
    named = {node.name: node for node in nodes if node.kind == "variable"}
    inputs = {name: _draw_input(drawing, name, shape, types.get(name), named.get(name)) for name, shape in shapes.items()}
    values = {}
    for node in nodes:
        values[node] = _draw_node(drawing, node, values, inputs)
    return drawing, [values[node][index] for node, index in outputs]


def _draw_input(drawing, name, shape, dtype, variable):
    options = variable.options if variable else {}
    dtype = plain(dtype or options.get("dtype") or "float32")
    batch = batch_axis(options.get("layout") or "N")
    return drawing.input(name, dtype, _extents(shape, batch), name.endswith("label"), variable.place if variable else None)


def _draw_node(drawing, node, values, inputs):
    if node.kind == "variable" and node.name in inputs:
        return [inputs[node.name]]
    for scope in node.scopes:
        drawing.push(*scope)
    try:
        return _DRAW[node.kind](drawing, node, values)
    finally:
        for _ in node.scopes:
            drawing.pop()


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


def _call(node, values):
    """The call with these values for its inputs."""
    positional = [value for (argument, _), value in zip(node.inputs, values) if argument is None]
    named = [(argument, value) for (argument, _), value in zip(node.inputs, values) if argument is not None]
    return _core.Call(node.op, positional, named, node.options["attributes"], node.name, node.place)


def _draw_op(drawing, node, values):
    return drawing.apply(_call(node, [_value_of(symbol, values) for _, symbol in node.inputs]))


def _draw_layer(drawing, node, values):
    options = dict(node.options)
    units, forget_bias = options.pop("units"), options.pop("forget_bias", None)
    x, *states = [_value_of(symbol, values) for _, symbol in node.inputs]
    options.update((key, value) for (key, symbol), value in zip(node.inputs[1:], states) if symbol is not None)
    made = drawing.layer(node.op, x, units, node.name, options, node.place)
    if forget_bias is not None:  # what a second declaration adds is added
        for prefix in _prefixes(node.name, options.get("num_layers", 1), options.get("bidirectional", False)):
            spec = ("lstmbias", [("forget_bias", float(forget_bias))], [], [])
            drawing.variable(prefix + "i2h_bias", {"init": spec}, node.place)
    return made


def _prefixes(name, layers, bidirectional):
    for k in range(layers):
        yield f"{name}_" if k == 0 else f"{name}_l{k}_"
        if bidirectional:
            yield f"{name}_r{k}_"


_DRAW = {"variable": _draw_variable, "op": _draw_op, "layer": _draw_layer}
