#!/usr/bin/env python3
"""Benchmarks: `./dev bench [NAME] [--json] [--only REGEX] [--seconds S] [--rounds N] [--threads N]
[--results FILE]`.

peers       every cell of cells.json on lstmc, PyTorch, ONNX Runtime and JAX, interleaved in one
            run; with --before CELLS also on another build's tests/bench/cells: the last column is
            its time over this build's, above 1 this build is faster
devices     deep.lnet on two devices of one thread, compared with one device: the batch divided, and
            the layers divided
fuzz        every fuzz program for --executions (10^6) more inputs, or for --for SECONDS over all;
            corpus and count are kept in build-fuzz/corpus, so that calls add up; --only names
            programs; exit 1 if one finds anything
sync        what keeping replicas equal costs: a step of two devices, compared with two independent
            steps of half the batch
forecast    forecast compared with measured time: nets of 20 us to 1 ms, sequence lengths, short
            chunks (forecast.py); exit 1 if one is off by 20 %
schedules   small networks on several devices, trained under --schedules (1,000) random ones each;
            exit 1 if bits differ
replicas    what --check-replicas costs in an update of 2x LSTM 512 on two devices; exit 1 unless
            each of 1,000 flipped bits is found
kills       trainings killed --kills (1,000) times at random instants, counted in build/kills.json;
            exit 1 unless each ends as one that was not killed
tsan        several devices, watchdog, checkpoints and threads of C programs under ThreadSanitizer,
            built in build-tsan (long); exit 1 if it reports anything
python      the Python module's tests of threads, memory and files with more cases: 10^4 shapes,
            5,000 changes of each file, 2,000 answers a thread
torch       modules of PyTorch through lstmc.from_torch: the tests of it, then files, start, memory
            and speed of both; with --seeds A..B modules made at random, and nothing else; exit 1 if
            one differs
keras       models of Keras itself through `import --as keras-..`, both sides within the bound of
            the equations (keras_models.py)
roads       every optimizer of the table with every setting by every way of training (Network,
            Module, loops of one's own, C, C++, the command, a job of two processes); with --seeds
            A..B networks, data and keys drawn at random instead, and trainings that carry states,
            compared with NumPy's; exit 1 unless all ways of a setting end with one hash
mxnet       all ops, checkpoints of fused cells, and the nets of --seeds (1..500), made at random,
            in files between lstmc and MXNet 1.9.1, which it installs (mxnet_nets.py); exit 1 if one
            is not loaded or differs
sameness    every mix of devices, layers, chunks, stores and threads, for every network of
            tests/e2e, with `--as ranks` on devices of 2 to 8 ranks; exit 1 unless each network has
            one hash; --cases DIR: for every .lnet file of a folder, on 1 to 8 devices, with
            --accumulate 2 and 4, layers and stores; of emulated GPUs: `emulated samples`
jobs        `jobs sameness`, `jobs kills`, `jobs cost [--tcp]`, `jobs forecast`, `jobs scale`: the
            same with 1 to 8 ranks; ranks killed at random updates; what ranks cost, and whether it
            was foretold (jobs.py)
emulated    samples|orders: trainings on 1 to 8 emulated GPUs, and in the orders of their streams
            that --seeds draw, compared with a cpu (emulated.py); exit 1 if one ends otherwise
nets        random nets and their judges (tests/nets) for --seeds A..B; skips the seeds that
            build/nets/done has; exit 1 if one finds anything
numbers     integers against Python's, over 10^4 of each operator and type, and functions within 4
            ULP over all exponents, as often as --seeds names numbers (by default 20); exit 1 if one
            differs
pictures    draws samples, opens them in Chromium and points at every layer; build/pictures keeps
            what it saw; exit 1 if texts are cut off or cover one another, or a layer does not light
            up
faults      after how many random nets each fault of tests/faults is found; exit 1 if one is not
mutants     --mutants (200) single changes of the check of packages and of checkpoints, each to be
            found by the tests (mutants.py); exit 1 below 90 %
wheels      the tests of the Python package against each wheel in build/wheels, in new environments
            (wheels.py); exit 1 if one fails
bare        `./dev demo` and `./dev test` in a minimal Debian 12 that debootstrap makes (an hour, as
            root; bare.py); exit 1 if one fails
folder      lstmc as a folder of another project with all it has, built once more
            (tests/consumer/test_folder.py); exit 1 if something is wrong
all others are programs in this folder; `./dev bench list` names them

A ratio is the best peer's median time over lstmc's: above 1, lstmc is faster. limit_fraction is the
time that this machine's arithmetic and memory would need at least (cells.cpp says how it is
measured), over lstmc's time.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import venv

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
PEERS = ("torch", "ort", "jax")


class Worker:
    """A worker program that answers each line of JSON with a line of JSON."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("%s died on %s" % (self.process.args, request))
        return json.loads(line)

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def peer_python():
    """A Python with the peers, in its own virtual environment."""
    folder = root / ".venv-bench"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        print("installing the peers from PyPI", file=sys.stderr)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", here / "peers.lock"],
                       check=True)
        (folder / "ready").touch()
    return str(python)


