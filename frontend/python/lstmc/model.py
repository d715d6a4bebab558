"""Checkpoints in MXNet's files: PREFIX-symbol.json and PREFIX-0001.params."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import nd, sym

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .graph import Symbol
    from .ndarray import NDArray


def save_checkpoint(prefix: str, epoch: int, symbol: Symbol | None,
                    arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray],
                    remove_amp_cast: bool = True) -> None:
    """Writes a symbol (unless it is None) and its weights."""
    if symbol is not None:
        symbol.save(f"{prefix}-symbol.json")
    nd.save("%s-%04d.params" % (prefix, epoch),
            {**{f"arg:{name}": array for name, array in arg_params.items()},
             **{f"aux:{name}": array for name, array in aux_params.items()}})


def load_params(prefix: str, epoch: int) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
    """(arg_params, aux_params) of a checkpoint; an entry without a prefix is an argument."""
    arg_params, aux_params = {}, {}
    for key, array in nd.load("%s-%04d.params" % (prefix, epoch)).items():
        kind, _, name = key.partition(":")
        if kind == "aux":
            aux_params[name] = array
        else:
            arg_params[name if kind == "arg" else key] = array
    return arg_params, aux_params


def load_checkpoint(prefix: str,
                    epoch: int) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]:
    """(symbol, arg_params, aux_params)"""
    return (sym.load(f"{prefix}-symbol.json"), *load_params(prefix, epoch))
