"""Limits of the machine: stacks, file sizes, full disks, memory of a control group, signals, a
shared cache."""
import ctypes
import errno
import json
import os
import pathlib
import pty
import resource
import signal
import stat
import struct
import subprocess
import time
import unittest

from command import LSTMC, Case

LEARN = ["train", "small.lnet", "--data", "text:text.txt,valid=0.2"]
RUN = os.environ.get("LSTMC_RUN")


def limited(which, bytes):
    return lambda: resource.setrlimit(which, (bytes, bytes))


def weights(done):
    return done.stdout.split("weights ")[1].split()[0]


class Limits(Case):
    def names(self, folder="."):
        return sorted(os.listdir(self.folder / folder))

    def test_a_small_stack_is_enough(self):
        alone = weights(self.good(*LEARN, "-o", "large"))
        self.assertEqual(weights(self.good(*LEARN, "-o", "small",
                                           preexec_fn=limited(resource.RLIMIT_STACK, 1 << 20))),
                         alone)

    def test_a_limit_of_file_sizes_is_a_full_disk(self):
        net = (self.folder / "small.lnet").read_text().replace('setting("hidden", 6',
                                                               'setting("hidden", 60')
        (self.folder / "large.lnet").write_text(net)
        self.good("compile", "large.lnet", "-b", "4", "-o", "m.lstmc")
        small = limited(resource.RLIMIT_FSIZE, 8 << 10)
        for words, exit in ((["train", "large.lnet", *LEARN[2:], "-o", "ck"], 6),
                            (["compile", "large.lnet", "-o", "n.lstmc"], 6),
                            (["plot", "large.lnet", "--what", "schedule", "-o", "n.svg"], 6),
                            (["run", "large.lnet", "-i", "data=0", "-b", "400", "-o", "y.npz"], 6)):
            with self.subTest(words[0]):
                before = self.names()
                done = self.run_here(*words, preexec_fn=small)
                self.assertEqual(done.returncode, exit, done.stderr)
                self.assertIn("File too large", done.stderr)
                if words[0] == "train":
                    self.assertEqual([name for name in self.names("ck")
                                      if name.startswith(".") or name.startswith("update")],
                                     [])
                else:
                    self.assertEqual(self.names(), before)

    @unittest.skipUnless(RUN, "lstmc-run is not named by LSTMC_RUN")
    def test_lstmc_run_ends_as_lstmc_does(self):
        self.good("compile", "small.lnet", "-b", "400", "-o", "m.lstmc")
        before = self.names()
        done = subprocess.run([RUN, "m.lstmc", "-i", "data=0", "-o", "y.npz"], cwd=self.folder,
                              capture_output=True, text=True,
                              preexec_fn=limited(resource.RLIMIT_FSIZE, 4 << 10))
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertEqual(self.names(), before)

    def test_a_log_on_a_full_disk_is_told_at_once_and_ends_with_6(self):
        plain = weights(self.good(*LEARN, "-o", "plain"))
        done = self.run_here(*LEARN, "-o", "ck", "--log", "/dev/full")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertEqual(weights(done), plain)
        lines = done.stderr.splitlines()
        self.assertIn("warning: /dev/full: error[E0601]: cannot write this log: No space "
                      "left on device", lines[0])
        self.assertIn("/dev/full: error[E0601]: cannot write this log", lines[-1])
        document = json.loads(
            self.run_here(*LEARN, "-o", "ck2", "--log", "/dev/full", "--json").stdout)
        self.assertEqual(document["end"]["exit"], 6)

    def test_events_on_a_full_disk_are_told_of_before_the_first_update(self):
        if os.geteuid() != 0:
            self.skipTest("only root mounts a small disk")
        (self.folder / "disk").mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", self.folder / "disk"],
                          capture_output=True).returncode != 0:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", self.folder / "disk"])
        try:
            with open(self.folder / "disk/fill", "wb") as file:
                file.write(bytes(1 << 20))
        except OSError:
            pass
        done = self.run_here(*LEARN, "-o", "ck", "--tensorboard", "disk", "--disp-every", "1u")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("weights ", done.stdout)
        self.assertLess(done.stderr.index("warning: disk/events.out"),
                        done.stderr.index("update=1 "))

    def test_a_disk_with_fewer_checkpoints_than_are_kept_names_keep(self):
        if os.geteuid() != 0:
            self.skipTest("only root mounts a small disk")
        self.good(*LEARN, "-o", "one", "--keep", "1")
        size = sum(path.stat().st_blocks * 512 for path in (self.folder / "one").rglob("*")
                   if path.is_file())
        (self.folder / "disk").mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size * 5 // 2}", "tmpfs",
                           self.folder / "disk"], capture_output=True).returncode != 0:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", self.folder / "disk"])
        done = self.run_here(*LEARN, "-o", "disk/ck", "--keep", "3", "--save-every", "1u",
                             "--valid-every", "1u")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertRegex(done.stderr, r"No space left on device; a checkpoint takes .*, .* are "
                                      r"free, and 2 are kept: --keep 1 keeps fewer")

    def test_checkpoints_have_the_mode_of_the_umask(self):
        for mask in 0o022, 0o027, 0o077:
            folder = f"ck{mask:o}"
            self.good(*LEARN, "-o", folder, preexec_fn=lambda mask=mask: os.umask(mask))
            for path in [self.folder / folder, *(self.folder / folder).rglob("*")]:
                if not path.is_symlink():
                    full = 0o777 if path.is_dir() else 0o666
                    self.assertEqual(stat.S_IMODE(path.stat().st_mode), full & ~mask, path)

    def test_signals_of_batch_systems_save_and_end(self):
        for number in signal.SIGUSR1, signal.SIGQUIT, signal.SIGTERM:
            with self.subTest(number):
                folder = f"ck{number}"
                child = subprocess.Popen(
                    [LSTMC, *LEARN, "--after", "1000000u", "--disp-every", "1u", "-o", folder],
                    cwd=self.folder,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, restore_signals=True)
                for line in child.stderr:
                    if line.startswith("update="):
                        break
                child.send_signal(number)
                out, _ = child.communicate(timeout=240)
                self.assertEqual(child.returncode, 128 + number)
                self.assertIn(f"{folder}/update-", out)
                self.assertEqual([name for name in self.names(folder) if name.startswith(".")], [])
                self.good("eval", folder, "--data", "text:text.txt")

    def test_what_a_net_has_learned_is_escaped_on_a_terminal(self):
        (self.folder / "text.txt").write_bytes(b"a\x1b]0;owned\x07" * 200)
        self.good(*LEARN, "-o", "ck", "--set", "vocab=11", "--after", "1u")
        words = ["sample", "ck", "--prime", "\x1b]0", "--length", "40", "-q"]
        self.assertIn("\x1b", self.good(*words).stdout)
        leader, follower = pty.openpty()
        child = subprocess.Popen([LSTMC, *words], cwd=self.folder, stdout=follower,
                                 stderr=subprocess.DEVNULL)
        os.close(follower)
        text = b""
        try:
            while piece := os.read(leader, 4096):
                text += piece
        except OSError: # the other end is closed
            pass
        os.close(leader)
        self.assertEqual(child.wait(), 0)
        self.assertIn(b"\\u001b]0", text)
        self.assertNotIn(b"\x1b", text)
        self.assertNotIn(b"\x07", text)


