"""Cells of `rnn`: MXNet's shapes and names, equal results of fused and unfused cells, and
conversion of weights between them."""

import os
import tempfile
import unittest

import numpy as np

import lstmc as mx

STEPS, BATCH, INPUTS, HIDDEN = 4, 3, 5, 6
SHAPE = {"data": (BATCH, STEPS, INPUTS)}

# Cells sum the same products as a fused layer, in another order. A gate is a sum of INPUTS + HIDDEN
# + 2 terms below 1, each rounded once, and derivatives below 1 carry its error through STEPS steps
# and two layers. Values are below 1.
BOUND = 2 * STEPS * (INPUTS + 2 * HIDDEN + 2) * 2.0**-24


def unrolled(cell, merge_outputs=True, layout="NTC"):
    outputs, states = cell.unroll(STEPS, mx.sym.Variable("data"), layout=layout,
                                  merge_outputs=merge_outputs)
    return outputs if merge_outputs else mx.sym.Group(outputs), states


def run(net, weights, data):
    package = mx.Network(net).compile(SHAPE, entries=["forward"])
    return list(package.session({name: np.asarray(value) for name, value in weights.items()})
                .run({"data": data}).values())


def some(seed=5):
    return np.random.default_rng(seed).uniform(-1, 1, SHAPE["data"]).astype("float32")


def weights_of(net, seed=3):
    random, names = np.random.default_rng(seed), net.list_arguments()
    shapes = dict(zip(names, net.infer_shape(**SHAPE)[0]))
    return {name: mx.nd.array(random.uniform(-0.5, 0.5, shapes[name])) for name in names
            if name != "data"}


class Shapes(unittest.TestCase):
    def test_names_and_shapes_are_mxnets(self):
        for cell, states in ((mx.rnn.RNNCell(HIDDEN, prefix="rnn_"), 1),
                             (mx.rnn.LSTMCell(HIDDEN, prefix="rnn_"), 2),
                             (mx.rnn.GRUCell(HIDDEN, prefix="rnn_"), 1)):
            outputs, after = unrolled(cell, merge_outputs=False)
            self.assertEqual(outputs.list_outputs(), [f"rnn_t{t}_out_output" for t in range(STEPS)])
            self.assertEqual(sorted(cell.params._params),
                             ["rnn_h2h_bias", "rnn_h2h_weight", "rnn_i2h_bias", "rnn_i2h_weight"])
            self.assertEqual(outputs.infer_shape(**SHAPE)[1], [(BATCH, HIDDEN)] * STEPS)
            self.assertEqual(cell.state_info, [{"shape": (0, HIDDEN), "__layout__": "NC"}] * states)
            self.assertEqual(len(after), states)

    def test_a_forget_bias_is_the_first_value(self):
        net, _ = unrolled(mx.rnn.LSTMCell(HIDDEN, prefix="rnn_", forget_bias=2.0))
        bias = mx.Network(net).compile(SHAPE,
                                       entries=["forward"]).session(seed=1).params()["rnn_i2h_bias"]
        np.testing.assert_array_equal(bias, [0] * HIDDEN + [2] * HIDDEN + [0] * 2 * HIDDEN)

    def test_begin_states(self):
        cell = mx.rnn.LSTMCell(HIDDEN)
        zeros = cell.begin_state(func=mx.sym.zeros)
        self.assertEqual([state.name for state in zeros],
                         ["lstm_begin_state_0", "lstm_begin_state_1"])
        self.assertEqual(zeros[0].attr("__layout__"), "NC")
        outputs, _ = cell.unroll(STEPS, mx.sym.Variable("data"), begin_state=zeros,
                                 merge_outputs=True)
        self.assertEqual(outputs.infer_shape(**SHAPE)[1], [(BATCH, STEPS, HIDDEN)])
        variables = cell.begin_state(func=mx.sym.Variable)
        self.assertEqual(variables[0].list_attr(),
                         {"__shape__": f"(0, {HIDDEN})", "__layout__": "NC"})
        given = mx.rnn.FusedRNNCell(HIDDEN, 2, "lstm").begin_state(
            func=lambda name, shape, **_: mx.sym.Variable(f"{name}_{shape[0]}"))
        self.assertEqual([state.name for state in given],
                         ["lstm_begin_state_0_2", "lstm_begin_state_1_2"])

    def test_shared_params(self):
        first = mx.rnn.LSTMCell(HIDDEN, prefix="a_")
        second = mx.rnn.LSTMCell(HIDDEN, prefix="a_", params=first.params)
        x = mx.sym.Variable("data")
        net = mx.sym.Group([first.unroll(STEPS, x, merge_outputs=True)[0],
                            second.unroll(STEPS, x, merge_outputs=True)[0]])
        self.assertEqual(len(net.list_arguments()), 5)

    def test_stacks_take_params(self):
        params = mx.rnn.RNNParams("a_")
        stack = mx.rnn.SequentialRNNCell(params=params)
        stack.add(mx.rnn.RNNCell(HIDDEN, prefix="a_"))
        self.assertIn("a_i2h_weight", params._params)
        with self.assertRaisesRegex(mx.Error, "not to both"):
            stack.add(mx.rnn.RNNCell(HIDDEN, params=mx.rnn.RNNParams("b_")))


