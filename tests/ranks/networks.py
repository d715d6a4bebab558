#!/usr/bin/env python3
"""networks.py LSTMC: jobs of two hosts whose network is cut or slow, or with a frozen process on
one of them.

The hosts are network namespaces on a bridge, made here; a script that enters the namespace stands
in for ssh. Prints what is missing and exits 77 without Open MPI, or if namespaces and bridges are
not permitted.
"""
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import ranks  # noqa: E402
from ranks import LSTMC, MARGIN, Job, JobCase, launched, run  # noqa: E402

TAG = f"l{os.getpid() % 100000}"  # of this test, unique on the machine
# also each host's name of its interface, since mpirun knows one name for all
BRIDGE = f"{TAG}b"
# 100.NET.0.0/24: shared address space of providers, unused on this machine
NET = 64 + os.getpid() % 64
# Daemons of two hosts with one name and one /tmp interfere on a single machine: sometimes one ends
# before it has connected.
SSH = f"""\
#!/bin/sh
while :; do
  case $1 in
    -[opilFJ]) shift 2;;
    -*) shift;;
    *) break;;
  esac
done
host=$1
shift
export TMPDIR=$(dirname "$0")/$host
mkdir -p "$TMPDIR"
exec ip netns exec {TAG}$host sh -c "$*"
"""


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def make_hosts():
    ip("link", "add", BRIDGE, "type", "bridge")
    ip("addr", "add", f"100.{NET}.0.1/24", "dev", BRIDGE)
    ip("link", "set", BRIDGE, "up")
    for number in (1, 2):
        host, end = f"{TAG}node{number}", f"{TAG}v{number}"
        ip("netns", "add", host)
        ip("link", "add", end, "type", "veth", "peer", "name", f"{end}x")
        ip("link", "set", end, "master", BRIDGE, "up")
        ip("link", "set", f"{end}x", "netns", host, "name", BRIDGE)
        ip("-n", host, "addr", "add", f"100.{NET}.0.{number + 1}/24", "dev", BRIDGE)
        ip("-n", host, "link", "set", BRIDGE, "up")
        ip("-n", host, "link", "set", "lo", "up")


def processes_on(number):
    """Processes on a host: ranks, and daemons of mpirun."""
    there = subprocess.run(["ip", "netns", "pids", f"{TAG}node{number}"], capture_output=True,
                           text=True).stdout.split()
    found = {}
    for pid in filter(ranks.alive, there):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found[pid] = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    return found


def remove_hosts():
    for number in (1, 2):
        host = f"{TAG}node{number}"
        for pid in processes_on(number):  # left by a failed test
            os.kill(int(pid), signal.SIGKILL)
        subprocess.run(["ip", "netns", "del", host], capture_output=True)
        subprocess.run(["ip", "link", "del", f"{TAG}v{number}"], capture_output=True)
    subprocess.run(["ip", "link", "del", BRIDGE], capture_output=True)


