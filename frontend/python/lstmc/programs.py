"""Programs of eager arrays: a call of an op, or a tape, is compiled at its first use and cached by
all that the compilation depends on."""

import collections
import os
import threading

from . import _core

# cached programs and their total bytes; the least recently used comes first
_KEPT, _KEPT_BYTES = 512, 64 << 20
_LARGE = 1 << 16  # elements of inputs from which on all processors are used

_kept, _bytes = collections.OrderedDict(), 0
_lock = threading.Lock()


class Program:
    """An entry of a small network, with memory. Threads may share it: one runs at a time."""

    def __init__(self, drawing, outputs, entry, elements):
        drawing.finish(outputs)
        threads = 0 if elements >= _LARGE else 1
        self._core = _core.bind(drawing, [entry], "none", threads)
        self._entry = entry
        self._running = threading.Lock()
        self.bytes = self._core.bytes_held()
        for name, inputs, results in self._core.entries():
            if name == entry:
                self._inputs = {name for name, role, *_ in inputs if role != "scalar"}
                self.is_random = any(name == "seed" for name, role, *_ in inputs
                                     if role == "scalar")
                self.outputs = [name for name, *_ in results]
                #: (shape, name of the dtype) of each output
                self.forms = [(tuple(shape), dtype) for _, _, dtype, shape, _ in results]

    def run(self, inputs, parameters=(), random=None, renewed=()):
        """Runs and returns copies of the outputs by name. `inputs` and `parameters` are arrays by
        name; an input without a reader is left out. `random` is (seed, number of the call) for a
        program that draws random numbers. Of the parameters in `renewed`, the values that the
        program leaves are returned as "renewed:NAME"."""
        with self._running:
            for name, value in inputs.items():
                if name in self._inputs:
                    self._core.input(self._entry, name)[...] = value
                    self._core.check_range(self._entry, name)
            for name, value in dict(parameters).items():
                self._core.set_parameter(name, value)
            if random is not None:
                self._core.set_scalar("seed", random[0])
                self._core.set_scalar("update", random[1])
            self._core.run(self._entry, threading.current_thread() is threading.main_thread())
            return {**{name: self._core.output(self._entry, name).copy() for name in self.outputs},
                    **{f"renewed:{name}": self._core.parameter(name).copy() for name in renewed}}


def kept(key, make):
    """The cached program of the key; `make()` makes a new one."""
    with _lock:
        program = _kept.get(key)
        if program is not None:
            _kept.move_to_end(key)
            return program
    program = make()
    with _lock:
        _keep(key, program)
    return program


def _keep(key, program):
    """Caches a program and drops others, so that loops over many shapes take bounded memory. The
    new program is never dropped."""
    global _bytes
    before = _kept.pop(key, None)  # made by another thread meanwhile
    _kept[key] = program
    _bytes += program.bytes - (before.bytes if before else 0)
    while len(_kept) > 1 and (len(_kept) > _KEPT or _bytes > _KEPT_BYTES):
        _bytes -= _kept.popitem(last=False)[1].bytes


def _forget():
    """Clears the cache in a forked process, which lacks the threads of the sessions."""
    global _bytes, _lock
    _kept.clear()
    _bytes, _lock = 0, threading.Lock()


def frozen(value):
    """An attribute's value as part of a key: 1, 1.0 and True are different."""
    if isinstance(value, (list, tuple)):
        return tuple(frozen(item) for item in value)
    return (type(value).__name__, value)


os.register_at_fork(after_in_child=_forget)
