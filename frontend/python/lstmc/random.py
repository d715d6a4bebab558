"""Random numbers as eager arrays: a function of the seed and the number of calls since it was
set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .draws import seed
from .ndarray import invoke

if TYPE_CHECKING:
    from .context import Context
    from .kinds import DType, Shape
    from .ndarray import NDArray


def uniform(low: float = 0.0, high: float = 1.0, shape: Shape = (1,),
            dtype: DType | None = "float32", ctx: Context | None = None) -> NDArray:
    """Uniform numbers in [low, high)."""
    return invoke("random_uniform", [], {"low": low, "high": high, "shape": shape, "dtype": dtype})


def normal(loc: float = 0.0, scale: float = 1.0, shape: Shape = (1,),
           dtype: DType | None = "float32", ctx: Context | None = None) -> NDArray:
    """Normally distributed numbers."""
    return invoke("random_normal", [], {"loc": loc, "scale": scale, "shape": shape, "dtype": dtype})


def multinomial(data: NDArray, shape: Shape = (), dtype: DType | None = "int32") -> NDArray:
    """Classes drawn with the probabilities in each row."""
    return invoke("sample_multinomial", [(None, data)], {"shape": shape, "dtype": dtype})
