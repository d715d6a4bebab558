"""CTCLoss against the sum over all paths, where these are few, and against alpha and beta in
NumPy in float64, at random; its gradient against theirs. `test_ctc.py --seeds A..B` draws more."""

import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import lstmc as mx
from lstmc import sym


def log_softmax(x):
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def by_paths(x, label, blank):
    """-log of the sum of the probabilities of all paths that become the label."""
    p, total = np.exp(log_softmax(x)), 0.0
    for path in itertools.product(range(x.shape[1]), repeat=len(x)):
        merged = [k for k, _ in itertools.groupby(path) if k != blank]
        if merged == list(label):
            total += np.prod(p[np.arange(len(x)), list(path)])
    return -np.log(total) if total > 0 else 0.0


def by_alpha_and_beta(x, label, blank):
    """(loss, gradient of x), in the linear domain."""
    steps, places = len(x), [blank]
    for k in label:
        places += [k, blank]
    p = np.exp(log_softmax(x))
    alpha, beta = np.zeros((2, steps, len(places)))

    def before(s):
        return [s - d for d in range(min(s, 2) + 1)
                if d < 2 or (places[s] != blank and places[s] != places[s - 2])]

    for t, s in np.ndindex(alpha.shape):
        came = float(s < 2) if t == 0 else sum(alpha[t - 1, r] for r in before(s))
        alpha[t, s] = came * p[t, places[s]]
    beta[-1, -2:] = 1
    for t in reversed(range(steps - 1)):
        for s in range(len(places)):
            for r in before(s):
                beta[t, r] += beta[t + 1, s] * p[t + 1, places[s]]
    total = (alpha[-1] * beta[-1]).sum()
    if total == 0:
        return 0.0, np.zeros_like(x)
    gradient = p.copy()
    for s, k in enumerate(places):
        gradient[:, k] -= alpha[:, s] * beta[:, s] / total
    return -np.log(total), gradient


