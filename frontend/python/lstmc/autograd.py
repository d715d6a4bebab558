"""Gradients of eager arrays, as in MXNet's autograd: `record()` records ops on a tape, and
`backward` compiles the tape as one network whose step returns the gradients."""

from __future__ import annotations

import contextlib
import itertools
import threading
from typing import TYPE_CHECKING

import numpy

from . import _core
from .error import usage
from .programs import Program, frozen, kept

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from .ndarray import NDArray

_numbers = itertools.count()


class _State(threading.local):
    recording = False
    training = False
    drawing = False  # whether a node of this record() draws random numbers


_state = _State()


def is_recording() -> bool:
    """Whether ops are recorded on the tape."""
    return _state.recording


def is_training() -> bool:
    """Whether Dropout is active."""
    return _state.training


def set_recording(on: bool) -> bool:
    """Switches recording and returns the previous setting."""
    before, _state.recording = _state.recording, bool(on)
    return before


def set_training(on: bool) -> bool:
    """Switches the training mode and returns the previous setting."""
    before, _state.training = _state.training, bool(on)
    return before


@contextlib.contextmanager
def _scope(recording, training):
    before = (_state.recording, _state.training)
    _state.drawing = _state.drawing and before[0]
    _state.recording = before[0] if recording is None else recording
    _state.training = before[1] if training is None else training
    try:
        yield
    finally:
        _state.recording, _state.training = before


def record(train_mode: bool = True) -> AbstractContextManager[None]:
    """`with autograd.record():` records the ops inside on the tape."""
    return _scope(True, train_mode)


def pause(train_mode: bool = False) -> AbstractContextManager[None]:
    """Suspends recording inside a record()."""
    return _scope(False, train_mode)


def train_mode() -> AbstractContextManager[None]:
    """Activates Dropout inside."""
    return _scope(None, True)


def predict_mode() -> AbstractContextManager[None]:
    """Deactivates Dropout inside."""
    return _scope(None, False)


class Leaf:
    """An array as an op on the tape read it; `owner` is the NDArray that wants its gradient, or
    None. Belongs to the tape of one thread."""

    __slots__ = ("value", "owner")

    def __init__(self, value, owner=None):
        self.value = value
        self.owner = owner


def _may_draw():
    """Whether a node that draws random numbers may be recorded: one for each record()."""
    return not _state.drawing


class Node:
    """A call of an op on the tape of one thread. `inputs` are (input's name or None, Leaf or (Node,
    number of an output)). `random` is (seed, number of the call) of a node that draws random
    numbers; it reads leaves only, and is the first of its tape, so that what it draws does not
    depend on the rest."""

    __slots__ = ("op", "inputs", "attributes", "number", "place", "random", "outputs")

    def __init__(self, op, inputs, attributes, place, random=None):
        self.op = op
        self.inputs = inputs
        self.attributes = attributes  # [(name, value)]
        self.number = next(_numbers)
        self.place = place
        self.random = random
        self.outputs = []  # weak references to its outputs, if those are computed late
        _state.drawing = _state.drawing or random is not None

    def _described(self):
        """What its program depends on, besides the inputs."""
        return self.op, tuple((name, frozen(value)) for name, value in self.attributes)

    def _draw(self, drawing, source, name):
        """Adds it to a drawing and returns its outputs. `source` gives the value of an input."""
        inputs = [(argument, source(given)) for argument, given in self.inputs]
        return draw(drawing, self.op, inputs, self.attributes, name, self.place)


def mark_variables(variables: NDArray | Sequence[NDArray], gradients: NDArray | Sequence[NDArray],
                   grad_reqs: str | Sequence[str] = "write") -> None:
    """Attaches to each variable the array that receives its gradient."""
    variables, gradients = _list(variables), _list(gradients)
    requests = [grad_reqs] * len(variables) if isinstance(grad_reqs, str) else grad_reqs
    if not len(variables) == len(gradients) == len(requests):
        raise usage(f"there are {len(variables)} variables, {len(gradients)} gradients and "
                    f"{len(requests)} grad_reqs")
    for variable, gradient, request in zip(variables, gradients, requests):
        variable._mark(gradient, request)


