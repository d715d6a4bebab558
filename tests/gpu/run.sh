#!/bin/bash
# run.sh BUNDLE [DEVICE]: all checks and measurements on a machine with a GPU, in one call of at
# most ten minutes, with the files that `pack.py` put into BUNDLE. It needs the driver and Python,
# and uses PyTorch and compute-sanitizer if they are installed. The most important stages come
# first. On a real GPU it writes RESULTS.md beside itself after each check, and with $OUT also
# there, with the output of the conformance tests and compute-sanitizer. DEVICE emu:0 is a
# rehearsal, which writes into $OUT only. Exit 1 if anything differs, 5 if there is no such GPU;
# stages without time are named.
exec python3 -B "$(dirname "$0")/stages.py" "$1" "${2:-gpu:0}"