class Cache(Case):
    def calibrate(self, cache):
        return self.run_here("bench", "small.lnet", "-r", "1", "-t", "1",
                             "--calibrate", env={"LSTMC_CACHE_DIR": str(cache)})

    def test_measuring_ends_with_the_process_that_asked_for_it(self):
        def children(process):
            return (pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()
                    if pathlib.Path(f"/proc/{process}").exists() else [])

        for number in signal.SIGTERM, signal.SIGKILL:
            asking = subprocess.Popen([LSTMC, "plan", "small.lnet", "-t", "1"], cwd=self.folder,
                                      env=dict(os.environ, LSTMC_CACHE_DIR=f"cache-{number}"),
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while asking.poll() is None and not children(asking.pid):
                time.sleep(0.002)
            measuring = children(asking.pid)
            asking.send_signal(number)
            asking.wait()
            self.assertTrue(measuring)  # it had begun
            deadline = time.monotonic() + 20
            while pathlib.Path(f"/proc/{measuring[0]}").exists():
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            # which it writes at its end
            self.assertFalse((self.folder / f"cache-{number}/machine.json").exists())

    def test_a_link_or_a_pipe_in_the_cache_is_replaced_and_never_followed(self):
        cache = self.folder / "cache"
        cache.mkdir()
        (self.folder / "target").write_text("somebody's")
        for kind in "link", "pipe", "file with two names":
            with self.subTest(kind):
                (cache / "machine.json").unlink(missing_ok=True)
                if kind == "link":
                    (cache / "machine.json").symlink_to(self.folder / "target")
                elif kind == "pipe":
                    os.mkfifo(cache / "machine.json")
                else:
                    os.link(self.folder / "target", cache / "machine.json")
                # which measures and caches
                self.good("plan", "small.lnet", "-t", "1", env={"LSTMC_CACHE_DIR": str(cache)})
                self.assertEqual((self.folder / "target").read_text(), "somebody's")
                self.assertTrue(stat.S_ISREG((cache / "machine.json").lstat().st_mode))
                self.assertEqual(json.loads((cache / "machine.json").read_text())["schema"],
                                 "lstmc.machine/1")
                self.assertEqual(os.listdir(cache), ["machine.json"])


class Grouped(Case):
    """Runs in control groups of version 1, which root can make."""

    def group(self, controller, file, value):
        """A preexec_fn that moves the process into a new group with that value."""
        groups = pathlib.Path("/sys/fs/cgroup") / controller
        if os.geteuid() != 0 or not (groups / file).exists():
            self.skipTest("control groups of version 1 cannot be made here")
        folder = groups / f"lstmc-test-{os.getpid()}-{value}"
        folder.mkdir()

        def remove():
            for _ in range(100):  # the last process may still be exiting
                try:
                    return folder.rmdir()
                except OSError:
                    time.sleep(0.05)

        self.addCleanup(remove)
        (folder / file).write_text(str(value))
        return lambda: (folder / "cgroup.procs").write_text(str(os.getpid()))


class Processors(Grouped):
    def threads(self, **options):
        host = json.loads(self.run_here("devices", "--json", **options).stdout)["devices"][0]
        return host["threads"], host["threads_limit"]

    def test_a_quota_of_processor_time_is_the_number_of_threads(self):
        half = self.group("cpu", "cpu.cfs_quota_us", 50000)
        count, text = self.threads(preexec_fn=half)
        self.assertEqual(count, 1)
        if self.threads()[0] > 1:
            self.assertRegex(text, r"^1 thread by default \(control group .*/lstmc-test-.*\)$")
        self.assertIn(text, self.run_here("doctor", preexec_fn=half).stdout)
        self.assertIn(text, self.run_here("devices", preexec_fn=half).stdout)

    def test_one_processor_is_one_thread(self):
        one = min(os.sched_getaffinity(0))
        self.assertEqual(self.threads(preexec_fn=lambda: os.sched_setaffinity(0, [one])),
                         (1, "1 thread by default (affinity)"))

    @unittest.skipUnless(RUN, "lstmc-run is not named by LSTMC_RUN")
    def test_the_environment_reaches_the_runtime(self):
        self.good("compile", "small.lnet", "-b", "1", "-o", "m.lstmc")
        words = [RUN, "m.lstmc", "-i", "data=0"]

        def answer(threads):
            return subprocess.run(words, cwd=self.folder, capture_output=True, text=True,
                                  env=dict(os.environ, LSTMC_THREADS=threads))

        self.assertEqual(answer("3").stdout, answer("1").stdout)
        done = answer("all")
        self.assertEqual(done.returncode, 2)
        self.assertIn('LSTMC_THREADS: found "all", want a number from 0 to 1024', done.stderr)


def without_locks(error):
    """A preexec_fn: flock ends with that error, as on a file system that has no locks."""
    def install():
        load, equal, answer = 0x20, 0x15, 0x06
        rules = [(load, 0, 0, 0), (equal, 0, 1, 73), (answer, 0, 0, 0x00050000 | error),
                 (answer, 0, 0, 0x7fff0000)]
        text = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *rule) for rule in rules))
        program = ctypes.create_string_buffer(
            struct.pack("<HxxxxxxQ", len(rules), ctypes.addressof(text)))
        system = ctypes.CDLL(None)
        if system.prctl(38, 1, 0, 0, 0) != 0 or system.prctl(22, 2, program, 0, 0) != 0:
            os._exit(99)
    return install