def backward(heads: NDArray | Sequence[NDArray],
             head_grads: NDArray | Sequence[NDArray | None] | None = None,
             retain_graph: bool = False, train_mode: bool = True) -> None:
    """Writes the gradients of the heads to `.grad` of all arrays that they depend on and that have
    one. `head_grads` are the gradients of the heads, ones by default; loss ops ignore them. The
    tape lives as long as the arrays on it, whatever `retain_graph` is, and keeps the mode in which
    `record` recorded it."""
    for owner, gradient in _gradients(_list(heads), head_grads):
        owner._take_gradient(gradient)


def grad(heads: NDArray | Sequence[NDArray], variables: NDArray | Sequence[NDArray],
         head_grads: NDArray | Sequence[NDArray | None] | None = None,
         retain_graph: bool | None = None, create_graph: bool = False,
         train_mode: bool = True) -> Any:
    """Returns the gradients of the heads with respect to the variables as new arrays; `.grad` is
    unchanged."""
    if create_graph:
        raise usage("create_graph is not there: gradients of gradients are not computed")
    found = {id(owner): gradient for owner, gradient in _gradients(_list(heads), head_grads)}
    missing = [variable for variable in _list(variables) if id(variable) not in found]
    if missing:
        raise usage(f"the heads do not depend on a variable of shape {missing[0].shape}, or it has "
                    "no attach_grad()")
    gradients = [type(variable)(found[id(variable)]) for variable in _list(variables)]
    return gradients if isinstance(variables, (list, tuple)) else gradients[0]


