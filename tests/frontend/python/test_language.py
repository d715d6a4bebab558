"""Operators, indices, methods and functions of the language have the results of NumPy."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np

import lstmc

RANDOM = np.random.default_rng(7)
INPUTS = {
    "x": RANDOM.standard_normal((4, 3)).astype(np.float32),
    "b": RANDOM.standard_normal(3).astype(np.float32),
    "c": RANDOM.standard_normal((4, 1)).astype(np.float32),
    "s": RANDOM.standard_normal((2, 1, 3)).astype(np.float32),
    "i": np.array([-7, 7, 5, -3], np.int32),
    "t": np.array([[2, 1, 2, 0, 1], [3, 3, -1, 3, 2]], np.float32),
}


def largest(x, k):
    """The indices of the k largest of each row; the first of equal ones."""
    return np.argsort(-x, axis=-1, kind="stable")[:, :k]


# Expressions of the language, with NumPy's expression where it differs.
CASES = [
    ("x + b", None), ("b - x", None), ("c * x", None), ("x / c", None), ("s + x", None),
    ("x % 0.7", None), ("c ** 2", None), ("b[:2] * 2 + b[1:]", None), ("i // 3", None),
    ("i % 3", None), ("3 // i", None), ("x // 0.7", None), ("i // i", None),
    ("(x > b) * 1.0", None), ("(c <= x) + 0.0", "(c <= x) + np.float32(0)"),
    ("(s == s) * 1.0", None), ("max(x, 0.0)", "np.maximum(x, 0)"),
    ("min(x, b)", "np.minimum(x, b)"), ("max(0, x, c)", "np.maximum(np.maximum(0, x), c)"),
    ("maximum(b, x)", "np.maximum(b, x)"), ("minimum(x, 0.5)", "np.minimum(x, np.float32(0.5))"),
    ("where(x > b, x, 0.0)", "np.where(x > b, x, np.float32(0))"),
    ("where(x > b, 1.5, x)", "np.where(x > b, np.float32(1.5), x)"),
    ("x[..., None]", None), ("b[None]", None), ("x[None, :, 1:, None]", None), ("x[1, None]", None),
    ("x[..., 1:, None]", None), ("x[None, ..., 0]", None), ("s[:, None, 0, ::2]", None),
    ("x[:, -1]", None), ("x[::2]", None), ("x[::-1, 1]", None),
    ("x.T", None), ("x.reshape(2, -1)", None), ("x.reshape((6, 2))", None),
    ("x.transpose(1, 0)", None), ("s.transpose((2, 0, 1))", None),
    ("x.sum(1)", None), ("x.sum()", "x.sum().reshape(1)"), ("x.mean(axis=0, keepdims=True)", None),
    ("x.max(axis=1)", None), ("x.expand_dims(1)", "np.expand_dims(x, 1)"), ("c.squeeze()", None),
    ("x.astype(\"float64\").exp()", "np.exp(x.astype(np.float64))"), ("x.tanh()", "np.tanh(x)"),
    ("x.clip(-0.5, 0.5)", None), ("x.swapaxes(0, 1)", None), ("detach(x)", "x"),
    ("x * sqrt(32.0) / pi", "x * np.float32(np.sqrt(32.0)) / np.float32(np.pi)"),
    ("x * x.shape[0] + x.ndim + x.size + len(x)", "x * 4 + 2 + 12 + 4"),
    ("sort(t, is_ascend=False)", "-np.sort(-t, axis=-1)"),
    ("sort(x, axis=0)", "np.sort(x, axis=0)"), ("sort(i)", "np.sort(i)"),
    ("argsort(t)", "np.argsort(t, axis=-1, kind='stable')"), ("topk(t, k=3)", "largest(t, 3)"),
    ("topk(t, k=2, ret_typ=\"value\")", "np.take_along_axis(t, largest(t, 2), axis=-1)"),
    ("topk(t, k=2, ret_typ=\"mask\")", "(np.arange(5) == largest(t, 2)[:, :, None]).any(axis=1)"),
    ("topk(t, k=3, ret_typ=\"both\")[0]", "np.take_along_axis(t, largest(t, 3), axis=-1)"),
    ("topk(t, k=3, ret_typ=\"both\")[1]", "largest(t, 3)"),
    ("LayerNorm(x, ones((4,)), zeros((4,)), axis=0, output_mean_var=True)[0]",
     "(x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5)"),
    ("LayerNorm(x, ones((4,)), zeros((4,)), axis=0, output_mean_var=True)[1]",
     "x.mean(0, keepdims=True)"),
    ("LayerNorm(x, ones((3,)), zeros((3,)), eps=0.5, output_mean_var=True)[2]",
     "np.sqrt(x.var(1, keepdims=True) + 0.5)"),
    ("topk(x, k=1, axis=0, is_ascend=True)", "np.argmin(x, axis=0)[None]"),
    ("scatter_nd(b, (abs(i[:3]) - 3)[None], shape=(6,))",
     "np.bincount(np.abs(i[:3]) - 3, b, 6).astype(np.float32)"),
    ("Activation(x, act_type=\"mish\")", "x * np.tanh(np.log1p(np.exp(x)))"),
    ("Activation(x, act_type=\"log_sigmoid\")", "-np.log1p(np.exp(-x))"),
]


# NumPy's function for each function of two operands that takes a number, by the stem of its op.
NUMPY = {"plus": "add", "minus": "subtract", "mul": "multiply", "div": "divide", "mod": "mod",
         "lesser": "less", "lesser_equal": "less_equal",
         **{name: name for name in (
             "power maximum minimum hypot equal not_equal greater greater_equal logical_and "
             "logical_or logical_xor").split()}}


class Language(unittest.TestCase):
    def test_expressions(self):
        types = {"float32": "float32", "int32": "int32"}
        parameters = ", ".join(f"{name}: {types[str(a.dtype)]}[{', '.join(map(str, a.shape))}]"
                               for name, a in INPUTS.items())
        results = self.run_net(f"def f({parameters}):\n    return "
                               + ",\\\n        ".join(f"({case[0]}) * 1" for case in CASES) + "\n")
        self.assertEqual(len(results), len(CASES))
        for (written, ours), result in zip(CASES, results):
            with self.subTest(written):
                wanted = np.asarray(eval(ours or written, {"np": np, "largest": largest, **INPUTS}))
                self.assertEqual(result.shape, wanted.shape)
                np.testing.assert_allclose(result, wanted, rtol=2e-6, atol=2e-6)

    def test_functions_of_two_operands_take_a_number(self):
        """On either side, by any name of the op for equal shapes and of the one that stretches."""
        forms = lstmc._core.operand_forms()
        names = {record[0]: [record[0], *record[1]] for record in lstmc._core.operators()}
        self.assertEqual({number[1:-len("_scalar")] for _, _, number, _ in forms}, set(NUMPY))
        expressions, wanted = [], []
        x = np.abs(INPUTS["x"]) + np.float32(0.25)
        x[0, 0] = 0.5  # equal to the number
        for tensors, stretching, number, _ in forms:
            function = getattr(np, NUMPY[number[1:-len("_scalar")]])
            for name in names[tensors] + names[stretching]:
                expressions += [f"{name}(x, 0.5)", f"{name}(0.5, x)"]
                wanted += [function(x, np.float32(0.5)), function(np.float32(0.5), x)]
        with tempfile.TemporaryDirectory() as folder:
            net = pathlib.Path(folder) / "n.lnet"
            net.write_text("def net(x: float32[4, 3]):\n    return "
                           + ", ".join(expressions) + "\n")
            outputs = lstmc.Network(net).compile(entries=["forward"]).session().run({"x": x})
        self.assertEqual(len(outputs), len(expressions))
        self.assertGreater(len(expressions), 100)
        for expression, got, value in zip(expressions, outputs.values(), wanted):
            np.testing.assert_allclose(got, value.astype(np.float32), rtol=3e-7, atol=0,
                                       err_msg=expression)

    def test_ops_for_equal_shapes_do_not_stretch(self):
        with tempfile.TemporaryDirectory() as folder:
            net = pathlib.Path(folder) / "n.lnet"
            for name in ("equal", "elemwise_add", "logical_and"):
                net.write_text(f"def net(x: float32[4, 3], b: float32[3]):\n"
                               f"    return {name}(x, b)\n")
                with self.assertRaisesRegex(lstmc.Error, "E0207"):
                    lstmc.Network(net).compile(entries=["forward"])

    def test_random_numbers(self):
        text = ("def f(p: float32[8, 5]):\n"
                "    return uniform(low=2.0, high=5.0, shape=(200, 100)), normal(loc=-1.0, "
                "scale=3.0, shape=(200, 100)),\\\n"
                "        sample_multinomial(p, shape=(4000,)), uniform(low=2.0, high=5.0, "
                "shape=(200, 100))\n")
        p = np.array([[0.1, 0.2, 0.0, 0.3, 0.4]] * 8, np.float32)
        uniform, normal, drawn, other = self.run_net(text, {"p": p})
        self.assertTrue(uniform.min() >= 2 and uniform.max() < 5
                        and (uniform != other).mean() > 0.99)
        # Six standard deviations of means over 20,000 and 32,000 numbers.
        self.assertAlmostEqual(uniform.mean(), 3.5, delta=6 * 3 / np.sqrt(12 * 20000))
        self.assertAlmostEqual(normal.mean(), -1, delta=6 * 3 / np.sqrt(20000))
        self.assertAlmostEqual(normal.std(), 3, delta=6 * 3 / np.sqrt(2 * 20000))
        self.assertEqual(drawn.shape, (8, 4000))
        for i in range(5):
            self.assertAlmostEqual((drawn == i).mean(), p[0, i], delta=6 * np.sqrt(0.25 / 32000))

    def test_foreach(self):
        text = ("def f(x: float32[4, 3], b: float32[3]):\n"
                "    def step(row, s):\n        total = s[0] + row\n        return (total, total * "
                "s[1]), (total, s[1] + 1)\n"
                "    (sums, scaled), (last, count) = foreach(step, x, (b, ones((3,))))\n"
                "    pairs, s = foreach(lambda xs, s: (xs[0] * xs[1] + s, xs[1]), (x, x "
                "* x), b * 0)\n"
                "    return sums, scaled, last, count, pairs, s\n")
        x, b = INPUTS["x"], INPUTS["b"]
        sums = b + np.cumsum(x, axis=0)
        square = x * x
        wanted = [sums, sums * np.array([[1], [2], [3], [4]]), sums[-1], np.full(3, 5),
                  x * square + np.concatenate([np.zeros((1, 3)), square[:-1]]), square[-1]]
        results = self.run_net(text, {"x": x, "b": b})
        self.assertEqual(len(results), len(wanted))
        for result, values in zip(results, wanted):
            np.testing.assert_allclose(result, values, rtol=2e-6, atol=2e-6)

    def test_foreach_makes_the_nodes_of_a_loop(self):
        cell = ("def cell(x, h, c):\n"
                "    z = FullyConnected(x, weight=Variable(\"wi\"), bias=Variable(\"bi\"), "
                "num_hidden=16) +\\\n"
                "        FullyConnected(h, weight=Variable(\"wh\"), bias=Variable(\"bh\"), "
                "num_hidden=16)\n"
                "    i, f, g, o = SliceChannel(z, num_outputs=4)\n"
                "    c = sigmoid(f) * c + sigmoid(i) * tanh(g)\n"
                "    return sigmoid(o) * tanh(c), c\n\n"
                "def net(x: float32[6, 2, 3]):\n    h, c = zeros((2, 4)), zeros((2, 4))\n")
        loop = (cell + "    out = []\n    for t in range(6):\n        h, c = cell(x[t], h, c)\n"
                       "        out.append(h)\n    return stack(*out, axis=0)\n")
        call = cell + (
            "    def step(x, s):\n        h, c = cell(x, s[0], s[1])\n        return h, (h, c)\n"
            "    return foreach(step, x, (h, c))[0]\n")
        with tempfile.TemporaryDirectory() as folder:
            hashes = set()
            for text in (loop, call):
                path = pathlib.Path(folder) / "net.lnet"
                path.write_text(text)
                done = subprocess.run([os.environ["LSTMC"], "inspect", path, "--json"],
                                      capture_output=True, text=True, check=True)
                hashes.add(json.loads(done.stdout)["provenance"]["graph_hash"])
        self.assertEqual(len(hashes), 1)

    def test_dtype_scopes(self):
        text = ("def f(x: float32[4, 3]):\n"
                "    w = Variable(\"w\", shape=(2, 3), init=[[0.1, 0.2, 0.3], [1.1, -2.7, 3.3]])\n"
                "    with dtype(\"float64\"):\n"
                "        wide = FullyConnected(exp(x), weight=w, num_hidden=2, no_bias=True)\n"
                "    with dtype(\"bfloat16\"):\n"
                "        narrow = FullyConnected(x, weight=w, num_hidden=2, no_bias=True)\n"
                "        with dtype(\"float32\"):\n"
                "            inner = narrow + x[:, :2]\n"
                "    return wide, wide.astype(\"float32\"), inner\n")
        x = INPUTS["x"]
        w = np.array([[0.1, 0.2, 0.3], [1.1, -2.7, 3.3]], np.float32)

        def bf16(values):
            bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
            return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)

        wide, rounded, inner = self.run_net(text, {"x": x})
        self.assertEqual((wide.dtype, rounded.dtype, inner.dtype),
                         (np.float64, np.float32, np.float32))
        np.testing.assert_allclose(wide, np.exp(x.astype(np.float64)) @ w.astype(np.float64).T,
                                   rtol=1e-14)
        np.testing.assert_allclose(inner, bf16(bf16(x) @ bf16(w).T) + x[:, :2], rtol=1e-6,
                                   atol=1e-6)

    def test_dtype_scopes_keep_parameters(self):
        net = ("def f(data: float32[8, 3], label: float32[8, 2]):\n"
               "    with dtype(\"float64\"):\n        y = FullyConnected(tanh(FullyConnected(data, "
               "num_hidden=5)), num_hidden=2)\n"
               "    return LinearRegressionOutput(y.astype(\"float32\"), label)\n\nfit(f, "
               "optimizer=\"sgd\", learning_rate=0.1, num_update=3)\n")
        with tempfile.TemporaryDirectory() as folder:
            hashes = set()
            for number, way in enumerate(([], ["-d", "2xcpu"], ["--accumulate", "2"])):
                (pathlib.Path(folder) / "net.lnet").write_text(net)
                done = subprocess.run([os.environ["LSTMC"], "train", "net.lnet",
                                       "--data", "random:3", "--json", "-o", f"ck{number}", *way],
                                      cwd=folder, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                hashes.add(json.loads(done.stdout)["end"]["weights_hash"])
            said = json.loads(
                subprocess.run([os.environ["LSTMC"], "inspect", "net.lnet", "--json"], cwd=folder,
                               capture_output=True, text=True, check=True).stdout)
        self.assertEqual(len(hashes), 1)
        self.assertEqual({row["dtype"] for row in said["parameters"]}, {"f32"})

    def test_plain_rnn(self):
        values = RANDOM.standard_normal(2 * 3 + 2 * 2 + 4).round(3)
        text = ("def f(x: float32[4, 1, 3]):\n    return RNN(x, Variable(\"p\", "
                f"init={values.tolist()}), num_hidden=2)\n")
        wi, wh, b = values[:6].reshape(2,
                                       3), values[6:10].reshape(2, 2), values[10:12] + values[12:]
        h, wanted = np.zeros(2), []
        for row in INPUTS["x"]:
            h = np.tanh(wi @ row + wh @ h + b)
            wanted.append(h[None])
        np.testing.assert_allclose(self.run_net(text, {"x": INPUTS["x"][:, None]})[0], wanted,
                                   rtol=2e-6, atol=2e-6)

    def run_net(self, text, inputs=INPUTS):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "net.lnet").write_text(text)
            arguments = []
            for name, value in inputs.items():
                np.save(folder / f"{name}.npy", value)
                arguments += ["-i", f"{name}=@{folder / name}.npy"]
            done = subprocess.run([os.environ["LSTMC"], "run", folder / "net.lnet", *arguments,
                                   "-o", folder / "out.npz"],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            with np.load(folder / "out.npz") as results:
                return [results[name] for name in results.files]


if __name__ == "__main__":
    unittest.main()
