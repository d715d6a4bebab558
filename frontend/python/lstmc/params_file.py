"""MXNet's files of arrays (.params): the format's facts are in docs/mxnet.md §12."""

import struct

import numpy

from . import _core
from .error import of_file

_MAGIC = 0x112
_V1, _V2, _V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA
_DTYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool", "int16",
           "uint16", "uint32", "uint64"]
_MOST_AXES = 32


class _Cursor:
    def __init__(self, data, path):
        self._data, self._path, self._at = data, path, 0

    def bytes(self, count):
        if count > len(self._data) - self._at:
            raise of_file("E0602", f"the file ends at byte {len(self._data)}, {count} more are "
                                   f"wanted at {self._at}", self._path)
        self._at += count
        return self._data[self._at - count : self._at]

    def number(self, form):
        return struct.unpack("<" + form, self.bytes(struct.calcsize("<" + form)))[0]

    def fail(self, code, message):
        raise of_file(code, f"byte {self._at}: {message}", self._path)

    def shape(self, form, axes):
        if not 0 <= axes <= _MOST_AXES:
            self.fail("E0604", f"an array has {axes} axes")
        extents = tuple(self.number(form) for _ in range(axes))
        if any(extent < 0 for extent in extents):
            self.fail("E0604", f"an array has shape {extents}")
        return extents


def read(path):
    """Reads {name: array}, or a list if the arrays have no names. Raises E0602, E0603, E0604,
    E0613."""
    with open(path, "rb") as file:
        data = file.read()
    cursor = _Cursor(data, path)
    if cursor.number("Q") != _MAGIC:
        kind = _core.foreign_kind(data[:4096])
        cursor.fail("E0603", f"this is {kind}" if kind else "this is no file of MXNet's arrays")
    cursor.number("Q")
    arrays = [_read_array(cursor) for _ in range(_count(cursor))]
    names = []
    for _ in range(_count(cursor)):
        names.append(cursor.bytes(cursor.number("Q")).decode("utf-8", "replace"))
    if names and len(names) != len(arrays):
        cursor.fail("E0605", f"{len(arrays)} arrays have {len(names)} names")
    return dict(zip(names, arrays)) if names or not arrays else arrays


def _count(cursor):
    count = cursor.number("Q")
    if count > 1 << 32:
        cursor.fail("E0606", f"there are {count} arrays")
    return count


def _read_array(cursor):
    first = cursor.number("I")
    scalars = first == _V3
    if first in (_V2, _V3):
        if (kind := cursor.number("i")) != 0:
            cursor.fail("E0613", f"the array is sparse (kind {kind}), which lstmc does not have")
    if first in (_V1, _V2, _V3):
        axes = cursor.number("i")
        if axes == -1 and scalars:
            return None
        shape = cursor.shape("q", axes)
    else:
        shape = cursor.shape("I", first)
    if not shape and not scalars:
        return None
    cursor.bytes(8)  # the device that held the array
    flag = cursor.number("i")
    if not 0 <= flag < len(_DTYPES):
        cursor.fail("E0613", f"elements of type {flag}")
    dtype = numpy.dtype(_DTYPES[flag])
    elements = 1
    for extent in shape:
        elements *= extent
    return numpy.frombuffer(cursor.bytes(elements * dtype.itemsize), dtype).reshape(shape).copy()


def write(path, arrays):
    """Writes {name: array} or a list of arrays, in the format of MXNet since 0.12."""
    named = isinstance(arrays, dict)
    parts = [struct.pack("<QQQ", _MAGIC, 0, len(arrays))]
    for array in arrays.values() if named else arrays:
        if array.dtype.name not in _DTYPES:
            raise of_file("E0613", f"arrays of {array.dtype} have no place in such a file", path)
        parts.append(struct.pack("<Iii", _V2, 0, array.ndim)
                     + struct.pack(f"<{array.ndim}q", *array.shape))
        parts.append(struct.pack("<iii", 1, 0, _DTYPES.index(array.dtype.name))
                     + numpy.ascontiguousarray(array).tobytes())
    parts.append(struct.pack("<Q", len(arrays) if named else 0))
    for name in arrays if named else ():
        parts.append(struct.pack("<Q", len(name.encode())) + name.encode())
    with open(path, "wb") as file:
        file.write(b"".join(parts))