def _list(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


class _Tape:
    """The nodes on which some heads depend, in the order in which they ran, and their leaves in the
    order in which they were read."""

    def __init__(self, heads):
        entries = [head._entry for head in heads]
        if None in entries:
            raise usage("backward is of what was computed inside autograd.record() from arrays "
                        "with attach_grad()")
        self._read(entries)

    @classmethod
    def of(cls, entries):
        """The tape of these outputs of nodes."""
        tape = cls.__new__(cls)
        tape._read(entries)
        return tape

    def _read(self, entries):
        self.heads = entries
        self.nodes = self._reached([node for node, _ in entries])
        self.leaves = []
        self._number_of_leaf = {}
        self._number_of_node = {node: number for number, node in enumerate(self.nodes)}
        values = {}
        for node in self.nodes:
            for _, source in node.inputs:
                if isinstance(source, Leaf):
                    self._add(source, values)

    @staticmethod
    def _reached(work):
        seen = set()
        while work:
            node = work.pop()
            if node not in seen:
                seen.add(node)
                work.extend(source[0] for _, source in node.inputs if not isinstance(source, Leaf))
        if sum(node.random is not None for node in seen) > 1:
            raise usage("the heads depend on random numbers of two record(): compute both inside "
                        "one")
        return sorted(seen, key=lambda node: (node.random is None, node.number))

    def _add(self, leaf, values):
        key = (id(leaf.owner), id(leaf.value))
        if key in self._number_of_leaf:
            return
        if (leaf.owner is not None
            and values.setdefault(id(leaf.owner), leaf.value) is not leaf.value):
            raise usage(f"an array of shape {leaf.value.shape} was changed between two uses on the "
                        "tape, and has no one gradient")
        self._number_of_leaf[key] = len(self.leaves)
        self.leaves.append(leaf)

    @property
    def random(self):
        """(seed, number of the call), or None."""
        return self.nodes[0].random

    def number(self, source):
        """The identity of a source: n for the n-th leaf, (node, output) for an op's output."""
        if isinstance(source, Leaf):
            return self._number_of_leaf[id(source.owner), id(source.value)]
        return self._number_of_node[source[0]], source[1]

    def key(self):
        """The key of its program: everything that compilation depends on."""
        nodes = tuple((node._described(),
                       tuple((name, self.number(source)) for name, source in node.inputs))
                      for node in self.nodes)
        leaves = tuple((leaf.value.shape, leaf.value.dtype.str, leaf.owner is not None)
                       for leaf in self.leaves)
        return nodes, leaves, tuple(self.number(head) for head in self.heads)

    def late(self):
        """{(node, output): array} of outputs that are still to be computed and that somebody
        holds."""
        found = {}
        for node in self.nodes:
            for output, reference in enumerate(node.outputs):
                array = reference()
                if array is not None and array.is_late and array.dtype in _TRAINED:
                    found[self._number_of_node[node], output] = array
        return found

    def values(self):
        """(values of inputs, values of variables) by name."""
        named = {f"array{number}": leaf for number, leaf in enumerate(self.leaves)}
        return ({name: leaf.value for name, leaf in named.items() if leaf.owner is None},
                {name: leaf.value for name, leaf in named.items() if leaf.owner is not None})

    def forward(self):
        """The program that computes the heads."""
        def compile_it():
            drawing = _core.Drawing("tape")
            sources = self._draw(drawing)
            return Program(drawing, [sources[self.number(head)] for head in self.heads], "forward",
                           self._elements())
        return kept(("heads", self.key()), compile_it)

    def compile(self, factors, late):
        """Compiles the gradients. `factors` has the names of the head gradients that the caller
        supplies ("head0"), `late` the outputs whose values are wanted too: each is the gradient of
        a variable that it is multiplied by."""
        drawing = _core.Drawing("tape")
        sources = self._draw(drawing)
        losses = []
        for number, head in enumerate(self.heads):
            value, place = sources[self.number(head)], head[0].place
            if (name := f"head{number}") in factors:
                factor = drawing.input(name, factors[name].dtype.name, list(factors[name].shape),
                                       False, place)
                [value] = draw(drawing, "elemwise_mul", [(None, value), (None, factor)], [],
                               f"weighed{number}", place)
            losses += draw(drawing, "MakeLoss", [(None, value)], [], f"loss{number}", place)
        for number, (output, array) in enumerate(late.items()):
            one = drawing.variable(f"value{number}", {"shape": list(array.shape),
                                                      "dtype": numpy.dtype(array.dtype).name}, None)
            [value] = draw(drawing, "BlockGrad", [(None, sources[output])], [], f"kept{number}",
                           None)
            [value] = draw(drawing, "elemwise_mul", [(None, one), (None, value)], [],
                           f"read{number}", None)
            losses += draw(drawing, "MakeLoss", [(None, value)], [], f"late{number}", None)
        return Program(drawing, losses, "step", self._elements())

    def _draw(self, drawing):
        """{source: value}. A leaf is declared where it is first read, as in a network that is
        written as symbols."""
        sources = {}

        def source(given):
            number = self.number(given)
            if number not in sources:
                sources[number] = _declare(drawing, number, given)
            return sources[number]

        for number, node in enumerate(self.nodes):
            for output, value in enumerate(node._draw(drawing, source, f"op{number}")):
                sources[number, output] = value
        return sources

    def _elements(self):
        return sum(leaf.value.size for leaf in self.leaves)


_TRAINED = (numpy.float32, numpy.float64)


def _declare(drawing, number, leaf):
    shape, dtype = leaf.value.shape, leaf.value.dtype.name
    if leaf.owner is None:
        return drawing.input(f"array{number}", dtype, list(shape), False, None)
    return drawing.variable(f"array{number}", {"shape": list(shape), "dtype": dtype}, None)


def draw(drawing, op, inputs, attributes, name, place):
    """Adds an op to a drawing and returns its outputs."""
    positional = [value for argument, value in inputs if argument is None]
    named = [(argument, value) for argument, value in inputs if argument is not None]
    return drawing.apply(_core.Call(op, positional, named, attributes, name, place))


def _gradients(heads, head_grads):
    """[(NDArray, its gradient)]"""
    tape = _Tape(heads)
    grads = _list(head_grads) if head_grads is not None else [None] * len(heads)
    if len(grads) != len(heads):
        raise usage(f"{len(heads)} heads have {len(grads)} gradients")
    factors = {f"head{number}": _factor(head, gradient)
               for number, (head, gradient) in enumerate(zip(heads, grads)) if gradient is not None}
    late = tape.late()
    program = kept(("tape", tape.key(), tuple(factors), tuple(late)),
                   lambda: tape.compile(factors, late))
    inputs, variables = tape.values()
    results = program.run({**inputs, **factors}, variables, random=tape.random)
    for number, array in enumerate(late.values()):
        array.compute(results[f"gradient:value{number}"])
    return [(leaf.owner, results.get(f"gradient:array{number}", numpy.zeros_like(leaf.value)))
            for number, leaf in enumerate(tape.leaves) if leaf.owner is not None]


def _outputs_of(node, count):
    """Computes all outputs of a node."""
    tape = _Tape.of([(node, number) for number in range(count)])
    program = tape.forward()
    results = program.run(*tape.values(), random=tape.random if program.is_random else None)
    return [results[name] for name in program.outputs]


def _factor(head, gradient):
    if gradient.shape != head.shape:
        raise usage(f"the gradient of a head of shape {head.shape} has shape {gradient.shape}")
    return numpy.asarray(gradient._data, dtype=head.dtype)
