#!/usr/bin/env python3
"""jobs.py sameness|cost|scale LSTMC [--updates N] [--rounds N]: jobs of several processes.

sameness  1 to 8 ranks, with devices, layers and stores shared out in every way that there is: each has to end with the hash of one process
cost      an update of two ranks of one thread, compared with two devices of one process: 2x LSTM 512, 64 rows, 50 steps
scale     an update of 1 to 8 ranks of a small network, which outnumber the processors
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = ROOT / "docs" / "language.md"
SMALL = ["--set", "hidden=32", "-b", "16", "--set", "seq=16"]
LARGE = ["--set", "hidden=512", "-b", "64", "--set", "seq=50"]


def events(lstmc, ranks, size, updates, flags):
    """What a training reports; `ranks` 0: one process without launch."""
    start = [lstmc, "launch", "-n", str(ranks), "--"] if ranks else [lstmc]
    with tempfile.TemporaryDirectory() as scratch:
        words = [*start, "train", "samples/char_lm.lnet", "--data", f"text:{TEXT}", "--after", f"{updates}u", "--save-every", f"{updates}u",
                 "--disp-every", f"{max(1, updates // 4)}u", "-t", "1", "--format", "jsonl", *size, *flags, "-o", scratch + "/ck"]
        done = subprocess.run([str(w) for w in words], cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]


def mixes(ranks):
    """Flags of a rank. Of devices that share layers there are as many as can be divided."""
    for devices in (1, 2):
        each = ["-d", f"{devices}xcpu"]
        if ranks * devices > 8:
            continue
        yield each
        yield [*each, "--bucket-bytes", "0", "--update-on-kvstore", "0"]
        for store in ("dist_sync", "dist_device_sync"):
            if ranks > 1:
                yield [*each, "--kv-store", store, "--update-on-kvstore", "1", "--bigarray-bound", "1"]
        for stages in (2, 3, 4):
            if ranks * devices % stages == 0:
                yield [*each, "--place", f"auto={stages}", "--chunks", "2"]
        if ranks * devices <= 4:
            yield [*each, "--accumulate", "2"]


def sameness(lstmc, updates):
    """True if every mix ends with the weights of one process."""
    size = [*SMALL, "--set", "layers=4"]
    want = events(lstmc, 0, size, updates, ["-d", "cpu"])[-1]["weights_hash"]
    wrong = tried = 0
    print(f"one process: {want} after {updates} updates")
    for ranks in range(1, 9):
        for flags in mixes(ranks):
            tried += 1
            if (found := events(lstmc, ranks, size, updates, flags)[-1]["weights_hash"]) != want:
                wrong += 1
                print(f"{ranks} ranks, {' '.join(flags)}: {found}", flush=True)
        print(f"{ranks} ranks: {tried} ways so far, {wrong} of them wrong", flush=True)
    return wrong == 0


def update_ms(lstmc, ranks, size, updates, flags):
    """Without the first quarter, while which memory is touched for the first time."""
    at = {e["update"]: e["time_s"] for e in events(lstmc, ranks, size, updates, flags) if e["event"] == "update"}
    first, last = min(at), max(at)
    return 1000 * (at[last] - at[first]) / (last - first)


def cost(lstmc, updates, rounds):
    times = {"2 devices": [], "2 ranks": []}
    for _ in range(rounds):  # in turn, so that both meet the same machine
        times["2 devices"].append(update_ms(lstmc, 0, LARGE, updates, ["-d", "2xcpu"]))
        times["2 ranks"].append(update_ms(lstmc, 2, LARGE, updates, ["-d", "cpu"]))
    devices, ranks = (statistics.median(all) for all in times.values())
    print(f"2 devices {devices:.1f} ms, 2 ranks {ranks:.1f} ms ({100 * (ranks / devices - 1):+.1f} %), medians of {rounds}")
    ratios = sorted(b / a for a, b in zip(*times.values()))
    print("ratios of the rounds: " + " ".join(f"{ratio:.3f}" for ratio in ratios))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("sameness", "cost", "scale"))
    parser.add_argument("lstmc", type=pathlib.Path)
    parser.add_argument("--updates", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    lstmc = args.lstmc.resolve()
    if args.what == "sameness":
        return 0 if sameness(lstmc, args.updates or 200) else 1
    if args.what == "cost":
        cost(lstmc, args.updates or 12, args.rounds)
    else:
        for ranks in range(1, 9):
            times = [update_ms(lstmc, ranks, SMALL, args.updates or 200, ["-d", "cpu"]) for _ in range(args.rounds)]
            print(f"{ranks} ranks: {statistics.median(times):.2f} ms an update", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
