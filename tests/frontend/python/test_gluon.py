"""Gluon: blocks, parameters, losses and the Trainer, judged by NumPy and by the symbolic API. That
a Trainer's updates have the bits of fit is test_roads.py's."""

import tempfile
import threading
import unittest

import numpy as np

import lstmc as mx
from lstmc import autograd, gluon, nd
from lstmc.gluon import nn

RANDOM = np.random.default_rng(42)


def reals(*shape):
    return RANDOM.normal(size=shape).astype("f4")


def close(got, wanted, tolerance=1e-5):
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=tolerance, atol=tolerance)


def net(prefix="net_", rate=0.0):
    made = nn.HybridSequential(prefix=prefix)
    with made.name_scope():
        made.add(nn.Dense(5, activation="tanh"), nn.Dropout(rate), nn.Dense(2))
    return made


def values(block):
    return {name: parameter.data().asnumpy() for name, parameter in block.collect_params().items()}


class Blocks(unittest.TestCase):
    def test_names_are_mxnets(self):
        with mx.name.NameManager():
            made = nn.HybridSequential()
            with made.name_scope():
                made.add(nn.Dense(3), nn.Dense(4), nn.LayerNorm())
            outside = nn.Dense(2)
        self.assertEqual(list(made.collect_params()),
                         ["hybridsequential0_dense0_weight", "hybridsequential0_dense0_bias",
                          "hybridsequential0_dense1_weight", "hybridsequential0_dense1_bias",
                          "hybridsequential0_layernorm0_gamma",
                          "hybridsequential0_layernorm0_beta"])
        self.assertEqual(list(outside.collect_params()), ["dense0_weight", "dense0_bias"])
        self.assertEqual(list(made.collect_params(".*dense1.*bias")),
                         ["hybridsequential0_dense1_bias"])

    def test_shapes_are_inferred_by_the_first_forward(self):
        for hybridized in (False, True):
            made = net()
            made.initialize(mx.init.Xavier())
            if hybridized:
                made.hybridize()
            with self.assertRaisesRegex(gluon.DeferredInitializationError, "net_dense0_weight"):
                made[0].weight.data()
            x = reals(7, 3)
            output = made(nd.array(x)).asnumpy()
            w = values(made)
            self.assertEqual(w["net_dense0_weight"].shape, (5, 3))
            hidden = np.tanh(x @ w["net_dense0_weight"].T + w["net_dense0_bias"])
            close(output, hidden @ w["net_dense1_weight"].T + w["net_dense1_bias"])
            self.assertTrue((w["net_dense0_bias"] == 0).all())
            with self.assertRaises(mx.Error):
                made(nd.array(reals(7, 4)))

    def test_hybridized_has_the_bits_of_eager(self):
        for loss in (gluon.loss.SoftmaxCrossEntropyLoss(), gluon.loss.L2Loss()):
            label = (np.array([0, 1, 1, 0]) if isinstance(loss, gluon.loss.SoftmaxCrossEntropyLoss)
                     else reals(4, 2))
            x, found = reals(4, 3), []
            weights = None
            for way in ("eager", "net", "both"):
                made = net()
                made.initialize()
                made(nd.array(x))
                if weights is None:
                    weights = values(made)
                for name, value in weights.items():
                    made.collect_params()[name].set_data(value)
                if way != "eager":
                    made.hybridize()
                if way == "both":
                    loss.hybridize()
                with autograd.record():
                    output = made(nd.array(x))
                    lost = loss(output, nd.array(label))
                lost.backward()
                found.append([output.asnumpy(), lost.asnumpy(), *(
                    parameter.grad().asnumpy() for parameter in made.collect_params().values())])
                loss.hybridize(False)
            for other in found[1:]:
                for one, two in zip(found[0], other):
                    np.testing.assert_array_equal(one, two)

    def test_values_read_before_backward_are_those_of_backward(self):
        """Dropout draws one mask, whether its output is read before, after or never."""
        x = np.ones((6, 40), "f4")
        made = net(rate=0.5)
        made.initialize(mx.init.One())
        made.hybridize()
        made(nd.array(x))
        seen = []
        for read in (True, False):
            mx.random.seed(3)
            with autograd.record():
                output = made(nd.array(x))
                lost = nd.sum(output * output)
            if read:
                output.asnumpy()
            lost.backward()
            seen.append((output.asnumpy(), float(lost), made[2].weight.grad().asnumpy()))
        for one, two in zip(*seen):
            np.testing.assert_array_equal(one, two)
        self.assertGreater(np.unique(seen[0][0]).size, 1)

    def test_two_calls_in_one_record_drop_out_each_for_itself(self):
        made = nn.HybridSequential()
        made.add(nn.Dropout(0.5))
        made.hybridize()
        x = nd.ones((50, 50))
        x.attach_grad()
        with autograd.record():
            one, two = made(x), made(x)
            total = one + two
        total.backward()
        self.assertFalse(np.array_equal(one.asnumpy(), two.asnumpy()))
        np.testing.assert_array_equal(x.grad.asnumpy(), total.asnumpy())

    def test_dropout_is_for_training(self):
        made = nn.Dropout(0.5)
        for hybridized in (False, True):
            made.hybridize(hybridized)
            x = nd.ones((20, 20))
            np.testing.assert_array_equal(made(x).asnumpy(), x.asnumpy())
            with autograd.train_mode():
                self.assertEqual(sorted(set(made(x).asnumpy().ravel())), [0, 2])
            with autograd.record(train_mode=False):
                np.testing.assert_array_equal(made(x).asnumpy(), x.asnumpy())

    def test_a_block_of_ones_own(self):
        class Gated(gluon.HybridBlock):
            def __init__(self, units, **keywords):
                super().__init__(**keywords)
                with self.name_scope():
                    self.dense = nn.Dense(units)
                    self.scale = self.params.get("scale", shape=(1, units), init="ones")
                    self.offset = self.params.get_constant("offset", np.full((1, units), 0.5, "f4"))

            def hybrid_forward(self, F, x, scale, offset):
                return F.broadcast_mul(F.sigmoid(self.dense(x)), scale) + F.broadcast_like(
                    offset, F.sigmoid(self.dense(x)))

        made = Gated(4, prefix="gated_")
        made.initialize(mx.init.Normal(1))
        x = nd.array(reals(3, 2))
        eager = made(x).asnumpy()
        made.hybridize()
        np.testing.assert_array_equal(made(x).asnumpy(), eager)
        w = values(made)
        close(eager, 1 / (1 + np.exp(-x.asnumpy() @ w["gated_dense0_weight"].T)) + 0.5)
        with autograd.record():
            lost = nd.sum(made(x))
        lost.backward()
        close(made.scale.grad().asnumpy(), (eager - 0.5).sum(0, keepdims=True))
        self.assertEqual(made.offset.grad_req, "null")

    def test_weights_are_shared_by_params(self):
        one = nn.Dense(3, in_units=3, prefix="one_")
        two = nn.Dense(3, in_units=3, params=one.params)
        self.assertIs(one.weight, two.weight)
        one.initialize()
        both = nn.HybridSequential()
        both.add(one, two)
        self.assertEqual(len(both.collect_params()), 2)
        x = reals(2, 3)
        w = one.weight.data().asnumpy()
        for hybridized in (False, True):
            both.hybridize(hybridized)
            with autograd.record():
                lost = nd.sum(both(nd.array(x)))
            lost.backward()
            close(one.weight.grad().asnumpy(),
                  np.outer(np.ones(3), (x @ w.T).sum(0)) + np.outer(w.sum(0), x.sum(0)))

    def test_hooks_and_summary(self):
        made, called = net(), []
        made.initialize()
        with made[0].register_forward_hook(lambda block, x, y: called.append(y.shape)):
            made(nd.array(reals(2, 3)))
        made(nd.array(reals(2, 3)))
        self.assertEqual(called, [(2, 5)])
        handle = made.register_forward_pre_hook(lambda block, x: called.append(len(x)))
        made(nd.array(reals(2, 3)))
        handle.detach()
        self.assertEqual(called, [(2, 5), 1])
        made.hybridize()
        made.summary(nd.array(reals(2, 3)))
        self.assertTrue(made._active)

    def test_layers(self):
        x = reals(4, 6)
        for layer, wanted in (
                (nn.LeakyReLU(0.1), np.where(x > 0, x, 0.1 * x)),
                (nn.ELU(0.7), np.where(x > 0, x, 0.7 * np.expm1(x))),
                (nn.PReLU(), np.where(x > 0, x, 0.25 * x)),
                (nn.SELU(), 1.0507009873554805 * np.where(
                    x > 0, x, 1.6732632423543772 * np.expm1(x))),
                (nn.Swish(2.0), x / (1 + np.exp(-2 * x))),
                (nn.Activation("softsign"), x / (1 + np.abs(x))),
                (nn.Flatten(), x), (nn.Lambda("relu"), np.maximum(x, 0)),
                (nn.HybridLambda("relu"), np.maximum(x, 0)),
                (nn.HybridLambda(lambda F, x: F.square(x)), x * x),
                (nn.LayerNorm(), (x - x.mean(1, keepdims=True))
                 / np.sqrt(x.var(1, keepdims=True) + 1e-5))):
            layer.initialize()
            close(layer(nd.array(x)).asnumpy(), wanted)
            layer.hybridize()
            close(layer(nd.array(x)).asnumpy(), wanted)
        table = nn.Embedding(5, 3)
        table.initialize()
        ids = np.array([[0, 4], [2, 2]])
        np.testing.assert_array_equal(table(nd.array(ids)).asnumpy(),
                                      table.weight.data().asnumpy()[ids])

    def test_threads_share_a_hybridized_block(self):
        """apache/mxnet 13199."""
        made = net()
        made.initialize()
        x = nd.array(reals(5, 3))
        wanted = made(x).asnumpy()
        made.hybridize()
        wrong = []

        def run():
            for _ in range(20):
                if not np.array_equal(made(x).asnumpy(), wanted):
                    wrong.append(1)

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_errors(self):
        made = net()
        with self.assertRaisesRegex(mx.Error, "net_dense0_weight.*has not been initialized"):
            made(nd.array(reals(2, 3)))
        made.initialize()
        with self.assertWarnsRegex(mx.Warning, "already initialized"):
            made.initialize()
        with self.assertRaisesRegex(mx.Error, "children of a HybridBlock"):
            made.add(nn.Lambda("relu"))
        with self.assertRaisesRegex(mx.Error, "is not on cpu\\(1\\)"):
            made(nd.array(reals(2, 3)))
            made[0].weight.data(mx.cpu(1))


