"""shared.py LIBRARY LSTMC: sessions that share large weights hold them once, and compute the same
as a session with its own."""

import random
import struct
import sys
import tempfile
import threading

from runtime import Runtime, resident

runtime = Runtime(sys.argv[1])
close = runtime.library.lstmc_session_close
# 2 x 4 MiB of weights, and as much when packed.
NET = """
def net(data: float32[4, 1024]):
    return FullyConnected(FullyConnected(data, num_hidden=1024, name="a"), num_hidden=1024, name="b")
"""
WEIGHTS, SESSIONS = 16 << 20, 8


def forward(session, seed):
    values = random.Random(seed)
    data = runtime.view(session, b"forward", b"data", "input")
    data.raw = struct.pack(f"{len(data) // 4}f",
                           *(values.uniform(-1, 1) for _ in range(len(data) // 4)))
    runtime.session_run(session, b"forward")
    return runtime.view(session, b"forward", b"b_output", "output").raw


with tempfile.TemporaryDirectory() as folder:
    package = runtime.open(sys.argv[2], NET, folder)
first = runtime.session(package)
runtime.session_initialise(first, 3)

before = resident()
own = runtime.session(package)
runtime.session_copy_weights(own, first)
want = [forward(own, seed) for seed in range(SESSIONS)]
by_copy = resident() - before
close(own)
if by_copy < WEIGHTS:
    sys.exit(f"a session with weights of its own takes {by_copy} bytes, which is too few to "
             "measure anything")

before = resident()
sessions = [runtime.session(package) for _ in range(SESSIONS)]
got = [None] * SESSIONS


def run(index):
    runtime.session_share_weights(sessions[index], first)
    for _ in range(3):
        got[index] = forward(sessions[index], index)


run(0)
threads = [threading.Thread(target=run, args=(index,)) for index in range(1, SESSIONS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
shared = resident() - before
print(f"{by_copy} bytes with weights of its own, {shared} bytes for {SESSIONS} that share")
# The first call moves the weights; `first` had packed none before.
if shared > WEIGHTS // 2 + WEIGHTS // 4:
    sys.exit("shared weights are in memory more than once")
if got != want or len(set(got)) != SESSIONS:
    sys.exit("sessions that share weights compute something else")

close(first)
if forward(sessions[0], 5) != want[5]:
    sys.exit("the weights went with the session that they came from")
for session in sessions:
    close(session)
left = resident() - before
print(f"{left} bytes when all are closed")
if left > -WEIGHTS // 4:  # `before` included the 8 MiB of the first session
    sys.exit("closed sessions keep their weights")
