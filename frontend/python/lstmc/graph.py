"""Symbols: nodes that record how and where they were called. The compiler gets them when shapes are
requested."""

from __future__ import annotations

import ast
import itertools
import re
from typing import TYPE_CHECKING

import numpy

from . import _core, arithmetic
from .attribute import AttrScope, attributes_of, scopes_of
from .error import Error, usage
from .init import Unknown, given, of_attribute, spec_of
from .name import NameManager
from .place import of_caller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from .context import Context
    from .executor import Executor
    from .init import Initializer
    from .kinds import DType, Path, Shape

_numbers = itertools.count()


class dim(int):
    """A named extent, which messages show and devices divide: `dim("batch", 32)`. An immutable
    number, which threads may share."""

    def __new__(cls, name, extent):
        self = super().__new__(cls, extent)
        self.name = name
        return self


class _Node:
    """A variable, a call of an op, or a layer."""

    __slots__ = ("kind", "name", "inputs", "options", "outputs", "number", "place", "attributes",
                 "dtype", "op", "is_copy")

    def __init__(self, kind, name, inputs=(), outputs=1, op=None, attr=None, **options):
        self.kind = kind
        self.name = name
        self.inputs = inputs  # (input's name or None, Symbol of one output or None)
        self.options = options
        self.outputs = outputs
        self.op = op
        self.number = next(_numbers)  # nodes are drawn in the order in which they were made
        self.place = of_caller()
        attributes, self.dtype = AttrScope.current()  # dtype: the type of computation
        self.attributes = {**attributes, **(attr or {})}  # those of attribute.py
        self.is_copy = False  # whether another node may have made its parameters

    def reading(self, inputs):
        """A copy of the call with other inputs."""
        copy = _Node.__new__(_Node)
        for slot in self.__slots__:
            setattr(copy, slot, getattr(self, slot))
        copy.inputs, copy.number, copy.is_copy = inputs, next(_numbers), True
        return copy


