"""symbol.json and .params: files have MXNet's layout and read back as the same network; spellings
of old versions are read."""

import json
import os
import random
import struct
import sys
import tempfile
import unittest
import warnings

import numpy as np

import lstmc as mx

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli"))
import mxnet_files

# A file in the layout of MXNet 0.9.4 (docs/mxnet.md §12).
SMALL = """{
  "nodes": [
    {
      "op": "null", 
      "name": "data", 
      "inputs": []
    }, 
    {
      "op": "null", 
      "name": "pred_weight", 
      "inputs": []
    }, 
    {
      "op": "null", 
      "name": "pred_bias", 
      "inputs": []
    }, 
    {
      "op": "FullyConnected", 
      "name": "pred", 
      "attrs": {
        "flatten": "False", 
        "num_hidden": "10"
      }, 
      "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]
    }, 
    {
      "op": "null", 
      "name": "softmax_label", 
      "inputs": []
    }, 
    {
      "op": "SoftmaxOutput", 
      "name": "softmax", 
      "attrs": {"normalization": "valid"}, 
      "inputs": [[3, 0, 0], [4, 0, 0]]
    }
  ], 
  "arg_nodes": [0, 1, 2, 4], 
  "node_row_ptr": [0, 1, 2, 3, 4, 5, 6], 
  "heads": [[5, 0, 0]], 
  "attrs": {"mxnet_version": ["int", 10901]}
}"""


def small():
    pred = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=10, flatten=False, name="pred")
    return mx.sym.SoftmaxOutput(pred, name="softmax", normalization="valid")


def recurrent():
    """A stack with begin states, packed weights, groups and multipliers to write."""
    embed = mx.sym.Embedding(
        mx.sym.Variable("data"), input_dim=7, output_dim=5, name="embed",
        weight=mx.sym.Variable("embed_weight", lr_mult=0.5, init=mx.init.Normal(0.25)))
    with mx.AttrScope(ctx_group="stack"):
        outputs, _ = mx.rnn.FusedRNNCell(6, num_layers=2, bidirectional=True,
                                         prefix="lstm_").unroll(3, embed, merge_outputs=True)
    with mx.AttrScope(force_mirroring=True):
        one, two = mx.sym.SliceChannel(outputs, num_outputs=2, axis=2)
        both = mx.sym.Concat(one * 2.0, mx.sym.maximum(two, 0.1), dim=2)
    return mx.sym.Group([mx.sym.sum(both, axis=(1, 2)), mx.sym.clip(two, -0.5, 0.5)])


