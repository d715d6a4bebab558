#!/usr/bin/env python3
"""emulated.py samples|orders LSTMC [--updates N] [--seeds A..B]: trainings on emulated GPUs must
end with the hash of one cpu.

samples  every sample, at a size that emulation permits, on 1 to 8 devices, --updates (200) updates
orders   --seeds (1..1000) of the emulated driver, each of which draws other orders of concurrent
         stream operations: a small network on 4xemu, divided in one of several ways, with the
         number of streams that the compiler chooses or the way determines

Results are stored beside LSTMC, and the same call continues from them, as long as LSTMC stays the
same program. Exit 1 if a hash differs or a training fails.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# At most about 10^7 multiplications per update. cell.lnet has no loss and is run instead.
SAMPLES = {
    "cell": "hidden=8 seq=5",
    "char_lm": "vocab=20 hidden=16 seq=6",
    "forecast": "hidden=8 seq=6",
    "long_lm": "vocab=20 hidden=8 seq=10",
    "mnist_rows": "hidden=8",
    "pollution": "hidden=8 hours=6",
    "stacked": "vocab=20 hidden=12 seq=6",
    "tiny": "seq=1",
    "word_lm": "vocab=50 hidden=16 seq=4",
}
WAYS = ["", "--place auto=2 --chunks 2", "--place auto=4 --chunks 3",
        "--accumulate 2 --kv-store device", "--kv-store local --update-on-kvstore 0",
        "--bucket-bytes 0 --check-replicas 1", "--streams 1",
        "--streams 8 --kv-store device", "--streams 2 --place auto=2 --chunks 3 --kv-store local",
        "--streams 5 --place auto=2 --accumulate 2 --kv-store device --update-on-kvstore 0",
        "--streams 8 --accumulate 2 --bucket-bytes 0"]


class Refused(Exception):
    pass


def call(words, **environment):
    done = subprocess.run([str(w) for w in words], cwd=ROOT, capture_output=True, text=True,
                          env={**os.environ, **environment})
    if done.returncode:
        raise Refused(f"{' '.join(str(w) for w in words)} {environment}: exit {done.returncode}\n"
                      f"{done.stdout}{done.stderr}")
    return done.stdout


def answer(lstmc, name, updates, devices, *flags, seed="0"):
    """The hash of the weights, or of the outputs of a network without a loss."""
    words = [f"samples/{name}.lnet", "-b", "8", "-d", devices, *flags]
    for setting in SAMPLES[name].split():
        words += ["--set", setting]
    with tempfile.TemporaryDirectory() as scratch:
        if name == "cell":
            out = pathlib.Path(scratch, "out.npz")
            call([lstmc, "run", *words, "-i", "data=random:1", "-o", out], LSTMC_EMU_SEED=seed)
            return out.read_bytes().hex()[-400:]
        said = call([lstmc, "train", *words, "--data", "random:1,batches=20",
                     "--after", f"{updates}u", "-o", scratch + "/ck"],
                    LSTMC_EMU_SEED=seed)
        return re.search(r"weights ([0-9a-f]{16})", said)[1]


class Done:
    """The results of this very command so far, in a file beside it."""

    def __init__(self, lstmc):
        self.path = lstmc.parent / "emulated.json"
        self.command = hashlib.sha256(lstmc.read_bytes()).hexdigest()
        kept = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.found = kept["found"] if kept.get("command") == self.command else {}

    def of(self, key, make):
        if key not in self.found:
            self.found[key] = make()
            self.path.write_text(
                json.dumps({"command": self.command, "found": self.found}, indent=1))
        return self.found[key]


def samples(lstmc, done, updates):
    print(f"| sample | at | on 1 to 8 emulated GPUs, {updates} updates |\n|---|---|---|")
    bad = 0
    for name, settings in SAMPLES.items():
        want = done.of(f"{name} {settings} {updates} cpu",
                       lambda: answer(lstmc, name, updates, "cpu"))
        other = [n for n in range(1, 9)
                 if done.of(f"{name} {settings} {updates} "
                            f"{n}", lambda: answer(lstmc, name, updates, f"{n}xemu")) != want]
        bad += len(other)
        shown = "the outputs" if name == "cell" else want
        print(f"| {name} | {settings} | {shown}{f', but not on {other}' if other else ''} |",
              flush=True)
    return bad


def orders(lstmc, done, first, last):
    bad = 0
    for seed in range(first, last + 1):
        way = WAYS[seed % len(WAYS)]
        want = done.of("orders cpu", lambda: answer(lstmc, "char_lm", 5, "cpu"))
        try:
            got = done.of(f"order {seed} {way}", lambda: answer(lstmc, "char_lm", 5, "4xemu",
                                                                *way.split(), seed=str(seed)))
        except Refused as fault:
            got = str(fault)
        if got != want:
            bad += 1
            print(f"LSTMC_EMU_SEED={seed} {way}: {got}, want {want}", flush=True)
    print(f"{last - first + 1} orders, {bad} of them with another end")
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["samples", "orders"])
    parser.add_argument("lstmc", type=pathlib.Path)
    parser.add_argument("--updates", type=int, default=200)
    parser.add_argument("--seeds", default="1..1000")
    args = parser.parse_args()
    lstmc = args.lstmc.resolve()
    done = Done(lstmc)
    if args.what == "samples":
        return samples(lstmc, done, args.updates)
    first, last = args.seeds.split("..")
    return orders(lstmc, done, int(first), int(last))


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
