"""Properties of symbols besides their ops: attributes, composition, types, pictures; and bound
arrays."""

import contextlib
import io
import os
import pickle
import tempfile
import unittest
import warnings

import numpy as np

import lstmc as mx

SHAPES = {"data": (4, 5)}


def mlp():
    data = mx.sym.Variable("data")
    hidden = mx.sym.Activation(mx.sym.FullyConnected(data, num_hidden=3, name="fc1"),
                               act_type="tanh", name="act")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(hidden, num_hidden=2, name="fc2"),
                                name="softmax")


def multipliers(net):
    nodes = mx.drawing.draw(net, shapes=SHAPES).nodes()[1]
    return {node["name"]: (node["lr_mult"], node["wd_mult"]) for node in nodes
            if node["kind"] == "variable"}


class Attributes(unittest.TestCase):
    def test_scopes_give_them(self):
        with mx.AttrScope(__group__="4", __data__="great"):
            data = mx.sym.Variable(
                "data", attr={"__dtype__": "0", "__group__": "1", "force_mirroring": "True"},
                lr_mult=1)
            other = mx.sym.Variable("data2")
            with mx.AttrScope(ctx_group="inner", __data__="better"):
                fc = mx.sym.FullyConnected(data, num_hidden=3, name="fc")
        self.assertEqual((data.attr("__group__"), other.attr("__group__")), ("1", "4"))
        self.assertEqual((data.attr("lr_mult"), data.attr("__lr_mult__")), ("1", "1"))
        self.assertEqual((data.attr("force_mirroring"), data.attr("__force_mirroring__")),
                         ("True", "True"))
        self.assertEqual(fc.list_attr(), {"num_hidden": "3", "__group__": "4", "__data__": "better",
                                          "__ctx_group__": "inner", "ctx_group": "inner"})
        self.assertIsNone(fc.attr("no_bias"))
        self.assertEqual(mx.AttrScope(__a__="1").get({"__b__": "2"}), {"__a__": "1", "__b__": "2"})

    def test_of_all_nodes(self):
        data = mx.sym.Variable("data", attr={"__mood__": "angry"})
        net = mx.sym.FullyConnected(data, name="fc", num_hidden=1, attr={"__mood__": "so so"},
                                    lr_mult=1)
        marks = {"__mood__": "so so", "lr_mult": "1", "__lr_mult__": "1"}
        self.assertEqual(net.attr_dict(),
                         {"data": {"__mood__": "angry"}, "fc": {"num_hidden": "1", **marks},
                          "fc_weight": marks, "fc_bias": marks})

    def test_multipliers_reach_what_a_call_makes(self):
        with mx.AttrScope(__lr_mult__="0.5"):
            hidden = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc",
                                           attr={"wd_mult": "2"})
            x, _, _ = mx.sym.LSTM(mx.sym.expand_dims(hidden, axis=0), num_hidden=2, name="lstm")
        net = mx.sym.FullyConnected(x, weight=mx.sym.Variable("w", __lr_mult__="3"), num_hidden=2,
                                    no_bias=True, name="out", lr_mult=7)
        found = multipliers(net)
        self.assertEqual(found.pop("w"), (3.0, None))
        self.assertEqual([found.pop("fc_weight"), found.pop("fc_bias")], [(0.5, 2.0)] * 2)
        self.assertEqual(set(found.values()), {(0.5, None)})
        self.assertEqual(len(found), 4)

    def test_variables_take_hints(self):
        variable = mx.sym.Variable("w", __shape__="(3, 0)", __init__='["constant", {"value": 2}]',
                                   __layout__="TN", profiler_scope="x:")
        self.assertEqual(
            variable.list_attr(),
            {"__shape__": "(3, 0)", "__init__": '["constant", {"value": 2.0}]', "__layout__": "TN",
             "__profiler_scope__": "x:"})
        weights = (mx.Network(mx.sym.FullyConnected(mx.sym.Variable("data"), weight=variable,
                                                    num_hidden=3, no_bias=True))
                   .compile(SHAPES, entries=["forward"]).session().params())
        np.testing.assert_array_equal(weights["w"], np.full((3, 5), 2))
        self.assertEqual(mx.init.Xavier(magnitude=2).dumps(), '["xavier", {"magnitude": 2.0}]')

    def test_files_keep_them(self):
        with mx.AttrScope(__mood__="fine", ctx_group="a", __lr_mult__="0.25"):
            net = mlp()
        again = mx.sym.load_json(net.tojson())
        self.assertEqual({name: own for name, own in again.attr_dict().items()}, net.attr_dict())
        self.assertEqual(pickle.loads(pickle.dumps(net)).tojson(), net.tojson())
        # version 0.2 had nodes under another name
        earlier = pickle.dumps(net, 2).replace(b"clstmc.nodes\nNode\n", b"clstmc.graph\n_Node\n")
        self.assertIn(b"_Node", earlier)
        self.assertEqual(pickle.loads(earlier).tojson(), net.tojson())

    def test_refusals(self):
        for call, text in (
            (lambda: mx.sym.Variable("x", mood="angry"), 'Variable has no attribute "mood"'),
            (lambda: mx.sym.Variable("x", attr={"mood": "angry"}), 'attr has no attribute "mood"'),
            (lambda: mx.AttrScope(mood="angry"), "__mood__"),
            (lambda: mx.sym.Variable("x", stype="row_sparse"), "sparse"),
            (lambda: mx.sym.Variable("x", __shape__="three"), '"three" is no value for __shape__'),
            (lambda: mlp().list_attr(recursive=True), "attr_dict"),
        ):
            with self.assertRaisesRegex(mx.Error, text):
                call()