class Ctc(unittest.TestCase):
    def loss_and_gradient(self, x, label, **given):
        """Of a network in float64: the losses, and the gradient of their sum."""
        lengths = {name: given.pop(name) for name in ("data_lengths", "label_lengths")
                   if name in given}
        y = sym.CTCLoss(sym.Variable("w", shape=x.shape), sym.Variable("label"),
                        **{name: sym.Variable(f"{name}_data") for name in lengths},
                        **{f"use_{name}": True for name in lengths}, **given)
        inputs = {"label": label, **{f"{name}_data": value for name, value in lengths.items()}}
        package = mx.Network(sym.MakeLoss(y, name="loss")).compile(
            {name: value.shape for name, value in inputs.items()}, dtype="f64", optimizer="sgd",
            rescale_grad=1.0, types={name: value.dtype.name for name, value in inputs.items()})
        session = package.session(params={"w": x})
        [loss] = session.run(inputs).values()
        session.run({**inputs, "learning_rate": [1.0], "update": [1], "seed": [0]}, entry="step")
        return loss, x - session.params()["w"]

    def drawn(self, seed):
        draw = np.random.default_rng(seed)
        steps, batch, classes, most = (int(draw.integers(*limits)) for limits in
                                       ((1, 6), (1, 4), (2, 5), (1, 4)))
        first = bool(draw.integers(2))
        x = 2 * draw.normal(size=(steps, batch, classes))
        blank, padding = (0, 0) if first else (classes - 1, -1)
        counts = draw.integers(0, most + 1, size=batch)
        label = draw.integers(first, classes - 1 + first, size=(batch, most))
        ends = draw.integers(1, steps + 1, size=batch)
        given = {"blank_label": "first" if first else "last"}
        if draw.integers(2):
            given["label_lengths"] = counts.astype("f4")
        else:
            label[np.arange(most) >= counts[:, None]] = padding
            if draw.integers(2) and most > 1:  # what follows the padding is not read
                label[:, -1] = first
                full = (label[:, :-1] != padding).all(1)
                counts = np.where(full, most, counts)
        if draw.integers(2):
            given["data_lengths"] = ends.astype("i4")
        else:
            ends[:] = steps
        loss, gradient = self.loss_and_gradient(x, label.astype("f4"), **given)
        wanted = np.zeros_like(x)
        for n in range(batch):
            own = x[:ends[n], n], label[n, :counts[n]], blank
            np.testing.assert_allclose(loss[n], by_paths(*own), rtol=1e-9, atol=1e-9,
                                       err_msg=f"{seed}")
            value, wanted[:ends[n], n] = by_alpha_and_beta(*own)
            np.testing.assert_allclose(loss[n], value, rtol=1e-9, atol=1e-9, err_msg=f"{seed}")
        np.testing.assert_allclose(gradient, wanted, rtol=0, atol=1e-9, err_msg=f"{seed}")

    def test_drawn(self):
        for seed in range(20):
            with self.subTest(seed=seed):
                self.drawn(seed)

    def test_a_long_sequence_in_float32(self):
        draw = np.random.default_rng(3)
        x = draw.normal(size=(120, 3, 9)).astype("f4")
        label = draw.integers(1, 9, size=(3, 20)).astype("f4")
        y = sym.CTCLoss(sym.Variable("data"), sym.Variable("label"))
        package = mx.Network(y).compile({"data": x.shape, "label": label.shape})
        [loss] = package.session({}).run({"data": x, "label": label}).values()
        wanted = [by_alpha_and_beta(x[:, n].astype("f8"), label[n].astype(int), 0)[0]
                  for n in range(3)]
        np.testing.assert_allclose(loss, wanted, rtol=1e-5)

    def test_names(self):
        for name in ("ctc_loss", "CTCLoss"):
            self.assertEqual(getattr(sym, name)(sym.Variable("data"), name="c").list_arguments(),
                             ["data", "c_label"])

    def test_of_arrays(self):
        x = np.random.default_rng(4).normal(size=(4, 2, 3)).astype("f4")
        found = mx.nd.ctc_loss(mx.nd.array(x), mx.nd.array([[1, 2], [2, 0]])).asnumpy()
        for n, label in enumerate(([1, 2], [2])):
            np.testing.assert_allclose(found[n], by_paths(x[:, n], label, 0), rtol=1e-5)


class Devices(unittest.TestCase):
    NET = """\
T, N = dim("seq", 9), dim("batch", 12)

def net(data: float32[T, N, 4], label: float32[N, 3]):
    x, h, c = LSTM(data, num_hidden=5, name="lstm")
    x = FullyConnected(x, num_hidden=6, flatten=False, name="fc")
    return MakeLoss(CTCLoss(x, label), name="loss")

data(net, train="npz:d.npz", shuffle=False)
fit(net, seed=3, optimizer="adam", learning_rate=0.02)
"""

    def test_the_same_bits_and_it_learns(self):
        draw = np.random.default_rng(5)
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            (folder / "net.lnet").write_text(self.NET)
            np.savez(folder / "d.npz", data=draw.normal(size=(24, 9, 4)).astype("f4"),
                     label=draw.integers(0, 6, size=(24, 3)).astype("f4"))
            ends = set()
            for words in ([], ["-d", "2xcpu"], ["-d", "4xcpu"], ["--accumulate", "3"]):
                done = subprocess.run(
                    [os.environ["LSTMC"], "train", "net.lnet", "--force", "--after", "2e", "-o",
                     "ck", *words], cwd=folder, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                ends.add([word for word in (done.stdout + done.stderr).split()
                          if len(word) == 16 and all(c in "0123456789abcdef" for c in word)][-1])
            self.assertEqual(len(ends), 1, ends)


def main():
    first, last = map(int, sys.argv[2].split(".."))
    for seed in range(first, last + 1):
        Ctc().drawn(seed)
    print(f"{last - first + 1} networks")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--seeds"]:
        main()
    else:
        unittest.main()
