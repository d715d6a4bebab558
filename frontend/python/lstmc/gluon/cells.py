"""Cells, of which a script unrolls as many steps as it wants: gluon.rnn.*Cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import nd, sym
from ..error import usage
from ..graph import Symbol
from .hybrid import HybridBlock

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..init import Initializer


def _functions(tensor):
    return sym if isinstance(tensor, Symbol) else nd


def _steps(inputs, length, layout):
    """(steps, N's axis in the layout without T, whether they were given as one tensor)"""
    axis = layout.index("T")
    if isinstance(inputs, (list, tuple)):
        if len(inputs) != length:
            raise usage(f"unroll of {length} steps got {len(inputs)} inputs")
        return list(inputs), False
    F = _functions(inputs)
    if F is nd and inputs.shape[axis] != length:
        raise usage(f"unroll of {length} steps got an input of shape {inputs.shape}")
    if length == 1:
        return [F.squeeze(inputs, axis=axis)], True
    return list(F.SliceChannel(inputs, num_outputs=length, axis=axis, squeeze_axis=True)), True


def _merged(outputs, layout):
    return _functions(outputs[0]).stack(*outputs, axis=layout.index("T"))


def _masked(outputs, valid_length, layout):
    """The merged outputs with 0 at steps beyond the lengths."""
    F = _functions(outputs)
    return F.SequenceMask(outputs, valid_length, use_sequence_length=True,
                          axis=layout.index("T"))


class RecurrentCell(HybridBlock):
    """One step: `output, states = cell(x, states)`. It has no memory of steps: what a cell returns
    is a function of its arguments."""

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Shapes and layouts of the states."""
        raise NotImplementedError

    def reset(self) -> None:
        """Forgets what belongs to one sequence."""
        for child in self._children.values():
            child.reset()

    def begin_state(self, batch_size: int = 0, func: Callable[..., Any] = nd.zeros,
                    **keywords: Any) -> list[Any]:
        """States of zeros, or of another function of (shape=..)."""
        return [func(shape=info["shape"], **keywords) for info in self.state_info(batch_size)]

    def _begin(self, begin_state, step):
        if begin_state is not None:
            return list(begin_state)
        if isinstance(step, Symbol):
            return self._zeros(sym, step)
        return self.begin_state(step.shape[0], ctx=step.context)

    def _zeros(self, F, step):
        """States of zeros whose batch is that of an input."""
        column = F.slice_axis(F.zeros_like(step), axis=-1, begin=0, end=1)
        return [F.broadcast_axis(column, axis=1, size=info["shape"][1])
                for info in self.state_info()]

    def unroll(self, length: int, inputs: Any, begin_state: Any = None, layout: str = "NTC",
               merge_outputs: bool | None = None, valid_length: Any = None) -> Any:
        """(outputs, states) after `length` steps. `inputs` and outputs are one tensor of that
        layout or a list of steps; `merge_outputs` None gives what `inputs` were. With
        `valid_length` [N] outputs beyond a length are 0, and states are those at its end."""
        self.reset()
        steps, was_one = _steps(inputs, length, layout)
        states, outputs, all_states = self._begin(begin_state, steps[0]), [], []
        for step in steps:
            output, states = self(step, states)
            outputs.append(output)
            all_states.append(states)
        merge = was_one if merge_outputs is None else merge_outputs
        if valid_length is not None:
            F = _functions(steps[0])
            states = [F.SequenceLast(F.stack(*each, axis=0), valid_length,
                                     use_sequence_length=True, axis=0)
                      for each in zip(*all_states)]
            masked = _masked(_merged(outputs, layout), valid_length, layout)
            return (masked if merge else _steps(masked, length, layout)[0]), states
        return (_merged(outputs, layout) if merge else outputs), states

    def __call__(self, inputs: Any, states: Any) -> Any:
        return super().__call__(inputs, list(states))


HybridRecurrentCell = RecurrentCell


class _Basic(RecurrentCell):
    """A cell of two products: x W_i^T + b_i and h W_h^T + b_h."""

    _gates, _count = 1, 1

    def _alias(self):
        return type(self).__name__[:-len("Cell")].lower()

    def __init__(self, hidden_size: int, i2h_weight_initializer: Any = None,
                 h2h_weight_initializer: Any = None, i2h_bias_initializer: Any = "zeros",
                 h2h_bias_initializer: Any = "zeros", input_size: int = 0, prefix: Any = None,
                 params: Any = None) -> None:
        super().__init__(prefix, params)
        self._hidden = hidden_size
        rows = self._gates * hidden_size
        for name, shape, first in (
                ("i2h_weight", (rows, input_size), i2h_weight_initializer),
                ("h2h_weight", (rows, hidden_size), h2h_weight_initializer),
                ("i2h_bias", (rows,), i2h_bias_initializer),
                ("h2h_bias", (rows,), h2h_bias_initializer)):
            setattr(self, name, self.params.get(name, shape=shape, init=first,
                                                allow_deferred_init=True))

    def __repr__(self):
        return f"{type(self).__name__}({self.i2h_weight.shape[1] or None} -> {self._hidden})"

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        return [{"shape": (batch_size, self._hidden), "__layout__": "NC"}] * self._count

    def infer_shape(self, inputs: Any, states: Any) -> None:
        self.i2h_weight.shape = (self.i2h_weight.shape[0], inputs.shape[-1])

    def _products(self, F, x, h, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        rows = self._gates * self._hidden
        return (F.FullyConnected(x, i2h_weight, i2h_bias, num_hidden=rows),
                F.FullyConnected(h, h2h_weight, h2h_bias, num_hidden=rows))


class RNNCell(_Basic):
    """h' = activation(W_i x + b_i + W_h h + b_h)"""

    def __init__(self, hidden_size: int, activation: str = "tanh", *args: Any,
                 **keywords: Any) -> None:
        super().__init__(hidden_size, *args, **keywords)
        self._activation = activation

    def hybrid_forward(self, F: Any, inputs: Any, states: Any,  # type: ignore[override]
                       **weights: Any) -> Any:
        i2h, h2h = self._products(F, inputs, states[0], **weights)
        output = F.Activation(i2h + h2h, act_type=self._activation)
        return output, [output]


class LSTMCell(_Basic):
    """The gates i, f, c, o; states are h and c."""

    _gates, _count = 4, 2

    def __init__(self, hidden_size: int, *args: Any, activation: str = "tanh",
                 recurrent_activation: str = "sigmoid", **keywords: Any) -> None:
        super().__init__(hidden_size, *args, **keywords)
        self._activation, self._gate = activation, recurrent_activation

    def hybrid_forward(self, F: Any, inputs: Any, states: Any,  # type: ignore[override]
                       **weights: Any) -> Any:
        i2h, h2h = self._products(F, inputs, states[0], **weights)
        i, f, g, o = F.SliceChannel(i2h + h2h, num_outputs=4, axis=1)
        i, f, o = (F.Activation(each, act_type=self._gate) for each in (i, f, o))
        c = f * states[1] + i * F.Activation(g, act_type=self._activation)
        h = o * F.Activation(c, act_type=self._activation)
        return h, [h, c]


class GRUCell(_Basic):
    """The gates r, z, n; the reset gate multiplies the product of h."""

    _gates = 3

    def __init__(self, hidden_size: int, *args: Any, activation: str = "tanh",
                 recurrent_activation: str = "sigmoid", **keywords: Any) -> None:
        super().__init__(hidden_size, *args, **keywords)
        self._activation, self._gate = activation, recurrent_activation

    def hybrid_forward(self, F: Any, inputs: Any, states: Any,  # type: ignore[override]
                       **weights: Any) -> Any:
        i2h, h2h = self._products(F, inputs, states[0], **weights)
        i2h_r, i2h_z, i2h_n = F.SliceChannel(i2h, num_outputs=3, axis=1)
        h2h_r, h2h_z, h2h_n = F.SliceChannel(h2h, num_outputs=3, axis=1)
        r = F.Activation(i2h_r + h2h_r, act_type=self._gate)
        z = F.Activation(i2h_z + h2h_z, act_type=self._gate)
        n = F.Activation(i2h_n + r * h2h_n, act_type=self._activation)
        h = (1.0 - z) * n + z * states[0]
        return h, [h]


class SequentialRNNCell(RecurrentCell):
    """Cells on top of each other; the states are those of all, one after the other."""

    def add(self, cell: RecurrentCell) -> None:
        self.register_child(cell)

    def __len__(self) -> int:
        return len(self._children)

    def __getitem__(self, key: int) -> RecurrentCell:
        return list(self._children.values())[key]

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        return [info for cell in self._children.values() for info in cell.state_info(batch_size)]

    def forward(self, inputs: Any, states: Any) -> Any:
        after, begin = [], 0
        for cell in self._children.values():
            count = len(cell.state_info())
            inputs, own = cell(inputs, states[begin:begin + count])
            after, begin = [*after, *own], begin + count
        return inputs, after


class HybridSequentialRNNCell(SequentialRNNCell):
    """The same, under the name that scripts use for cells that are hybridized."""


class DropoutCell(RecurrentCell):
    """Drops out the outputs of the cell below."""

    def __init__(self, rate: float, axes: Any = (), prefix: Any = None, params: Any = None) -> None:
        super().__init__(prefix, params)
        self._rate, self._axes = rate, tuple(axes)

    def _alias(self):
        return "dropout"

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        return []

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:
        return (F.Dropout(inputs, p=self._rate, axes=self._axes) if self._rate > 0
                else F.identity(inputs)), states


class _Modifier(RecurrentCell):
    def __init__(self, base_cell: RecurrentCell) -> None:
        super().__init__(prefix=base_cell.prefix + self._alias(), params=None)
        self.base_cell = base_cell

    def _alias(self):
        return type(self).__name__[:-len("Cell")].lower()

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        return self.base_cell.state_info(batch_size)

    def begin_state(self, *args: Any, **keywords: Any) -> list[Any]:
        return self.base_cell.begin_state(*args, **keywords)


class ResidualCell(_Modifier):
    """Adds the input to the output."""

    def forward(self, inputs: Any, states: Any) -> Any:
        output, states = self.base_cell(inputs, states)
        return output + inputs, states


class ZoneoutCell(_Modifier):
    """In training, elements of outputs and states keep the value of the step before with these
    probabilities."""

    def __init__(self, base_cell: RecurrentCell, zoneout_outputs: float = 0.0,
                 zoneout_states: float = 0.0) -> None:
        super().__init__(base_cell)
        self._outputs, self._kept = zoneout_outputs, zoneout_states
        self.reset()

    def reset(self) -> None:
        super().reset()
        self._before = None

    def forward(self, inputs: Any, states: Any) -> Any:
        F = _functions(inputs)
        output, after = self.base_cell(inputs, states)

        def mixed(share, new, old):
            if share == 0:
                return new
            return F.where(F.Dropout(F.ones_like(new), p=share), new, old)

        before = F.zeros_like(output) if self._before is None else self._before
        output = mixed(self._outputs, output, before)
        self._before = output
        return output, [mixed(self._kept, new, old) for new, old in zip(after, states)]


class BidirectionalCell(RecurrentCell):
    """Two cells that read the steps from both ends; `unroll` alone calls it."""

    def __init__(self, l_cell: RecurrentCell, r_cell: RecurrentCell,
                 output_prefix: str = "bi_") -> None:
        super().__init__(prefix="", params=None)
        self.l_cell, self.r_cell = l_cell, r_cell

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        return [*self.l_cell.state_info(batch_size), *self.r_cell.state_info(batch_size)]

    def __call__(self, inputs: Any, states: Any) -> Any:
        raise usage("a BidirectionalCell has no single step: call unroll")

    def unroll(self, length: int, inputs: Any, begin_state: Any = None, layout: str = "NTC",
               merge_outputs: bool | None = None, valid_length: Any = None) -> Any:
        self.reset()
        steps, was_one = _steps(inputs, length, layout)
        F = _functions(steps[0])
        states = self._begin(begin_state, steps[0])
        left = len(self.l_cell.state_info())
        turned = _reversed(F, steps, valid_length)
        forth, l_states = self.l_cell.unroll(length, steps, states[:left], layout, False,
                                             valid_length)
        back, r_states = self.r_cell.unroll(length, turned, states[left:], layout, False,
                                            valid_length)
        outputs = [F.Concat(one, two, dim=1)
                   for one, two in zip(forth, _reversed(F, back, valid_length))]
        merge = was_one if merge_outputs is None else merge_outputs
        return (_merged(outputs, layout) if merge else outputs), l_states + r_states


def _reversed(F, steps, valid_length):
    if valid_length is None:
        return steps[::-1]
    turned = F.SequenceReverse(F.stack(*steps, axis=0), valid_length, use_sequence_length=True)
    return _steps(turned, len(steps), "TNC")[0]
