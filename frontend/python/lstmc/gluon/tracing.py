"""The trace of a block as a symbol: which Variables stand for its parameters."""

from __future__ import annotations

import threading

_local = threading.local()


class Trace:
    """Each parameter has one Variable, made at its first use, so that ops and parameters have the
    order of a network that is written as symbols."""

    def __init__(self):
        self.parameters = {}  # by name
        self._variables = {}
        self._before = None

    def variable(self, parameter):
        found = self.parameters.setdefault(parameter.name, parameter)
        if found is not parameter:
            raise ValueError(f'two parameters are named "{parameter.name}"')
        if parameter.name not in self._variables:
            self._variables[parameter.name] = parameter._variable()
        return self._variables[parameter.name]

    def __enter__(self):
        self._before, _local.current = current(), self
        return self

    def __exit__(self, *raised):
        _local.current = self._before


def current():
    """This thread's trace, or None."""
    return getattr(_local, "current", None)
