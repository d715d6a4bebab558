"""lstmc.sym: networks drawn in Python equal those of the language, and errors are at the user's
line."""

import inspect
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

import numpy

import lstmc
from lstmc import _core, drawing, sym

TINY = """
N, T = dim("batch", 4), dim("seq", 5)

def tiny(data: int32[N, T], label: int32[N, T]):
    x = Embedding(data, input_dim=7, output_dim=8, name="embed")
    x, h, c = LSTM(SwapAxis(x, dim1=0, dim2=1, name="swap"), num_hidden=6, num_layers=2, name="lstm", forget_bias=1.0)
    y = FullyConnected(x, num_hidden=7, flatten=False, name="decoder")
    return SoftmaxOutput(y, SwapAxis(label, dim1=0, dim2=1, name="swapped"), preserve_shape=True, normalization="valid",
                         name="softmax")
"""


def tiny():
    data, label = sym.Variable("data", dtype="int32"), sym.Variable("label", dtype="int32")
    x = sym.Embedding(data, input_dim=7, output_dim=8, name="embed")
    x, h, c = sym.LSTM(sym.SwapAxis(x, dim1=0, dim2=1, name="swap"), num_hidden=6, num_layers=2,
                       name="lstm", forget_bias=1.0)
    y = sym.FullyConnected(x, num_hidden=7, flatten=False, name="decoder")
    return sym.SoftmaxOutput(y, sym.SwapAxis(label, dim1=0, dim2=1, name="swapped"),
                             preserve_shape=True, normalization="valid", name="softmax")


SHAPE = (lstmc.dim("batch", 4), lstmc.dim("seq", 5))


class Version(unittest.TestCase):
    def test_is_that_of_the_project(self):
        project = pathlib.Path(__file__).parents[3].joinpath("pyproject.toml").read_text()
        self.assertIn(f'version = "{lstmc.__version__}"', project)


class SameNetwork(unittest.TestCase):
    def test_package_is_that_of_the_language(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tiny.lnet")
            with open(path, "w") as file:
                file.write(TINY)
            subprocess.run([os.environ["LSTMC"], "compile", path, "-o", path + ".lstmc"],
                           check=True, capture_output=True)
            with open(path + ".lstmc", "rb") as file:
                command = file.read()
            self.assertEqual(bytes(lstmc.load(path).compile()), command)

    def test_graph_has_the_hash_of_the_language(self):
        drawn = drawing.draw(tiny(), "tiny", {"data": SHAPE, "label": SHAPE})
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tiny.lnet")
            with open(path, "w") as file:
                file.write(TINY)
            inspected = subprocess.run([os.environ["LSTMC"], "inspect", path, "--emit", "sym"],
                                       check=True, capture_output=True, text=True).stdout
        self.assertEqual(drawn.text().split("func.func")[1].strip(),
                         inspected.split("func.func")[1].strip())

    def test_lnet_gives_the_network_again(self):
        text = tiny().tolnet(data=SHAPE, label=SHAPE)
        self.assertIn("Embedding(", text)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "again.lnet")
            with open(path, "w") as file:
                file.write(text)
            self.assertIn("decoder_weight", lstmc.load(path).list_arguments())