class SymbolJson(unittest.TestCase):
    def test_layout(self):
        self.assertEqual(small().tojson(), SMALL)

    def test_the_network_that_is_read_computes_the_same(self):
        net = recurrent()
        with tempfile.TemporaryDirectory() as folder:
            net.save(os.path.join(folder, "net-symbol.json"))
            again = mx.sym.load(os.path.join(folder, "net-symbol.json"))
        self.assertEqual(again.list_arguments(), net.list_arguments())
        self.assertEqual(again.tojson(), net.tojson())
        results = []
        for each in (net, again):
            package = mx.Network(each).compile({"data": (2, 3)}, place={"stack": "cpu:0"})
            # initial values, from the file's initialisers
            session = package.session(seed=4)
            results.append([session.params(),
                            session.run({"data": np.array([[0, 1, 2], [3, 4, 6]])})])
        for before, after in zip(*results):
            self.assertEqual(len(before), len(after))
            for ours, theirs in zip(before.values(), after.values()):
                np.testing.assert_array_equal(ours, theirs)
        written = {node["name"]: node.get("attrs", {})
                   for node in json.loads(net.tojson())["nodes"]}
        self.assertEqual(written["embed_weight"]["__lr_mult__"], "0.5")
        self.assertEqual(written["lstm"]["__ctx_group__"], "stack")
        self.assertEqual(written["lstm_begin_state_0"], {"shape": "(4, 0, 6)"})
        self.assertTrue(any(attrs.get("__force_mirroring__") for attrs in written.values()))

    def test_old_spellings(self):
        """Version 0.8: `param` and `attr`, entries of two numbers, multipliers of an input at the
        op; nodes before their inputs."""
        old = {"nodes": [
            {"op": "FullyConnected", "param": {"no_bias": "True", "num_hidden": "3"}, "name": "fc",
             "inputs": [[1, 0], [2, 0]],
             "backward_source_id": -1, "attr": {"ctx_group": "one", "weight_lr_mult": "1.5"}},
            {"op": "null", "param": {}, "name": "data", "inputs": []},
            {"op": "null", "param": {}, "name": "fc_weight", "inputs": [],
             "attr": {"wd_mult": "0.25", "weight_lr_mult": "1.5"}},
            {"op": "SwapAxis", "attrs": {"dim1": "0", "dim2": "1"}, "name": "swap",
             "inputs": [[0, 0]]},
            {"op": "slice", "attr": {"begin": "(0L, None)", "end": "[2, 1]"}, "name": "cut",
             "inputs": [[3, 0]]}],
               "arg_nodes": [1, 2], "heads": [[4, 0]]}
        net = mx.sym.load_json(json.dumps(old))
        self.assertEqual(net.infer_shape(data=(4, 5))[1], [(2, 1)])
        attrs = {node["name"]: node.get("attrs") for node in json.loads(net.tojson())["nodes"]}
        self.assertEqual(attrs["fc_weight"], {"__lr_mult__": "1.5", "__wd_mult__": "0.25"})
        self.assertEqual(attrs["fc"]["__ctx_group__"], "one")

    def test_what_is_no_network(self):
        def broken(change):
            document = json.loads(SMALL)
            change(document)
            with self.assertRaises(mx.Error) as error:
                mx.sym.load_json(json.dumps(document))
            return error.exception.code

        self.assertEqual(broken(lambda d: d.pop("nodes")), "E0603")
        self.assertEqual(broken(lambda d: d["nodes"][3].update(inputs=[[9, 0, 0]])), "E0605")
        # a cycle
        self.assertEqual(broken(lambda d: d["nodes"][3].update(inputs=[[5, 0, 0]])), "E0605")
        self.assertEqual(broken(lambda d: d.update(heads=[[3, 1, 0]])), "E0605")
        self.assertEqual(broken(lambda d: d["nodes"][3]["attrs"].update(num_hidden="ten")), "E0605")
        self.assertEqual(broken(lambda d: d["nodes"][3].update(op="ROIPooling")), "E0201")
        with self.assertRaisesRegex(mx.Error, "E0603"):
            mx.sym.load_json("{")


# Attributes that MXNet 1.9.1's reader requires of its ops; `num_args` of other ops is always
# written.
REQUIRED = {"_full": "value", "_arange": "start", "Activation": "act_type", "clip": "a_min a_max",
            "Cast": "dtype", "expand_dims": "axis", "SliceChannel": "num_outputs",
            "slice": "begin end", "slice_axis": "axis begin end", "reverse": "axis", "tile": "reps",
            "repeat": "repeats", "Embedding": "input_dim output_dim", "one_hot": "depth",
            "FullyConnected": "num_hidden", "RNN": "state_size num_layers mode",
            "scatter_nd": "shape", "Convolution": "kernel num_filter", "Pad": "mode pad_width",
            "amp_cast": "dtype", "Concat": "num_args", "stack": "num_args", "add_n": "num_args",
            "_rnn_param_concat": "num_args", "_npi_einsum": "num_args"}
# ops under names that MXNet does not have
NOT_THERE = {"softplus", "log_sigmoid", "silu", "mish", "gelu", "arange_like", "einsum"}


def nodes(net, **options):
    from lstmc.symbol_json import dumps

    return json.loads(dumps(net, **options))["nodes"]


