"""Nothing without effect, beside ops and keys: each argument of Variable, each scope and each type
of an annotation, in several contexts, changes the weights of a training or the inputs of the
package, or is named in a warning. The names come from the sources: one that is added needs a case.
"""
import itertools
import json
import re
import unittest

from command import SOURCE, Case

HEAD = 'N = dim("batch", 4)\n\ndef net(data: float32[N, 3], label: float32[N, 2]):\n'
TAIL = ('    return LinearRegressionOutput(FullyConnected(y, num_hidden=2, name="fc"), label, '
        'name="out")\n\nfit(net, {})\n')
# Of Variable: other values than the default. A name and a shape are what makes it one.
VALUES = {"name": None, "shape": None, "dtype": ['"float64"'],
          "init": ["Uniform(0.3)", "Constant(0.5)", "[0.1, 0.2, 0.3]"],
          "lr_mult": ["2", "0.5"], "wd_mult": ["3", "0.5"]}
USES = ["data * v", "data * BlockGrad(v)", "tanh(data + v)"]
FITS = ['optimizer="sgd", learning_rate=0.1', 'optimizer="sgd", learning_rate=0.1, wd=0.1',
        'optimizer="adam", wd=0.1', "optimizer=\"adadelta\", wd=0.1",
        'optimizer="signum", momentum=0.5', 'optimizer="lamb", wd=0.1']
# Calls inside a scope, and what follows; with the flags with which a scope acts.
BODIES = ['FullyConnected(data, num_hidden=3)', 'Variable("v_weight", shape=(3,)) ', "data", "3.0",
          "tanh(data)", "tanh(sigmoid(tanh(FullyConnected(data, num_hidden=3))))"]
SCOPES = {"ctx_group": ('"g"', ["-d", "cpu:0,cpu:1", "--place", "g=cpu:1"]), "recompute": ("", []),
          "dtype": ('"float64"', []), "name_scope": ('"a"', [])}
TYPES = ["float32", "float64", "float16", "bfloat16", "int32", "int64", "int8", "uint8", "bool"]


class Declarations(Case):
    def train(self, text, *words):
        """The hash of the weights, or the error; and what is said."""
        (self.folder / "n.lnet").write_text(text)
        done = self.run_here("train", "n.lnet", "--data", "random:1", "--after", "3u", "-o", "ck",
                             "--force", *words)
        found = re.search(r"weights\s+([0-9a-f]{16})", done.stdout + done.stderr)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        return found[1] if found else "refused", done.stderr

    def test_arguments_of_variables(self):
        source = (SOURCE / "frontend/lnet/net/Variables.cpp").read_text()
        [named] = re.findall(r'bindBuiltin\(run_, "Variable", arguments,\s*\{(.*?)\},\s*values',
                             source, re.DOTALL)
        self.assertEqual(set(re.findall(r'\{"(\w+)"', named)), set(VALUES))
        for use, fit in itertools.product(USES, FITS):
            def text(argument):
                return (HEAD + f'    v = Variable("v_weight", shape=(3,){argument})\n'
                        + f"    y = {use}\n" + TAIL.format(fit))
            plain = self.train(text(""))[0]
            for key, values in VALUES.items():
                for value in values or []:
                    with self.subTest(use=use, fit=fit, key=key, value=value):
                        found, said = self.train(text(f", {key}={value}"))
                        named = f"{key} of v_weight has no effect" in said
                        self.assertTrue(found != plain or named, said)

    def test_scopes(self):
        source = (SOURCE / "frontend/lnet/net/Scopes.cpp").read_text()
        self.assertEqual(set(re.findall(r'\{"(\w+)", "\w*", Kind::', source)), set(SCOPES))
        for name, (argument, words) in SCOPES.items():
            for body in BODIES:
                end = "    y = x * data\n" + TAIL.format(FITS[0])
                plain = HEAD + f"    x = {body}\n" + end
                inside = HEAD + f"    with {name}({argument}):\n        x = {body}\n" + end
                with self.subTest(scope=name, body=body):
                    acts = self.shown(name, plain, words) != self.shown(name, inside, words)
                    named = f"{name} has no effect" in self.train(inside)[1]
                    self.assertNotEqual(acts, named)

    def test_a_scope_in_a_loop_acts_where_one_of_its_iterations_does(self):
        """The others are no reason for a warning, and where none acts there is one."""
        text = (HEAD + "    y = FullyConnected(data, num_hidden=3)\n    for i in range(3):\n"
                "        with recompute():\n            y = {}\n        y = y * 2\n"
                + TAIL.replace("{}", FITS[0]))
        acting = "tanh(sigmoid(tanh(sigmoid(y)))) if i == 1 else tanh(y)"
        for body, count in ((acting, 0), ("tanh(y)", 1)):
            said = self.train(text.format(body))[1]
            self.assertEqual(said.count("W0319"), count, said)
            self.assertEqual(said.count("n.lnet:6:14: warning[W0319]: recompute has no"), count)

    def test_a_name_of_which_nothing_is_computed_again(self):
        """--recompute says so of each name."""
        for names, idle in (("lstm", []), ("decoder", ["decoder"]), ("lstm,decoder", ["decoder"])):
            done = self.good("compile", "small.lnet", "-o", "p.lstmc", "--recompute", names,
                             "--force")
            self.assertEqual(
                re.findall(r'warning\[W0319\]: recompute of "(\w+)" has no effect', done.stderr),
                idle)

    def shown(self, scope, text, words):
        """What inspect shows of the ops, or why the net is refused. Of recompute(), which marks its
        ops whatever follows, what becomes of them."""
        (self.folder / "n.lnet").write_text(text)
        emitted = "exec" if scope == "recompute" else "sym"
        done = self.run_here("inspect", "n.lnet", "--emit", emitted, *words)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        return done.stdout or done.stderr

    def test_types_of_annotations(self):
        for role, annotated in (("data", "data: {}[4, 3]"), ("label", "label: {}[4]")):
            found = {}
            for dtype in TYPES:
                other = "label: float32[4]" if role == "data" else "data: float32[4, 3]"
                (self.folder / "n.lnet").write_text(
                    f"def net({annotated.format(dtype)}, {other}):\n"
                    '    return SoftmaxOutput(FullyConnected(cast(data, dtype="float32"), '
                    "num_hidden=2), label)\n")
                done = self.run_here("inspect", "n.lnet", "--json")
                self.assertIn(done.returncode, (0, 3), done.stderr)
                inputs = json.loads(done.stdout).get("inputs", []) if done.returncode == 0 else []
                kept = [row["dtype"] for row in inputs if row["name"] == role]
                found[dtype] = kept[0] if kept else done.stderr
            self.assertEqual(len(set(found.values())), len(TYPES), found)


if __name__ == "__main__":
    unittest.main()
