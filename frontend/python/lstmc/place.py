"""Where in the user's program something is made."""

import itertools
import linecache
import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep


def _shown(path):
    """The path as a user would type it: from here, if it lies beneath."""
    here = os.getcwd() + os.sep
    return path[len(here) :] if path.startswith(here) else path


def _columns(frame, line, text):
    """First byte and the byte after the last of the call that a frame is in, within its line."""
    if not hasattr(frame.f_code, "co_positions"):  # before Python 3.11
        return 0, len(text.encode())
    positions = frame.f_code.co_positions()
    first, last, begin, end = next(itertools.islice(positions, frame.f_lasti // 2, None))
    if first != line or begin is None:
        return 0, len(text.encode())
    return begin, end if last == first else len(text.encode())


def of_caller():
    """(file, line, text of the line, first byte, byte after the last) of the innermost call that is
    not this package's; None where there is none."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_FOLDER):
        frame = frame.f_back
    if frame is None:
        return None
    line = frame.f_lineno
    text = linecache.getline(frame.f_code.co_filename, line, frame.f_globals).rstrip("\n")
    return (_shown(frame.f_code.co_filename), line, text, *_columns(frame, line, text))