class ForMXNet(unittest.TestCase):
    """Properties of the text that MXNet itself checks in `./dev bench mxnet`."""

    def check(self, net):
        for node in nodes(net):
            self.assertNotIn(node["op"], NOT_THERE)
            self.assertNotIn(node.get("attrs", {}).get("act_type"), ("mish", "log_sigmoid"))
            for attribute in REQUIRED.get(node["op"], "").split():
                self.assertIn(attribute, node.get("attrs", {}), node)

    def test_every_op_has_what_mxnet_requires(self):
        import test_eager as cases

        for record in mx._core.operators():
            inputs, attributes = cases.case_of(record)
            with self.subTest(record[0]), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.check(cases.symbol_of(record[0], inputs, attributes, gradients=False)[0])
        self.check(mx.sym.slice_axis(mx.sym.Variable("data"), axis=0, begin=1, end=None))
        self.check(mx.sym.RNN(mx.sym.Variable("data"), mx.sym.Variable("w"), state_size=4))
        self.check(mx.sym.Activation(mx.sym.Variable("data"), act_type="log_sigmoid"))

    def test_an_op_that_mxnet_does_not_have_is_said(self):
        with self.assertWarnsRegex(UserWarning, "MXNet 1.9.1 has no digamma"):
            mx.sym.digamma(mx.sym.Variable("data"), name="psi").tojson()

    def test_layers(self):
        """MXNet concatenates vectors only, requires all states, and infers the width of the first
        layer only."""
        for layer, gates, mode, options in (
                (mx.sym.LSTM, 4, "lstm", {}), (mx.sym.GRU, 3, "gru", {}),
                (mx.sym.RNNLayer, 1, "rnn_relu", {"activation": "relu"}),
                (mx.sym.RNNLayer, 1, "rnn_tanh", {})):
            for layers, both in ((1, False), (2, False), (3, True)):
                net = layer(mx.sym.Variable("data"), num_hidden=5, num_layers=layers,
                            bidirectional=both, name="r", **options)[0]
                self.check(net)
                written = nodes(net)
                [rnn] = [node for node in written if node["op"] == "RNN"]
                self.assertEqual(
                    [rnn["attrs"][key] for key in ("mode", "num_layers", "state_size")],
                    [mode, str(layers), "5"])
                self.assertEqual(len(rnn["inputs"]), 4 if mode == "lstm" else 3)
                joined = written[rnn["inputs"][1][0]]
                self.assertEqual((joined["op"], joined["attrs"]["dim"]), ("_rnn_param_concat", "0"))
                directions = 2 if both else 1
                for number, (entry, _, _) in enumerate(joined["inputs"]):
                    part = written[entry]
                    if number >= 2 * layers * directions:  # a bias
                        self.assertEqual((part["op"], part["attrs"]["__shape__"]),
                                         ("null", f"({gates * 5},)"))
                        continue
                    self.assertEqual((part["op"], part["attrs"]), ("Reshape", {"shape": "(-1,)"}))
                    width = 5 if number % 2 else 0 if number < 2 * directions else 5 * directions
                    self.assertEqual(written[part["inputs"][0][0]]["attrs"]["__shape__"],
                                     str((gates * 5, width)))

    def test_inputs_that_attributes_switch(self):
        """MXNet lists those that exist alone: the lengths of a GRU follow its state."""
        x, w, h, lengths = (mx.sym.Variable(name) for name in ("data", "w", "h", "lengths"))
        options = {"state_size": 3, "num_layers": 1, "mode": "gru", "use_sequence_length": True}
        gru = mx.sym.RNN(x, w, h, sequence_length=lengths, name="r", **options)
        self.assertEqual(mx.sym.RNN(x, w, h, lengths, name="r", **options).tojson(), gru.tojson())
        ctc = mx.sym.CTCLoss(x, w, label_lengths=lengths, use_label_lengths=True, name="ctc")
        for net in (gru, ctc):
            again = mx.sym.load_json(net.tojson())
            self.assertEqual(again.tojson(), net.tojson())
            self.assertEqual(again.list_arguments(), net.list_arguments())
        draw = np.random.default_rng(2)
        values = {"w": draw.normal(size=(3 * 3 * (2 + 3) + 2 * 9,)).astype("f4"),
                  "h": np.zeros((1, 2, 3), "f4")}
        shapes = {"data": (4, 2, 2), "lengths": (2,)}
        inputs = {"data": draw.normal(size=(4, 2, 2)), "lengths": [4, 2]}
        for net in (gru, mx.sym.load_json(gru.tojson())):
            session = mx.Network(net).compile(shapes).session(values)
            [output] = session.run(inputs).values()
            self.assertTrue((output[2:, 1] == 0).all() and (output[2:, 0] != 0).all())

    def test_states_that_are_left_out(self):
        data, weights = (mx.sym.Variable(name, dtype="float64") for name in ("data", "w"))
        net = mx.sym.RNN(data, weights, state_size=4, num_layers=2, mode="lstm", projection_size=3,
                         name="r")
        states = [node for node in nodes(net) if node["op"] == "_zeros"]
        self.assertEqual([node["attrs"] for node in states],
                         [{"dtype": "float64", "shape": "(2, 0, 3)"},
                          {"dtype": "float64", "shape": "(2, 0, 4)"}])
        self.assertEqual(mx.sym.load_json(net.tojson()).infer_shape(data=(5, 2, 7))[1], [(5, 2, 3)])

    def test_ops_in_others_compute_the_same(self):
        x = np.linspace(-4, 4, 40, dtype=np.float32).reshape(4, 10)
        for op in ("softplus", "log_sigmoid", "silu", "mish", "gelu"):
            net = getattr(mx.sym, op)(mx.sym.Variable("data"))
            values = [mx.Network(each).compile({"data": x.shape}).session().run({"data": x})
                      for each in (net, mx.sym.load_json(net.tojson()))]
            before, after = [[*each.values()][0] for each in values]
            np.testing.assert_allclose(after, before, atol=2e-6)

    def test_outputs_are_counted_as_mxnet_does(self):
        x = mx.sym.LayerNorm(mx.sym.Dropout(mx.sym.Variable("data"), p=0.5))
        document = json.loads(x.tojson())
        self.assertEqual([node["op"] for node in document["nodes"]],
                         ["null", "Dropout", "null", "null", "LayerNorm"])
        self.assertEqual(document["node_row_ptr"], [0, 1, 3, 4, 5, 8])

    def test_a_variable_with_an_initialiser_by_patterns(self):
        init = mx.init.Mixed([".*bias", ".*"], [mx.init.Zero(), mx.init.Normal(0.25)])
        net = mx.sym.FullyConnected(mx.sym.Variable("data"), weight=mx.sym.Variable("w", init=init),
                                    num_hidden=3, name="fc")
        [weight] = [node for node in nodes(net) if node["name"] == "w"]
        self.assertEqual(weight["attrs"]["__init__"], '["normal", {"sigma": 0.25}]')


