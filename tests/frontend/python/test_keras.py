"""import --as keras-.. and tf-lstm: the package satisfies the layers' equations, in NumPy's
float64. tests/bench/keras_models.py compares with Keras."""

import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import lstmc

SOURCE = pathlib.Path(os.environ["LSTMC_SOURCE"])
MODEL = SOURCE.parent / "shared/data/models/ml5-charrnn-shakespeare"
TEXT = SOURCE.parent / "shared/data/text/tinyshakespeare/input.txt"
RANDOM = np.random.default_rng(5)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, w, order="ifco", forget=0):
    """keras.layers.LSTM over [T, I]."""
    units = w["recurrent_kernel"].shape[0]
    h, c, outputs = np.zeros(units), np.zeros(units), []
    for step in x:
        z = dict(zip(
            order, np.split(step @ w["kernel"] + h @ w["recurrent_kernel"] + w.get("bias", 0), 4)))
        c = sigmoid(z["f"] + forget) * c + sigmoid(z["i"]) * np.tanh(z["c"])
        h = sigmoid(z["o"]) * np.tanh(c)
        outputs.append(h)
    return np.array(outputs)


def gru(x, w):
    """keras.layers.GRU with reset_after=True."""
    units = w["recurrent_kernel"].shape[0]
    h, outputs = np.zeros(units), []
    for step in x:
        zx, rx, nx = np.split(step @ w["kernel"] + w["bias"][0], 3)
        zh, rh, nh = np.split(h @ w["recurrent_kernel"] + w["bias"][1], 3)
        z, r = sigmoid(zx + zh), sigmoid(rx + rh)
        h = z * h + (1 - z) * np.tanh(nx + r * nh)
        outputs.append(h)
    return np.array(outputs)


def simple(x, w):
    h, outputs = np.zeros(w["recurrent_kernel"].shape[0]), []
    for step in x:
        h = np.tanh(step @ w["kernel"] + h @ w["recurrent_kernel"] + w["bias"])
        outputs.append(h)
    return np.array(outputs)


LAYERS = {"keras-lstm": (lstm, 4), "keras-gru": (gru, 3), "keras-rnn": (simple, 1)}


def weights(kind, inputs, units):
    gates = LAYERS[kind][1]
    shapes = {"kernel": (inputs, gates * units), "recurrent_kernel": (units, gates * units),
              "bias": (2, 3 * units) if kind == "keras-gru" else (gates * units,)}
    return {name: RANDOM.uniform(-0.5, 0.5, shape).astype(np.float32)
            for name, shape in shapes.items()}


def write(path, tensors):
    header, data = {}, b""
    for name, array in tensors.items():
        header[name] = {"dtype": "F32", "shape": array.shape,
                        "data_offsets": [len(data), len(data) + array.nbytes]}
        data += np.ascontiguousarray(array).tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


