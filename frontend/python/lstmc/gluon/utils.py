"""Parts of batches, and the norm of gradients."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy

from .. import nd
from ..error import usage, warn
from ..ndarray import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence
    from numpy.typing import ArrayLike
    from typing import Any

    from ..context import Context


def split_data(data: NDArray, num_slice: int, batch_axis: int = 0,
               even_split: bool = True) -> list[NDArray]:
    """Cuts an array into parts along an axis; with `even_split=False` the last part has the rest
    too."""
    size = data.shape[batch_axis]
    if even_split and size % num_slice:
        raise ValueError(f"an axis of extent {size} is not cut evenly into {num_slice} parts: "
                         "even_split=False, or another batch size")
    if size < num_slice:
        raise ValueError(f"an axis of extent {size} is not cut into {num_slice} parts")
    if num_slice == 1:
        return [data]
    step = size // num_slice
    return [nd.slice_axis(data, axis=batch_axis, begin=i * step,
                          end=(i + 1) * step if i < num_slice - 1 else size)
            for i in range(num_slice)]


def split_and_load(data: ArrayLike, ctx_list: Sequence[Context], batch_axis: int = 0,
                   even_split: bool = True) -> list[NDArray]:
    """The parts of split_data, one on each context."""
    data = data if isinstance(data, NDArray) else nd.array(data, ctx=ctx_list[0])
    parts = split_data(data, len(ctx_list), batch_axis, even_split)
    return [part.as_in_context(context) for part, context in zip(parts, ctx_list)]


def clip_global_norm(arrays: Sequence[NDArray], max_norm: float,
                     check_isfinite: bool = True) -> Any:
    """Scales the arrays in place so that the norm of all is at most `max_norm`, and returns the
    norm before: a float, or an array if `check_isfinite` is False. Squares are summed in f64, in
    the order of the arrays and of their elements."""
    if not arrays:
        raise usage("clip_global_norm takes at least one array")
    total = math.sqrt(sum(float(numpy.square(array._data.astype("f8")).sum()) for array in arrays))
    if check_isfinite and not math.isfinite(total):
        warn("the norm is not finite: the arrays become 0 or NaN")
    scale = max_norm / (total + 1e-8)
    if not scale >= 1.0:
        for array in arrays:
            array._write((array._data * numpy.asarray(scale, array._data.dtype)))
    return total if check_isfinite else nd.array([total])