class Composition(unittest.TestCase):
    def test_a_network_reads_another(self):
        first = mx.sym.FullyConnected(mx.sym.Variable("x"), num_hidden=5, name="first")
        net = mlp()
        both = net(data=first, softmax_label=mx.sym.Variable("y"))
        self.assertEqual(both.list_arguments(), ["x", "first_weight", "first_bias", "fc1_weight",
                                                 "fc1_bias", "fc2_weight", "fc2_bias", "y"])
        self.assertEqual(net.list_arguments()[0], "data")  # unchanged
        self.assertEqual(both.infer_shape(x=(4, 7), y=(4,))[1], [(4, 2)])
        self.assertEqual(both.attr("name"), net.attr("name"))

    def test_twice_shares_weights(self):
        net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
        pair = mx.sym.Group([net, net(data=mx.sym.Variable("b"))])
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            self.assertEqual(pair.list_arguments(), ["data", "fc_weight", "fc_bias", "b"])
        self.assertEqual(found, [])  # weights shared by accident cause a warning

    def test_a_parameter_that_a_call_makes(self):
        tied = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=5, no_bias=True,
                                     name="fc")(fc_weight=mx.sym.Variable("shared"))
        self.assertEqual(tied.list_arguments(), ["data", "shared"])

    def test_refusals(self):
        x = mx.sym.Variable("x")
        lstm = mx.sym.LSTM(mx.sym.Variable("data"), num_hidden=2, name="lstm")[0]
        for call, text in (
            (lambda: mlp()(x), "by keywords"),
            (lambda: mlp().infer_shape(fc9_weight=(3, 5), **SHAPES), '"fc9_weight"'),
            (lambda: mlp()(date=x), 'no argument "date"'),
            (lambda: mlp()(data=mx.sym.Group([x, x])), "one tensor"),
            (lambda: lstm(lstm_i2h_weight=x), 'made by the layer "lstm"'),
        ):
            with self.assertRaisesRegex(mx.Error, text):
                call()


class Inference(unittest.TestCase):
    def test_shapes_by_position(self):
        self.assertEqual(mlp().infer_shape((4, 5)), mlp().infer_shape(**SHAPES))
        self.assertEqual(mlp().infer_shape(None, (3, 5), data=(4, 5))[0][1], (3, 5))
        with self.assertRaisesRegex(mx.Error, "8 arguments are given"):
            mlp().infer_shape(*[(1,)] * 8)

    def test_shapes_in_part(self):
        arguments, outputs, _ = mlp().infer_shape_partial()
        self.assertEqual(arguments, [(), (3, 0), (3,), (2, 3), (2,), (0,)])
        self.assertEqual(outputs, [(0, 2)])
        self.assertEqual(mlp().infer_shape_partial(**SHAPES), mlp().infer_shape(**SHAPES))
        with self.assertRaises(mx.Error) as raised:
            mlp().infer_shape_partial(data=(4, 5), fc1_weight=(3, 9))
        self.assertEqual(raised.exception.code, "E0207")

    def test_types(self):
        net = mx.sym.Cast(mlp(), dtype="float64", name="wide")
        arguments, outputs, auxiliary = net.infer_type(data="float32")
        self.assertEqual((set(arguments), outputs, auxiliary), ({np.float32}, [np.float64], []))
        embed = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=3, output_dim=2, name="embed")
        self.assertEqual(embed.infer_type(np.int32)[0], [np.int32, np.float32])

    def test_neighbours(self):
        net = mlp()
        self.assertEqual(net.get_children().list_outputs(), ["fc2_output"])
        self.assertIsNone(mx.sym.Variable("x").get_children())
        self.assertEqual(net.list_inputs(), net.list_arguments())

    def test_methods(self):
        x = mx.sym.Variable("data")
        net = x.reshape((2, -1)).transpose().sum(axis=1).expand_dims(axis=0).astype("float64")
        self.assertEqual(net.infer_shape(data=(4, 5))[1], [(1, 10)])
        self.assertEqual(x.reshape(0, 1, -1).swapaxes(dim1=0, dim2=1).infer_shape(data=(4, 5))[1],
                         [(1, 4, 5)])


