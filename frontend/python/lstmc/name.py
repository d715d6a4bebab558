"""Names of nodes that are given none, by MXNet's rule: the op in lower case, and a number that
counts per op."""

from __future__ import annotations

import threading


class NameManager:
    """Counts names while it is in force (`with NameManager():`), from 0. Each thread has its own in
    force; one is not shared."""

    _local = threading.local()

    def __init__(self) -> None:
        self._counts = {}
        self._before = None

    def get(self, name: str | None, hint: str) -> str:
        """`name`, or the next one of `hint`."""
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
    """Puts a prefix before all names, those that are given too."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def get(self, name: str | None, hint: str) -> str:
        return self._prefix + super().get(name, hint)
