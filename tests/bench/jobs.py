#!/usr/bin/env python3
"""jobs.py sameness|kills|cost|forecast|scale LSTMC [--updates N] [--rounds N] [--kills N] [--tcp]:
jobs of several processes.

sameness  1 to 8 ranks; devices, layers, chunks, stores, threads and parts are combined so that
          every pair of choices occurs in a job. Each must end with the hash of one process. Results
          are stored beside LSTMC, and the same call continues from them
kills     ranks killed at --kills (200) random updates, 2 to 8 ranks (tests/ranks/kills.py): each
          job must end as one without losses, and train again within 10 s. Continues as sameness
          does
cost      an update of two ranks of one thread, compared with two devices of one process: 2x LSTM
          512, 64 rows, 50 steps. With --tcp ranks exchange messages by TCP over the loopback, as
          between hosts, instead of by shared memory
forecast  an update of that net, forecast and measured, of 2 and of 4 ranks; exit 1 if more than
          half of those of 2 are off by more than 20 %
scale     an update of 1 to 8 ranks of a small network, more ranks than processors
"""
import argparse
import hashlib
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = ROOT / "docs" / "language.md"
# Small, with three kinds of layers: there are more ranks than processors.
NET = """\
N, T = dim("batch", 16), dim("seq", 8)

def net(data: int32[N, T], label: int32[N, T]):
    x = Embedding(SwapAxis(data, dim1=0, dim2=1), input_dim=setting("vocab", 80), output_dim=12, name="embed")
%s
    y = FullyConnected(x, num_hidden=setting("vocab", 80), flatten=False, name="decoder")
    return SoftmaxOutput(y, SwapAxis(label, dim1=0, dim2=1), preserve_shape=True, normalization="valid")

fit(net, optimizer="%s", learning_rate=0.01, clip_gradient_norm=%s, initializer=Uniform(0.1), carry=["rnn*"])
"""
NETS = {
    "lstm": NET % ('    x, h, c = LSTM(x, num_hidden=16, num_layers=4, name="rnn")', "adam", "1.0"),
    "gru": NET
    % ('    x, h = GRU(Dropout(x, p=0.2), num_hidden=20, num_layers=4, p=0.1, name="rnn")',
       "rmsprop", "2.0"),
    "mixed": NET % ('    x, h = RNNLayer(x, num_hidden=17, num_layers=2, name="rnn0")\n    x, h, c '
                    '= LSTM(x, num_hidden=9, num_layers=2, name="rnn1")', "nadam", "0.5"),
}
SMALL = ["--set", "hidden=32", "-b", "16", "--set", "seq=16"]
LARGE = ["--set", "hidden=512", "-b", "64", "--set", "seq=50"]


# A wrapper of mpirun: ranks neither share memory nor read each other's, as if each had its own
# host.
BY_TCP = """\
#!/bin/bash
for word; do [ "$word" = cma ] && word=none; words+=("${word/#self,vader,tcp/self,tcp}"); done
exec %s "${words[@]}"
"""


def events(lstmc, ranks, net, size, updates, flags):
    """The events of a training; `ranks` 0: one process without launch."""
    start = [lstmc, "launch", "-n", str(ranks), "--"] if ranks else [lstmc]
    with tempfile.TemporaryDirectory() as scratch:
        words = [*start, "train", net, "--data", f"text:{TEXT},valid=0", "--after", f"{updates}u",
                 "--save-every", f"{updates}u",
                 "--disp-every", f"{max(1, updates // 4)}u", "--format", "jsonl", *size, *flags,
                 "-o", scratch + "/ck"]
        # in its own session, as the ranks of a job are: the kernel divides processors among
        # sessions
        done = subprocess.run([str(w) for w in words], cwd=ROOT, capture_output=True, text=True,
                              start_new_session=True)
        if done.returncode:
            raise SystemExit(f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]


