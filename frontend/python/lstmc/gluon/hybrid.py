"""HybridBlock: one definition that computes on arrays or makes symbols, and is compiled after
`hybridize()`."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy

from .. import autograd, draws, graph, nd, params_file, sym
from ..drawing import draw_into, takes_statistics
from ..error import usage
from ..graph import Symbol
from ..name import NameManager
from ..ndarray import NDArray, late_outputs
from ..nodes import reached, variables
from ..place import of_caller
from . import tracing
from .block import Block
from .parameter import DeferredInitializationError, Parameter, ParameterDict, load_one, named_arrays

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..context import Context
    from ..kinds import Path

_serials = itertools.count()


def flatten(value):
    """([tensors], how they were nested)"""
    if isinstance(value, (list, tuple)):
        parts = [flatten(item) for item in value]
        return ([tensor for tensors, _ in parts for tensor in tensors],
                (type(value), tuple(shape for _, shape in parts)))
    return ([], None) if value is None else ([value], 1)


def nest(tensors, shape):
    """The reverse of flatten; takes from the iterator `tensors`."""
    if shape is None or shape == 1:
        return None if shape is None else next(tensors)
    kind, parts = shape
    return kind(nest(tensors, part) for part in parts)


def _tensors(form):
    """How many tensors `flatten` found."""
    if form is None or form == 1:
        return 0 if form is None else 1
    return sum(map(_tensors, form[1]))


class Graph:
    """A network as a symbol, which runs on arrays as one node of the tape. `parameters` are by
    name, `inputs` are the names of the others."""

    def __init__(self, symbol: Symbol, inputs: Sequence[str],
                 parameters: dict[str, Parameter], form: Any = 1) -> None:
        self.symbol, self.inputs, self.parameters, self.form = symbol, inputs, parameters, form
        self.serial = next(_serials)
        self.takes_statistics = any(map(takes_statistics, reached(symbol._outputs)))

    def infer(self, tensors):
        """Sets the parameters' shapes by those of the inputs."""
        shapes, _, states = self.symbol.infer_shape(**self._shapes(tensors))
        for name, shape in zip(self.symbol.list_inputs(), [*shapes, *states]):
            if name in self.parameters:
                self.parameters[name].shape = shape

    def _shapes(self, tensors):
        arguments = self.symbol.list_arguments()
        return {name: tensor.shape for name, tensor in zip(self.inputs, tensors)
                if name in arguments}

    def call(self, tensors, context):
        """The outputs, or None if random numbers would not be drawn as the tape needs them, or
        moving averages would have to be renewed."""
        if self.takes_statistics and autograd.is_training():
            return None
        given = dict(zip(self.inputs, tensors))
        given.update((name, parameter.data(context)) for name, parameter
                     in self.parameters.items())
        is_taped = autograd.is_recording() and any(each._is_tracked() for each in given.values())
        training = autograd.is_training()
        if not is_taped:
            sources = [(name, autograd.Leaf(each._data)) for name, each in given.items()]
            node = _Call(self, sources, training)
            program = self._forward(node)
            tape = autograd._Tape.of(node.entries(len(self.symbol)))
            results = program.run(*tape.values(),
                                  random=draws.next_call() if program.is_random else None)
            return [NDArray(results[name], context=context) for name in program.outputs]
        sources = [(name, each._source()) for name, each in given.items()]
        stand_in = _Call(self, [(name, _stand_in(each, source)) for (name, source), each
                                in zip(sources, given.values())], training)
        program = self._forward(stand_in)
        random = None
        if program.is_random:
            if not autograd._may_draw() or any(not isinstance(source, autograd.Leaf)
                                              for _, source in sources):
                return None
            random = draws.next_call()
        return late_outputs(_Call(self, sources, training, random), program.forms, context)

    def _forward(self, node):
        return autograd._Tape.of(node.entries(len(self.symbol))).forward()


def _stand_in(array, source):
    if isinstance(source, autograd.Leaf):
        return source
    return autograd.Leaf(numpy.broadcast_to(numpy.zeros((), array.dtype), array.shape))


