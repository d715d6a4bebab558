"""Indices, labels and lengths that a network computes: those out of range are clipped as in MXNet
and counted once each, however the work is divided."""
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
    """The number of indices in columns [low, high) that are out of range for that extent."""
    return sum(not 0 <= math.floor(X[row * 6 + column] * 4) + shift < extent for row in range(24)
               for column in range(low, high))


COUNTS = {"embed (Embedding)": outside(3, 0, 6), "picked (pick)": outside(6, 0, 1),
          "hot (one_hot)": outside(2, 0, 6), "rows (take)": outside(8, 1, 2),
          "kept (take)": outside(9, 0, 6, 4)}


class Indices(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "f.lnet").write_text(NET)
        npy(self.folder / "x.npy", "f", "(24, 6)", X)
        npy(self.folder / "y.npy", "f", "(24, 4)", [0.1] * 96)

    def counts(self, done):
        self.assertEqual(done.stderr.count("W0703"), 1, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^\w\.lnet:\d+:\d+: warning\[W0703\]: ")
        found = re.findall(r"(\w+ \(\w+\))[^\n]*?: (\d+) computed \w+ (?:was|were) outside \d to ",
                           done.stderr)
        self.assertEqual(len(found), len(dict(found)), found)
        return {name: int(count) for name, count in found}

    def test_training_counts_each_once_on_any_devices(self):
        self.assertGreater(min(COUNTS.values()), 0)
        hashes = set()
        for number, words in enumerate(([], ["-d", "2xcpu"], ["-d", "3xcpu"], ["--accumulate", "2"],
                                        ["-t", "1"], ["--check-nan"], ["-d", "2xemu"])):
            done = self.good("train", "f.lnet", "--data", "npy:data=x.npy,label=y.npy",
                             "--after", "3u", "-o", f"ck{number}", *words)
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
        (self.folder / "g.lnet").write_text(
            (self.folder / "g.lnet").read_text().replace(", data)", ", data * 2)"))
        done = self.good("run", "g.lnet", "-i", "data=@in.npy", "--repeat", "2")
        self.assertIn("take1 (take): 6 computed indices were outside 0 to 3: the nearest is read\n",
                      done.stderr)

    def test_computed_labels_and_lengths_on_any_devices(self):
        (self.folder / "h.lnet").write_text("""\
N = dim("batch", 8)

def h(data: float32[N, 6], label: float32[N]):
    n = floor(reshape(slice_axis(data, axis=1, begin=0, end=1), shape=(-1,)) * 4)
    x = SwapAxis(reshape(data, shape=(-1, 6, 1)), dim1=0, dim2=1)
    y = x
    for i in range(2):
        y = LSTM(y, num_hidden=4, length=n, name="lstm%d" % i)[0]
    last = SequenceLast(y, n, use_sequence_length=True, name="last")
    mask = SequenceMask(y, n, use_sequence_length=True, name="mask")
    back = SequenceReverse(y, n, use_sequence_length=True, name="back")
    soft = softmax(data, n, use_length=True, name="soft")
    z = Concat(last, sum_axis(mask, axis=0), sum_axis(back * back, axis=0), soft, dim=1)
    z = FullyConnected(z, num_hidden=3, name="fc")
    heads = [SoftmaxOutput(z, label * 2 + 1, name="head"), SoftmaxOutput(z, label - 1, use_ignore=True, ignore_label=-1, name="ignoring")]
    return heads[0], heads[1], softmax_cross_entropy(z, label - 1, name="entropy")

fit(h, optimizer="sgd", learning_rate=0.01, initializer=Xavier(), seed=3)
""")
        npy(self.folder / "l.npy", "f", "(24,)", [i % 3 for i in range(24)])
        n = [math.floor(X[row * 6] * 4) for row in range(24)]
        lengths = sum(not 0 <= one <= 6 for one in n)
        counts = {"lstm0 (rnn_layer)": lengths, "lstm1 (rnn_layer)": lengths,
                  "last (SequenceLast)": sum(not 1 <= one <= 6 for one in n),
                  "mask (SequenceMask)": lengths,
                  "back (SequenceReverse)": lengths, "soft (softmax)": lengths,
                  "head (SoftmaxOutput)": 16, "entropy (softmax_cross_entropy)": 8}
        self.assertGreater(min(lengths, counts["last (SequenceLast)"] - lengths), 0)
        for number, words in enumerate(([], ["-d", "2xcpu"], ["--accumulate", "2"],
                                        ["-d", "2xcpu", "--place", "auto=2"], ["-d", "2xemu"])):
            done = self.good("train", "h.lnet", "--data", "npy:data=x.npy,label=l.npy",
                             "--after", "3u", "-o", f"ck{number}", *words)
            self.assertLessEqual(self.counts(done).items(), counts.items(), words)
            self.assertIn("and 3 more ops", done.stderr)
            self.assertNotIn("ignoring", done.stderr)
        done = self.good("eval", "ck0", "--data", "npy:data=x.npy,label=l.npy")
        self.assertLessEqual(self.counts(done).items(), counts.items())
        self.assertIn("lengths were outside 0 to 6: the nearest counts", done.stderr)

    def test_several_indices_have_a_range_each(self):
        npy(self.folder / "good.npy", "f", "(3, 5)",
            [0, 1, 2, 3, 4] + [0, 1, 2, 3, 3] + [4, 3, 2, 1, 0])
        npy(self.folder / "second.npy", "f", "(3, 5)",
            [0, 1, 2, 3, 4] + [0, 1, 2, 4, 4] + [4, 3, 2, 1, 0])
        npy(self.folder / "none.npy", "f", "(3, 5)",
            [0, 1, 2, 3, 4] + [0, 1, 2, 3, 3] + [5, 3, 2, 1, 0])
        for op in ('gather_nd(Variable("t", shape=(5, 4, 5)), DATA, name="nd")',
                   'scatter_nd(Variable("t", shape=(5,)), DATA, shape=(5, 4, 5), name="nd")'):
            net = f"def g(data: float32[3, 5]):\n    return {op}\n"
            (self.folder / "given.lnet").write_text(net.replace("DATA", "data"))
            (self.folder / "computed.lnet").write_text(net.replace("DATA", "data * 2"))
            self.assertNotIn("warning",
                             self.good("run", "given.lnet", "-i", "data=@good.npy").stderr)
            # Out of range for every axis: refused. Out of range for its own axis only: counted.
            done = self.run_here("run", "given.lnet", "-i", "data=@none.npy")
            self.assertEqual(done.returncode, 6, done.stderr)
            self.assertIn("0 to 4", done.stderr)
            said = self.good("run", "given.lnet", "-i", "data=@second.npy").stderr
            self.assertRegex(said, r"nd \((gather|scatter)_nd\): 2 indices were outside 0 to 3: "
                                   r"the nearest is read")
            said = self.good("run", "computed.lnet", "-i", "data=@good.npy").stderr
            # 6 and 8 on each axis of 5; 4, 6 and 6 on that of 4.
            self.assertRegex(said, r"nd \((gather|scatter)_nd\)[^\n]*: 4 computed indices were "
                                   r"outside 0 to 4: the nearest is read")
            self.assertRegex(said, r"nd \((gather|scatter)_nd\)[^\n]*: 3 computed indices were "
                                   r"outside 0 to 3: the nearest is read")

    def test_a_computed_index_that_take_refuses_ends_the_run(self):
        net = """\
N, scale = dim("batch", 8), setting("scale", 1)

def r(data: float32[N, 6], label: float32[N, 4]):
    i = slice_axis(data, axis=1, begin=0, end=1) * scale
    x = FullyConnected(data, num_hidden=4, name="fc")
    rows = take(Variable("table", shape=(9, 4)), i, mode="raise", name="rows")
    return LinearRegressionOutput(x + reshape(rows, shape=(-1, 4)), label)

fit(r, optimizer="sgd", learning_rate=0.01, initializer=Xavier(), seed=3)
"""
        (self.folder / "r.lnet").write_text(net)
        rows = [[row % 9] + [0.1] * 5 for row in range(24)]
        npy(self.folder / "in.npy", "f", "(24, 6)", sum(rows, []))
        rows[20][0] = 9
        npy(self.folder / "out.npy", "f", "(24, 6)", sum(rows, []))
        train = ["train", "r.lnet", "--after", "3u"]
        said = (r"(?m)^r\.lnet:6:12: error\[E0604\]: rows \(take\): found index 9, want 0 to 8, "
                r"since its mode is raise$")
        hashes = set()
        for number, words in enumerate(([], ["-d", "2xcpu"], ["--accumulate", "2"], ["--check-nan"],
                                        ["-d", "2xcpu", "--check-nan"], ["-d", "emu"],
                                        ["-d", "2xemu"])):
            done = self.good(*train, "--data", "npy:data=in.npy,label=y.npy",
                             "-o", f"good{number}", *words)
            self.assertNotIn("warning", done.stderr)
            hashes.add(done.stdout.split()[-1])
            done = self.run_here(*train, "--data", "npy:data=out.npy,label=y.npy",
                                 "-o", f"bad{number}", *words)
            self.assertEqual(done.returncode, 6, (words, done.stderr))
            self.assertRegex(done.stderr, said)
            self.assertNotIn("W0703", done.stderr)
        self.assertEqual(len(hashes), 1)
        # Fractions and NaN as indices; as input data they are refused.
        (self.folder / "s.lnet").write_text(
            'def s(data: float32[3]):\n    return take(Variable("v", shape=(4,)), data * 1, '
            'mode="raise")\n')
        self.good("run", "s.lnet", "-i", "data=3.9")
        for value, found in (("-1", "-1"), ("4", "4"), ("1e30", r"1\S*e\+30")):
            done = self.run_here("run", "s.lnet", "-i", f"data={value}")
            self.assertEqual(done.returncode, 6, done.stderr)
            self.assertRegex(done.stderr, rf"found index {found}, want 0 to 3")
        # A slice of an input whose rest is not read.
        (self.folder / "s.lnet").write_text(
            'def s(data: float32[3]):\n    return take(Variable("v", shape=(4,)), slice_axis(data, '
            'axis=0, begin=0, end=2), mode="raise")\n')
        npy(self.folder / "three.npy", "f", "(3,)", [0, 3, 7])
        self.good("run", "s.lnet", "-i", "data=@three.npy")
        npy(self.folder / "three.npy", "f", "(3,)", [0, 4, 7])
        done = self.run_here("run", "s.lnet", "-i", "data=@three.npy")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("take0 (take): found index 4, want 0 to 3", done.stderr)

    def test_heads_say_what_becomes_of_a_label(self):
        (self.folder / "s.lnet").write_text("""\
def s(data: float32[4, 6], label: float32[4]):
    return SoftmaxOutput(FullyConnected(data, num_hidden=3), label * 2 + 5, name="head")
""")
        npy(self.folder / "l.npy", "f", "(24,)", [i % 3 for i in range(24)])
        done = self.good("train", "s.lnet", "--data", "npy:data=x.npy,label=l.npy", "--after", "6u",
                         "-o", "ck")
        self.assertIn("head (SoftmaxOutput): 24 computed labels were outside 0 to 2: for the "
                      "gradient such a row is of no class, for the loss of the nearest\n",
                      done.stderr)


if __name__ == "__main__":
    unittest.main()