class Around(unittest.TestCase):
    def test_bidirectional(self):
        def cell():
            return mx.rnn.BidirectionalCell(mx.rnn.LSTMCell(HIDDEN, prefix="l_"),
                                            mx.rnn.LSTMCell(HIDDEN, prefix="r_"),
                                            output_prefix="both_")

        steps, states = unrolled(cell(), merge_outputs=False)
        self.assertEqual(steps.list_outputs(), [f"both_t{t}_output" for t in range(STEPS)])
        self.assertEqual(len(states), 4)
        merged, _ = unrolled(cell())
        self.assertEqual(merged.list_outputs(), ["both_out_output"])
        weights, data = weights_of(merged), some()
        left, _ = unrolled(mx.rnn.LSTMCell(HIDDEN, prefix="l_"))
        right, _ = unrolled(mx.rnn.LSTMCell(HIDDEN, prefix="r_"))
        [both] = run(merged, weights, data)
        [forward] = run(left, {name: weights[name] for name in weights if name[0] == "l"}, data)
        [backward] = run(right, {name: weights[name] for name in weights if name[0] == "r"},
                         data[:, ::-1].copy())
        np.testing.assert_array_equal(both, np.concatenate([forward, backward[:, ::-1]], 2))
        for t, step in enumerate(run(steps, weights, data)):
            np.testing.assert_array_equal(step, both[:, t])
        with self.assertRaisesRegex(mx.Error, "no single step"):
            cell()(mx.sym.Variable("data"), [])

    def test_residual(self):
        for merge in (True, False):
            inside = mx.rnn.RNNCell(INPUTS, prefix="rnn_")
            net, _ = unrolled(mx.rnn.ResidualCell(inside), merge)
            bare, _ = unrolled(mx.rnn.RNNCell(INPUTS, prefix="rnn_"), merge)
            weights, data = weights_of(net), some()
            name = "concat" if merge else "rnn_t0_out"
            self.assertRegex(net.list_outputs()[0], f"{name}.*_plus_residual_output")
            for t, (with_input, without) in enumerate(
                    zip(run(net, weights, data), run(bare, weights, data))):
                np.testing.assert_array_equal(with_input, without + (data if merge else data[:, t]))
            with self.assertRaisesRegex(mx.Error, "another cell around it"):
                inside(mx.sym.Variable("data"), inside.begin_state)

    def test_zoneout_changes_training_alone(self):
        cell = mx.rnn.ZoneoutCell(mx.rnn.LSTMCell(HIDDEN, prefix="lstm_"), zoneout_outputs=0.3,
                                  zoneout_states=0.2)
        net, _ = unrolled(cell)
        bare, _ = unrolled(mx.rnn.LSTMCell(HIDDEN, prefix="lstm_"))
        weights, data = weights_of(net), some()
        np.testing.assert_array_equal(run(net, weights, data)[0], run(bare, weights, data)[0])

    def test_zoneout_keeps_what_was_before(self):
        """In training each output is the new or the previous one, which the gradients show: dropped
        outputs have none."""
        cell = mx.rnn.ZoneoutCell(mx.rnn.RNNCell(400, prefix="rnn_"), zoneout_outputs=0.3)
        outputs, _ = cell.unroll(2, mx.sym.Variable("data"), merge_outputs=True)
        label = mx.sym.Variable("label")
        net = mx.sym.LinearRegressionOutput(mx.sym.Reshape(outputs, shape=(1, -1)), label,
                                            name="out")
        executor = net.simple_bind(mx.cpu(), data=(1, 2, 1), label=(1, 800))
        executor.arg_dict["rnn_i2h_weight"][:] = 1
        executor.arg_dict["data"][:] = np.array([[[1], [2]]])
        # The gradient of an output is (prediction - label) / 800; times tanh'(W x) it is the
        # bias's.
        executor.arg_dict["label"][:] = 100
        executor.forward(is_train=True)
        executor.backward()
        first, second = np.tanh(1.0), np.tanh(2.0)
        slopes = np.abs(executor.grad_dict["rnn_i2h_bias"].asnumpy())
        of_first, of_second = ((1 - first**2) * (100 - first) / 800,
                               (1 - second**2) * (100 - second) / 800)
        # The cases: both old; the second new; the first new and then kept; both new.
        either = np.array([0, of_second, 2 * of_first, of_first + of_second])
        near = np.abs(slopes[:, None] - either).argmin(1)
        np.testing.assert_allclose(slopes, either[near], rtol=1e-4)
        for share, wanted in zip(np.bincount(near, minlength=4) / 400,
                                 (0.3 * 0.3, 0.3 * 0.7, 0.7 * 0.3, 0.7 * 0.7)):
            # five standard deviations of 400 draws
            self.assertLess(abs(share - wanted), 5 * np.sqrt(wanted * (1 - wanted) / 400))

    def test_zoneout_wants_steps(self):
        fused = mx.rnn.FusedRNNCell(HIDDEN, 2, "lstm", bidirectional=True)
        for cell in (fused, fused.unfuse(),
                     mx.rnn.BidirectionalCell(mx.rnn.GRUCell(3), mx.rnn.GRUCell(3))):
            with self.assertRaisesRegex(mx.Error, "unfuse"):
                mx.rnn.ZoneoutCell(cell, 0.1)


