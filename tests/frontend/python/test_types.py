"""Annotations for type checkers: of the whole public package, and in the stubs of functions made
from records. Both are compared with the modules, and mypy (which ./dev build installs) checks a
user's program with them."""

import ast
import builtins
import importlib
import importlib.util
import inspect
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import lstmc

PACKAGE = pathlib.Path(lstmc.__file__).parent
RUNTIME = pathlib.Path(os.environ["LSTMC_SOURCE"]) / "executor/python"
PUBLIC = (
    "attribute autograd callback init io lr_scheduler metric mod model name random rnn viz".split())
STUBS = ("sym", "nd")
INTERNAL = {"attribute.is_attribute", "attribute.attributes_of", "attribute.with_bare_names",
            "attribute.scopes_of", "autograd.draw",
            "autograd.Leaf.__init__", "autograd.Node.__init__"}
CLASSES = "AttrScope Context Error Network Package Session Symbol".split()


def public_callables():
    """(name, function) of all public functions and methods, except those of STUBS."""
    named = [(name, getattr(lstmc, name))
             for name in (*CLASSES, "cpu", "gpu", "current_context", "load", "from_torch")]
    named += [("nd.NDArray", lstmc.nd.NDArray),
              ("TorchNetwork", importlib.import_module("lstmc.torch").TorchNetwork),
              ("Executor", importlib.import_module("lstmc.executor").Executor),
              ("Picture", importlib.import_module("lstmc.picture").Picture)]
    for module in PUBLIC:
        found = getattr(lstmc, module)
        gathers = module in ("mod", "rnn")  # it only re-exports
        named += [(f"{module}.{name}", value) for name, value in vars(found).items()
                  if not name.startswith("_") and callable(value) and (
                      getattr(value, "__module__", None) == found.__name__ or gathers)]
    for name, value in named:
        if not inspect.isclass(value):
            yield name, value
            continue
        for method, of_class in vars(value).items():
            function = (of_class.fget if isinstance(of_class, property)
                        else getattr(of_class, "__func__", of_class))
            if (inspect.isfunction(function)
                and (not method.startswith("_")
                     or method in ("__init__", "__call__", "__getitem__", "__iter__"))):
                yield f"{name}.{method}", function


def names_in(module):
    """The names in a module for a type checker: its globals, and imports for type checkers only,
    which must exist."""
    known = {*vars(module), *vars(builtins)}
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            for each in node.body:
                if isinstance(each, ast.ImportFrom):
                    source = importlib.import_module("." * each.level + (each.module or ""),
                                                     module.__package__)
                    known |= {alias.name for alias in each.names if hasattr(source, alias.name)}
                elif isinstance(each, ast.Import):
                    known |= {alias.name for alias in each.names}
    return known


class Annotations(unittest.TestCase):
    def test_all_of_them_are_there(self):
        seen, missing, unknown, known = 0, [], [], {}
        for name, function in public_callables():
            module = sys.modules[function.__module__]
            # methods that sym.py adds are in Symbol for type checkers
            if (name in INTERNAL or "<locals>" in function.__qualname__
                or function.__qualname__.startswith("_")):
                continue
            seen += 1
            signature = inspect.signature(function)
            bare = [parameter for parameter in signature.parameters.values()
                    if parameter.annotation is inspect.Parameter.empty
                    and parameter.name not in ("self", "cls")]
            if bare or signature.return_annotation is inspect.Signature.empty:
                missing.append(f"{name}({', '.join(parameter.name for parameter in bare)})")
                continue
            # keywords have the types of keyword_types.pyi
            names = known.setdefault(module, names_in(module) | {"Literal", "Mapping", "Sequence"})
            for annotation in (
                    *(parameter.annotation for parameter in signature.parameters.values()),
                    signature.return_annotation):
                if annotation is not inspect.Parameter.empty:
                    unknown += [f"{name}: {each.id}" for each in ast.walk(ast.parse(annotation))
                                if isinstance(each, ast.Name) and each.id not in names]
        self.assertEqual((missing, unknown), ([], []))
        self.assertGreater(seen, 200)


class RuntimeAlone(unittest.TestCase):
    def test_all_of_them_are_there(self):
        tree = ast.parse((RUNTIME / "lstmc_runtime/__init__.py").read_text())
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            if function.name.startswith("_") and function.name != "__init__":
                continue
            arguments = [each for each in function.args.args if each.arg != "self"]
            self.assertTrue(function.returns and all(each.annotation for each in arguments),
                            function.name)
        self.assertTrue((RUNTIME / "lstmc_runtime/py.typed").exists())


