#!/usr/bin/env python3
"""stores.py LSTMC: stores of jobs whose results differ from one process (compression, dist_async),
compared with arithmetic in Python and with their own replays. Prints what is missing and exits 77
without Open MPI.
"""
import json
import os
import pathlib
import shutil
import signal
import struct
import sys
import time
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import ranks  # noqa: E402
from ranks import LSTMC, Job, JobCase, launched, run  # noqa: E402

ROWS, FEATURES, THRESHOLD, RATE = 8, 5, 0.5, 0.25
LINE = f"""\
N = dim("batch", {ROWS})

def line(data: float32[N, {FEATURES}], label: float32[N, 1]):
    x = FullyConnected(data, num_hidden=1, no_bias=True, name="fc")
    return LinearRegressionOutput(x, label)

fit(line, optimizer="sgd", learning_rate={RATE}, wd=0.0, initializer=Zero())
"""


def write_npy(path, rows):
    """Version 1.0, f32."""
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    numbers = [x for row in rows for x in row]
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode()
                     + struct.pack(f"<{len(numbers)}f", *numbers))


def tensors(path):
    """The tensors of a safetensors file, f32."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    found = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            found[name] = list(
                struct.unpack(f"<{(end - begin) // 4}f", data[8 + size + begin:8 + size + end]))
    return found


def compressed(x, labels, updates, workers):
    """Weights and residuals after some updates, by the specification. All numbers are short binary
    fractions, so every sum is exact."""
    w, residuals = [0.0] * FEATURES, [[0.0] * FEATURES for _ in range(workers)]
    for _ in range(updates):
        total = [0.0] * FEATURES
        for worker, residual in enumerate(residuals):
            for row in range(worker * ROWS // workers, (worker + 1) * ROWS // workers):
                error = sum(a * b for a, b in zip(x[row], w)) - labels[row][0]
                for i in range(FEATURES):
                    residual[i] += error * x[row][i]
            for i, value in enumerate(residual):
                given = (THRESHOLD if value >= THRESHOLD else -THRESHOLD if value <= -THRESHOLD
                         else 0.0)
                residual[i] -= given
                total[i] += given
        w = [a - RATE / ROWS * g for a, g in zip(w, total)]
    return w, residuals


class Stores(JobCase):
    asynchronous = ["--kv-store", "dist_async"]

    def test_compression_gives_what_its_words_say(self):
        x = [[((3 * r + 5 * c) % 9 - 4) / 4 for c in range(FEATURES)] for r in range(ROWS)]
        labels = [[((7 * r) % 11 - 5) / 4] for r in range(ROWS)]
        (self.folder / "line.lnet").write_text(LINE)
        write_npy(self.folder / "x.npy", x)
        write_npy(self.folder / "l.npy", labels)
        words = ["train", self.folder / "line.lnet", "--data",
                 f"npy:data={self.folder}/x.npy,label={self.folder}/l.npy,shuffle=no", "-t", "1",
                 "--after", "6u", "--gradient-compression", f"2bit:{THRESHOLD}"]
        for number, (count, flags) in enumerate(
                [(2, ["--kv-store", "dist_sync"]),
                 (4, ["--kv-store", "dist_device_sync", "-d", "2xcpu"]),
                 (2, ["--kv-store", "dist_sync", "--update-on-kvstore", "0", "-d", "2xcpu",
                      "--bucket-bytes", "0"])]):
            with self.subTest(ranks=count, flags=flags):
                folder = self.folder / f"line{number}"
                run([*launched(count), *words, *flags, "-o", folder])
                w, residuals = compressed(x, labels, 6, count)
                self.assertTrue(any(any(r) for r in residuals))
                self.assertEqual(tensors(folder / "last" / "model.safetensors")["fc_weight"], w)
                self.assertEqual(tensors(folder / "last" / "optimizer.safetensors"),
                                 {f"fc_weight/residual{r}": v for r, v in enumerate(residuals)})

    def test_asynchronous_workers_compress_too(self):
        x = [[((3 * r + 5 * c) % 9 - 4) / 4 for c in range(FEATURES)] for r in range(ROWS)]
        labels = [[((7 * r) % 11 - 5) / 4] for r in range(ROWS)]
        (self.folder / "one.lnet").write_text(LINE)
        write_npy(self.folder / "x1.npy", x)
        write_npy(self.folder / "l1.npy", labels)
        words = ["train", self.folder / "one.lnet", "--data",
                 f"npy:data={self.folder}/x1.npy,label={self.folder}/l1.npy,shuffle=no", "-t", "1",
                 "--after", "6u", "--gradient-compression", f"2bit:{THRESHOLD}"]
        # One worker: nothing is reordered.
        for servers, bound in ((1, 1000000), (2, 1)):
            folder = self.folder / f"one{servers}"
            run([*launched(1, "-s", servers), *words, *self.asynchronous, "--bigarray-bound", bound,
                 "-o", folder])
            w, residuals = compressed(x, labels, 6, 1)
            self.assertEqual(tensors(folder / "last" / "model.safetensors")["fc_weight"], w)
            self.assertEqual(tensors(folder / "last" / "optimizer.safetensors"),
                             {"fc_weight/residual0": residuals[0]})
        # Several workers: the replay has the same bits, also of a run that was stopped.
        flags = [*self.asynchronous, "--gradient-compression", "2bit:0.002"]
        folder = self.folder / "several"
        part = [w if w != f"{ranks.UPDATES}u" else "9u" for w in self.train]
        run([*launched(2, "-s", "2"), *part, *flags, "-o", folder])
        done = run([*launched(2, "-s", "2"), *self.train, *flags, "-o", folder, "--resume"])
        self.assertIn("compression 0.0020", (folder / "replay.log").read_text())
        for more in ([], ["--gradient-compression", "2bit:0.002"]):
            again = run([LSTMC, *self.train, *more, "--replay", folder / "replay.log",
                         "-o", folder / "again", "--force"])
            self.assertEqual(self.hash_of(again.stdout), self.hash_of(done.stdout))
        last = f"update-{ranks.UPDATES:06}"
        run([LSTMC, "diff", folder / last, folder / "again" / last])
        kept = tensors(folder / last / "optimizer.safetensors")
        for worker in range(2):
            self.assertTrue(any(kept[f"lstm_h2h_weight/residual{worker}"]))
        run([LSTMC, *self.train, "--gradient-compression", "2bit:0.003",
             "--replay", folder / "replay.log", "-o", folder / "x"],
            6)
        run([*launched(2, "-s", "2"), *self.train, *self.asynchronous, "-o", folder, "--resume"], 6)

    def test_without_staleness_ranks_repeat_what_they_compressed(self):
        flags = ["--gradient-compression", "2bit:0.002"]
        done = run([*launched(2), *self.train, *self.asynchronous, "--staleness", "0", *flags,
                    "-o", self.folder / "fresh"])
        words = [w for w in self.train if w not in ("--format", "jsonl")]
        said = run([LSTMC, *words, "--replay", self.folder / "fresh/replay.log",
                    "-o", self.folder / "x"], 6).stderr
        self.assertRegex(said, r"E0610.*compression: found 0\.0020.* lstmc launch -n 2 with "
                               r"--kv-store dist_sync")
        again = run([*launched(2), *self.train, "--kv-store", "dist_sync", *flags,
                     "-o", self.folder / "afresh"])
        self.assertEqual(self.hash_of(again.stdout), self.hash_of(done.stdout))

    def test_a_job_that_was_stopped_or_lost_a_rank_goes_on_to_the_same_bits(self):
        flags = ["--kv-store", "dist_device_sync", "--gradient-compression", "2bit:0.002"]
        whole = run([*launched(3), *self.train, *flags, "-o", self.folder / "whole"])
        self.assertNotEqual(self.hash_of(whole.stdout),
                            self.want[("end", ranks.UPDATES)]["weights_hash"])
        part = [w if w != f"{ranks.UPDATES}u" else "9u" for w in self.train]
        run([*launched(3), *part, *flags, "-o", self.folder / "parts"])
        resumed = run([*launched(3), *self.train, *flags, "-o", self.folder / "parts", "--resume"])
        self.assertEqual(self.hash_of(resumed.stdout), self.hash_of(whole.stdout))
        refused = run([*launched(2), *self.train, *flags, "-o", self.folder / "parts", "--resume"],
                      6)
        self.assertIn("found those of 3 ranks, want those of 2 ranks",
                      refused.stderr + refused.stdout)
        disturbed = self.folder / "disturbed"
        job = Job([*launched(2, "--max-restarts", "1"), *self.endless(), *flags, "-o", disturbed])
        job.wait_for_checkpoint(disturbed, 8)
        os.kill(job.pids[1], signal.SIGKILL)
        job.wait_for("starts again, 1 of 1")
        job.wait_for_another_checkpoint(disturbed)
        update, weights = job.stop()
        undisturbed = run([*launched(2), *self.slow(update), *flags,
                           "-o", self.folder / "undisturbed"]).stdout
        self.assertEqual(json.loads(undisturbed.splitlines()[-1])["weights_hash"], weights)
        self.assert_none_left(job)

    def test_messages_in_pieces_are_the_same_messages(self):
        pieces = ["--env", "LSTMC_MPI_PIECE=16384"]
        done = run([*launched(1, "-s", "1", *pieces), *self.train, *self.asynchronous,
                    "-o", self.folder / "pieces"])
        self.assertEqual(self.events(done.stdout), self.want)
        # The receiver does not know the size of a compressed message.
        flags = ["--kv-store", "dist_sync", "--gradient-compression", "2bit:0.002"]
        whole, cut = (run([*launched(2, *more), *self.train, *flags, "-o",
                           self.folder / f"pieces{len(more)}"]).stdout for more in ([], pieces))
        self.assertEqual(self.hash_of(whole), self.hash_of(cut))

    def test_variables_of_workers_and_of_servers(self):
        words = [w if w != f"{ranks.UPDATES}u" else "9999u" for w in self.train]
        job = Job([*launched(1, "-s", "1", "--env-worker", "OF_WORKERS:1:2",
                             "--env-worker", "BOTH:w", "--env-server", "BOTH:s"),
                   *words, *self.asynchronous,
                   "-o", self.folder / "variables"])
        job.wait_for_checkpoint(self.folder / "variables", 4)
        worker, server = (
            dict(v.split("=", 1)
                 for v in pathlib.Path(f"/proc/{job.pids[rank]}/environ").read_text().split("\0")
                 if "=" in v)
            for rank in (0, 1))
        job.child.send_signal(signal.SIGTERM)
        self.assertEqual(job.end()[0], 143, job.text())
        self.assertEqual((worker.get("OF_WORKERS"), worker["BOTH"]), ("1:2", "w"))
        self.assertEqual((server.get("OF_WORKERS"), server["BOTH"]), (None, "s"))
        # Without servers all ranks are workers.
        done = run([*launched(2, "--env-worker", "LSTMC_CPU_LEVEL:avx2",
                              "--env-server", "LSTMC_CPU_LEVEL:none",
                              "--parallel-environment", "pe"),
                    *self.train, "-o", self.folder / "workers"])
        self.assertIn("note: no rank is a server", done.stderr)
        self.assertIn("note: --parallel-environment has no effect", done.stderr)
        self.assertEqual(self.events(done.stdout), self.want)
        self.assertIn("--env-server takes NAME:VALUE",
                      run([*launched(1, "-s", "1", "--env-server", "x"), *words, *self.asynchronous,
                           "-o", self.folder / "x"], 2).stderr)

    def test_one_worker_trains_as_one_process(self):
        """With any servers and any partition of the parameters."""
        for servers, flags in [(1, []), (3, ["--bigarray-bound", "100", "--staleness", "1"])]:
            with self.subTest(servers=servers):
                done = run([*launched(1, "-s", str(servers)), *self.train, *self.asynchronous,
                            *flags, "-o", self.folder / f"alone{servers}"])
                self.assertEqual(self.events(done.stdout), self.want)
                run([LSTMC, "diff", self.folder / "one" / "last",
                     self.folder / f"alone{servers}" / "last"])

    def test_a_server_updates_by_norms_of_its_own(self):
        """Servers measure the norms of lamb, which it needs before a commit, over their own weights
        and slots."""
        for number, flags in enumerate((["-d", "cpu"],
                                        ["-d", "2xcpu", "--fit", "clip_gradient_norm=0"])):
            words = [*self.train, "--optimizer", "lamb", *flags]
            one = run([LSTMC, *words, "-o", self.folder / f"lamb{number}"])
            done = run([*launched(1, "-s", "2"), *words, *self.asynchronous,
                        "-o", self.folder / f"lamb{number}-served"])
            self.assertEqual(self.events(done.stdout), self.events(one.stdout))
            run([LSTMC, "diff", self.folder / f"lamb{number}" / "last",
                 self.folder / f"lamb{number}-served" / "last"])

    def test_one_worker_with_several_devices_trains_as_one_process(self):
        for number, (flags, store) in enumerate([(["-d", "2xcpu"], "dist_async"), (
                ["-d", "3xcpu", "--bigarray-bound", "100"], "dist_async_device")]):
            with self.subTest(flags=flags):
                folder = self.folder / f"wide{number}"
                done = run([*launched(1, "-s", "2"), *self.train, "--kv-store", store, *flags,
                            "-o", folder])
                self.assertEqual(self.events(done.stdout), self.want)
                run([LSTMC, "diff", self.folder / "one" / "last", folder / "last"])
        # Layers on several devices, each with its own parameters; carried states are exchanged
        # after the update.
        for number, flags in enumerate((["-d", "2xcpu", "--place", "auto=2", "--chunks", "2"],
                                        ["-d", "4xcpu", "--place", "auto=2", "--chunks", "4"])):
            folder = self.folder / f"layered{number}"
            cut = run([*launched(1, "-s", "2"), *self.train, *flags, *self.asynchronous,
                       "-o", folder])
            self.assertEqual(self.events(cut.stdout), self.want)
            run([LSTMC, "diff", self.folder / "one" / "last", folder / "last"])
            self.assertEqual(*((at / "last" / "states.safetensors").read_bytes()
                               for at in (self.folder / "one", folder)))

    def test_workers_whose_layers_are_on_several_devices_are_replayed_on_one(self):
        folder = self.folder / "split"
        flags = ["--staleness", "2", "--bigarray-bound", "500"]
        done = run([*launched(2, "-s", "1"), *self.train, "-d", "2xcpu", "--place", "auto=2",
                    "--chunks", "2", *self.asynchronous, *flags, "-o", folder])
        self.assert_replays(folder, self.train, done.stdout)

    def test_workers_with_several_devices_do_what_those_with_one_do(self):
        """In the same order of pushes: each replays the log of the other."""
        folder, narrow = self.folder / "devices", self.folder / "device"
        flags = ["--staleness", "2", "--bigarray-bound", "500"]
        wide = [*self.train, "-d", "2xcpu"]
        done = run([*launched(2, "-s", "2"), *wide, "--kv-store", "dist_async_device", *flags,
                    "-o", folder])
        self.assert_replays(folder, wide, done.stdout)
        one = run([*launched(2, "-s", "2"), *self.train, *self.asynchronous, *flags, "-o", narrow])
        for log, devices, out in ((folder, "cpu", done.stdout), (narrow, "4xcpu", one.stdout)):
            for more in ([], ["--accumulate", "2"]):
                again = run([LSTMC, *self.train, "-d", devices, *more, "--replay",
                             log / "replay.log", "-o", self.folder / "otherwise", "--force"])
                self.assertEqual(self.events(again.stdout), self.events(out))
        for more in (["--set", "hidden=25"], ["--fit", "wd=0.5"], ["--dtype", "f64"],
                     ["--shards", "4"]):
            words = [w for w in self.train if w not in ("--format", "jsonl")]
            refused = run(
                [LSTMC, *words, *more, "--replay", folder / "replay.log", "-o", self.folder / "x"],
                6)
            self.assertIn("the network, its settings and fit(..), --dtype, --shards",
                          refused.stderr)
        # A worker's residuals are those of its summed gradients.
        one, two = (run([*launched(1, "-s", "1"), *self.train, *self.asynchronous,
                         "--gradient-compression", "2bit:0.002", "-d", devices,
                         "-o", self.folder / devices]).stdout for devices in ("cpu", "2xcpu"))
        self.assertEqual(self.events(one), self.events(two))

    def test_servers_leave_gpus_to_workers(self):
        """Each worker has one of three emulated GPUs, and the server none."""
        words = ([w if w != f"{ranks.UPDATES}u" else "6u" for w in self.train]
                 + ["--set", "hidden=4", "-b", "6", *self.asynchronous])
        with unittest.mock.patch.dict(os.environ, LSTMC_EMU_CARDS="3"):
            done = run([*launched(3, "-s", "1"), *words, "-d", "emu:local",
                        "-o", self.folder / "cards"])
            said = run([*launched(2, "-s", "1"), *words, "-d", "emu:0", "-o", self.folder / "x"], 5)
            self.assertIn("is bound by rank 0 and by rank 1", said.stdout + said.stderr)
            wide = run([*launched(1, "-s", "2"), *words, "-d", "emu:1,2",
                        "-o", self.folder / "wide-cards"])
        # One process replays it without GPUs.
        with unittest.mock.patch.dict(os.environ, LSTMC_EMU_CARDS="0"):
            again = run([LSTMC, *words, "-d", "cpu", "--replay",
                         self.folder / "cards" / "replay.log", "-o", self.folder / "uncarded"])
            self.assertEqual(self.events(again.stdout), self.events(done.stdout))
            run([LSTMC, "diff", self.folder / "cards" / "last", self.folder / "uncarded" / "last"])
            alone = run([LSTMC, *words[:-2], "-d", "cpu", "-o", self.folder / "uncarded",
                         "--force"])
            self.assertEqual(self.events(alone.stdout), self.events(wide.stdout))
        # With --fast, devices may differ in their bits.
        words += ["--fast", "bf16"]
        with unittest.mock.patch.dict(os.environ, LSTMC_EMU_CARDS="2"):
            done = run([*launched(2, "-s", "1"), *words, "-d", "emu:local",
                        "-o", self.folder / "fast"])
            log = ["--replay", self.folder / "fast" / "replay.log", "-o", self.folder / "faster",
                   "--force"]
            self.assertEqual(self.events(run([LSTMC, *words, "-d", "emu:0", *log]).stdout),
                             self.events(done.stdout))
            self.assertIn("under --fast the devices too",
                          run([LSTMC, *words, "-d", "cpu", *log], 6).stdout)

    def test_a_replay_has_the_bits_of_the_run(self):
        for number, (workers, servers, flags) in enumerate(
                [(2, 2, ["--staleness", "2", "--bigarray-bound", "500"]), (4, 1, []),
                 (2, 1, ["--staleness", "3", "--optimizer", "nadam", "--accumulate", "2"]),
                 (2, 2, ["--optimizer", "lamb"])]):
            with self.subTest(workers=workers, servers=servers, flags=flags):
                folder = self.folder / f"run{number}"
                done = run([*launched(workers, "-s", str(servers)), *self.train, *self.asynchronous,
                            *flags, "-o", folder])
                self.assert_replays(folder, self.train + flags, done.stdout)
                self.assert_bounded(folder / "replay.log")

    def assert_replays(self, folder, words, out):
        again = folder.parent / f"{folder.name}-again"
        done = run([LSTMC, *words, "--replay", folder / "replay.log", "-o", again])
        self.assertEqual(self.events(done.stdout), self.events(out))
        run([LSTMC, "diff", folder / "last", again / "last"])
        for name in ("optimizer", "states"):
            self.assertEqual((folder / "last" / f"{name}.safetensors").read_bytes(),
                             (again / "last" / f"{name}.safetensors").read_bytes())

    def assert_bounded(self, log):
        """Checks that no pull was answered before every worker had pushed all but its last K
        updates. Returns the largest lead of a worker."""
        lines = log.read_text().splitlines()
        workers, servers, bound = (int(line.split()[1]) for line in lines[1:4])
        ahead = 0
        for server in range(servers):
            pushed = [0] * workers
            for at, line in enumerate(lines):
                for event in lines[at + 1 + server].split() if line.startswith("events ") else []:
                    if event[0] == "u":
                        pushed[int(event[1:])] += 1
                    if event[0] == "a":
                        ahead = max(ahead, pushed[int(event[1:])] - min(pushed))
                    if event == "m":
                        self.assertEqual(len(set(pushed)), 1)
        self.assertLessEqual(ahead, bound)
        return ahead

    def test_a_slow_worker_is_waited_for(self):
        folder = self.folder / "late"
        words = [w if w not in ("4u", "12u") else "100u" for w in self.train] + ["--staleness", "2"]
        words[words.index(f"{ranks.UPDATES}u")] = "999999u"
        job = Job([*launched(2, "-s", "1"), *words, *self.asynchronous, "-o", folder])
        end, ahead, number = time.monotonic() + 90, 0, 0
        while ahead < 2 and time.monotonic() < end:  # until the workers have drifted apart
            job.wait_for_another_checkpoint(folder)
            ahead = self.assert_bounded(folder / "replay.log")
            time.sleep(0.01 * (number % 8))
            number += 1
            os.kill(job.pids[1], signal.SIGSTOP)
            time.sleep(0.2)
            os.kill(job.pids[1], signal.SIGCONT)
        update, weights = job.stop()
        self.assertEqual(self.assert_bounded(folder / "replay.log"), 2)
        words[words.index("999999u")] = f"{update}u"
        out = run([LSTMC, *words, "--replay", folder / "replay.log",
                   "-o", self.folder / "late-again"]).stdout
        self.assertEqual(json.loads(out.splitlines()[-1])["weights_hash"], weights)

    def test_another_number_of_workers_does_not_go_on(self):
        folder = self.folder / "numbers"
        # per worker: the same network for any number
        train = [*self.train, *self.asynchronous, "--batch-size", "4"]
        run([*launched(2, "-s", "1"), *train, "-o", folder])
        more = [w if w != f"{ranks.UPDATES}u" else "48u" for w in train]
        for workers, servers, message in (
                (4, 1, "workers: found 2, want 4; --init-params CHECKPOINT into another folder"),
                (2, 2, "servers: found 1, want 2; --init-params CHECKPOINT into another folder")):
            done = run([*launched(workers, "-s", str(servers)), *more, "-o", folder, "--resume"], 6)
            self.assertIn(message, done.stdout)
        words = [*self.train, *self.asynchronous, "-o", self.folder / "four",
                 "--init-params", folder / "last"]
        run([*launched(4, "-s", "1"), *words])

    def test_without_staleness_it_is_dist_sync(self):
        folder = self.folder / "sync"
        done = run([*launched(2), *self.train, *self.asynchronous, "--staleness", "0",
                    "-o", folder])
        self.assertEqual(self.events(done.stdout), self.want)
        done = run([LSTMC, *self.train, "--replay", folder / "replay.log",
                    "-o", self.folder / "sync-again"])
        self.assertEqual(self.events(done.stdout), self.want)

    def test_lost_workers_servers_and_signals(self):
        for name, rank, what in (("worker", 1, signal.SIGKILL), ("server", 2, signal.SIGKILL),
                                 ("signal", 1, signal.SIGTERM)):
            with self.subTest(name):
                folder = self.folder / f"lost-{name}"
                job = Job([*launched(2, "-s", "1", "--max-restarts", "1"), *self.endless(),
                           *self.asynchronous, "-o", folder])
                job.wait_for_checkpoint(folder, 8)
                os.kill(job.pids[rank], what)
                if name == "signal":
                    code, out = job.end()
                    self.assertEqual(code, 143, job.text())
                    words = self.slow(json.loads(out.splitlines()[-1])["update"] + 20)
                    out = run([*launched(2, "-s", "1"), *words, *self.asynchronous, "-o", folder,
                               "--resume"]).stdout
                    weights = json.loads(out.splitlines()[-1])["weights_hash"]
                else:
                    job.wait_for("starts again, 1 of 1")
                    job.wait_for_another_checkpoint(folder)
                    _, weights = job.stop()
                self.assert_none_left(job)
                again = run([LSTMC, *self.slow(), "--replay", folder / "replay.log",
                             "-o", self.folder / f"again-{name}"]).stdout
                self.assertEqual(json.loads(again.splitlines()[-1])["weights_hash"], weights)

    def test_what_is_wrong_with_a_log_is_said(self):
        folder = self.folder / "logged"
        run([*launched(2), *self.train, *self.asynchronous, "-o", folder])
        good = (folder / "replay.log").read_text()
        log = self.folder / "bad.log"
        cases = [(good.replace("replay 2", "replay 1"), "bad.log:1:1: error[E0603]"),
                 (good.replace("seed 0", "seed 1"), "found another digest"),
                 (good.replace("u0", "u7", 1), "found event \"u7\""),
                 (good.replace("workers 2", "workers 0"), "workers: found \"0\", want 1 to"),
                 (good.replace(" m", "", 2), "found another digest"),
                 ("", "bad.log:1:1: error[E0603]")]
        for text, message in cases:
            with self.subTest(message):
                self.assertNotEqual(text, good)
                log.write_text(text)
                self.assertIn(message, run([LSTMC, *self.train[:-2], "--replay", log,
                                            "-o", self.folder / "bad", "--force"], 6).stderr)
        self.assertRegex(good.splitlines()[-1], r"^finished \d+ [0-9a-f]{16} [0-9a-f]{16}$")
        cut = good[:good.rindex("\nend ") + 1]
        log.write_text(cut)
        run([LSTMC, *self.train, "--replay", log, "-o", self.folder / "cut"])  # the first part

    def test_batch_size_is_that_of_a_worker(self):
        done = run([*launched(2), *self.train, "--kv-store", "dist_sync", "--batch-size", "4",
                    "-o", self.folder / "halves"])
        self.assertEqual(self.events(done.stdout), self.want)
        done = run([*launched(2, "-s", "1"), *self.train, *self.asynchronous, "--batch-size", "4",
                    "-o", self.folder / "quarters"])
        self.assertIn("4 rows of 8 each", done.stderr)
        run([LSTMC, *self.train, "-b", "16", "--replay", self.folder / "quarters/replay.log",
             "-o", self.folder / "x"],
            6)

    def test_servers_are_those_that_update(self):
        words = [w for w in self.train if w not in ("--format", "jsonl")]
        done = run([*launched(2), *words, *self.asynchronous, "--update-on-kvstore", "0",
                    "-o", self.folder / "x"],
                   2)
        self.assertIn("with dist_async the servers update", done.stderr)

    def test_compression_is_refused_where_it_means_nothing(self):
        for words, message in [
                (["--gradient-compression", "2bit"], "is for what ranks send one another"),
                (["--gradient-compression",
                  "4bit"], 'takes none or 2bit[:T], got "4bit"; did you mean "2bit"?'),
                (["--gradient-compression", "2bit:0"], "want a positive number"),
                (["--gradient-compression", "2bit:x"], '"x"')]:
            self.assertIn(message,
                          run([LSTMC, *self.train[:-2], *words, "-o", self.folder / "x"], 2).stderr)


if __name__ == "__main__":
    if not (shutil.which("mpirun") and (LSTMC.parent / "liblstmc-mpi.so").exists()):
        print("skipped: there is no Open MPI; libopenmpi-dev and openmpi-bin bring it")
        sys.exit(77)
    unittest.main()