class Symbol(arithmetic.Operators):
    """One or several tensors of a network. Making one computes nothing. Symbols are immutable, so
    threads may share them, except that setting an attribute of a node changes it for all symbols
    that have the node."""

    __slots__ = ("_outputs",)
    __array_priority__ = 1000.0  # else NumPy's scalars would apply their operators

    def __init__(self, outputs: Any) -> None:
        self._outputs = tuple(outputs)  # (node, index)

    if TYPE_CHECKING:  # sym.py adds a method for most ops

        def __getattr__(self, name: str) -> Callable[..., Symbol]: ...

    # Structure.

    @property
    def name(self) -> str | None:
        """The node's name; None for a group of several."""
        nodes = {node for node, _ in self._outputs}
        return next(iter(nodes)).name if len(nodes) == 1 else None

    def __len__(self) -> int:
        return len(self._outputs)

    def __iter__(self) -> Iterator[Symbol]:
        return (Symbol([output]) for output in self._outputs)

    def __getitem__(self, index: int | str) -> Symbol:
        """An output by number or by its name in `list_outputs()`."""
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

    def __call__(self, *args: Any, **symbols: Any) -> Symbol:
        """Replaces some Variables of the network by other symbols, by name: `net(data=hidden)`."""
        from .composition import composed

        if args:
            raise usage("a symbol is composed by keywords: net(data=symbol)")
        return composed(self, symbols)

    # Operators; those of two operands are added below.

    def __neg__(self) -> Symbol:
        return self * -1.0

    def __matmul__(self, other: Symbol) -> Symbol:
        return apply("dot", [(None, self), (None, other)], {})

    # Facts from the compiler.

    def list_arguments(self) -> list[str]:
        """Names of inputs and parameters, in MXNet's order."""
        return draw_for_names(self).list_arguments()

    def list_outputs(self) -> list[str]:
        """"softmax_output" and so on."""
        return draw_for_names(self).list_outputs()

    def list_auxiliary_states(self) -> list[str]:
        """Names of auxiliary states, such as moving means."""
        return draw_for_names(self).list_auxiliary_states()

    def get_internals(self) -> Symbol:
        """A group of the outputs of all nodes, in the order in which they were made."""
        return Group([Symbol([(node, i)]) for node in reached(self._outputs)
                      for i in range(node.outputs)])

    def list_inputs(self) -> list[str]:
        """Names of arguments and of auxiliary states."""
        return self.list_arguments() + self.list_auxiliary_states()

    def get_children(self) -> Symbol | None:
        """A group of the node's inputs; None for a Variable."""
        read = [symbol for node in dict.fromkeys(node for node, _ in self._outputs)
                for _, symbol in node.inputs if symbol is not None]
        return Group(read) if read else None

    # Attributes.

    def attr(self, key: str) -> str | None:
        """The node's attribute of that name as text, or None: an attribute of the op, or one set by
        `AttrScope` or `attr=`."""
        from .listing import attributes

        return attributes(self._outputs[0][0]).get(key) if self.name else None

    def list_attr(self, recursive: bool = False) -> dict[str, str]:
        """The attributes of the node, as text by name."""
        from .listing import attributes

        if recursive:
            raise usage("list_attr has no recursive: attr_dict() has the attributes of all nodes")
        return attributes(self._outputs[0][0]) if self.name else {}

    def attr_dict(self) -> dict[str, dict[str, str]]:
        """{name of the node: {attribute: text}} of all nodes with attributes, Variables made for a
        call included."""
        from .listing import all_attributes

        return all_attributes(self)

    # Shapes and types.

    def infer_shape(self, *args: Any, **shapes: Any) -> tuple[list[Any], list[Any], list[Any]]:
        """Infers (shapes of arguments, of outputs, of auxiliary states) from the shapes of inputs,
        by name or in the order of `list_arguments()` (None: to be inferred). Raises lstmc.Error for
        shapes that disagree (E0207) or remain unknown (E0211)."""
        return _shapes_in_order(draw(self, **self._split(self._by_name(args, shapes))))

    def infer_shape_partial(self, *args: Any,
                            **shapes: Any) -> tuple[list[Any], list[Any], list[Any]]:
        """infer_shape for incomplete shapes: 0 stands for an unknown extent, () for an unknown
        shape."""
        given = self._split(self._by_name(args, shapes))
        try:
            return _shapes_in_order(draw(self, **given))
        except Error as error:
            if error.code != "E0211":
                raise
        drawing, values = _draw(self._outputs, "net", given["shapes"], {}, given["declared"])
        drawing.finish_for_names(values)
        return tuple([tuple(extent or 0 for extent in shape or ()) for shape in kind]
                     for kind in _shapes_in_order(drawing))

    def infer_type(self, *args: Any, **types: Any) -> tuple[list[Any], list[Any], list[Any]]:
        """Infers (types of arguments, of outputs, of auxiliary states), as NumPy's classes, from
        the types of inputs; the default is float32."""
        types = {name: plain(dtype) for name, dtype in self._by_name(args, types).items()}
        drawing, values = _draw(self._outputs, "net", {}, types, dict.fromkeys(types))
        drawing.finish_for_names(values)
        inputs, nodes, _ = drawing.nodes()
        known = {**dict(inputs),
                 **{node["name"]: node["dtype"] for node in nodes if node["kind"] == "variable"}}
        return ([class_of(known[name]) for name in drawing.list_arguments()],
                [class_of(value.dtype) for value in values],
                [class_of(known[name]) for name in drawing.list_auxiliary_states()])

    def _split(self, shapes):
        """Splits shapes as `draw` takes them: (of inputs, of parameters that calls make)."""
        known = variables(self)
        declared = {name: shape for name, shape in shapes.items()
                    if name not in known and not is_input(name)}
        return {"shapes": {name: shape for name, shape in shapes.items() if name not in declared},
                "declared": declared}

    def _by_name(self, args, keywords):
        """{argument: value} from values by name or in the order of the arguments."""
        names = self.list_arguments() if args else []
        if len(args) > len(names):
            raise usage(
                f"{len(args)} arguments are given, the symbol has {len(names)}: {', '.join(names)}")
        return {**{name: value for name, value in zip(names, args)
                   if value is not None and value != ()},
                **keywords}

    def tolnet(self, **shapes: Any) -> str:
        """The network as text of the language `.lnet`, for these shapes of its inputs."""
        return draw(self, shapes=shapes).lnet()

    def simple_bind(self, ctx: Context | None = None,
                    grad_req: str | Sequence[str] | Mapping[str, str] = "write",
                    type_dict: Mapping[str, DType] | None = None, stype_dict: Any = None,
                    group2ctx: Any = None, shared_arg_names: Any = None, shared_exec: Any = None,
                    shared_buffer: Any = None, **shapes: Any) -> Executor:
        """An Executor on the CPU with arrays of zeros. `shapes` are those of the inputs. Parameters
        get gradients, and inputs only if `grad_req` (a dict) names them. `group2ctx` and arguments
        for sharing memory are ignored, because they change no value."""
        from .executor import simple_bind

        if stype_dict:
            raise usage("stype_dict: there are no sparse arrays")
        return simple_bind(self, grad_req, type_dict, shapes)

    def bind(self, ctx: Context | None = None, args: Any = None, args_grad: Any = None,
             grad_req: str | Sequence[str] | Mapping[str, str] = "write", aux_states: Any = None,
             group2ctx: Any = None, shared_exec: Any = None) -> Executor:
        """An Executor on the CPU with the user's arrays: `args` and `args_grad` are NDArrays by
        name, or in the order of `list_arguments()`, `aux_states` those of auxiliary states, in the
        order of `list_auxiliary_states()`. Arguments without an array in `args_grad` get
        no gradient. `group2ctx` and `shared_exec` are ignored, because they change no value."""
        from .executor import bind

        return bind(self, args, args_grad, grad_req, aux_states)

    def tojson(self) -> str:
        """The network as MXNet's symbol.json."""
        from .symbol_json import dumps

        return dumps(self)

    def save(self, path: Path) -> None:
        """Writes `tojson()` to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.tojson())


def Variable(name: str, attr: Mapping[str, str] | None = None, shape: Shape | None = None,
             lr_mult: float | None = None, wd_mult: float | None = None, dtype: DType | None = None,
             init: Initializer | str | None = None, stype: str | None = None,
             profiler_scope: str | None = None, layout: str | None = None,
             **attributes: Any) -> Symbol:
    """An input or a parameter. It is an input if its shape is given at compilation, or here if its
    name ends with "data" or "label"; ops take no parameter without `init` as a label or as
    positions (E0203). For an input, the N of `layout` ("NT", "TNC") is the batch axis, by
    default the first. `attr` is a dict of attributes, which may also be keywords:
    `__lr_mult__="0.1"`."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a Variable is a string, got {name!r}")
    if stype not in (None, "default"):
        raise usage(f'stype "{stype}": there are no sparse arrays')
    marks = attributes_of({**AttrScope.current()[0], **attributes_of(attr, "attr"),
                           **attributes_of(attributes, "Variable")},
                          "Variable")
    if profiler_scope is not None:
        marks["__profiler_scope__"] = profiler_scope
    options = _options_of(marks, shape=shape, lr_mult=lr_mult, wd_mult=wd_mult, dtype=dtype,
                          init=init, layout=layout)
    name = NameManager.current().get(name, "variable")
    node = _Node("variable", name, **options)
    node.attributes = marks
    return Symbol([(node, 0)])