class Fused(unittest.TestCase):
    def test_unfused_computes_the_same(self):
        for mode in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
            for both in (False, True):
                fused = mx.rnn.FusedRNNCell(HIDDEN, num_layers=2, mode=mode, bidirectional=both,
                                            prefix="x_")
                one, _ = unrolled(fused)
                stack = fused.unfuse()
                many, _ = unrolled(stack)
                weights, data = weights_of(one), some()
                by_gate = fused.unpack_weights(weights)
                moved = stack.pack_weights(by_gate)
                self.assertEqual(sorted(moved), sorted(set(many.list_arguments()) - {"data"}))
                bound = BOUND * (4 if mode == "rnn_relu" else 1)  # values are below 4
                np.testing.assert_allclose(run(one, weights, data)[0], run(many, moved, data)[0],
                                           rtol=0, atol=bound, err_msg=mode)
                back = fused.pack_weights(stack.unpack_weights(moved))
                for name, value in weights.items():
                    np.testing.assert_array_equal(back[name].asnumpy(), value.asnumpy())

    def test_names_of_gates(self):
        fused = mx.rnn.FusedRNNCell(HIDDEN, num_layers=1, mode="lstm", prefix="lstm_")
        weights = weights_of(unrolled(fused)[0])
        parts = fused.unpack_weights(weights)
        np.testing.assert_array_equal(parts["lstm_l0_i2h_f_weight"].asnumpy(),
                                      weights["lstm_i2h_weight"].asnumpy()[HIDDEN : 2 * HIDDEN])
        self.assertEqual(len(parts), 16)
        cell = mx.rnn.GRUCell(HIDDEN, prefix="gru_")
        parts = cell.unpack_weights(weights_of(unrolled(cell)[0]))
        self.assertEqual(sorted(parts)[:3],
                         ["gru_h2h_o_bias", "gru_h2h_o_weight", "gru_h2h_r_bias"])
        with self.assertRaisesRegex(mx.Error, 'no "gru_i2h_weight"'):
            cell.unpack_weights({})

    def test_mxnets_vector_is_cut(self):
        """All matrices of all layers, then all biases, in the vector that `sym.RNN` reads."""
        fused = mx.rnn.FusedRNNCell(HIDDEN, num_layers=2, mode="gru", bidirectional=True,
                                    prefix="gru_")
        net, _ = unrolled(fused)
        x = mx.sym.SwapAxis(mx.sym.Variable("data"), dim1=0, dim2=1)
        packed = mx.sym.SwapAxis(mx.sym.RNN(x, state_size=HIDDEN, num_layers=2, mode="gru",
                                            bidirectional=True, name="gru"),
                                 dim1=0, dim2=1)
        size = dict(zip(packed.list_arguments(), packed.infer_shape(**SHAPE)[0]))["gru_parameters"]
        vector = mx.nd.array(np.random.default_rng(8).uniform(-0.5, 0.5, size))
        weights = fused.pack_weights(fused.unpack_weights({"gru_parameters": vector}))
        data = some()
        np.testing.assert_array_equal(run(net, weights, data)[0],
                                      run(packed, {"gru_parameters": vector}, data)[0])
        with self.assertRaisesRegex(mx.Error, "no size of 2 layers"):
            fused.unpack_weights({"gru_parameters": mx.nd.zeros(77)})

    def test_dropout_between_layers(self):
        stack = mx.rnn.FusedRNNCell(HIDDEN, num_layers=3, mode="lstm", dropout=0.5,
                                    prefix="x_").unfuse()
        self.assertEqual([type(cell).__name__ for cell in stack._cells],
                         ["LSTMCell", "DropoutCell"] * 2 + ["LSTMCell"])

    def test_checkpoints_are_by_gate(self):
        fused = mx.rnn.FusedRNNCell(HIDDEN, num_layers=2, mode="lstm", prefix="lstm_")
        net, _ = unrolled(fused)
        weights = weights_of(net)
        with tempfile.TemporaryDirectory() as folder:
            prefix = os.path.join(folder, "lm")
            mx.rnn.save_rnn_checkpoint(fused, prefix, 1, net, weights, {})
            self.assertIn("lstm_l1_h2h_c_bias", mx.model.load_params(prefix, 1)[0])
            _, read, _ = mx.rnn.load_rnn_checkpoint(fused, prefix, 1)
            self.assertEqual(sorted(read), sorted(weights))
            stack = fused.unfuse()
            _, moved, _ = mx.rnn.load_rnn_checkpoint(stack, prefix, 1)
            self.assertEqual(sorted(moved),
                             sorted(set(unrolled(stack)[0].list_arguments()) - {"data"}))
            mx.rnn.do_rnn_checkpoint(fused, prefix, period=2)(1, net, weights, {})
            self.assertTrue(os.path.exists(prefix + "-0002.params"))

