"""Eager arrays: MXNet's `mx.nd`. Each op has a function, made from the op records (ir/sym), that
computes at once, with the bits of the symbol of that name."""

import numpy as _numpy

from . import _core, random
from . import functions as _functions
from . import ndarray as _ndarray
from . import params_file as _params_file
from .arguments import document as _document
from .arguments import of_split as _of_split
from .arguments import signature as _signature
from .ndarray import NDArray, array
from .values import plain as _plain


def zeros(shape, ctx=None, dtype="float32"):
    """An array of zeros."""
    return full(shape, 0, ctx, dtype)


def ones(shape, ctx=None, dtype="float32"):
    """An array of ones."""
    return full(shape, 1, ctx, dtype)


def empty(shape, ctx=None, dtype="float32"):
    """An array without defined values: zeros."""
    return zeros(shape, ctx, dtype)


def full(shape, val, ctx=None, dtype="float32"):
    """An array filled with one value."""
    return NDArray(_numpy.full(shape, val, _plain(dtype)), context=ctx)


def arange(start, stop=None, step=1.0, repeat=1, ctx=None, dtype="float32"):
    """Numbers from start to stop; with one argument from 0 to it."""
    start, stop = (0, start) if stop is None else (start, stop)
    return _ndarray.invoke("_arange", [], {"start": start, "stop": stop, "step": step,
                                           "repeat": repeat, "dtype": dtype})


def concatenate(arrays, axis=0):
    """Joins arrays along an axis."""
    return _ndarray.invoke("Concat", [(None, each) for each in arrays], {"dim": axis})


def waitall():
    """Does nothing: ops have finished when they return."""


globals().update(_ndarray.binary)


def _function(spelled, record):
    call = _functions.function(record)
    call.__name__ = call.__qualname__ = spelled
    call.__module__ = __name__
    call.__doc__ = _document(spelled, record, "arrays")
    call.__signature__ = _signature(record, "out", "name")
    return call


for _record in _core.operators():
    for _name in (_record[0], *_record[1]):
        globals().setdefault(_name, _function(_name, _record))


def split_v2(ary, indices_or_sections, axis=0, squeeze_axis=False):
    """Parts of an axis, as NumPy's split: a number of equal ones, or those that begin at 0 and at
    each index."""
    return globals()["_split_v2"](ary, **_of_split(indices_or_sections), axis=axis,
                                  squeeze_axis=squeeze_axis)


def save(fname, data):
    """Writes an array, a list or a dict of arrays as MXNet's file of arrays."""
    if isinstance(data, NDArray):
        data = [data]
    _params_file.write(fname, {name: array._data for name, array in data.items()}
                       if isinstance(data, dict) else [array._data for array in data])


def load(fname):
    """Reads such a file: a dict, or a list if the arrays have no names."""
    read = _params_file.read(fname)
    whole = lambda array: None if array is None else NDArray(array)
    return ({name: whole(array) for name, array in read.items()} if isinstance(read, dict)
            else [whole(array) for array in read])
