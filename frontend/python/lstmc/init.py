"""First values of parameters, by the rules of docs/mxnet.md §6. Their arguments and defaults are
the language's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class Initializer:
    """An initialiser as the compiler takes it. Of an argument that is None the default stands. It
    does not change: threads may share it."""

    def __init__(self, name: str, **arguments: Any) -> None:
        self.name = name
        self.arguments = [(key, value) for key, value in arguments.items() if value is not None]

    def spec(self) -> Any:
        """(name, arguments, patterns, initialisers)"""
        return (self.name, self.arguments, [], [])

    def dumps(self) -> str:
        """As MXNet's `__init__` has it: `["xavier", {"magnitude": 2.34}]`."""
        return json.dumps([self.name, dict(self.arguments)])

    def __repr__(self):
        arguments = ", ".join(f"{key}={value!r}" for key, value in self.arguments)
        return f"{type(self).__name__}({arguments})"


class Uniform(Initializer):
    """U(-scale, scale)."""

    def __init__(self, scale: float | None = None) -> None:
        super().__init__("uniform", scale=_float(scale))


class Normal(Initializer):
    """N(0, sigma)."""

    def __init__(self, sigma: float | None = None) -> None:
        super().__init__("normal", sigma=_float(sigma))


class Xavier(Initializer):
    """By the number of inputs, of outputs, or of both."""

    def __init__(self, rnd_type: str | None = None, factor_type: str | None = None,
                 magnitude: float | None = None) -> None:
        super().__init__("xavier", rnd_type=rnd_type, factor_type=factor_type,
                         magnitude=_float(magnitude))


class MSRAPrelu(Initializer):
    """Xavier for layers before a PReLU."""

    def __init__(self, factor_type: str | None = None, slope: float | None = None) -> None:
        super().__init__("msraprelu", factor_type=factor_type, slope=_float(slope))


class Orthogonal(Initializer):
    """An orthogonal matrix, times scale."""

    def __init__(self, scale: float | None = None, rand_type: str | None = None) -> None:
        super().__init__("orthogonal", scale=_float(scale), rand_type=rand_type)


class Constant(Initializer):
    """The value everywhere."""

    def __init__(self, value: float) -> None:
        super().__init__("constant", value=_float(value))


class Zero(Initializer):
    """0 everywhere."""

    def __init__(self) -> None:
        super().__init__("zero")


class One(Initializer):
    """1 everywhere."""

    def __init__(self) -> None:
        super().__init__("one")


class LSTMBias(Initializer):
    """The forget gate's quarter is `forget_bias`, the rest 0."""

    def __init__(self, forget_bias: float = 1.0) -> None:
        super().__init__("lstmbias", forget_bias=_float(forget_bias))


class FusedRNN(Initializer):
    """MXNet's, for the one vector of a FusedRNNCell's weights. The whole vector gets `init`, or the
    network's initializer: lstmc does not set the forget gates' biases apart, and `load` warns.
    Weights of a file take the place of both."""

    def __init__(self, init: Initializer | str | None, num_hidden: int, num_layers: int, mode: str,
                 bidirectional: bool = False, forget_bias: float = 1.0) -> None:
        super().__init__("fusedrnn")
        self.inner = of_text(init) if isinstance(init, str) else init
        self.options = {"init": self.inner and self.inner.dumps(), "num_hidden": num_hidden,
                        "num_layers": num_layers, "mode": mode,
                        "bidirectional": bidirectional, "forget_bias": forget_bias}

    def spec(self) -> Any:
        return self.inner and self.inner.spec()

    def dumps(self) -> str:
        return json.dumps([self.name, self.options])


class Mixed(Initializer):
    """The first regular expression that matches a parameter's name decides which initialiser it
    gets."""

    def __init__(self, patterns: Sequence[str], initializers: Sequence[Initializer]) -> None:
        super().__init__("mixed")
        self.patterns = list(patterns)
        self.initializers = list(initializers)

    def spec(self) -> Any:
        return (self.name, [], self.patterns, [inner.spec() for inner in self.initializers])


_NAMES = {"uniform": Uniform, "normal": Normal, "xavier": Xavier, "msraprelu": MSRAPrelu,
          "orthogonal": Orthogonal, "zero": Zero, "zeros": Zero, "one": One, "ones": One,
          "lstmbias": LSTMBias, "constant": Constant, "fusedrnn": FusedRNN,
}


def by_name(name: str, **arguments: Any) -> Initializer:
    """The initialiser of MXNet's name. Raises KeyError for a name that is none."""
    return _NAMES[name.lower()](**arguments)


def of_text(text: str) -> Initializer:
    """The initialiser of MXNet's name of one, or of what `dumps` gives."""
    name, arguments = json.loads(text) if text.startswith("[") else (text, {})
    return by_name(name, **arguments)


def spec_of(initializer: Initializer | str | None) -> Any:
    """Of an initialiser, or of a text as `of_text` takes it; None for None."""
    if initializer is None:
        return None
    return (of_text(initializer) if isinstance(initializer, str) else initializer).spec()


def _float(value):
    return None if value is None else float(value)