class Files(unittest.TestCase):
    def test_parameters_come_back(self):
        with tempfile.TemporaryDirectory() as folder:
            one, two, x = net("one_"), net("two_"), nd.array(reals(3, 4))
            one.initialize()
            wanted = one(x).asnumpy()
            one.save_parameters(f"{folder}/a.params")
            two.load_parameters(f"{folder}/a.params")
            np.testing.assert_array_equal(two(x).asnumpy(), wanted)
            self.assertEqual(sorted(nd.load(f"{folder}/a.params")),
                             ["0.bias", "0.weight", "2.bias", "2.weight"])
            one.collect_params().save(f"{folder}/b.params", strip_prefix="one_")
            three = net("three_")
            three.collect_params().load(f"{folder}/b.params", restore_prefix="three_")
            np.testing.assert_array_equal(three(x).asnumpy(), wanted)
            with self.assertRaisesRegex(mx.Error, "has no 3.weight"):
                other = nn.HybridSequential()
                other.add(*net(), nn.Dense(1))
                other.load_parameters(f"{folder}/a.params")

    def test_an_exported_block_is_a_network_everywhere(self):
        with tempfile.TemporaryDirectory() as folder:
            made, x = net(), reals(3, 4)
            made.initialize()
            made.hybridize()
            wanted = made(nd.array(x)).asnumpy()
            symbol_file, weights = made.export(f"{folder}/e")
            back = gluon.SymbolBlock.imports(symbol_file, "data", weights)
            np.testing.assert_array_equal(back(nd.array(x)).asnumpy(), wanted)
            self.assertEqual(list(back.collect_params()), list(made.collect_params()))
            symbol, arg, _ = mx.model.load_checkpoint(f"{folder}/e", 0)
            session = mx.Network(symbol).compile({"data": x.shape}).session(
                params={name: value.asnumpy() for name, value in arg.items()})
            [output] = session.run({"data": x}).values()
            np.testing.assert_array_equal(output, wanted)
            with autograd.record():
                lost = nd.sum(back(nd.array(x)))
            lost.backward()
            self.assertGreater(abs(back.collect_params()["net_dense1_weight"].grad().asnumpy())
                               .max(), 0)


