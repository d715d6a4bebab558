"""Symbols: nodes that record how and where they were called. The compiler gets them when shapes are
requested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _core, arithmetic
from .attribute import AttrScope, attributes_of
from .composition import composed
from .drawing import begin, call_of, draw, draw_for_names, shapes_in_order
from .error import Error, usage
from .init import given, of_attribute
from .listing import all_attributes, attributes
from .name import NameManager
from .nodes import Node, is_input, reached, variables
from .symbol_json import dumps
from .values import UNREADABLE, class_of, dtype_of_code, plain, tuple_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from . import executor
    from .init import Initializer
    from .kinds import DType, Path, Shape

_Node = Node  # pickles of earlier versions name it


class Symbol(arithmetic.Operators):
    """One or several tensors of a network. Making one computes nothing. Symbols are immutable, so
    threads may share them, except that setting an attribute of a node changes it for all symbols
    that have the node."""

    __slots__ = ("_outputs",)
    __array_priority__ = 1000.0  # else NumPy's scalars would apply their operators

    def __init__(self, outputs: Any) -> None:
        self._outputs = tuple(outputs)  # (node, index)

    if TYPE_CHECKING:  # sym.py adds a method for most ops, executor.py those of binding

        def __getattr__(self, name: str) -> Callable[..., Symbol]: ...

        simple_bind = executor.simple_bind
        bind = executor.bind

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
        return attributes(self._outputs[0][0]).get(key) if self.name else None

    def list_attr(self, recursive: bool = False) -> dict[str, str]:
        """The attributes of the node, as text by name."""
        if recursive:
            raise usage("list_attr has no recursive: attr_dict() has the attributes of all nodes")
        return attributes(self._outputs[0][0]) if self.name else {}

    def attr_dict(self) -> dict[str, dict[str, str]]:
        """{name of the node: {attribute: text}} of all nodes with attributes, Variables made for a
        call included."""
        return all_attributes(self)

    # Shapes and types.

    def infer_shape(self, *args: Any, **shapes: Any) -> tuple[list[Any], list[Any], list[Any]]:
        """Infers (shapes of arguments, of outputs, of auxiliary states) from the shapes of inputs,
        by name or in the order of `list_arguments()` (None: to be inferred). Raises lstmc.Error for
        shapes that disagree (E0207) or remain unknown (E0211)."""
        return shapes_in_order(draw(self, **self._split(self._by_name(args, shapes))))

    def infer_shape_partial(self, *args: Any,
                            **shapes: Any) -> tuple[list[Any], list[Any], list[Any]]:
        """infer_shape for incomplete shapes: 0 stands for an unknown extent, () for an unknown
        shape."""
        given = self._split(self._by_name(args, shapes))
        try:
            return shapes_in_order(draw(self, **given))
        except Error as error:
            if error.code != "E0211":
                raise
        drawing, values = begin(self, given["shapes"], {}, given["declared"])
        drawing.finish_for_names(values)
        return tuple([tuple(extent or 0 for extent in shape or ()) for shape in kind]
                     for kind in shapes_in_order(drawing))

    def infer_type(self, *args: Any, **types: Any) -> tuple[list[Any], list[Any], list[Any]]:
        """Infers (types of arguments, of outputs, of auxiliary states), as NumPy's classes, from
        the types of inputs; the default is float32."""
        types = {name: plain(dtype) for name, dtype in self._by_name(args, types).items()}
        drawing, values = begin(self, {}, types, dict.fromkeys(types))
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

    def tojson(self) -> str:
        """The network as MXNet's symbol.json."""
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
    node = Node("variable", name, **options)
    node.attributes = marks
    return Symbol([(node, 0)])


def _options_of(marks, **options):
    """The options of a Variable: each an argument, or the attribute of that name, which is removed
    from `marks`."""
    for name, read in (("shape", tuple_of), ("lr_mult", float), ("wd_mult", float),
                       ("dtype", dtype_of_code), ("init", of_attribute), ("layout", str)):
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


def Group(symbols: Iterable[Symbol]) -> Symbol:
    """One symbol with the outputs of all of them."""
    return Symbol([output for symbol in symbols for output in symbol._outputs])


def apply(op, inputs, attributes, name=None, attr=None, place=None):
    """Makes a node. `inputs` are (input's name or None, symbol or None), `attr` the attributes of
    attribute.py, `place` one of place.py, by default the caller's. Errors of the call itself are
    raised here, at the user's line; shapes that disagree are reported once shapes are known."""
    inputs = [(argument, _one(op, argument, symbol)) for argument, symbol in inputs]
    node = Node("op", NameManager.current().get(name, op.lower()), inputs, 1, op, attr,
                 given=[(key, plain(value)) for key, value in attributes.items()])
    node.place = place or node.place
    present, absent = _core.stand_in(), _core.Value()
    node.outputs = _core.rehearse_call(
        call_of(node, [absent if s is None else present for _, s in inputs]))
    return Symbol([(node, i) for i in range(node.outputs)])


def layer(kind, x, num_hidden, outputs, name, **options):
    """Makes a recurrent layer and returns its output and last states."""
    states = [(key, _one(kind, key, options.pop(key, None))) for key in ("h", "c", "length")]
    node = Node("layer", NameManager.current().get(name, kind.lower().removesuffix("layer")),
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


binary = arithmetic.functions(Symbol, apply, stretch=False)
arithmetic.add_operators(Symbol, binary)
