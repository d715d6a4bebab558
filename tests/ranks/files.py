#!/usr/bin/env python3
"""files.py LSTMC: jobs whose data only one rank has (--data-on rank0).

A wrapper of mpirun starts each rank in its own folder: that of rank 0 has the network, the data and
the checkpoints, the others the network only. Prints what is missing and exits 77 without Open MPI.
"""
import json
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from ranks import LSTMC, NET  # noqa: E402

LENGTHS = """\
N, T = dim("batch", 8), dim("seq", 6)

def sums(data: float32[N, T, 2], length: float32[N], label: float32[N, 1]):
    x, h, c = LSTM(SwapAxis(data, dim1=0, dim2=1), num_hidden=6, length=length, name="lstm")
    return LinearRegressionOutput(FullyConnected(SequenceLast(x, length, use_sequence_length=True), num_hidden=1, name="out"), label)

fit(sums, optimizer="sgd", momentum=0.9, learning_rate=0.01)
"""
TABLE = """\
N, T = dim("batch", 8), dim("seq", 4)

def rows(data: float32[N, T, 2], label: float32[N, 1]):
    x, h, c = LSTM(SwapAxis(data, dim1=0, dim2=1), num_hidden=6, name="lstm")
    last = SequenceLast(x)
    return LinearRegressionOutput(FullyConnected(last, num_hidden=1, name="out"), label)

fit(rows, optimizer="adam", learning_rate=0.01)
data(rows, train="csv:table.csv,inputs=a|b,target=b,window=4", valid=0.2)
"""
MPIRUN = """\
#!/bin/bash
for word; do
  [ "$word" = {lstmc} ] && words+=(sh -c 'cd {folder}/$OMPI_COMM_WORLD_RANK && TMPDIR=$PWD/tmp exec "$@"' sh)
  words+=("$word")
done
exec {mpirun} "${{words[@]}}"
"""
UPDATES = 12


