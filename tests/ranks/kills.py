#!/usr/bin/env python3
"""kills.py LSTMC KILLS [--ranks 2,3,8] [--seed N] [--kept FILE] [--within S]: jobs whose ranks are
killed at random updates end with the weights of one process.

A job trains a small network with a checkpoint after every second update, and restarts after each
loss (`--max-restarts`). A random rank gets SIGKILL at a random update. In the end the job is
stopped: it must have the hash of one process after as many updates, and no process may be left.
Prints the time from each kill to the next checkpoint. Exit 1 unless all ends are right and, with
--within, each time is below it. 77 without Open MPI. --kept stores finished jobs in a file, and the
same call of the same build continues from them.
"""
import argparse
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import sys
import tempfile
import time

arguments = argparse.ArgumentParser(description=__doc__)
arguments.add_argument("lstmc")
arguments.add_argument("kills", type=int)
arguments.add_argument("--ranks", default="2,3,4,5,6,7,8")
arguments.add_argument("--seed", type=int, default=0)
arguments.add_argument("--kept", type=pathlib.Path)
arguments.add_argument("--within", type=float)
given = arguments.parse_args()
sys.argv[1:] = [given.lstmc]
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from ranks import LSTMC, NET, Job, alive, launched, newest, run  # noqa: E402

STEP = 20  # at most, updates between a new checkpoint and the next kill
# a job runs until it is stopped: this process may be suspended while the ranks continue
ENDLESS = 9999999
TOGETHER = 10  # kills per job, at most
# additional restarts: on a busy machine a rank may be silent for too long
SPARE = 5


def training(folder, after, save_every=2):
    return ["train", folder / "net.lnet", "--data", f"text:{folder}/text.txt",
            "--after", f"{after}u", "--save-every", f"{save_every}u", "--keep", "2", "-t", "1",
            "--format", "jsonl"]


def wait(job, condition, what):
    end = time.monotonic() + 60
    while not condition():
        if job.child.poll() is not None or time.monotonic() > end:
            raise SystemExit(f"{what} did not come\n{job.text()}")
        time.sleep(0.002)


def series(folder, ranks, kills, draw):
    """One job with that many kills; returns for each the seconds until the next checkpoint."""
    out = folder / f"{ranks}x{kills}"
    job = Job([*launched(ranks, "--max-restarts", str(kills + SPARE)), *training(folder, ENDLESS),
               "-o", out])
    came = lambda: len(re.findall(r"rank \d+ \(process \d+ on .*has connected", job.text()))
    seconds, pids, before, killed = [], set(), 0, None
    for kill in range(kills + 1):
        wait(job, lambda: came() >= before + ranks, f"start {kill + 1} of {ranks} ranks")
        pids |= set(job.pids.values())
        begun = newest(out)
        wait(job, lambda: newest(out) > begun, "a checkpoint")
        if killed:
            seconds.append(time.monotonic() - killed)
        if kill == kills:
            break
        at = newest(out) + draw.randrange(STEP)
        wait(job, lambda: newest(out) >= at, f"update {at}")
        before, rank = came(), draw.randrange(ranks)
        try:
            os.kill(job.pids[rank], signal.SIGKILL)
        except ProcessLookupError:
            # this start was lost without a kill, and the job restarts by itself
            pass
        killed = time.monotonic()
    updates, weights = job.stop()
    end = time.monotonic() + 3
    while (left := [pid for pid in pids if alive(pid)]) and time.monotonic() < end:
        time.sleep(0.02)
    if left:
        raise SystemExit(f"{ranks} ranks: processes {left} are left")
    one = run([LSTMC, *training(folder, updates, updates),
               "-o", folder / f"one{ranks}x{kills}"]).stdout
    if (want := json.loads(one.splitlines()[-1])["weights_hash"]) != weights:
        raise SystemExit(f"{ranks} ranks, killed {kills} times, update {updates}: weights "
                         f"{weights}, want {want}")
    for each in (out, folder / f"one{ranks}x{kills}"):
        shutil.rmtree(each)
    return seconds


def build():
    """The identity of the command and of its libraries."""
    digest = hashlib.sha256()
    for file in (LSTMC, LSTMC.parent / "liblstmc-mpi.so"):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def jobs(kills, counts):
    """(ranks, kills of one job), cycling through the numbers of ranks."""
    share = {ranks: kills * (place + 1) // len(counts) - kills * place // len(counts)
             for place, ranks in enumerate(counts)}
    while any(share.values()):
        for ranks in counts:
            if some := min(share[ranks], TOGETHER):
                share[ranks] -= some
                yield ranks, some


def main():
    if not (shutil.which("mpirun") and (LSTMC.parent / "liblstmc-mpi.so").exists()):
        print("skipped: there is no Open MPI; libopenmpi-dev and openmpi-bin bring it")
        return 77
    counts = [int(count) for count in given.ranks.split(",")]
    kept = json.loads(given.kept.read_text()) if given.kept and given.kept.exists() else {}
    with tempfile.TemporaryDirectory() as scratch:
        folder, of = pathlib.Path(scratch), build()
        (folder / "net.lnet").write_text(NET)
        (folder / "text.txt").write_text(
            "".join("abcd\n"[(i * i // 7 + i // 3) % 5] for i in range(4000)))
        for number, (ranks, some) in enumerate(jobs(given.kills, counts)):
            what = f"seed {given.seed}, job {number}: {ranks} ranks, {some} kills"
            key = f"build {of}, {what}"
            if key not in kept:
                kept[key] = series(folder, ranks, some, random.Random(what))
                if given.kept:
                    given.kept.write_text(json.dumps(kept, indent=1) + "\n")
            print(f"{what}: the end is right; training again after {max(kept[key]):.2f} s at most",
                  flush=True)
            if given.within and max(kept[key]) > given.within:
                raise SystemExit(f"want {given.within:g} s at most")
    return 0


if __name__ == "__main__":
    sys.exit(main())
