"""Runs compiled networks: packages of `lstmc compile` and checkpoints of `lstmc train`, with NumPy
and without the compiler.

    import lstmc_runtime
    session = lstmc_runtime.load("lm.lstmc").session(params="lm.safetensors", threads=4)
    outputs = session.run({"data": ids})

Package and Session are those of the module `lstmc`, as far as nothing is compiled or trained. Bits
are those of the command.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import pathlib
import threading
from typing import TYPE_CHECKING, cast

import numpy

from .native import DTYPES, Error, Options, Tensor, call, library, names, wanted

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping
    from typing import Any, Callable, TypeVar

    from numpy.typing import ArrayLike

    Method = TypeVar("Method", bound=Callable[..., Any])

__all__ = ["Error", "Package", "Session", "load"]
__version__: str = library.lstmc_version().decode()


def _alone(method: Method) -> Method:
    """Makes a method hold its session's lock: other threads wait, without the GIL."""
    @functools.wraps(method)
    def held(self: Any, *arguments: Any, **keywords: Any) -> Any:
        with self._turn:
            return method(self, *arguments, **keywords)
    return cast("Method", held)


class Package:
    """A compiled network, without weights (unless it is from a checkpoint). Immutable, so any
    number of threads may read it and make sessions of it at the same time."""

    def __init__(self, handle: Any, path: str | None = None) -> None:
        self._handle, self._path = handle, path

    # bound as a default, because modules are empty at the interpreter's end
    def __del__(self, close=library.lstmc_package_close):
        close(self._handle)

    @property
    def entries(self) -> list[str]:
        """Names of the entries that can be run: "forward", "evaluate" and those that prepare
        them."""
        return names(library.lstmc_package_entry, self._handle)

    def inputs(self, entry: str = "forward") -> list[str]:
        """Names of an entry's inputs."""
        return names(library.lstmc_package_input, self._handle, self._entry(entry))

    def outputs(self, entry: str = "forward") -> list[str]:
        """Names of an entry's outputs."""
        return names(library.lstmc_package_output, self._handle, self._entry(entry))

    @property
    def parameters(self) -> list[str]:
        """Names of the parameters, in the order of the network."""
        return names(library.lstmc_package_parameter, self._handle)

    @property
    def states(self) -> list[str]:
        """Names of the values kept between runs."""
        return names(library.lstmc_package_state, self._handle)

    @property
    def planned_bytes(self) -> int:
        """The memory of a session on its devices in bytes, weights included."""
        return library.lstmc_package_planned_bytes(self._handle)

    def session(self, params: str | os.PathLike[str] | None = None, threads: int = 0,
                devices: str | None = None, check_nan: bool = False,
                share: Session | None = None) -> Session:
        """Makes a session with memory, threads and weights. `params` is a safetensors or npz file
        or a checkpoint; the default is a checkpoint's own weights, those beside the package's file,
        or zeros. `share`: a session of this package whose weights are shared; they are constant
        from then on. `devices` is a list as for `-d`, `threads` the number per device (0: all
        processors)."""
        return Session(self, params, threads, devices, check_nan, share)

    def _entry(self, entry):
        return wanted("entry", entry, self.entries).encode()


