"""import_weights: for every rule the files that `lstmc import` writes, byte for byte, and its
errors."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import numpy as np

import lstmc
from test_keras import weights, write

RANDOM = np.random.default_rng(3)
GATES = {"torch-lstm": 4, "torch-gru": 3, "torch-rnn": 1, "torch-rnn-relu": 1}


def arrays(shapes):
    return {name: RANDOM.uniform(-1, 1, shape).astype(np.float32)
            for name, shape in shapes.items()}


def torch_file(rule):
    """An Embedding, two layers, and two Linear of which either may be the last."""
    rows = GATES[rule] * 4
    return arrays({"embed.weight": (7, 4), "head.0.weight": (4, 4), "head.0.bias": (4,),
                   "head.2.weight": (4, 4), "head.2.bias": (4,),
                   **{f"rnn.{part}_l{layer}": (rows, 4)[: 2 - part.startswith("bias")]
                      for layer in range(2)
                      for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}})


def keras_file(rule):
    cell = {"keras-lstm": "lstm", "keras-gru": "gru", "keras-rnn": "simple_rnn"}[rule]
    return {**{f"{cell}/{cell}_cell/{part}": value for part, value in weights(rule, 3, 4).items()},
            **arrays({"dense/kernel": (4, 2), "dense/bias": (2,)})}


def tensorflow_file():
    cell = "rnnlm/multi_rnn_cell/cell_0/basic_lstm_cell/"
    return arrays({"embedding": (7, 4), cell + "weights": (8, 16), cell + "biases": (16,),
                   "rnnlm/softmax_w": (4, 7), "rnnlm/softmax_b": (7,)})


FILES = {**{rule: torch_file(rule) for rule in GATES}, "tf-lstm": tensorflow_file(),
         **{f"keras-{kind}": keras_file(f"keras-{kind}") for kind in ("lstm", "gru", "rnn")}}
ORDER = ("embed", "rnn", "head.0", "head.2")


class Imports(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        self.file = self.folder / "w.safetensors"

    def command(self, rule, *words):
        """What the command prints on stderr; its files are c.lnet and c.weights.safetensors."""
        return subprocess.run(
            [os.environ["LSTMC"], "import", self.file, "--as", rule, "-o", self.folder / "c.lnet",
             "--force", *words], capture_output=True, text=True).stderr

    def test_every_rule_writes_what_the_command_writes(self):
        known = re.search(r"--as .*?([a-z|-]+\|[a-z|-]+)", subprocess.run(
            [os.environ["LSTMC"], "help", "import", "--all"], capture_output=True,
            text=True).stdout)[1]
        self.assertEqual(sorted(known.split("|")), sorted(FILES))
        for rule, tensors in FILES.items():
            write(self.file, tensors)
            modules = ORDER if rule in GATES else ()
            for layout in ("NTC", "TNC"):
                with self.subTest(rule=rule, layout=layout):
                    words = ["--modules", ",".join(modules)] if modules else []
                    said = self.command(rule, "--layout", layout, *words)
                    made = lstmc.import_weights(self.file, rule, modules, layout)
                    made.save(self.folder / "p.lnet", force=True)
                    for suffix in (".lnet", ".weights.safetensors"):
                        self.assertEqual((self.folder / f"c{suffix}").read_bytes(),
                                         (self.folder / f"p{suffix}").read_bytes())
                    self.assertEqual(made.text, (self.folder / "p.lnet").read_text())
                    self.assertEqual(said.splitlines(), [
                        *made.modules, *(f"assumed: {text}" for text in made.assumptions),
                        *(f"warning: {text}" for text in made.warnings)])

    def test_the_weights_are_those_of_the_network(self):
        write(self.file, FILES["torch-gru"])
        made = lstmc.import_weights(self.file, "torch-gru", ORDER)
        made.save(self.folder / "n.lnet")
        package = lstmc.load(self.folder / "n.lnet", set={"seq": 3}).compile(entries=["forward"])
        self.assertEqual(set(package.parameters), set(made.params))
        np.testing.assert_array_equal(made.params["embed_weight"],
                                      FILES["torch-gru"]["embed.weight"])
        data = {"data": np.array([[1, 0, 6]], "int32")}
        given = package.session(made.params).run(data)
        kept = package.session(self.folder / "n.weights.safetensors").run(data)
        for name, value in given.items():
            np.testing.assert_array_equal(value, kept[name])

    def test_rules_are_found_by_names_and_shapes(self):
        for rule, tensors in FILES.items():
            write(self.file, tensors)
            modules = ORDER if rule in GATES else ()
            found = lstmc.import_weights(self.file, modules=modules)
            # nothing in a file tells the nonlinearity of nn.RNN
            taken = lstmc.import_weights(self.file, rule.removesuffix("-relu"), modules)
            self.assertEqual(found.text, taken.text)
            self.assertEqual(found.params.keys(), taken.params.keys())
            for name, value in found.params.items():
                np.testing.assert_array_equal(value, taken.params[name])
        write(self.file, {"conv.weight": np.zeros((3, 3), np.float32)})
        with self.assertRaisesRegex(lstmc.Error, "E0610.*nn.LSTM"):
            lstmc.import_weights(self.file)

    def test_errors_are_those_of_the_command(self):
        write(self.file, FILES["torch-lstm"])
        for rule, words, keywords in (
                ("torch-gru", [], {}), ("torch-lstm", [], {}),
                ("keras-lstm", [], {}), ("torch-lstm", ["--modules", "embed,rnn"],
                                         {"modules": ["embed", "rnn"]}),
                ("torch-lstm", ["--limit", "header=10"], {"limit": {"header": 10}})):
            with self.subTest(rule=rule, words=words):
                said = self.command(rule, *words)
                with self.assertRaises(lstmc.Error) as caught:
                    lstmc.import_weights(self.file, rule, **keywords)
                self.assertIn(caught.exception.code, said)
                self.assertIn(str(caught.exception).splitlines()[0].partition("]: ")[2], said)
        for keywords, text in (({"rule": "torch-lstmm"}, 'did you mean "torch-lstm"'),
                               ({"rule": "torch-lstm", "layout": "CTN"}, "layout is NTC or TNC")):
            with self.assertRaisesRegex(lstmc.Error, text):
                lstmc.import_weights(self.file, **keywords)
        made = lstmc.import_weights(self.file, "torch-lstm", ORDER)
        with self.assertRaisesRegex(lstmc.Error, "saved as F.lnet"):
            made.save(self.folder / "n.lstmc")
        made.save(self.folder / "n.lnet")
        with self.assertRaisesRegex(lstmc.Error, "E0608"):
            made.save(self.folder / "n.lnet")


if __name__ == "__main__":
    unittest.main()
