"""Devices by MXNet's names. Eager arrays are computed on the CPU; a Module runs on the devices it
is given."""

from __future__ import annotations



class Context:
    """`cpu(0)`, `gpu(1)`. Immutable, so threads may share it."""

    def __init__(self, device_type: str, device_id: int = 0) -> None:
        self.device_type = device_type
        self.device_id = device_id

    def __repr__(self):
        return f"{self.device_type}({self.device_id})"

    def __eq__(self, other):
        return isinstance(other, Context) and repr(self) == repr(other)

    def __hash__(self):
        return hash(repr(self))

    @property
    def device(self) -> str:
        """The device's name in flags: "cpu:0"."""
        return f"{self.device_type}:{self.device_id}"


def cpu(device_id: int = 0) -> Context:
    return Context("cpu", device_id)


def gpu(device_id: int = 0) -> Context:
    return Context("gpu", device_id)


def current_context() -> Context:
    return cpu()
