"""logger.py LIBRARY LSTMC: a closed session reports to the program's logger what it clipped."""

import sys
import tempfile

from runtime import Options, Runtime

runtime = Runtime(sys.argv[1])
# Indices are computed, so they are clipped and not refused: 4 rows of index 20 in a table of 5.
NET = """
def net(data: float32[4]):
    return Embedding(data + 20.0, input_dim=5, output_dim=2, name="table")
"""
with tempfile.TemporaryDirectory() as folder:
    package = runtime.open(sys.argv[2], NET, folder)
lines = []
log = Options.LOG(lambda user, message: lines.append((user, message.decode())))
session = runtime.session(package, log=log, user=77)
try:
    runtime.session_run(session, b"forward")
    sys.exit("a run without its input was not refused")
except SystemExit as refused:
    if 'forward needs data, which was not given' not in str(refused):
        raise
data = runtime.view(session, b"forward", b"data", "input")
data.raw = bytes(len(data))
runtime.session_run(session, b"forward")
if lines:
    sys.exit(f"too early: {lines}")
runtime.library.lstmc_session_close(session)
runtime.library.lstmc_package_close(package)
print(lines)
if len(lines) != 1 or lines[0][0] != 77 or "W0703" not in lines[0][1] or " 4 " not in lines[0][1]:
    sys.exit("the logger was not told what was clipped")
