"""Cells that a script unrolls step by step. Nodes and parameters have MXNet's names (docs/mxnet.md
§2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import gates, sym
from .error import usage
from .init import LSTMBias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from numpy.typing import ArrayLike
    from typing import Any

    from .graph import Symbol


class RNNParams:
    """Variables by name with a common prefix. Cells with the same RNNParams share weights. To be
    used by one thread at a time."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._params = {}

    def get(self, name: str, **keywords: Any) -> Symbol:
        """The Variable of that name, made at the first call."""
        name = self._prefix + name
        if name not in self._params:
            self._params[name] = sym.Variable(name, **keywords)
        return self._params[name]


class BaseRNNCell:
    """One step of a recurrent layer: `output, states = cell(x, states)`. All steps, and all cells
    made with its `params`, share its parameters. It counts its steps, so one thread may use it at a
    time."""

    _gate_names: tuple[str, ...] = ()

    def __init__(self, prefix: str = "", params: RNNParams | None = None) -> None:
        self._prefix = prefix
        self._own_params = params is None
        self._params = RNNParams(prefix) if params is None else params
        self._modified = False  # a cell around it has taken over; call that one
        self.reset()

    def reset(self) -> None:
        """Resets the counters of steps and states, for another graph."""
        self._steps = -1
        self._states = -1

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        raise NotImplementedError

    @property
    def params(self) -> RNNParams:
        """The RNNParams, for another cell."""
        self._own_params = False
        return self._params

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """[{"shape": (0, num_hidden), "__layout__": "NC"}], one per state; 0 stands for the
        batch."""
        raise NotImplementedError

    @property
    def state_shape(self) -> list[tuple[int, ...]]:
        return [info["shape"] for info in self.state_info]

    def begin_state(self, func: Callable[..., Symbol] | None = None,
                    **options: Any) -> list[Symbol]:
        """The initial states: zeros, or what `func` (such as sym.Variable) returns for a name, the
        options and the info of the state."""
        self._check_unmodified()
        states = []
        for info in self.state_info:
            self._states += 1
            name = f"{self._prefix}begin_state_{self._states}"
            states.append((func or sym.zeros)(name=name, **{**options, **info}))
        return states

    def unpack_weights(self, args: Mapping[str, ArrayLike]) -> dict[str, Any]:
        """Splits the cell's weights by gate, as in `lstm_i2h_f_weight`; other weights pass
        through."""
        return (gates.unpack(args, self._prefix, self._gate_names) if self._gate_names
                else dict(args))

    def pack_weights(self, args: Mapping[str, ArrayLike]) -> dict[str, Any]:
        """Joins the weights of the gates again; the reverse of unpack_weights."""
        return gates.pack(args, self._prefix, self._gate_names) if self._gate_names else dict(args)

    def _step(self):
        self._check_unmodified()
        self._steps += 1
        return f"{self._prefix}t{self._steps}_"

    def _check_unmodified(self):
        if self._modified:
            raise usage("the cell has another cell around it, such as a ZoneoutCell: call that one")

    def unroll(self, length: int, inputs: Symbol | Sequence[Symbol],
               begin_state: Sequence[Symbol] | None = None, layout: str = "NTC",
               merge_outputs: bool | None = None) -> tuple[Any, list[Symbol]]:
        """Unrolls `length` steps and returns (outputs, states). `inputs` is one symbol, split along
        the T of `layout`, or a list with a symbol per step; outputs are a list, or one symbol with
        `merge_outputs=True`."""
        self.reset()
        states = begin_state if begin_state is not None else self.begin_state()
        outputs = []
        for x in cut(length, inputs, layout):
            output, states = self(x, states)
            outputs.append(output)
        return (merged(outputs, layout) if merge_outputs else outputs), states


def cut(length: int, inputs: Symbol | Sequence[Symbol], layout: str) -> list[Symbol]:
    """Splits a symbol into one symbol per step."""
    if isinstance(inputs, sym.Symbol):
        if len(inputs) != 1:
            raise usage("unroll takes one symbol, or a list with one per step")
        inputs = list(
            sym.SliceChannel(inputs, num_outputs=length, axis=layout.find("T"), squeeze_axis=True))
    if len(inputs) != length:
        raise usage(f"unroll takes {length} inputs, got {len(inputs)}")
    return inputs