# The factors of a job. Stages divide the layers of a replica; chunks divide its steps.
FACTORS = {
    "ranks": range(1, 9),
    "devices": (1, 2, 3, 4),
    "stages": (1, 2, 3, 4),
    "chunks": (1, 2, 4),
    "store": ("local", "local 0", "device", "device 0", "dist_sync", "dist_device_sync 1",
              "dist_async"),
    "threads": (1, 2, 3),
    "accumulate": (1, 2),
    "buckets": ("65536", "0"),
    "net": tuple(NETS),
}


def possible(job):
    """Whether some job has these choices."""
    ranks, devices, stages = (job.get(name, 1) for name in ("ranks", "devices", "stages"))
    if ranks * devices > 8 or "ranks" in job and "devices" in job and ranks * devices % stages:
        return False
    if (job.get("chunks", 1) > 1 and job.get("stages") == 1
        or job.get("store", "").startswith("dist") and job.get("ranks") == 1):
        return False
    # A worker of dist_async has its own replicas.
    return job.get("store") != "dist_async" or "devices" not in job or devices % stages == 0


def completed(job):
    """The choices completed for all factors; none if there is no such job."""
    name = next((name for name in FACTORS if name not in job), None)
    if name is None:
        return job
    return next((whole for value in FACTORS[name]
                 if possible({**job, name: value}) and (whole := completed({**job, name: value}))),
                None)


def covering(draw):
    """Jobs that cover each possible pair of choices: greedily, the best of some drawn ones each
    time."""
    pairs = {((a, x), (b, y)) for a, b in itertools.combinations(FACTORS, 2) for x in FACTORS[a]
             for y in FACTORS[b] if completed({a: x, b: y})}
    in_job = lambda job: set(itertools.combinations(job.items(), 2))
    while pairs:
        best = None
        for _ in range(40):
            job = dict(draw.choice(sorted(pairs, key=str)))
            for name in draw.sample(list(FACTORS), len(FACTORS)):
                values = [value for value in FACTORS[name]
                          if possible({**job, name: value}) and completed({**job, name: value})]
                job.setdefault(name, draw.choice(values) if name not in job else None)
            job = {name: job[name] for name in FACTORS}
            if best is None or len(in_job(job) & pairs) > len(in_job(best) & pairs):
                best = job
        pairs -= in_job(best)
        yield best


def flags_of(job):
    store, _, update = job["store"].partition(" ")
    words = ["-d", f"{job['devices']}xcpu", "-t", str(job["threads"]), "--kv-store", store,
             "--accumulate", str(job["accumulate"]), "--bucket-bytes", job["buckets"]]
    if store == "dist_async":
        words += ["--staleness", "0"]
    if update:
        words += ["--update-on-kvstore", update]
        words += ["--bigarray-bound", "1"] if update == "1" else []
    if job["stages"] > 1:
        words += ["--place", f"auto={job['stages']}", "--chunks", str(job["chunks"])]
    return words


def sameness(lstmc, updates, kept_file):
    """True if every job ends with the weights of one process. Results of this command are stored
    and not computed again."""
    build = hashlib.sha256(lstmc.read_bytes()).hexdigest()
    kept = json.loads(kept_file.read_text()) if kept_file.exists() else {}
    if kept.get("build") != build or kept.get("updates") != updates:
        kept = {"build": build, "updates": updates, "one": {}, "jobs": {}}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in NETS.items():
            (pathlib.Path(folder) / f"{name}.lnet").write_text(text)
            if name not in kept["one"]:
                kept["one"][name] = events(lstmc, 0, f"{folder}/{name}.lnet", [], updates,
                                           ["-d", "cpu", "-t", "1"])[-1]["weights_hash"]
        print("one process: " + ", ".join(f"{name} {found}" for name, found in kept["one"].items()),
              flush=True)
        jobs = list(covering(random.Random(16)))
        wrong = 0
        for number, job in enumerate(jobs):
            key = " ".join(f"{name}={value}" for name, value in job.items())
            if key not in kept["jobs"]:
                kept["jobs"][key] = events(lstmc, job["ranks"], f"{folder}/{job['net']}.lnet", [],
                                           updates, flags_of(job))[-1]["weights_hash"]
                kept_file.write_text(json.dumps(kept, indent=1) + "\n")
            right = kept["jobs"][key] == kept["one"][job["net"]]
            wrong += not right
            print(f"{number + 1} of {len(jobs)}: {key}: {'right' if right else kept['jobs'][key]}",
                  flush=True)
    print(f"{len(jobs)} jobs, which have every possible pair of choices: {wrong} wrong")
    return wrong == 0


