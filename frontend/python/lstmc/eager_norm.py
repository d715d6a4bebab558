"""BatchNorm of eager arrays in training: its statistics are those of the batch, and renew the
moving averages, which are arrays of the caller."""

from . import autograd
from .error import usage
from .ndarray import NDArray, invoke

_INPUTS = ("data", "gamma", "beta", "moving_mean", "moving_var")


def batch_norm(inputs, attributes):
    """As MXNet's: in training by the ops that the compiler writes a BatchNorm out by, so that the
    bits are those of a symbol; else, and with use_global_stats, by the moving averages."""
    by_name = dict(zip(_INPUTS, (given for name, given in inputs if name is None)))
    by_name.update((name, given) for name, given in inputs if name is not None)
    missing = [name for name in _INPUTS if not isinstance(by_name.get(name), NDArray)]
    if missing:
        raise usage(f"BatchNorm takes NDArrays, and lacks {', '.join(missing)}")
    if not autograd.is_training() or attributes.get("use_global_stats"):
        # On the tape its entry is that of a training, where other statistics would be taken.
        return invoke("BatchNorm", inputs, {**attributes, "use_global_stats": True})
    return _InTraining(by_name, attributes).run()


def _op(name, *inputs, **attributes):
    return invoke(name, [(None, given) for given in inputs], attributes)


class _InTraining:
    def __init__(self, inputs, attributes):
        self._inputs, self._attributes = inputs, attributes
        data = inputs["data"]
        axis = attributes.get("axis", 1)
        if not -data.ndim <= axis < data.ndim:
            raise usage(f"BatchNorm: data of {data.ndim} axes has no axis {axis}")
        self._axis = axis % data.ndim
        self._shape = tuple(extent if number == self._axis else 1
                            for number, extent in enumerate(data.shape))
        self._others = tuple(number for number in range(data.ndim) if number != self._axis)

    def run(self):
        data, gamma, beta, *moving = (self._inputs[name] for name in _INPUTS)
        x = self._as(data, moving[0].dtype)
        mean = self._mean(x)
        centred = _op("broadcast_sub", x, _op("BlockGrad", mean))
        variance = self._mean(centred * centred)
        for average, value in zip(moving, (mean, variance)):
            self._renew(average, value)
        inverse = _op("rsqrt", variance + self._attributes.get("eps", 1e-3))
        scale = inverse
        if not self._attributes.get("fix_gamma", True):
            scale = inverse * self._along(self._as(gamma, x.dtype))
        y = _op("broadcast_mul", _op("broadcast_sub", x, mean), scale)
        y = self._as(_op("broadcast_add", y, self._along(self._as(beta, x.dtype))), data.dtype)
        if not self._attributes.get("output_mean_var"):
            return y
        return [y, *(_op("Reshape", _op("BlockGrad", each), shape=(-1,))
                     for each in (mean, inverse))]

    def _mean(self, value):
        return _op("mean", value, axis=self._others, keepdims=True)

    def _along(self, vector):
        return _op("Reshape", vector, shape=self._shape)

    @staticmethod
    def _as(value, dtype):
        return value if value.dtype == dtype else _op("Cast", value, dtype=dtype)

    def _renew(self, average, value):
        """What sym.moving_average does, outside of the tape."""
        momentum = self._attributes.get("momentum", 0.9)
        with autograd.pause():
            value = NDArray(value._data.reshape(average.shape))
            average._write((average * momentum + value * (1 - momentum))._data)
