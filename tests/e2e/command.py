#!/usr/bin/env python3
"""Sameness through the command, its flags and its environment, as a user sees it.

usage: command.py LSTMC SAMPLE_CHAR_LM SOURCE_FOLDER SAMPLE_TRAIN
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

LSTMC, SAMPLE, SOURCE, SAMPLE_TRAIN = (os.path.abspath(path) for path in sys.argv[1:5])
NET = os.path.join(SOURCE, "samples", "char_lm.lnet")
UPDATES = 12


def run(*arguments, **environment):
    done = subprocess.run([LSTMC, *arguments], capture_output=True, text=True,
                          env={**os.environ, **environment})
    if done.returncode:
        raise AssertionError(f"{' '.join(arguments)}\nexit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


class Sameness(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.runs = 0

    def train(self, *flags, updates=UPDATES, to=None, **environment):
        """Trains in a new folder, or in `to`, and returns the event `end`."""
        self.runs += 1
        to = to or f"{self.folder.name}/{self.runs}"
        return run("train", NET, "--data", f"text:{NET}", "--set", "hidden=29",
                   "--shape", "data:6x9", "--after", f"{updates}u", "-o", to, "--json", *flags,
                   **environment)["end"]

    def hash(self, *flags, **environment):
        return self.train(*flags, **environment)["weights_hash"]

    def test_a_program_that_compiles_and_trains(self):
        """samples/cpp/train.cpp ends with the weights of the command."""
        folder = self.folder.name
        network, weights = f"{folder}/lm.lnet", f"{folder}/w.safetensors"
        with open(NET, encoding="utf-8") as file, open(network, "w", encoding="utf-8") as copy:
            copy.write(
                file.read().replace("initializer=Uniform(0.08),", "").partition("\ndata(")[0])
        done = subprocess.run([SAMPLE_TRAIN, NET, "30", weights], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"update 30  loss [23]\.\d+\n")
        run("train", network, "--data", f"text:{NET}", "--set", "hidden=64", "--shape", "data:8x32",
            "--lr", "0.005", "--after", "30u", "-o", f"{folder}/ck", "--json")
        compared = run("diff", weights, f"{folder}/ck/last/model.safetensors", "--json")
        self.assertTrue(compared["equal"], compared)
        self.assertGreater(compared["compared"], 8)

    def test_threads(self):
        one = self.hash("--threads", "1")
        for threads in "2", "3", "5":
            self.assertEqual(self.hash("--threads", threads), one, threads)

    def test_levels(self):
        best = self.hash()
        for level in "scalar", "avx2", "avx512":
            self.assertEqual(self.hash(LSTMC_CPU_LEVEL=level), best, level)

    def test_optimisations(self):
        names = "fuse", "hoist-projection", "in-place", "sharing"
        want = self.hash()
        for left_out in [(name,) for name in names] + [names]:
            flags = [flag for name in left_out for flag in ("--disable-pass", name)]
            self.assertEqual(self.hash(*flags), want, left_out)

    def test_shards_are_another_order(self):
        self.assertNotEqual(self.hash("--shards", "4"), self.hash("--shards", "8"))

    def test_seed_is_another_training(self):
        self.assertNotEqual(self.hash("--seed", "1"), self.hash("--seed", "2"))

    def test_resume(self):
        straight = self.train()
        to = f"{self.folder.name}/resumed"
        self.train(updates=5, to=to)
        resumed = self.train("--resume", "--threads", "3", to=to)
        for key in "weights_hash", "loss", "best_loss", "update":
            self.assertEqual(resumed[key], straight[key], key)

    def test_planned_is_measured(self):
        for device in self.train()["peak"]:
            self.assertLessEqual(device["measured_bytes"], device["planned_bytes"])


class Graphs(unittest.TestCase):
    def test_cpp_and_lnet_are_one_graph(self):
        for settings in (), ("40", "24", "3"):
            printed = subprocess.run([SAMPLE, *settings], capture_output=True, text=True,
                                     check=True).stdout
            names = ["vocab", "hidden", "layers"]
            flags = [flag for name, value in zip(names, settings)
                     for flag in ("--set", f"{name}={value}")]
            with tempfile.TemporaryDirectory() as folder:
                package = f"{folder}/char_lm.lstmc"
                run("compile", NET, "--json", "-o", package, *flags)
                found = run("inspect", package, "--json")
            self.assertIn(re.search(r"hash: (\w+)", printed)[1], json.dumps(found))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
