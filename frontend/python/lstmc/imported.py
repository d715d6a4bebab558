"""Weights that PyTorch, Keras or TensorFlow trained, by the rules of `lstmc import`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from . import _core
from .error import usage
from .keywords import as_fields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy

    from .kinds import Path


class Imported:
    """A network and its weights from a file that has weights alone. `text` is the network in the
    language, with what it assumes as comments; `params` are arrays under its names. Threads may
    read it at the same time."""

    def __init__(self, core: _core.Imported) -> None:
        self._core = core
        self.text: str = core.text
        self.params: dict[str, numpy.ndarray] = core.arrays()
        self.modules: list[str] = core.modules  #: of the file, from input to output
        self.assumptions: list[str] = core.assumptions  #: that the file does not contain
        self.warnings: list[str] = core.warnings  #: where a layer without weights probably stood

    def save(self, path: Path, force: bool = False) -> None:
        """Writes F.lnet and F.weights.safetensors, for `lstmc.load` and `session`; E0608 if one
        exists, unless `force`."""
        base, suffix = os.path.splitext(os.fspath(path))
        if suffix != ".lnet":
            raise usage(f"an import is saved as F.lnet, got {os.fspath(path)}")
        self._core.save(base + ".lnet", base + ".weights.safetensors", force)


def import_weights(path: Path, rule: str | None = None, modules: Sequence[str] = (),
                   layout: str = "NTC", limit: Mapping[str, int] | None = None) -> Imported:
    """Reads a safetensors file of weights. `rule` names the recurrent layer that they are of:
    torch-lstm, torch-gru, torch-rnn, torch-rnn-relu, keras-lstm, keras-gru, keras-rnn or tf-lstm;
    None: the first of them whose names and shapes fit, but torch-rnn-relu. `modules` is their order
    from input to output, where shapes allow several; `layout` NTC is batch_first=True."""
    if layout not in ("NTC", "TNC"):
        raise usage(f'layout is NTC or TNC, got "{layout}"')
    return Imported(_core.import_weights(os.fspath(path), rule, list(modules), layout == "NTC",
                                         as_fields({"limit": limit})))
