"""Conversion between the user's arrays and those of a session."""

import numpy

from .error import of_file


def as_array(value):
    """Converts an array, an object with DLPack or the buffer protocol, or numbers to a NumPy array,
    without a copy where possible."""
    if isinstance(value, numpy.ndarray):
        return value
    if hasattr(value, "asnumpy"):  # MXNet's NDArray
        return value.asnumpy()
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return numpy.from_dlpack(value)
    return numpy.asarray(value)


_REMEDIES = {
    "O": "numbers in objects become an array by astype(\"float32\"), missing ones of pandas by "
         "to_numpy(\"float32\", na_value=float(\"nan\"))",
    "U": "numbers in text become an array by astype(\"float32\"), names numbers by "
         "numpy.unique(.., return_inverse=True)",
    "M": "a date becomes a number by (dates - dates[0]) / numpy.timedelta64(1, \"D\")",
    "m": "a time becomes a number by times / numpy.timedelta64(1, \"s\")",
    "c": "real and imaginary parts are two inputs, or numpy.stack([x.real, x.imag], -1)",
}
_REMEDIES["S"] = _REMEDIES["U"]


def numbers(value, name):
    """as_array() for the input or weight `name`. Raises E0610 for element types that no network
    has."""
    array = value if isinstance(value, numpy.ma.MaskedArray) else as_array(value)
    if numpy.ma.is_masked(array):
        raise of_file("E0610", f'array "{name}": found masked elements, want a value for each: '
                               'array.filled(0), and a mask as an input of its own')
    array = numpy.asarray(array)
    if array.dtype.kind not in "biuf":
        remedy = _REMEDIES.get(array.dtype.kind)
        raise of_file("E0610", f'array "{name}": found dtype '
                               f'{array.dtype}, want numbers' + (f"; {remedy}" if remedy else ""))
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        raise of_file("E0610", f'array "{name}": found dtype {array.dtype}, want at most float64: '
                               'astype("float64")')
    if array.dtype in _STORED:
        return array
    if not array.dtype.isnative:
        return numbers(array.astype(array.dtype.newbyteorder("=")), name)
    if array.size and array.max() > numpy.iinfo("int64").max:
        raise of_file("E0604", f'array "{name}": found {array.max()}, want a value of int64')
    return array.astype("int64")


_STORED = [numpy.dtype(name)
           for name in ("float16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool")]


def converted(array, dtype, name):
    """Converts the array to a type of a network. Raises E0604 for a number that becomes
    infinite."""
    with numpy.errstate(over="ignore"):
        made = array.astype(dtype)
    if made.dtype.kind == "f" and made.dtype.itemsize < array.dtype.itemsize:
        wrong = numpy.isinf(made) & numpy.isfinite(array)
        if wrong.any():
            at = numpy.flatnonzero(wrong.ravel())[0]
            raise of_file("E0604", f'array "{name}" element {at}: found {array.ravel()[at]}, want '
                                   f'a value of {made.dtype.name}')
    return made


def fill(view, value, name):
    """Writes an array to a view of an input. Raises E0610 for another shape, E0604 for a number
    that the view's type cannot hold."""
    array = numbers(value, name)
    if array.shape != view.shape:
        raise of_file(
            "E0610", f'input "{name}": found shape {list(array.shape)}, want {list(view.shape)}')
    if array.dtype != view.dtype and view.dtype.kind in "iub":
        whole = array.astype(view.dtype)
        if not numpy.array_equal(whole, array):
            at = numpy.flatnonzero((whole != array).ravel())[0]
            raise of_file("E0604", f'input "{name}" element {at}: found {array.ravel()[at]}, want '
                                   f'a value of {view.dtype.name}')
    numpy.copyto(view, array if array.dtype == view.dtype else converted(array, view.dtype, name),
                 casting="unsafe")


def input_dtype(array):
    """The default type of an input: int32 for integers, float32 for other numbers, as in MXNet."""
    return "int32" if array.dtype.kind in "iu" else "bool" if array.dtype.kind == "b" else "float32"