def update_ms(lstmc, ranks, size, updates, flags):
    """Milliseconds per update, without the first quarter, in which memory is touched for the first
    time."""
    at = {e["update"]: e["time_s"]
          for e in events(lstmc, ranks, "samples/char_lm.lnet", size, updates, ["-t", "1", *flags])
          if e["event"] == "update"}
    first, last = min(at), max(at)
    return 1000 * (at[last] - at[first]) / (last - first)


def exchange_by_tcp(folder):
    """Makes all further ranks of this process exchange messages by TCP."""
    script = pathlib.Path(folder) / "mpirun"
    script.write_text(BY_TCP % shutil.which("mpirun"))
    script.chmod(0o755)
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"


def forecast(lstmc, updates, rounds):
    """True if ranks with a processor each take the forecast time."""
    wrong = 0
    for ranks in (2, 4):
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as scratch:
                words = [lstmc, "launch", "-n", str(ranks), "--", "train", "samples/char_lm.lnet",
                         "--data", f"text:{TEXT},valid=0", "--after", f"{updates}u", "-t", "1",
                         *LARGE, "-o", scratch + "/ck"]
                done = subprocess.run([str(w) for w in words], cwd=ROOT, capture_output=True,
                                      text=True, start_new_session=True, check=True)
            found = re.search(r"forecast  update ([\d.]+ \S+), measured ([\d.]+ \S+) "
                              r"\(([+-]\d+) %\)", done.stderr)
            wrong += ranks == 2 and abs(int(found[3])) > 20
            print(f"{ranks} ranks: forecast {found[1]}, measured {found[2]} ({found[3]} %)",
                  flush=True)
    return 2 * wrong <= rounds


def cost(lstmc, updates, rounds):
    times = {"2 devices": [], "2 ranks": []}
    for _ in range(rounds):  # in turn, so that both see the same load
        times["2 devices"].append(update_ms(lstmc, 0, LARGE, updates, ["-d", "2xcpu"]))
        times["2 ranks"].append(update_ms(lstmc, 2, LARGE, updates, ["-d", "cpu"]))
    devices, ranks = (statistics.median(all) for all in times.values())
    print(f"2 devices {devices:.1f} ms, 2 ranks {ranks:.1f} ms ({100 * (ranks / devices - 1):+.1f} "
          f"%), medians of {rounds}")
    ratios = sorted(b / a for a, b in zip(*times.values()))
    print("ratios of the rounds: " + " ".join(f"{ratio:.3f}" for ratio in ratios))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("sameness", "kills", "cost", "forecast", "scale"))
    parser.add_argument("lstmc", type=pathlib.Path)
    parser.add_argument("--updates", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--tcp", action="store_true")
    args = parser.parse_args()
    lstmc = args.lstmc.absolute()
    if args.what == "kills":
        return subprocess.run([sys.executable, "-B", ROOT / "tests/ranks/kills.py", lstmc,
                               str(args.kills), "--within", "10",
                               "--kept", lstmc.with_name("jobs-kills.json")]).returncode
    if args.what == "sameness":
        return (0 if sameness(lstmc, args.updates or 200, lstmc.with_name("jobs-sameness.json"))
                else 1)
    if args.what == "forecast":
        return 0 if forecast(lstmc, args.updates or 30, args.rounds) else 1
    if args.what == "cost":
        with tempfile.TemporaryDirectory() as folder:
            if args.tcp:
                exchange_by_tcp(folder)
            cost(lstmc, args.updates or 12, args.rounds)
    else:
        for ranks in range(1, 9):
            times = [update_ms(lstmc, ranks, SMALL, args.updates or 200, ["-d", "cpu"])
                     for _ in range(args.rounds)]
            print(f"{ranks} ranks: {statistics.median(times):.2f} ms an update", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
