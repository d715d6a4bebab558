"""Networks in MXNet's symbol.json: every command takes one as MODEL, and hostile ones are refused
with their node."""
import copy
import json
import struct
import unittest
import zipfile

from command import Case
from mxnet_files import SMALL, array, changed, hostile_params, hostile_symbols, params


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

    def test_an_initialiser_that_is_not_known(self):
        """It is kept, and asked for where a first value is needed."""
        text = '["orthogonal2", {}]'
        document = changed(lambda d: d["nodes"][5].update(attrs={"__init__": text}))
        self.write(document)
        data = ("--data", "random:1", "--after", "1u", "-o", "ck")
        for words in (("run", "-i", "data=0"), ("bench", "-r", "1"), ("train", *data)):
            done = self.run_here(words[0], "net-symbol.json", *SHAPE, *words[1:])
            self.assertEqual(done.returncode, 6, done.stderr)
            self.assertRegex(done.stderr, r'net-symbol\.json:\d+:\d+: error\[E0613\]: parameter '
                                          r'"fc_weight" begins with "\[\\"orthogonal2\\", \{\}\]"')
        weights = ("--params", "net-0003.params")
        self.good("run", "net-symbol.json", *SHAPE, *weights, "-i", "data=0")
        self.good("import", "net-symbol.json", *SHAPE, "-o", "x.lnet")
        self.good("plan", "net-symbol.json", *SHAPE)
        self.good("train", "net-symbol.json", *SHAPE, *data, "--init-params", "net-0003.params")
        (self.folder / "part.params").write_bytes(params(
            {name: array("V2", *value) for name, value in WEIGHTS.items() if "weight" not in name}))
        done = self.run_here("train", "net-symbol.json", *SHAPE, *data, "--init-params",
                             "part.params", "-y")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn('parameter "fc_weight" begins with', done.stderr)
        self.good("export", "net-symbol.json", *SHAPE, *weights, "-o", "out", "--to", "mxnet")
        again = json.loads((self.folder / "out-symbol.json").read_text())
        [kept] = [each["attrs"]["__init__"] for each in again["nodes"]
                  if each["name"] == "fc_weight"]
        self.assertEqual(kept, text)

    def test_export(self):
        net, weights = "net-symbol.json", ("--params", "net-0003.params")
        given = ("-i", "data=5x2x2xf32=random:7")
        ran = self.good("run", net, *weights, *given).stdout
        said = self.document("export", net, *SHAPE, *weights, "-o", "out", "--to", "mxnet",
                             schema="lstmc.export/1")
        self.assertEqual((said["network"], said["weights"]),
                         ("out-symbol.json", "out-0000.params"))
        self.assertEqual(self.good("run", "--model-prefix", "out", "--load-epoch", "0",
                                   *given).stdout, ran)
        # The batch is open: another one is taken.
        self.good("run", "--model-prefix", "out", "--load-epoch", "0",
                  "-i", "data=5x3x2xf32=random:7")
        # From the language and back, with the initial values of the seed.
        self.good("import", net, *SHAPE, *weights, "-o", "net.lnet")
        self.good("export", "net.lnet", "--params", "net.weights.safetensors", "-o", "back", "--to",
                  "mxnet")
        self.assertEqual(self.good("run", "--model-prefix", "back", "--load-epoch", "0",
                                   *given).stdout, ran)
        self.good("export", "net.lnet", "--seed", "3", "-o", "three", "--to", "mxnet")
        self.assertEqual(self.good("run", "--model-prefix", "three", "--load-epoch", "0",
                                   *given).stdout,
                         self.good("run", "net.lnet", "--seed", "3", *given).stdout)
        for words, said in [(["-o", "out"], "export needs --to mxnet"),
                            (["--to", "mxnet"], "-o PREFIX")]:
            done = self.run_here("export", net, *SHAPE, *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)
        done = self.run_here("export", net, *SHAPE, "-o", "out", "--to", "mxnet")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("E0608", done.stderr)
        self.good("compile", net, *SHAPE, "-o", "net.lstmc")
        done = self.run_here("export", "net.lstmc", "-o", "p", "--to", "mxnet")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--params net.lstmc", done.stderr)

    def test_training_writes_files_of_epochs(self):
        """As MXNet's Module does: P-symbol.json, and P-0001.params after the first epoch."""
        data = ("--data", "random:4,batches=2", "-o", "ck")
        self.good("import", "net-symbol.json", *SHAPE, "-o", "net.lnet")
        self.good("train", "net.lnet", *data, "--after", "2e", "--model-prefix", "m")
        names = sorted(path.name for path in self.folder.glob("m-*"))
        self.assertEqual(names, ["m-0001.params", "m-0002.params", "m-symbol.json"])
        self.assertEqual(self.good("diff", "ck", "m-0002.params").returncode, 0)
        # It goes on from there, and the numbers of epochs with it.
        self.good("train", "--model-prefix", "m", "--load-epoch", "2", *SHAPE, *data[:2], "--after",
                  "3u", "-o", "more")
        self.assertEqual(sorted(path.name for path in self.folder.glob("m-*.params")),
                         ["m-0001.params", "m-0002.params", "m-0003.params", "m-0004.params"])
        self.assertEqual(self.good("diff", "more", "m-0004.params").returncode, 0)
        # What is there already is kept.
        done = self.run_here("train", "net.lnet", *data[:2], "-o", "third", "--after", "1e",
                             "--model-prefix", "m")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("m-symbol.json", done.stderr)

    def test_layout_of_an_input(self):
        """A file without `__layout__`, in which the batch cannot be found otherwise."""
        document = changed(lambda d: d["nodes"][0].pop("attrs"))
        self.write(document)
        for words, dims in [([], ["", "batch", ""]), (["--layout", "data=TNC"], ["", "batch", ""]),
                            (["--layout", "data=TCN"], ["", "", "batch"])]:
            said = self.document("inspect", "net-symbol.json", *SHAPE, *words,
                                 schema="lstmc.inspect/1")
            [data] = [row for row in said["inputs"] if row["name"] == "data"]
            self.assertEqual(data["dims"], dims, words)
        for layout, said in [("data", "--layout takes NAME=TNC"),
                             ("data=TC", "--layout takes NAME=TNC"),
                             ("data=NTCHW", "has 5 axes, the input has 3"),
                             ("dato=TNC", 'the file has no input "dato"')]:
            done = self.run_here("run", "net-symbol.json", *SHAPE, "--layout", layout, "-i",
                                 "data=0")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)
        done = self.run_here("run", "small.lnet", "--layout", "data=TNC")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--layout has no effect here", done.stderr)

    def test_shapes_are_those_of_the_data(self):
        document = changed(lambda d: d["nodes"][9]["attrs"].pop("normalization"))
        self.write(document)
        arrays = {"data": ((5, 6, 2), [i % 9 / 9 for i in range(60)]),
                  "softmax_label": ((5, 6), [i % 4 for i in range(30)])}
        with zipfile.ZipFile(self.folder / "d.npz", "w") as file:
            for name, (shape, values) in arrays.items():
                head = str({"descr": "<f4", "fortran_order": False, "shape": shape}).encode()
                head = head.ljust(117) + b"\n"
                file.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head))
                              + head + struct.pack(f"<{len(values)}f", *values))
        net = ("net-symbol.json", "--params", "net-0003.params", "--data", "npz:d.npz")
        self.good("eval", *net, "-b", "3")
        self.good("train", *net, "-b", "2", "--after", "1e", "-o", "ck")
        self.good("predict", *net, "-b", "4", "-o", "p.npz")
        done = self.run_here("eval", *net)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("-b 32 gives the batch", done.stderr)

    def test_weights_in_pieces_begin_a_training(self):
        rows, columns = 3, 2
        values = WEIGHTS["arg:lstm_parameters"][1]
        pieces, at = {}, 0
        for kind, width in (("weight", columns), ("weight", 3), ("bias", 1), ("bias", 1)):
            part = "i2h" if (kind, width) in (("weight", columns),) or (
                kind == "bias" and not any("i2h" in n and "bias" in n for n in pieces)) else "h2h"
            for gate in "ifco":
                count = rows * width
                shape = (rows, width) if kind == "weight" else (rows,)
                pieces[f"arg:lstm_l0_{part}_{gate}_{kind}"] = (shape, values[at : at + count])
                at += count
        self.assertEqual(at, len(values))
        pieces.update({name: value for name, value in WEIGHTS.items() if "fc" in name})
        (self.folder / "pieces.params").write_bytes(params(
            {name: array("V2", *value) for name, value in pieces.items()}))
        words = ("train", "net-symbol.json", *SHAPE, "--data", "random:1", "--after", "1u")
        done = self.good(*words, "--init-params", "pieces.params", "-o", "one")
        self.assertIn("3 of 3 parameters", done.stderr)
        self.good(*words, "--params", "net-0003.params", "-o", "two")
        self.assertEqual(self.good("diff", "one", "two").returncode, 0)

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

    def refused(self, document, status, said, *words):
        self.write(document)
        done = self.run_here("run", "net-symbol.json", *(words or SHAPE), "-i", "data=0")
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, said)
        return done

    def test_what_it_cannot_do_is_named(self):
        done = self.refused(changed(lambda d: d["nodes"][7].update(op="ROIPooling")), 3,
                            r'net-symbol\.json:\d+:\d+: error\[E0201\]: ROIPooling "fc" reads '
                            r'"lstm", "fc_weight", "fc_bias", and no op is named "ROIPooling"')
        self.assertIn("help: the nearest are ", done.stderr)
        self.refused(SMALL, 3, r'error\[E0211\]: the shape of input "data" is not known', "-v")
        self.refused(changed(lambda d: d["nodes"][7]["attrs"].update(num_hidden="-3")), 3,
                     r"net-symbol\.json:\d+:\d+: error\[E0319\]: .*-3")
        self.refused(changed(lambda d: d["nodes"][4]["attrs"].update(state_size="5")), 3,
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
        for text, code, said in hostile_symbols():
            with self.subTest(said=said):
                self.refused(text, 6, rf"error\[{code}\]: .*{said}")

    def test_hostile_weights(self):
        for raw, code, said in hostile_params():
            with self.subTest(said=said):
                (self.folder / "bad.params").write_bytes(raw)
                done = self.run_here("run", "net-symbol.json", *SHAPE, "--params", "bad.params",
                                     "-i", "data=0")
                self.assertEqual(done.returncode, 6, done.stderr)
                self.assertRegex(done.stderr, rf"bad\.params.*error\[{code}\]: .*{said}")

    def test_other_programs_files_are_called_by_their_kind(self):
        (self.folder / "m.onnx").write_bytes(b"\x08\x08\x12\x07pytorch\x1a\x00\x00")
        done = self.run_here("run", "m.onnx", "-i", "x=0")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("this is no network, but an ONNX model", done.stderr)


if __name__ == "__main__":
    unittest.main()
