"""liblstmc.so by ctypes; lstmc.h describes its functions."""

import ctypes
import difflib
import os
import pathlib
import re


class Error(Exception):
    """An error with the text that the command prints. `code` is "E0610" and so on, `exit` the
    command's exit code."""

    def __init__(self, text, exit=2):
        super().__init__(text)
        code = re.search(r"error\[(E\d+)\]", text)
        self.code, self.exit = code[1] if code else "", exit


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("devices", ctypes.c_char_p),
                ("threads", ctypes.c_int32), ("check_finite", ctypes.c_uint32),
                ("allocate", ctypes.c_void_p), ("release", ctypes.c_void_p),
                ("log", ctypes.c_void_p), ("user", ctypes.c_void_p)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int), ("rank", ctypes.c_int32),
                ("shape", ctypes.c_int64 * 16)]


# By lstmc_dtype. bfloat16, which NumPy lacks, is read as its bits.
DTYPES = ["float32", "float64", "float16", "uint16", "int8", "uint8", "int32", "int64", "bool"]


def find():
    """Finds the library: that of the wheel, LSTMC_RUNTIME_LIBRARY, or the system's."""
    own = pathlib.Path(__file__).parent / "liblstmc.so"
    return (os.environ.get("LSTMC_RUNTIME_LIBRARY")
            or (str(own) if own.exists() else "liblstmc.so.0"))


library = ctypes.CDLL(find())
for name in ("message", "version", "package_entry", "package_input", "package_output",
             "package_state", "package_parameter", "package_slot"):
    getattr(library, "lstmc_" + name).restype = ctypes.c_char_p
for name in ("package_planned_bytes", "session_weights_hash"):
    getattr(library, "lstmc_" + name).restype = ctypes.c_uint64
library.lstmc_tensor_bytes.restype = ctypes.c_size_t


def call(name, *arguments):
    """Calls lstmc_NAME and raises an Error if it fails."""
    status = getattr(library, "lstmc_" + name)(*arguments)
    if status:
        raise Error(library.lstmc_message().decode(), status)


def names(function, *arguments):
    """The names that a function of lstmc.h lists by index."""
    found = []
    while (name := function(*arguments, ctypes.c_size_t(len(found)))) is not None:
        found.append(name.decode())
    return found


def wanted(what, name, known):
    """Checks that the name is known and returns it."""
    if name in known:
        return name
    near = sorted(known, key=lambda other: -difflib.SequenceMatcher(None, name, other).ratio())
    raise Error(f'error[E0001]: there is no {what} "{name}"; there are {", ".join(near) or "none"}')