def mxnet_python():
    """A Python with MXNet 1.9.1, which needs NumPy before 1.24 and so Python 3.8 to 3.11; it must
    be the Python of build/python."""
    import sysconfig

    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    if not (root / f"build/python/lstmc/_core{suffix}").exists() or sys.version_info >= (3, 12):
        raise SystemExit("mxnet: wants Python 3.8 to 3.11 and a build/python for it; this is "
                         f"{sys.version.split()[0]}, want _core{suffix} there")
    folder = root / ".venv-mxnet"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        print("installing MXNet from PyPI", file=sys.stderr)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "mxnet==1.9.1", "numpy==1.23.5"],
                       check=True)
        (folder / "ready").touch()
    return str(python)


def cells(only):
    table = json.loads((here / "cells.json").read_text())
    for name, shape in table.items():
        kinds = (("stream",) if shape[0] == 1 else ("train",) if name == "char-lm"
                 else ("infer", "train"))
        for what in kinds:
            if re.search(only, "%s/%s" % (name, what)):
                yield name, what, shape


def peers(args):
    python = peer_python()
    workers = {peer: Worker(python, str(here / "peer.py"), peer, str(args.threads))
               for peer in PEERS}
    programs = {"lstmc": root / "build/tests/bench/cells"}
    if args.before:
        programs["before"] = pathlib.Path(args.before)
    for name, program in programs.items():
        workers[name] = Worker(str(program), str(args.threads), str(root / "samples"))
    rows = []
    for cell, what, shape in cells(args.only):
        rounds, limit = {}, None
        for _ in range(args.rounds):
            for name, worker in workers.items():
                answer = worker.ask(cell=cell, what=what, shape=shape,
                                    seconds=args.seconds / args.rounds)
                if answer["times_ms"]:
                    rounds.setdefault(name, []).append(answer["times_ms"])
                limit = answer.get("limit_ms", limit)
        rows.append({"cell": cell, "what": what, "limit_ms": round(limit, 5),
                     "programs": {name: measured(times) for name, times in rounds.items()}})
        if not args.json:
            print(shown(rows[-1]), flush=True)
    for worker in workers.values():
        worker.stop()
    return {"schema": "lstmc.bench.peers/2", "machine": machine(),
            "date": time.strftime("%Y-%m-%d"), "commit": commit(), "threads": args.threads,
            "rounds": args.rounds, "seconds": args.seconds, "peers": pinned(), "cells": rows}


def measured(rounds):
    """Statistics of one program's times in each round: the median of all, the median of their
    distances from it, their number, and the median of each round."""
    times = [value for values in rounds for value in values]
    median = statistics.median(times)
    return {"median_ms": round(median, 5),
            "deviation_ms": round(statistics.median(abs(value - median) for value in times), 5),
            "runs": len(times),
            "rounds_ms": [round(statistics.median(values), 5) for values in rounds]}


