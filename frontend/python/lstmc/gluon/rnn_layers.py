"""Recurrent layers over all steps: gluon.rnn.RNN, LSTM and GRU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import nd, sym
from ..error import usage
from ..graph import Symbol
from ..ndarray import NDArray
from .hybrid import HybridBlock

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..init import Initializer
    from ..kinds import DType


class _Layers(HybridBlock):
    """A stack of `num_layers`; `layout` is TNC or NTC, in states the first axis is that of layers
    and directions. Called with states it returns (output, states), without them the output; they
    begin as zeros. `dropout` is between layers. Weights are `l0_i2h_weight` and so on, r for the
    backward direction."""

    def __init__(self, mode: str, gates: int, states: int, hidden_size: int, num_layers: int,
                 layout: str, dropout: float, bidirectional: bool, input_size: int,
                 i2h_weight_initializer: Any = None, h2h_weight_initializer: Any = None,
                 i2h_bias_initializer: Any = "zeros", h2h_bias_initializer: Any = "zeros",
                 projection_size: int | None = None, h2r_weight_initializer: Any = None,
                 dtype: DType = "float32", use_sequence_length: bool = False, prefix: Any = None,
                 params: Any = None, **options: Any) -> None:
        super().__init__(prefix, params)
        if layout not in ("TNC", "NTC"):
            raise usage(f'layout is TNC or NTC, got "{layout}"')
        self._mode, self._states, self._layout = mode, states, layout
        self._hidden, self._layers, self._dropout = hidden_size, num_layers, dropout
        self._sides = "lr" if bidirectional else "l"
        self._projection, self._options = projection_size, options
        self._takes_length = use_sequence_length
        first = {"i2h_weight": i2h_weight_initializer, "h2h_weight": h2h_weight_initializer,
                 "i2h_bias": i2h_bias_initializer, "h2h_bias": h2h_bias_initializer,
                 "h2r_weight": h2r_weight_initializer}
        outputs = projection_size or hidden_size
        rows = gates * hidden_size
        for layer in range(num_layers):
            inputs = input_size if layer == 0 else outputs * len(self._sides)
            shapes = {"i2h_weight": (rows, inputs), "h2h_weight": (rows, outputs),
                      "i2h_bias": (rows,), "h2h_bias": (rows,)}
            if projection_size:
                shapes["h2r_weight"] = (projection_size, hidden_size)
            for side in self._sides:
                for kind, shape in shapes.items():
                    name = f"{side}{layer}_{kind}"
                    setattr(self, name, self.params.get(
                        name, shape=shape, init=first[kind], dtype=dtype,
                        allow_deferred_init=True))

    def __repr__(self):
        inputs = self.l0_i2h_weight.shape[1] or None
        return f"{type(self).__name__}({inputs} -> {self._hidden}, {self._layout})"

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Shapes and layouts of the states."""
        rows = self._layers * len(self._sides)
        return [{"shape": (rows, batch_size,
                           self._projection if number == 0 and self._projection else self._hidden),
                 "__layout__": "LNC"} for number in range(self._states)]

    def begin_state(self, batch_size: int = 0, func: Callable[..., Any] = nd.zeros,
                    **keywords: Any) -> list[Any]:
        """States of zeros, or of another function of (shape=..)."""
        return [func(shape=info["shape"], **keywords) for info in self.state_info(batch_size)]

    def __call__(self, inputs: Any, states: Any = None, sequence_length: Any = None) -> Any:
        if (sequence_length is not None) != self._takes_length:
            raise usage(f"{self.name}: sequence_length is for use_sequence_length=True, which "
                        "needs it")
        if isinstance(states, (NDArray, Symbol)):
            states = [states]
        if isinstance(inputs, NDArray) and states is not None:
            batch = inputs.shape[self._layout.index("N")]
            for state, info in zip(states, self.state_info(batch)):
                if state.shape != info["shape"]:
                    raise usage(f"{self.name}: a state has shape {state.shape}, wanted "
                                f"{info['shape']}")
        more = [sequence_length] if self._takes_length else []
        return super().__call__(inputs, states, *more)

    def infer_shape(self, inputs: Any, *others: Any) -> None:
        for side in self._sides:
            weight = self._reg_params[f"{side}0_i2h_weight"]
            weight.shape = (weight.shape[0], inputs.shape[2])

    def hybrid_forward(self, F: Any, inputs: Any, states: Any = None,  # type: ignore[override]
                       sequence_length: Any = None, **weights: Any) -> Any:
        x = F.SwapAxis(inputs, dim1=0, dim2=1) if self._layout == "NTC" else inputs
        apart = self._dropout > 0 and self._layers > 1
        last = []
        for begin in range(self._layers) if apart else [0]:
            layers = range(begin, begin + 1) if apart else range(self._layers)
            if apart and begin:
                x = F.Dropout(x, p=self._dropout)
            part = states if states is None or not apart else [
                F.slice_axis(state, axis=0, begin=begin * len(self._sides),
                             end=(begin + 1) * len(self._sides)) for state in states]
            x, *ended = self._run(F, x, layers, part, sequence_length, weights)
            last.append(ended)
        if self._layout == "NTC":
            x = F.SwapAxis(x, dim1=0, dim2=1)
        if states is None:
            return x
        ends = [each[0] if len(each) == 1 else F.Concat(*each, dim=0) for each in zip(*last)]
        return x, ends

    def _run(self, F, x, layers, states, length, weights):
        parts = ("i2h", "h2h", "h2r") if self._projection else ("i2h", "h2h")
        vector = F._rnn_param_concat(*(
            F.Reshape(weights[f"{side}{layer}_{part}_{kind}"], shape=(-1,))
            for kind in ("weight", "bias") for layer in layers for side in self._sides
            for part in parts if (part, kind) != ("h2r", "bias")), dim=0)
        named = dict(zip(("state", "state_cell"), states or ()))
        if length is not None:
            named["sequence_length"] = length
        options = dict(self._options)
        if self._projection:
            options["projection_size"] = self._projection
        if F is sym:
            options["name"] = "rnn" if len(layers) == self._layers else f"rnn{layers[0]}"
        return F.RNN(x, vector, **named, state_size=self._hidden, num_layers=len(layers),
                     mode=self._mode, bidirectional=len(self._sides) == 2, state_outputs=True,
                     use_sequence_length=length is not None, **options)