class Rolled(unittest.TestCase):
    """Unrolled cells become one op per layer, without a change of bits."""

    def net(self, cell):
        outputs, _ = cell.unroll(STEPS, mx.sym.Variable("data"), layout="NTC", merge_outputs=True)
        return mx.sym.LinearRegressionOutput(outputs, mx.sym.Variable("label"), name="loss")

    def stack(self, cell, dropout=0.0):
        stack = mx.rnn.SequentialRNNCell()
        for layer in range(2):
            stack.add(cell(HIDDEN, prefix=f"l{layer}_"))
            stack.add(mx.rnn.DropoutCell(dropout))
        return stack

    def rolled(self, net, **flags):
        return mx.Network(net).compile({**SHAPE, "label": (BATCH, STEPS, HIDDEN)}, **flags).rolled

    def trained(self, net, **flags):
        random = np.random.default_rng(4)
        arrays = {"data": random.uniform(-1, 1, (5 * BATCH, STEPS, INPUTS)),
                  "label": random.uniform(-1, 1, (5 * BATCH, STEPS, HIDDEN))}
        model = mx.Network(net)
        return model.fit({name: array.astype("float32") for name, array in arrays.items()},
                         batch=BATCH, optimizer="adam", learning_rate=0.05,
                         num_epoch=4, seed=1, initializer=mx.init.Uniform(0.5), **flags)["weights"]

    def test_a_stack_of_lstm_cells(self):
        for dropout in (0.0, 0.3):
            net = self.net(self.stack(mx.rnn.LSTMCell, dropout))
            self.assertEqual(self.rolled(net), [{"name": f"l{layer}", "mode": "lstm",
                                                 "cells": STEPS, "steps": STEPS, "reason": None,
                                                 "rounding": None}
                                                for layer in range(2)])
            bits = self.trained(net)
            for flags in ({"disable_pass": "roll-recurrence"}, {"devices": "2xcpu"},
                          {"devices": "2xcpu", "disable_pass": "roll-recurrence"}):
                self.assertEqual(self.trained(net, **flags), bits, flags)

    def test_a_layer_with_an_op_that_is_recomputed_stays_as_it_is(self):
        net = self.net(self.stack(mx.rnn.LSTMCell))
        self.assertEqual([layer["reason"] for layer in self.rolled(net, recompute="l0_t1_h2h")],
                         ["l0_t1_h2h is to be recomputed", None])
        self.assertEqual(self.trained(net, recompute="l0_t1_h2h"), self.trained(net))

    def test_both_directions(self):
        net = self.net(mx.rnn.BidirectionalCell(mx.rnn.LSTMCell(HIDDEN // 2, prefix="l_"),
                                                mx.rnn.LSTMCell(HIDDEN // 2, prefix="r_")))
        self.assertEqual([layer["reason"] for layer in self.rolled(net)], [None, None])
        self.assertEqual(self.trained(net), self.trained(net, disable_pass="roll-recurrence"))

    def test_a_gru_whose_outputs_are_read(self):
        cell = mx.rnn.GRUCell(HIDDEN, prefix="g_")
        self.assertEqual([(layer["reason"], layer["rounding"])
                          for layer in self.rolled(self.net(cell))],
                         [(None, "gradients of h are added in its order")])
        net, _ = unrolled(mx.rnn.GRUCell(HIDDEN, prefix="g_"))
        self.assertEqual(
            mx.Network(net).compile(SHAPE).rolled,
            [{"name": "g", "mode": "gru", "cells": STEPS, "steps": STEPS, "reason": None,
              "rounding": None}])


if __name__ == "__main__":
    unittest.main()
