"""Types and attribute values: as NumPy has them, as names, and as text in MXNet's files."""

import ast
import re

import numpy


def plain(value):
    """Converts an attribute's value from NumPy's types; dtypes become names."""
    if isinstance(value, type) and hasattr(value, "__name__"):  # numpy.float32, float
        return {"float": "float32", "int": "int32"}.get(value.__name__, value.__name__)
    if hasattr(value, "char") and hasattr(value, "name"):  # numpy.dtype
        return value.name
    return value


def class_of(dtype):
    """NumPy's class for the name of a type; bfloat16, which NumPy lacks, stays a name."""
    return dtype if dtype is None or dtype == "bfloat16" else numpy.dtype(dtype).type


# by MXNet's code
DTYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool"]
_BFLOAT16 = "12"


def code_of_dtype(dtype):
    """MXNet's code for a type, as text."""
    return _BFLOAT16 if dtype == "bfloat16" else str(DTYPES.index(dtype))


def dtype_of_code(text):
    """The type's name from MXNet's code as text, or a name as it is; None for -1."""
    return (None if text == "-1" else "bfloat16" if text == _BFLOAT16 else DTYPES[int(text)]
            if text.isdigit() else text)


def tuple_of(text):
    """Parses "(2, 3)", "[2, 3]", "2" or "(2L, 3L)"."""
    value = ast.literal_eval(re.sub(r"(?<=\d)L", "", text))
    return tuple(item if item is None else int64_of(item)
                 for item in (value if isinstance(value, (tuple, list)) else (value,)))


def int64_of(value):
    """The integer as int64. Raises ValueError for a value out of range."""
    if not isinstance(value, int) or not -(1 << 63) <= value < 1 << 63:
        raise ValueError(value)
    return value


# Exceptions from parsing text of others, which may be nested to any depth.
UNREADABLE = (ValueError, SyntaxError, KeyError, IndexError, TypeError, AttributeError,
              OverflowError, RecursionError, MemoryError)
