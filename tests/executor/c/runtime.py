"""liblstmc.so by ctypes, for tests."""

import contextlib
import ctypes
import os
import re
import subprocess
import sys


def resident():
    """The private bytes of this process, and those that it maps several times."""
    shared = 0
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            path = f"/proc/self/fd/{name}"
            if os.readlink(path).startswith("/memfd:"):
                shared += os.stat(path).st_blocks * 512
    with open("/proc/self/smaps_rollup") as file:
        return shared + (int(re.search(r"^Pss_Anon: *(\d+) kB", file.read(), re.M)[1]) << 10)


class Options(ctypes.Structure):
    LOG = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
    _fields_ = [("size", ctypes.c_size_t), ("devices", ctypes.c_char_p),
                ("threads", ctypes.c_int32), ("check_finite", ctypes.c_uint32),
                ("allocate", ctypes.c_void_p), ("release", ctypes.c_void_p), ("log", LOG),
                ("user", ctypes.c_void_p)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int), ("rank", ctypes.c_int32),
                ("shape", ctypes.c_int64 * 16)]


class Runtime:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.lstmc_message.restype = ctypes.c_char_p
        self.library.lstmc_tensor_bytes.restype = ctypes.c_size_t

    def __getattr__(self, name):
        """lstmc_NAME, which ends the test if it fails."""
        function = getattr(self.library, "lstmc_" + name)

        def call(*arguments):
            if function(*arguments):
                sys.exit(f"{name}: {self.library.lstmc_message().decode()}")
        return call

    def open(self, command, source, folder, *flags):
        """Compiles a network in .lnet and opens its package."""
        net, compiled = os.path.join(folder, "n.lnet"), os.path.join(folder, "n.lstmc")
        with open(net, "w") as file:
            file.write(source)
        subprocess.run([command, "compile", net, "-o", compiled, "--force", *flags], check=True,
                       capture_output=True)
        package = ctypes.c_void_p()
        self.package_open(compiled.encode(), ctypes.byref(package))
        return package

    def session(self, package, **options):
        session = ctypes.c_void_p()
        given = Options(size=ctypes.sizeof(Options), threads=1, **options)
        self.session_create(package, ctypes.byref(given), ctypes.byref(session))
        return session

    def view(self, session, entry, name, kind):
        tensor = Tensor()
        getattr(self, "session_" + kind)(session, entry, name, ctypes.byref(tensor))
        size = self.library.lstmc_tensor_bytes(ctypes.byref(tensor))
        return (ctypes.c_char * size).from_address(tensor.data)