class Bound(unittest.TestCase):
    def arrays(self, net):
        shapes = net.infer_shape(**SHAPES)[0]
        random = np.random.default_rng(2)
        return {name: mx.nd.array(np.zeros(shape) if "label" in name
                                  else random.uniform(-1, 1, shape))
                for name, shape in zip(net.list_arguments(), shapes)}

    def test_is_that_of_simple_bind(self):
        net = mlp()
        arrays = self.arrays(net)
        gradients = {name: mx.nd.ones(value.shape) for name, value in arrays.items()
                     if name.startswith("fc")}
        ours = net.bind(mx.cpu(), args=[arrays[name] for name in net.list_arguments()],
                        args_grad=gradients, grad_req="add", group2ctx={"a": mx.cpu(1)})
        theirs = net.simple_bind(mx.cpu(), **SHAPES)
        theirs.copy_params_from(arrays)
        for executor in (ours, theirs):
            executor.forward(is_train=True)
            executor.backward()
        np.testing.assert_array_equal(ours.outputs[0].asnumpy(), theirs.outputs[0].asnumpy())
        for name, gradient in gradients.items():  # the gradients are in the user's arrays
            np.testing.assert_array_equal(gradient.asnumpy(),
                                          theirs.grad_dict[name].asnumpy() + np.float32(1))
        arrays["data"][:] = 0
        before = ours.outputs[0].asnumpy()
        self.assertTrue((ours.forward()[0].asnumpy() != before).any())

    def test_without_gradients(self):
        net = mlp()
        executor = net.bind(mx.cpu(), self.arrays(net))
        self.assertEqual(executor.forward()[0].shape, (4, 2))
        self.assertEqual(executor.grad_dict, {})

    def test_refusals(self):
        net = mlp()
        arrays = self.arrays(net)
        for call, text in (
            (lambda: net.bind(args={"data": arrays["data"]}), 'args has no "fc1_weight"'),
            (lambda: net.bind(args=list(arrays.values())[:2]), "2 arrays for 6 arguments"),
            (lambda: net.bind(args=arrays, args_grad={"data": mx.nd.zeros((4, 4))}),
             "its array in args_grad"),
            (lambda: net.bind(args=arrays, aux_states=[1]), "1 arrays for 0 arguments"),
            (lambda: net.bind(args={**arrays, "data": mx.nd.zeros((4, 9))}), "E0207"),
            (lambda: net.simple_bind(stype_dict={"data": "csr"}, **SHAPES), "sparse"),
        ):
            with self.assertRaisesRegex(mx.Error, text):
                call()
        with self.assertRaisesRegex(TypeError, "NDArrays"):
            net.bind(args={**arrays, "data": np.zeros((4, 5))})


class Pictures(unittest.TestCase):
    def test_plot_network(self):
        plot = mx.viz.plot_network(mlp(), title="mlp", shape=SHAPES, save_format="svg")
        self.assertIn('digraph "mlp"', plot.source)
        with tempfile.TemporaryDirectory() as folder:
            path = plot.render("net", folder)
            self.assertEqual(sorted(os.listdir(folder)), ["net", "net.svg"])
            with open(path) as file:
                self.assertIn("<svg", file.read())
            self.assertTrue(plot.save(directory=folder).endswith("mlp.gv"))
        self.assertIn("fc1", mx.viz.plot_network(mlp()).source)
        for call in (plot.view, lambda: plot.render(view=True)):
            with self.assertRaisesRegex(mx.Error, "whose path render"):
                call()
        for keywords in ({"node_attrs": {"shape": "oval"}}, {"hide_weights": False}):
            with self.assertRaisesRegex(mx.Error, "are not there"):
                mx.viz.plot_network(mlp(), **keywords)

    def test_print_summary_counts_each_parameter_once(self):
        cell = mx.rnn.LSTMCell(3, prefix="lstm_")
        outputs, _ = cell.unroll(4, mx.sym.Variable("data"), merge_outputs=True)
        net = mx.sym.FullyConnected(outputs, num_hidden=2, name="fc")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            mx.viz.print_summary(net, shape={"data": (2, 4, 5)}, line_length=90)
        lines = printed.getvalue().splitlines()
        self.assertEqual(max(map(len, lines)), 90)
        self.assertIn(f"Total params: {12 * (5 + 3 + 2) + 2 * 12 + 2}", lines)
        row = next(line for line in lines if line.startswith("fc("))
        self.assertEqual(row.split(), ["fc(FullyConnected)", "2", "26", "concat0"])
        self.assertIn("lstm_t0_i2h(FullyConnected)", printed.getvalue())


if __name__ == "__main__":
    unittest.main()
