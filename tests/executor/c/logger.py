"""logger.py LIBRARY LSTMC: the program's own logger is told what a session clipped, when it is closed."""

import ctypes
import os
import subprocess
import sys
import tempfile

library, command = ctypes.CDLL(sys.argv[1]), sys.argv[2]
library.lstmc_message.restype = ctypes.c_char_p
LOG = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("devices", ctypes.c_char_p), ("threads", ctypes.c_int32), ("check_finite", ctypes.c_uint32),
                ("allocate", ctypes.c_void_p), ("release", ctypes.c_void_p), ("log", LOG), ("user", ctypes.c_void_p)]


def check(status):
    if status:
        sys.exit(library.lstmc_message().decode())


# What is indexed is computed, so that it is clipped and not refused: 4 rows of index 20 in a table of 5.
NET = """
def net(data: float32[4]):
    return Embedding(data + 20.0, input_dim=5, output_dim=2, name="table")
"""
with tempfile.TemporaryDirectory() as folder:
    net, package_file = os.path.join(folder, "n.lnet"), os.path.join(folder, "n.lstmc").encode()
    with open(net, "w") as file:
        file.write(NET)
    subprocess.run([command, "compile", net, "-o", package_file.decode()], check=True, capture_output=True)
    lines = []
    log = LOG(lambda user, message: lines.append((user, message.decode())))
    package, session = ctypes.c_void_p(), ctypes.c_void_p()
    check(library.lstmc_package_open(package_file, ctypes.byref(package)))
    options = Options(size=ctypes.sizeof(Options), threads=1, log=log, user=77)
    check(library.lstmc_session_create(package, ctypes.byref(options), ctypes.byref(session)))
    check(library.lstmc_session_run(session, b"forward"))
    if lines:
        sys.exit(f"too early: {lines}")
    library.lstmc_session_close(session)
    library.lstmc_package_close(package)
print(lines)
if len(lines) != 1 or lines[0][0] != 77 or "W0703" not in lines[0][1] or " 4 " not in lines[0][1]:
    sys.exit("the logger was not told what was clipped")
