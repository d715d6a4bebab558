#!/usr/bin/env python3
"""ranks.py LSTMC: jobs of several processes, started by `lstmc launch` with the mpirun of this
machine, against one process.

Weights, metrics and outputs have to be the same bits; a rank that is killed or stopped has to end
the job, or start it again with the same end; and no process may be left. Prints what is missing and
exits 77 where there is no Open MPI.
"""
import atexit
import contextlib
import ctypes
import errno
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

LSTMC = pathlib.Path(sys.argv.pop(1)).resolve()
SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples"
NET = """\
vocab, hidden = setting("vocab", 5), setting("hidden", 24)
N, T = dim("batch", 8), dim("seq", 8)

def small(data: int32[N, T], label: int32[N, T]):
    x = Embedding(SwapAxis(data, dim1=0, dim2=1), input_dim=vocab, output_dim=8, name="embed")
    x, h, c = LSTM(x, num_hidden=hidden, num_layers=2, name="lstm")
    y = FullyConnected(x, num_hidden=vocab, flatten=False, name="decoder")
    return SoftmaxOutput(y, SwapAxis(label, dim1=0, dim2=1), preserve_shape=True, normalization="valid")

fit(small, optimizer="adam", learning_rate=0.01, clip_gradient_norm=1.0, initializer=Uniform(0.1), carry=["lstm*"])
"""
UPDATES = 24
# seconds added to each promised time, for a busy machine of two processors
MARGIN = 3


def launched(ranks, *flags):
    return [LSTMC, "launch", "-v", "-n", str(ranks), *flags, "--"]


def run(words, want=0):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=120)
    if done.returncode != want:
        raise AssertionError(
            f"{words}: exit {done.returncode}, want {want}\n{done.stdout}{done.stderr}")
    return done


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # it may end while it is read
        return False


def refuse_reading():
    """Forbids all descendants of this process to read each other's memory, as in containers and on
    hardened kernels: EPERM by seccomp."""
    readv, writev, allow, refused = 310, 311, 0x7FFF0000, 0x00050000 | errno.EPERM  # of x86-64
    program = [(0x20, 0, 0, 0), (0x15, 1, 0, readv), (0x15, 0, 1, writev), (0x06, 0, 0, refused),
               (0x06, 0, 0, allow)]
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    filter_ = struct.pack("HxxxxxxP", len(program), ctypes.addressof(text))
    libc = ctypes.CDLL(None, use_errno=True)
    # PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, filter_, 0, 0):
        os._exit(99)


def newest(folder):
    """The update of the newest checkpoint; 0: there is none."""
    return max([int(p.name.split("-")[1]) for p in folder.glob("update-*")], default=0)