class Updates(unittest.TestCase):
    """The Trainer beside the update itself."""

    def setUp(self):
        self.net = net()
        self.net.initialize()
        self.x, self.y = nd.array(reals(4, 3)), nd.array(reals(4, 2))
        self.loss = gluon.loss.L2Loss()

    def backward(self):
        with autograd.record():
            lost = self.loss(self.net(self.x), self.y)
        lost.backward()

    def test_sgd_by_hand(self):
        trainer = gluon.Trainer(self.net.collect_params(), "sgd",
                                {"learning_rate": 0.5, "wd": 0.1})
        self.net(self.x)
        self.net.collect_params(".*dense0_bias").setattr("lr_mult", 0.0)
        self.net.collect_params(".*dense1_bias").setattr("wd_mult", 2.0)
        before = values(self.net)
        self.backward()
        trainer.step(4)
        for name, parameter in self.net.collect_params().items():
            rate = 0.0 if name.endswith("dense0_bias") else 0.5
            decay = 0.2 if name.endswith("dense1_bias") else 0.1
            close(parameter.data().asnumpy(), (1 - rate * decay) * before[name]
                  - rate * parameter.grad().asnumpy() / 4)

    def test_stale_gradients(self):
        """gluon-nlp 982: allreduce_grads, a change of gradients, update; and its warning."""
        trainer = gluon.Trainer(self.net.collect_params(), "sgd", {"learning_rate": 1.0})
        self.backward()
        trainer.allreduce_grads()
        gradients = [each.grad() for each in self.net.collect_params().values()]
        norm = gluon.utils.clip_global_norm(gradients, 1e-3)
        self.assertGreater(norm, 1e-3)
        before = values(self.net)
        trainer.update(1)
        moved = np.sqrt(sum(((before[name] - value) ** 2).sum()
                            for name, value in values(self.net).items()))
        close(moved, 1e-3, 1e-3)
        with self.assertRaisesRegex(UserWarning, "net_dense0_weight.*not computed by backward"):
            trainer.step(1)
        kept = values(self.net)
        trainer.step(1, ignore_stale_grad=True)
        for name, value in values(self.net).items():
            np.testing.assert_array_equal(value, kept[name])

    def test_the_store_updates_as_it_was_asked_for(self):
        """apache/mxnet 12713, 9557."""
        trainer = gluon.Trainer(self.net.collect_params(), "sgd", update_on_kvstore=True)
        self.backward()
        for call in (trainer.allreduce_grads, lambda: trainer.update(1)):
            with self.assertRaisesRegex(mx.Error, "update_on_kvstore=False"):
                call()
        trainer.step(4)
        with self.assertRaisesRegex(mx.Error, "dist_sync.*lstmc launch"):
            gluon.Trainer(self.net.collect_params(), "sgd", kvstore="dist_sync")

    def trained(self, contexts, optimizer="adam", updates=4, **keys):
        """Weights after updates on these contexts, from the same first values."""
        made = net()
        made.initialize(ctx=contexts)
        for name, value in self.first.items():
            made.collect_params()[name].set_data(value)
        trainer = gluon.Trainer(made.collect_params(), optimizer, {"learning_rate": 0.1, **keys})
        for _ in range(updates):
            parts = zip(gluon.utils.split_and_load(self.x, contexts),
                        gluon.utils.split_and_load(self.y, contexts))
            with autograd.record():
                losses = [self.loss(made(x), y) for x, y in parts]
            for lost in losses:
                lost.backward()
            trainer.step(4)
        return made, trainer

    def test_an_update_counts_once_on_several_contexts(self):
        """apache/mxnet 13752, 12713; states of all contexts: 15918."""
        self.net(self.x)
        self.first = values(self.net)
        contexts = [mx.cpu(0), mx.cpu(1)]
        for optimizer in ("adam", "adamax", "ftml", "nadam"):
            one, _ = self.trained([mx.cpu(0)], optimizer)
            two, trainer = self.trained(contexts, optimizer)
            for name, parameter in two.collect_params().items():
                left, right = (each.asnumpy() for each in parameter.list_data())
                np.testing.assert_array_equal(left, right)
                close(left, one.collect_params()[name].data().asnumpy(), 1e-4)
            self.assertEqual(set(trainer._counts.values()), {4})
        schedule = mx.lr_scheduler.FactorScheduler(step=2, factor=0.5)
        _, trainer = self.trained(contexts, lr_scheduler=schedule)
        self.assertEqual(trainer.learning_rate, 0.05)

    def test_states_are_saved_and_continue(self):
        whole = self.first_updates("adam", 6)
        half = self.first_updates("adam", 3)
        with tempfile.TemporaryDirectory() as folder:
            half[1].save_states(f"{folder}/s")
            other = gluon.Trainer(half[0].collect_params(), "adam", {"learning_rate": 0.1})
            other.load_states(f"{folder}/s")
            wrong = gluon.Trainer(half[0].collect_params(), "sgd")
            with self.assertRaisesRegex(mx.Error, 'has the states of "adam"'):
                wrong.load_states(f"{folder}/s")
        self.go_on(half[0], other, 3)
        for name, value in values(whole[0]).items():
            np.testing.assert_array_equal(value, values(half[0])[name])

    def first_updates(self, optimizer, count):
        self.net(self.x)
        self.first = values(self.net)
        made, trainer = self.trained([mx.cpu(0)], optimizer, count)
        return made, trainer

    def go_on(self, made, trainer, count):
        for _ in range(count):
            with autograd.record():
                lost = self.loss(made(self.x), self.y)
            lost.backward()
            trainer.step(4)

    def test_another_batch_size_keeps_the_states(self):
        """momentum goes on when the last batch of an epoch is smaller."""
        parameter = gluon.Parameter("w", shape=(2,))
        parameter.initialize(mx.init.Zero())
        trainer = gluon.Trainer([parameter], "sgd", {"learning_rate": 1.0, "momentum": 0.5})
        moves = []
        for batch in (2, 4, 2):
            with autograd.record():
                lost = nd.sum(parameter.data())
            lost.backward()
            before = parameter.data().asnumpy()
            trainer.step(batch)
            moves.append(before[0] - parameter.data().asnumpy()[0])
        self.assertEqual(moves, [0.5, 0.5 * 0.5 + 0.25, 0.5 * 0.5 + 0.5])

    def test_two_trainers_share_nothing(self):
        """apache/mxnet 13054."""
        left = gluon.Trainer(self.net[0].collect_params(), "sgd", {"learning_rate": 0.1})
        right = gluon.Trainer(self.net[2].collect_params(), "adam", {"learning_rate": 0.1})
        self.backward()
        before = values(self.net)
        left.step(4)
        after = values(self.net)
        np.testing.assert_array_equal(after["net_dense1_weight"], before["net_dense1_weight"])
        self.assertFalse(np.array_equal(after["net_dense0_weight"], before["net_dense0_weight"]))
        right.step(4)
        self.assertFalse(np.array_equal(values(self.net)["net_dense1_weight"],
                                        before["net_dense1_weight"]))

    def test_rates(self):
        trainer = gluon.Trainer(self.net.collect_params(), "adam")
        self.assertEqual(trainer.learning_rate, 0.001)
        trainer.set_learning_rate(0.25)
        self.assertEqual(trainer.learning_rate, 0.25)
        schedule = mx.lr_scheduler.PolyScheduler(10, base_lr=0.5)
        trainer = gluon.Trainer(self.net.collect_params(), "sgd", {"lr_scheduler": schedule})
        with self.assertRaises(UserWarning):
            trainer.set_learning_rate(1)
        with self.assertRaisesRegex(mx.Error, "found .sdg., want one of"):
            gluon.Trainer(self.net.collect_params(), "sdg")
        with self.assertRaises(mx.Error):
            self.backward()
            gluon.Trainer(self.net.collect_params(), "sgd", {"momentun": 0.9}).step(1)


