"""Gluon's recurrent layers and cells, judged by loops over NumPy and by sym.LSTM; datasets and
loaders."""

import tempfile
import unittest

import numpy as np

import lstmc as mx
from lstmc import autograd, gluon, nd, sym
from lstmc.gluon import data, rnn

RANDOM = np.random.default_rng(7)
STEPS, BATCH, INPUTS, UNITS = 6, 4, 3, 5


def reals(*shape):
    return RANDOM.normal(size=shape).astype("f4")


def close(got, wanted, tolerance=2e-5):
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=tolerance, atol=tolerance)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def step(kind, x, h, c, w):
    """(h, c) after a step of MXNet's cells; w are i2h and h2h, weights and biases."""
    i2h, h2h = x @ w["i2h_weight"].T + w["i2h_bias"], h @ w["h2h_weight"].T + w["h2h_bias"]
    if kind == "lstm":
        i, f, g, o = np.split(i2h + h2h, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    if kind == "gru":
        (ir, iz, i_n), (hr, hz, hn) = np.split(i2h, 3, axis=1), np.split(h2h, 3, axis=1)
        z, n = sigmoid(iz + hz), np.tanh(i_n + sigmoid(ir + hr) * hn)
        return (1 - z) * n + z * h, c
    return (np.tanh if kind == "tanh" else lambda v: np.maximum(v, 0))(i2h + h2h), c


def steps_of(kind, x, weights, layers, sides):
    """Outputs [T, N, C] of a stack, and its last h and c, from states of zeros."""
    last = [[], []]
    for layer in range(layers):
        found = []
        for side in sides:
            w = {name[len(f"{side}{layer}_"):]: value for name, value in weights.items()
                 if name.startswith(f"{side}{layer}_")}
            h, c = np.zeros((BATCH, UNITS)), np.zeros((BATCH, UNITS))
            outputs = []
            for row in (x if side == "l" else x[::-1]):
                h, c = step(kind, row, h, c, w)
                outputs.append(h)
            found.append(np.stack(outputs if side == "l" else outputs[::-1]))
            last[0].append(h)
            last[1].append(c)
        x = np.concatenate(found, axis=2)
    return x, np.stack(last[0]), np.stack(last[1])


MAKERS = {"lstm": rnn.LSTM, "gru": rnn.GRU,
          "tanh": lambda *a, **k: rnn.RNN(*a, activation="tanh", **k),
          "relu": lambda *a, **k: rnn.RNN(*a, activation="relu", **k)}
CELLS = {"lstm": rnn.LSTMCell, "gru": rnn.GRUCell, "tanh": rnn.RNNCell}


class Layers(unittest.TestCase):
    def test_values_and_states(self):
        x = reals(STEPS, BATCH, INPUTS)
        for kind, make in MAKERS.items():
            for layout in ("TNC", "NTC"):
                for two in (False, True):
                    layer = make(UNITS, 2, layout=layout, bidirectional=two)
                    layer.initialize(mx.init.Uniform(0.5))
                    given = nd.array(x if layout == "TNC" else x.swapaxes(0, 1))
                    for hybridized in (False, True):
                        layer.hybridize(hybridized)
                        output, states = layer(given, layer.begin_state(BATCH))
                        weights = {name: parameter.data().asnumpy().astype("f8")
                                   for name, parameter in layer._reg_params.items()}
                        wanted = steps_of(kind, x.astype("f8"), weights, 2, "lr" if two else "l")
                        close(output.asnumpy() if layout == "TNC"
                              else output.asnumpy().swapaxes(0, 1), wanted[0])
                        for state, expected in zip(states, wanted[1:]):
                            close(state.asnumpy(), expected)
                        np.testing.assert_array_equal(layer(given).asnumpy(), output.asnumpy())

    def test_states_go_on(self):
        layer = rnn.LSTM(UNITS, 2)
        layer.initialize()
        x = nd.array(reals(STEPS, BATCH, INPUTS))
        whole = layer(x).asnumpy()
        for hybridized in (False, True):
            layer.hybridize(hybridized)
            first, states = layer(x[:4], layer.begin_state(BATCH))
            second, _ = layer(x[4:], states)
            np.testing.assert_array_equal(
                np.concatenate([first.asnumpy(), second.asnumpy()]), whole)

    def test_lengths(self):
        layer = rnn.LSTM(UNITS, 1, use_sequence_length=True)
        layer.initialize(mx.init.Uniform(0.5))
        x, lengths = reals(STEPS, BATCH, INPUTS), [6, 2, 3, 1]
        output, (h, _) = layer(nd.array(x), layer.begin_state(BATCH),
                               nd.array(lengths, dtype="int32"))
        for row, length in enumerate(lengths):
            self.assertTrue((output.asnumpy()[length:, row] == 0).all())
            np.testing.assert_array_equal(output.asnumpy()[length - 1, row], h.asnumpy()[0, row])
        with self.assertRaisesRegex(mx.Error, "sequence_length"):
            layer(nd.array(x))

    def test_training_is_that_of_the_symbol(self):
        """One update by Adam: the gradients of sym.LSTM, to the bit where the batch comes first."""
        layer = rnn.LSTM(UNITS, 2, layout="NTC", prefix="lstm_", input_size=INPUTS)
        layer.initialize(mx.init.Uniform(0.5))
        layer.hybridize()
        x = reals(BATCH, STEPS, INPUTS)
        names = {f"lstm_l{i}_{kind}": f"lstm_{'l1_' if i else ''}{kind}" for i in (0, 1)
                 for kind in ("i2h_weight", "i2h_bias", "h2h_weight", "h2h_bias")}
        first = {names[name]: parameter.data().asnumpy()
                 for name, parameter in layer.collect_params().items()}
        layer.collect_params(".*bias").setattr("wd_mult", 0.0)
        trainer = gluon.Trainer(layer.collect_params(), "adam", {"wd": 0.1})
        with autograd.record():
            lost = nd.MakeLoss(layer(nd.array(x)))
        lost.backward()
        trainer.step(BATCH)
        output = sym.LSTM(sym.Variable("data"), UNITS, 2, layout="NTC", name="lstm")[0]
        session = mx.Network(sym.MakeLoss(output, name="out")).compile(
            {"data": x.shape}, optimizer="adam", wd=0.1, rescale_grad=1 / BATCH).session(
                params=first)
        session.run({"data": x, "learning_rate": 0.001, "update": 1}, entry="step")
        for name, parameter in layer.collect_params().items():
            np.testing.assert_array_equal(parameter.data().asnumpy(),
                                          session.params()[names[name]])

    def test_names_in_blocks_symbols_and_files(self):
        """apache/mxnet 9501, 12783, 7551."""
        class Model(gluon.HybridBlock):
            def __init__(self, **keywords):
                super().__init__(**keywords)
                with self.name_scope():
                    self.one = rnn.LSTM(UNITS, 2, layout="NTC", dropout=0.3)
                    self.two = rnn.GRU(UNITS, layout="NTC", bidirectional=True)
                    self.last = gluon.nn.Dense(2, flatten=False)

            def hybrid_forward(self, F, x):
                return self.last(self.two(self.one(x)))

        made = Model(prefix="model_")
        made.initialize()
        made.hybridize()
        x = nd.array(reals(BATCH, STEPS, INPUTS))
        wanted = made(x).asnumpy()
        self.assertIn("model_lstm0_l1_h2h_bias", made.collect_params())
        self.assertIn("model_gru0_r0_i2h_weight", made.collect_params())
        self.assertIn("one.l0_i2h_weight", made._structural())
        with tempfile.TemporaryDirectory() as folder:
            files = made.export(f"{folder}/m")
            back = gluon.SymbolBlock.imports(files[0], ["data"], files[1])
            np.testing.assert_array_equal(back(x).asnumpy(), wanted)
            both = Model(prefix="model_")
            both.load_parameters(files[1])
            np.testing.assert_array_equal(both(x).asnumpy(), wanted)
        output = made(sym.Variable("data"))
        self.assertEqual(set(output.list_arguments()) - {"data"}, set(made.collect_params()))
        with autograd.record():
            lost = nd.sum(made(x))
        lost.backward()
        self.assertGreater(abs(made.one.l0_i2h_weight.grad().asnumpy()).max(), 0)


class Cells(unittest.TestCase):
    def test_unroll(self):
        x = reals(BATCH, STEPS, INPUTS)
        for kind, make in CELLS.items():
            cell = make(UNITS, prefix="cell_")
            cell.initialize(mx.init.Uniform(0.5))
            output, states = cell.unroll(STEPS, nd.array(x))
            weights = {"l0_" + name: parameter.data().asnumpy().astype("f8")
                       for name, parameter in cell._reg_params.items()}
            wanted = steps_of(kind, x.astype("f8").swapaxes(0, 1), weights, 1, "l")
            close(output.asnumpy().swapaxes(0, 1), wanted[0])
            for state, expected in zip(states, wanted[1:]):
                close(state.asnumpy(), expected[0])

            class Unrolled(gluon.HybridBlock):
                def __init__(self, cell):
                    super().__init__()
                    self.cell = cell

                def hybrid_forward(self, F, x):
                    return self.cell.unroll(STEPS, x)[0]

            block = Unrolled(cell)
            block.hybridize()
            np.testing.assert_array_equal(block(nd.array(x)).asnumpy(), output.asnumpy())

    def test_valid_length(self):
        cell, lengths = rnn.LSTMCell(UNITS), [6, 2, 3, 1]
        cell.initialize(mx.init.Uniform(0.5))
        x = nd.array(reals(BATCH, STEPS, INPUTS))
        whole = cell.unroll(STEPS, x)[0].asnumpy()
        output, (h, _) = cell.unroll(STEPS, x, valid_length=nd.array(lengths))
        for row, length in enumerate(lengths):
            np.testing.assert_array_equal(output.asnumpy()[row, :length], whole[row, :length])
            self.assertTrue((output.asnumpy()[row, length:] == 0).all())
            np.testing.assert_array_equal(h.asnumpy()[row], whole[row, length - 1])

    def test_both_directions(self):
        cell = rnn.BidirectionalCell(rnn.GRUCell(UNITS, prefix="l0_"),
                                     rnn.GRUCell(UNITS, prefix="r0_"))
        cell.initialize(mx.init.Uniform(0.5))
        x = reals(BATCH, STEPS, INPUTS)
        output, states = cell.unroll(STEPS, nd.array(x))
        weights = {name: parameter.data().asnumpy().astype("f8")
                   for name, parameter in cell.collect_params().items()}
        wanted = steps_of("gru", x.astype("f8").swapaxes(0, 1), weights, 1, "lr")
        close(output.asnumpy().swapaxes(0, 1), wanted[0])
        close(np.stack([state.asnumpy() for state in states]), wanted[1])
        lengths = [6, 2, 3, 1]
        output, _ = cell.unroll(STEPS, nd.array(x), valid_length=nd.array(lengths))
        for row, length in enumerate(lengths):
            alone, _ = cell.unroll(length, nd.array(x[row:row + 1, :length]))
            close(output.asnumpy()[row, :length], alone.asnumpy()[0])

    def test_stacks_and_modifiers(self):
        stack = rnn.SequentialRNNCell()
        stack.add(rnn.LSTMCell(UNITS, prefix="a_"))
        stack.add(rnn.DropoutCell(0.5))
        stack.add(rnn.ResidualCell(rnn.GRUCell(UNITS, prefix="b_")))
        stack.add(rnn.ZoneoutCell(rnn.RNNCell(UNITS, prefix="c_"), 0.3, 0.4))
        stack.initialize(mx.init.Uniform(0.5))
        x = reals(BATCH, STEPS, INPUTS)
        output, states = stack.unroll(STEPS, nd.array(x))
        self.assertEqual(len(states), 4)
        w = {name: parameter.data().asnumpy().astype("f8")
             for name, parameter in stack.collect_params().items()}
        hidden = x.astype("f8").swapaxes(0, 1)
        for kind, prefix in (("lstm", "a_"), ("gru", "b_"), ("tanh", "c_")):
            own = {"l0_" + name[2:]: value for name, value in w.items() if name.startswith(prefix)}
            after = steps_of(kind, hidden, own, 1, "l")[0]
            hidden = after + hidden if kind == "gru" else after
        close(output.asnumpy().swapaxes(0, 1), hidden)  # in inference nothing is left out
        with autograd.record():
            lost = nd.sum(stack.unroll(STEPS, nd.array(x))[0])
        lost.backward()
        self.assertFalse(np.allclose(float(lost), hidden.sum()))
        self.assertGreater(abs(stack.collect_params()["a_i2h_weight"].grad().asnumpy()).max(), 0)


class Data(unittest.TestCase):
    def test_loaders(self):
        x, y = np.arange(20.0, dtype="f4").reshape(10, 2), np.arange(10)
        dataset = data.ArrayDataset(x, y)
        for workers in (0, 3):
            got = list(data.DataLoader(dataset, 4, num_workers=workers))
            self.assertEqual([rows.shape for rows, _ in got], [(4, 2), (4, 2), (2, 2)])
            np.testing.assert_array_equal(np.concatenate([b.asnumpy() for _, b in got]), y)
            shuffled = data.DataLoader(dataset, 4, shuffle=True, last_batch="discard",
                                       num_workers=workers)
            mx.random.seed(4)
            one, two = ([b.asnumpy().tolist() for _, b in shuffled] for _ in range(2))
            mx.random.seed(4)
            self.assertEqual([b.asnumpy().tolist() for _, b in shuffled], one)
            self.assertNotEqual(one, two)
            self.assertEqual(len(shuffled), 2)
            for rows, classes in shuffled:
                np.testing.assert_array_equal(rows.asnumpy(), x[classes.asnumpy()])

    def test_an_exception_of_a_worker_is_the_users(self):
        dataset = data.SimpleDataset(list(range(6))).transform(lambda x: 1 // (x - 3))
        with self.assertRaises(ZeroDivisionError):
            list(data.DataLoader(dataset, 2, num_workers=2))

    def test_samplers(self):
        batches = data.BatchSampler(data.SequentialSampler(7), 3, "rollover")
        self.assertEqual(list(batches), [[0, 1, 2], [3, 4, 5]])
        self.assertEqual(len(batches), 2)
        self.assertEqual(list(batches), [[6, 0, 1], [2, 3, 4]])
        self.assertEqual(list(data.IntervalSampler(6, 4)), [0, 4, 1, 5, 2, 3])
        self.assertEqual(list(data.IntervalSampler(6, 4, rollover=False)), [0, 4])
        self.assertEqual(sorted(data.RandomSampler(9)), list(range(9)))
        self.assertEqual(list(data.FilterSampler(lambda v: v % 2, data.SimpleDataset([1, 2, 3]))),
                         [0, 2])

    def test_datasets(self):
        dataset = data.ArrayDataset(np.arange(5), nd.array(np.arange(5) * 10))
        self.assertEqual(dataset.transform_first(lambda v: v + 1)[2], (3, 20))
        self.assertEqual(len(dataset.filter(lambda s: s[0] > 2)), 2)
        self.assertEqual([dataset.shard(2, 0)[i][0] for i in range(3)], [0, 1, 2])
        self.assertEqual(len(dataset.shard(2, 1)), 2)
        self.assertEqual(len(dataset.take(3)), 3)
        with self.assertRaisesRegex(mx.Error, "has 3 samples, the first one 5"):
            data.ArrayDataset(np.arange(5), [1, 2, 3])


if __name__ == "__main__":
    unittest.main()
