"""Indices that a network computes: those out of range are clipped as in MXNet, and counted, once each, however the work is divided."""
import math
import re
import unittest

from command import Case
from test_data import npy

# take(x, i) reads rows of the batch, so it is computed on all rows.
NET = """\
N = dim("batch", 8)

def f(data: float32[N, 6], label: float32[N, 4]):
    i = floor(data * 4)
    with recompute():
        x = Embedding(i, input_dim=3, output_dim=4, name="embed")
        x = sum(x * x * x, axis=1)
    y = pick(data, slice_axis(i, axis=1, begin=0, end=1), axis=1, keepdims=True, name="picked")
    z = sum(one_hot(i, depth=2, name="hot"), axis=1)
    rows = take(x, slice_axis(i, axis=1, begin=1, end=2), name="rows")
    kept = take(Variable("table", shape=(9, 4)), i + 4, name="kept")
    h = x + broadcast_mul(reshape(rows, shape=(-1, 4)), y) + sum(kept, axis=1)
    h = FullyConnected(Concat(h, z, dim=1), num_hidden=4, name="fc")
    return LinearRegressionOutput(h, label)

fit(f, optimizer="sgd", learning_rate=0.01, initializer=Xavier(), seed=3)
"""
X = [2 * math.sin(1.7 * i) ** 3 for i in range(24 * 6)]


def outside(extent, low, high, shift=0):
    """How many of the indices in columns [low, high) are no index of that extent."""
    return sum(not 0 <= math.floor(X[row * 6 + column] * 4) + shift < extent for row in range(24) for column in range(low, high))


COUNTS = {"embed (Embedding)": outside(3, 0, 6), "picked (pick)": outside(6, 0, 1), "hot (one_hot)": outside(2, 0, 6), "rows (take)": outside(8, 1, 2),
          "kept (take)": outside(9, 0, 6, 4)}


class Indices(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "f.lnet").write_text(NET)
        npy(self.folder / "x.npy", "f", "(24, 6)", X)
        npy(self.folder / "y.npy", "f", "(24, 4)", [0.1] * 96)

    def counts(self, done):
        self.assertEqual(done.stderr.count("W0703"), 1, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^f\.lnet:\d+:\d+: warning\[W0703\]: ")
        found = re.findall(r"(\w+ \(\w+\))[^\n]*?: (\d+) computed (?:index was|indices were) outside 0 to ", done.stderr)
        self.assertEqual(len(found), len(dict(found)))
        return {name: int(count) for name, count in found}

    def test_training_counts_each_once_on_any_devices(self):
        self.assertGreater(min(COUNTS.values()), 0)
        hashes = set()
        for number, words in enumerate(([], ["-d", "2xcpu"], ["-d", "3xcpu"], ["--accumulate", "2"], ["-t", "1"], ["--check-nan"], ["-d", "2xemu"])):
            done = self.good("train", "f.lnet", "--data", "npy:data=x.npy,label=y.npy", "--after", "3u", "-o", f"ck{number}", *words)
            self.assertEqual(self.counts(done), COUNTS, words)
            hashes.add(done.stdout.split()[-1])
        self.assertEqual(len(hashes), 1)
        done = self.good("eval", "ck0", "--data", "npy:data=x.npy,label=y.npy")
        self.assertEqual(self.counts(done), COUNTS)

    def test_run_and_what_stays_silent(self):
        (self.folder / "g.lnet").write_text("""\
def g(data: float32[5]):
    wrapped = take(Variable("w", shape=(4,)), data * 3, mode="wrap")
    return wrapped + take(Variable("v", shape=(4,)), data)
""")
        npy(self.folder / "in.npy", "f", "(5,)", [0, 1, 2, 3, 2.5])
        self.assertNotIn("warning", self.good("run", "g.lnet", "-i", "data=@in.npy").stderr)
        (self.folder / "g.lnet").write_text((self.folder / "g.lnet").read_text().replace(", data)", ", data * 2)"))
        done = self.good("run", "g.lnet", "-i", "data=@in.npy", "--repeat", "2")
        self.assertIn("take1 (take): 6 computed indices were outside 0 to 3: the nearest is read\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
