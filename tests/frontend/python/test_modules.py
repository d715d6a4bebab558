"""Scripts in the style of MXNet's how-tos, from iterators to checkpoints, with only the import
changed."""

import logging
import os
import re
import tempfile
import unittest

import numpy as np

import lstmc as mx

BATCH, STEPS, VOCAB, HIDDEN = 8, 6, 12, 16


def language_model(unroll):
    data, label = mx.sym.Variable("data"), mx.sym.Variable("softmax_label")
    embed = mx.sym.Embedding(data=data, input_dim=VOCAB, output_dim=8, name="embed")
    outputs = unroll(embed)
    pred = mx.sym.FullyConnected(mx.sym.Reshape(outputs, shape=(-1, HIDDEN)), num_hidden=VOCAB,
                                 name="pred")
    return mx.sym.SoftmaxOutput(data=pred, label=mx.sym.Reshape(label, shape=(-1,)), name="softmax")


def fused(embed):
    return mx.rnn.FusedRNNCell(HIDDEN, num_layers=2, mode="lstm", prefix="lstm_").unroll(
        STEPS, embed, layout="NTC", merge_outputs=True)[0]


def cells(embed):
    stack = mx.rnn.SequentialRNNCell()
    stack.add(mx.rnn.LSTMCell(num_hidden=HIDDEN, prefix="lstm_l0_"))
    return stack.unroll(STEPS, embed, layout="NTC", merge_outputs=True)[0]


def sentences(count=64):
    """Each symbol is followed by the next one, a rule that can be learned."""
    first = np.random.default_rng(3).integers(0, VOCAB, (count, 1))
    text = (first + np.arange(STEPS + 1)) % VOCAB
    return text[:, :-1].astype("float32"), text[:, 1:].astype("float32")


def seeded(x, y, **options):
    np.random.seed(1)  # it shuffles by NumPy's generator, as MXNet's iterator
    return mx.io.NDArrayIter(x, y, BATCH, label_name="softmax_label", **options)