class FusedCells(unittest.TestCase):
    """MXNet keeps all weights of a FusedRNNCell in one Variable, and its checkpoints split by
    gate."""

    def net(self, units=5):
        cell = mx.rnn.FusedRNNCell(units, num_layers=2, mode="lstm", bidirectional=True,
                                   prefix="lstm_")
        stack = mx.rnn.SequentialRNNCell()
        stack.add(cell)
        return stack, stack.unroll(3, mx.sym.Variable("data"), layout="NTC", merge_outputs=True)[0]

    def test_checkpoints(self):
        stack, net = self.net()
        shapes, _, _ = net.infer_shape(data=(2, 3, 4))
        draw = np.random.default_rng(1)
        weights = {name: mx.nd.array(draw.normal(size=shape).astype("f4"))
                   for name, shape in zip(net.list_arguments(), shapes) if name != "data"}
        data = draw.normal(size=(2, 3, 4)).astype("f4")
        with tempfile.TemporaryDirectory() as folder:
            prefix = os.path.join(folder, "net")
            mx.rnn.save_rnn_checkpoint(stack, prefix, 1, net, weights, {})
            with self.assertWarnsRegex(UserWarning, "lstm_parameters"):
                plain = mx.sym.load(prefix + "-symbol.json")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                again, read, _ = mx.rnn.load_rnn_checkpoint(stack, prefix, 1)
        self.assertEqual(plain.list_arguments(), ["data", "lstm_parameters"])
        self.assertEqual(
            plain.attr_dict()["lstm_parameters"]["__init__"], '["fusedrnn", {"init": null, '
                                                              '"num_hidden": 5, "num_layers": 2, '
                                                              '"mode": "lstm", "bidirectional": '
                                                              'true, "forget_bias": 1.0}]')
        self.assertIn("fusedrnn", plain.tojson())
        self.assertEqual(sorted(again.list_arguments()), sorted(net.list_arguments()))
        values = [[*mx.Network(each).compile({"data": data.shape}).session(
            {k: v.asnumpy() for k, v in held.items()}).run({"data": data}).values()][0]
                  for each, held in ((net, weights), (again, read))]
        np.testing.assert_array_equal(*values)

    def test_first_values_after_loading(self):
        """The initialiser inside of `fusedrnn` draws the vector's values, before and after a
        file."""
        inner = mx.init.FusedRNN(mx.init.Uniform(0.25), 5, 2, "lstm", True)
        net = mx.sym.RNN(mx.sym.Variable("data"), mx.sym.Variable("w", init=inner), state_size=5,
                         num_layers=2, mode="lstm", bidirectional=True, name="lstm")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = [mx.Network(each).compile({"data": (3, 2, 4)}).session(seed=4).params()["w"]
                      for each in (net, mx.sym.load_json(net.tojson()))]
        np.testing.assert_array_equal(*values)
        self.assertTrue(0.2 < np.abs(values[0]).max() <= 0.25)