class Import(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def command(self, kind, *more):
        return subprocess.run([os.environ["LSTMC"], "import", self.folder / "k.safetensors",
                               "--as", kind, "-o", self.folder / "k.lnet",
                               "--force", *more],
                              capture_output=True, text=True)

    def brought(self, kind, tensors, data):
        """The outputs of the imported network for one sequence."""
        write(self.folder / "k.safetensors", tensors)
        done = self.command(kind)
        self.assertEqual(done.returncode, 0, done.stderr)
        package = lstmc.load(self.folder / "k.lnet", set={"seq": len(data)}).compile(
            entries=["forward"])
        session = package.session(self.folder / "k.weights.safetensors")
        return next(iter(session.run({"data": np.asarray(data)[None]}).values()))[0]

    def near(self, got, wanted):
        # Not a proven bound: some 60 roundings of 2^-24 in sums below 8. It distinguishes right
        # gates and matrices from wrong ones.
        np.testing.assert_allclose(got, wanted, rtol=0, atol=60 * 8 * 2**-24)

    def test_stacks(self):
        for kind, (layer, _) in LAYERS.items():
            with self.subTest(kind):
                x = RANDOM.uniform(-1, 1, (6, 3)).astype(np.float32)
                name = {"keras-lstm": "lstm", "keras-gru": "gru", "keras-rnn": "simple_rnn"}[kind]
                # Eleven layers of a name are sorted by number, not as texts; safetensors files list
                # them sorted as texts.
                stack = {name + (f"_{k}" if k else ""): weights(kind, 3 if k == 0 else 4, 4)
                         for k in range(3)}
                # Keras 3 numbers the cell, Keras 2 the variable.
                tensors = {
                    f"{of}/{part}:0" if kind == "keras-rnn" else f"{of}/{name}_cell/{part}": value
                    for of, w in sorted(stack.items(), reverse=True) for part, value in w.items()}
                wanted = x
                for w in stack.values():
                    wanted = layer(wanted, w)
                self.near(self.brought(kind, tensors, x), wanted)

    def test_a_language_model_both_ways(self):
        ids = np.array([3, 0, 6, 1, 3], np.int32)
        table, kernel, bias = (RANDOM.uniform(-0.5, 0.5, shape).astype(np.float32)
                               for shape in ((7, 3), (8, 7), (7,)))
        gamma, beta = (RANDOM.uniform(0.5, 1, 8).astype(np.float32) for _ in range(2))
        there, back = weights("keras-lstm", 3, 4), weights("keras-lstm", 3, 4)
        tensors = {"embedding/embeddings:0": table, "layer_normalization/gamma:0": gamma,
                   "layer_normalization/beta:0": beta,
                   **{f"bidirectional/forward_lstm/lstm_cell/{part}:0": value
                      for part, value in there.items()},
                   **{f"bidirectional/backward_lstm/lstm_cell/{part}:0": value
                      for part, value in back.items()},
                   "dense/kernel:0": kernel, "dense/bias:0": bias}
        x = table[ids].astype(np.float64)
        y = np.concatenate([lstm(x, there), lstm(x[::-1], back)[::-1]], axis=1)
        y = (y - y.mean(1, keepdims=True)) / np.sqrt(y.var(1, keepdims=True) + 1e-3) * gamma + beta
        # The norm divides by a deviation that may be small.
        np.testing.assert_allclose(self.brought("keras-lstm", tensors, ids), y @ kernel + bias,
                                   rtol=0, atol=60 * 8 * 2**-24 / 0.05)

    def test_what_is_refused(self):
        good = {f"gru/gru_cell/{part}": value for part, value in weights("keras-gru", 3, 4).items()}
        for change, code in (
                ({"gru/gru_cell/bias": np.zeros(12, np.float32)}, "E0613"),
                ({"conv1d/conv_kernel": np.zeros(4, np.float32)}, "E0613"),
                ({"gru/gru_cell/bias": np.zeros(13, np.float32)}, "E0605"),
                ({"gru/gru_cell/kernel": np.zeros((3, 13), np.float32)}, "E0605"),
                ({"gru/gru_cell/recurrent_kernel": np.zeros((5, 12), np.float32)}, "E0605")):
            write(self.folder / "k.safetensors", {**good, **change})
            done = self.command("keras-gru")
            self.assertEqual(done.returncode, 6, done.stderr)
            self.assertIn(code, done.stderr)
        write(self.folder / "k.safetensors", {"dense/kernel": np.zeros((3, 4), np.float32)})
        self.assertIn("E0610", self.command("keras-lstm").stderr)


class CharRnn(unittest.TestCase):
    def test_the_shakespeare_model_of_ml5(self):
        if not (MODEL.exists() and TEXT.exists()):
            self.skipTest(f"{MODEL} is not there")
        with tempfile.TemporaryDirectory() as folder:
            lm = os.path.join(folder, "lm")
            subprocess.run([sys.executable, SOURCE / "samples/charrnn/convert.py", MODEL, lm],
                           check=True)
            subprocess.run([os.environ["LSTMC"], "import", lm + ".safetensors", "--as", "tf-lstm",
                            "-o", lm + ".lnet"],
                           check=True, capture_output=True)
            symbols = json.loads(pathlib.Path(lm + ".vocab.txt").read_text())
            ids = np.array([symbols.index(symbol) for symbol in TEXT.read_text()[:2000]], np.int32)
            package = lstmc.load(lm + ".lnet", set={"seq": len(ids)}).compile(entries=["forward"])
            logits = next(iter(
                package.session(lm + ".weights.safetensors").run({"data": ids[None]}).values()))[0]
            # Without `u` and `U`, which the published vocabulary lacks.
            left = np.array(
                [symbols.index(symbol) for symbol in TEXT.read_text()[:6000] if symbol not in "uU"],
                np.int32)
            package = lstmc.load(lm + ".lnet", set={"seq": len(left)}).compile(entries=["forward"])
            y = next(iter(package.session(lm + ".weights.safetensors").run({"data": left[None]})
                          .values()))[0, :-1].astype(np.float64)
            self.assertAlmostEqual(
                (np.log(np.exp(y).sum(1)) - y[np.arange(len(y)), left[1:]]).mean() / np.log(2),
                2.505, places=3)
        raw = {name: np.fromfile(MODEL / entry["filename"], "<f4").reshape(entry["shape"])
               for name, entry in json.loads((MODEL / "manifest.json").read_text()).items()}
        x = raw["embedding"][ids].astype(np.float64)
        for k in range(2):
            matrix = raw[f"rnnlm/multi_rnn_cell/cell_{k}/basic_lstm_cell/weights"]
            x = lstm(x, {"kernel": matrix[:-128], "recurrent_kernel": matrix[-128:],
                         "bias": raw[f"rnnlm/multi_rnn_cell/cell_{k}/basic_lstm_cell/biases"]},
                     "icfo", forget=1)
        wanted = x @ raw["rnnlm/softmax_w"] + raw["rnnlm/softmax_b"]
        bits = [(np.log(np.exp(y).sum(1)) - y[np.arange(1999), ids[1:]]).mean() / np.log(2)
                for y in (logits[:-1].astype(np.float64), wanted[:-1])]
        self.assertAlmostEqual(bits[0], bits[1], places=5)
        self.assertAlmostEqual(bits[0], 1.852, places=3)


if __name__ == "__main__":
    unittest.main()