def shown(row):
    """A row of the table that `peers` prints."""
    medians = {name: program["median_ms"] for name, program in row["programs"].items()}
    ours = medians.pop("lstmc")
    before = f" {medians.pop('before') / ours:6.3f} |" if "before" in medians else ""
    best = min(medians, key=medians.get)
    return (f"| {row['cell']:18} | {row['what']:6} | {ours:10.4f} | {best:5} | "
            f"{medians[best]:10.4f} | {medians[best] / ours:6.2f} | "
            f"{row['limit_ms'] / ours:5.2f} |{before}")


def commit():
    """The commit that is measured."""
    def git(*words):
        return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True,
                              check=True).stdout.strip()
    return (git("rev-parse", "--short", "HEAD")
            + (" with changes" if git("status", "--porcelain", "--untracked-files=no") else ""))


def pinned():
    """The versions in peers.lock."""
    return dict(re.findall(r"^([\w-]+)==(\S+)$", (here / "peers.lock").read_text(), re.M))


def machine():
    """The machine in the form of RESULTS.md's headings."""
    text = pathlib.Path("/proc/cpuinfo").read_text()
    flags = set(re.search(r"^flags\s*: (.*)$", text, re.M)[1].split())
    level = "AVX-512" if "avx512f" in flags else "AVX2"
    return (f"{re.search(r'^model name.*: (.*)$', text, re.M)[1]} ({level}), "
            f"{os.cpu_count()} virtual cores")


# Measurements on several devices: flags for all, entries, and flags for two devices with the upper
# bound of the speed-up by the second.
SEVERAL = {
    "batch shared out, 2 x LSTM 512, N 64, T 50":
    (["--set", "layers=2", "--set", "seq=50", "-b", "64"], ["step"], {"2xcpu": 2.0}),
    "layers shared out, 4 x LSTM 512, N 8, T 64": (
        [], ["forward", "step"],
        {f"2xcpu --place auto=2 --chunks {chunks}": 2 * chunks / (1 + chunks)
         for chunks in (4, 8, 16)}),
}


