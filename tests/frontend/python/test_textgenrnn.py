"""samples/textgenrnn: the network with textgenrnn's weights satisfies its equations, in NumPy."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import lstmc

SOURCE = pathlib.Path(os.environ["LSTMC_SOURCE"])
MODEL = SOURCE.parent / "shared/data/models/textgenrnn"
SHERLOCK = SOURCE.parent / "shared/data/text/sherlockholmes/train.txt"
TEXT = ("All human beings are born free and equal in dignity and rights. They are endowed with "
        "reason and conscience.")
UNITS = 128


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, kernel, recurrent, bias):
    """keras.layers.LSTM over [B, T, I] in float64, with weights in CuDNNLSTM's form: a product per
    gate, each matrix as cuDNN has it."""
    inputs = [kernel[:, gate * UNITS : (gate + 1) * UNITS].reshape(UNITS, -1) for gate in range(4)]
    states = [recurrent[:, gate * UNITS : (gate + 1) * UNITS] for gate in range(4)]
    biases = bias.reshape(2, 4, UNITS).sum(0)
    h, c, outputs = np.zeros((len(x), UNITS)), np.zeros((len(x), UNITS)), []
    for step in range(x.shape[1]):
        i, f, g, o = (x[:, step] @ inputs[gate].T + h @ states[gate].T + biases[gate]
                      for gate in range(4))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return np.stack(outputs, 1)


def scores(file, ids):
    get = lambda layer, name: file[f"{layer}/{layer}/{name}:0"][()].astype(np.float64)
    embedded = get("embedding", "embeddings")[ids]
    first = lstm(embedded, *(get("rnn_1", name) for name in ("kernel", "recurrent_kernel", "bias")))
    second = lstm(first, *(get("rnn_2", name) for name in ("kernel", "recurrent_kernel", "bias")))
    x = np.concatenate([embedded, first, second], axis=2)
    weight = np.exp(x @ get("attention", "attention_W"))
    return ((x * weight / weight.sum(1, keepdims=True)).sum(1) @ get("output", "kernel")
            + get("output", "bias"))


def bits(scores, labels):
    """The bits of a character."""
    most = scores.max(1)
    return (most + np.log(np.exp(scores - most[:, None]).sum(1))
            - scores[np.arange(len(labels)), labels]).mean() / np.log(2)


if not MODEL.exists():
    skip(f"{MODEL} is not there")
try:
    import h5py
except ImportError:
    skip("h5py is not installed")

weights, vocabulary = MODEL / "textgenrnn_weights.hdf5", MODEL / "textgenrnn_vocab.json"
with tempfile.TemporaryDirectory() as folder:
    output = os.path.join(folder, "t")
    subprocess.run(
        [sys.executable, SOURCE / "samples/textgenrnn/convert.py", weights, vocabulary, output],
        check=True)
    symbols = json.loads(pathlib.Path(output + ".vocab.json").read_text())

    def windows_of(text):
        """The 40 symbols before each character, and the characters."""
        ids = [0] * 39 + [symbols.index(symbol) for symbol in ["<s>", *text]]
        return np.array([ids[k : k + 40] for k in range(len(text))], np.int32), ids[40:]

    def scored(windows):
        package = lstmc.load(SOURCE / "samples/textgenrnn/textgenrnn.lnet",
                             batch=len(windows)).compile(entries=["forward"])
        [scores] = package.session(output + ".safetensors").run({"data": windows}).values()
        return scores

    windows, labels = windows_of(TEXT)
    got = scored(windows)
    long_text = None
    if SHERLOCK.exists():
        known = [symbol for symbol in SHERLOCK.read_text() if symbol in symbols][:6000]
        long_windows, long_labels = windows_of(known)
        long_text = f"{bits(scored(long_windows).astype(np.float64), long_labels):.3f}"
with h5py.File(weights) as file:
    wanted = scores(file, windows)
# Not a proven bound: some 40 steps of sums of 356 products, of values up to 20. It distinguishes
# right gates from wrong ones.
np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-3)
print(f"{bits(got.astype(np.float64), labels):.3f} bits a character, {bits(wanted, labels):.3f} "
      "by the equations")
assert (f"{bits(got.astype(np.float64), labels):.3f}"
        == "2.368") , "samples/textgenrnn/README.md has another figure"
print(f"{long_text} bits a character of Sherlock Holmes" if long_text
      else f"{SHERLOCK} is not there")
assert long_text in (None,
                     "2.702"), f"samples/textgenrnn/README.md has another figure than {long_text}"
