"""Steps beyond a sequence's length are never read: their values change no bit of outputs, losses
and weights."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import lstmc
import numpy as np
from lstmc import nd, sym

STEPS, BATCH, INPUTS = 6, 8, 3
LENGTHS = np.array([6, 1, 4, 3, 6, 2, 5, 1], np.int32)
PADS = {"zeros": 0.0, "large": 1e30, "infinity": np.inf, "nan": np.nan}

HEAD = """\
T, N = dim("seq", 6), dim("batch", 8)
def net(data: float32[N, T, 3], length: int32[N], label: float32[N, T]):
    x = SwapAxis(data, dim1=0, dim2=1)
"""
TAIL = """
    y = FullyConnected(SwapAxis(y, dim1=0, dim2=1), num_hidden=2, flatten=False, name="out")
    return SoftmaxOutput(y, label, preserve_shape=True, use_ignore=True, ignore_label=-1, normalization="valid")
fit(net, num_update=3, seed=1, optimizer="adam", learning_rate=0.05)
"""
NETS = {
    "lstm": '    y, h, c = LSTM(x, num_hidden=4, num_layers=2, p=0.3, length=length, name="r")',
    "both": '    y, h, c = LSTM(x, num_hidden=4, num_layers=2, bidirectional=True, '
            'length=length, name="r")',
    "gru": '    y, h = GRU(x, num_hidden=4, bidirectional=True, length=length, name="r")',
    "rnn": '    y, h = RNNLayer(x, num_hidden=4, activation="tanh", bidirectional=True, '
           'length=length, name="r")',
    "narrow lengths": '    y, h, c = LSTM(x, num_hidden=4, length=cast(length, '
                      'dtype="uint8"), name="r")',
    "projected": '    y = RNN(x, Variable("p", init=Uniform(0.5)), sequence_length=length, '
                 'use_sequence_length=True, state_size=4, num_layers=2, bidirectional=True, '
                 'mode="lstm", projection_size=2)',
    "double": '    y, h, c = LSTM(cast(x, dtype="float64"), num_hidden=4, length=length, '
              'name="r")\n    y = cast(y, dtype="float32")',
    "mask": '    y = FullyConnected(SequenceMask(x, length, use_sequence_length=True), '
            'num_hidden=4, flatten=False, name="r")',
    "last": '    y = FullyConnected(SequenceLast(x, length, use_sequence_length=True), '
            'num_hidden=4, name="r")\n'
            '    y = broadcast_to(expand_dims(y, axis=0), shape=(T, N, 4))',
    "reverse": '    y, h, c = LSTM(SequenceReverse(x, length, use_sequence_length=True), '
               'num_hidden=4, length=length, name="r")',
    "ignored": '    y, h, c = LSTM(x, num_hidden=4, length=length, name="r")\n    y = Concat(y + '
               'slice_axis(x, axis=2, begin=0, end=1), dim=2)',
}
# Reads the data past the recurrent layer, NaN included, so that only the loss head ignores them.
LOSS_ONLY = "    y = y + slice_axis(data, axis=2, begin=0, end=1)\n"
WAYS = {"scalar": ({"LSTMC_CPU_LEVEL": "scalar"}, []), "avx2": ({"LSTMC_CPU_LEVEL": "avx2"}, []),
        "best": ({}, []), "emu": ({}, ["-d", "emu"]),
        "two": ({}, ["-d", "2xcpu"]), "segments": ({}, ["--recompute", "steps=3", "--shards", "1"]),
        "accumulated": ({}, ["--accumulate", "2"])}


def padded(x, pad):
    """x [batch, steps, inputs] with this number beyond the lengths."""
    x = x.copy()
    for row, length in zip(x, LENGTHS):
        row[length:] = pad
    return x


class Beyond(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        draw = np.random.default_rng(2)
        x = draw.standard_normal((BATCH, STEPS, INPUTS)).astype(np.float32)
        label = draw.integers(0, 2, (BATCH, STEPS)).astype(np.float32)
        label[np.arange(STEPS) >= LENGTHS[:, None]] = -1
        for name, pad in PADS.items():
            np.savez(self.folder / f"{name}.npz", data=padded(x, pad), length=LENGTHS, label=label)

    def trained(self, pad, environment, words):
        done = subprocess.run([os.environ["LSTMC"], "train", "net.lnet", "--data", f"npz:{pad}.npz",
                               "--json", "-o", "ck", "--force", *words],
                              cwd=self.folder, capture_output=True, text=True, timeout=240,
                              env={**os.environ, **environment})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        end = json.loads(done.stdout)["end"]
        return end["weights_hash"], end.get("loss")

    def test_training(self):
        for name, line in NETS.items():
            if name == "ignored":
                text = (HEAD + line.split("\n")[0]
                        + TAIL.replace("    return", LOSS_ONLY + "    return"))
            else:
                text = HEAD + line + TAIL
            (self.folder / "net.lnet").write_text(text)
            ways = (("scalar", "avx2", "best", "emu", "two", "accumulated")
                    if name in ("both", "projected") else ("best", "segments") if name == "lstm"
                    else ("best", "emu"))
            for way in ways:
                environment, words = WAYS[way]
                with self.subTest(name, way=way):
                    found = {pad: self.trained(pad, environment, words)
                             for pad in (PADS if name == "lstm" else ("zeros", "nan"))}
                    self.assertEqual(set(found.values()), {found["zeros"]})

    def test_layers_on_two_devices_in_chunks(self):
        text = HEAD + ('    with ctx_group("a"):\n        y, h, c = LSTM(x, num_hidden=4, '
                       'length=length, name="r")\n'
                       '    with ctx_group("b"):\n        y, h2 = GRU(y, num_hidden=4, '
                       'length=length, name="s")') + TAIL
        for lengths in ("length", 'cast(length, dtype="uint8")'):
            (self.folder / "net.lnet").write_text(
                text.replace("length=length", f"length={lengths}"))
            alone = self.trained("zeros", {}, [])
            for words in (["-d", "2xcpu", "--place", "a=cpu:0,b=cpu:1", "--chunks", "3"],
                          ["-d", "2xemu", "--place", "a=emu:0,b=emu:1", "--chunks", "2"]):
                with self.subTest(lengths=lengths, words=words):
                    self.assertEqual(self.trained("nan", {}, words), alone)

    def test_gradients_of_an_executor(self):
        x = np.random.default_rng(3).standard_normal((BATCH, STEPS, INPUTS))
        for layer, more in (("LSTM", {}), ("GRU", {}), ("RNNLayer", {"activation": "tanh"})):
            for both in (False, True):
                with self.subTest(layer, bidirectional=both):
                    data, length = sym.Variable("data", shape=(STEPS, BATCH, INPUTS),
                                                dtype="float64"), sym.Variable(
                                                    "len", shape=(BATCH,), dtype="float64")
                    outputs = getattr(sym, layer)(data, num_hidden=3, num_layers=2,
                                                  bidirectional=both, length=length,
                                                  name="r", **more)
                    net = sym.Group(list(outputs))
                    names = net.list_arguments()
                    found = []
                    for pad in PADS.values():
                        executor = net.simple_bind(
                            data=(STEPS, BATCH, INPUTS), len=(BATCH,),
                            type_dict=dict.fromkeys(names, "float64"),
                            grad_req={name: "null" if name == "len" else "write" for name in names})
                        draw = np.random.default_rng(5)
                        for name in names:
                            value = (padded(x, pad).swapaxes(0, 1) if name == "data"
                                     else LENGTHS.astype(float) if name == "len"
                                     else draw.standard_normal(executor.arg_dict[name].shape))
                            executor.arg_dict[name][:] = nd.array(value, dtype="float64")
                        results = executor.forward(is_train=True)
                        executor.backward(
                            [nd.array(draw.standard_normal(result.shape), dtype="float64")
                             for result in results])
                        found.append([r.asnumpy() for r in results]
                                     + [executor.grad_dict[name].asnumpy() for name in names
                                        if name != "len"])
                    for other in found[1:]:
                        for mine, theirs in zip(found[0], other):
                            self.assertTrue(np.isfinite(mine).all())
                            np.testing.assert_array_equal(mine, theirs)


if __name__ == "__main__":
    unittest.main()