def _options_of(marks, **options):
    """The options of a Variable: each an argument, or the attribute of that name, which is removed
    from `marks`."""
    for name, read in (("shape", tuple_of), ("lr_mult", float), ("wd_mult", float),
                       ("dtype", _dtype_of_code), ("init", of_attribute), ("layout", str)):
        text = marks.pop(f"__{name}__", None)
        try:
            if options[name] is None and text is not None:
                options[name] = read(text)
        except UNREADABLE:
            shown = text if len(text) < 60 else text[:60] + ".."
            raise usage(f'Variable: "{shown}" is no value for __{name}__') from None
    if options["init"] is not None:
        options["init"] = given(options["init"])
    return options


# by MXNet's code
DTYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool"]
_BFLOAT16 = "12"


def code_of_dtype(dtype):
    """MXNet's code for a type, as text."""
    return _BFLOAT16 if dtype == "bfloat16" else str(DTYPES.index(dtype))


def _dtype_of_code(text):
    return (None if text == "-1" else "bfloat16" if text == _BFLOAT16 else DTYPES[int(text)]
            if text.isdigit() else text)


def tuple_of(text):
    """Parses "(2, 3)", "[2, 3]", "2" or "(2L, 3L)"."""
    value = ast.literal_eval(re.sub(r"(?<=\d)L", "", text))
    return tuple(item if item is None else int64_of(item)
                 for item in (value if isinstance(value, (tuple, list)) else (value,)))


