#!/usr/bin/env python3
"""Forecast compared with measured time: `forecast.py LSTMC SOURCE [--rounds N] [--threads T]
[--only REGEX] [--quick]`.

Nets of 20 us to 1 ms, some with sequence lengths, and deep.lnet in many short chunks, each measured
in N processes in turn. A net's time is the least of their medians, because other work on the
machine only adds time. The rates are measured first, into a separate folder: as `--calibrate` does,
or with --quick as the first use of a machine does. Exit 1 if a row is off by more than 20 %.
"""
import argparse
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

GOAL = 0.2

# Name: file, flags, entry.
SMALL = {
    "cell, one step": ("samples/cell.lnet", "-b 1 --shape data:4x1x40 --set hidden=16", "forward"),
    "words of 26": ("tests/e2e/nets/words.lnet", "", "forward"),
    "words of 26, step": ("tests/e2e/nets/words.lnet", "", "step"),
    "single ops": ("tests/e2e/nets/rows.lnet", "", "step"),
    "pollution, 8 rows": ("samples/pollution.lnet", "-b 8 --set hidden=32", "forward"),
    "pollution, 8 rows, step": ("samples/pollution.lnet", "-b 8 --set hidden=32", "step"),
    "digits, 4 rows": ("samples/mnist_rows.lnet", "-b 4 --set hidden=64", "forward"),
    "digits, 4 rows, step": ("samples/mnist_rows.lnet", "-b 4 --set hidden=64", "step"),
    "characters, 1 row": ("samples/char_lm.lnet", "-b 1 --shape data:1x16 --set hidden=64",
                          "forward"),
    "characters, 1 row, step": ("samples/char_lm.lnet", "-b 1 --shape data:1x16 --set hidden=64",
                                "step"),
    "stacked, 2 rows": ("samples/stacked.lnet", "-b 2 --shape data:2x8 --set hidden=48", "step"),
    "classes": ("tests/e2e/nets/classes.lnet", "", "step"),
}
LENGTHS = {
    "forecast, short sequences":
    ("samples/forecast.lnet", "-b 16 --set hidden=64 -i length=@{lengths}", "step"),
    "forecast, 64 rows": ("samples/forecast.lnet", "-i length=@{lengths}", "forward"),
    "forecast, 64 rows, step": ("samples/forecast.lnet", "-i length=@{lengths}", "step"),
}
CHUNKS = {f"deep.lnet, 2 devices, {chunks} chunks":
          ("tests/bench/deep.lnet", f"-d 2xcpu --place auto=2 --chunks {chunks}", "forward")
          for chunks in (8, 16, 32)}


def write_lengths(path, rows, steps):
    """Writes lengths of 1 to `steps`, evenly distributed, as a .npy of float32."""
    header = repr({"descr": "<f4", "fortran_order": False, "shape": (rows,)}).encode()
    header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
                     + struct.pack(f"<{rows}f", *(1 + b * 7 % steps for b in range(rows))))


def bench(lstmc, source, cell, threads, repeats, environment):
    file, flags, entry = cell
    folder = pathlib.Path(environment["LSTMC_CACHE_DIR"])
    flags = flags.format(lengths=folder / ("short.npy" if "-b 16" in flags else "lengths.npy"))
    if "-d" not in flags.split():
        flags += f" -d cpu -t {threads}"
    else:
        flags += " -t 1"
    done = subprocess.run([lstmc, "bench", source / file, "--entry", entry,
                           "--json", "-r", str(repeats), "--warmup", "5", *flags.split()],
                          capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)["cells"][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lstmc")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "LSTMC_CACHE_DIR": folder}
        subprocess.run([args.lstmc, "bench", args.source / "samples/tiny.lnet", "-b", "1",
                        "-t", str(args.threads), *["--calibrate"] * (not args.quick)],
                       check=True, capture_output=True, env=environment)
        write_lengths(pathlib.Path(folder) / "lengths.npy", 64, 24)
        write_lengths(pathlib.Path(folder) / "short.npy", 16, 12)
        cells = {name: cell for name, cell in {**SMALL, **LENGTHS, **CHUNKS}.items()
                 if re.search(args.only, name)}
        rows = {name: [] for name in cells}
        for _ in range(args.rounds):
            for name, cell in cells.items():
                rows[name].append(bench(args.lstmc, args.source, cell, args.threads,
                                        20 if name in CHUNKS else 200, environment))
    print("| net | entry | measured us | forecast us | off by |\n|---|---|---|---|---|")
    far = 0
    for name, found in rows.items():
        best = min(found, key=lambda cell: cell["median_s"])
        off = best["forecast_s"] / best["median_s"] - 1
        far += abs(off) > GOAL
        print("| %s | %s | %.1f | %.1f | %+.0f %% |"
              % (name, best["entry"], 1e6 * best["median_s"], 1e6 * best["forecast_s"], 100 * off))
    print("%d of %d within %.0f %%" % (len(rows) - far, len(rows), 100 * GOAL), file=sys.stderr)
    raise SystemExit(1 if far else 0)


main()
