"""symbol.json and .params: what is written is laid out as MXNet does it and reads back as the same network; old spellings are read."""

import json
import os
import struct
import tempfile
import unittest

import numpy as np

import lstmc as mx

# As MXNet 0.9.4 lays a file out (docs/mxnet.md §12).
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
    """A stack whose begin states, packed weights, groups and multipliers all have to be written."""
    embed = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=7, output_dim=5, name="embed",
                             weight=mx.sym.Variable("embed_weight", lr_mult=0.5, init=mx.init.Normal(0.25)))
    with mx.AttrScope(ctx_group="stack"):
        outputs, _ = mx.rnn.FusedRNNCell(6, num_layers=2, bidirectional=True, prefix="lstm_").unroll(3, embed, merge_outputs=True)
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
            session = package.session(seed=4)  # first values: the initialisers are those of the file
            results.append([session.params(), session.run({"data": np.array([[0, 1, 2], [3, 4, 6]])})])
        for before, after in zip(*results):
            self.assertEqual(len(before), len(after))
            for ours, theirs in zip(before.values(), after.values()):
                np.testing.assert_array_equal(ours, theirs)
        written = {node["name"]: node.get("attrs", {}) for node in json.loads(net.tojson())["nodes"]}
        self.assertEqual(written["embed_weight"]["__lr_mult__"], "0.5")
        self.assertEqual(written["lstm"]["__ctx_group__"], "stack")
        self.assertEqual(written["lstm_begin_state_0"], {"shape": "(4, 0, 6)"})
        self.assertTrue(any(attrs.get("__force_mirroring__") for attrs in written.values()))

    def test_old_spellings(self):
        """Of 0.8: param and attr, entries of two numbers, multipliers of an input at the op; inputs after their readers."""
        old = {"nodes": [
            {"op": "FullyConnected", "param": {"no_bias": "True", "num_hidden": "3"}, "name": "fc", "inputs": [[1, 0], [2, 0]],
             "backward_source_id": -1, "attr": {"ctx_group": "one", "weight_lr_mult": "1.5"}},
            {"op": "null", "param": {}, "name": "data", "inputs": []},
            {"op": "null", "param": {}, "name": "fc_weight", "inputs": [], "attr": {"wd_mult": "0.25", "weight_lr_mult": "1.5"}},
            {"op": "SwapAxis", "attrs": {"dim1": "0", "dim2": "1"}, "name": "swap", "inputs": [[0, 0]]},
            {"op": "slice", "attr": {"begin": "(0L, None)", "end": "[2, 1]"}, "name": "cut", "inputs": [[3, 0]]}],
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
        self.assertEqual(broken(lambda d: d["nodes"][3].update(inputs=[[5, 0, 0]])), "E0605")  # a cycle
        self.assertEqual(broken(lambda d: d.update(heads=[[3, 1, 0]])), "E0605")
        self.assertEqual(broken(lambda d: d["nodes"][3]["attrs"].update(num_hidden="ten")), "E0605")
        self.assertEqual(broken(lambda d: d["nodes"][3].update(op="Convolution")), "E0201")
        with self.assertRaisesRegex(mx.Error, "E0603"):
            mx.sym.load_json("{")


class Params(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.path = os.path.join(scratch.name, "a.params")

    def test_read_what_is_written(self):
        arrays = {"arg:w": np.arange(6, dtype=np.float32).reshape(2, 3), "aux:i": np.array([1, 2], np.int64), "é": np.ones((1, 1), np.float16)}
        mx.nd.save(self.path, {name: mx.nd.array(value, dtype=value.dtype) for name, value in arrays.items()})
        read = mx.nd.load(self.path)
        self.assertEqual(list(read), list(arrays))
        for name, value in arrays.items():
            self.assertEqual(read[name].dtype, value.dtype.type)
            np.testing.assert_array_equal(read[name].asnumpy(), value)
        mx.nd.save(self.path, [mx.nd.ones((2,))])
        self.assertEqual([array.asnumpy().tolist() for array in mx.nd.load(self.path)], [[1, 1]])

    def test_all_ages(self):
        """The bytes of docs/mxnet.md §12, of an array [[1, 2]] on a GPU in each of the layouts."""
        device, values = struct.pack("<iii", 2, 0, 0), struct.pack("<2f", 1, 2)
        heads = [struct.pack("<3I", 2, 1, 2), struct.pack("<Ii2q", 0xF993FAC8, 2, 1, 2), struct.pack("<Iii2q", 0xF993FAC9, 0, 2, 1, 2),
                 struct.pack("<Iii2q", 0xF993FACA, 0, 2, 1, 2)]
        with open(self.path, "wb") as file:
            file.write(struct.pack("<QQQ", 0x112, 0, 4) + b"".join(head + device + values for head in heads) + struct.pack("<Q", 0))
        self.assertEqual([array.asnumpy().tolist() for array in mx.nd.load(self.path)], [[[1, 2]]] * 4)

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
        for at, value, code in ((0, 0, "E0603"), (16, 255, "E0602"), (28, 1, "E0613"), (32, 77, "E0604"), (60, 99, "E0613")):
            with open(self.path, "wb") as file:
                file.write(whole[:at] + bytes([value]) + whole[at + 1 :])
            with self.assertRaises(mx.Error) as error:
                mx.nd.load(self.path)
            self.assertEqual(error.exception.code, code, at)


if __name__ == "__main__":
    unittest.main()