def merged(outputs: Symbol | Sequence[Symbol], layout: str) -> Symbol:
    """Joins the symbols of all steps to one."""
    if isinstance(outputs, sym.Symbol):
        return outputs
    axis = layout.find("T")
    return sym.Concat(*[sym.expand_dims(output, axis=axis) for output in outputs], dim=axis)


def normalized(length: int, sequence: Symbol | Sequence[Symbol], layout: str,
               merge: bool | None) -> Symbol | Sequence[Symbol]:
    """Converts a sequence to one symbol or a list of them, as `merge` requires; None leaves it as
    it is."""
    if merge is None:
        return sequence
    return merged(sequence, layout) if merge else cut(length, sequence, layout)


class _GateCell(BaseRNNCell):
    """A cell with an i2h and an h2h product, each with a row per gate and unit."""

    _gate_names = ("",)

    def __init__(self, num_hidden, prefix, params, bias_init=None):
        super().__init__(prefix, params)
        self._num_hidden = num_hidden
        self._weights = {
            "i2h": (self._params.get("i2h_weight"),
                    self._params.get("i2h_bias",
                                     **({} if bias_init is None else {"init": bias_init}))),
            "h2h": (self._params.get("h2h_weight"), self._params.get("h2h_bias")),
        }

    @property
    def state_info(self):
        return [{"shape": (0, self._num_hidden), "__layout__": "NC"}]

    def _product(self, x, which, name):
        weight, bias = self._weights[which]
        return sym.FullyConnected(data=x, weight=weight, bias=bias,
                                  num_hidden=len(self._gate_names) * self._num_hidden, name=name)


class RNNCell(_GateCell):
    """h' = activation(W x + R h + b)."""

    def __init__(self, num_hidden: int, activation: str = "tanh", prefix: str = "rnn_",
                 params: RNNParams | None = None) -> None:
        super().__init__(num_hidden, prefix, params)
        self._activation = activation

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        name = self._step()
        total = (self._product(inputs, "i2h", name + "i2h")
                 + self._product(states[0], "h2h", name + "h2h"))
        output = sym.Activation(total, act_type=self._activation, name=name + "out")
        return output, [output]


class LSTMCell(_GateCell):
    """Gates i, f, c, o; `forget_bias` is the initial bias of the forget gate."""

    _gate_names = ("_i", "_f", "_c", "_o")

    def __init__(self, num_hidden: int, prefix: str = "lstm_", params: RNNParams | None = None,
                 forget_bias: float = 1.0) -> None:
        super().__init__(num_hidden, prefix, params, LSTMBias(forget_bias))

    @property
    def state_info(self) -> list[dict[str, Any]]:
        return super().state_info * 2

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        name = self._step()
        total = (self._product(inputs, "i2h", name + "i2h")
                 + self._product(states[0], "h2h", name + "h2h"))
        i, f, c, o = sym.SliceChannel(total, num_outputs=4, name=name + "slice")
        i = sym.Activation(i, act_type="sigmoid", name=name + "i")
        f = sym.Activation(f, act_type="sigmoid", name=name + "f")
        c = sym.Activation(c, act_type="tanh", name=name + "c")
        o = sym.Activation(o, act_type="sigmoid", name=name + "o")
        state = sym.elemwise_add(f * states[1], i * c, name=name + "state")
        output = sym.elemwise_mul(o, sym.Activation(state, act_type="tanh"), name=name + "out")
        return output, [output, state]


class GRUCell(_GateCell):
    """Gates r and z, and the candidate state."""

    _gate_names = ("_r", "_z", "_o")

    def __init__(self, num_hidden: int, prefix: str = "gru_",
                 params: RNNParams | None = None) -> None:
        super().__init__(num_hidden, prefix, params)

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        name = self._step() + "_"  # MXNet's name, with two underscores
        i2h_r, i2h_z, i2h = sym.SliceChannel(self._product(inputs, "i2h", name + "i2h"),
                                             num_outputs=3, name=name + "i2h_slice")
        h2h_r, h2h_z, h2h = sym.SliceChannel(self._product(states[0], "h2h", name + "h2h"),
                                             num_outputs=3, name=name + "h2h_slice")
        r = sym.Activation(i2h_r + h2h_r, act_type="sigmoid", name=name + "r_act")
        z = sym.Activation(i2h_z + h2h_z, act_type="sigmoid", name=name + "z_act")
        new = sym.Activation(i2h + r * h2h, act_type="tanh", name=name + "h_act")
        output = sym.elemwise_add((1.0 - z) * new, z * states[0], name=name[:-1] + "out")
        return output, [output]