@unittest.skipUnless(os.uname().machine == "x86_64", "the filter knows the calls of x86-64")
class Locks(Case):
    def test_a_file_system_without_locks_is_used_and_said(self):
        alone = weights(self.good(*LEARN, "-o", "locked"))
        for error in (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP):
            done = self.run_here(*LEARN, "-o", f"ck{error}", preexec_fn=without_locks(error))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(weights(done), alone)
            self.assertIn(f"cannot lock the folder of checkpoints: {os.strerror(error)}; nothing "
                          "keeps a second process from writing there", done.stderr)

    def test_another_reason_is_the_error(self):
        done = self.run_here(*LEARN, "-o", "ck", preexec_fn=without_locks(errno.EIO))
        self.assertEqual(done.returncode, 6)
        self.assertIn(f"cannot lock the folder of checkpoints: {os.strerror(errno.EIO)}",
                      done.stderr)
        self.assertNotIn("another process", done.stderr)


class Memory(Grouped):
    def limit(self, bytes):
        return self.group("memory", "memory.limit_in_bytes", bytes)

    def test_a_plan_above_the_limit_of_a_control_group_is_refused(self):
        large = ["--set", "hidden=1500", "-b", "64", "-t", "1"]
        peak = self.document("plan", "small.lnet", *large,
                             schema="lstmc.plan/1")["devices"][0]["peak_bytes"]
        self.assertGreater(peak, 100 << 20)
        below = self.limit(peak - (10 << 20))
        done = self.run_here(*LEARN, *large, "-o", "ck", "--after", "1u", preexec_fn=below)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("error[E0401]", done.stderr)
        planned = self.run_here("plan", "small.lnet", *large, "--json", preexec_fn=below)
        self.assertEqual(planned.returncode, 4)
        self.assertEqual(json.loads(planned.stdout)["devices"][0]["capacity_bytes"],
                         (peak - (10 << 20)) // 4096 * 4096)
        [host] = [row for row in json.loads(self.run_here(
            "devices", "--json", preexec_fn=below).stdout)["devices"] if row["name"] == "cpu:0"]
        self.assertEqual(host["memory_bytes"], (peak - (10 << 20)) // 4096 * 4096)
        self.assertIn("by control group", self.run_here("doctor", preexec_fn=below).stdout)
        # The process's memory besides the arena counts too: beyond the limit the system would kill
        # it without a message.
        done = self.run_here(*LEARN, *large, "-o", "ck", "--after", "1u",
                             preexec_fn=self.limit(peak + (1 << 20)))
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertRegex(done.stderr, r"the plan needs \d+ bytes on cpu:0 and the process has \d+ "
                                      r"by now: control group .* allows \d+")

    def test_slurm_says_what_an_allocation_has(self):
        for env, bytes in (({"SLURM_MEM_PER_NODE": "64"}, 64 << 20),
                           ({"SLURM_MEM_PER_CPU": "32", "SLURM_CPUS_ON_NODE": "3"}, 96 << 20)):
            done = self.run_here("devices", "--json", env=env)
            [host] = [row for row in json.loads(done.stdout)["devices"] if row["name"] == "cpu:0"]
            self.assertEqual(host["memory_bytes"], bytes)
        done = self.run_here(*LEARN, "--set", "hidden=1500", "-b", "64", "-o", "ck",
                             "--after", "1u", env={"SLURM_MEM_PER_NODE": "64"})
        self.assertEqual(done.returncode, 4, done.stderr)


if __name__ == "__main__":
    unittest.main()
