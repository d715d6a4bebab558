"""First values of parameters: those that a network with these parameters would begin with."""

from __future__ import annotations

import contextlib
import threading

from .. import _core, draws
from ..init import spec_of
from ..session import Package

_local = threading.local()


@contextlib.contextmanager
def together():
    """Parameters that wait inside get their values in one network, at the end."""
    before, _local.waiting = getattr(_local, "waiting", None), []
    try:
        yield
        waiting = _local.waiting
    finally:
        _local.waiting = before
    make(waiting)


def make(parameters):
    """Gives values to parameters of known shapes. The first call after `random.seed(s)` draws what
    a session with `seed=s` begins with."""
    waiting = getattr(_local, "waiting", None)
    if waiting is not None:
        waiting += parameters
        return
    by_default = {}  # one network has one default
    for parameter in parameters:
        default = spec_of(parameter._waiting[1])
        by_default.setdefault(repr(default), (default, []))[1].append(parameter)
    for default, group in by_default.values():
        values = _values(default, group)
        for parameter in group:
            parameter._take_first(values[parameter.name])


def _values(default, group):
    drawing = _core.Drawing("parameters")
    heads = []
    for number, parameter in enumerate(group):
        options = {"shape": list(parameter.shape), "dtype": parameter.dtype,
                   "init": spec_of(parameter._waiting[0])}
        value = drawing.variable(parameter.name, options, None)
        call = _core.Call("BlockGrad", [value], [], [], f"head{number}", None)
        heads += drawing.apply(call)
    drawing.finish(heads)
    package = Package(
        _core.compile_drawing(drawing, "compile", [("quiet", "")], ["forward"], default))
    seed, call = draws.next_call()
    return package.session(seed=(seed + (call - 1) * _STEP) % (1 << 62)).params()


_STEP = 0x1E3779B97F4A7C15  # odd, so that 2^62 calls have different seeds
