"""Models of Keras itself, imported by `lstmc import --as keras-..`: `./dev bench keras` runs it
with the peers' Python, on PyTorch as Keras' backend.

Both sides compute in float32, and both must be within the bound that tests/frontend/bounded.py
derives from the equations, step by step. (The tests compare with the equations only, since CI has
no Keras.)
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
import safetensors.numpy

import lstmc

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "frontend"))
import bounded

STEPS, SYMBOLS, UNITS = 9, 20, 8
LAYERS = {"lstm": keras.layers.LSTM, "gru": keras.layers.GRU, "rnn_tanh": keras.layers.SimpleRNN}


def model(kind, layers, both):
    """An Embedding, a stack, a LayerNormalization and a Dense, with random weights and biases."""
    def layer():
        made = LAYERS[kind](UNITS, return_sequences=True)
        return keras.layers.Bidirectional(made) if both else made
    built = keras.Sequential([keras.Input((STEPS,)), keras.layers.Embedding(SYMBOLS, 6),
                              *[layer() for _ in range(layers)],
                              keras.layers.LayerNormalization(), keras.layers.Dense(5)])
    draw = np.random.default_rng(3)
    for variable in built.trainable_variables:
        variable.assign(draw.uniform(-0.4, 0.4, variable.shape) + ("gamma" in variable.path))
    return built


def as_torch(kind, layer, suffix):
    """A layer's weights in the form of `bounded`: gates i, f, g, o and r, z, n, a row per output,
    two biases."""
    kernel, recurrent, bias = (weight.astype("float64") for weight in layer.get_weights())
    order = [1, 0, 2] if kind == "gru" else range(kernel.shape[1] // UNITS)
    turned = lambda matrix: np.concatenate([np.split(matrix.T, len(order))[gate] for gate in order])
    biases = bias if kind == "gru" else np.stack([bias, np.zeros_like(bias)])
    return {f"weight_ih{suffix}": bounded.Matrix(turned(kernel)),
            f"weight_hh{suffix}": bounded.Matrix(turned(recurrent)),
            f"bias_ih{suffix}": turned(biases[0]).tolist(),
            f"bias_hh{suffix}": turned(biases[1]).tolist()}


def equations(built, kind, layers, both, ids):
    embedding, *stack, norm, dense = built.layers
    weights = {}
    for number, layer in enumerate(stack):
        for one, suffix in (((layer.forward_layer, f"_l{number}"),
                             (layer.backward_layer, f"_l{number}_reverse"))
                            if both else ((layer, f"_l{number}"),)):
            weights.update(as_torch(kind, one, suffix))
    ys = bounded.recurrent(kind, weights,
                           [bounded.Vector(embedding.get_weights()[0][i]) for i in ids], UNITS,
                           layers, 2 if both else 1)
    kernel, bias = dense.get_weights()
    return [bounded.product(bounded.Matrix(kernel.T),
                            bounded.layer_norm(y, *norm.get_weights(), norm.epsilon), bias)
            for y in ys]


class Keras(unittest.TestCase):
    def test_both_are_within_the_bound(self):
        for kind in LAYERS:
            for layers, both in ((1, False), (2, False), (1, True), (2, True)):
                with self.subTest(kind=kind, layers=layers,
                                  both=both), tempfile.TemporaryDirectory() as folder:
                    keras.backend.clear_session()
                    built = model(kind, layers, both)
                    ids = np.random.default_rng(1).integers(0, SYMBOLS, (1, STEPS)).astype("int32")
                    source, net = os.path.join(folder,
                                               "k.safetensors"), os.path.join(folder, "k.lnet")
                    safetensors.numpy.save_file(
                        {v.path: np.ascontiguousarray(keras.ops.convert_to_numpy(v))
                         for v in built.weights},
                        source)
                    done = subprocess.run([os.environ["LSTMC"], "import", source,
                                           "--as", "keras-" + kind.split("_")[0], "-o", net],
                                          capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    session = lstmc.load(net,
                                         set={"seq": STEPS}).compile(entries=["forward"]).session(
                                             net.replace(".lnet", ".weights.safetensors"))
                    [ours] = session.run({"data": ids}).values()
                    theirs = built.predict(ids, verbose=0)
                    for t, want in enumerate(equations(built, kind, layers, both, ids[0])):
                        bounded.check(self, ours[0][t], want)
                        bounded.check(self, theirs[0][t], want)


print("Keras", keras.__version__)
unittest.main()