class Symbols(unittest.TestCase):
    def test_two_extents_of_one_dim(self):
        """A label of all steps: its rows are no batch, and the text says a number."""
        x = lstmc.sym.Reshape(lstmc.sym.Variable("data"), shape=(-1, 3))
        net = lstmc.sym.SoftmaxOutput(x, lstmc.sym.Variable("label"), name="softmax")
        text = net.tolnet(data=(2, 5, 3), label=(10,))
        self.assertIn("label: float32[10]", text)

    def test_every_op_is_there_by_all_its_names(self):
        for name, aliases, *_ in _core.operators():
            for spelled in (name, *aliases):
                self.assertTrue(callable(getattr(sym, spelled)), spelled)

    def test_documentation_is_the_record(self):
        text = sym.FullyConnected.__doc__
        self.assertIn("num_hidden: an integer, required", text)
        self.assertIn("weight; left out, a parameter is made", text)
        self.assertIn("flatten", inspect.signature(sym.FullyConnected).parameters)

    def test_arguments_and_outputs_in_order(self):
        net = sym.SoftmaxOutput(sym.FullyConnected(sym.Variable("data"), num_hidden=3, name="fc"),
                                name="softmax")
        self.assertEqual(net.list_arguments(), ["data", "fc_weight", "fc_bias", "softmax_label"])
        self.assertEqual(net.list_outputs(), ["softmax_output"])
        self.assertEqual(net.get_internals()["fc_output"].list_outputs(), ["fc_output"])

    def test_shapes_in_both_directions(self):
        net = sym.FullyConnected(sym.Variable("data"), num_hidden=3, name="fc")
        self.assertEqual(net.infer_shape(data=(4, 5)), ([(4, 5), (3, 5), (3,)], [(4, 3)], []))

    def test_names_count_as_in_mxnet(self):
        with lstmc.name.NameManager():
            a = sym.Variable("a")
            self.assertEqual(sym.Activation(a, act_type="tanh").name, "activation0")
            self.assertEqual(sym.Activation(a, act_type="tanh").name, "activation1")
            self.assertEqual((a + a).name, "_plus0")
        with lstmc.name.Prefix("left_"):
            self.assertEqual(sym.Activation(a, act_type="tanh", name="x").name, "left_x")

    def test_operators(self):
        a, b = sym.Variable("a"), sym.Variable("b")
        net = -(a + b) * 2 / (1 - a ** 2) > 0.5
        self.assertEqual(net.infer_shape(a=(2, 3), b=(2, 3))[1], [(2, 3)])
        self.assertEqual((a == b).infer_shape(a=(2,), b=(2,))[1], [(2,)])
        with self.assertRaises(TypeError):
            bool(a)

    def test_groups(self):
        a = sym.Variable("a")
        group = sym.Group([sym.tanh(a, name="t"), sym.sigmoid(a, name="s")])
        self.assertEqual(group.list_outputs(), ["t_output", "s_output"])
        self.assertEqual(len(group), 2)
        parts = sym.SliceChannel(a, num_outputs=3, name="cut")
        self.assertEqual(len(parts), 3)
        self.assertEqual(parts[1].list_outputs(), ["cut_output1"])

    def test_outputs_twice_and_outputs_of_one_name(self):
        data = sym.Variable("data")
        fc = sym.FullyConnected(data, num_hidden=3, name="fc")
        twice = sym.Group([fc, fc])
        self.assertEqual(twice.list_outputs(), ["fc_output", "fc_output"])
        self.assertEqual(twice.infer_shape(data=(2, 4))[1], [(2, 3), (2, 3)])
        self.assertEqual([output.shape for output in twice.simple_bind(data=(2, 4)).forward()],
                         [(2, 3), (2, 3)])
        self.assertEqual(list(lstmc.Network(twice).compile({"data": (2, 4)}).outputs()),
                         ["fc_output", "fc_output_1"])
        other = sym.FullyConnected(data, num_hidden=5, name="fc", weight=sym.Variable("w2"),
                                   bias=sym.Variable("b2"))
        self.assertEqual(
            [output.shape for output in sym.Group([fc, other]).simple_bind(data=(2, 4)).forward()],
            [(2, 3), (2, 5)])

    def test_layers_of_one_name_share_their_parameters(self):
        left, right = sym.Variable("left"), sym.Variable("right")
        towers = [sym.LSTM(x, num_hidden=5, num_layers=2, layout="NTC", name="lstm")[0]
                  for x in (left, right)]
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            executor = (towers[0] * towers[1]).simple_bind(left=(2, 3, 4), right=(2, 3, 4))
        self.assertTrue(any("LSTM(num_hidden=5) shares "
                            "\"lstm_i2h_weight\" and its like" in str(one.message) for one in said))
        self.assertEqual(len(executor.arg_dict), 2 + 8)
        draw = numpy.random.default_rng(1)
        for array in executor.arg_dict.values():
            array[:] = draw.normal(0, 0.5, array.shape)
        executor.forward(is_train=True)
        executor.backward()
        # The gradient is the sum of those of two layers with separate names and equal weights.
        towers = [sym.LSTM(x, num_hidden=5, num_layers=2, layout="NTC", name=name)[0]
                  for x, name in ((left, "a"), (right, "b"))]
        apart = (towers[0] * towers[1]).simple_bind(left=(2, 3, 4), right=(2, 3, 4))
        for name, array in apart.arg_dict.items():
            array[:] = executor.arg_dict["lstm" + name[1:] if name[1] == "_" else name].asnumpy()
        apart.forward(is_train=True)
        apart.backward()
        for name in executor.grad_dict:
            if name.startswith("lstm"):
                both = (apart.grad_dict["a" + name[4:]].asnumpy()
                        + apart.grad_dict["b" + name[4:]].asnumpy())
                numpy.testing.assert_allclose(executor.grad_dict[name].asnumpy(), both, rtol=1e-5,
                                              atol=1e-6)

    def test_patterns_of_mixed_match_in_linear_time(self):
        net = sym.FullyConnected(sym.Variable("data"), num_hidden=3, name="a" * 2000 + "b")
        mixed = lstmc.init.Mixed(["(a+)+$", ".*"], [lstmc.init.Zero(), lstmc.init.One()])
        lstmc.Network(net).compile({"data": (2, 4)}, initializer=mixed)
        with self.assertRaisesRegex(lstmc.Error, r"E0204.*pattern .*: invalid escape sequence"):
            lstmc.Network(net).compile(
                {"data": (2, 4)}, initializer=lstmc.init.Mixed([r"(a)\1"], [lstmc.init.Zero()]))

    def test_scopes(self):
        with lstmc.AttrScope(ctx_group="first"):
            net = sym.FullyConnected(sym.Variable("data"), num_hidden=3, name="fc")
        self.assertIn("first", drawing.draw(net, shapes={"data": (4, 5)}).text())
        with self.assertRaisesRegex(lstmc.Error, "has no attribute"):
            lstmc.AttrScope(group="first")