def start(shape, entry, threads, flags, repeats=8):
    """Starts `lstmc bench` of deep.lnet."""
    return subprocess.Popen([root / "build/lstmc", "bench", root / "tests/bench/deep.lnet",
                             "--entry", entry, "--json", "-r", str(repeats),
                             "-t", str(threads), *shape, "-d", *flags.split()],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def finish(process):
    """The median time of that run, in seconds."""
    text, _ = process.communicate()
    if process.returncode:
        raise SystemExit("%s failed" % process.args)
    return json.loads(text)["cells"][0]["median_s"]


def sync(rounds):
    """The cost of equal replicas: a step of two devices, divided by two steps of half the batch in
    independent processes."""
    shape = SEVERAL["batch shared out, 2 x LSTM 512, N 64, T 50"][0]
    half = [*shape[:-1], "32"]
    cases = ["", "--bucket-bytes 0", "--update-on-kvstore 0",
             "--kv-store device", "--kv-store device --bigarray-bound 0"]
    times = {case: [] for case in ("apart", *cases)}
    for _ in range(rounds):
        apart = [start(half, "step", 1, "cpu", 10) for _ in range(2)]
        times["apart"].append(max(finish(process) for process in apart))
        for case in cases:
            times[case].append(finish(start(shape, "step", 1, "2xcpu " + case, 10)))
    median = {case: statistics.median(values) for case, values in times.items()}
    print("| step of N 64 on two devices | ms | over two of N 32 apart, %.1f ms |\n|---|---|---|"
          % (1000 * median["apart"]))
    for case in cases:
        print("| `-d 2xcpu %s` | %.1f | %+.1f %% |" % (case, 1000 * median[case],
                                                       100 * (median[case] / median["apart"] - 1)),
              flush=True)


def devices(rounds):
    """Compares two devices in turn with one device of one thread and of two. The bound of a
    wavefront is stages x chunks / (stages + chunks - 1)."""
    def seconds(shape, entry, threads, flags):
        return finish(start(shape, entry, threads, flags))

    print("| what | entry | devices x threads | ms | over 1 x 1 | of the bound | over 1 x 2 |\n"
          "|---|---|---|---|---|---|---|")
    for name, (shape, entries, several) in SEVERAL.items():
        for entry in entries:
            cases = [("cpu", 1), ("cpu", 2), *((flags, 1) for flags in several)]
            times = {case: [] for case in cases}
            for _ in range(rounds):
                for case in cases:
                    times[case].append(seconds(shape, entry, case[1], case[0]))
            median = {case: statistics.median(values) for case, values in times.items()}
            for flags, threads in cases:
                ours = median[flags, threads]
                gain = median["cpu", 1] / ours
                bound = f"{gain / several[flags]:.2f}" if flags in several else "-"
                print(f"| {name} | {entry} | {flags} x {threads} | {1000 * ours:.1f} | {gain:.2f} "
                      f"| {bound} | {median['cpu', 2] / ours:.2f} |", flush=True)


# Required for a release: inputs over all loaders, and packages that passed the check and were run
# by the kernels.
FUZZ_INPUTS, FUZZ_PACKAGES_RUN = 10**8, 10**6


def fuzz(executions, seconds, only):
    """Runs each fuzz program for this many more inputs, or until `seconds` have passed over all.
    True if none found anything.

    Continues where it stopped: the corpus is kept in build-fuzz/corpus, and the counts in
    progress.json beside it, program by program, after every slice."""
    programs = sorted([*(root / "build-fuzz/tests/fuzz").glob("fuzz_*"),
                       root / "build/tests/fuzz/fuzz_lnet"])
    programs = [p for p in programs
                if p.is_file() and p.name != "fuzz_make_seeds" and re.search(only, p.name)]
    for folder in ("build-fuzz", "build"):
        subprocess.run(["ctest", "--test-dir", root / folder, "-R", "fuzz.seeds"], check=False,
                       capture_output=True)
    folder = root / "build-fuzz" / "corpus"
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "progress.json"
    progress = json.loads(kept.read_text()) if kept.exists() else {}
    begin, clean = time.monotonic(), True
    left = {program.name: executions for program in programs}
    while clean and any(left.values()) and (not seconds or time.monotonic() - begin < seconds):
        for program in programs:
            if not left[program.name]:
                continue
            rest = seconds - (time.monotonic() - begin) if seconds else 600
            found = fuzz_slice(program, min(left[program.name], 100_000),
                               max(1, int(min(rest, 60))), progress)
            clean &= not found
            kept.write_text(json.dumps(progress, indent=1))
            if found:
                print(found, file=sys.stderr)
            left[program.name] = max(0, left[program.name] - progress[program.name]["last"])
            if seconds and time.monotonic() - begin >= seconds:
                break
    print("| fuzz program | inputs so far | packages run | seconds | found |\n"
          "|---|---|---|---|---|")
    for name, done in sorted(progress.items()):
        print(f"| {name.removeprefix('fuzz_')} | {done['inputs']:,} | {done['run'] or '-'} | "
              f"{done['seconds']:.0f} | {done['found'] or 'nothing'} |")
    inputs, run = (sum(done[key] for done in progress.values()) for key in ("inputs", "run"))
    print(f"{inputs:,} of {FUZZ_INPUTS:,} inputs, {run:,} of {FUZZ_PACKAGES_RUN:,} packages run",
          flush=True)
    return clean


def nets(seeds):
    """Runs random nets for the seeds of this range that are not done yet. True if nothing was
    found."""
    folder = root / "build/nets"
    folder.mkdir(exist_ok=True)
    return subprocess.run([root / "build/tests/nets/nets", "--seeds", seeds,
                           "--done", folder / "done", "--found", folder / "found"],
                          cwd=folder).returncode == 0


def fuzz_slice(program, executions, seconds, progress):
    """One call of a fuzz program; returns its finding in words, or nothing."""
    corpus = root / "build-fuzz" / "corpus" / program.name.removeprefix("fuzz_")
    corpus.mkdir(exist_ok=True)
    count = corpus.parent / "count"
    count.unlink(missing_ok=True)
    begin = time.monotonic()
    call = subprocess.run(
        [program, f"-runs={executions}", f"-max_total_time={seconds}", "-max_len=4096",
         "-len_control=0" if program.name == "fuzz_package" else "-len_control=100", "-timeout=60",
         "-rss_limit_mb=2048",
         "-print_final_stats=1", f"-artifact_prefix={corpus.parent}/found-{corpus.name}-", corpus,
         program.parent / "seeds" / corpus.name],
        capture_output=True, text=True, errors="replace",
        env={**os.environ, "LSTMC_FUZZ_COUNT": str(count)})
    done = progress.setdefault(program.name, {"inputs": 0, "run": 0, "seconds": 0, "found": 0})
    inputs = re.search(r"number_of_executed_units: (\d+)", call.stderr)
    done["last"] = int(inputs[1]) if inputs else executions
    done["inputs"] += int(inputs[1]) if inputs else 0
    done["run"] += (sum(int(line.split()[1]) for line in count.read_text().splitlines())
                    if count.exists() else 0)
    done["seconds"] += time.monotonic() - begin
    done["found"] += call.returncode != 0
    return call.stderr[-3000:] if call.returncode else ""


def tsan():
    """Runs our programs with several threads under ThreadSanitizer, without suppressions. True if
    it reported nothing."""
    programs = {"test_session": "executor/session", "test_ranks": "executor/ranks",
                "test_device": "executor/device", "test_training": "executor/training",
                "test_c_interface": "executor/c", "test_cpp_interface": "executor/c",
                "devices_test": "e2e"}
    if not (root / "build-tsan/build.ninja").exists():
        subprocess.run(["cmake", "--preset", "tsan"], cwd=root, check=True,
                       stdout=subprocess.DEVNULL)
    subprocess.run(
        ["cmake", "--build", "--preset", "tsan", *("--target=" + name for name in programs)],
        cwd=root, check=True)
    clean = True
    print("| program | seconds | reports |\n|---|---|---|")
    for name, folder in programs.items():
        begin = time.monotonic()
        done = subprocess.run([root / "build-tsan/tests" / folder / name, "--gtest_brief=1"],
                              capture_output=True, text=True, errors="replace")
        reports = done.stderr.count("WARNING: ThreadSanitizer")
        print(f"| {name} | {time.monotonic() - begin:.0f} | {reports} |", flush=True)
        if done.returncode:
            print(done.stdout[-2000:] + done.stderr[-4000:], file=sys.stderr)
        clean &= done.returncode == 0
    return clean


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", default="peers")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--before", metavar="CELLS", help="the program tests/bench/cells of "
                                                          "another build, measured in the same run")
    parser.add_argument("--results", metavar="FILE", nargs="?", const="",
                        help="keep what `peers` (in FILE) or `torch` measured, for results.py")
    parser.add_argument("--seconds", type=float, default=0.9)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--executions", type=int, default=1_000_000)
    parser.add_argument("--for", dest="limit", type=float, default=0)
    parser.add_argument("--schedules", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--seeds", default="1..2000")
    args, rest = parser.parse_known_args()
    programs = sorted(p.name for p in (root / "build" / "tests" / "bench").glob("*")
                      if p.is_file() and p.stat().st_mode & 0o100)
    if args.name == "peers":
        if not args.json:
            heads = (["cell", "what", "lstmc ms", "best peer", "peer ms", "ratio", "of limit"]
                     + ["before"] * bool(args.before))
            print("| %s |\n|%s" % (" | ".join(heads), "---|" * len(heads)))
        result = peers(args)
        if args.results:
            pathlib.Path(args.results).write_text(json.dumps(result, indent=1) + "\n")
        if args.json:
            print(json.dumps(result))
    elif args.name == "devices":
        devices(args.rounds)
    elif args.name == "sync":
        sync(args.rounds)
    elif args.name == "fuzz":
        raise SystemExit(0 if fuzz(args.executions, args.limit, args.only) else 1)
    elif args.name == "python":
        more = {"LSTMC_SHAPES": "10000", "LSTMC_MUTATIONS": "5000",
                "LSTMC_SEED": str(int(time.time())), "LSTMC_ROUNDS": "2000"}
        environment = {**os.environ, **more, "PYTHONPATH": str(root / "build/python"),
                       "LSTMC": str(root / "build/lstmc"), "LSTMC_SOURCE": str(root)}
        python = root / "build/python-venv/bin/python"
        cases = {"test_threads.py": [], "test_eager.py": ["Memory"],
                 "test_mxnet_files.py": ["Strangers"]}
        ended = [subprocess.run([python if python.exists() else sys.executable, "-B",
                                 root / "tests/frontend/python" / name, *only],
                                env=environment).returncode for name, only in cases.items()]
        raise SystemExit(1 if any(ended) else 0)
    elif args.name == "torch":
        environment = {**os.environ, "PYTHONPATH": str(root / "build/python"),
                       "LSTMC": str(root / "build/lstmc")}
        python = peer_python()
        if "--seeds" in sys.argv:
            modules = root / "tests/frontend/python/torch_nets.py"
            raise SystemExit(subprocess.run([python, "-B", modules, *args.seeds.split("..")],
                                            env=environment).returncode)
        subprocess.run([python, "-B", root / "tests/frontend/python/test_torch.py"],
                       env=environment, check=True)
        raise SystemExit(
            subprocess.run([python, "-B", here / "deploy.py", root / "build/executor/run/lstmc-run",
                            *["--results"] * ("--results" in sys.argv)],
                           env=environment).returncode)
    elif args.name == "cases":
        environment = {**os.environ, "LSTMC": str(root / "build/lstmc"), "LSTMC_SOURCE": str(root),
                       "LSTMC_BUILD": str(root / "build"), "LSTMC_PEER_PYTHON": peer_python(),
                       "LSTMC_PYTHON": str(root / "build/python-venv/bin/python")}
        raise SystemExit(max(subprocess.run([sys.executable, "-B", test],
                                            env=environment).returncode
                             for test in sorted((root / "tests/cases").glob("test_*.py"))))
    elif args.name == "mxnet":
        environment = {**os.environ, "PYTHONPATH": str(root / "build/python")}
        seeds = args.seeds if "--seeds" in sys.argv else "1..500"
        raise SystemExit(subprocess.run([mxnet_python(), "-B", here / "mxnet_nets.py",
                                         *seeds.split("..")], env=environment).returncode)
    elif args.name == "keras":
        python = peer_python()
        # with the peers' PyTorch
        subprocess.run(
            [python, "-m", "pip", "install", "-q", "keras==3.15.1", "safetensors==0.8.0"],
            check=True)
        environment = {**os.environ, "PYTHONPATH": str(root / "build/python"),
                       "LSTMC": str(root / "build/lstmc")}
        raise SystemExit(
            subprocess.run([python, "-B", here / "keras_models.py"], env=environment).returncode)
    elif args.name == "roads":
        environment = {**os.environ, "PYTHONPATH": str(root / "build/python"),
                       "LSTMC": str(root / "build/lstmc"), "LSTMC_SOURCE": str(root),
                       "LSTMC_RUNTIME_LIBRARY": str(root / "build/executor/c/liblstmc.so"),
                       "LSTMC_CPP_ROAD": str(root / "build/tests/frontend/bind/cpp_road")}
        python = root / "build/python-venv/bin/python"
        drawn = "--seeds" in sys.argv
        raise SystemExit(max(
            subprocess.run([python if python.exists() else sys.executable, "-B",
                            root / f"tests/frontend/python/test_{test}.py",
                            *(["--seeds", args.seeds] if drawn else ["--all"])],
                           env=environment).returncode
            for test in (["roads", "carry"] if drawn else ["roads"])))
    elif args.name == "faults":
        raise SystemExit(subprocess.run([sys.executable, root / "tests/faults/faults.py", root,
                                         "--only", args.only]).returncode)
    elif args.name == "pictures":
        raise SystemExit(
            subprocess.run([sys.executable, "-B", here / "pictures.py", root / "build/lstmc", root,
                            root / "build/pictures"]).returncode)
    elif args.name == "mutants":
        raise SystemExit(
            subprocess.run([sys.executable, "-B", here / "mutants.py", root,
                            f"--mutants={args.mutants}", f"--only={args.only}"]).returncode)
    elif args.name == "nets":
        raise SystemExit(0 if nets(args.seeds) else 1)
    elif args.name == "numbers":
        first, last = map(int, args.seeds.split("..")) if "--seeds" in sys.argv else (1, 20)
        environment = {**os.environ, "LSTMC": str(root / "build/lstmc"), "LSTMC_SOURCE": str(root),
                       "LSTMC_NUMBERS": f"{first}..{last}"}
        python = root / "build/python-venv/bin/python"
        tests = [[sys.executable, "-B", root / "tests/frontend/cli/test_integers.py"],
                 [python, "-B", root / "tests/frontend/python/test_accuracy.py"]]
        raise SystemExit(max(subprocess.run(test, env=environment).returncode for test in tests))
    elif args.name == "forecast":
        raise SystemExit(
            subprocess.run([sys.executable, "-B", here / "forecast.py", root / "build/lstmc", root,
                            f"--rounds={args.rounds}", *rest]).returncode)
    elif args.name == "schedules":
        folder = root / "build/tests/executor/schedules"
        raise SystemExit(
            subprocess.run([sys.executable, root / "tests/executor/schedules/schedules.py",
                            root / "build/lstmc",
                            folder / "schedules", root, str(args.schedules)]).returncode)
    elif args.name == "kills":
        raise SystemExit(subprocess.run([sys.executable, "-B", root / "tests/e2e/kills.py",
                                         root / "build/lstmc", str(args.kills),
                                         "--state", root / "build/kills.json"]).returncode)
    elif args.name == "emulated":
        raise SystemExit(subprocess.run([sys.executable, "-B", here / "emulated.py", *rest[:1],
                                         root / "build/frontend/cli/lstmc", *rest[1:],
                                         *(["--seeds", args.seeds] if "--seeds" in sys.argv
                                           else [])]).returncode)
    elif args.name == "jobs":
        raise SystemExit(subprocess.run(
            [sys.executable, "-B", here / "jobs.py", *rest[:1], root / "build/lstmc", *rest[1:],
             *(["--kills", str(args.kills)] if "--kills" in sys.argv else [])]).returncode)
    elif args.name == "wheels":
        raise SystemExit(subprocess.run([sys.executable, "-B", here / "wheels.py", root / "build",
                                         root, f"--only={args.only}"]).returncode)
    elif args.name == "bare":
        raise SystemExit(subprocess.run([sys.executable, "-B", here / "bare.py", *rest]).returncode)
    elif args.name == "folder":
        raise SystemExit(
            subprocess.run([sys.executable, "-B", root / "tests/consumer/test_folder.py",
                            root / "build", root, "--compiler"]).returncode)
    elif args.name == "tsan":
        raise SystemExit(0 if tsan() else 1)
    elif args.name == "replicas":
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder) / "char_lm.lstmc"
            subprocess.run([root / "build/lstmc", "compile", root / "samples/char_lm.lnet",
                            "-d", "2xcpu", "--set", "hidden=512", "--set", "vocab=65",
                            "--shape", "data=64x50", "--entry", "step", "-q", "-o", package],
                           check=True, stdout=subprocess.DEVNULL)
            raise SystemExit(
                subprocess.run([root / "build/tests/bench/bench_replicas", package]).returncode)
    elif args.name in programs:
        raise SystemExit(
            subprocess.run([root / "build" / "tests" / "bench" / args.name, *rest]).returncode)
    else:
        print("benchmarks: " + ", ".join(re.findall(r"^([a-z]+)  ", __doc__, re.M) + programs),
              file=sys.stderr)
        raise SystemExit(0 if args.name == "list" else 2)


if __name__ == "__main__":
    main()
