"""Initialisers of parameters by the rules of docs/mxnet.md §6, with the arguments and defaults of
the language."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .error import did_you_mean, usage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class Initializer:
    """An initialiser in the compiler's form. An argument that is None has its default. Immutable:
    threads may share it."""

    def __init__(self, name: str, **arguments: Any) -> None:
        self.name = name
        self.arguments = [(key, value) for key, value in arguments.items() if value is not None]

    def spec(self) -> Any:
        """(name, arguments, patterns, initialisers)"""
        return (self.name, self.arguments, [], [])

    def dumps(self) -> str:
        """MXNet's `__init__` text: `["xavier", {"magnitude": 2.34}]`."""
        return json.dumps([self.name, dict(self.arguments)])

    def __repr__(self):
        arguments = ", ".join(f"{key}={value!r}" for key, value in self.arguments)
        return f"{type(self).__name__}({arguments})"


class Uniform(Initializer):
    """Uniform in (-scale, scale)."""

    def __init__(self, scale: float | None = None) -> None:
        super().__init__("uniform", scale=_float(scale))


class Normal(Initializer):
    """Normal with mean 0 and deviation sigma."""

    def __init__(self, sigma: float | None = None) -> None:
        super().__init__("normal", sigma=_float(sigma))


class Xavier(Initializer):
    """Xavier: scaled by the number of inputs, of outputs, or of both."""

    def __init__(self, rnd_type: str | None = None, factor_type: str | None = None,
                 magnitude: float | None = None) -> None:
        super().__init__("xavier", rnd_type=rnd_type, factor_type=factor_type,
                         magnitude=_float(magnitude))


class MSRAPrelu(Initializer):
    """Xavier for layers that feed a PReLU."""

    def __init__(self, factor_type: str | None = None, slope: float | None = None) -> None:
        super().__init__("msraprelu", factor_type=factor_type, slope=_float(slope))


class Orthogonal(Initializer):
    """An orthogonal matrix times `scale`."""

    def __init__(self, scale: float | None = None, rand_type: str | None = None) -> None:
        super().__init__("orthogonal", scale=_float(scale), rand_type=rand_type)


class Constant(Initializer):
    """`value` in all elements."""

    def __init__(self, value: float) -> None:
        super().__init__("constant", value=_float(value))


class Zero(Initializer):
    """0 in all elements."""

    def __init__(self) -> None:
        super().__init__("zero")


class One(Initializer):
    """1 in all elements."""

    def __init__(self) -> None:
        super().__init__("one")


class LSTMBias(Initializer):
    """The bias of an LSTM: `forget_bias` in the forget gate's quarter, 0 elsewhere."""

    def __init__(self, forget_bias: float = 1.0) -> None:
        super().__init__("lstmbias", forget_bias=_float(forget_bias))


class FusedRNN(Initializer):
    """MXNet's initialiser of the weight vector of a FusedRNNCell. The whole vector gets `init`, or
    the network's initialiser: lstmc does not set the forget gates' biases, and `load` warns.
    Weights from a file replace both."""

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
    """The initialiser of the first regular expression that matches the parameter's name."""

    def __init__(self, patterns: Sequence[str], initializers: Sequence[Initializer]) -> None:
        super().__init__("mixed")
        self.patterns = list(patterns)
        self.initializers = list(initializers)

    def spec(self) -> Any:
        return (self.name, [], self.patterns, [inner.spec() for inner in self.initializers])


class Unknown(Initializer):
    """An initialiser of a file that lstmc does not know. The file's text is kept; first values are
    asked for where they are needed."""

    def __init__(self, text: str) -> None:
        super().__init__("unknown")
        self.text = text

    def spec(self) -> Any:
        return None

    def dumps(self) -> str:
        return self.text


_NAMES = {"uniform": Uniform, "normal": Normal, "xavier": Xavier, "msraprelu": MSRAPrelu,
          "orthogonal": Orthogonal, "zero": Zero, "zeros": Zero, "one": One, "ones": One,
          "lstmbias": LSTMBias, "constant": Constant, "fusedrnn": FusedRNN,
}


def by_name(name: str, **arguments: Any) -> Initializer:
    """The initialiser with MXNet's name. Raises KeyError for an unknown name."""
    return _NAMES[name.lower()](**arguments)


def of_text(text: str) -> Initializer:
    """Parses MXNet's name of an initialiser, or the result of `dumps`."""
    name, arguments = json.loads(text) if text.startswith("[") else (text, {})
    return by_name(name, **arguments)


def of_attribute(text: str) -> Initializer:
    """That of a Variable's `__init__`, which may be any."""
    try:
        return of_text(text)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Unknown(text)


def given(initializer: Initializer | str) -> Initializer:
    """The initialiser that a user has given as such or as a text for `of_text`."""
    if isinstance(initializer, str):
        try:
            return of_text(initializer)
        except (KeyError, ValueError, TypeError):
            raise usage(f"no initializer is named {initializer!r}"
                        f"{did_you_mean(initializer, _NAMES)}; there are "
                        f"{', '.join(_NAMES)}") from None
    if not isinstance(initializer, Initializer):
        raise usage(f"an initializer is one of lstmc.init or its name, got {initializer!r}")
    return initializer


def spec_of(initializer: Initializer | str | None) -> Any:
    """The spec of an initialiser or of a text for `of_text`; None for None."""
    return None if initializer is None else given(initializer).spec()


def _float(value):
    return None if value is None else float(value)