class _Call(autograd.Node):
    """A call of a Graph on the tape."""

    __slots__ = ("graph", "training")

    def __init__(self, graph_, inputs, training, random=None):
        super().__init__("graph", inputs, [], of_caller(), random)
        self.graph, self.training = graph_, training

    def entries(self, count):
        return [(self, number) for number in range(count)]

    def _described(self):
        return ("graph", self.graph.serial, self.training)

    def _draw(self, drawing, source, name):
        sources = dict(self.inputs)
        return draw_into(drawing, self.graph.symbol,
                               lambda variable: source(sources[variable]), self.training,
                               name + ":")


class HybridBlock(Block):
    """A block whose `hybrid_forward(F, x, .., **params)` computes with F, which is lstmc.nd for
    arrays and lstmc.sym for symbols, so that it has no other operations on its inputs than F's.
    Parameters that are attributes are keywords. After `hybridize()`, a call is one compiled program
    for each shape of the inputs, with the same numbers."""

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix, params)
        self._active = False
        self._graphs = {}  # by how the inputs are nested

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if isinstance(value, (Block, Parameter)):
            self._forget()

    def register_child(self, block: Block, name: str | None = None) -> None:
        if not isinstance(block, HybridBlock):
            raise usage(f"children of a HybridBlock are HybridBlocks, {block.name} is a "
                        f"{type(block).__name__}: a Block as parent takes any")
        super().register_child(block, name)
        self._forget()

    def _forget(self):
        self.__dict__["_graphs"] = {}

    def hybridize(self, active: bool = True, static_alloc: bool = False,
                  static_shape: bool = False, **flags: Any) -> None:
        """Compiles calls from now on, or no longer. Memory is always planned, whatever
        `static_alloc` and `static_shape` say."""
        self._active = active
        self._forget()
        super().hybridize(active, static_alloc=static_alloc, static_shape=static_shape, **flags)

    def cast(self, dtype: Any) -> None:
        self._forget()
        super().cast(dtype)

    def infer_shape(self, *args: Any) -> None:
        """Sets the parameters' shapes by those of the inputs."""
        tensors, form = flatten(args)
        self._traced(form).infer(tensors)

    def forward(self, x: Any, *args: Any) -> Any:
        first = flatten([x, *args])[0][0]
        if isinstance(first, Symbol):
            with self.name_scope():
                return self.hybrid_forward(sym, x, *args, **{
                    name: parameter.var() for name, parameter in self._reg_params.items()})
        if not isinstance(first, NDArray):
            raise TypeError(f"{self.name} takes NDArrays or symbols, got {first!r}")
        if self._active:
            outputs = self._call_graph(x, *args)
            if outputs is not None:
                return outputs
        try:
            values = self._values(first.context)
        except DeferredInitializationError:
            self._infer(x, *args)
            values = self._values(first.context)
        return self.hybrid_forward(nd, x, *args, **values)

    def _values(self, context):
        return {name: parameter.data(context) for name, parameter in self._reg_params.items()}

    def _infer(self, *args):
        try:
            self.infer_shape(*args)
        except Exception as error:
            error.add_note(f"while the shapes of {self.name} were inferred") if hasattr(
                error, "add_note") else None
            raise

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **params: Any) -> Any:
        """Computes the outputs; a block of one's own defines it."""
        raise NotImplementedError(f"{type(self).__name__} has no hybrid_forward")

    def _call_graph(self, *args):
        tensors, form = flatten(args)
        traced = self._traced(form)
        if any(not parameter.is_known for parameter in traced.parameters.values()):
            traced.infer(tensors)
        outputs = traced.call(tensors, tensors[0].context)
        return None if outputs is None else nest(iter(outputs), traced.form)

    def _traced(self, form):
        """The block as a Graph, for inputs that are nested like this."""
        if form not in self._graphs:
            count = _tensors(form)
            names = ["data"] if count == 1 else [f"data{i}" for i in range(count)]
            with NameManager(), tracing.Trace() as trace:
                inputs = [graph.Variable(name) for name in names]
                arguments = nest(iter(inputs), form)
                outputs, shape = flatten(self.forward(*arguments))
            symbol = graph.Group(outputs)
            self._graphs[form] = Graph(symbol, names, trace.parameters, shape)
        return self._graphs[form]

    def export(self, path: Path, epoch: int = 0, remove_amp_cast: bool = True) -> tuple[str, str]:
        """Writes PATH-symbol.json and PATH-0000.params (the epoch) as MXNet does, which lstmc's
        command and SymbolBlock.imports read. The block must have been called once."""
        if not self._graphs:
            raise usage("export needs a call after hybridize(), which tells the inputs")
        [traced, *_] = self._graphs.values()
        files = f"{path}-symbol.json", f"{path}-{epoch:04d}.params"
        traced.symbol.save(files[0])
        states = traced.symbol.list_auxiliary_states()
        params_file.write(files[1], {
            f"{'aux' if name in states else 'arg'}:{name}": parameter.list_data()[0]._data
            for name, parameter in traced.parameters.items()})
        return files


