"""Between the user's arrays and those of a session."""

import numpy

from .error import of_file


def as_array(value):
    """A NumPy array, without a copy where the memory allows: of an array, of what has DLPack or the buffer protocol, or of numbers."""
    if isinstance(value, numpy.ndarray):
        return value
    if hasattr(value, "asnumpy"):  # MXNet's NDArray
        return value.asnumpy()
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return numpy.from_dlpack(value)
    return numpy.asarray(value)


def fill(view, value, name):
    """Writes an array to a view of an input. E0610 for another shape, E0604 for a number that its type does not have."""
    array = as_array(value)
    if array.shape != view.shape:
        raise of_file("E0610", f'input "{name}": found shape {list(array.shape)}, want {list(view.shape)}')
    if array.dtype != view.dtype and view.dtype.kind in "iub":
        converted = array.astype(view.dtype)
        if not numpy.array_equal(converted, array):
            at = numpy.flatnonzero((converted != array).ravel())[0]
            raise of_file("E0604", f'input "{name}" element {at}: found {array.ravel()[at]}, want a value of {view.dtype.name}')
    numpy.copyto(view, array, casting="unsafe")


def input_dtype(array):
    """The type of an input that nothing else says: int32 of integers, float32 of other numbers, as MXNet computes."""
    return "int32" if array.dtype.kind in "iu" else "bool" if array.dtype.kind == "b" else "float32"