class Stubs(unittest.TestCase):
    def test_are_the_modules(self):
        for name in STUBS:
            module = getattr(lstmc, name)
            tree = ast.parse((PACKAGE / f"{name}.pyi").read_text())
            stubs = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
            ops = {spelled for record in lstmc._core.operators()
                   for spelled in (record[0], *record[1])}
            defined = {value for value in vars(module)
                       if (not value.startswith("_") or value in ops) and inspect.isfunction(
                           getattr(module, value))}
            elsewhere = {alias.asname for node in tree.body if isinstance(node, ast.ImportFrom)
                         for alias in node.names}
            elsewhere |= {target.id for node in tree.body if isinstance(node, ast.Assign)
                          for target in node.targets}
            self.assertEqual(defined - elsewhere, set(stubs), name)
            for function, stub in stubs.items():
                self.assertEqual(parameters_of(stub), parameters(getattr(module, function)),
                                 f"{name}.{function}")

    def test_of_the_extension(self):
        tree = ast.parse((PACKAGE / "_core.pyi").read_text())
        stubs = {node.name for node in tree.body
                 if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        there = {name for name, value in vars(lstmc._core).items()
                 if not name.startswith("_") and callable(value)}
        self.assertEqual(stubs, there)

    def test_py_typed(self):
        self.assertTrue((PACKAGE / "py.typed").exists())


def parameters(function):
    """[(name, kind)]; functions of two operands accept a number for either, which only their stubs
    declare."""
    return [(parameter.name, parameter.kind.name)
            for parameter in inspect.signature(function).parameters.values()]


def parameters_of(stub):
    arguments = stub.args
    found = [(each.arg, "POSITIONAL_OR_KEYWORD") for each in arguments.args]
    found += [(arguments.vararg.arg, "VAR_POSITIONAL")] if arguments.vararg else []
    return found + [(each.arg, "KEYWORD_ONLY") for each in arguments.kwonlyargs]


SCRIPT = """\
import lstmc
import lstmc_runtime
import lstmc as mx
from lstmc import autograd, nd, sym

data = sym.Variable("data", shape=(4, 5), lr_mult=0.5)
x, h, c = sym.LSTM(data, num_hidden=3)
net = sym.SoftmaxOutput(sym.FullyConnected(x * 2.0 + 1.0, num_hidden=3, attr={"lr_mult": "2"}), name="softmax")
names: list[str] = net.list_arguments()
stack = mx.rnn.SequentialRNNCell()
stack.add(mx.rnn.ZoneoutCell(mx.rnn.LSTMCell(8, prefix="a_"), zoneout_states=0.1))
outputs, states = stack.unroll(3, inputs=net.reshape((0, -1)), merge_outputs=True)
package = lstmc.Network(net).compile({"data": (4, 5)}, entries=["forward"], devices="cpu", batch=8, shards=4,\n                                       mem="1G", optimizer="adam", learning_rate=0.1)
session = package.session(threads=2)
first = session.run({"data": nd.ones((4, 5))})["softmax_output"].shape[0]
weight = nd.array([[1, 2]], dtype="float32")
weight.attach_grad()
with autograd.record():
    loss = nd.sum(weight * weight - 1)
loss.backward()
module = mx.mod.Module(net, context=[mx.cpu(0), mx.cpu(1)])
buckets = mx.mod.BucketingModule(lambda key: (net, ["data"], ["label"]), default_bucket_key=3)
module.fit(mx.io.NDArrayIter(first, batch_size=2), num_epoch=1, eval_metric=mx.metric.Perplexity(None))
mx.viz.plot_network(net).render("net")
version: str = lstmc.__version__
there: list[str] = lstmc_runtime.load("lm.lstmc").session(threads=2).package.inputs()
"""

# A line, and mypy's message about it.
WRONG = (
    ("mx.rnn.LSTMCell('8')", 'Argument 1 to "LSTMCell" has incompatible type "str"; '
                             'expected "int"'),
    ("sym.FullyConnected(data, num_hiden=3)",
     'Unexpected keyword argument "num_hiden" for "FullyConnected"'),
    ("net.infer_shape(data=(4, 5)).arguments", 'has no attribute "arguments"'),
    ("session.run(entry=3)", 'Argument "entry" to "run" of "Session" has incompatible type "int"; '
                             'expected "str"'),
    ("mx.rnn.BidirectionCell", 'Module has no attribute "BidirectionCell"'),
    ("module.fit(train=None)", 'Unexpected keyword argument "train" for "fit" of "Module"'),
    ("lstmc_runtime.load(3)", 'Argument 1 to "load" has incompatible type "int"'),
    ("lstmc.Network(net).compile(bach=8)",
     'Unexpected keyword argument "bach" for "compile" of "Network"'),
    ("lstmc.Network(net).compile(werror='yes')",
     'Argument "werror" to "compile" of "Network" has incompatible type "str"; expected '
     '"bool | None"'),
    ("package.session(optimizer='sgd')",
     'Unexpected keyword argument "optimizer" for "session" of "Package"'),
    ("mx.init.Xavier(scale=3)", 'Unexpected keyword argument "scale" for "Xavier"'),
)


@unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
class Mypy(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def mypy(self, *arguments):
        """mypy's output for the built package and a program beside it."""
        return subprocess.run([sys.executable, "-m", "mypy",
                               "--ignore-missing-imports", *arguments],
                              cwd=self.folder.name, capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": "",
                                   "MYPYPATH": f"{PACKAGE.parent}:{RUNTIME}"}).stdout.splitlines()

    def test_reads_a_users_program_and_knows_all_names(self):
        program = pathlib.Path(self.folder.name) / "program.py"
        program.write_text(SCRIPT + "".join(line + "\n" for line, _ in WRONG))
        said = self.mypy("program.py")
        lines = [line for line in said if line.startswith("program.py:") and ": error:" in line]
        begin = SCRIPT.count("\n") + 1
        self.assertEqual(len(lines), len(WRONG), "\n".join(said))
        for number, (line, (_, expected)) in enumerate(zip(lines, WRONG)):
            self.assertTrue(line.startswith(f"program.py:{begin + number}:"), line)
            self.assertIn(expected, line)
        # In the package itself it also checks the bodies of functions; here only names and
        # overridden methods matter.
        kinds = ("[name-defined]", "[valid-type]", "[override]", "[syntax]")
        self.assertEqual(
            [line for line in said if line.endswith(kinds) and not line.startswith("program.py")],
            [])
        self.assertTrue(any("lstmc/module.py" in line for line in said), said)


if __name__ == "__main__":
    unittest.main()
