"""Default names of nodes by MXNet's rule: the op in lower case, and a counter per op."""

from __future__ import annotations

import threading


class NameManager:
    """Counts names inside `with NameManager():`, from 0. Each thread has its own current one;
    threads do not share one."""

    _local = threading.local()

    def __init__(self) -> None:
        self._counts = {}
        self._before = None

    def get(self, name: str | None, hint: str) -> str:
        """`name`, or the next name with the prefix `hint`."""
        if name:
            return name
        number = self._counts.get(hint, 0)
        self._counts[hint] = number + 1
        return f"{hint}{number}"

    @classmethod
    def current(cls) -> NameManager:
        if not hasattr(cls._local, "current"):
            cls._local.current = NameManager()
        return cls._local.current

    def __enter__(self) -> NameManager:
        self._before = NameManager.current()
        NameManager._local.current = self
        return self

    def __exit__(self, *_: object) -> None:
        NameManager._local.current = self._before


class Prefix(NameManager):
    """Adds a prefix to all names, explicit ones included. Threads do not share one."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def get(self, name: str | None, hint: str) -> str:
        return self._prefix + super().get(name, hint)
