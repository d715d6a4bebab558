"""Random numbers as eager arrays: a function of the seed and of how many calls there were since it was set."""

from .draws import seed
from .ndarray import invoke


def uniform(low=0.0, high=1.0, shape=(1,), dtype="float32", ctx=None):
    """Numbers uniform in [low, high)."""
    return invoke("random_uniform", [], {"low": low, "high": high, "shape": shape, "dtype": dtype})


def normal(loc=0.0, scale=1.0, shape=(1,), dtype="float32", ctx=None):
    """Numbers of a normal distribution."""
    return invoke("random_normal", [], {"loc": loc, "scale": scale, "shape": shape, "dtype": dtype})


def multinomial(data, shape=(), dtype="int32"):
    """Classes drawn by the probabilities of each row."""
    return invoke("sample_multinomial", [(None, data)], {"shape": shape, "dtype": dtype})
