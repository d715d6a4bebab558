"""shapes.py LIBRARY LSTMC: sessions of one network for other numbers of sequences and steps share
its large weights, and compute the same as sessions with their own."""

import random
import struct
import sys
import tempfile

from runtime import Runtime, resident

runtime = Runtime(sys.argv[1])
# 6 MiB of weights, and as much when packed.
NET = """
N, T = dim("batch", 2), dim("seq", 3)
def net(data: float32[T, N, 256]):
    y, h, c = LSTM(data, num_hidden=512, name="lstm")
    return FullyConnected(y, num_hidden=4, flatten=False, name="out")
fit(net, carry=["lstm"])
"""
PARAMETERS = 2048 * (256 + 512) * 4  # bytes, and as many of packed ones
# Packed weights follow states and input in a plan. Where these have whole pages more than those of
# (2, 3), pages of packed weights are equal too; else a plan has packed weights of its own.
EQUAL, UNEQUAL = [(2, 5), (2, 9)], [(1, 1), (5, 7)]


def forward(session, batch, steps):
    values = random.Random(batch * steps)
    data = runtime.view(session, b"forward", b"data", "input")
    data.raw = struct.pack(f"{len(data) // 4}f",
                           *(values.uniform(-1, 1) for _ in range(len(data) // 4)))
    assert len(data) == batch * steps * 256 * 4
    runtime.library.lstmc_session_reset_states(session)
    runtime.session_run(session, b"forward")
    return runtime.view(session, b"forward", b"out_output", "output").raw


packages = {}
with tempfile.TemporaryDirectory() as folder:
    first_package = runtime.open(sys.argv[2], NET, folder, "--entry", "forward")
    for batch, steps in EQUAL + UNEQUAL:
        packages[batch, steps] = runtime.open(sys.argv[2], NET, folder, "--entry", "forward",
                                              "--batch", str(batch), "--set", f"seq={steps}")
first = runtime.session(first_package)
runtime.session_initialise(first, 3)
forward(first, 2, 3)

want = {}
for shape in EQUAL + UNEQUAL:
    own = runtime.session(packages[shape])
    runtime.session_copy_weights(own, first)
    want[shape] = forward(own, *shape)
    runtime.library.lstmc_session_close(own)

sessions = {}
SLACK = PARAMETERS // 3  # what six sessions have of their own
for shapes, limit in (EQUAL, SLACK), (UNEQUAL, len(UNEQUAL) * PARAMETERS + SLACK):
    before = resident()
    for shape in shapes:
        for copy in range(3):
            session = sessions[shape, copy] = runtime.session(packages[shape])
            runtime.session_share_weights(session, first)
            if forward(session, *shape) != want[shape]:
                sys.exit(f"{shape}: a session that shares weights computes something else")
    shared = resident() - before
    print(f"{PARAMETERS} bytes of parameters; {shared} bytes more for 3 sessions each of {shapes}")
    if shared > limit:
        sys.exit(f"want at most {limit}: weights of other shapes are in memory too often")

runtime.library.lstmc_session_close(first)
for (shape, copy), session in sessions.items():
    if forward(session, *shape) != want[shape]:
        sys.exit(f"{shape}: the weights went with the session that they came from")
    runtime.library.lstmc_session_close(session)

with tempfile.TemporaryDirectory() as folder:
    other = runtime.session(runtime.open(sys.argv[2], NET.replace("512", "256"), folder))
one = runtime.session(first_package)
if runtime.library.lstmc_session_share_weights(one, other) != 2:
    sys.exit("weights of another network are shared")
print(runtime.library.lstmc_message().decode())
if "weights are shared by sessions of one network" not in runtime.library.lstmc_message().decode():
    sys.exit(1)