class Networks(JobCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        script = cls.folder / "bin" / "ssh"
        script.parent.mkdir()
        script.write_text(SSH)
        script.chmod(0o755)
        os.environ["PATH"] = f"{script.parent}:{os.environ['PATH']}"
        cls.start = launched(2, "-H", "node1,node2", "--interface", BRIDGE)

    def test_hosts_train_to_the_bits_of_one_process(self):
        done = run([*self.start, *self.train, "-o", self.folder / "apart"])
        self.assertEqual(self.events(done.stdout), self.want)
        self.assertEqual(len(set(re.findall(rf"connected from (100\.{NET}\.0\.\d)", done.stderr))),
                         2, done.stderr)

    @unittest.skipUnless(shutil.which("tc"), "there is no tc; iproute2 brings it")
    def test_a_narrow_link_changes_no_bit(self):
        end = f"{TAG}v2"
        subprocess.run(["tc", "qdisc", "add", "dev", end, "root", "tbf", "rate", "20mbit", "burst",
                        "16kb", "latency", "200ms"],
                       check=True)
        try:
            done = run([*self.start, *self.train, "-o", self.folder / "narrow"])
        finally:
            subprocess.run(["tc", "qdisc", "del", "dev", end, "root"], check=True)
        self.assertEqual(self.events(done.stdout), self.want)

    def assert_nothing_runs(self, job, seconds):
        """Checks both hosts, mpirun's daemons included, even if a host is cut off."""
        end = time.monotonic() + seconds
        while (left := {**processes_on(1), **processes_on(2)}) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(left, {}, job.text())

    def test_doctor_names_all_pairs_that_exchange_no_messages(self):
        words = [LSTMC, "doctor", "-H", "node1,node2,localhost", "--interface", BRIDGE,
                 "--stuck-timeout", "4s"]
        done = run(words)
        self.assertEqual(len(re.findall(r"(?m)^\S+ +\S+ +[\d.]+ µs +[\d.]+ GB/s$", done.stdout)), 3,
                         done.stdout)
        ip("-n", f"{TAG}node1", "route", "add", "blackhole", f"100.{NET}.0.3/32")
        try:
            said = run(words, 8).stderr
        finally:
            ip("-n", f"{TAG}node1", "route", "del", "blackhole", f"100.{NET}.0.3/32")
        self.assertIn("node1 and node2 exchange no messages", said)
        self.assertEqual(said.count("exchange no messages"), 1, said)

    def lose(self, name, what, again, said, limit):
        job = Job([*self.start, *self.endless(), "-o", self.folder / name])
        try:
            job.wait_for_checkpoint(self.folder / name, 2)
            begin = time.monotonic()
            what(job)
            noticed = job.wait_for(said) - begin
            code, out = job.end()
            self.assert_nothing_runs(job, 10 + MARGIN)
        finally:
            again()
        print(f"{name}: noticed after {noticed:.2f} s, none left after "
              f"{time.monotonic() - begin:.2f} s")
        self.assertEqual(code, 8, job.text())
        self.assertRegex(out + job.text(), rf"rank \d \(process \d+ on .*\) {said}")
        self.assertLess(noticed, limit + MARGIN)
        more = ranks.newest(self.folder / name) + 20
        done = run([LSTMC, *self.slow(more), "--resume", "-o", self.folder / name])
        self.assertEqual(json.loads(done.stdout.splitlines()[-1])["weights_hash"],
                         self.slow_weights(more))

    def test_a_cut_link_ends_the_job(self):
        """On both sides of the cut, because nobody can notify the isolated one."""
        self.lose("cut", lambda job: ip("link", "set", f"{TAG}v2", "down"),
                  lambda: ip("link", "set", f"{TAG}v2", "up"), "has been silent", 3)

    def test_a_frozen_host_ends_the_job(self):
        self.lose("frozen", lambda job: os.kill(job.pids[1], signal.SIGSTOP), lambda: None,
                  "has been silent", 3)

    def test_a_host_without_its_daemon_ends_the_job(self):
        def kill_daemon(job):
            daemon, = [int(pid) for pid, name in processes_on(2).items() if name == "orted"]
            os.kill(daemon, signal.SIGKILL)
        self.lose("daemon", kill_daemon, lambda: None, "(has died|is gone, and mpirun with it)", 3)

    def test_ranks_of_hosts_killed_at_random_updates_end_with_the_same_bits(self):
        draw = random.Random(7)
        folder = self.folder / "kills"
        kills = 4
        job = Job([*self.start[:-1], "--max-restarts", str(kills + 2), "--", *self.endless(),
                   "-o", folder])
        for kill in range(kills):
            job.wait_for_checkpoint(folder, ranks.newest(folder) + draw.randrange(10, 30))
            os.kill(job.pids[draw.randrange(2)], signal.SIGKILL)
            begin = time.monotonic()
            job.wait_for(f"starts again, {kill + 1} of")
            job.wait_for_another_checkpoint(folder)
            self.assertLess(time.monotonic() - begin, 10 + 2 * MARGIN)
        update, weights = job.stop()
        self.assertEqual(weights, self.slow_weights(update))
        self.assert_nothing_runs(job, 5 + MARGIN)

    def test_hosts_of_one_name_are_two_for_a_forecast(self):
        words = ["train", self.folder / "net.lnet", "--data", f"text:{self.folder}/text.txt",
                 "--after", "4u", "-t", "1", "-o", self.folder / "forecast"]
        said = run([*self.start, *words]).stderr
        self.assertRegex(said, r"(?m)^messages  [\d.]+ µs and [\d.]+ GB/s between hosts$")


def main():
    if not (shutil.which("mpirun") and (LSTMC.parent / "liblstmc-mpi.so").exists()):
        print("skipped: there is no Open MPI; libopenmpi-dev and openmpi-bin bring it")
        return 77
    try:
        make_hosts()
    except (subprocess.CalledProcessError, FileNotFoundError) as error:
        remove_hosts() if shutil.which("ip") else None
        print(f"skipped: no network namespaces here: {getattr(error, 'stderr', '') or error}")
        return 77
    try:
        return 0 if unittest.main(exit=False).result.wasSuccessful() else 1
    finally:
        remove_hosts()


if __name__ == "__main__":
    sys.exit(main())