def a_node_with(key, value):
    """SMALL with that value in its FullyConnected."""
    document = json.loads(SMALL)
    document["nodes"][3][key] = value
    return json.dumps(document)


class Strangers(unittest.TestCase):
    """A file of unknown origin, whatever its contents, is a network or an lstmc.Error with the
    file's name."""

    def refused(self, text, code, words):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net-symbol.json")
            with open(path, "wb") as file:
                file.write(text if isinstance(text, bytes)
                           else text.encode("utf-8", "surrogatepass"))
            with self.assertRaises(mx.Error) as caught:
                mx.sym.load(path)
        self.assertEqual(caught.exception.code, code)
        self.assertIn(words, str(caught.exception))
        if code != "E0001":
            self.assertEqual(caught.exception.place.file, path)

    def test_nested(self):
        for opens, code, said in (("[", "E0603", "the text is a list"),
                                  ('{"a":', "E0606", "limit depth"),
                                  ('{"nodes": [', "E0606", "limit depth")):
            self.refused(opens * 200000, code, said)
        deep = json.loads(SMALL)
        deep["nodes"][3] = {"op": "transpose", "name": "turned", "attrs": {"axes": "(" * 90000},
                            "inputs": [[0, 0, 0]]}
        self.refused(json.dumps(deep), "E0605", "axes is a tuple of integers")
        deep = json.loads(SMALL)
        deep["nodes"][1]["attrs"] = {"__shape__": "(" * 90000 + ")" * 90000}
        self.refused(json.dumps(deep), "E0001", "__shape__")

    def test_kinds(self):
        for key, value, where in (
                ("op", None, "nodes[3].op is null, want a string"),
                ("name", 5, "nodes[3].name is 5, want a string"),
                ("inputs", {}, "nodes[3].inputs is an object, want a list"),
                ("inputs", [0, 0, 0], "nodes[3].inputs[0] is 0, want a list"),
                ("inputs", [[0]], "nodes[3].inputs[0] has 1 numbers"),
                ("inputs", [["0", 0]], 'nodes[3].inputs[0][0] is "0", want an integer'),
                ("inputs", [[True, 0]], "nodes[3].inputs[0][0] is true"),
                ("inputs", [[0.5, 0]], "nodes[3].inputs[0][0] is 0.5"),
                ("attrs", {"num_hidden": 10}, "nodes[3].attrs.num_hidden is 10, want a string"),
                ("name", "\ud800", "this is no symbol.json: ")):
            self.refused(a_node_with(key, value), "E0603", where)
        self.refused("[]", "E0603", "the text is a list, want an object")
        self.refused('{"nodes": null, "heads": []}', "E0603", "nodes is null, want a list")
        self.refused('{"nodes": [7], "heads": []}', "E0603", "nodes[0] is 7, want an object")
        self.refused('{"nodes": [], "heads": [[1e999, 0]]}', "E0603", "this is no symbol.json")
        self.refused(b'{"nodes": [], "\xff": []}', "E0603", "this is no symbol.json")

    def test_numbers(self):
        self.refused(a_node_with("attrs", {"num_hidden": "9" * 30}),
                     "E0605", "num_hidden is an integer")
        self.refused(a_node_with("inputs", [[0, -1, 0]]), "E0605", "is -1, want a number from 0")
        for shape in ("(1, 'a')", "(1.5,)", "9" * 30, "{}"):
            document = json.loads(SMALL)
            document["nodes"][1]["attrs"] = {"__shape__": shape}
            self.refused(json.dumps(document), "E0001", "__shape__")

    def test_the_rows_of_all_hostile_files(self):
        """Those that the command refuses, with the same codes and words."""
        for text, code, said in mxnet_files.hostile_symbols():
            with self.subTest(said), self.assertRaisesRegex(mx.Error, said) as caught:
                mx.sym.load_json(text)
            self.assertEqual(caught.exception.code, code, said)

    def test_an_initialiser_that_is_not_known(self):
        text = '["orthogonal2", {"a": 1}]'
        document = json.loads(SMALL)
        document["nodes"][1]["attrs"] = {"__init__": text}
        net = mx.sym.load_json(json.dumps(document))
        self.assertEqual(net.attr_dict()["pred_weight"]["__init__"], text)
        again = {node["name"]: node.get("attrs") for node in json.loads(net.tojson())["nodes"]}
        self.assertEqual(again["pred_weight"], {"__init__": text})
        shapes = {"data": (2, 3), "softmax_label": (2,)}
        package = mx.Network(net).compile(shapes)
        with self.assertRaisesRegex(mx.Error, 'parameter "pred_weight" begins with') as caught:
            package.session()
        self.assertEqual(caught.exception.code, "E0613")
        weights = {"pred_weight": np.ones((10, 3), "f4"), "pred_bias": np.zeros(10, "f4")}
        package.session(weights)
        mx.Network(net).compile(shapes, initializer="xavier").session()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net-symbol.json")
            net.save(path)
            package = mx.Network(path, shape=shapes).compile()
            with self.assertRaisesRegex(mx.Error, "E0613"):
                package.session()
            package.session(weights)

    def test_errors_of_shapes_name_the_node(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net-symbol.json")
            document = json.loads(SMALL)
            document["nodes"][1]["attrs"] = {"__shape__": "(10, 4)"}
            with open(path, "w", encoding="utf-8") as file:
                json.dump(document, file, indent=2)
            net = mx.sym.load(path)
            with self.assertRaisesRegex(mx.Error, "E0207") as caught:
                net.infer_shape(data=(2, 3))
        self.assertEqual(caught.exception.place.file, path)
        self.assertIn('"name": "pred"', str(caught.exception))

    def test_mutations(self):
        """LSTMC_MUTATIONS (200) for each text: of bytes, and of the document's values."""
        texts = [SMALL, recurrent().tojson()]
        folder = os.path.join(os.path.dirname(os.environ["LSTMC_SOURCE"]), "shared/data/mxnet")
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            if name.endswith(".json"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    texts.append(file.read())
        draw = random.Random(int(os.environ.get("LSTMC_SEED", "7")))
        refused = 0
        for text in texts:
            for number in range(int(os.environ.get("LSTMC_MUTATIONS", "200"))):
                changed = mutated_bytes(text, draw) if number % 2 else mutated_values(text, draw)
                try:
                    net = mx.sym.load_json(changed)
                    net.list_arguments()
                    net.tojson()
                except mx.Error:
                    refused += 1
                except BaseException as error:
                    self.fail(f"{type(error).__name__}: {error}\n{changed[:4000]}")
        self.assertGreater(refused, 50)


def mutated_bytes(text, draw):
    data = bytearray(text.encode())
    for _ in range(draw.randint(1, 4)):
        at, end = sorted(draw.randrange(len(data)) for _ in range(2))
        end = min(end, at + draw.choice((1, 4, 40)))
        data[at:end] = draw.choice((b"", b"[", b"{", b'"', b"null", b"-1", b"1e999",
                                    bytes([draw.randrange(256)]), data[at:end] * 2))
    return data.decode("utf-8", "replace")


def mutated_values(text, draw):
    document = json.loads(text)
    for _ in range(draw.randint(1, 3)):
        owner, key = draw.choice(list(places(document)))
        owner[key] = draw.choice((None, True, -1, 0, 7, 1 << 70, 0.5, "", "None", "(1,", "x" * 9,
                                  "\ud800", "a\0b", [], {}, [[]], {"op": "null"},
                                  "[" * 5000, owner[key], [owner[key]], str(owner[key])))
    return json.dumps(document)


def places(value):
    """(container, key) of all values in it."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from places(value[key])


class Params(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.path = os.path.join(scratch.name, "a.params")

    def test_read_what_is_written(self):
        arrays = {"arg:w": np.arange(6, dtype=np.float32).reshape(2, 3),
                  "aux:i": np.array([1, 2], np.int64), "é": np.ones((1, 1), np.float16)}
        mx.nd.save(self.path,
                   {name: mx.nd.array(value, dtype=value.dtype) for name, value in arrays.items()})
        read = mx.nd.load(self.path)
        self.assertEqual(list(read), list(arrays))
        for name, value in arrays.items():
            self.assertEqual(read[name].dtype, value.dtype.type)
            np.testing.assert_array_equal(read[name].asnumpy(), value)
        mx.nd.save(self.path, {})  # from a net without weights
        self.assertEqual(mx.nd.load(self.path), {})
        mx.nd.save(self.path, [mx.nd.ones((2,))])
        self.assertEqual([array.asnumpy().tolist() for array in mx.nd.load(self.path)], [[1, 1]])

    def test_all_ages(self):
        """The bytes of docs/mxnet.md §12: an array [[1, 2]] on a GPU in each of the layouts."""
        device, values = struct.pack("<iii", 2, 0, 0), struct.pack("<2f", 1, 2)
        heads = [struct.pack("<3I", 2, 1, 2), struct.pack("<Ii2q", 0xF993FAC8, 2, 1, 2),
                 struct.pack("<Iii2q", 0xF993FAC9, 0, 2, 1, 2),
                 struct.pack("<Iii2q", 0xF993FACA, 0, 2, 1, 2)]
        with open(self.path, "wb") as file:
            file.write(struct.pack("<QQQ", 0x112, 0, 4)
                       + b"".join(head + device + values for head in heads) + struct.pack("<Q", 0))
        self.assertEqual([array.asnumpy().tolist() for array in mx.nd.load(self.path)],
                         [[[1, 2]]] * 4)

    def test_files_of_other_programs_are_called_by_their_kind(self):
        for begin, kind in ((b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
                            (b"PK\x03\x04" + bytes(26) + b"net/data.pkl", "a PyTorch file"),
                            (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j", "a PyTorch file"),
                            (b"\x08\x08\x12\x07pytorch\x1a", "an ONNX model")):
            with open(self.path, "wb") as file:
                file.write(begin + bytes(40))
            for load in (mx.nd.load, mx.sym.load):
                with self.assertRaisesRegex(mx.Error, f"E0603.*this is {kind}"):
                    load(self.path)
        with open(self.path, "wb") as file:
            file.write(b"\xff\xfe")
        with self.assertRaisesRegex(mx.Error, "E0603"):
            mx.sym.load(self.path)

    def test_the_rows_of_all_hostile_files(self):
        for raw, code, said in mxnet_files.hostile_params():
            with open(self.path, "wb") as file:
                file.write(raw)
            with self.subTest(said), self.assertRaisesRegex(mx.Error, said) as caught:
                mx.nd.load(self.path)
            self.assertEqual(caught.exception.code, code, said)
        raw, wanted = mxnet_files.legal_params()
        with open(self.path, "wb") as file:
            file.write(raw)
        self.assertEqual({name.removeprefix("arg:"): array.asnumpy().tolist()
                          for name, array in mx.nd.load(self.path).items()}, wanted)

    def test_files_that_are_cut_or_wrong(self):
        mx.nd.save(self.path, {"w": mx.nd.ones((2, 3))})
        with open(self.path, "rb") as file:
            whole = file.read()
        for cut in range(len(whole)):
            with open(self.path, "wb") as file:
                file.write(whole[:cut])
            with self.assertRaises(mx.Error) as error:
                mx.nd.load(self.path)
            self.assertEqual(error.exception.code, "E0602")
        for at, value, code in ((0, 0, "E0603"), (16, 255, "E0602"), (28, 1, "E0613"),
                                (32, 77, "E0606"), (60, 99, "E0604")):
            with open(self.path, "wb") as file:
                file.write(whole[:at] + bytes([value]) + whole[at + 1 :])
            with self.assertRaises(mx.Error) as error:
                mx.nd.load(self.path)
            self.assertEqual(error.exception.code, code, at)


if __name__ == "__main__":
    unittest.main()
