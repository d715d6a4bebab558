"""BatchNorm against formulas in NumPy in float64: outputs, gradients by differences, moving
averages; the same bits on several devices, in parts and after a resumption; auxiliary states in
MXNet's classes and files. `test_batch_norm.py --seeds A..B` draws more."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import lstmc as mx
from lstmc import sym

LSTMC = os.environ["LSTMC"]
NET = """\
N = dim("batch", 12)

def net(data: float32[N, 3, 5], label: float32[N, 2]):
    x = Convolution(data, kernel=(2,), num_filter=4, name="conv")
    x = BatchNorm(x, fix_gamma=False, momentum=0.7, name="norm")
    x = BatchNorm(Activation(x, act_type="tanh"), name="fixed")
    x = FullyConnected(x, num_hidden=2, name="fc")
    return LinearRegressionOutput(x, label, name="out")

data(net, train="npz:d.npz", shuffle=False)
fit(net, seed=3, optimizer="sgd", momentum=0.9, learning_rate=0.05, initializer=Uniform(0.5))
"""


def statistics(x, axis):
    others = tuple(a for a in range(x.ndim) if a != axis % x.ndim)
    mean = x.mean(others)
    return mean, ((x - along(mean, x, axis)) ** 2).mean(others)


def along(vector, x, axis):
    shape = [1] * x.ndim
    shape[axis] = -1
    return vector.reshape(shape)


def normalised(x, gamma, beta, mean, variance, axis, eps):
    y = (x - along(mean, x, axis)) / np.sqrt(along(variance, x, axis) + eps)
    return y * along(gamma, x, axis) + along(beta, x, axis)


def differences(loss, x, step=1e-5):
    """The gradient of a function of `x`, element by element."""
    found = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        kept = x[at]
        x[at] = kept + step
        above = loss()
        x[at] = kept - step
        found[at] = (above - loss()) / (2 * step)
        x[at] = kept
    return found


class Formulas(unittest.TestCase):
    def drawn(self, seed):
        """One update with rate 1: the gradients are what the weights lose."""
        draw = np.random.default_rng(seed)
        shape = tuple(int(draw.integers(2, 5)) for _ in range(draw.integers(2, 5)))
        axis = int(draw.integers(-len(shape), len(shape)))
        fixed, everywhere = bool(draw.integers(2)), draw.random() < 0.3
        momentum, eps = float(draw.uniform()), float(draw.choice([1e-3, 1e-5, 0.3]))
        count = shape[axis]
        v = {"w": draw.normal(size=shape), "norm_gamma": draw.uniform(0.5, 2, count),
             "norm_beta": draw.normal(size=count), "norm_moving_mean": draw.normal(size=count),
             "norm_moving_var": draw.uniform(0.5, 2, count)}
        inputs = {"data": draw.normal(size=shape), "label": draw.normal(size=shape)}
        y = sym.BatchNorm(sym.Variable("data") + sym.Variable("w", shape=shape), axis=axis,
                          fix_gamma=fixed, eps=eps, name="norm",
                          **({"use_global_stats": True} if everywhere else {"momentum": momentum}))
        y = sym.LinearRegressionOutput(y, sym.Variable("label"), name="out")
        package = mx.Network(y).compile(
            {name: value.shape for name, value in inputs.items()}, dtype="f64", optimizer="sgd",
            rescale_grad=1.0, types=dict.fromkeys(inputs, "float64"))
        session = package.session(params=v)

        def forward(training):
            x = inputs["data"] + v["w"]
            mean, variance = (statistics(x, axis) if training and not everywhere
                              else (v["norm_moving_mean"], v["norm_moving_var"]))
            return normalised(x, np.ones(count) if fixed else v["norm_gamma"], v["norm_beta"], mean,
                              variance, axis, eps)

        def loss():
            apart = forward(True) - inputs["label"]
            return 0.5 * (apart ** 2).sum() / (apart.size / len(apart))

        def close(found, wanted, bound, what):
            np.testing.assert_allclose(found, wanted, rtol=0, atol=bound, err_msg=f"{seed} {what}")

        [found] = session.run({"data": inputs["data"]}).values()
        close(found, forward(False), 1e-11, "output")
        session.run({**inputs, "learning_rate": [1.0], "update": [1], "seed": [0]}, entry="step")
        after = session.params()
        for name in ("w", "norm_gamma", "norm_beta"):
            largest = max(1, np.abs(gradient := differences(loss, v[name])).max())
            close(v[name] - after[name], gradient, 1e-7 * largest, name)
        for name, value in zip(("norm_moving_mean", "norm_moving_var"),
                               statistics(inputs["data"] + v["w"], axis)):
            wanted = v[name] if everywhere else v[name] * momentum + value * (1 - momentum)
            close(after[name], wanted, 1e-12, name)
        v.update(after)
        [found] = session.run({"data": inputs["data"]}).values()
        close(found, forward(False), 1e-11, "output after an update")

    def test_drawn(self):
        for seed in range(24):
            self.drawn(seed)

    def test_three_outputs(self):
        draw = np.random.default_rng(1)
        x, one = draw.normal(size=(4, 3, 2)), np.ones(3)
        y = sym.BatchNorm(sym.Variable("data"), name="norm", output_mean_var=True)
        self.assertEqual(y.list_outputs(), ["norm_output", "norm_mean", "norm_var"])
        package = mx.Network(y).compile({"data": x.shape}, dtype="f64", types={"data": "float64"})
        mean, variance = draw.normal(size=3), draw.uniform(1, 2, 3)
        session = package.session({"norm_gamma": one, "norm_beta": 0 * one,
                                   "norm_moving_mean": mean, "norm_moving_var": variance})
        found = list(session.run({"data": x}).values())
        np.testing.assert_allclose(found[1], mean, rtol=1e-12)
        np.testing.assert_allclose(found[2], 1 / np.sqrt(variance + 1e-3), rtol=1e-12)

    def test_two_calls_renew_one_state_one_after_the_other(self):
        mean, var = sym.Variable("mean"), sym.Variable("var")
        gamma, beta = sym.Variable("gamma"), sym.Variable("beta")
        norm = lambda x: sym.BatchNorm(x, gamma, beta, mean, var, momentum=0.5)
        data = sym.Variable("data")
        y = sym.LinearRegressionOutput(norm(data) + norm(data * 2 + 1), sym.Variable("label"))
        x = np.random.default_rng(2).normal(size=(6, 3)).astype("f4")
        net = mx.Network(y)
        net.fit([{"data": x, "label": x}], num_epoch=1, optimizer="sgd", learning_rate=0.1)
        wanted = [(0.5 * (0.5 * start + 0.5 * one) + 0.5 * two) for start, one, two in zip(
            (0, 1), statistics(x.astype("f8"), 1), statistics(2 * x.astype("f8") + 1, 1))]
        found = net.session.params()
        np.testing.assert_allclose(found["mean"], wanted[0], atol=1e-6)
        np.testing.assert_allclose(found["var"], wanted[1], atol=1e-5)


class Devices(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        draw = np.random.default_rng(5)
        np.savez(self.folder / "d.npz", data=draw.normal(size=(36, 3, 5)).astype("f4"),
                 label=draw.normal(size=(36, 2)).astype("f4"))
        (self.folder / "net.lnet").write_text(NET)

    def lstmc(self, *words):
        done = subprocess.run([LSTMC, *words], cwd=self.folder, capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout + done.stderr

    def trained(self, *words):
        return re.search(r"weights\s+([0-9a-f]{16})",
                         self.lstmc("train", "net.lnet", "--force", *words))[1]

    def test_the_same_bits(self):
        one = self.trained("--after", "2e", "-o", "one")
        for words in ("-d 2xcpu", "-d 4xcpu", "-d 3xcpu --work-load-list 1,2,1", "--accumulate 3",
                      "-d 2xcpu --kv-store device",
                      "-d 2xcpu --kv-store device --update-on-kvstore 0",
                      "-d 2xcpu --place auto=2", "-d 1xemu", "-d 2xemu"):
            with self.subTest(words):
                self.assertEqual(self.trained("--after", "2e", "-o", "ck", *words.split()), one)

    def test_resumed(self):
        one = self.trained("--after", "2e", "-o", "one")
        self.trained("--after", "1e", "-o", "half")
        self.assertEqual(self.trained("--after", "2e", "-o", "half", "--resume"), one)

    def test_moving_averages_are_in_the_weights(self):
        self.trained("--after", "2e", "-o", "ck")
        listed = self.lstmc("inspect", "ck", "--json")
        self.assertIn("norm_moving_mean", listed)


class Classes(unittest.TestCase):
    def net(self):
        x = sym.BatchNorm(sym.Variable("data"), fix_gamma=False, name="norm")
        return sym.LinearRegressionOutput(sym.FullyConnected(x, num_hidden=2, name="fc"),
                                          sym.Variable("label"), name="out")

    def data(self):
        draw = np.random.default_rng(8)
        return (draw.normal(3, 2, size=(12, 3)).astype("f4"),
                draw.normal(size=(12, 2)).astype("f4"))

    def test_names(self):
        net = self.net()
        self.assertEqual(net.list_auxiliary_states(), ["norm_moving_mean", "norm_moving_var"])
        self.assertNotIn("norm_moving_var", net.list_arguments())
        self.assertEqual(net.infer_shape(data=(4, 3), label=(4, 2))[2], [(3,), (3,)])

    def fitted(self):
        x, y = self.data()
        module = mx.mod.Module(self.net(), label_names=["label"])
        module.fit(mx.io.NDArrayIter(x, y, batch_size=6, label_name="label"), num_epoch=2,
                   eval_metric="mse", optimizer_params={"learning_rate": 0.05})
        return module

    def test_module_and_files(self):
        module, (x, _) = self.fitted(), self.data()
        auxiliary = module.get_params()[1]
        self.assertEqual(sorted(auxiliary), ["norm_moving_mean", "norm_moving_var"])
        mean = np.zeros(3)
        for batch in (x[:6], x[6:]) * 2:
            mean = 0.9 * mean + 0.1 * batch.mean(0)
        np.testing.assert_allclose(auxiliary["norm_moving_mean"].asnumpy(), mean, rtol=1e-5)
        with tempfile.TemporaryDirectory() as folder:
            prefix = str(pathlib.Path(folder) / "net")
            module.save_checkpoint(prefix, 2)
            self.assertIn("aux:norm_moving_mean", mx.nd.load(prefix + "-0002.params"))
            document = json.loads(pathlib.Path(prefix + "-symbol.json").read_text())
            [number] = [i for i, node in enumerate(document["nodes"])
                        if node["op"] == "BatchNorm"]
            rows = document["node_row_ptr"]
            self.assertEqual(rows[number + 1] - rows[number], 3)
            again = mx.mod.Module.load(prefix, 2, label_names=["label"])
            data = mx.io.NDArrayIter(x, batch_size=6)
            again.bind(data.provide_data, for_training=False)
            np.testing.assert_array_equal(again.predict(data).asnumpy(),
                                          module.predict(data).asnumpy())
            np.save(f"{folder}/x.npy", x[:6])
            done = subprocess.run(
                [LSTMC, "run", prefix + "-symbol.json", "--params", prefix + "-0002.params", "-i",
                 "data=@x.npy"], cwd=folder, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_executor(self):
        x, y = self.data()
        executor = self.net().simple_bind(data=x.shape, label=y.shape)
        executor.copy_params_from({"norm_gamma": np.ones(3), "norm_beta": np.zeros(3)},
                                  {"norm_moving_var": np.ones(3)})
        executor.forward(is_train=True, data=x, label=y)
        executor.backward()
        np.testing.assert_allclose(executor.aux_dict["norm_moving_mean"].asnumpy(),
                                   0.1 * x.mean(0), rtol=1e-5)
        np.testing.assert_allclose(executor.aux_arrays[1].asnumpy(), 0.9 + 0.1 * x.var(0),
                                   rtol=1e-5)

    def test_of_arrays(self):
        x, _ = self.data()
        mean, var = x.mean(0), x.var(0)
        y = mx.nd.BatchNorm(*map(mx.nd.array, (x, np.ones(3), np.zeros(3), mean, var)))
        np.testing.assert_allclose(y.asnumpy(), (x - mean) / np.sqrt(var + 1e-3), atol=1e-5)

    def test_refused(self):
        data = sym.Variable("data")
        with self.assertRaisesRegex(mx.Error, "moving_mean is an auxiliary state.*Variable"):
            y = sym.BatchNorm(data, moving_mean=sym.Variable("m") * 2)
            mx.Network(y).compile({"data": (2, 3)})


class Eager(unittest.TestCase):
    """nd.BatchNorm and gluon.nn.BatchNorm: the bits of a symbol, and its moving averages."""

    def setUp(self):
        draw = np.random.default_rng(3)
        self.x = draw.normal(size=(4, 3, 5)).astype("f4")
        self.values = {name: draw.uniform(0.5, 1, 3).astype("f4")
                       for name in ("gamma", "beta", "mean", "var")}

    def arrays(self):
        return [mx.nd.array(self.values[name]) for name in ("gamma", "beta", "mean", "var")]

    def test_is_the_symbol(self):
        for options in ({}, {"fix_gamma": False, "momentum": 0.7}, {"use_global_stats": True},
                        {"axis": -1}):
            with self.subTest(options):
                values = dict(self.values)
                if "axis" in options:
                    values = {name: np.resize(value, 5) for name, value in values.items()}
                net = sym.BatchNorm(sym.Variable("data"), *map(sym.Variable, values), name="bn",
                                    **options)
                names = ["data", "gamma", "beta"]
                given = {name: mx.nd.array(value)
                         for name, value in {"data": self.x, **values}.items() if name in names}
                grads = {name: mx.nd.zeros(value.shape) for name, value in given.items()}
                states = {name: mx.nd.array(values[name]) for name in ("mean", "var")}
                executor = net.bind(mx.cpu(), args=given, args_grad=grads, aux_states=states)
                still = executor.forward(is_train=False)[0].asnumpy()
                executor.forward(is_train=True)
                executor.backward(mx.nd.array(self.x))

                x, gamma, beta, mean, var = map(mx.nd.array, (self.x, *values.values()))
                np.testing.assert_array_equal(
                    mx.nd.BatchNorm(x, gamma, beta, mean, var, **options).asnumpy(), still)
                for each in (x, gamma, beta):
                    each.attach_grad()
                with mx.autograd.record():
                    y = mx.nd.BatchNorm(x, gamma, beta, mean, var, **options)
                y.backward(mx.nd.array(self.x))
                for name, each in zip(names, (x, gamma, beta)):
                    np.testing.assert_allclose(each.grad.asnumpy(), grads[name].asnumpy(),
                                               rtol=1e-5, atol=1e-6, err_msg=name)
                for name, each in (("mean", mean), ("var", var)):
                    np.testing.assert_array_equal(each.asnumpy(), states[name].asnumpy())

    def test_a_recorded_prediction_takes_the_moving_averages(self):
        gamma, beta, mean, var = self.arrays()
        x = mx.nd.array(self.x)
        x.attach_grad()
        with mx.autograd.record(train_mode=False):
            y = mx.nd.BatchNorm(x, gamma, beta, mean, var, fix_gamma=False)
        y.backward()
        scale = self.values["gamma"] / np.sqrt(self.values["var"] + 1e-3)
        np.testing.assert_allclose(x.grad.asnumpy(),
                                   np.broadcast_to(scale[:, None], self.x.shape), rtol=1e-5)
        np.testing.assert_array_equal(mean.asnumpy(), self.values["mean"])

    def test_blocks(self):
        """Op by op and hybridized: the same training, and what is exported computes the same."""
        ends = []
        for hybridized in (False, True):
            net = mx.gluon.nn.HybridSequential(prefix="net_")
            with net.name_scope():
                net.add(mx.gluon.nn.Dense(4, flatten=False), mx.gluon.nn.BatchNorm(axis=-1),
                        mx.gluon.nn.Dense(2))
            net.initialize(mx.init.Constant(0.25))
            if hybridized:
                net.hybridize()
            trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
            for number in range(3):
                with mx.autograd.record():
                    loss = net(mx.nd.array(self.x * (number + 1))).square().sum()
                loss.backward()
                trainer.step(4)
            weights = {name: parameter.data().asnumpy()
                       for name, parameter in net.collect_params().items()}
            ends.append(weights)
            self.assertFalse(np.array_equal(weights["net_batchnorm0_running_mean"], np.zeros(4)))
            got = net(mx.nd.array(self.x)).asnumpy()
        for name in ends[0]:
            np.testing.assert_array_equal(ends[0][name], ends[1][name], err_msg=name)
        with tempfile.TemporaryDirectory() as folder:
            net.export(os.path.join(folder, "b"))
            names = [*mx.nd.load(os.path.join(folder, "b-0000.params"))]
            self.assertIn("aux:net_batchnorm0_running_var", names)
            block = mx.gluon.SymbolBlock.imports(os.path.join(folder, "b-symbol.json"), ["data"],
                                                 os.path.join(folder, "b-0000.params"))
            np.testing.assert_array_equal(block(mx.nd.array(self.x)).asnumpy(), got)
            with self.assertRaisesRegex(mx.Error, "moving averages"), mx.autograd.record():
                block(mx.nd.array(self.x))


def main():
    first, last = map(int, sys.argv[2].split(".."))
    for seed in range(first, last + 1):
        Formulas().drawn(seed)
    print(f"{last - first + 1} networks")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--seeds"]:
        main()
    else:
        unittest.main()
