"""Scripts in the style of MXNet's how-tos, with only the import changed."""

import unittest

import numpy as np

import lstmc as mx

VOCAB, EMBED, HIDDEN, STEPS, BATCH = 11, 8, 6, 5, 4


def lstm(num_hidden, indata, prev_c, prev_h, param, seqidx, layeridx):
    """A step of an LSTM, in the style of old examples."""
    i2h = mx.sym.FullyConnected(data=indata, weight=param["i2h_weight"], bias=param["i2h_bias"],
                                num_hidden=num_hidden * 4, name="t%d_l%d_i2h" % (seqidx, layeridx))
    h2h = mx.sym.FullyConnected(data=prev_h, weight=param["h2h_weight"], bias=param["h2h_bias"],
                                num_hidden=num_hidden * 4, name="t%d_l%d_h2h" % (seqidx, layeridx))
    gates = i2h + h2h
    slices = mx.sym.SliceChannel(gates, num_outputs=4, name="t%d_l%d_slice" % (seqidx, layeridx))
    in_gate = mx.sym.Activation(slices[0], act_type="sigmoid")
    in_transform = mx.sym.Activation(slices[1], act_type="tanh")
    forget_gate = mx.sym.Activation(slices[2], act_type="sigmoid")
    out_gate = mx.sym.Activation(slices[3], act_type="sigmoid")
    next_c = (forget_gate * prev_c) + (in_gate * in_transform)
    next_h = out_gate * mx.sym.Activation(next_c, act_type="tanh")
    return next_c, next_h


def hand_unrolled():
    """A character LSTM unrolled by hand; states are data."""
    param = {name: mx.sym.Variable("l0_" + name)
             for name in ("i2h_weight", "i2h_bias", "h2h_weight", "h2h_bias")}
    c, h = mx.sym.Variable("l0_init_c"), mx.sym.Variable("l0_init_h")
    data, label = mx.sym.Variable("data"), mx.sym.Variable("softmax_label")
    embed = mx.sym.Embedding(data=data, input_dim=VOCAB, output_dim=EMBED, name="embed")
    wordvec = mx.sym.SliceChannel(data=embed, num_outputs=STEPS, squeeze_axis=True)
    hidden = []
    for t in range(STEPS):
        c, h = lstm(HIDDEN, wordvec[t], c, h, param, t, 0)
        hidden.append(h)
    pred = mx.sym.FullyConnected(mx.sym.Concat(*hidden, dim=0), num_hidden=VOCAB, name="pred")
    label = mx.sym.Reshape(mx.sym.transpose(data=label), shape=(-1,))
    return mx.sym.SoftmaxOutput(data=pred, label=label, name="softmax")


def language_model(cell):
    """Two layers, in the style of word language models."""
    data, label = mx.sym.Variable("data"), mx.sym.Variable("softmax_label")
    embed = mx.sym.Embedding(data=data, input_dim=VOCAB, output_dim=EMBED, name="embed")
    outputs, _ = cell.unroll(STEPS, inputs=embed, layout="NTC", merge_outputs=True)
    pred = mx.sym.Reshape(outputs, shape=(-1, HIDDEN))
    pred = mx.sym.FullyConnected(data=pred, num_hidden=VOCAB, name="pred")
    return mx.sym.SoftmaxOutput(data=pred, label=mx.sym.Reshape(label, shape=(-1,)), name="softmax")


def stacked():
    stack = mx.rnn.SequentialRNNCell()
    for i in range(2):
        stack.add(mx.rnn.LSTMCell(num_hidden=HIDDEN, prefix="lstm_l%d_" % i))
        stack.add(mx.rnn.DropoutCell(0.0))
    return language_model(stack)


def data():
    """A text that repeats, so that the next symbol can be learned."""
    text = np.tile(np.arange(VOCAB), 40)[: BATCH * 20 * STEPS + 1]
    return {"data": text[:-1].reshape(-1, STEPS).astype("float32"),
            "softmax_label": text[1:].reshape(-1, STEPS).astype("float32")}


class Scripts(unittest.TestCase):
    def learns(self, net, extra=None):
        arrays = {**data(), **(extra or {})}
        model = mx.Network(net)
        model.fit(arrays, batch=BATCH, optimizer="adam", learning_rate=0.05, num_epoch=4, seed=1,
                  initializer=mx.init.Xavier(factor_type="in", magnitude=2.34))
        # A model without knowledge has the perplexity of a guess among all symbols.
        self.assertLess(model.score(arrays)["perplexity"], VOCAB / 2)
        return model

    def test_unrolled_by_hand(self):
        net = hand_unrolled()
        shapes = {"data": (BATCH, STEPS), "softmax_label": (BATCH, STEPS),
                  "l0_init_c": (BATCH, HIDDEN), "l0_init_h": (BATCH, HIDDEN)}
        arguments, outputs, _ = net.infer_shape(**shapes)
        self.assertEqual(outputs, [(STEPS * BATCH, VOCAB)])
        self.assertEqual(dict(zip(net.list_arguments(), arguments))["l0_h2h_weight"],
                         (4 * HIDDEN, HIDDEN))
        zeros = np.zeros((len(data()["data"]), HIDDEN), "float32")
        self.learns(net, {"l0_init_c": zeros, "l0_init_h": zeros})

    def test_cells(self):
        net = stacked()
        names = net.list_arguments()
        for name in ("lstm_l0_i2h_weight", "lstm_l1_h2h_bias", "embed_weight", "pred_weight"):
            self.assertIn(name, names)
        self.learns(net)

    def test_fused(self):
        cell = mx.rnn.FusedRNNCell(HIDDEN, num_layers=2, mode="lstm", prefix="lstm_")
        self.learns(language_model(cell))

    def test_fused_and_cells_compute_the_same(self):
        shapes = {"data": (BATCH, STEPS), "softmax_label": (BATCH, STEPS)}
        cells = mx.Network(stacked()).compile(shapes, entries=["forward"]).session(seed=3)
        fused = mx.Network(
            language_model(mx.rnn.FusedRNNCell(HIDDEN, num_layers=2, prefix="lstm_"))).compile(
                shapes, entries=["forward"])
        weights = {name.replace("lstm_l0_", "lstm_"): value
                   for name, value in cells.params().items()}
        self.assertEqual(sorted(weights), sorted(fused.parameters))
        ids = {"data": data()["data"][:BATCH]}
        a, b = cells.run(ids)["softmax_output"], fused.session(weights).run(ids)["softmax_output"]
        # Both add the same products in f32: the errors of sums of at most 8 + 6 terms, through five
        # steps of two layers with derivatives below 1, stay below 5 * 2 * 14 * 2^-24 = 8.4e-6.
        np.testing.assert_allclose(a, b, rtol=0, atol=8.4e-6)

    def test_other_cells(self):
        for cell in (mx.rnn.GRUCell(HIDDEN), mx.rnn.RNNCell(HIDDEN)):
            outputs, states = cell.unroll(3, mx.sym.Variable("data"), layout="NTC",
                                          merge_outputs=True)
            self.assertEqual(outputs.infer_shape(data=(2, 3, 5))[1], [(2, 3, HIDDEN)])
        fused = mx.rnn.FusedRNNCell(HIDDEN, mode="gru", bidirectional=True, get_next_state=True)
        outputs, states = fused.unroll(3, mx.sym.Variable("data"), layout="TNC")
        self.assertEqual(outputs.infer_shape(data=(3, 2, 5))[1], [(3, 2, 2 * HIDDEN)])
        self.assertEqual(len(states), 1)


if __name__ == "__main__":
    unittest.main()
