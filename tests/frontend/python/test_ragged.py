"""Tables with sequences of different lengths: a network reads what NumPy pads and scales."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np

LSTMC = os.environ["LSTMC"]

SUMS = """\
N, T = dim("batch", 3), dim("seq", 5)

def net(data: float32[N, T, 3], length: float32[N], label: float32[N, 1]):
    kept = SequenceMask(data, length, use_sequence_length=True, axis=1)
    w = Variable("w", shape=(3, 1), init=[[1], [10], [100]], lr_mult=0)
    y = sum(kept, axis=1) @ w + expand_dims(length, axis=1) * 1000 + expand_dims(sum(data - kept, axis=(1, 2)), axis=1)
    return LinearRegressionOutput(y, label)

fit(net, num_update=2, optimizer="sgd")
"""
STEPS = """\
N, T = dim("batch", 2), dim("seq", 4)

def net(data: float32[N, T, 1], length: float32[N], label: float32[N, T]):
    x, h, c = LSTM(data, num_hidden=4, layout="NTC", length=length, name="lstm")
    y = FullyConnected(x, num_hidden=2, flatten=False, name="out")
    return SoftmaxOutput(y, label, preserve_shape=True, use_ignore=True, ignore_label=-1, normalization="valid")

fit(net, num_update=4, seed=1)
"""
LENGTHS = [2, 5, 1, 3, 4, 5, 2]


class Ragged(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        draw = np.random.default_rng(4)
        self.rows = [draw.normal(3, 2, (length, 3)).round(3) for length in LENGTHS]  # a, b, y
        self.words = [draw.choice(["no", "yes"], length) for length in LENGTHS]
        lines = ["id,a,b,y,word"]
        for number, (rows, words) in enumerate(zip(self.rows, self.words)):
            lines += [f"s{number},{a},{b},{y},{word}" for (a, b, y), word in zip(rows, words)]
        (self.folder / "t.csv").write_text("\n".join(lines) + "\n")
        (self.folder / "sums.lnet").write_text(SUMS)
        (self.folder / "steps.lnet").write_text(STEPS)

    def lstmc(self, *words, status=0):
        done = subprocess.run([LSTMC, *words], cwd=self.folder, capture_output=True, text=True,
                              timeout=240)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_inputs_and_lengths(self):
        spec = "csv:t.csv,inputs=a|b|word,target=y,sequence=id"
        (self.folder / "sums.lnet").write_text(
            SUMS.replace("data: float32[N, T, 3]", "data: float32[N, T, 4]").replace(
                "shape=(3, 1), init=[[1], [10], [100]]", "init=[[1], [10], [100], [200]]"))
        self.lstmc("train", "sums.lnet", "--data", spec, "-o", "ck")
        for way in ([], ["-b", "2"], ["-d", "3xcpu"]):
            model = ["sums.lnet", "--params", "ck"] if way else ["ck"]
            self.lstmc("predict", *model, "--data", spec, "-o", "p.npy", "--force", *way)
            whole = np.concatenate(self.rows)
            mean, deviation = whole.mean(0), whole.std(0)
            wanted = []
            for rows, words in zip(self.rows, self.words):
                a, b = ((rows - mean) / deviation).sum(0)[:2]
                scaled = (a + 10 * b + 100 * (words == "no").sum() + 200 * (words == "yes").sum()
                          + 1000 * len(rows))
                wanted.append(scaled * deviation[2] + mean[2])
            np.testing.assert_allclose(np.load(self.folder / "p.npy").ravel(), wanted, rtol=1e-5)

    def test_labels_of_each_step_and_every_way_to_train(self):
        spec = "csv:t.csv,inputs=a,target=word,sequence=id,shuffle=no"
        hashes = set()
        for number, way in enumerate(([], ["-d", "2xcpu"], ["--accumulate", "2"])):
            end = json.loads(self.lstmc("train", "steps.lnet", "--set", "seq=5", "--data", spec,
                                        "--json", "-o", f"ck{number}", *way).stdout)["end"]
            hashes.add(end["weights_hash"])
        self.assertEqual(len(hashes), 1)
        self.lstmc("train", "steps.lnet", "--set", "seq=5", "--data", spec, "-o", "ck")
        said = json.loads(self.lstmc("eval", "ck", "--data", spec, "--json").stdout)
        self.assertEqual((said["labels"], said["ignored"]),
                         (sum(LENGTHS), 5 * len(LENGTHS) - sum(LENGTHS)))

    def test_messages(self):
        text = (self.folder / "t.csv").read_text()
        (self.folder / "again.csv").write_text(text + "s0,1,2,3,no\n")
        (self.folder / "gap.csv").write_text(text.replace("s1,", ",", 1))
        (self.folder / "hole.csv").write_text(text + "s9,1,,3,no\n")
        for spec, status, message in [
                ("csv:t.csv,inputs=a,target=word,sequence=id",
                 6, "t.csv:4:1: error[E0605]: sequence: found 5 rows, want at most the 4 steps of "
                    "input \"data\""),
                ("csv:again.csv,inputs=a,target=word,sequence=id", 6,
                 "again.csv:24:1: error[E0607]: column \"id\": found a sequence that ended before"),
                ("csv:gap.csv,inputs=a,target=word,sequence=id",
                 6, "gap.csv:4:1: error[E0607]: column \"id\": found a missing cell"),
                ("csv:hole.csv,inputs=b,target=word,sequence=id",
                 6, "hole.csv:24:1: error[E0607]: column \"b\": found a missing cell; fill=drop"),
                ("csv:t.csv,inputs=a,target=word,sequence=who",
                 6, "column \"who\": found none, want one of"),
                ("csv:t.csv,inputs=a,target=word,sequence=id,window=3",
                 2, "found window=, which is of windows")]:
            with self.subTest(spec):
                self.assertIn(message, self.lstmc("train", "steps.lnet", "--data", spec, "-o", "ck",
                                                  status=status).stderr)


if __name__ == "__main__":
    unittest.main()