class Job:
    """A running job, its output, and the processes of its ranks."""

    def __init__(self, words, before=None, **how):
        self.child = subprocess.Popen([str(w) for w in words], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True, preexec_fn=before, **how)
        self.said, self.pids, self.printed = [], {}, []
        # a full pipe would block the job
        self.readers = [threading.Thread(target=read, daemon=True)
                        for read in (self.read_out, self.read_said)]
        for reader in self.readers:
            reader.start()
        atexit.register(self.leave)

    def leave(self):
        """Stops the job of a failed test."""
        self.child.terminate()
        try:
            self.child.wait(20)
        except subprocess.TimeoutExpired:
            self.child.kill()

    def read_out(self):
        for line in self.child.stdout:
            self.printed.append(line)

    @property
    def out(self):
        return "".join(self.printed)

    def read_said(self):
        for line in self.child.stderr:
            self.said.append((time.monotonic(), line))
            if came := re.search(r"rank (\d+) \(process (\d+) on .*has connected", line):
                self.pids[int(came[1])] = int(came[2])

    def wait_for(self, pattern, seconds=60):
        """Waits for a line of stderr; returns the time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for at, line in list(self.said):
                if re.search(pattern, line):
                    return at
            time.sleep(0.005)
        raise AssertionError(f"not said: {pattern}\n{self.text()}")

    def wait_for_update(self, since):
        """Waits for an update reported after this many lines."""
        end = time.monotonic() + 60
        while not any('"event":"update"' in line for line in self.printed[since:]):
            if time.monotonic() > end:
                raise AssertionError(f"no update after {self.printed[:since]}\n{self.text()}")
            time.sleep(0.005)

    def wait_for_checkpoint(self, folder, update):
        end = time.monotonic() + 60
        while newest(folder) < update:
            if self.child.poll() is not None or time.monotonic() > end:
                processes = subprocess.run(["ps", "-eo", "pid,ppid,stat,wchan,time,args"],
                                           capture_output=True, text=True).stdout
                raise AssertionError(f"no update {update} in {folder}, exit {self.child.poll()}\n"
                                     f"{self.text()}{processes}")
            time.sleep(0.005)

    def text(self):
        return "".join(line for _, line in self.said)

    def end(self):
        code = self.child.wait(120)
        for reader in self.readers:
            reader.join()
        self.child.stdout.close()
        self.child.stderr.close()
        return code, self.out

    def stop(self):
        """Stops a job without an end (so that it cannot end before a test has acted): the update
        after which it ends, and its weights."""
        self.child.send_signal(signal.SIGTERM)
        code, out = self.end()
        if code != 143:
            raise AssertionError(f"exit {code}, want 143\n{out}{self.text()}")
        end = json.loads(out.splitlines()[-1])
        return end["update"], end["weights_hash"]

    def wait_for_another_checkpoint(self, folder):
        self.wait_for_checkpoint(folder, newest(folder) + 1)


def mpi_setting(launch, name):
    """A setting of the mpirun that this `lstmc launch` has started."""
    for child in pathlib.Path(f"/proc/{launch}/task/{launch}/children").read_text().split():
        try:
            words = pathlib.Path(f"/proc/{child}/cmdline").read_text().split("\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if name in words:
            return words[words.index(name) + 1]
    raise AssertionError(f"launch has no child with {name}")


class JobCase(unittest.TestCase):
    """A network, its data, and the results of one process."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        (cls.folder / "net.lnet").write_text(NET)
        text = "".join("abcd\n"[(i * i // 7 + i // 3) % 5] for i in range(4000))
        (cls.folder / "text.txt").write_text(text)
        cls.train = ["train", cls.folder / "net.lnet",
                     "--data", f"text:{cls.folder}/text.txt,valid=0.1", "--after", f"{UPDATES}u",
                     "--valid-every", "12u", "--save-every", "4u", "--disp-every", "4u", "-t", "1",
                     "--format", "jsonl"]
        cls.want = cls.events(
            run([LSTMC, *cls.train, "-d", "cpu", "-o", cls.folder / "one"]).stdout)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @staticmethod
    def events(out):
        """The events of a training, without those parts that depend on time or on where it was
        stopped."""
        events = [json.loads(line) for line in out.splitlines()]
        return {(e["event"], e.get("update")): {k: e.get(k)
                                                for k in ("loss", "perplexity", "gradient_norm",
                                                          "weights_hash", "metrics", "best")}
                for e in events if e["event"] in ("update", "valid", "end")}

    def hash_of(self, out):
        return self.events(out)[("end", UPDATES)]["weights_hash"]

    def assert_none_left(self, job):
        end = time.monotonic() + 3
        while any(alive(pid) for pid in job.pids.values()) and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual([rank for rank, pid in job.pids.items() if alive(pid)], [], job.text())

    @classmethod
    def slow(cls, updates=150, hidden=48):
        return ([w if w != f"{UPDATES}u" else f"{updates}u" for w in cls.train]
                + ["--set", f"hidden={hidden}", "--keep", "3"])

    @classmethod
    def endless(cls):
        """The same without an end, until it is stopped."""
        return cls.slow(999999)

    @classmethod
    def slow_weights(cls, updates):
        """The weights of one undisturbed process."""
        words = cls.slow(updates)
        words[words.index("--save-every") + 1] = "999999u"
        out = run([LSTMC, *words, "-o", cls.folder / f"slow{updates}", "--force"]).stdout
        return json.loads(out.splitlines()[-1])["weights_hash"]

    @classmethod
    def slow_hash(cls):
        if not hasattr(cls, "slow_end"):
            cls.slow_end = cls.slow_weights(150)
        return cls.slow_end


class Ranks(JobCase):
    def test_every_mix_trains_to_the_same_bits(self):
        mixes = [
            (2, ["-d", "cpu"]),
            (3, ["-d", "cpu", "--kv-store", "dist_sync"]),
            (4, ["-d", "cpu", "--kv-store", "dist_device_sync", "--bigarray-bound", "1"]),
            (2, ["-d", "2xcpu", "--place", "auto=2", "--chunks", "2"]),
            (3, ["-d", "cpu", "--place", "auto=3", "--chunks", "4"]),
            (2, ["-d", "3xcpu", "--accumulate", "2", "--update-on-kvstore", "0",
                 "--check-replicas", "1"]),
        ]
        for number, (ranks, flags) in enumerate(mixes):
            with self.subTest(ranks=ranks, flags=flags):
                folder = self.folder / f"mix{number}"
                done = run([*launched(ranks), *self.train, *flags, "-o", folder])
                self.assertEqual(self.events(done.stdout), self.want)
                self.assert_memory_as_planned(json.loads(done.stdout.splitlines()[-1])["peak"])
                run([LSTMC, "diff", self.folder / "one" / f"update-{UPDATES:06}",
                     folder / f"update-{UPDATES:06}"])

    def test_mpirun_may_place_ranks_where_it_likes(self):
        done = run([*launched(2, "--launcher", "mpi", "--interface", "lo"), *self.train,
                    "-o", self.folder / "by-mpi"])
        self.assertEqual(self.events(done.stdout), self.want)

    def assert_memory_as_planned(self, peaks):
        """Up to the page of an arena that nothing touched; memory of messages is exact."""
        for peak in peaks:
            self.assertTrue(0 <= peak["planned_bytes"] - peak["measured_bytes"] <= 4 * 4096, peaks)

    def test_a_trace_has_all_ranks_on_one_time_line(self):
        done = run([*launched(2), *self.train, "-d", "2xcpu", "--trace", self.folder / "trace.json",
                    "-o", self.folder / "traced"])
        self.assertEqual(self.hash_of(done.stdout), self.want[("end", UPDATES)]["weights_hash"])
        spans = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
        self.assertEqual([s["args"]["name"] for s in spans if s["name"] == "process_name"],
                         [f"rank {r} on {os.uname().nodename}" for r in (0, 1)])
        self.assertEqual(
            [(s["pid"], s["args"]["name"]) for s in spans if s["name"] == "thread_name"],
            [(1, "compiler"), (1, "cpu:0"), (1, "cpu:1"), (2, "compiler"), (2, "cpu:2"),
             (2, "cpu:3")])
        steps = {rank: [s for s in spans if s["pid"] == rank + 1 and s["ph"] == "X"
                        and s["args"].get("at", "").startswith("step 0,")]
                 for rank in (0, 1)}
        self.assertEqual([len(each) for each in steps.values()], [2 * UPDATES] * 2)
        # The updates of the two ranks overlap: they wait for each other.
        for mine, others in (steps.values(), reversed(steps.values())):
            for update in range(UPDATES - 1):
                self.assertLess(mine[2 * update]["ts"], others[2 * update + 2]["ts"])

    def test_messages_in_pieces_are_the_same_messages(self):
        """The shared tensors are whole multiples of the first piece size, so some messages end with
        an empty piece."""
        for count, piece, flags in (
                (2, 16384, []),
                (3, 20000, ["--kv-store", "dist_device_sync", "--check-replicas", "1"])):
            done = run([*launched(count, "--env", f"LSTMC_MPI_PIECE={piece}"), *self.train, *flags,
                        "-o", self.folder / f"pieces{piece}"])
            self.assertEqual(self.events(done.stdout), self.want)

    def test_ranks_that_may_not_read_one_another_train_to_the_same_bits(self):
        """If they may, values of 64 KiB and more are copied directly and need no buffers."""
        words = self.slow(hidden=192)
        ways, hashes, planned = [], {json.loads(run([LSTMC, *words, "-o", self.folder / "wide"])
                                                .stdout.splitlines()[-1])["weights_hash"]}, []
        for name, before in (("open", None), ("closed", refuse_reading)):
            job = Job([*launched(2), *words, "-o", self.folder / f"reading-{name}"], before)
            job.wait_for(r"rank 1 .*has connected")
            ways.append(mpi_setting(job.child.pid, "btl_vader_single_copy_mechanism"))
            code, out = job.end()
            self.assertEqual(code, 0, job.text())
            end = json.loads(out.splitlines()[-1])
            hashes.add(end["weights_hash"])
            self.assert_memory_as_planned(end["peak"])
            planned.append(sum(peak["planned_bytes"] for peak in end["peak"]))
        self.assertIn(ways[0], ("cma", "none"))  # this test itself may run where that is forbidden
        self.assertEqual(ways[1], "none")
        self.assertEqual(len(hashes), 1, hashes)
        if ways[0] == "cma":
            self.assertLess(planned[0] + 1_000_000, planned[1])

    def test_messages_count_in_the_memory_limit(self):
        words = [*self.train, "-o", self.folder / "limit"]
        said = run([*launched(2), *words, "--mem", "1K"], 4)
        self.assertRegex(
            said.stdout + said.stderr, r"E0401.*the plan needs .* on cpu:0, which may use 1.00 "
                                       r"KiB; .* of it are for messages between 2 ranks")
        events = [json.loads(line)
                  for line in run([LSTMC, *words, "-d", "2xcpu", "--force"]).stdout.splitlines()]
        most = max(peak["planned_bytes"] for peak in events[-1]["peak"])
        run([LSTMC, *words, "-d", "2xcpu", "--mem", most, "--force"])
        run([*launched(2), *words, "--mem", most, "--accumulate", "1", "--recompute", "none",
             "--force"],
            4)

    def test_launch_plans_for_its_ranks(self):
        words = ["plan", self.folder / "net.lnet", "-t", "1", "--accumulate", "1",
                 "--recompute", "none"]
        job = [LSTMC, "launch", "-n", "2", "--", *words]
        plan, alone = (json.loads(run(each).stdout)
                       for each in ([*job, "--json"], [LSTMC, *words, "-d", "2xcpu", "--json"]))
        self.assertEqual([d["peak_bytes"] for d in plan["devices"]],
                         [d["peak_bytes"] for d in alone["devices"]])
        self.assertTrue(all(d["messages_bytes"] > 0 for d in plan["devices"]), plan)
        most = max(d["peak_bytes"] + d["messages_bytes"] for d in plan["devices"])
        said = run([*job, "--mem", most])
        self.assertEqual(len(re.findall(r"(?m)^forecast  update ", said.stdout)), 1, said.stdout)
        self.assertRegex(said.stdout, r"(?m)^messages  cpu:0 .* besides, which ranks keep for what "
                                      r"they send one another$")
        self.assertRegex(
            said.stderr, r"(?m)^messages  [\d.]+ µs and [\d.]+ GB/s between ranks of a host$")
        run([*job, "--mem", most - 1], 4)
        self.assertIn("--measured is for a plan of one process",
                      run([*job, "--measured"], 2).stderr)

    def emulated(self, cards, ranks, device, want=0, *flags, **variables):
        """A job of ranks on emulated GPUs of a host with this many."""
        words = [*launched(ranks), *self.train, "-d", device, "-o", self.folder / "emulated",
                 "--force", *flags]
        short = [str(w) if w != f"{UPDATES}u" else "2u" for w in words] + ["--set", "hidden=4"]
        done = subprocess.run(short, capture_output=True, text=True, timeout=120,
                              env={**os.environ, "LSTMC_EMU_CARDS": str(cards), **variables})
        self.assertEqual(done.returncode, want, done.stderr)
        return done

    def test_gpus_of_ranks_exchange_values_by_nccl(self):
        words = [str(w) if w != f"{UPDATES}u" else "2u" for w in self.train] + ["--set", "hidden=4"]
        hashes = {
            json.loads(run([LSTMC, *words, "-d", device, "-o", self.folder / f"nccl-{device}"])
                       .stdout.splitlines()[-1])["weights_hash"] for device in ("cpu", "2xemu")}
        for ranks, flags, variables, said in (
            (2, [], {}, r"(?m)^nccl      2\.\d+\.\d+$"),
            (3, ["--kv-store", "nccl"], {}, r"(?m)^nccl      2\.\d+\.\d+$"),
            (2, ["--place", "auto=2", "--chunks", "2"],
             {"LSTMC_EMU_SEED": "3"}, r"(?m)^nccl      2\.\d+\.\d+$"),
            (2, [],
             {"LSTMC_EMU_NCCL": "0"}, r"(?m)^nccl      none, so values between GPUs of ranks go by "
                                      r"way of the hosts' memory: NCCL was not found; "),
        ):
            with self.subTest(ranks=ranks, flags=flags, variables=variables):
                done = self.emulated(ranks, ranks, "emu:local", 0, *flags, **variables)
                self.assertRegex(done.stderr, said)
                end = json.loads(done.stdout.splitlines()[-1])
                hashes.add(end["weights_hash"])
                self.assert_memory_as_planned(end["peak"])
        self.assertEqual(len(hashes), 1, hashes)
        if libraries := os.environ.get("LSTMC_EMULATED_CUDA"):  # as in users' flags
            done = self.emulated(2, 2, "gpu:local", 0, "--kv-store", "nccl",
                                 LD_LIBRARY_PATH=libraries)
            self.assertRegex(done.stderr, r"(?m)^nccl      2\.\d+\.\d+$")
            self.assertEqual(json.loads(done.stdout.splitlines()[-1])["weights_hash"], hashes.pop())
        done = self.emulated(2, 2, "emu:local", 5, "--kv-store", "nccl", LSTMC_EMU_NCCL="0")
        self.assertRegex(done.stdout + done.stderr, r"E0503.*--kv-store nccl: NCCL was not found; "
                                                    r"LSTMC_EMU_NCCL=0 hides")

    def test_a_killed_rank_ends_the_others_that_wait_for_it_by_nccl(self):
        folder = self.folder / "nccl-killed"
        words = ([w if w != f"{UPDATES}u" else "9999u" for w in self.train]
                 + ["--set", "hidden=4", "-d", "emu:local"])
        job = Job([*launched(3), *words, "-o", folder])
        job.wait_for_checkpoint(folder, 4)
        begin = time.monotonic()
        os.kill(job.pids[1], signal.SIGKILL)
        code, out = job.end()
        self.assertLess(time.monotonic() - begin, 5 + MARGIN)
        self.assertEqual(code, 8, job.text())
        self.assertRegex(out + job.text(), r"rank 1 \(process \d+ on .*\) has died")
        self.assert_none_left(job)

    def test_ranks_share_out_the_gpus_of_their_host(self):
        alone = self.emulated(1, 1, "emu:local").stdout.splitlines()[-1]
        for cards, ranks in ((2, "auto"), (2, 1), (3, 2)):
            done = self.emulated(cards, ranks, "emu:local")
            self.assertEqual(json.loads(done.stdout.splitlines()[-1])["weights_hash"],
                             json.loads(alone)["weights_hash"])
            self.assertEqual(len(set(re.findall(r"rank (\d+) .*has connected", done.stderr))),
                             cards if ranks == "auto" else ranks)

    def test_a_gpu_is_of_one_rank(self):
        for cards, ranks, device, code, said in (
            (2, 3, "emu:local", 5, r"E0501.*emu:local: host \S+ has 3 ranks and 2 GPUs"),
            (4, 3, "emu:1",
             5, r"E0501.*emu:1 of host \S+ is bound by rank 0 and by rank 1; -d emu:local"),
            (2, 2, "emu:1,2", 5, r"E0501.*emu:2: found 2 GPUs"),
            (0, "auto", "emu:local", 5, r"E0501.*no GPU on any host: host localhost: "),
            (64, "auto", "emu:local", 2, r"LSTMC_EMU_CARDS says how many"),
            (1, "auto", "emu:0", 2, r"wants -d gpu:local of what the ranks run, found -d emu:0"),
            (1, "few", "emu:0", 2, r"--ranks takes a count"),
        ):
            with self.subTest(cards=cards, ranks=ranks, device=device):
                done = self.emulated(cards, ranks, device, code)
                self.assertRegex(done.stdout + done.stderr, said)
        run([LSTMC, "launch", "-n", "auto", "--", *self.train, "-d", "emu:local",
             "--kv-store", "dist_async"],
            2)

    def test_other_numbers_of_ranks_go_on(self):
        folder = self.folder / "on"
        words = [*self.train, "-o", folder]
        part = [str(w) if w != f"{UPDATES}u" else "9u" for w in words]
        run([*launched(2), *part])
        part = [w if w != "9u" else "17u" for w in part]
        run([*launched(3), *part, "--resume"])
        self.assertEqual(self.hash_of(run([LSTMC, *words, "--resume"]).stdout), self.hash_of_want())

    def hash_of_want(self):
        return self.want[("end", UPDATES)]["weights_hash"]

    def test_eval_and_run_answer_as_one_process(self):
        one = self.folder / "one"
        words = ["eval", self.folder / "net.lnet", "--params", one,
                 "--data", f"text:{self.folder}/text.txt", "--metric", "accuracy"]
        self.assertEqual(run([*launched(2), *words]).stdout, run([LSTMC, *words]).stdout)
        compiled = ["--params", one, "-i", "data=8x8xi32=3", "-d", "2xcpu"]
        answers = []
        for name, words in (("a", [LSTMC]), ("b", launched(2))):
            out = self.folder / f"{name}.npz"
            run([*words, "run", self.folder / "net.lnet",
                 *(compiled if name == "a" else compiled[:-1] + ["cpu"]), "-o", out])
            answers.append(out.read_bytes())
        self.assertEqual(*answers)

    def test_one_rank_writes_the_curves(self):
        run([*launched(2), *self.train, "--tensorboard", self.folder / "curves",
             "-o", self.folder / "curved"])
        self.assertEqual(len(list((self.folder / "curves").iterdir())), 1)

    def test_a_forecast_stands_beside_what_was_measured(self):
        words = ["train", self.folder / "net.lnet", "--data", f"text:{self.folder}/text.txt",
                 "--after", "40u", "-t", "1"]
        said = run([*launched(2), *words, "-o", self.folder / "forecast"]).stderr
        self.assertRegex(said, r"(?m)^messages  [\d.]+ µs and [\d.]+ GB/s between ranks of a host$")
        before, after = re.findall(
            r"(?m)^forecast  update ([\d.]+ \w+)(?:, measured [\d.]+ \w+ \([+-]\d+ %\)$|.*)", said)
        self.assertEqual(before, after)
        self.assertEqual(said.count(", measured "), 1)
        # It includes messages between ranks: more than devices of one process need.
        beside = run([LSTMC, *words, "-d", "2xcpu", "-o", self.folder / "beside"]).stderr
        self.assertNotIn("messages  ", beside)
        self.assertIn(", measured ", beside)

    def test_samples_end_with_the_weights_that_they_show(self):
        text = (SAMPLES / "cluster" / "README.md").read_text()
        shown = set(re.findall(r"weights ([0-9a-f]{16})", text))
        commands = re.findall(r"^lstmc ((?:train|launch) .*) -o \S+$", text, re.M)
        self.assertEqual(len(commands), 4)
        for number, words in enumerate(commands[:2]):
            out = self.folder / f"sample{number}"
            done = subprocess.run([str(LSTMC), *words.split(), "-o", str(out)], capture_output=True,
                                  text=True, timeout=120, cwd=SAMPLES.parent)
            self.assertEqual({re.search(r"weights (\w+)$", done.stdout.strip())[1]}, shown,
                             done.stderr)
        for words, out in zip(commands[2:], ("ck-async", "ck-replay")):
            words = words.replace("ck-async", str(self.folder / "ck-async")).split()
            subprocess.run([str(LSTMC), *words, "-o", str(self.folder / out)], capture_output=True,
                           timeout=120, cwd=SAMPLES.parent, check=True)
        equal = run([LSTMC, "diff", self.folder / "ck-async/update-000060",
                     self.folder / "ck-replay/update-000060"]).stdout
        self.assertIn(equal.strip().replace(f"{self.folder}/", ""), text)
        self.assertRegex(run([SAMPLES / "cluster/lost.sh", LSTMC]).stdout, r"starts again, 1 of "
                                                                           r"1\n.*\nequal: 30 of")

    def test_a_killed_rank_ends_the_job_and_a_restart_has_the_same_end(self):
        for rank in (0, 1):
            with self.subTest(rank=rank):
                folder = self.folder / f"killed{rank}"
                job = Job([*launched(2, "--max-restarts", "1"), *self.endless(), "-o", folder])
                job.wait_for_checkpoint(folder, 4)
                os.kill(job.pids[rank], signal.SIGKILL)
                job.wait_for("starts again, 1 of 1")
                job.wait_for_another_checkpoint(folder)
                update, weights = job.stop()
                self.assertEqual(weights, self.slow_weights(update))
                self.assert_none_left(job)

    def test_there_is_one_document_however_often_the_ranks_start(self):
        words = self.endless()
        words = [word for word in words if word not in ("--format", "jsonl")]
        for restarts, code, schema in (1, 143, "lstmc.train/1"), (0, 8, "lstmc.diagnostics/1"):
            # a flag of launch, and one of its command
            for flags in (["--json"], []), ([], ["--json"]):
                with self.subTest(restarts=restarts, flags=flags):
                    folder = self.folder / f"document{restarts}{len(flags[0])}"
                    job = Job([*launched(2, "--max-restarts", str(restarts), *flags[0]), *words,
                               *flags[1], "-o", folder])
                    job.wait_for_checkpoint(folder, 4)
                    os.kill(job.pids[1], signal.SIGKILL)
                    if restarts:
                        job.wait_for("starts again, 1 of 1")
                        job.wait_for_another_checkpoint(folder)
                        job.child.send_signal(signal.SIGTERM)
                    got, out = job.end()
                    self.assertEqual(got, code, out + job.text())
                    self.assertEqual(json.loads(out)["schema"], schema)

    def test_signals_of_batch_systems_save_and_end(self):
        for ranks in 1, 3:
            for number in signal.SIGUSR1, signal.SIGQUIT:
                with self.subTest(ranks=ranks, signal=number):
                    folder = self.folder / f"signal{ranks}-{number}"
                    job = Job([*launched(ranks), *self.endless(), "-o", folder])
                    job.wait_for_checkpoint(folder, 4)
                    job.child.send_signal(number)
                    code, out = job.end()
                    self.assertEqual(code, 128 + number, out + job.text())
                    end = json.loads(out.splitlines()[-1])
                    self.assertEqual(newest(folder), end["update"])
                    self.assertEqual(end["weights_hash"], self.slow_weights(end["update"]))
                    self.assert_none_left(job)

    def test_a_restart_does_not_go_on_from_an_earlier_run(self):
        folder = self.folder / "earlier"
        for when in ("before its first checkpoint", "after it"):
            with self.subTest(when):
                run([LSTMC, *self.slow(20), "-o", folder, "--lr", "0.5", "--force"])
                words = self.endless()
                if when.startswith("before"):
                    words[words.index("--save-every") + 1] = "999999u"
                job = Job([*launched(2, "--max-restarts", "1"), *words, "-o", folder, "--force"])
                job.wait_for("rank 1 .*has connected")
                if when == "after it":
                    job.wait_for_checkpoint(folder, 24)
                first = job.pids[1]
                os.kill(first, signal.SIGKILL)
                job.wait_for("starts again, 1 of 1")
                if when == "after it":
                    job.wait_for_another_checkpoint(folder)
                else:
                    job.wait_for(rf"rank 1 \(process (?!{first}\b).*has connected")
                    job.wait_for_update(len(job.printed))
                update, weights = job.stop()
                self.assertEqual(weights, self.slow_weights(update))

    def test_lost_ranks_are_noticed_and_named(self):
        for name, what, limit, said in (("killed", signal.SIGKILL, 1, "has died"),
                                        ("frozen", signal.SIGSTOP, 3, "has been silent")):
            with self.subTest(name):
                folder = self.folder / name
                job = Job([*launched(2), *self.endless(), "-o", folder])
                job.wait_for_checkpoint(folder, 2)
                begin = time.monotonic()
                os.kill(job.pids[1], what)
                noticed = job.wait_for(said) - begin
                code, out = job.end()
                print(f"{name}: noticed after {noticed:.2f} s, none left after "
                      f"{time.monotonic() - begin:.2f} s")
                self.assertEqual(code, 8, job.text())
                # Detected by its closed connection, not by its silence, which takes longer.
                self.assertRegex(out + job.text(), rf"rank 1 \(process \d+ on .*\) {said}")
                self.assertLess(noticed, limit + MARGIN)
                self.assert_none_left(job)
                # the others have three seconds
                self.assertLess(time.monotonic() - begin, limit + 3 + MARGIN)

    def test_ranks_that_come_too_late_end(self):
        job = Job([*launched(2, "--rendezvous-timeout", "1ms"), *self.slow(),
                   "-o", self.folder / "late"])
        code, _ = job.end()
        self.assertEqual(code, 8, job.text())
        self.assertRegex(job.text(), r"E0801.*rank \d .*has not come in 0\.001 s")
        self.assertFalse(list((self.folder / "late").glob("update-*")))
        self.assert_none_left(job)

    def test_no_rank_outlives_launch(self):
        folder = self.folder / "orphans"
        job = Job([*launched(2), *self.endless(), "-o", folder])
        job.wait_for_checkpoint(folder, 2)
        job.child.kill()
        job.child.wait()
        self.assert_none_left(job)
        job.end()

    def test_a_signal_saves_and_can_be_gone_on_from(self):
        folder = self.folder / "signal"
        job = Job([*launched(2), *self.endless(), "-o", folder])
        job.wait_for_checkpoint(folder, 2)
        update, _ = job.stop()
        self.assertEqual(newest(folder), update)
        done = run([*launched(3), *self.slow(update + 20), "-o", folder, "--resume"])
        end = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual((end["update"], end["weights_hash"]),
                         (update + 20, self.slow_weights(update + 20)))

    def test_a_rank_that_hears_of_a_signal_late_has_not_died(self):
        """It stops together with the rank that got the signal first; its own signal arrives when
        its work is done."""
        for number in range(5):
            folder = self.folder / f"late{number}"
            job = Job([*launched(2), *self.endless(), "-o", folder])
            job.wait_for_checkpoint(folder, 2)
            os.kill(job.pids[1], signal.SIGTERM)
            job.wait_for("stopped +signal")
            with contextlib.suppress(ProcessLookupError):
                os.kill(job.pids[0], signal.SIGTERM)
            code, out = job.end()
            self.assertEqual(code, 143, job.text())
            self.assertEqual(json.loads(out.splitlines()[-1])["reason"], "signal")

    def test_a_wrong_number_is_named_as_by_one_process(self):
        words = [*self.train, "--lr", "3e38", "--fit", "clip_gradient_norm=0"]
        alone = run([LSTMC, *words, "-d", "2xcpu", "-o", self.folder / "nan1"], 7)
        ranks = run([*launched(2), *words, "-o", self.folder / "nan2"], 7)
        told = [re.search(r'"message": ?"([^"]*)"', done.stdout)[1] for done in (alone, ranks)]
        self.assertEqual(told[0], told[1])
        kept = [next((self.folder / folder).glob("nan-*/update.npz")).read_bytes()
                for folder in ("nan1", "nan2")]
        self.assertEqual(kept[0], kept[1])  # for all rows, though a rank reads only its own

    def test_one_odd_rank_is_named(self):
        """The second rank has a different file under the same name."""
        text, net = self.folder / "text.txt", self.folder / "odd.lnet"
        net.write_text('note = setting("note", 1)\n' + NET)
        own, others = [folder / "model.safetensors"
                       for folder in sorted((self.folder / "one").glob("update-*"))[-2:]]
        shutil.copy(own, self.folder / "given.safetensors")
        data = lambda other: (other / "text.txt").write_text(text.read_text()[::-1])
        graph = lambda other: (other / "odd.lnet").write_text(
            net.read_text().replace("num_layers=2", "num_layers=3"))
        given = lambda other: shutil.copy(others, other / "given.safetensors")
        for what, change, more, words in (
                ("sha256 of the training data", data, "", []), ("graph", graph, "", []),
                ("settings", None, "--set note=2", []), ("seed", None, "--seed 5", []),
                ("package (its devices, shapes or choices)", None, "--disable-pass fuse", []),
                ("hash of the weights given", given, "", ["--init-params", "given.safetensors"])):
            with self.subTest(what):
                self.assert_odd(what, change, more, words)

    def assert_odd(self, what, change, more, more_words):
        other = self.folder / "other"
        shutil.rmtree(other, ignore_errors=True)
        other.mkdir()
        for name in ("odd.lnet", "text.txt", "given.safetensors"):
            shutil.copy(self.folder / name, other)
        if change:
            change(other)
        script = self.folder / "rank.sh"
        script.write_text('#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 0 ] && exec "$@"\ncd other && '
                          f'exec "$@" {more}\n')
        script.chmod(0o755)
        mpirun = self.folder / "bin" / "mpirun"
        mpirun.parent.mkdir(exist_ok=True)
        mpirun.write_text(
            f'#!/bin/bash\nfor word; do [ "$word" = {LSTMC} ] && words+=({script}); '
            f'words+=("$word"); done\nexec {shutil.which("mpirun")} "${{words[@]}}"\n')
        mpirun.chmod(0o755)
        words = [*launched(2), "train", "odd.lnet", "--data", "text:text.txt", "--after", "1u",
                 "-o", self.folder / "odd", *more_words]
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True,
                              cwd=self.folder, timeout=60,
                              env={**os.environ, "PATH": f"{mpirun.parent}:{os.environ['PATH']}"})
        self.assertRegex(
            done.stderr, rf'E0804.*{re.escape(what)}: rank 1 has "[^"]+", rank 0 has "[^"]+"')
        self.assertEqual(done.returncode, 8, done.stderr)
        self.assertFalse(list((self.folder / "odd").glob("update-*")))

    def test_what_is_wrong_is_said_once(self):
        done = run([*launched(2), "train", self.folder / "none.lnet", "--data", "text:x",
                    "-o", self.folder / "x"],
                   6)
        # the error, and the hint to explain it
        self.assertEqual(done.stderr.count("E0601"), 2, done.stderr)
        done = run([*launched(2), *(w for w in self.train if w not in ("--format", "jsonl")),
                    "--kv-store", "dist_asynch", "-o", self.folder / "x"],
                   2)
        self.assertRegex(done.stderr, r'E0001.*dist_async_device, got "dist_asynch"; did you mean '
                                      r'"dist_async"\?')
        for words in (["train", "-", "--data", "text:x"],
                      ["train", self.folder / "net.lnet", "--data", "text:-"]):
            self.assertIn("no standard input",
                          run([*launched(2), *words, "-o", self.folder / "x"], 2).stderr)
        run([LSTMC, "launch", "-n", "2", "--", "bench", self.folder / "net.lnet"], 2)
        run([LSTMC, "launch", "-n", "2"], 2)
        run([LSTMC, *self.train, "--kv-store", "dist_sync", "-o", self.folder / "x"], 2)

    def test_flags_of_launch_are_those_of_the_job(self):
        words = [w for w in self.train if w not in ("--format", "jsonl")]
        # MXNet's flags
        done = run([LSTMC, "launch", "--num-workers", "2", "--p3", "--dry-run", "--json", "--",
                    *words, "-o", self.folder / "dry"])
        self.assertIn("nothing was trained: --dry-run", done.stderr)
        self.assertFalse((self.folder / "dry").exists())
        done = run([LSTMC, "launch", "-n", "2", "--json", "--quiet", "--", *words,
                    "-o", self.folder / "dry"])
        self.assertEqual(json.loads(done.stdout)["end"]["weights_hash"], self.hash_of_want())
        self.assertEqual(done.stderr, "")
        # the command's own flags
        done = run([LSTMC, "launch", "-n", "2", "--json", "--force", "--", *self.train,
                    "-o", self.folder / "dry"])
        self.assertEqual(self.events(done.stdout), self.want)

    def test_the_first_lines_have_the_batch_of_the_job_and_of_each_rank(self):
        done = run([*launched(2), *self.train, "--dry-run", "-d", "3xcpu", "-b", "16"])
        self.assertRegex(done.stderr, r"(?m)^ranks     2 on cpu:0,cpu:1,cpu:2 \| "
                                      r"cpu:3,cpu:4,cpu:5, rows 8 \| 8 of 16$")
        done = run([*launched(3), *self.train, "--dry-run", "--kv-store", "dist_sync",
                    "--batch-size", "8"])
        self.assertRegex(
            done.stderr, r"(?m)^ranks     3 on cpu:0 \| cpu:1 \| cpu:2, rows 9 \| 9 \| 6 of 24$")

    def test_launch_needs_no_proc(self):
        without = ["unshare", "-m", "sh", "-c", 'umount -l /proc && exec "$@"', "sh"]
        if subprocess.run([*without, "true"], capture_output=True).returncode:
            self.skipTest("/proc cannot be taken away from a process here")
        done = run([*without, *launched(2), *self.train, "-o", self.folder / "no-proc"])
        self.assertEqual(self.events(done.stdout), self.want)

    def test_without_mpi_the_message_says_what_is_missing(self):
        alone = self.folder / "alone"
        alone.mkdir()
        shutil.copy(LSTMC, alone / "lstmc")
        done = run(
            [alone / "lstmc", "launch", "-n", "2", "--", *self.train, "-o", self.folder / "x"], 5)
        self.assertIn("apt-get install", done.stderr)


if __name__ == "__main__":
    if not (shutil.which("mpirun") and (LSTMC.parent / "liblstmc-mpi.so").exists()):
        print("skipped: there is no Open MPI; libopenmpi-dev and openmpi-bin bring it")
        sys.exit(77)
    unittest.main()
