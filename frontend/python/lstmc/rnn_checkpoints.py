"""Checkpoints of MXNet's whose weights are cut into gates, so that fused and unfused cells read each other's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .model import load_checkpoint, save_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from numpy.typing import ArrayLike

    from .cells import BaseRNNCell
    from .graph import Symbol
    from .ndarray import NDArray


def _cells(cells):
    return cells if isinstance(cells, (list, tuple)) else [cells]


def save_rnn_checkpoint(cells: BaseRNNCell | Sequence[BaseRNNCell], prefix: str, epoch: int, symbol: Symbol | None,
                        arg_params: Mapping[str, ArrayLike], aux_params: Mapping[str, NDArray] | None) -> None:
    """As model.save_checkpoint, with the weights of the cells by gate."""
    for cell in _cells(cells):
        arg_params = cell.unpack_weights(arg_params)
    save_checkpoint(prefix, epoch, symbol, arg_params, aux_params)


def load_rnn_checkpoint(cells: BaseRNNCell | Sequence[BaseRNNCell], prefix: str,
                        epoch: int) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]:
    """(symbol, arg_params, aux_params) of such a checkpoint, with the weights that the cells have."""
    symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
    for cell in _cells(cells):
        arg_params = cell.pack_weights(arg_params)
    return symbol, arg_params, aux_params


def do_rnn_checkpoint(cells: BaseRNNCell | Sequence[BaseRNNCell], prefix: str, period: int = 1) -> Callable[..., None]:
    """The callback that saves one after every `period` epochs."""

    def call(epoch, symbol, arg_params, aux_params):
        if (epoch + 1) % max(int(period), 1) == 0:
            save_rnn_checkpoint(cells, prefix, epoch + 1, symbol, arg_params, aux_params)

    return call
