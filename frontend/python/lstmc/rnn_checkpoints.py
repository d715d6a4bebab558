"""MXNet's checkpoints with weights split by gate, which fused and unfused cells can exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .fused_cell import FusedRNNCell
from .model import load_checkpoint, save_checkpoint
from .symbol_json import dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from numpy.typing import ArrayLike

    from .cells import BaseRNNCell
    from .graph import Symbol
    from .ndarray import NDArray


def _cells(cells):
    return cells if isinstance(cells, (list, tuple)) else [cells]


def _fused(cells):
    """The FusedRNNCells among the cells, also inside of others."""
    for cell in _cells(cells):
        if isinstance(cell, FusedRNNCell):
            yield cell
        yield from _fused([*getattr(cell, "_cells", ()),
                           *([cell.base_cell] if hasattr(cell, "base_cell") else [])])


def save_rnn_checkpoint(cells: BaseRNNCell | Sequence[BaseRNNCell], prefix: str, epoch: int,
                        symbol: Symbol | None, arg_params: Mapping[str, ArrayLike],
                        aux_params: Mapping[str, NDArray] | None) -> None:
    """As model.save_checkpoint, with weights split by gate. A FusedRNNCell's weights become the one
    Variable into which MXNet packs them."""
    for cell in _cells(cells):
        arg_params = cell.unpack_weights(arg_params)
    save_checkpoint(prefix, epoch, None, arg_params, aux_params or {})
    if symbol is not None:
        text = dumps(symbol, dict(cell._vector() for cell in _fused(cells)))
        with open(f"{prefix}-symbol.json", "w", encoding="utf-8") as file:
            file.write(text)


def load_rnn_checkpoint(cells: BaseRNNCell | Sequence[BaseRNNCell], prefix: str,
                        epoch: int) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]:
    """Loads (symbol, arg_params, aux_params) of such a checkpoint, with the parameters of the
    cells."""
    symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
    for cell in _cells(cells):
        arg_params = cell.pack_weights(arg_params)
    for cell in _fused(cells):
        if cell._vector_name in symbol.list_arguments():
            symbol = symbol(**{cell._vector_name: cell._joined()})
    return symbol, arg_params, aux_params


def do_rnn_checkpoint(cells: BaseRNNCell | Sequence[BaseRNNCell], prefix: str,
                      period: int = 1) -> Callable[..., None]:
    """A callback that saves such a checkpoint after every `period` epochs."""

    def call(epoch, symbol, arg_params, aux_params):
        if (epoch + 1) % max(int(period), 1) == 0:
            save_rnn_checkpoint(cells, prefix, epoch + 1, symbol, arg_params, aux_params)

    return call
