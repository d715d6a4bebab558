"""Texts whose lines are sequences: a network reads what NumPy pads."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np

LSTMC = os.environ["LSTMC"]

NET = """\
N, T, vocab = dim("batch", 3), dim("seq", 6), setting("vocab", 10)

def net(data: int32[N, T], LENGTHlabel: int32[N, T]):
    x = Embedding(data, input_dim=vocab, output_dim=4, name="embed")
    x, h, c = LSTM(x, num_hidden=4, layout="NTC", GIVENname="lstm")
    y = FullyConnected(x, num_hidden=vocab, flatten=False, name="out")
    return SoftmaxOutput(y, label, preserve_shape=True, IGNOREnormalization="valid")

fit(net, num_update=8, seed=1, optimizer="adam")
"""
TEXT = "a cat sat\n\nthe cat\na dog sat on a cat\nno\non the cat sat a dog\nthe dog\n sat  no \na"
IGNORE = "use_ignore=True, ignore_label=-1, "


def net(length=True, ignore=IGNORE):
    return NET.replace("LENGTH", "length: float32[N], " * length).replace(
        "GIVEN", "length=length, " * length).replace("IGNORE", ignore)


class Lines(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "t.txt").write_text(TEXT)
        (self.folder / "net.lnet").write_text(net())

    def lstmc(self, *words, status=0):
        done = subprocess.run([LSTMC, *words], cwd=self.folder, capture_output=True, text=True,
                              timeout=240)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def write_arrays(self, name, words, steps):
        """The lines as arrays: words are numbered by frequency, then by first appearance."""
        if words:
            lines = [line.split() + ["<eos>"] for line in TEXT.split("\n")]
        else:
            lines = [list(line + "\n") for line in TEXT.split("\n")]
            lines[-1].pop()
        flat = [token for line in lines for token in line]
        order = sorted(dict.fromkeys(flat),
                       key=(lambda token: -flat.count(token)) if words else None)
        lines = [[order.index(token) for token in line] for line in lines if len(line) > 1]
        data, label = np.zeros((len(lines), steps),
                               np.int32), np.full((len(lines), steps), -1, np.int32)
        for row, line in enumerate(lines):
            data[row, :len(line) - 1], label[row, :len(line) - 1] = line[:-1], line[1:]
        np.savez(self.folder / name, data=data, label=label,
                 length=np.array([len(line) - 1 for line in lines], np.float32))
        return lines

    def test_training_is_that_on_arrays(self):
        for words in (True, False):
            steps, unit = (6, "word") if words else (20, "char")
            lines = self.write_arrays(f"{unit}.npz", words, steps)
            settings = ["--set", f"seq={steps}", "--set", "vocab=20"]
            hashes = set()
            for number, (spec, way) in enumerate(
                    [(f"npz:{unit}.npz", []), (f"text:t.txt,lines=yes,unit={unit}", []),
                     (f"text:t.txt,lines=yes,unit={unit}", ["-d", "2xcpu"]),
                     (f"text:t.txt,lines=yes,unit={unit}", ["--accumulate", "3"])]):
                done = self.lstmc("train", "net.lnet", *settings, "--data", spec,
                                  "--json", "-o", f"{unit}{number}", *way)
                hashes.add(json.loads(done.stdout)["end"]["weights_hash"])
            self.assertEqual(len(hashes), 1)
            said = json.loads(self.lstmc("eval", f"{unit}1", "--data",
                                         f"text:t.txt,lines=yes,unit={unit}", "--json").stdout)
            labels = sum(len(line) - 1 for line in lines)
            self.assertEqual((said["labels"], said["ignored"]),
                             (labels, len(lines) * steps - labels))

    def test_a_file_says_so(self):
        (self.folder / "net.lnet").write_text(
            net() + 'data(net, train="text:t.txt", lines=True, unit="word", valid=0.4)\n')
        said = json.loads(self.lstmc("train", "net.lnet", "--json", "-o", "ck").stdout)
        # of one batch: four of the eight lines are for training
        self.assertEqual(said["end"]["epoch"], 8)
        self.lstmc("predict", "ck", "--data", "text:t.txt,lines=yes", "-o", "p.npy")
        self.assertEqual(np.load(self.folder / "p.npy").shape[0], 8)

    def test_messages(self):
        (self.folder / "counted.lnet").write_text(net(ignore=""))
        (self.folder / "whole.lnet").write_text(net(length=False))
        for model, spec, status, message in [
                ("net.lnet", "text:t.txt,lines=yes,unit=char",
                 6, 't.txt:1:1: error[E0605]: line: found 9 symbols before its last, want at most '
                    'the 6 steps of input "data"'),
                ("net.lnet", "text:t.txt,lines=maybe",
                 2, 'data key lines: found "maybe", want yes or no'),
                ("net.lnet", "csv:t.txt,lines=yes", 2, 'data key "lines" is unknown for csv'),
                ("counted.lnet", "text:t.txt,lines=yes,unit=word",
                 6, "input \"label\": found no label that the head ignores"),
                ("net.lnet", "text:t.txt,unit=word", 6, 'found "data" and "length" in the network'),
                ("whole.lnet", "text:t.txt,lines=yes,unit=word,valid=0.9",
                 6, "text: found 0 lines in this part, want at least one batch of 3")]:
            with self.subTest(spec):
                self.assertIn(
                    message,
                    self.lstmc("train", model, "--data", spec, "-o", "ck", status=status).stderr)


if __name__ == "__main__":
    unittest.main()