def int64_of(value):
    """The integer as int64. Raises ValueError for a value out of range."""
    if not isinstance(value, int) or not -(1 << 63) <= value < 1 << 63:
        raise ValueError(value)
    return value


# Exceptions from parsing text of others, which may be nested to any depth.
UNREADABLE = (ValueError, SyntaxError, KeyError, IndexError, TypeError, AttributeError,
              OverflowError, RecursionError, MemoryError)


def Group(symbols: Iterable[Symbol]) -> Symbol:
    """One symbol with the outputs of all of them."""
    return Symbol([output for symbol in symbols for output in symbol._outputs])


def apply(op, inputs, attributes, name=None, attr=None, place=None):
    """Makes a node. `inputs` are (input's name or None, symbol or None), `attr` the attributes of
    attribute.py, `place` one of place.py, by default the caller's. Errors of the call itself are raised here, at the user's line; shapes that
    disagree are reported once shapes are known."""
    inputs = [(argument, _one(op, argument, symbol)) for argument, symbol in inputs]
    node = _Node("op", NameManager.current().get(name, op.lower()), inputs, 1, op, attr,
                 given=[(key, plain(value)) for key, value in attributes.items()])
    node.place = place or node.place
    present, absent = _core.stand_in(), _core.Value()
    node.outputs = _core.rehearse_call(
        _call(node, [absent if s is None else present for _, s in inputs]))
    return Symbol([(node, i) for i in range(node.outputs)])


def layer(kind, x, num_hidden, outputs, name, **options):
    """Makes a recurrent layer and returns its output and last states."""
    states = [(key, _one(kind, key, options.pop(key, None))) for key in ("h", "c", "length")]
    node = _Node("layer", NameManager.current().get(name, kind.lower().removesuffix("layer")),
                 [("x", _one(kind, "x", x)), *states], outputs, kind, units=num_hidden, **options)
    return Symbol([(node, i) for i in range(outputs)])


def _one(op, argument, symbol):
    """Checks that an input is a symbol of one tensor."""
    if symbol is None:
        return None
    if not isinstance(symbol, Symbol):
        raise TypeError(f"{op} takes symbols as inputs, got {symbol!r}"
                        + (f" for {argument}" if argument else ""))
    if len(symbol) != 1:
        raise TypeError(f"{op} takes inputs of one tensor, {symbol.name or 'this group'} has "
                        f"{len(symbol)}: take one by [i]")
    return symbol


def plain(value):
    """Converts an attribute's value from NumPy's types; dtypes become names."""
    if isinstance(value, type) and hasattr(value, "__name__"):  # numpy.float32, float
        return {"float": "float32", "int": "int32"}.get(value.__name__, value.__name__)
    if hasattr(value, "char") and hasattr(value, "name"):  # numpy.dtype
        return value.name
    return value


