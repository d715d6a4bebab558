"""RNN with a projection and a range of the cell state: values and gradients of the equations in
NumPy, in every layout."""

import itertools
import json
import os
import pathlib
import tempfile
import unittest

import numpy as np

import lstmc as mx
from lstmc import autograd, nd

STEPS, ROWS, INPUTS, UNITS, WIDTH = 4, 3, 5, 4, 2
LENGTHS = np.array([4, 0, 2], np.int32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Stack:
    """The layout of MXNet's vector and the equations, by docs/mxnet.md, without lstmc."""

    def __init__(self, layers=1, directions=1, projection=None, low=None, high=None, nan=False):
        self.layers, self.directions, self.projection = layers, directions, projection
        self.width = projection or UNITS
        self.low, self.high, self.nan = low, high, nan

    def attributes(self):
        given = {"state_size": UNITS, "num_layers": self.layers, "mode": "lstm",
                 "bidirectional": self.directions == 2, "state_outputs": True}
        if self.projection:
            given["projection_size"] = self.projection
        if self.low is not None:
            given.update(lstm_state_clip_min=self.low, lstm_state_clip_max=self.high,
                         lstm_state_clip_nan=self.nan)
        return given

    def shapes(self):
        """The shapes of the parts of the vector, in order."""
        weights, biases = [], []
        for layer, _ in itertools.product(range(self.layers), range(self.directions)):
            inputs = INPUTS if layer == 0 else self.directions * self.width
            weights += ([(4 * UNITS, inputs), (4 * UNITS, self.width)]
                        + ([(self.projection, UNITS)] if self.projection else []))
            biases += [(4 * UNITS,)] * 2
        return weights + biases

    def size(self):
        return sum(int(np.prod(shape)) for shape in self.shapes())

    def state_shapes(self):
        count = self.layers * self.directions
        return (count, ROWS, self.width), (count, ROWS, UNITS)

    def run(self, x, vector, h0=None, c0=None, lengths=None):
        parts, at = [], 0
        for shape in self.shapes():
            parts.append(vector[at : at + int(np.prod(shape))].reshape(shape))
            at += int(np.prod(shape))
        each = 3 if self.projection else 2
        weights, biases = parts[: each * self.layers
                                * self.directions], parts[each * self.layers * self.directions :]
        h_shape, c_shape = self.state_shapes()
        h0, c0 = np.zeros(h_shape) if h0 is None else h0, np.zeros(c_shape) if c0 is None else c0
        lengths = [STEPS] * ROWS if lengths is None else lengths
        last_h, last_c = h0.copy(), c0.copy()
        for layer in range(self.layers):
            y = np.zeros((STEPS, ROWS, self.directions * self.width), x.dtype)
            for direction in range(self.directions):
                number = layer * self.directions + direction
                w, r, *projection = weights[each * number : each * (number + 1)]
                b, d = biases[2 * number : 2 * number + 2]
                for row in range(ROWS):
                    h, c = h0[number, row], c0[number, row]
                    for step in range(lengths[row]):
                        t = step if direction == 0 else lengths[row] - 1 - step
                        i, f, g, o = np.split(w @ x[t, row] + b + r @ h + d, 4)
                        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
                        if self.low is not None:
                            c = np.where(np.isnan(c) if self.nan else False, self.low,
                                         np.clip(c, self.low, self.high))
                        h = sigmoid(o) * np.tanh(c)
                        h = projection[0] @ h if projection else h
                        y[t, row, direction * self.width : (direction + 1) * self.width] = h
                    last_h[number, row], last_c[number, row] = h, c
            x = y
        return [x, last_h, last_c]


def cases():
    for layers, directions, states, lengths in itertools.product((1, 2), (1, 2), (False, True),
                                                                 (False, True)):
        for given in ({"projection": WIDTH}, {"low": -0.1, "high": 0.2},
                      {"projection": WIDTH, "low": -0.3, "high": 0.1, "nan": True},
                      {"projection": UNITS}):
            yield Stack(layers, directions, **given), states, lengths


class Values(unittest.TestCase):
    def inputs(self, stack, states, lengths, dtype=np.float64):
        draw = np.random.default_rng(3)
        given = [draw.uniform(-1, 1, (STEPS, ROWS, INPUTS)), draw.uniform(-0.6, 0.6, stack.size())]
        if states:
            given += [draw.uniform(-1, 1, shape) for shape in stack.state_shapes()]
        return [value.astype(dtype) for value in given], LENGTHS if lengths else None

    def call(self, stack, arrays, lengths):
        attributes = dict(stack.attributes())
        names = dict(zip(("data", "parameters", "state", "state_cell"), arrays))
        if lengths is not None:
            names["sequence_length"], attributes["use_sequence_length"] = (
                nd.array(lengths, dtype="int32"), True)
        return nd.RNN(**names, **attributes)

    def test_values_and_gradients(self):
        """In float64: sums of some ten terms, so values agree to about 1e-15, and central
        differences with h = 1e-5 to 1e-9."""
        for number, (stack, states, lengths) in enumerate(cases()):
            with self.subTest(stack=vars(stack), states=states, lengths=lengths):
                given, lengths = self.inputs(stack, states, lengths)
                arrays = [nd.array(value, dtype="float64") for value in given]
                for array in arrays:
                    array.attach_grad()
                wanted = stack.run(given[0], given[1], *(given[2:] if states else (None, None)),
                                   lengths)
                factors = [np.random.default_rng(number).uniform(-1, 1, value.shape)
                           for value in wanted]
                with autograd.record():
                    outputs = self.call(stack, arrays, lengths)
                    losses = [(output * nd.array(factor, dtype="float64")).sum()
                              for output, factor in zip(outputs, factors)]
                autograd.backward(losses)
                for output, value in zip(outputs, wanted):
                    np.testing.assert_allclose(output.asnumpy(), value, rtol=1e-12, atol=1e-13)

                def loss(which, moved):
                    values = [moved if place == which else value
                              for place, value in enumerate(given)]
                    outputs = stack.run(values[0], values[1],
                                        *(values[2:] if states else (None, None)), lengths)
                    return sum((output * factor).sum() for output, factor in zip(outputs, factors))

                draw = np.random.default_rng(number)
                for which, array in enumerate(arrays):
                    for _ in range(3):  # along a random line through all elements
                        line, step = draw.uniform(-1, 1, given[which].shape), 1e-5
                        slope = (loss(which, given[which] + step * line)
                                 - loss(which, given[which] - step * line)) / (2 * step)
                        self.assertAlmostEqual(float((array.grad.asnumpy() * line).sum()), slope,
                                               delta=1e-7 * max(1, abs(slope)))

    def test_a_range_that_cuts_nothing_has_the_bits_of_the_loop(self):
        plain, ranged = Stack(2, 2), Stack(2, 2, low=-1e30, high=1e30)
        given, lengths = self.inputs(plain, True, True, np.float32)
        found = []
        for stack in (plain, ranged):
            arrays = [nd.array(value) for value in given]
            for array in arrays:
                array.attach_grad()
            with autograd.record():
                outputs = self.call(stack, arrays, lengths)
                losses = [(output * output).sum() for output in outputs]
            autograd.backward(losses)
            found.append([value.asnumpy().tobytes()
                          for value in [*outputs, *(array.grad for array in arrays)]])
            # parameters: the uses by single steps are summed in another order
            found[-1].pop(4)
        self.assertEqual(found[0], found[1])

    def test_nan_in_the_state(self):
        for nan in (False, True):
            stack = Stack(low=-0.25, high=0.25, nan=nan)
            given, _ = self.inputs(stack, True, False)
            given[3][0, 1, 2] = np.nan
            wanted = stack.run(*given)
            outputs = [output.asnumpy() for output in self.call(
                stack, [nd.array(value, dtype="float64") for value in given], None)]
            self.assertEqual(np.isnan(outputs[2]).any(), not nan)
            for output, value in zip(outputs, wanted):
                np.testing.assert_allclose(output, value, rtol=1e-12, atol=1e-13)


class Written(unittest.TestCase):
    """The language, symbol.json and variables in Gluon's packing make the same network as the
    symbol."""

    ATTRIBUTES = (
        "state_size=4, num_layers=2, mode=\"lstm\", bidirectional=True, state_outputs=True, "
        "projection_size=2, lstm_state_clip_min=-0.3, lstm_state_clip_max=0.1")

    def outputs(self, network, shapes, given):
        return [value.tobytes() for value in network.compile(shapes, entries=["forward"])
                .session(params=given).run({"data": self.x}).values()]

    def setUp(self):
        self.stack = Stack(2, 2, WIDTH, -0.3, 0.1)
        draw = np.random.default_rng(5)
        self.x = draw.uniform(-1, 1, (STEPS, ROWS, INPUTS)).astype(np.float32)
        self.vector = draw.uniform(-0.6, 0.6, self.stack.size()).astype(np.float32)

    def test_all_spellings(self):
        shapes = {"data": self.x.shape}
        symbol = mx.sym.RNN(mx.sym.Variable("data"), mx.sym.Variable("p"), name="r",
                            **self.stack.attributes())
        wanted = self.outputs(mx.Network(symbol), shapes, {"p": self.vector})
        for found, value in zip(wanted, self.stack.run(self.x, self.vector)):
            np.testing.assert_allclose(np.frombuffer(found, np.float32).reshape(value.shape), value,
                                       rtol=1e-5, atol=1e-6)

        text = symbol.tojson()
        [node] = [node for node in json.loads(text)["nodes"] if node["op"] == "RNN"]
        self.assertEqual((node["attrs"]["projection_size"], node["attrs"]["lstm_state_clip_min"]),
                         ("2", "-0.3"))
        self.assertEqual(
            self.outputs(mx.Network(mx.sym.load_json(text)), shapes, {"p": self.vector}), wanted)

        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "r.lnet")
            path.write_text(f"def net(data: float32[{STEPS}, {ROWS}, {INPUTS}]):\n    return "
                            f"RNN(data, Variable(\"p\"), {self.ATTRIBUTES}, name=\"r\")\n")
            self.assertEqual(self.outputs(mx.load(os.fspath(path)), None, {"p": self.vector}),
                             wanted)

    def test_packed_variables(self):
        """i2h weights of unknown width, as Gluon declares them: the stack determines the widths of
        all layers."""
        names = []
        for layer, direction in itertools.product(range(2), "lr"):
            names += [f"{direction}{layer}_{part}_weight" for part in ("i2h", "h2h", "h2r")]
        names += [f"{direction}{layer}_{part}_bias" for layer in range(2) for direction in "lr"
                  for part in ("i2h", "h2h")]
        variables, given, at = [], {}, 0
        for name, shape in zip(names, self.stack.shapes()):
            given[name] = self.vector[at : at + int(np.prod(shape))].reshape(shape)
            at += given[name].size
            known = (shape[0], 0) if "i2h_weight" in name else shape
            variables.append(mx.sym.reshape(mx.sym.Variable(name, shape=known), shape=(-1,)))
        packed = mx.sym._rnn_param_concat(*variables, dim=0)
        symbol = mx.sym.RNN(mx.sym.Variable("data"), packed, name="r", **self.stack.attributes())
        whole = mx.sym.RNN(mx.sym.Variable("data"), mx.sym.Variable("p"), name="r",
                           **self.stack.attributes())
        shapes = {"data": self.x.shape}
        self.assertEqual(self.outputs(mx.Network(symbol), shapes, given),
                         self.outputs(mx.Network(whole), shapes, {"p": self.vector}))


if __name__ == "__main__":
    unittest.main()
