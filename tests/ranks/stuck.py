#!/usr/bin/env python3
"""stuck.py LSTMC: jobs with a rank that is alive but makes no progress; and jobs whose `launch` or
mpirun makes none.

A thread of a rank is stopped as by a debugger, while the other threads of its process continue.
Prints what is missing and exits 77 without Open MPI, or if no process may stop a thread of another
one.
"""
import ctypes
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import ranks  # noqa: E402
from ranks import LSTMC, MARGIN, Job, JobCase, alive, launched  # noqa: E402

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def stop_thread(thread):
    """Stops a thread until this process ends, or go_on() is called."""
    if libc.ptrace(SEIZE, thread, None, None) or libc.ptrace(INTERRUPT, thread, None, None):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    os.waitpid(thread, 0x40000000)  # __WALL


def go_on(thread):
    libc.ptrace(DETACH, thread, None, None)


# of x86-64: write, close, pwrite64, writev, fsync, mkdir, unlink, openat, unlinkat
CALLS = {"none": {-1}, "of files": {1, 3, 18, 20, 74, 83, 87, 257, 263}}


def stop_in(thread, calls):
    """Stops it in one of these system calls, or while it returns from one; -1: outside of system
    calls."""
    for _ in range(20000):
        stop_thread(thread)
        words = pathlib.Path(f"/proc/{thread}/syscall").read_text().split()
        if words[0] != "running" and int(words[0]) in CALLS[calls]:
            return
        go_on(thread)
        time.sleep(0.0003)
    raise AssertionError(f"the thread is never in a call {calls}")


class Stuck(JobCase):
    def endless(self, hidden=48, save_every=2):
        words = [w if w != f"{ranks.UPDATES}u" else "99999u" for w in self.train]
        words[words.index("--save-every") + 1] = f"{save_every}u"
        return words + ["--set", f"hidden={hidden}", "--keep", "3"]

    def start(self, name, *flags, **how):
        job = Job([*launched(2, *flags), *self.endless(**how), "-o", self.folder / name])
        job.wait_for_checkpoint(self.folder / name, 4)
        return job

    def stuck(self, job, thread, pattern, within):
        begin = time.monotonic()
        try:
            code, out = job.end()
        finally:
            go_on(thread)
        took = time.monotonic() - begin
        print(f"stuck: ended after {took:.2f} s")
        said = out + job.text()
        self.assertEqual(code, 8, said)
        self.assertRegex(said, pattern)
        self.assertLess(took, within + MARGIN)
        self.assert_none_left(job)
        return said

    def test_a_device_that_does_not_get_on_is_named_with_rank_host_and_line(self):
        """The main thread of a rank runs its first device, so it is sometimes between two runs."""
        # Inside a launch, the deadline of launches holds; else that of `launch`.
        host = re.escape(os.uname().nodename)
        within = (rf"rank 1 (on {host}: .*cpu:1 has been at launch|\(process \d+ on {host}\) has "
                  r"made no progress for [\d.]+ s; cpu:1 was at .*net\.lnet:\d+)")
        between = (rf"rank 1 \(process \d+ on {host}\) has made no progress for [\d.]+ s, between "
                   r"runs of its devices")
        for attempt in range(4):
            job = self.start(f"device-{attempt}", "--stuck-timeout", "2s", hidden=400,
                             save_every=40)
            stop_in(job.pids[1], "none")
            said = self.stuck(job, job.pids[1], rf"E0802.*({within}|{between})", 14)
            if re.search(within, said):
                return
        self.fail("the thread is always between two runs")

    def test_a_rank_that_is_stuck_between_runs_is_named(self):
        job = self.start("host", "--stuck-timeout", "1500ms")
        stop_in(job.pids[0], "of files")  # rank 0 is saving
        self.stuck(job, job.pids[0], rf"E0802.*rank 0 \(process {job.pids[0]} on \S+\) has made no "
                                     r"progress for [\d.]+ s, between runs of its devices", 11.5)

    def test_a_long_save_is_no_end(self):
        job = self.start("patience", "--stuck-timeout", "2s")
        stop_in(job.pids[0], "of files")
        time.sleep(4)  # between runs it has five times as long
        go_on(job.pids[0])
        at = max(int(p.name.split("-")[1]) for p in (self.folder / "patience").glob("update-*"))
        job.wait_for_checkpoint(self.folder / "patience", at + 8)
        job.child.send_signal(signal.SIGTERM)
        code, _ = job.end()
        self.assertEqual(code, 143, job.text())

    def test_ranks_leave_by_themselves_where_launch_is_frozen(self):
        """The only other rank is frozen too, so that nobody else can notice."""
        job = self.start("frozen-launch")
        for pid in (job.child.pid, job.pids[0]):
            os.kill(pid, signal.SIGSTOP)
        begin = time.monotonic()
        while alive(job.pids[1]) and time.monotonic() < begin + 60:
            time.sleep(0.02)
        took = time.monotonic() - begin
        for pid in (job.pids[0], job.child.pid):
            os.kill(pid, signal.SIGCONT)
        code, _ = job.end()
        print(f"launch frozen: rank 1 had left after {took:.2f} s")
        self.assertLess(took, 5 + 3 + MARGIN)
        self.assertEqual(code, 8, job.text())
        self.assert_none_left(job)

    def test_the_end_of_mpirun_is_the_end_of_the_job(self):
        job = self.start("mpirun")
        children = pathlib.Path(
            f"/proc/{job.child.pid}/task/{job.child.pid}/children").read_text().split()
        mpirun, = [int(c) for c in children
                   if "mpirun" in pathlib.Path(f"/proc/{c}/cmdline").read_text().split("\0")[0]]
        begin = time.monotonic()
        os.kill(mpirun, signal.SIGKILL)
        code, out = job.end()
        self.assertEqual(code, 8, job.text())
        self.assertRegex(out + job.text(), r"E0801.*rank \d \(process \d+ on .*\) (is gone, and "
                                           r"mpirun with it|has died)")
        self.assertLess(time.monotonic() - begin, 3 + MARGIN)
        self.assert_none_left(job)


def may_stop_threads():
    child = subprocess.Popen(["sleep", "10"])
    try:
        stop_thread(child.pid)
        go_on(child.pid)
        return True
    except OSError as error:
        print(f"skipped: a thread of another process cannot be stopped here: {error}")
        return False
    finally:
        child.kill()
        child.wait()


if __name__ == "__main__":
    if not (shutil.which("mpirun") and (LSTMC.parent / "liblstmc-mpi.so").exists()):
        print("skipped: there is no Open MPI; libopenmpi-dev and openmpi-bin bring it")
        sys.exit(77)
    if not may_stop_threads():
        sys.exit(77)
    unittest.main()