class SymbolBlock(HybridBlock):
    """A block of a symbol: `outputs` of it, for the Variables `inputs`. All other arguments are
    parameters, those of `params` if it has them."""

    def __init__(self, outputs: Symbol | Sequence[Symbol], inputs: Symbol | Sequence[Symbol],
                 params: ParameterDict | None = None) -> None:
        super().__init__(prefix="", params=None)
        listed = [inputs] if isinstance(inputs, Symbol) else list(inputs)
        symbol = outputs if isinstance(outputs, Symbol) else graph.Group(outputs)
        if set(symbol.list_inputs()) - variables(symbol).keys():
            symbol = sym.load_json(symbol.tojson())  # in which all parameters are Variables
        names = [each.name for each in listed]
        declared = variables(symbol)
        parameters = {}
        states = symbol.list_auxiliary_states()
        for name in symbol.list_inputs():
            if name in names:
                continue
            parameters[name] = params[name] if params is not None and name in params else (
                Parameter(name, shape=_open(declared, name), allow_deferred_init=True,
                          grad_req="null" if name in states else "write",
                          differentiable=name not in states))
            self._params._params[name] = parameters[name]
            self._reg_params[name] = parameters[name]
        form = 1 if len(symbol) == 1 else (list, (1,) * len(symbol))
        self._graph = Graph(symbol, names, parameters, form)
        self._active = True

    def _traced(self, form):
        return self._graph

    def hybridize(self, active: bool = True, static_alloc: bool = False,
                  static_shape: bool = False, **flags: Any) -> None:
        """Does nothing: it is always compiled."""

    def forward(self, x: Any, *args: Any) -> Any:
        tensors = flatten([x, *args])[0]
        if isinstance(tensors[0], Symbol):
            return self._graph.symbol(**dict(zip(self._graph.inputs, tensors)))
        outputs = self._call_graph(x, *args)
        if outputs is None:
            raise usage(f"{self.name} has a BatchNorm, whose moving averages a block of a symbol "
                        "does not renew: train it by Module or Network.fit"
                        if self._graph.takes_statistics and autograd.is_training()
                        else f"{self.name} draws random numbers, and is not the first block of its "
                             "record() that does")
        return outputs

    def export(self, path: Path, epoch: int = 0, remove_amp_cast: bool = True) -> tuple[str, str]:
        self._graphs = {0: self._graph}
        return super().export(path, epoch)

    @staticmethod
    def imports(symbol_file: Path, input_names: str | Sequence[str],
                param_file: Path | None = None,
                ctx: Context | Sequence[Context] | None = None) -> SymbolBlock:
        """The block of a symbol.json, with the weights of a file."""
        names = [input_names] if isinstance(input_names, str) else list(input_names)
        block = SymbolBlock(sym.load(symbol_file), [graph.Variable(name) for name in names])
        if param_file is not None:
            values = named_arrays(param_file)
            missing = [name for name in block.collect_params() if name not in values]
            if missing:
                raise usage(f"{param_file} has no {', '.join(missing)}, which {symbol_file} has")
            for name, parameter in block.collect_params().items():
                load_one(parameter, values[name], ctx, True, False)
        return block


def _open(declared, name):
    shape = declared[name].options["shape"] if name in declared else None
    return None if shape is None else tuple(extent or 0 for extent in shape)