class Session:
    """A package with memory, weights and states. Threads may share it: each call runs as a whole
    (writing inputs, the run, reading outputs) while other threads wait; none holds the GIL while it
    waits or runs. The states belong to the session and not to a thread: each run continues from the
    states of the previous run of any thread. `with session.alone():` makes several calls atomic,
    such as writing to `input(..)`, a run, and reading the views of `copy=False`. Sessions that
    share weights are independent."""

    def __init__(self, package: Package, params: str | os.PathLike[str] | None = None,
                 threads: int = 0, devices: str | None = None,
                 check_nan: bool = False, share: Session | None = None) -> None:
        self.package, self._handle, self._turn = package, ctypes.c_void_p(), threading.RLock()
        # (entry, input): whose memory the user holds a view of; that are set until another entry
        # runs
        self._viewed, self._set = set(), set()
        options = Options(size=ctypes.sizeof(Options),
                          devices=devices.encode() if devices else None, threads=threads,
                          check_finite=bool(check_nan))
        call("session_create", package._handle, ctypes.byref(options), ctypes.byref(self._handle))
        if share is not None:
            with share._turn:
                call("session_share_weights", self._handle, share._handle)
        elif params is not None or package._path is not None:
            call("session_load_weights", self._handle,
                 str(package._path if params is None else params).encode())

    def __del__(self, close=library.lstmc_session_close):
        close(self._handle)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Excludes other threads from the session for the block."""
        with self._turn:
            yield

    @_alone
    def run(self, inputs: Mapping[str, ArrayLike] | None = None, entry: str = "forward",
            copy: bool = True) -> dict[str, numpy.ndarray]:
        """Runs an entry and returns its outputs by name. `inputs` are written to the session's
        memory for this run; all others must have been written before, by `set_input` or to
        `input(..)`. Labels that an output of "forward" does not depend on may be left out: outputs
        that depend on one are NaN. Without `inputs` it runs on the present values. With
        `copy=False` outputs are views of that memory, which the next run of any thread overwrites.
        "step" is one update of the weights, as in `lstmc train`, and also takes `learning_rate`,
        `update` (from 1) and `seed`."""
        given = dict(inputs or {})
        self._check_given(given, entry)
        self._set_update(given, entry)
        for name, value in given.items():
            self._write(name, value, entry)
        self._set = {(of, name) for of, name in self._set
                     if of == entry and name not in (inputs or ())}
        call("session_run", self._handle, self.package._entry(entry))
        outputs = {name: self.output(name, entry) for name in self.package.outputs(entry)}
        return {name: output.copy() for name, output in outputs.items()} if copy else outputs

    def _set_update(self, given, entry):
        """Passes the scalars of an update to the session in f64: a view of the rate has fewer
        digits than `lstmc train` uses."""
        if "learning_rate" in given and "update" in given:
            seed = (given.pop("seed") if "seed" in given
                    else self._view("session_input", entry.encode(), b"seed"))
            rate, update, seed = (
                numpy.asarray(value).reshape(-1)[0].item()
                for value in (given.pop("learning_rate"), given.pop("update"), seed))
            call("session_set_update", self._handle, ctypes.c_double(rate), ctypes.c_int64(update),
                 ctypes.c_uint64(seed))

    def _check_given(self, inputs, entry):
        known = self.package.inputs(entry)
        for name in inputs:
            wanted("input", name, known)
        missing = [name for name in known if name != "seed" and name not in inputs
                   and (entry, name) not in self._viewed | self._set]
        if not missing or not (inputs or "learning_rate" in known):
            return
        if entry == "forward":  # which may run without labels: the library decides
            for name in missing:
                call("session_forget_input", self._handle, entry.encode(), name.encode())
        else:
            raise Error(f"error[E0001]: {entry} needs {', '.join(missing)}, which "
                        f"{'was' if len(missing) == 1 else 'were'} not given; set_input gives an "
                        "input that holds until another entry runs")

    @_alone
    def set_input(self, name: str, value: ArrayLike, entry: str = "forward") -> None:
        """Sets an input to an array of its shape. It holds until another entry runs or the input is
        set again. Values are converted if only digits of floats are lost."""
        self._write(name, value, entry)
        self._set.add((entry, name))

    def _write(self, name, value, entry):
        view, array = self._input(name, entry), numpy.asarray(value)
        if numpy.ma.is_masked(value):
            raise Error(f"error[E0610]: input {name}: found masked elements, want a value for "
                        "each: array.filled(0)")
        if array.shape != view.shape:
            raise Error(f"error[E0610]: input {name}: found shape {array.shape}, want {view.shape}")
        if not numpy.can_cast(array.dtype, view.dtype, "same_kind"):
            raise Error(f"error[E0610]: input {name}: found {array.dtype}, want {view.dtype}")
        with numpy.errstate(over="ignore"):
            view[...] = array
        if (view.dtype.kind == "f" and view.dtype.itemsize < array.dtype.itemsize
            and (numpy.isinf(view) & numpy.isfinite(array)).any()):
            raise Error(
                f"error[E0604]: input {name}: found a number that {view.dtype} does not have")

    @_alone
    def input(self, name: str, entry: str = "forward") -> numpy.ndarray:
        """A view of an input's memory, to be written to before a run."""
        view = self._input(name, entry)
        self._viewed.add((entry, name))
        return view

    def _input(self, name, entry):
        wanted("input", name, self.package.inputs(entry))
        return self._view("session_input", entry.encode(), name.encode())

    @_alone
    def output(self, name: str, entry: str = "forward") -> numpy.ndarray:
        """A view of an output of the last run."""
        wanted("output", name, self.package.outputs(entry))
        return self._view("session_output", entry.encode(), name.encode())

    @_alone
    def states(self) -> dict[str, numpy.ndarray]:
        """Copies of the values kept between runs."""
        return {name: self._view("session_state", name.encode()).copy()
                for name in self.package.states}

    @_alone
    def set_states(self, states: Mapping[str, ArrayLike]) -> None:
        for name, value in states.items():
            have = self._view("session_state", wanted("state", name, self.package.states).encode())
            array = numpy.ascontiguousarray(value, dtype=have.dtype)
            if array.shape != have.shape:
                raise Error(
                    f"error[E0610]: state {name}: found shape {array.shape}, want {have.shape}")
            call("session_set_state", self._handle, name.encode(),
                 array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes))

    @_alone
    def reset_states(self) -> None:
        """Sets all states to zero."""
        library.lstmc_session_reset_states(self._handle)

    @property
    @_alone
    def weights_hash(self) -> str:
        """The hash that `lstmc train` prints as `weights`."""
        return f"{library.lstmc_session_weights_hash(self._handle):016x}"

    def _view(self, function, *words):
        """An array over the session's memory; it keeps the session alive."""
        tensor = Tensor()
        call(function, self._handle, *words, ctypes.byref(tensor))
        memory = (ctypes.c_char
                  * library.lstmc_tensor_bytes(ctypes.byref(tensor))).from_address(tensor.data)
        memory.session = self
        return numpy.frombuffer(memory, DTYPES[tensor.dtype]).reshape(tensor.shape[:tensor.rank])


def load(path: str | os.PathLike[str]) -> Package:
    """Opens a package (`F.lstmc`) or a checkpoint's folder."""
    handle, path = ctypes.c_void_p(), pathlib.Path(path)
    call("package_open", str(path).encode(), ctypes.byref(handle))
    beside = path if path.is_dir() else path.with_suffix(".safetensors")
    return Package(handle, beside if beside.exists() else None)
