"""The place in the user's program at which an object is made."""

import itertools
import linecache
import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep


def _shown(path):
    """The path as a user would type it: relative to the current folder if it lies below."""
    here = os.getcwd() + os.sep
    return path[len(here) :] if path.startswith(here) else path


def _columns(frame, line, text):
    """The first byte of the call that a frame executes, and the byte after its last, within the
    line."""
    if not hasattr(frame.f_code, "co_positions"):  # before Python 3.11
        return 0, len(text.encode())
    positions = frame.f_code.co_positions()
    first, last, begin, end = next(itertools.islice(positions, frame.f_lasti // 2, None))
    if first != line or begin is None:
        return 0, len(text.encode())
    return begin, end if last == first else len(text.encode())


def of_caller():
    """(file, line, text of the line, first byte, byte after the last) of the innermost call outside
    of this package; None if there is none."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_FOLDER):
        frame = frame.f_back
    if frame is None:
        return None
    line = frame.f_lineno
    text = linecache.getline(frame.f_code.co_filename, line, frame.f_globals).rstrip("\n")
    return (_shown(frame.f_code.co_filename), line, text, *_columns(frame, line, text))