class Losses(unittest.TestCase):
    def check(self, loss, wanted, *inputs):
        arrays = [nd.array(each) for each in inputs]
        close(loss(*arrays).asnumpy(), wanted)
        loss.hybridize()
        close(loss(*arrays).asnumpy(), wanted)

    def test_values(self):
        p, y, s = reals(5, 4), reals(5, 4), np.sign(reals(5, 4))
        b = (s + 1) / 2
        error = y - p
        self.check(gluon.loss.L2Loss(), (error ** 2).mean(1) / 2, p, y)
        self.check(gluon.loss.L1Loss(weight=2), 2 * np.abs(error).mean(1), p, y)
        soft = np.logaddexp(0, p) - p * b
        self.check(gluon.loss.SigmoidBCELoss(), soft.mean(1), p, b)
        sig = 1 / (1 + np.exp(-p))
        self.check(gluon.loss.SigmoidBCELoss(from_sigmoid=True), soft.mean(1), sig, b)
        logs = p - np.log(np.exp(p).sum(1, keepdims=True))
        classes = np.array([0, 3, 1, 1, 2])
        self.check(gluon.loss.SoftmaxCELoss(), -logs[np.arange(5), classes], p, classes)
        q = np.exp(y) / np.exp(y).sum(1, keepdims=True)
        self.check(gluon.loss.SoftmaxCELoss(sparse_label=False), -(q * logs).sum(1), p, q)
        self.check(gluon.loss.KLDivLoss(from_logits=False), (q * (np.log(q) - logs)).mean(1), p, q)
        near = np.abs(error)
        self.check(gluon.loss.HuberLoss(0.8), np.where(near > 0.8, near - 0.4, near ** 2 / 1.6)
                   .mean(1), p, y)
        hinge = np.maximum(0, 1 - p * s)
        self.check(gluon.loss.HingeLoss(), hinge.mean(1), p, s)
        self.check(gluon.loss.SquaredHingeLoss(), (hinge ** 2).mean(1), p, s)
        self.check(gluon.loss.LogisticLoss(), np.log1p(np.exp(-p * s)).mean(1), p, s)
        self.check(gluon.loss.LogisticLoss(label_format="binary"),
                   np.log1p(np.exp(-p * s)).mean(1), p, b)
        n = reals(5, 4)
        self.check(gluon.loss.TripletLoss(), np.maximum(
            0, ((y - p) ** 2).sum(1) - ((n - p) ** 2).sum(1) + 1), p, y, n)
        self.check(gluon.loss.PoissonNLLLoss(), (np.exp(p) - b * p).mean().reshape(1), p, b)
        cos = (p * y).sum(1) / np.sqrt((p ** 2).sum(1) * (y ** 2).sum(1))
        sign = s[:, 0]
        self.check(gluon.loss.CosineEmbeddingLoss(), np.where(
            sign == 1, 1 - cos, np.maximum(0, cos))[:, None], p, y, sign)

    def test_weights_of_samples(self):
        p, y, w = reals(5, 4), reals(5, 4), reals(5, 1)
        self.check(gluon.loss.L2Loss(), ((y - p) ** 2 * w).mean(1) / 2, p, y, w)


class Parts(unittest.TestCase):
    def test_split(self):
        x = nd.array(reals(6, 2))
        parts = gluon.utils.split_and_load(x, [mx.cpu(0), mx.cpu(1), mx.cpu(2)])
        self.assertEqual([part.context for part in parts], [mx.cpu(0), mx.cpu(1), mx.cpu(2)])
        np.testing.assert_array_equal(np.concatenate([part.asnumpy() for part in parts]),
                                      x.asnumpy())
        self.assertEqual([part.shape for part in gluon.utils.split_data(x, 4, even_split=False)],
                         [(1, 2), (1, 2), (1, 2), (3, 2)])
        with self.assertRaisesRegex(ValueError, "not cut evenly"):
            gluon.utils.split_data(x, 4)

    def test_clip(self):
        arrays = [nd.array([3.0]), nd.array([4.0])]
        self.assertEqual(gluon.utils.clip_global_norm(arrays, 1.0), 5.0)
        close([float(array) for array in arrays], [0.6, 0.8])


if __name__ == "__main__":
    unittest.main()