binary = arithmetic.functions(Symbol, apply, stretch=False)
arithmetic.add_operators(Symbol, binary)


def class_of(dtype):
    """NumPy's class for the name of a type; bfloat16, which NumPy lacks, stays a name."""
    return dtype if dtype is None or dtype == "bfloat16" else numpy.dtype(dtype).type


def _shapes_in_order(drawing):
    """(shapes of arguments, of outputs, of auxiliary states)"""
    names = [drawing.list_arguments(), drawing.list_outputs(), drawing.list_auxiliary_states()]
    found = drawing.inferred_shapes()
    boundary = len(found) - len(names[1])
    sources, outputs = dict(found[:boundary]), [shape for _, shape in found[boundary:]]
    return [sources[name] for name in names[0]], outputs, [sources[name] for name in names[2]]


def reached(outputs):
    """All nodes that these outputs depend on, in the order in which they were made."""
    seen, work = set(), [node for node, _ in outputs]
    while work:
        node = work.pop()
        if node not in seen:
            seen.add(node)
            work.extend(source for _, symbol in node.inputs if symbol is not None
                        for source, _ in symbol._outputs)
    return sorted(seen, key=lambda node: node.number)


# Drawing: repeats the calls in the compiler, with shapes.


def is_input(name):
    """Whether a Variable is an input by its name alone, as in MXNet's FeedForward."""
    return name.endswith("data") or name.endswith("label")


def batch_axis(node_or_layout):
    layout = (node_or_layout if isinstance(node_or_layout, str)
              else node_or_layout.options.get("layout"))
    return max(layout.find("N"), 0) if layout else 0


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


def variables(symbol):
    """The Variables of a network by name."""
    return {node.name: node for node in reached(symbol._outputs) if node.kind == "variable"}


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
    in `declared` are parameters with these shapes, labels among them: every run gives all values.
    """
    return _draw(symbol._outputs, "net", shapes, types, declared, first="zeros")


def begin_for_names(outputs):
    """An unfinished drawing without shapes and multipliers, and its outputs."""
    return _draw(outputs, "net", {}, {}, multipliers=False)


def draw_for_names(symbol):
    """The network without shapes, for properties that do not depend on them."""
    drawing, values = _draw(symbol._outputs, "net", {}, {})
    drawing.finish_for_names(values)
    return drawing


def _draw(outputs, name, shapes, types, declared=(), multipliers=True, first=None):
    """An unfinished drawing, and its outputs. Parameters that a call makes have the multipliers of
    the call; declared Variables without an initializer, and labels, have `first`."""
    drawing = _core.Drawing(name)
    nodes = reached(outputs)
    named = {node.name: node for node in nodes if node.kind == "variable"}
    for parameter in declared:
        free = (named[parameter].options["init"] is None if parameter in named
                else is_input(parameter))
        drawing.variable(parameter,
                         {"shape": _extents(declared[parameter]), "dtype": types.get(parameter),
                          "init": spec_of(first) if free else None},
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
        if node.kind == "op" and node.op == "Dropout":
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


_MULTIPLIERS = ("lr_mult", "wd_mult")


def _described(nodes):
    """{node: [(parameter that it makes, its multipliers)]} of calls with multipliers; copies of a
    node share its parameters."""
    from .listing import made_by

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


def _call(node, values):
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
    return drawing.apply(_call(node, [_value_of(symbol, values) for _, symbol in node.inputs]))


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


def prefixes(name, layers, bidirectional):
    for k in range(layers):
        yield f"{name}_" if k == 0 else f"{name}_l{k}_"
        if bidirectional:
            yield f"{name}_r{k}_"


_DRAW = {"variable": _draw_variable, "op": _draw_op, "layer": _draw_layer}