class RNN(_Layers):
    __doc__ = "Plain recurrent layers, of `activation` relu or tanh. " + _Layers.__doc__

    def __init__(self, hidden_size: int, num_layers: int = 1, activation: str = "relu",
                 layout: str = "TNC", dropout: float = 0, bidirectional: bool = False,
                 i2h_weight_initializer: Initializer | str | None = None,
                 h2h_weight_initializer: Initializer | str | None = None,
                 i2h_bias_initializer: Initializer | str = "zeros",
                 h2h_bias_initializer: Initializer | str = "zeros", input_size: int = 0,
                 **kwargs: Any) -> None:
        super().__init__("rnn_" + activation, 1, 1, hidden_size, num_layers, layout, dropout,
                         bidirectional, input_size, i2h_weight_initializer, h2h_weight_initializer,
                         i2h_bias_initializer, h2h_bias_initializer, **kwargs)


class LSTM(_Layers):
    __doc__ = "LSTM layers, whose states are h and c. " + _Layers.__doc__

    def __init__(self, hidden_size: int, num_layers: int = 1, layout: str = "TNC",
                 dropout: float = 0, bidirectional: bool = False, input_size: int = 0,
                 i2h_weight_initializer: Initializer | str | None = None,
                 h2h_weight_initializer: Initializer | str | None = None,
                 i2h_bias_initializer: Initializer | str = "zeros",
                 h2h_bias_initializer: Initializer | str = "zeros",
                 projection_size: int | None = None,
                 h2r_weight_initializer: Initializer | str | None = None,
                 state_clip_min: float | None = None, state_clip_max: float | None = None,
                 state_clip_nan: bool = False, **kwargs: Any) -> None:
        clip = {} if state_clip_min is None and state_clip_max is None else {
            "lstm_state_clip_min": state_clip_min, "lstm_state_clip_max": state_clip_max,
            "lstm_state_clip_nan": state_clip_nan}
        super().__init__("lstm", 4, 2, hidden_size, num_layers, layout, dropout, bidirectional,
                         input_size, i2h_weight_initializer, h2h_weight_initializer,
                         i2h_bias_initializer, h2h_bias_initializer, projection_size,
                         h2r_weight_initializer, **kwargs, **clip)


class GRU(_Layers):
    __doc__ = "GRU layers. " + _Layers.__doc__

    def __init__(self, hidden_size: int, num_layers: int = 1, layout: str = "TNC",
                 dropout: float = 0, bidirectional: bool = False, input_size: int = 0,
                 i2h_weight_initializer: Initializer | str | None = None,
                 h2h_weight_initializer: Initializer | str | None = None,
                 i2h_bias_initializer: Initializer | str = "zeros",
                 h2h_bias_initializer: Initializer | str = "zeros", **kwargs: Any) -> None:
        super().__init__("gru", 3, 1, hidden_size, num_layers, layout, dropout, bidirectional,
                         input_size, i2h_weight_initializer, h2h_weight_initializer,
                         i2h_bias_initializer, h2h_bias_initializer, **kwargs)
