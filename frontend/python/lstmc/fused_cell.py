"""A whole stack as one layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import gates, sym
from .cells import BaseRNNCell, DropoutCell, GRUCell, LSTMCell, RNNCell, SequentialRNNCell, cut
from .error import usage
from .init import FusedRNN
from .modifier_cells import BidirectionalCell
from .nodes import prefixes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from numpy.typing import ArrayLike
    from typing import Any

    from .cells import RNNParams
    from .graph import Symbol

_GATES = {"lstm": LSTMCell._gate_names, "gru": GRUCell._gate_names, "rnn_tanh": ("",),
          "rnn_relu": ("",)}


class FusedRNNCell(BaseRNNCell):
    """A whole stack as one layer, unrolled at once. It has the parameters of sym.LSTM, one per
    matrix; MXNet packs them into one vector. `unpack_weights` accepts both. One thread may use it
    at a time."""

    def __init__(self, num_hidden: int, num_layers: int = 1, mode: str = "lstm",
                 bidirectional: bool = False, dropout: float = 0.0,
                 get_next_state: bool = False, forget_bias: float = 1.0, prefix: str | None = None,
                 params: RNNParams | None = None) -> None:
        if mode not in _GATES:
            raise usage(f'mode is one of {", ".join(_GATES)}, got "{mode}"')
        if params is not None:
            raise usage(
                "a FusedRNNCell takes no params: layers of the same prefix share their weights")
        super().__init__(f"{mode}_" if prefix is None else prefix)
        self._mode = mode
        self._get_next_state = get_next_state
        self._options = {"num_hidden": num_hidden, "num_layers": num_layers,
                         "bidirectional": bidirectional, "p": dropout}
        self._forget_bias = forget_bias
        self._gate_names = _GATES[mode]
        self._name = self._prefix.rstrip("_") or mode

    @property
    def state_info(self) -> list[dict[str, Any]]:
        rows = self._options["num_layers"] * self._directions
        info = {"shape": (rows, 0, self._options["num_hidden"]), "__layout__": "LNC"}
        return [info] * (2 if self._mode == "lstm" else 1)

    @property
    def _directions(self):
        return 2 if self._options["bidirectional"] else 1

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        raise usage("a FusedRNNCell has no single step: unroll it, or take an LSTMCell")

    def unroll(self, length: int, inputs: Symbol | Sequence[Symbol],
               begin_state: Sequence[Symbol] | None = None, layout: str = "NTC",
               merge_outputs: bool | None = None) -> tuple[Any, list[Symbol]]:
        """Unrolls the whole sequence at once: one symbol, unless `merge_outputs` is False."""
        self.reset()
        axis = layout.find("T")
        if not isinstance(inputs, sym.Symbol):
            inputs = sym.Concat(*[sym.expand_dims(x, axis=axis) for x in inputs], dim=axis)
        options = dict(self._options, layout=layout, name=self._name)
        if begin_state is not None:
            options.update(zip(("h", "c"), begin_state))
        if self._mode == "lstm":
            output, *states = sym.LSTM(inputs, forget_bias=self._forget_bias, **options)
        elif self._mode == "gru":
            output, *states = sym.GRU(inputs, **options)
        else:
            output, *states = sym.RNNLayer(inputs, activation=self._mode[4:], **options)
        if merge_outputs is False:
            output = cut(length, output, layout)
        return output, states if self._get_next_state else []

    # Weights.

    @property
    def _vector_name(self):
        """MXNet's name for the vector of all weights."""
        return f"{self._prefix}parameters"

    def _vector(self):
        """(layer's name, (the vector's name, its initialiser in MXNet's form))"""
        units, layers, both = (self._options[key]
                               for key in ("num_hidden", "num_layers", "bidirectional"))
        return self._name, (
            self._vector_name,
            FusedRNN(None, units, layers, self._mode, both, self._forget_bias).dumps())

    def _joined(self):
        """Joins this cell's parameters to the vector."""
        rows, units, directions = (self._options["num_hidden"] * len(self._gate_names),
                                   self._options["num_hidden"], self._directions)
        weights, biases = [], []
        for prefix, _, (layer, _) in self._places():
            inputs = 0 if layer == 0 else directions * units
            weights += [sym.Variable(prefix + "i2h_weight", shape=(rows, inputs)),
                        sym.Variable(prefix + "h2h_weight", shape=(rows, units))]
            biases += [sym.Variable(prefix + part, shape=(rows,))
                       for part in ("i2h_bias", "h2h_bias")]
        return sym._rnn_param_concat(*weights, *biases, dim=0, name=f"{self._name}_parameters")

    def _places(self):
        """[(prefix of a direction's parameters, prefix of its gates' names, (layer, direction))]"""
        layers, both = self._options["num_layers"], self._options["bidirectional"]
        places = [(layer, direction) for layer in range(layers)
                  for direction in range(self._directions)]
        return [(prefix, f"{self._prefix}{'lr'[place[1]]}{place[0]}_", place)
                for prefix, place in zip(prefixes(self._name, layers, both), places)]

    def unpack_weights(self, args: Mapping[str, ArrayLike]) -> dict[str, Any]:
        """Splits the weights by gate, as in `lstm_l0_i2h_f_weight`, for `unfuse().pack_weights`.
        Accepts MXNet's vector (`lstm_parameters`) too."""
        vector, parts = self._vector_name, None
        if vector in args:
            args, parts = gates.unpack_vector(args, vector, self._options["num_hidden"],
                                              self._options["num_layers"], self._directions,
                                              self._gate_names)
        for prefix, target, place in self._places():
            if parts:
                args.update((prefix + part, array) for part, array in parts[place].items())
            args = gates.unpack(args, prefix, self._gate_names, target)
        return args

    def pack_weights(self, args: Mapping[str, ArrayLike]) -> dict[str, Any]:
        """Joins the weights of gates to this cell's parameters."""
        for prefix, source, _ in self._places():
            args = gates.pack(args, prefix, self._gate_names, source)
        return args

    def unfuse(self) -> SequentialRNNCell:
        """The same stack as a SequentialRNNCell, whose cells can be stepped; `unpack_weights` and
        `pack_weights` convert weights."""
        stack, layers = SequentialRNNCell(), self._options["num_layers"]
        for layer in range(layers):
            left = self._cell(f"{self._prefix}l{layer}_")
            if self._options["bidirectional"]:
                right = self._cell(f"{self._prefix}r{layer}_")
                stack.add(
                    BidirectionalCell(left, right, output_prefix=f"{self._prefix}bi_l{layer}_"))
            else:
                stack.add(left)
            if self._options["p"] > 0 and layer < layers - 1:
                stack.add(DropoutCell(self._options["p"], prefix=f"{self._prefix}_dropout{layer}_"))
        return stack

    def _cell(self, prefix):
        units = self._options["num_hidden"]
        if self._mode == "lstm":
            return LSTMCell(units, prefix=prefix, forget_bias=self._forget_bias)
        if self._mode == "gru":
            return GRUCell(units, prefix=prefix)
        return RNNCell(units, activation=self._mode[4:], prefix=prefix)
