"""Errors and warnings of the compiler and the runtime, as exceptions."""

from __future__ import annotations

import collections
import difflib
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Place = collections.namedtuple("Place", "file line column")
Place.__doc__ = (
    "Where an error is: `line` and `column` count from 1, and are 0 where there are none.")


class Error(Exception):
    """An error with the text that the command prints. `code` is "E0207" and so on (`lstmc explain
    CODE` describes each), `message` one line, `place` its location (the line of Python that made
    the node), `reasons` further lines, `help` a remedy or "", `exit` the command's exit code.
    Immutable: threads may share it."""

    def __init__(self, text: str, code: str = "E0001", message: str | None = None, file: str = "",
                 line: int = 0, column: int = 0,
                 reasons: Sequence[str] = (), help: str = "", exit: int = 2) -> None:
        super().__init__(text)
        self.code = code
        self.message = text if message is None else message
        self.place = Place(file, line, column)
        self.reasons = list(reasons)
        self.help = help
        self.exit = exit


class Warning(UserWarning):
    """A warning of the compiler, raised in the thread that made the call."""


def usage(message):
    """E0001, for a call with wrong arguments."""
    return Error("error[E0001]: " + message, "E0001", message)


def did_you_mean(name, known):
    """The end of a message about a name that is not in `known`; empty if none is similar."""
    near = difflib.get_close_matches(name, known, 1)
    return f' (did you mean "{near[0]}"?)' if near else ""


def of_file(code, message, path=None, place=None):
    """The error of a file or array that cannot be read; `place` is one of place.py in it."""
    _, line, _, begin, _ = place or ("", 0, "", -1, 0)
    at = f"{path}:{line}:{begin + 1}: " if line else f"{path}: " if path else ""
    return Error(f"{at}error[{code}]: {message}", code, message, str(path or ""), line, begin + 1,
                 exit=6)


def warn(text):
    warnings.warn(text, Warning, stacklevel=3)
