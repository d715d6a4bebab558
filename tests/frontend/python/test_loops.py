"""Custom loops over a Module: forward, backward, update."""

import unittest

import numpy as np

import lstmc as mx

BATCH = 8


def network():
    data, label = mx.sym.Variable("data"), mx.sym.Variable("softmax_label")
    output, _ = mx.rnn.FusedRNNCell(6, num_layers=1, mode="lstm", prefix="lstm_").unroll(
        5, data, layout="NTC", merge_outputs=True)
    last = mx.sym.SequenceLast(mx.sym.swapaxes(output, dim1=0, dim2=1))
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(last, num_hidden=3, name="fc"), label,
                                name="softmax")


def iterator(samples=40):
    x = np.random.default_rng(0).normal(size=(samples, 5, 4)).astype("float32")
    return mx.io.NDArrayIter(x, x.sum((1, 2)).clip(-1, 1).round() + 1, BATCH,
                             label_name="softmax_label")


OPTIMIZER = {"optimizer": "sgd",
             "optimizer_params": {"learning_rate": 0.2, "momentum": 0.9,
                                  "lr_scheduler": mx.lr_scheduler.FactorScheduler(4, 0.5)}}


def begun(context=None, **optimizer):
    module, data = mx.mod.Module(network(), context=context), iterator()
    module.bind(data.provide_data, data.provide_label)
    module.init_params(mx.init.Uniform(0.3))
    module.init_optimizer(**(optimizer or OPTIMIZER))
    return module, data


def values(module):
    return {name: value.asnumpy() for name, value in module.get_params()[0].items()}


class Loops(unittest.TestCase):
    def equal(self, some, others):
        self.assertEqual(some.keys(), others.keys())
        for name, value in some.items():
            np.testing.assert_array_equal(value, others[name], name)

    def test_weights_and_metrics_are_those_of_fit(self):
        fitted, seen = mx.mod.Module(network()), []
        fitted.fit(
            iterator(), num_epoch=3, eval_metric="acc", initializer=mx.init.Uniform(0.3),
            **OPTIMIZER,
            batch_end_callback=lambda param: seen.append(param.eval_metric.get_name_value()[0][1]))

        def measured_first(module, batch, metric):
            module.forward(batch)
            module.update_metric(metric, batch.label)
            module.backward()
            module.update()

        def measured_last(module, batch, metric):
            module.forward_backward(batch)
            module.update()
            module.update_metric(metric, batch.label)

        for one in measured_first, measured_last:
            module, data = begun()
            metric, measured = mx.metric.create("acc"), []
            for _ in range(3):
                data.reset()
                metric.reset()
                for batch in data:
                    one(module, batch, metric)
                    measured.append(metric.get()[1])
            self.assertEqual(measured, seen)
            self.equal(values(module), values(fitted))

    def test_devices_share_the_batch(self):
        trained = []
        for context in None, [mx.cpu(0), mx.cpu(1)]:
            module, data = begun(context)
            first = values(module)
            for batch in data:
                module.forward_backward(batch)
                module.update()
            trained.append(values(module))
            self.assertFalse(
                any((value == trained[-1][name]).all() for name, value in first.items()))
        self.equal(*trained)

    def test_outputs_are_those_of_the_weights_before_the_update(self):
        module, data = begun()
        batch = next(iter(data))
        module.forward(batch, is_train=False)
        before = module.get_outputs()[0].asnumpy()
        module.forward_backward(batch)
        module.update()
        first = values(module)
        np.testing.assert_array_equal(module.get_outputs()[0].asnumpy(), before)
        module.forward(batch, is_train=False)
        self.assertFalse((module.get_outputs()[0].asnumpy() == before).all())
        with self.assertRaisesRegex(mx.Error, "after forward"):
            module.backward()
        # Other shapes have a session of their own, with the current weights.
        few = mx.io.DataBatch([batch.data[0][:4]])
        for _ in range(2):
            module.forward(few)
            rows = module.get_outputs()[0].asnumpy()
            module.forward(batch, is_train=False)
            np.testing.assert_array_equal(rows, module.get_outputs()[0].asnumpy()[:4])
            module.forward_backward(batch)
            module.update()
        module, data = begun()
        module.forward_backward(batch)
        module.update()
        self.equal(values(module), first)

    def test_a_gradient_without_update_changes_nothing(self):
        module, data = begun()
        first = values(module)
        for batch in data:
            module.forward_backward(batch)
        self.equal(values(module), first)

    def test_weights_that_are_set_keep_the_momentum(self):
        trained = []
        for sets in False, True:
            module, data = begun()
            for batch in data:
                module.forward_backward(batch)
                module.update()
                if sets:
                    module.set_params(*module.get_params())
            trained.append(values(module))
        self.equal(*trained)
        module.set_params({name: value * 0 for name, value in trained[0].items()})
        self.assertEqual({float(abs(value).max()) for value in values(module).values()}, {0})

    def test_an_optimizer_is_a_name_with_arguments(self):
        trained = []
        for optimizer in (
                {"optimizer": "adam",
                 "optimizer_params": {"learning_rate": 0.05, "wd": 0.01, "rescale_grad": 0.5}},
                {"optimizer": mx.optimizer.Adam(learning_rate=0.05, wd=0.01, rescale_grad=0.5)},
                {"optimizer": mx.optimizer.create("Adam", learning_rate=0.05, wd=0.01,
                                                  rescale_grad=0.5)}):
            module, data = begun(**optimizer)
            for batch in data:
                module.forward_backward(batch)
                module.update()
            trained.append(values(module))
        self.equal(trained[0], trained[1])
        self.equal(trained[0], trained[2])
        self.assertEqual(
            repr(mx.optimizer.SGD(momentum=0.9)), "SGD(rescale_grad=1.0, momentum=0.9)")
        with self.assertRaisesRegex(mx.Error, "got 5"):
            begun(optimizer=5)

    def test_fit_and_score_go_on_from_a_loop(self):
        module, data = begun()
        for batch in data:
            module.forward_backward(batch)
            module.update()
        [(_, before)] = module.score(data, "ce")
        module.fit(data, num_epoch=2, **OPTIMIZER)
        [(_, after)] = module.score(data, "ce")
        self.assertLess(after, before)

    def test_what_is_refused(self):
        data = iterator()
        batch = next(iter(data))
        module = mx.mod.Module(network())
        module.bind(data.provide_data, data.provide_label)
        with self.assertRaisesRegex(mx.Error, "after bind, init_params and init_optimizer"):
            module.forward(batch, is_train=True)
        module, _ = begun()
        with self.assertRaisesRegex(mx.Error, "backward comes after forward"):
            module.backward()
        module.forward(batch)
        with self.assertRaisesRegex(mx.Error, "update comes after backward"):
            module.update()
        with self.assertRaisesRegex(mx.Error, "out_grads"):
            module.backward([mx.nd.ones((BATCH, 3))])
        with self.assertRaisesRegex(mx.Error, 'no "softmax_label"'):
            module.forward(mx.io.DataBatch(batch.data), is_train=True)
        with self.assertRaisesRegex(
                mx.Error, r'"data" has shape \(4, 5, 4\), and \(8, 5, 4\) was bound'):
            module.forward(mx.io.DataBatch([batch.data[0][:4]], [batch.label[0][:4]]),
                           is_train=True)
        buckets = mx.mod.BucketingModule(lambda _: (network(), ["data"], ["softmax_label"]), 5)
        with self.assertRaisesRegex(mx.Error, "trains by fit"):
            buckets.forward(batch, is_train=True)


if __name__ == "__main__":
    unittest.main()
