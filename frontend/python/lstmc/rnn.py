"""Cells that a script unrolls step by step, as MXNet's `mx.rnn`: names of nodes and parameters are MXNet's (docs/mxnet.md §2)."""

from . import sym
from .error import usage
from .init import LSTMBias


class BaseRNNCell:
    """A step of a recurrent layer: `output, states = cell(x, states)`. Its parameters are shared by all steps."""

    def __init__(self, prefix):
        self._prefix = prefix
        self.reset()

    def reset(self):
        """Begins to count steps and states anew, for another graph."""
        self._steps = -1
        self._states = -1

    @property
    def state_shape(self):
        """Shapes of the states, 0 for the batch."""
        raise NotImplementedError

    def begin_state(self, func=None, **options):
        """The states before the first step: zeros, or what `func` (such as sym.Variable) makes of a name."""
        states = []
        for shape in self.state_shape:
            self._states += 1
            name = f"{self._prefix}begin_state_{self._states}"
            states.append(sym.zeros(shape=shape, name=name) if func is None else func(name=name, **options))
        return states

    def _step(self):
        self._steps += 1
        return f"{self._prefix}t{self._steps}_"

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        """(outputs, states) of `length` steps. `inputs` is one symbol, cut along the T of `layout`, or a list with a symbol per step;
        outputs are a list, or one symbol with `merge_outputs=True`."""
        self.reset()
        axis = layout.find("T")
        if isinstance(inputs, sym.Symbol):
            if len(inputs) != 1:
                raise usage("unroll takes one symbol, or a list with one per step")
            inputs = list(sym.SliceChannel(inputs, num_outputs=length, axis=axis, squeeze_axis=True))
        if len(inputs) != length:
            raise usage(f"unroll takes {length} inputs, got {len(inputs)}")
        states = begin_state if begin_state is not None else self.begin_state()
        outputs = []
        for x in inputs:
            output, states = self(x, states)
            outputs.append(output)
        if merge_outputs:
            outputs = sym.Concat(*[sym.expand_dims(output, axis=axis) for output in outputs], dim=axis)
        return outputs, states


class _GateCell(BaseRNNCell):
    """A cell with an i2h and an h2h product of `gates` * num_hidden rows."""

    def __init__(self, num_hidden, prefix, gates, bias_init=None):
        super().__init__(prefix)
        self._num_hidden = num_hidden
        self._gates = gates
        self._weights = {
            "i2h": (sym.Variable(prefix + "i2h_weight"), sym.Variable(prefix + "i2h_bias", init=bias_init)),
            "h2h": (sym.Variable(prefix + "h2h_weight"), sym.Variable(prefix + "h2h_bias")),
        }

    @property
    def state_shape(self):
        return [(0, self._num_hidden)]

    def _product(self, x, which, name):
        weight, bias = self._weights[which]
        return sym.FullyConnected(data=x, weight=weight, bias=bias, num_hidden=self._gates * self._num_hidden, name=name)


class RNNCell(_GateCell):
    """h' = activation(W x + R h + b)."""

    def __init__(self, num_hidden, activation="tanh", prefix="rnn_"):
        super().__init__(num_hidden, prefix, 1)
        self._activation = activation

    def __call__(self, inputs, states):
        name = self._step()
        total = self._product(inputs, "i2h", name + "i2h") + self._product(states[0], "h2h", name + "h2h")
        output = sym.Activation(total, act_type=self._activation, name=name + "out")
        return output, [output]


class LSTMCell(_GateCell):
    """Gates i, f, c, o; the forget gate's bias begins with `forget_bias`."""

    def __init__(self, num_hidden, prefix="lstm_", forget_bias=1.0):
        super().__init__(num_hidden, prefix, 4, LSTMBias(forget_bias))

    @property
    def state_shape(self):
        return [(0, self._num_hidden), (0, self._num_hidden)]

    def __call__(self, inputs, states):
        name = self._step()
        gates = self._product(inputs, "i2h", name + "i2h") + self._product(states[0], "h2h", name + "h2h")
        i, f, c, o = sym.SliceChannel(gates, num_outputs=4, name=name + "slice")
        i = sym.Activation(i, act_type="sigmoid", name=name + "i")
        f = sym.Activation(f, act_type="sigmoid", name=name + "f")
        c = sym.Activation(c, act_type="tanh", name=name + "c")
        o = sym.Activation(o, act_type="sigmoid", name=name + "o")
        state = sym.elemwise_add(f * states[1], i * c, name=name + "state")
        output = sym.elemwise_mul(o, sym.Activation(state, act_type="tanh"), name=name + "out")
        return output, [output, state]


