#!/bin/bash
# run.sh BUNDLE [DEVICE]: all that is to be shown on a machine with a GPU, in one call of at most ten minutes, with what `pack.py` put into BUNDLE.
# It needs the driver and Python, and uses PyTorch and compute-sanitizer where they are. What counts most is first. On a real GPU it writes RESULTS.md
# beside itself, after each check, and into $OUT where that is set, with all that the conformance tests and compute-sanitizer said; with DEVICE emu:0
# it is a rehearsal, which writes into $OUT only. Exit 1 if anything differs, 5 if there is no such GPU; what there was no time for is named.
exec python3 -B "$(dirname "$0")/stages.py" "$1" "${2:-gpu:0}"
