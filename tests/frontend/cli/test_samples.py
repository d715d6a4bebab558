"""The divisions among devices in samples/README.md: each trains to the same bits and draws its
picture. The sample in C has the output of the command."""
import os
import random
import re
import shlex
import subprocess
import unittest

from command import Case, LSTMC, SOURCE


def commands(name, section="Several devices"):
    """The words after `lstmc NAME` in that section, with the full path of the sample."""
    part = (SOURCE / "samples/README.md").read_text().split(f"## {section}\n")[1].split("\n## ")[0]
    for line in re.findall(rf"^lstmc {name} (.*)$", part, re.M):
        yield [str(SOURCE / word) if word.startswith("samples/") else word
               for word in shlex.split(line)]


class Samples(Case):
    SMALL = ["--set", "hidden=6", "-b", "8", "--set", "seq=12"]

    def test_four_ways_to_train_have_the_same_bits(self):
        draw = random.Random(3)
        (self.folder / "input.txt").write_text(
            "".join(draw.choice("abcdefg \n") for _ in range(4000)))
        hashes = []
        for i, words in enumerate(commands("train")):
            words[words.index("-o") + 1] = f"ck{i}"
            done = self.good("train", *words, *self.SMALL, "--after", "5u")
            hashes.append(re.search(r"weights ([0-9a-f]+)$", done.stdout.strip()).group(1))
        self.assertEqual(len(hashes), 4)
        self.assertEqual(len(set(hashes)), 1, hashes)

    def test_four_pictures(self):
        arrows = {}
        for words in commands("plot"):
            self.good("plot", *words, *self.SMALL)
            name = words[words.index("-o") + 1]
            svg = (self.folder / name).read_text()
            devices = re.findall(r">(cpu:\d): \d+ launches", svg)
            self.assertEqual(devices, ["cpu:0"] if name == "one.svg" else ["cpu:0", "cpu:1"])
            arrows[name] = svg.count("marker-end")
        self.assertEqual(sorted(arrows), ["layers.svg", "one.svg", "parallel.svg", "uneven.svg"])
        self.assertEqual(arrows.pop("one.svg"), 0)
        self.assertTrue(all(arrows.values()), arrows)

    def test_a_text_continued_in_c(self):
        (self.folder / "input.txt").write_text("the café is là, and the tea is là. " * 100)
        self.good("train", SOURCE / "samples/char_lm.lnet", "--data", "text:input.txt",
                  "--set", "hidden=24", "-b", "4", "--set", "seq=16", "--lr", "0.02",
                  "--after", "80u", "-o", "ck")
        program = os.path.join(os.path.dirname(LSTMC), "../../samples/c/sample_char_lm_c")

        def written(*words):
            return subprocess.run([program, *words], cwd=self.folder, capture_output=True,
                                  text=True, timeout=240)

        for prime, length in ("the c", "60"), ("là", "25"), ("é", "0"):
            wanted = self.good("sample", "ck", "--prime", prime, "--length", length,
                               "--temperature", "0").stdout
            # not a single repeated character
            self.assertGreaterEqual(len(set(wanted)), min(int(length), 8))
            self.assertEqual(written("ck/last", prime, length).stdout, wanted)
        for words, exit_code, said in (("none",), 6, "none/sample.lstmc"), (
                ("ck/last", "the x"), 2, '"x"'):
            done = written(*words)
            self.assertEqual(done.returncode, exit_code)
            self.assertIn(said, done.stderr)

    def test_a_cluster(self):
        words, = commands("plan")
        plan = self.document("plan", *words, *self.SMALL, schema="lstmc.plan/1")
        self.assertEqual([d["capacity_bytes"] for d in plan["devices"]], [16 << 30, 8 << 30])
        # The second device has half the speed, so the first waits.
        full = self.document("plan", *words, schema="lstmc.plan/1")
        self.assertGreater(full["devices"][0]["idle_fraction"],
                           full["devices"][1]["idle_fraction"] + 0.2)

    def test_hosts(self):
        words, = commands("plan", "Several hosts")
        plan = self.document("plan", *words, schema="lstmc.plan/1")
        self.assertEqual([host["host"] for host in plan["forecast"]["hosts"]],
                         [f"node{i}" for i in range(8)])
        words, = commands("plot", "Several hosts")
        self.good("plot", *words)
        curves = re.findall(r"<polyline[^>]*><title>(.*)</title>",
                            (self.folder / "scaling.svg").read_text())
        self.assertEqual(curves, ["data parallelism", "hybrid, 2 stages", "layer split, 4 stages"])


if __name__ == "__main__":
    unittest.main()
