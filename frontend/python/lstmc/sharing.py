"""Objects that threads share, one call at a time."""

from __future__ import annotations

import functools
import os
import threading
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from typing import Any, Callable, TypeVar

    Method = TypeVar("Method", bound=Callable[..., Any])


class Turn:
    """A lock that its thread may take again. A copy of it, and its copy in a forked process, are
    unlocked."""

    def __init__(self):
        self._lock, self._process = threading.RLock(), os.getpid()

    def __enter__(self):
        if os.getpid() != self._process:
            self.__init__()
        self._lock.acquire()

    def __exit__(self, *raised):
        self._lock.release()

    def __reduce__(self):
        return Turn, ()


def one_at_a_time(method: Method) -> Method:
    """Makes a method hold its object's lock, the Turn that `_held()` returns: other threads wait,
    without the GIL."""
    @functools.wraps(method)
    def held(self: Any, *arguments: Any, **keywords: Any) -> Any:
        with self._held():
            return method(self, *arguments, **keywords)
    return cast("Method", held)