class Script(unittest.TestCase):
    """The log is in MXNet's form."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.prefix = os.path.join(scratch.name, "model")

    def logged(self, log, pattern):
        return [float(found[1]) for line in log.output if (found := re.search(pattern, line))]


class LanguageModel(Script):
    def test_from_iterator_to_checkpoint_and_back(self):
        x, y = sentences()
        train, valid = seeded(x, y, shuffle=True), seeded(x[:20], y[:20])
        module = mx.mod.Module(symbol=language_model(fused), context=[mx.cpu(0)])
        with self.assertLogs(level=logging.INFO) as log:
            module.fit(train_data=train, eval_data=valid, eval_metric=mx.metric.Perplexity(None),
                       kvstore="local", optimizer="adam",
                       optimizer_params={"learning_rate": 0.02, "wd": 1e-5},
                       initializer=mx.init.Xavier(factor_type="in", magnitude=2.34),
                       num_epoch=6, batch_end_callback=mx.callback.Speedometer(BATCH, 4),
                       epoch_end_callback=mx.callback.do_checkpoint(self.prefix, 2))
        training = self.logged(log, r"Epoch\[\d\] Train-perplexity=(.*)")
        validation = self.logged(log, r"Epoch\[\d\] Validation-perplexity=(.*)")
        self.assertEqual((len(training), len(validation)), (6, 6))
        self.assertLess(training[-1], training[0] / 2)
        self.assertEqual(len(self.logged(log, r"Epoch\[\d\] Batch \[4\]\tSpeed: (.*) "
                                              r"samples/sec\tperplexity=")), 6)
        self.assertEqual(
            sorted(os.listdir(os.path.dirname(self.prefix))),
            ["model-0002.params", "model-0004.params", "model-0006.params", "model-symbol.json"])
        [(name, value)] = module.score(valid, mx.metric.Perplexity(None))
        self.assertEqual((name, f"{value:f}"), ("perplexity", f"{validation[-1]:f}"))
        # The NumPy metric on the outputs of predict agrees with the runtime's.
        probabilities = module.predict(valid).asnumpy().reshape(-1, VOCAB)
        self.assertEqual(len(probabilities), 20 * STEPS)  # without the padding of the last batch
        symbol, arg_params, aux_params = mx.model.load_checkpoint(self.prefix, 6)
        again = mx.mod.Module(symbol)
        again.bind(valid.provide_data, valid.provide_label)
        again.set_params(arg_params, aux_params)
        np.testing.assert_array_equal(again.predict(valid).asnumpy(),
                                      module.predict(valid).asnumpy())
        self.assertEqual(again.score(valid, "perplexity"), [(name, value)])
        other = mx.mod.Module.load(self.prefix, 6)
        other.fit(train, num_epoch=7, begin_epoch=6, optimizer="adam",
                  optimizer_params={"learning_rate": 0.0})
        np.testing.assert_array_equal(other.get_params()[0]["pred_weight"].asnumpy(),
                                      arg_params["pred_weight"].asnumpy())

    def test_module_trains_as_network_does(self):
        x, y = sentences()
        module = mx.mod.Module(language_model(cells))
        module.fit(seeded(x, y), num_epoch=2,
                   optimizer_params={"learning_rate": 0.1, "momentum": 0.9},
                   initializer=mx.init.Uniform(0.1))
        network = mx.Network(language_model(cells))
        network.fit(seeded(x, y), num_epoch=2, optimizer="sgd", learning_rate=0.1, momentum=0.9,
                    initializer=mx.init.Uniform(0.1))
        trained = {name: value.asnumpy() for name, value in module.get_params()[0].items()}
        for name, value in network.session.params().items():
            np.testing.assert_array_equal(trained[name], value)

    def test_rescale_grad_is_one_over_the_batch_whatever_the_head_divides_by(self):
        """As in MXNet; for a head that divides by the batch, Network.fit does not divide again."""
        x, y = (np.random.default_rng(1).normal(size=(8, 5)).astype("f4"),
                np.arange(8, dtype="f4") % 3)
        weights = {"fc_weight": np.full((3, 5), 0.1, "f4"), "fc_bias": np.zeros(3, "f4")}
        net = mx.sym.SoftmaxOutput(
            mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc"),
            mx.sym.Variable("softmax_label"), normalization="batch", name="softmax")

        def module(**params):
            made = mx.mod.Module(net)
            made.fit(mx.io.NDArrayIter(x, y, 8), num_epoch=1, arg_params=weights,
                     optimizer_params={"learning_rate": 1.0, **params})
            return made.get_params()[0]["fc_weight"].asnumpy()

        def network(**keys):
            made = mx.Network(net)
            made.fit([{"data": x, "softmax_label": y}], num_epoch=1, params=weights,
                     learning_rate=1.0, **keys)
            return made.session.params()["fc_weight"]

        np.testing.assert_array_equal(module(), network(rescale_grad=1 / 8))
        np.testing.assert_array_equal(module(rescale_grad=1.0), network())
        moved, whole = module() - weights["fc_weight"], network() - weights["fc_weight"]
        np.testing.assert_allclose(moved * 8, whole, rtol=1e-4, atol=1e-6)

    def test_two_devices_and_groups(self):
        x, y = sentences()
        weights = []
        for context in (mx.cpu(), [mx.cpu(0), mx.cpu(1)]):
            module = mx.mod.Module(language_model(fused), context=context)
            module.fit(seeded(x, y), num_epoch=1)
            weights.append(module.get_params()[0]["lstm_h2h_weight"].asnumpy())
        np.testing.assert_array_equal(*weights)


class Forecast(Script):
    def test_regression_with_a_schedule_and_a_metric_of_ones_own(self):
        time = np.arange(300)
        wave = np.sin(time / 5).astype("float32")
        x = np.stack([wave[i : i + 10] for i in range(280)])[:, :, None]
        y = wave[10:290]
        data = mx.sym.Variable("data")
        outputs, _ = mx.rnn.GRUCell(8, prefix="gru_").unroll(10, data, layout="NTC")
        net = mx.sym.LinearRegressionOutput(
            mx.sym.FullyConnected(outputs[-1], num_hidden=1, name="fc"),
            mx.sym.Variable("lro_label"), name="lro")

        def worst(label, pred):
            return np.abs(label.reshape(-1) - pred.reshape(-1)).max()

        train = mx.io.NDArrayIter(x[:240], y[:240], 20, label_name="lro_label")
        valid = mx.io.NDArrayIter({"data": x[240:]}, {"lro_label": y[240:]}, 20)
        module = mx.mod.Module(net, label_names=["lro_label"])
        with self.assertLogs(level=logging.INFO) as log:
            module.fit(train, valid, eval_metric=["mse", mx.metric.np(worst)], optimizer="adam",
                       num_epoch=8, optimizer_params={
                           "learning_rate": 0.02,
                           "lr_scheduler": mx.lr_scheduler.FactorScheduler(step=40, factor=0.5)})
        mse = self.logged(log, r"Validation-mse=(.*)")
        self.assertLess(mse[-1], 0.05)
        predicted = module.predict(valid).asnumpy().reshape(-1)
        self.assertEqual(len(predicted), 40)
        self.assertAlmostEqual(mse[-1], ((predicted - y[240:]) ** 2).mean(), places=5)
        # Two batches of 20: the mean of their largest errors.
        halves = np.abs(predicted - y[240:]).reshape(2, 20).max(1).mean()
        self.assertAlmostEqual(self.logged(log, r"Validation-worst=(.*)")[-1], halves, places=5)
        self.assertEqual([name for name, _ in module.score(valid, ["rmse", mx.metric.np(worst)])],
                         ["rmse", "worst"])


class Classifier(Script):
    def test_a_bound_module_that_is_run_by_hand(self):
        x = np.random.default_rng(2).random((10, 5, 3), dtype=np.float32)
        data = mx.sym.Variable("data")
        begin = [mx.sym.Variable("init_h"), mx.sym.Variable("init_c")]
        outputs, states = mx.rnn.LSTMCell(4, prefix="l0_").unroll(5, data, begin_state=begin,
                                                                  layout="NTC")
        net = mx.sym.Group(
            [mx.sym.softmax(mx.sym.FullyConnected(outputs[-1], num_hidden=2, name="fc")),
             mx.sym.BlockGrad(states[1])])
        module = mx.mod.Module(net, data_names=["data", "init_h", "init_c"], label_names=None)
        module.bind([("data", (2, 5, 3)), ("init_h", (2, 4)), ("init_c", (2, 4))],
                    for_training=False)
        module.init_params(mx.init.Normal(0.5))
        zeros = mx.nd.zeros((2, 4))
        module.forward(mx.io.DataBatch([mx.nd.array(x[:2]), zeros, zeros]))
        whole = [output.asnumpy() for output in module.get_outputs()]
        self.assertEqual([each.shape for each in whole], [(2, 2), (2, 4)])
        # A row alone, for which the network is compiled again, equals the row in the batch.
        module.forward(mx.io.DataBatch([mx.nd.array(x[1:2]), zeros[:1], zeros[:1]]))
        np.testing.assert_array_equal(module.get_outputs()[0].asnumpy(), whole[0][1:2])
        module.save_params(self.prefix)
        with self.assertRaisesRegex(mx.Error, "init_optimizer"):
            module.forward(mx.io.DataBatch([zeros] * 3), is_train=True)
        other = mx.mod.Module(net, data_names=["data", "init_h", "init_c"], label_names=None)
        other.bind([("data", (2, 5, 3)), ("init_h", (2, 4)), ("init_c", (2, 4))])
        other.load_params(self.prefix)
        other.forward(mx.io.DataBatch([mx.nd.array(x[:2]), zeros, zeros]))
        np.testing.assert_array_equal(other.get_outputs()[1].asnumpy(), whole[1])

    def test_what_is_refused(self):
        net = language_model(cells)
        with self.assertRaisesRegex(mx.Error, '"dta"'):
            mx.mod.Module(net, data_names=["dta"])
        module = mx.mod.Module(net)
        with self.assertRaisesRegex(mx.Error, "not bound"):
            module.get_params()
        x, y = sentences()
        with self.assertRaisesRegex(mx.Error, "lstmc launch"):
            module.fit(seeded(x, y), num_epoch=1, kvstore="dist_sync")
        with self.assertRaisesRegex(mx.Error, "embed_weight"):
            mx.mod.Module(net).fit(seeded(x, y), num_epoch=1,
                                   arg_params={"pred_bias": mx.nd.zeros((VOCAB,))})
        with self.assertRaisesRegex(mx.Error, "samples"):
            mx.io.NDArrayIter(x[:4], y[:4], BATCH)


class Binding(unittest.TestCase):
    def test_what_is_asked_of_gradients(self):
        net = mx.sym.SoftmaxOutput(
            mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc"), name="softmax")
        shapes = [("data", (4, 2))], [("softmax_label", (4,))]
        for request in ("null", "write", "add"):
            module = mx.mod.Module(net)
            module.bind(*shapes, for_training=False, grad_req=request)
            module.init_params()
            module.forward(mx.io.DataBatch([mx.nd.ones((4, 2))], None))
            self.assertEqual(module.get_outputs()[0].shape, (4, 3))
        for request, words in (("add", "does not add them up"), ("null", "for_training=False")):
            with self.assertRaisesRegex(mx.Error, words):
                mx.mod.Module(net).bind(*shapes, grad_req=request)


class Executors(unittest.TestCase):
    def test_a_loop_of_ones_own_learns(self):
        x, y = sentences(BATCH)
        net = language_model(cells)
        executor = net.simple_bind(ctx=mx.cpu(), data=x.shape, softmax_label=y.shape)
        self.assertEqual([array.shape for array in executor.grad_arrays],
                         [array.shape for array in executor.arg_arrays])
        self.assertIsNone(
            net.simple_bind(mx.cpu(), "null", data=x.shape, softmax_label=y.shape).grad_arrays[0])
        np.random.seed(4)
        for name, array in executor.arg_dict.items():
            if name not in ("data", "softmax_label"):
                array[:] = np.random.uniform(-0.2, 0.2, array.shape)
        losses = []
        for _ in range(8):
            [output] = executor.forward(is_train=True, data=x, softmax_label=y)
            losses.append(
                -np.log(output.asnumpy()[np.arange(y.size), y.reshape(-1).astype(int)]).mean())
            executor.backward()
            for name, gradient in executor.grad_dict.items():
                executor.arg_dict[name][:] = executor.arg_dict[name] - 0.02 * gradient
        self.assertLess(losses[-1], losses[0])

    def test_gradients_of_inputs_and_requests(self):
        a, b = mx.sym.Variable("a"), mx.sym.Variable("b")
        executor = (a * b + a).simple_bind(grad_req={"a": "write", "b": "add"}, a=(2,), b=(2,))
        for call in (1, 2):
            executor.forward(is_train=True, a=np.array([2, 3]), b=np.array([5, 7]))
            executor.backward([mx.nd.array([1, 10])])
            self.assertEqual(executor.grad_dict["a"].asnumpy().tolist(), [6, 80])
            self.assertEqual(executor.grad_dict["b"].asnumpy().tolist(), [2 * call, 30 * call])
        self.assertEqual(executor.outputs[0].asnumpy().tolist(), [12, 24])
        executor.forward()
        with self.assertRaisesRegex(mx.Error, "is_train=True"):
            executor.backward()
        with self.assertRaisesRegex(mx.Error, "grad_req"):
            a.simple_bind(grad_req={"c": "write"}, a=(2,))
        with self.assertRaisesRegex(mx.Error, 'no argument "c"'):
            executor.forward(c=np.zeros(2))


    def test_a_word_is_for_inputs_too(self):
        """As in MXNet. Weights have the same bits with and without gradients of inputs."""
        weight, data = np.float32([[1, 2], [3, 4], [5, 6]]), np.float32([[1, -1], [0.5, 2]])
        net = mx.sym.LinearRegressionOutput(
            mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, no_bias=True, name="fc"),
            mx.sym.Variable("label"), name="out")
        for request, times in (("write", 1), ("add", 2)):
            executor = net.simple_bind(mx.cpu(), request, data=(2, 2), label=(2, 3))
            alone = net.simple_bind(mx.cpu(), {"fc_weight": request}, data=(2, 2), label=(2, 3))
            for _ in range(2):
                for each in (executor, alone):
                    each.forward(is_train=True, data=data, label=np.ones((2, 3)), fc_weight=weight)
                    each.backward()
            slope = (data @ weight.T - 1) / 3
            np.testing.assert_allclose(executor.grad_dict["data"].asnumpy(), times * slope @ weight,
                                       rtol=1e-5)
            np.testing.assert_array_equal(executor.grad_dict["label"].asnumpy(), np.zeros((2, 3)))
            np.testing.assert_array_equal(executor.grad_dict["fc_weight"].asnumpy(),
                                          alone.grad_dict["fc_weight"].asnumpy())

    def test_gradients_of_inputs_are_of_their_backward(self):
        """Also if they are read later."""
        data = mx.sym.Variable("data")
        executor = mx.sym.sum(data * data).simple_bind(mx.cpu(), data=(2,))
        executor.forward(is_train=True, data=np.array([1, 2]))
        executor.backward()
        gradient = executor.grad_dict["data"]
        executor.forward(is_train=False, data=np.array([5, 6]))
        self.assertEqual(gradient.asnumpy().tolist(), [2, 4])

    def test_gradients_of_inputs_have_the_masks_of_the_weights(self):
        """Integer inputs have no gradients."""
        dropped = mx.sym.Dropout(
            mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc"), p=0.5)
        table = mx.sym.Embedding(mx.sym.Variable("ids", dtype="int32"), input_dim=5, output_dim=2,
                                 name="table")
        net = mx.sym.MakeLoss(mx.sym.sum(mx.sym.square(dropped * table - mx.sym.Variable("label"))))
        executor = net.simple_bind(mx.cpu(), data=(4, 2), ids=(4,), label=(4, 2))
        draw = np.random.default_rng(0)
        for name, array in executor.arg_dict.items():
            array[:] = [0, 1, 2, 4] if name == "ids" else draw.normal(size=array.shape)
        executor.forward(is_train=True)
        executor.backward()
        values, gradients = ({name: array.asnumpy() for name, array in each.items()}
                             for each in (executor.arg_dict, executor.grad_dict))
        row = values["table_weight"][values["ids"].astype(int)]
        slope = -gradients["label"]  # 2 * (dropped * row - label)
        kept = np.where(np.abs(slope / 2 + values["label"]) > 1e-6, 2.0, 0.0)
        self.assertEqual(set(kept.ravel()), {0.0, 2.0})
        before = slope * row * kept
        np.testing.assert_allclose(gradients["data"], before @ values["fc_weight"], rtol=1e-4,
                                   atol=1e-5)
        np.testing.assert_allclose(gradients["fc_weight"], before.T @ values["data"], rtol=1e-4,
                                   atol=1e-5)
        np.testing.assert_array_equal(gradients["ids"], 0)

    def test_dropout_without_weights(self):
        data = mx.sym.Variable("data")
        executor = mx.sym.sum(mx.sym.Dropout(data, p=0.5) * mx.sym.Variable("other")).simple_bind(
            mx.cpu(), data=(3, 4), other=(3, 4))
        for array in executor.arg_dict.values():
            array[:] = np.arange(1, 13).reshape(3, 4)
        executor.forward(is_train=True)
        executor.backward()
        data, other = (executor.grad_dict[name].asnumpy() for name in ("data", "other"))
        np.testing.assert_array_equal(data, other)
        self.assertTrue((data == 0).any() and (data != 0).any())


class Iterators(unittest.TestCase):
    def test_the_last_batch(self):
        x = np.arange(10, dtype=np.float32)
        for handle, wanted, pads in (("pad", [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 1]], [0, 0, 2]),
                                     ("discard", [[0, 1, 2, 3], [4, 5, 6, 7]], [0, 0])):
            iterator = mx.io.NDArrayIter(x, batch_size=4, last_batch_handle=handle)
            for _ in range(2):
                batches = list(iterator)
                self.assertEqual([batch.data[0].asnumpy().tolist() for batch in batches], wanted)
                self.assertEqual([batch.pad for batch in batches], pads)
                iterator.reset()
            self.assertEqual(len(iterator), len(wanted))


class Metrics(unittest.TestCase):
    def test_by_hand(self):
        p = np.array([[0.25, 0.75], [0.5, 0.5], [1, 0]], np.float32)
        label = np.array([1, 0, 1], np.float32)
        nll = [-np.log(0.75), -np.log(0.5)]
        for metric, wanted in (
                (mx.metric.Accuracy(), 2 / 3),
                (mx.metric.create("ce"), (sum(nll) - np.log(1e-12)) / 3),
                (mx.metric.Perplexity(ignore_label=None), np.exp((sum(nll) - np.log(1e-10)) / 3)),
                (mx.metric.Perplexity(ignore_label=0), np.exp((nll[0] - np.log(1e-10)) / 2)),
                (mx.metric.create("top_k_accuracy", top_k=2), 1),
                (mx.metric.np(lambda label, pred: 7), 7)):
            metric.update([mx.nd.array(label)], [mx.nd.array(p)])
            self.assertAlmostEqual(metric.get()[1], wanted, places=6)
        for name, wanted in (("mae", 1), ("mse", 5 / 3), ("rmse", (5 / 3) ** 0.5)):
            metric = mx.metric.create(name)
            metric.update([np.array([1, 2, 3])], [np.array([[1], [4], [2]])])
            self.assertAlmostEqual(metric.get()[1], wanted)
        both = mx.metric.create(["acc", "ce"])
        both.update([label], [p])
        self.assertEqual([name for name, _ in both.get_name_value()], ["accuracy", "cross-entropy"])


if __name__ == "__main__":
    unittest.main()
