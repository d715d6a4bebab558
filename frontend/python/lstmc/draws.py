"""The state of the random numbers of eager arrays: the seed, and the number of calls since it was
set."""

import threading

_lock = threading.Lock()
_seed, _calls = 0, 0


def seed(seed_state: int, ctx: object = "all") -> None:
    """Restarts the random numbers from a seed."""
    global _seed, _calls
    with _lock:
        _seed, _calls = int(seed_state), 0


def next_call():
    """(seed, number of the call) of the next draw."""
    global _calls
    with _lock:
        _calls += 1
        return _seed, _calls
