"""labels.py LIBRARY LSTMC: `forward` runs without a label where an output needs none, and what
depends on the label is NaN; a loss alone is refused without it."""

import math
import struct
import sys
import tempfile

from runtime import Runtime

runtime = Runtime(sys.argv[1])
HEAD = """
def net(data: float32[4, 3], label: int32[4]):
    y = softmax(FullyConnected(data, num_hidden=3, name="fc"))
    loss = MakeLoss(0.0 - log(pick(y, label - 1)), name="loss")
"""


def session_of(end):
    with tempfile.TemporaryDirectory() as folder:
        package = runtime.open(sys.argv[2], HEAD + f"    return {end}\n", folder, "--entry",
                               "forward")
    session = runtime.session(package)
    runtime.session_initialise(session, 1)
    data = runtime.view(session, b"forward", b"data", "input")
    data.raw = struct.pack("<12f", *[number / 7 for number in range(12)])
    return session


def floats(session, name):
    raw = runtime.view(session, b"forward", name, "output").raw
    return struct.unpack(f"<{len(raw) // 4}f", raw)


session = session_of("loss, BlockGrad(y, name=\"y\")")
runtime.session_run(session, b"forward")
if not all(map(math.isnan, floats(session, b"loss_output"))):
    sys.exit("a loss without its label is no NaN")
without = floats(session, b"y_output")
labels = runtime.view(session, b"forward", b"label", "input")
labels.raw = struct.pack("<4i", 1, 2, 3, 1)
runtime.session_run(session, b"forward")
if floats(session, b"y_output") != without or any(map(math.isnan, floats(session, b"loss_output"))):
    sys.exit("with labels there are other outputs, or the loss is not finite")
runtime.session_forget_input(session, b"forward", b"label")
runtime.session_run(session, b"forward")
if not all(map(math.isnan, floats(session, b"loss_output"))):
    sys.exit("labels that were forgotten are still read")
try:
    runtime.session_run(session_of("loss"), b"forward")
    sys.exit("a loss was computed without its label")
except SystemExit as refused:
    if "forward needs label, which was not given" not in str(refused):
        raise
