"""Initial values of the user's own (numbers, lists, files, functions of the indices) equal NumPy's,
in every way of training."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import numpy as np

LSTMC = os.environ["LSTMC"]

NET = """\
N = dim("batch", 8)

def position(i, j):
    angle = i / 100.0 ** (j // 2 * 2 / 6.0)
    return sin(angle) if j % 2 == 0 else cos(angle)

def net(data: float32[N, 5], label: float32[N, 3]):
    table = Variable("table", shape=(5, 6), init=position)
    x = data @ table + Variable("row", init=[0.5, -1, 2, 0, 1e-3, 7])
    w = Variable("w", init="@arrays/w.npy")
    x = FullyConnected(x, weight=w, num_hidden=4, name="fc")
    x = FullyConnected(x, num_hidden=3, name="last")
    return LinearRegressionOutput(x + Variable("shift", shape=(1, 3), init=0.25), label)

fit(net, optimizer="sgd", learning_rate=0.1, momentum=0.9, num_update=3, seed=3,
    initializer=Mixed(["last.*", ".*"], [lambda i, j: 0.1 * (i - j), Xavier()]))
"""
SHOWN = """\
def position(i, j):
    return i + 10 * j

def show(x: float32[1]):
    k = Variable("k", shape=(2, 3, 2), init=lambda i, j, k: (i + 1) * 0.5 ** j - k / 3)
    f = Variable("f", shape=(3, 2), init=position)
    d = Variable("d", dtype="float64", init=((0.1, -0.2), (1e-300, 3)))
    return f, Variable("w", init="@arrays/w.npy") * 1, Variable("int", init="@arrays/int.npy") * 1, k * 1, d * 1, Variable("c", shape=(2,), init=-2) * 1
"""


class InitialValues(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "arrays").mkdir()
        self.w = np.asfortranarray(np.random.default_rng(5).standard_normal((4, 6)))
        self.int = np.arange(-3, 3, dtype=">i4").reshape(3, 2)
        np.save(self.folder / "arrays/w.npy", self.w)
        np.save(self.folder / "arrays/int.npy", self.int)
        (self.folder / "net.lnet").write_text(NET)

    def lstmc(self, *words, status=0):
        done = subprocess.run([LSTMC, *words], cwd=self.folder, capture_output=True, text=True,
                              timeout=240)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def outputs(self, model):
        self.lstmc("run", model, "-i", "x=random:1", "-o", "out.npz", "--force")
        with np.load(self.folder / "out.npz") as results:
            return [results[name] for name in results.files]

    def test_values_are_numpys_and_the_package_has_them(self):
        (self.folder / "show.lnet").write_text(SHOWN)
        wanted = [np.fromfunction(lambda i, j: i + 10 * j, (3, 2)), self.w.astype(np.float32),
                  self.int, np.fromfunction(lambda i, j, k: (i + 1) * 0.5 ** j - k / 3,
                                            (2, 3, 2)).astype(np.float32),
                  np.array([[0.1, -0.2], [1e-300, 3]]), np.full(2, -2)]
        self.lstmc("compile", "show.lnet", "-o", "show.lstmc")
        (self.folder / "again.lnet").write_text(
            self.lstmc("inspect", "show.lnet", "--emit", "lnet").stdout)
        (self.folder / "arrays").rename(self.folder / "away")
        for model in ("show.lstmc", "again.lnet"):
            results = self.outputs(model)
            self.assertEqual(len(results), len(wanted))
            for result, values in zip(results, wanted):
                np.testing.assert_array_equal(result, values.astype(result.dtype))

    def test_weights_are_the_same_in_every_way_to_train(self):
        ways = [[], ["-d", "2xcpu"], ["-d", "4xcpu", "--place", "auto"], ["-d", "8xcpu"],
                ["--accumulate", "4"], ["-d", "2xcpu", "--kv-store", "device", "-t", "1"]]
        hashes = set()
        for number, way in enumerate(ways):
            done = self.lstmc("train", "net.lnet", "--data", "random:1",
                              "--json", "-o", f"ck{number}", *way)
            hashes.add(json.loads(done.stdout)["end"]["weights_hash"])
        self.assertEqual(len(hashes), 1)

    def test_fit_gives_functions_to_weights_alone(self):
        rows = {
            row["name"]: row["init"]
            for row in json.loads(self.lstmc("inspect", "net.lnet", "--json").stdout)["parameters"]}
        self.assertEqual({name: rows[name] for name in ("table", "row", "last_weight", "last_bias",
                                                        "fc_bias", "shift")},
                         {"table": "values[5, 6]", "row": "values[6]",
                          "last_weight": "values[3, 4]", "last_bias": "Zero()", "fc_bias": "Zero()",
                          "shift": "Constant(value=0.25)"})

    def test_weights_of_files(self):
        """Load sets the parameters in the file, biases included; the default initialises the others
        by its own rules."""
        draw = np.random.default_rng(9)
        weights = {"fc_weight": draw.standard_normal((4, 5)),
                   "fc_bias": draw.standard_normal(4).astype(np.float32), "other": np.ones(3)}
        np.savez(self.folder / "arrays/w.npz", **weights)
        net = ("def net(data: float32[8, 5], label: float32[8, 3]):\n"
               "    x = FullyConnected(data, num_hidden=4, name=\"fc\")\n"
               "    x = FullyConnected(x, num_hidden=3, name=\"last\")\n"
               "    return LinearRegressionOutput(x, label)\n\n"
               "fit(net, num_update=1, initializer=Load(\"arrays/w.npz\", default_init=DEFAULT))\n")
        for default, weight in (("lambda i, j: i + j", np.add.outer(range(3), range(4))),
                                ("[[7] * 4] * 3", np.full((3, 4), 7)),
                                ("Mixed([\".*\"], [2])", np.full((3, 4), 2))):
            (self.folder / "load.lnet").write_text(net.replace("DEFAULT", default))
            self.lstmc("compile", "load.lnet", "-o", "load.lstmc", "--force")
            (self.folder / "arrays").rename(self.folder / "away")  # the package contains the values
            self.lstmc("train", "load.lstmc", "--data", "random:1", "--after", "1u", "--lr", "0",
                       "-o", "loaded", "--force")
            (self.folder / "away").rename(self.folder / "arrays")
            data = self.parameters("loaded")
            np.testing.assert_array_equal(data["fc_weight"],
                                          weights["fc_weight"].astype(np.float32))
            np.testing.assert_array_equal(data["fc_bias"], weights["fc_bias"])
            np.testing.assert_array_equal(data["last_weight"], weight)
            np.testing.assert_array_equal(data["last_bias"], np.zeros(3))
        # A run starts with the weights of another one.
        shutil.copy(next((self.folder / "loaded").rglob("model.safetensors")),
                    self.folder / "arrays/learned.safetensors")
        (self.folder / "load.lnet").write_text(
            net.replace("w.npz\", default_init=DEFAULT", "learned.safetensors\""))
        self.lstmc("train", "load.lnet", "--data", "random:1", "--after", "1u", "--lr", "0",
                   "-o", "again")
        for name, values in self.parameters("again").items():
            np.testing.assert_array_equal(values, data[name])

    def parameters(self, checkpoint):
        bytes_ = (next((self.folder / checkpoint).rglob("model.safetensors"))).read_bytes()
        size = int.from_bytes(bytes_[:8], "little")
        header = json.loads(bytes_[8:8 + size])
        return {name: np.frombuffer(bytes_[8 + size:][slice(*row["data_offsets"])],
                                    np.float32).reshape(row["shape"])
                for name, row in header.items() if name != "__metadata__"}

    def test_layers(self):
        net = ("def net(data: float32[2, 3, 5]):\n"
               "    x, h, c = LSTM(data, num_hidden=4, num_layers=2, i2h_weight_initializer=1, "
               "h2h_weight_initializer=lambda i, j: i - j, h2h_bias_initializer=3)\n"
               "    x, h = GRU(x, num_hidden=4, bidirectional=True, i2h_bias_initializer=2)\n"
               "    x, h = RNNLayer(x, num_hidden=4, i2h_weight_initializer=Normal(0.5))\n"
               "    return x\n")
        (self.folder / "layers.lnet").write_text(net)
        rows = {row["name"]: row["init"] for row in json.loads(
            self.lstmc("inspect", "layers.lnet", "--json").stdout)["parameters"]}
        for prefix in ("lstm0", "lstm0_l1"):
            self.assertEqual([rows[f"{prefix}_{part}"]
                              for part in ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias")],
                             ["Constant(value=1)", "values[16, 4]", "Zero()", "Constant(value=3)"])
        for prefix in ("gru0", "gru0_r0"):
            self.assertEqual(rows[f"{prefix}_i2h_bias"], "Constant(value=2)")
        self.assertEqual((rows["rnn0_i2h_weight"], rows["rnn0_h2h_weight"]),
                         ("Normal(sigma=0.5)", "Uniform(scale=0.01)"))

    def test_messages(self):
        np.save(self.folder / "arrays/nan.npy", np.array([1, np.nan]))
        np.save(self.folder / "outside.npy", self.w)
        np.savez(self.folder / "outside.npz", v=self.w)
        np.savez(self.folder / "arrays/w.npz", w=self.w)
        np.savez(self.folder / "arrays/v.npz", v=np.zeros(3))
        (self.folder / "arrays/text.npz").write_text("not an array")
        (self.folder / "arrays/link.npy").symlink_to("w.npy")
        (self.folder / "arrays/text.npy").write_text("not an array")
        (self.folder / "deep").mkdir()
        cases = [
            ('init="@../outside.npy"', 6, "E0604", "leads out of"),
            ('init="@none.npy"', 6, "E0601", "none.npy"),
            ('shape=(4, 5), init="@w.npy"', 3,
             "E0207", 'init has the shape (4, 6), and "v" has another one'),
            ('init="@nan.npy"', 6, "E0604", "nan.npy: found a number that is not finite"),
            ('init="@link.npy"', 6, "E06", "link.npy"),
            ('init="@text.npy"', 6, "E06", "text.npy"),
            ("init=[[1, 2], [3]]", 3, "E0206", "init has lists of 2 and 1 elements in one axis"),
            ("init=[1, None]", 3, "E0204", "init is a list of numbers, and None is in it"),
            ("shape=(2, 2), init=lambda i: i", 3,
             "E0205", 'lambda takes 1 index, and "v" is [2, 2]'),
            ("shape=(2,), init=lambda i: None", 3,
             "E0204", "lambda(0) is a finite number, got None"),
            ("shape=(2,), init=lambda i: 1 / i", 3, "E0303", ""),
            ("shape=(2,), init=lambda i: ones((2,))", 3, "E0319", "ones"),
            ("shape=(200, 200), init=lambda i, j: i * j", 3, "E0312", "steps"),
            ('init="glorot"', 3, "E0204", 'init is an initialiser, got "glorot"'),
            ("init=[1e39]", 3, "E0319", "beyond what float32 holds"),
            ('init=Load("none.npz")', 6, "E0601", "none.npz"),
            ('init=Load("../outside.npz")', 6, "E0604", "leads out of"),
            ('init=Load("text.npz")', 6, "E06", "text.npz"),
            ('shape=(2,), init=Load("w.npz")', 6, "E0604", 'w.npz has no array for "v"'),
            ('shape=(2,), init=Load("w.npz", default_init=1)', 6,
             "E0604", "w.npz has none of the 1 parameters that begin with it"),
            ('shape=(2,), init="@v.npz"', 3, "E0207", '"v" is [3] in v.npz, the parameter is [2]'),
            ("shape=(2,), init=Load(3)", 3, "E0204", "param is the name of a file, got 3"),
        ]
        for written, status, code, message in cases:
            with self.subTest(written):
                (self.folder / "arrays/bad.lnet").write_text(
                    f"def f(x: float32[2]):\n    return x, Variable(\"v\", {written}) * 1\n")
                said = self.lstmc("compile", "arrays/bad.lnet", "-o", "bad.lstmc",
                                  "--limit", "steps=20000", status=status).stderr
                self.assertRegex(said, rf"^arrays/bad\.lnet:2:\d+: error\[{code}")
                self.assertIn(message, said)


if __name__ == "__main__":
    unittest.main()