class Errors(unittest.TestCase):
    def error(self, call):
        with self.assertRaises(lstmc.Error) as caught:
            call()
        return caught.exception

    def here(self, offset):
        return inspect.currentframe().f_back.f_lineno + offset

    def test_a_call_is_refused_where_it_stands(self):
        line = self.here(1)
        error = self.error(lambda: sym.FullyConnected(sym.Variable("data"), num_hiden=3))
        self.assertEqual((error.code, error.place.line), ("E0202", line))
        self.assertTrue(error.place.file.endswith("test_symbols.py"))
        self.assertIn('did you mean "num_hidden"?', str(error))
        self.assertIn("error[E0202]: FullyConnected has no attribute", str(error))
        self.assertIn("sym.FullyConnected(", str(error))
        if sys.version_info >= (3, 11):  # earlier versions have no columns
            self.assertGreater(error.place.column, 1)

    def test_shapes_that_disagree_name_the_call_and_the_reasons(self):
        data, weight = sym.Variable("data"), sym.Variable("w", shape=(3, 7))
        line = self.here(1)
        net = sym.FullyConnected(data, weight=weight, num_hidden=3, name="fc")
        error = self.error(lambda: net.infer_shape(data=(4, 5)))
        self.assertEqual((error.code, error.place.line), ("E0207", line))
        self.assertTrue(error.reasons)

    def test_shapes_that_stay_open(self):
        self.assertEqual(self.error(lambda: sym.tanh(sym.Variable("data")).infer_shape()).code,
                         "E0211")

    def test_an_input_that_is_not_there(self):
        self.assertIn('"dat"', str(
            self.error(lambda: sym.tanh(sym.Variable("data")).infer_shape(data=(2,), dat=(2,)))))

    def test_inputs_are_symbols_of_one_tensor(self):
        with self.assertRaisesRegex(TypeError, "takes symbols"):
            sym.tanh(3)
        with self.assertRaisesRegex(TypeError, "one tensor"):
            sym.tanh(sym.SliceChannel(sym.Variable("a"), num_outputs=2))

    def test_flags_are_the_commands(self):
        net = lstmc.Network(sym.FullyConnected(sym.Variable("data"), num_hidden=3))
        error = self.error(lambda: net.compile({"data": (4, 5)}, bach=3))
        self.assertIn('compile has no keyword "bach"; did you mean "batch"?', str(error))


if __name__ == "__main__":
    unittest.main()