class GRUCell(_GateCell):
    """Gates r, z and the new value."""

    def __init__(self, num_hidden, prefix="gru_"):
        super().__init__(num_hidden, prefix, 3)

    def __call__(self, inputs, states):
        name = self._step() + "_"  # MXNet's own: two underscores
        i2h_r, i2h_z, i2h = sym.SliceChannel(self._product(inputs, "i2h", name + "i2h"), num_outputs=3, name=name + "i2h_slice")
        h2h_r, h2h_z, h2h = sym.SliceChannel(self._product(states[0], "h2h", name + "h2h"), num_outputs=3, name=name + "h2h_slice")
        r = sym.Activation(i2h_r + h2h_r, act_type="sigmoid", name=name + "r_act")
        z = sym.Activation(i2h_z + h2h_z, act_type="sigmoid", name=name + "z_act")
        new = sym.Activation(i2h + r * h2h, act_type="tanh", name=name + "h_act")
        output = sym.elemwise_add((1.0 - z) * new, z * states[0], name=name[:-1] + "out")
        return output, [output]


class DropoutCell(BaseRNNCell):
    """Drops out a share of its inputs in training; keeps no state."""

    def __init__(self, dropout, prefix="dropout_"):
        super().__init__(prefix)
        self._dropout = dropout

    @property
    def state_shape(self):
        return []

    def __call__(self, inputs, states):
        return (sym.Dropout(inputs, p=self._dropout) if self._dropout > 0 else inputs), states


class SequentialRNNCell(BaseRNNCell):
    """Cells one above the other."""

    def __init__(self):
        self._cells = []
        super().__init__("")

    def add(self, cell):
        self._cells.append(cell)

    def reset(self):
        super().reset()
        for cell in self._cells:
            cell.reset()

    @property
    def state_shape(self):
        return [shape for cell in self._cells for shape in cell.state_shape]

    def begin_state(self, func=None, **options):
        return [state for cell in self._cells for state in cell.begin_state(func, **options)]

    def __call__(self, inputs, states):
        after, at = [], 0
        for cell in self._cells:
            count = len(cell.state_shape)
            inputs, new = cell(inputs, states[at : at + count])
            after += new
            at += count
        return inputs, after


class FusedRNNCell(BaseRNNCell):
    """A whole stack as one layer, which is unrolled at once. Its parameters are those of sym.LSTM, one per matrix, where MXNet packs
    them into one vector."""

    _MODES = ("lstm", "gru", "rnn_tanh", "rnn_relu")

    def __init__(self, num_hidden, num_layers=1, mode="lstm", bidirectional=False, dropout=0.0, get_next_state=False,
                 forget_bias=1.0, prefix=None):
        if mode not in self._MODES:
            raise usage(f'mode is one of {", ".join(self._MODES)}, got "{mode}"')
        super().__init__(f"{mode}_" if prefix is None else prefix)
        self._mode = mode
        self._get_next_state = get_next_state
        self._options = {"num_hidden": num_hidden, "num_layers": num_layers, "bidirectional": bidirectional, "p": dropout}
        self._forget_bias = forget_bias

    @property
    def state_shape(self):
        rows = self._options["num_layers"] * (2 if self._options["bidirectional"] else 1)
        return [(rows, 0, self._options["num_hidden"])] * (2 if self._mode == "lstm" else 1)

    def __call__(self, inputs, states):
        raise usage("a FusedRNNCell has no single step: unroll it, or take an LSTMCell")

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        self.reset()
        axis = layout.find("T")
        if not isinstance(inputs, sym.Symbol):
            inputs = sym.Concat(*[sym.expand_dims(x, axis=axis) for x in inputs], dim=axis)
        name = self._prefix.rstrip("_")
        options = dict(self._options, layout=layout, name=name)
        if begin_state is not None:
            options.update(zip(("h", "c"), begin_state))
        if self._mode == "lstm":
            output, *states = sym.LSTM(inputs, forget_bias=self._forget_bias, **options)
        elif self._mode == "gru":
            output, *states = sym.GRU(inputs, **options)
        else:
            output, *states = sym.RNNLayer(inputs, activation=self._mode[4:], **options)
        if merge_outputs is False:
            output = list(sym.SliceChannel(output, num_outputs=length, axis=axis, squeeze_axis=True))
        return output, states if self._get_next_state else []
