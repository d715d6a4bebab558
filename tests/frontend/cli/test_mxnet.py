"""Networks in MXNet's symbol.json: every command takes one as MODEL, and hostile ones are refused
with their node."""
import copy
import json
import unittest

from command import Case
from mxnet_files import array, params


def node(op, name, inputs=(), **attrs):
    return {"op": op, "name": name, **({"attrs": attrs} if attrs else {}),
            "inputs": [[source, 0, 0] for source in inputs]}


# A recurrent layer over data [T, N, 2] and a dense layer at each step.
NODES = [node("null", "data", __layout__="TNC"), node("null", "lstm_parameters"),
         node("_zeros", "h", shape="(1, 0, 3)", __layout__="LNC"),
         node("_zeros", "c", shape="(1, 0, 3)", __layout__="LNC"),
         node("RNN", "lstm", [0, 1, 2, 3], mode="lstm", num_layers="1", state_size="3"),
         node("null", "fc_weight"), node("null", "fc_bias"),
         node("FullyConnected", "fc", [4, 5, 6], num_hidden="4", flatten="False"),
         node("null", "softmax_label"),
         node("SoftmaxOutput", "softmax", [7, 8], preserve_shape="True", normalization="valid")]
SMALL = {"nodes": NODES, "arg_nodes": [0, 1, 5, 6, 8],
         "node_row_ptr": list(range(len(NODES) + 1)), "heads": [[9, 0, 0]],
         "attrs": {"mxnet_version": ["int", 10901]}}
ROWS = 4 * 3 * (2 + 3) + 2 * 4 * 3
WEIGHTS = {"arg:lstm_parameters": ((ROWS,), [(i % 7 - 3) / 10 for i in range(ROWS)]),
           "arg:fc_weight": ((4, 3), [(i % 5 - 2) / 3 for i in range(12)]),
           "arg:fc_bias": ((4,), [0.1, -0.1, 0.2, 0])}
SHAPE = ("--shape", "data:5x2x2")