def npy(shape, value):
    """Writes float32 in C order: the value of each index."""
    head = (repr({"descr": "<f4", "fortran_order": False, "shape": shape}).ljust(117).encode()
            + b"\n")
    places = range(math.prod(shape))
    return (b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head
            + struct.pack(f"<{len(places)}f", *map(value, places)))


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        first = cls.folder / "0"
        script = cls.folder / "bin" / "mpirun"
        script.parent.mkdir()
        script.write_text(
            MPIRUN.format(lstmc=LSTMC, folder=cls.folder, mpirun=shutil.which("mpirun")))
        script.chmod(0o755)
        for rank in range(4):
            (cls.folder / str(rank)).mkdir()
            (cls.folder / str(rank) / "tmp").mkdir()
            for name, net in (("text.lnet", NET), ("lengths.lnet", LENGTHS), ("table.lnet", TABLE)):
                (cls.folder / str(rank) / name).write_text(net)
        (first / "train.txt").write_text(
            "".join("abcd\n"[(i * i // 7 + i // 3) % 5] for i in range(4000)))
        (first / "valid.txt").write_text(
            "".join("dcba\n"[(i * i // 5 + i // 3) % 5] for i in range(900)))
        (first / "symbols.txt").write_text("d\nc\nb\na\n\\n\n")
        (first / "table.csv").write_text("a,b\n"
                                         + "".join(f"{i % 7},{i * i % 11}\n" for i in range(200)))
        with zipfile.ZipFile(first / "lengths.npz", "w") as file:
            for name, shape, value in (("data", (64, 6, 2), lambda i: i * i % 17 / 17),
                                       ("length", (64,), lambda i: 1 + i % 6),
                                       ("label", (64, 1), lambda i: i % 5 / 5)):
                file.writestr(f"{name}.npy", npy(shape, value))

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def one(self, *words):
        done = subprocess.run([str(w) for w in (LSTMC, *words)], capture_output=True, text=True,
                              cwd=self.folder / "0", timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def ranks(self, count, *words, want=0, servers=0):
        """Starts a job whose ranks each have their own folder."""
        start = ["launch", "-n", count] + (["-s", servers] if servers else []) + ["--"]
        env = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        done = subprocess.run([str(w) for w in (LSTMC, *start, *words)], capture_output=True,
                              text=True, timeout=60, env=env)
        self.assertEqual(done.returncode, want, done.stdout + done.stderr)
        for rank in range(count + servers):
            self.assertEqual(list((self.folder / str(rank) / "tmp").iterdir()), [], "not removed")
        return done

    @staticmethod
    def hash_of(done):
        return json.loads(done.stdout.splitlines()[-1])["weights_hash"]

    def words(self, net, *more, updates=UPDATES):
        return ["train", net, "--after", f"{updates}u", "-t", "1", "--format", "jsonl", *more]

    CASES = {
        "text": ["text.lnet", "--data", "text:train.txt,vocab=symbols.txt",
                 "--valid", "text:valid.txt"],
        "lengths": ["lengths.lnet", "--data", "npz:lengths.npz"],
        "table": ["table.lnet"],
    }

    def test_ranks_train_with_the_data_of_rank_0(self):
        for name, (net, *data) in self.CASES.items():
            with self.subTest(name):
                want = self.hash_of(self.one(*self.words(net, *data, "-o", f"one-{name}")))
                done = self.ranks(
                    3, *self.words(net, *data, "-o", f"all-{name}", "--data-on", "rank0"))
                self.assertEqual(self.hash_of(done), want)
                self.assertFalse((self.folder / "1" / f"all-{name}").exists())

    def test_ranks_without_data_say_so(self):
        net, *data = self.CASES["lengths"]
        begin = time.monotonic()
        done = self.ranks(2, *self.words(net, *data, "-o", "without"), want=6)
        # nothing may be saved before all ranks have met: 1.5 s, not 10
        self.assertLess(time.monotonic() - begin, 10)
        self.assertIn("rank 1: lengths.npz: error[E0601]", done.stderr)

    def test_what_rank_0_cannot_read_ends_all(self):
        net = self.CASES["lengths"][0]
        done = self.ranks(
            3, *self.words(net, "--data", "npz:none.npz", "-o", "none", "--data-on", "rank0"),
            want=6)
        self.assertIn('"file":"none.npz"', done.stdout)
        for rank in range(3):
            self.assertFalse((self.folder / str(rank) / "none").exists())

    def test_ranks_go_on_from_the_checkpoint_of_rank_0(self):
        net, *data = self.CASES["text"]
        want = self.hash_of(self.one(*self.words(net, *data, "-o", "whole", updates=2 * UPDATES)))
        words = [net, *data, "-o", "on", "--data-on", "rank0"]
        self.ranks(2, *self.words(*words))
        self.assertEqual(
            self.hash_of(self.ranks(3, *self.words(*words, "--resume", updates=2 * UPDATES))), want)
        words[words.index("on")] = "nothing"
        done = self.ranks(2, *self.words(*words, "--resume"), want=6)
        self.assertRegex(done.stdout, r"E0601.*nothing")

    def test_asynchronous_workers_and_servers_have_them_too(self):
        net, *data = self.CASES["text"]
        store = ["--kv-store", "dist_async", "--data-on", "rank0", "-o", "async"]
        for more, updates in (([], UPDATES), (["--resume"], 2 * UPDATES)):
            done = self.ranks(2, *self.words(net, *data, *store, *more, updates=updates), servers=1)
        again = self.one(*self.words(net, *data, "--replay", "async/replay.log", "-o", "replayed"))
        self.assertEqual(self.hash_of(again), self.hash_of(done))

    def test_eval_reads_them_too(self):
        net, *data = self.CASES["text"]
        self.one(*self.words(net, *data, "-o", "measured"))
        for rank in (1, 2):
            shutil.copytree(self.folder / "0" / "measured", self.folder / str(rank) / "measured",
                            symlinks=True)
        words = ["eval", net, "--params", "measured", "--data", "text:valid.txt",
                 "--metric", "accuracy"]
        done = self.ranks(3, *words, "--data-on", "rank0")
        self.assertEqual(done.stdout, self.one(*words).stdout, done.stderr)
        self.assertRegex(done.stdout, r"accuracy 0\.\d+")

    def test_one_process_has_what_it_has(self):
        net, *data = self.CASES["lengths"]
        self.one(*self.words(net, *data, "-o", "alone", "--data-on", "rank0"))
        done = subprocess.run([str(LSTMC), "train", net, "--data-on", "rank1"], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIsNotNone(re.search(r"--data-on takes all or rank0, got \"rank1\"", done.stderr),
                             done.stderr)


if __name__ == "__main__":
    if not (shutil.which("mpirun") and (LSTMC.parent / "liblstmc-mpi.so").exists()):
        print("skipped: there is no Open MPI; libopenmpi-dev and openmpi-bin bring it")
        sys.exit(77)
    unittest.main()
