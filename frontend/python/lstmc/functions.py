"""The functions and methods of eager arrays, one per op, from the op records."""

import numpy

from . import _core, autograd
from .arguments import split
from .eager_norm import batch_norm
from .error import usage
from .ndarray import NDArray, invoke


def _add_method(name, record):
    def method(self, *args, **keywords):
        return function(record)(self, *args, **keywords)

    method.__name__ = name
    method.__doc__ = f"As lstmc.nd.{name} of this array."
    setattr(NDArray, name, method)


_instead = {}  # op's own name: the function that replaces it


def instead(op):
    """Registers a function (inputs, attributes) that replaces the op."""

    def mark(run):
        _instead[op] = run
        return run

    return mark


def function(record):
    """The function for an op's record."""
    run = _instead.get(record[0], lambda inputs, attributes: invoke(record[0], inputs, attributes))

    def call(*args, out=None, name=None, **keywords):
        if record[3] and len(args) == 1 and isinstance(args[0], (list, tuple)):
            args = args[0]
        result = run(*split(record, args, keywords, NDArray))
        if out is None:
            return result
        out[:] = result
        return out

    return call


@instead("Dropout")
def _dropout(inputs, attributes):
    """Draws the mask at once, so that it is a constant on the tape."""
    always = autograd.is_training() or attributes.get("mode") == "always"
    if not always or attributes.get("p", 0.5) == 0:
        return invoke("_copy", inputs, {})
    [(_, data)] = inputs
    if not isinstance(data, NDArray):
        raise TypeError(f"Dropout takes NDArrays as inputs, got {data!r}")
    mask = invoke("Dropout", [(None, NDArray(numpy.ones_like(data._data)))],
                  {**attributes, "mode": "always"})
    return invoke("elemwise_mul", [(None, data), (None, mask)], {})


instead("BatchNorm")(batch_norm)


@instead("RNN")
def _rnn(inputs, attributes):
    if attributes.get("p", 0) != 0 and autograd.is_training():
        raise usage("nd.RNN does not drop out: run its layers one by one with nd.Dropout between "
                    "them, or take a symbol")
    return invoke("RNN", inputs, {key: value for key, value in attributes.items() if key != "p"})


for _record in _core.operators():
    for _name in (_record[0], *_record[1]):
        if _record[2] and not _name.startswith("_") and not hasattr(NDArray, _name):
            _add_method(_name, _record)
