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


class Node:
    """A call of an op on the tape of one thread. `inputs` are (input's name or None, Leaf or (Node,
    number of an output))."""

    __slots__ = ("op", "inputs", "attributes", "number", "place")

    def __init__(self, op, inputs, attributes, place):
        self.op = op
        self.inputs = inputs
        self.attributes = attributes  # [(name, value)]
        self.number = next(_numbers)
        self.place = place


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
        return sorted(seen, key=lambda node: node.number)

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

    def number(self, source):
        """The identity of a source: n for the n-th leaf, (node, output) for an op's output."""
        if isinstance(source, Leaf):
            return self._number_of_leaf[id(source.owner), id(source.value)]
        return self._number_of_node[source[0]], source[1]

    def key(self):
        """The key of its program: everything that compilation depends on."""
        nodes = tuple((node.op, tuple((name, frozen(value)) for name, value in node.attributes),
                       tuple((name, self.number(source)) for name, source in node.inputs))
                      for node in self.nodes)
        leaves = tuple((leaf.value.shape, leaf.value.dtype.str, leaf.owner is not None)
                       for leaf in self.leaves)
        return nodes, leaves, tuple(self.number(head) for head in self.heads)

    def compile(self, factors):
        """Compiles the program. `factors` has the names of the head gradients that the caller
        supplies ("head0")."""
        drawing = _core.Drawing("tape")
        sources = {}
        for number, leaf in enumerate(self.leaves):
            sources[number] = _declare(drawing, number, leaf)
        for number, node in enumerate(self.nodes):
            inputs = [(name, sources[self.number(source)]) for name, source in node.inputs]
            for output, value in enumerate(
                    draw(drawing, node.op, inputs, node.attributes, f"op{number}", node.place)):
                sources[number, output] = value
        losses = []
        for number, head in enumerate(self.heads):
            value, place = sources[self.number(head)], head[0].place
            if (name := f"head{number}") in factors:
                factor = drawing.input(name, factors[name].dtype.name, list(factors[name].shape),
                                       False, place)
                [value] = draw(drawing, "elemwise_mul", [(None, value), (None, factor)], [],
                               f"weighed{number}", place)
            losses += draw(drawing, "MakeLoss", [(None, value)], [], f"loss{number}", place)
        elements = sum(leaf.value.size for leaf in self.leaves)
        return Program(drawing, losses, "step", elements)


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
    program = kept(("tape", tape.key(), tuple(factors)), lambda: tape.compile(factors))
    named = {f"array{number}": leaf for number, leaf in enumerate(tape.leaves)}
    results = program.run(
        {**{name: leaf.value for name, leaf in named.items() if leaf.owner is None}, **factors},
        {name: leaf.value for name, leaf in named.items() if leaf.owner is not None})
    return [(leaf.owner, results.get(f"gradient:{name}", numpy.zeros_like(leaf.value)))
            for name, leaf in named.items() if leaf.owner is not None]


def _factor(head, gradient):
    if gradient.shape != head.shape:
        raise usage(f"the gradient of a head of shape {head.shape} has shape {gradient.shape}")
    return numpy.asarray(gradient._data, dtype=head.dtype)