class DropoutCell(BaseRNNCell):
    """Dropout on the inputs in training; it has no state."""

    def __init__(self, dropout: float, prefix: str = "dropout_",
                 params: RNNParams | None = None) -> None:
        super().__init__(prefix, params)
        self._dropout = dropout

    @property
    def state_info(self) -> list[dict[str, Any]]:
        return []

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        return (sym.Dropout(inputs, p=self._dropout) if self._dropout > 0 else inputs), states

    def unroll(self, length: int, inputs: Symbol | Sequence[Symbol],
               begin_state: Sequence[Symbol] | None = None, layout: str = "NTC",
               merge_outputs: bool | None = None) -> tuple[Any, list[Symbol]]:
        """Applies one dropout to the whole sequence, where that is one symbol."""
        self.reset()
        inputs = normalized(length, inputs, layout, merge_outputs)
        if isinstance(inputs, sym.Symbol):
            return self(inputs, [])
        return super().unroll(length, inputs, begin_state, layout, merge_outputs)


class CellGroup(BaseRNNCell):
    """A cell made of several, with all their states and weights."""

    def __init__(self, prefix: str, params: RNNParams | None) -> None:
        self._cells = []
        super().__init__(prefix, params)
        self._given_params = params is not None

    def _take(self, cell):
        """Adds a cell, which takes over the shared parameters of this one."""
        if self._given_params:
            if not cell._own_params:
                raise usage(
                    "params are given to the cell around, or to the cells inside, not to both")
            cell._params._params.update(self._params._params)
        self._params._params.update(cell.params._params)
        self._cells.append(cell)

    def reset(self) -> None:
        super().reset()
        for cell in self._cells:
            cell.reset()

    @property
    def state_info(self) -> list[dict[str, Any]]:
        return [info for cell in self._cells for info in cell.state_info]

    def begin_state(self, func: Callable[..., Symbol] | None = None,
                    **options: Any) -> list[Symbol]:
        self._check_unmodified()
        return [state for cell in self._cells for state in cell.begin_state(func=func, **options)]

    def unpack_weights(self, args: Mapping[str, ArrayLike]) -> dict[str, Any]:
        for cell in self._cells:
            args = cell.unpack_weights(args)
        return args

    def pack_weights(self, args: Mapping[str, ArrayLike]) -> dict[str, Any]:
        for cell in self._cells:
            args = cell.pack_weights(args)
        return args

    def _with_states(self, states):
        """[(cell, its states)]"""
        at, pairs = 0, []
        for cell in self._cells:
            count = len(cell.state_info)
            pairs.append((cell, states[at : at + count]))
            at += count
        return pairs


class SequentialRNNCell(CellGroup):
    """Cells stacked one above the other."""

    def __init__(self, params: RNNParams | None = None) -> None:
        super().__init__("", params)

    def add(self, cell: BaseRNNCell) -> None:
        self._take(cell)

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        self._steps += 1
        after = []
        for cell, own in self._with_states(states):
            inputs, new = cell(inputs, own)
            after += new
        return inputs, after

    def unroll(self, length: int, inputs: Symbol | Sequence[Symbol],
               begin_state: Sequence[Symbol] | None = None, layout: str = "NTC",
               merge_outputs: bool | None = None) -> tuple[Any, list[Symbol]]:
        """Unrolls one cell after the other, each for all steps."""
        self.reset()
        after, pairs = [], self._with_states(begin_state if begin_state is not None
                                             else self.begin_state())
        for number, (cell, own) in enumerate(pairs):
            merge = merge_outputs if number == len(pairs) - 1 else None
            inputs, new = cell.unroll(length, inputs, own, layout, merge)
            after += new
        return inputs, after
