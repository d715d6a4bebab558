"""Cells that wrap other cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import sym
from .cells import BaseRNNCell, CellGroup, SequentialRNNCell, cut, normalized
from .error import usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from numpy.typing import ArrayLike
    from typing import Any

    from .cells import RNNParams
    from .graph import Symbol


class ModifierCell(BaseRNNCell):
    """A cell that changes the outputs of `base_cell`, whose weights and states it has; call only
    the outer cell."""

    def __init__(self, base_cell: BaseRNNCell) -> None:
        super().__init__()
        base_cell._modified = True
        self.base_cell = base_cell

    @property
    def params(self) -> RNNParams:
        self._own_params = False
        return self.base_cell.params

    @property
    def state_info(self) -> list[dict[str, Any]]:
        return self.base_cell.state_info

    def reset(self) -> None:
        super().reset()
        if hasattr(self, "base_cell"):
            self.base_cell.reset()

    def begin_state(self, func: Callable[..., Symbol] | None = None,
                    **options: Any) -> list[Symbol]:
        self._check_unmodified()
        return self._on_base(lambda base: base.begin_state(func=func, **options))

    def unpack_weights(self, args: Mapping[str, ArrayLike]) -> dict[str, Any]:
        return self.base_cell.unpack_weights(args)

    def pack_weights(self, args: Mapping[str, ArrayLike]) -> dict[str, Any]:
        return self.base_cell.pack_weights(args)

    def _on_base(self, call):
        """Calls a method of the inner cell."""
        self.base_cell._modified = False
        try:
            return call(self.base_cell)
        finally:
            self.base_cell._modified = True


class ZoneoutCell(ModifierCell):
    """Keeps a random share of the outputs and states at their previous values, in training."""

    def __init__(self, base_cell: BaseRNNCell, zoneout_outputs: float = 0.0,
                 zoneout_states: float = 0.0) -> None:
        if _is_whole(base_cell):
            raise usage(
                f"a ZoneoutCell is around cells that have a step, which {type(base_cell).__name__} "
                "has not: put it around the cells inside, or around those of unfuse()")
        super().__init__(base_cell)
        self._shares = zoneout_outputs, zoneout_states

    def reset(self) -> None:
        super().reset()
        self._output = None  # of the previous step

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        self._check_unmodified()
        output, new = self._on_base(lambda base: base(inputs, states))
        for_outputs, for_states = self._shares
        if for_outputs:
            before = self._output if self._output is not None else sym.zeros_like(output)
            output = _zoned(for_outputs, output, before)
        if for_states:
            new = [_zoned(for_states, after, before) for after, before in zip(new, states)]
        self._output = output
        return output, new


def _is_whole(cell):
    """Whether the cell can only be unrolled as a whole."""
    inside = cell._cells if isinstance(cell, SequentialRNNCell) else ()
    return (isinstance(cell, BidirectionalCell) or type(cell).__name__ == "FusedRNNCell"
            or any(map(_is_whole, inside)))


def _zoned(share, new, old):
    """`new` where the dropout mask is not 0, else the old value."""
    return sym.where(sym.Dropout(sym.ones_like(new), p=share), new, old)


class ResidualCell(ModifierCell):
    """Adds the input to the output."""

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        self._check_unmodified()
        output, states = self._on_base(lambda base: base(inputs, states))
        return _plus(output, inputs), states

    def unroll(self, length: int, inputs: Symbol | Sequence[Symbol],
               begin_state: Sequence[Symbol] | None = None, layout: str = "NTC",
               merge_outputs: bool | None = None) -> tuple[Any, list[Symbol]]:
        self.reset()
        outputs, states = self._on_base(
            lambda base: base.unroll(length, inputs, begin_state, layout, merge_outputs))
        if isinstance(outputs, sym.Symbol):
            return _plus(outputs, normalized(length, inputs, layout, True)), states
        return [_plus(output, x) for output, x in zip(outputs, cut(length, inputs, layout))], states


def _plus(output, inputs):
    return sym.elemwise_add(output, inputs, name=f"{output.name}_plus_residual")


class BidirectionalCell(CellGroup):
    """One cell forward and one backward in time; outputs are concatenated."""

    def __init__(self, l_cell: BaseRNNCell, r_cell: BaseRNNCell, params: RNNParams | None = None,
                 output_prefix: str = "bi_") -> None:
        super().__init__("", params)
        self._output_prefix = output_prefix
        self._take(l_cell)
        self._take(r_cell)

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        raise usage("a BidirectionalCell has no single step: unroll it")

    def unroll(self, length: int, inputs: Symbol | Sequence[Symbol],
               begin_state: Sequence[Symbol] | None = None, layout: str = "NTC",
               merge_outputs: bool | None = None) -> tuple[Any, list[Symbol]]:
        self.reset()
        inputs = cut(length, inputs, layout)
        (left, of_left), (right, of_right) = self._with_states(
            begin_state if begin_state is not None else self.begin_state())
        l_outputs, l_states = left.unroll(length, inputs, of_left, layout, merge_outputs)
        r_outputs, r_states = right.unroll(length, inputs[::-1], of_right, layout, merge_outputs)
        if merge_outputs is None:
            merge_outputs = isinstance(l_outputs, sym.Symbol) and isinstance(r_outputs, sym.Symbol)
        l_outputs, r_outputs = (normalized(length, outputs, layout, merge_outputs)
                                for outputs in (l_outputs, r_outputs))
        if merge_outputs:
            r_outputs = sym.reverse(r_outputs, axis=layout.find("T"))
            outputs = sym.Concat(l_outputs, r_outputs, dim=2, name=f"{self._output_prefix}out")
        else:
            outputs = [sym.Concat(l, r, dim=1, name=f"{self._output_prefix}t{step}")
                       for step, (l, r) in enumerate(zip(l_outputs, r_outputs[::-1]))]
        return outputs, l_states + r_states