class Symbols(Case):
    def setUp(self):
        super().setUp()
        self.write(SMALL)
        (self.folder / "net-0003.params").write_bytes(params(
            {name: array("V2", *value) for name, value in WEIGHTS.items()}))

    def write(self, document, name="net-symbol.json"):
        text = document if isinstance(document, str) else json.dumps(document, indent=2)
        (self.folder / name).write_text(text)

    def test_a_warning_of_import_is_said_once(self):
        document = copy.deepcopy(SMALL)
        document["nodes"][5]["attrs"] = {"__init__": '["orthogonal2", {}]'}
        self.write(document)
        done = self.run_here("import", "net-symbol.json", *SHAPE, "-o", "x.lnet")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = done.stdout + done.stderr
        self.assertEqual(said.count("orthogonal2"), 1, said)
        self.assertIn("W0613", done.stderr)
        [warning] = self.document("import", "net-symbol.json", *SHAPE, "-o", "y.lnet",
                                  schema="lstmc.import/1")["warnings"]
        self.assertIn("orthogonal2", warning)

    def test_every_command(self):
        net, weights = "net-symbol.json", ("--params", "net-0003.params")
        ran = self.good("run", net, *weights, "-i", "data=5x2x2xf32=random:7").stdout
        self.assertIn("softmax_output  float32[5, 2, 4]", ran)
        self.assertEqual(self.good("run", "--model-prefix", "net", "--load-epoch", "3",
                                   "-i", "data=5x2x2xf32=random:7").stdout, ran)
        self.good("compile", net, *SHAPE, *weights, "-o", "net.lstmc")
        self.assertEqual(self.good("run", "net.lstmc", "-i", "data=5x2x2xf32=random:7").stdout, ran)
        self.good("import", net, *SHAPE, *weights, "-o", "again.lnet")
        self.assertEqual(self.good("run", "again.lnet", "--params", "again.weights.safetensors",
                                   "-i", "data=5x2x2xf32=random:7").stdout, ran)
        self.assertIn("net-symbol.json", (self.folder / "again.lnet").read_text())
        said = self.document("import", "--model-prefix", "net", "--load-epoch", "3", *SHAPE,
                             "-o", "more.lstmc", schema="lstmc.import/1")
        self.assertEqual((said["network"], said["weights"], said["package"]),
                         ("more.lnet", "more.weights.safetensors", "more.lstmc"))
        self.assertEqual(self.good("run", "more.lstmc", "--params", "more.weights.safetensors",
                                   "-i", "data=5x2x2xf32=random:7").stdout, ran)
        said = self.document("import", net, *SHAPE, "-o", "bare.lnet", schema="lstmc.import/1")
        self.assertNotIn("weights", said)
        self.good("plot", net, *SHAPE, "-o", "net.svg")
        self.good("plan", net, *SHAPE)
        self.assertIn("FullyConnected",
                      self.good("inspect", net, *SHAPE, "--emit", "lnet").stdout)
        self.good("inspect", net, *SHAPE, "--summary")
        self.good("eval", net, *SHAPE, *weights, "--data", "random:1")
        self.good("predict", net, *SHAPE, *weights, "--data", "random:1", "-o", "p.npz")
        self.good("train", net, *SHAPE, *weights, "--data", "random:1", "--after", "2u", "-o", "ck")
        self.assertEqual(self.run_here("diff", "ck", "net-0003.params").returncode, 1)
        # Known by its bytes, and on stdin.
        self.write(SMALL, "net.txt")
        self.assertEqual(self.good("run", "net.txt", *weights, "-i",
                                   "data=5x2x2xf32=random:7").stdout, ran)
        self.assertEqual(self.good("run", "-", *weights, "-i", "data=5x2x2xf32=random:7",
                                   input=json.dumps(SMALL)).stdout, ran)

    def test_batch_is_that_of_the_layout(self):
        said = self.document("inspect", "net-symbol.json", *SHAPE, schema="lstmc.inspect/1")
        [data] = [row for row in said["inputs"] if row["name"] == "data"]
        self.assertEqual(data["dims"], ["", "batch", ""])
        done = self.run_here("run", "net-symbol.json", *SHAPE, "-b", "3", "-i", "data=0")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--shape data has a batch of 2, --batch is 3", done.stderr)

    def test_prefixes(self):
        for words, said in [
                (["--load-epoch", "3"], "--load-epoch 3 needs --model-prefix P"),
                (["--model-prefix", "net", "--load-epoch", "3", "--params", "w"],
                 "--load-epoch and --params both name the weights"),
                (["net-symbol.json", "--model-prefix", "net"], "takes one MODEL, got 2")]:
            done = self.run_here("run", *words, "-i", "data=0")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)
        done = self.run_here("run", "--model-prefix", "net", "--load-epoch", "4", *SHAPE,
                             "-i", "data=0")
        self.assertEqual(done.returncode, 6)
        self.assertIn("net-0004.params", done.stderr)

    def changed(self, change):
        document = copy.deepcopy(SMALL)
        change(document)
        return document

    def refused(self, document, status, said, *words):
        self.write(document)
        done = self.run_here("run", "net-symbol.json", *(words or SHAPE), "-i", "data=0")
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, said)
        return done

    def test_what_it_cannot_do_is_named(self):
        done = self.refused(self.changed(lambda d: d["nodes"][7].update(op="ROIPooling")), 3,
                            r'net-symbol\.json:\d+:\d+: error\[E0201\]: ROIPooling "fc" reads '
                            r'"lstm", "fc_weight", "fc_bias", and no op is named "ROIPooling"')
        self.assertIn("help: the nearest are ", done.stderr)
        self.refused(SMALL, 3, r'error\[E0211\]: the shape of input "data" is not known', "-v")
        self.refused(self.changed(lambda d: d["nodes"][7]["attrs"].update(num_hidden="ten")), 6,
                     r'FullyConnected "fc": num_hidden is an integer, found "ten"')
        self.refused(self.changed(lambda d: d["nodes"][7]["attrs"].update(num_hidden="-3")), 3,
                     r"net-symbol\.json:\d+:\d+: error\[E0319\]: .*-3")
        self.refused(self.changed(lambda d: d["nodes"][4]["attrs"].update(state_size="5")), 3,
                     r"net-symbol\.json:\d+:\d+: error\[E02\d\d\]")
        done = self.run_here("import", "small.lnet", "-o", "x.lnet")
        self.assertEqual(done.returncode, 2)
        self.write(SMALL)
        done = self.run_here("import", "net-symbol.json", "--as", "torch-lstm", "-o", "x.lnet")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--as has no effect here", done.stderr)

    def test_weights_of_another_network(self):
        (self.folder / "bad.params").write_bytes(params(
            {name: array("V2", *value) for name, value in WEIGHTS.items() if "bias" not in name}))
        for words in (("run", "-i", "data=0"), ("import", "-o", "x.lnet")):
            done = self.run_here(words[0], "net-symbol.json", *SHAPE, "--params", "bad.params",
                                 *words[1:])
            self.assertEqual(done.returncode, 6, done.stderr)
            self.assertIn('parameter "fc_bias": found no tensor of that name', done.stderr)

    def test_hostile_files(self):
        text = json.dumps(SMALL)
        for document, said in [
                (self.changed(lambda d: d.update(heads=3)), "heads is 3, want a list"),
                (self.changed(lambda d: d.update(heads=[])), "heads: found none"),
                (self.changed(lambda d: d.update(heads=[[9, -1, 0]])), r"heads\[0\]\[1\] is -1"),
                (self.changed(lambda d: d.update(heads=[[9, 1, 0]])), "output 1 of SoftmaxOutput"),
                (self.changed(lambda d: d.update(heads=[[10, 0, 0]])), "there are 10 nodes"),
                (self.changed(lambda d: d["nodes"][4].update(op=[])), r"nodes\[4\]\.op is a list"),
                (self.changed(lambda d: d["nodes"][4]["inputs"][0].__setitem__(0, 0.7)),
                 r"is 0\.7, want an integer"),
                (self.changed(lambda d: d["node_row_ptr"].__setitem__(3, 1)),
                 r"node_row_ptr\[3\] is 1, want at least 2"),
                (self.changed(lambda d: d["arg_nodes"].append(4)), "want a variable"),
                (self.changed(lambda d: d["nodes"][6].update(name="fc_weight")),
                 'found variable "fc_weight"'),
                (self.changed(lambda d: d["nodes"][7].update(param={"num_hidden": "5"})),
                 'num_hidden is "5" and "4"'),
                (self.changed(lambda d: d["nodes"][4]["inputs"][0].__setitem__(0, 7)),
                 "depends on itself"),
                (text.replace('"heads"', '"nodes": [], "heads"'), "found the key twice"),
                (text.replace("[9, 0, 0]", "[" + "9" * 30 + ", 0, 0]"), r"heads\[0\]\[0\] is 999"),
                ("[" * 100000, "no symbol.json"), ('{"a": ' * 100000, "limit depth"),
                (text[:-1], "no symbol.json"), ("{}", "there is no nodes")]:
            with self.subTest(said=said):
                self.refused(document, 6, said)

    def test_other_programs_files_are_called_by_their_kind(self):
        (self.folder / "m.onnx").write_bytes(b"\x08\x08\x12\x07pytorch\x1a\x00\x00")
        done = self.run_here("run", "m.onnx", "-i", "x=0")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("this is no network, but an ONNX model", done.stderr)


if __name__ == "__main__":
    unittest.main()
