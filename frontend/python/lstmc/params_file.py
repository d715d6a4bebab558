"""MXNet's files of arrays (.params), which frontend/importers/mxnet and executor/data write and
read."""

import os

import numpy

from . import _core
from .error import of_file

_DTYPES = ("float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool")


def read(path):
    """Reads {name: array}, or a list if the arrays have no names. Raises E0602 to E0606, E0612,
    E0613."""
    # by the name of the type: an int64 of C may be NumPy's longlong
    arrays = [(name, array if array is None else numpy.asarray(array, array.dtype.name))
              for name, array in _core.read_params(os.fspath(path))]
    return dict(arrays) if not arrays or arrays[0][0] else [array for _, array in arrays]


def write(path, arrays):
    """Writes {name: array} or a list of arrays, in the format of MXNet since 0.12."""
    named = isinstance(arrays, dict)
    pairs = list(arrays.items()) if named else [("", array) for array in arrays]
    for _, array in pairs:
        if array.dtype.name not in _DTYPES:
            raise of_file("E0613", f"arrays of {array.dtype} have no place in such a file", path)
    _core.write_params(os.fspath(path),
                       [(name, numpy.ascontiguousarray(array)) for name, array in pairs], named)
