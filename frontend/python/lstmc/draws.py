"""What random numbers of eager arrays are drawn by: the seed, and how many calls there were since
it was set."""

import threading

_lock = threading.Lock()
_seed, _calls = 0, 0


def seed(seed_state: int, ctx: object = "all") -> None:
    """Begins the numbers anew."""
    global _seed, _calls
    with _lock:
        _seed, _calls = int(seed_state), 0


def next_call():
    """(seed, number of the call)"""
    global _calls
    with _lock:
        _calls += 1
        return _seed, _calls
