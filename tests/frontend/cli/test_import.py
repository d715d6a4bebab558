"""import: a state_dict of torch.nn becomes a network that satisfies the equations of its
modules."""
import json
import math
import pathlib
import random
import struct
import sys
import unittest
import zipfile

from command import Case

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import bounded


def state_dict(path, shapes, seed=1, dtype="F32"):
    """Writes a safetensors file of tensors of these shapes with random values, and returns the
    values by name."""
    draw, header, data, values = random.Random(seed), {}, b"", {}
    for name, shape in shapes.items():
        count = math.prod(shape)
        # Single precision, so that both sides compute with the same values.
        values[name] = struct.unpack(
            f"<{count}f",
            struct.pack(f"<{count}f", *[draw.uniform(-0.5, 0.5) for _ in range(count)]))
        header[name] = {"dtype": dtype, "shape": list(shape),
                        "data_offsets": [len(data), len(data) + 4 * count]}
        data += struct.pack(f"<{count}f", *values[name])
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return values


def layer(gates, inputs, units, layers=1, directions=1, bias=True, prefix=""):
    """The shapes of a recurrent module's tensors, as torch.nn.LSTM names them."""
    shapes = {}
    for l in range(layers):
        for suffix in ["", "_reverse"][:directions]:
            reads = inputs if l == 0 else directions * units
            shapes[f"{prefix}weight_ih_l{l}{suffix}"] = (gates * units, reads)
            shapes[f"{prefix}weight_hh_l{l}{suffix}"] = (gates * units, units)
            if bias:
                shapes[f"{prefix}bias_ih_l{l}{suffix}"] = (gates * units,)
                shapes[f"{prefix}bias_hh_l{l}{suffix}"] = (gates * units,)
    return shapes


def weights(values, shapes):
    """The tensors in the form of `bounded`."""
    rows = lambda name, shape: [values[name][r * shape[1]:(r + 1) * shape[1]]
                                for r in range(shape[0])]
    return {name: bounded.Matrix(rows(name, shape)) if len(shape) == 2 else values[name]
            for name, shape in shapes.items()}


KINDS = {"torch-lstm": ("lstm", 4), "torch-gru": ("gru", 3), "torch-rnn": ("rnn_tanh", 1),
         "torch-rnn-relu": ("rnn_relu", 1)}


class Import(Case):
    def outputs(self, values, shape):
        """The outputs of the imported package for these inputs, as a flat list."""
        kind = "<i4" if isinstance(values[0], int) else "<f4"
        header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}}}".encode()
        header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
        (self.folder / "x.npy").write_bytes(
            b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
            + struct.pack(f"<{len(values)}{'i' if kind == '<i4' else 'f'}", *values))
        self.good("run", "t.lstmc", "--params", "t.weights.safetensors", "-i", "data=@x.npy",
                  "-o", "y.npz", "--force")
        with zipfile.ZipFile(self.folder / "y.npz") as archive:
            raw = archive.read(archive.namelist()[0])
        begin = 10 + struct.unpack("<H", raw[8:10])[0]
        return struct.unpack(f"<{(len(raw) - begin) // 4}f", raw[begin:])

    def brought(self, kind, *words):
        # One sequence of five steps.
        self.good("import", "torch.safetensors", "--as", kind, "-o", "t.lnet", "--force", *words)
        return self.good("compile", "t.lnet", "--set", "seq=5", "-o", "t.lstmc", "--force")

    def near(self, got, want):
        """Checks every step against the equations in double precision, within the bound derived by
        bounded.py."""
        size = len(want[0].values)
        self.assertEqual(len(got), size * len(want))
        for t, step in enumerate(want):
            bounded.check(self, got[t * size:(t + 1) * size], step)

    def test_recurrent_layers_of_every_kind(self):
        draw = random.Random(3)
        for kind, (equations, gates) in KINDS.items():
            for layers, directions, bias in [(1, 1, True), (2, 1, True), (2, 2, True),
                                             (1, 1, False)]:
                shapes = layer(gates, 3, 4, layers, directions, bias)
                w = weights(state_dict(self.folder / "torch.safetensors", shapes), shapes)
                self.brought(kind)
                x = [struct.unpack("<f", struct.pack("<f", draw.uniform(-1, 1)))[0]
                     for _ in range(15)]
                xs = [bounded.Vector(x[t * 3:t * 3 + 3]) for t in range(5)]
                with self.subTest(kind=kind, layers=layers, directions=directions, bias=bias):
                    self.near(self.outputs(x, "(1, 5, 3)"),
                              bounded.recurrent(equations, w, xs, 4, layers, directions))

    def test_a_language_model(self):
        shapes = {"embed.weight": (7, 3), **layer(4, 3, 4, 2, prefix="core.lstm."),
                  "norm.weight": (4,), "norm.bias": (4,),
                  "out.weight": (7, 4), "out.bias": (7,)}
        values = state_dict(self.folder / "torch.safetensors", shapes)
        w = weights(values, shapes)
        self.brought("torch-lstm")
        self.assertEqual((self.folder / "t.lnet").read_text(), """\
# torch.safetensors, brought in by: lstmc import --as torch-lstm
# assumed: the input is [N, T, ..] (batch_first=True); else --layout TNC
# assumed: every step is returned; after the last one, SequenceLast or slice_axis
# assumed: nothing without weights stands between modules (activations, residual sums)
# assumed: embed is an Embedding, no Linear without a bias
# assumed: eps of LayerNorm is 1e-5
N, T = dim("batch", 1), dim("seq", 32)

def net(data: int32[N, T]):
    x = Embedding(data, input_dim=7, output_dim=3, name="embed")
    x, h, c = LSTM(x, num_hidden=4, num_layers=2, layout="NTC", name="core_lstm")
    x = LayerNorm(x, axis=-1, eps=1e-5, name="norm")
    x = FullyConnected(x, num_hidden=7, flatten=False, name="out")
    return x
""")
        ids = [3, 0, 6, 1, 3]
        inner = {name.removeprefix("core.lstm."): value for name, value in w.items()}
        xs = [bounded.Vector(values["embed.weight"][i * 3:i * 3 + 3]) for i in ids]
        want = [bounded.product(w["out.weight"],
                                bounded.layer_norm(y, w["norm.weight"], w["norm.bias"], 1e-5),
                                w["out.bias"])
                for y in bounded.recurrent("lstm", inner, xs, 4, 2, 1)]
        self.near(self.outputs(ids, "(1, 5)"), want)

    def test_what_a_file_does_not_say(self):
        """Assumptions and warnings are printed, in the text, and in the document."""
        shapes = {**layer(4, 3, 4, prefix="rnn."), "head.0.weight": (4, 4), "head.0.bias": (4,),
                  "head.3.weight": (5, 4), "head.3.bias": (5,),
                  "out.weight": (6, 5), "out.bias": (6,)}
        state_dict(self.folder / "torch.safetensors", shapes)
        gap, linear = ("head.1 to head.2 has no weights in the file",
                       "out follows head.3, a Linear after a Linear")
        for layout, assumed in (
                ("NTC", "the input is [N, T, ..] (batch_first=True); else --layout TNC"),
                ("TNC", "the input is [T, N, ..] (batch_first=False)")):
            words = ("import", "torch.safetensors", "--as", "torch-lstm", "--layout", layout,
                     "-o", "t.lnet", "--force")
            said = self.run_here(*words).stderr
            document = json.loads(self.good(*words, "--json").stdout)
            text = (self.folder / "t.lnet").read_text()
            self.assertIn(f"assumed: {assumed}", said)
            self.assertIn(f"# assumed: {assumed}", text)
            self.assertIn(assumed, document["assumptions"])
            self.assertEqual(len(document["warnings"]), 2)
            for warning in (gap, linear):
                self.assertIn(f"warning: {warning}", said)
                self.assertIn(f"    # {warning}", text)
            lines = text.splitlines()
            self.assertIn('name="head_3"',
                          lines[next(at for at, line in enumerate(lines) if gap in line) + 1])
        self.good("compile", "t.lnet", "-o", "t.lstmc")

    def test_files_of_other_programs_are_called_by_their_kind(self):
        begins = {"HDF5": b"\x89HDF\r\n\x1a\n",
                  "a PyTorch file": b"PK\x03\x04" + bytes(26) + b"net/data.pkl",
                  "PyTorch": b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j",
                  "ONNX": b"\x08\x08\x12\x07pytorch\x1a",
                  "MXNet's .params": struct.pack("<4Q", 0x112, 0, 1, 1),
                  ".keras": b"PK\x03\x04" + bytes(26) + b"metadata.json",
                  "zip": b"PK\x03\x04" + bytes(26) + b"a.txt",
                  "npz": b"PK\x03\x04" + bytes(26) + b"w.npy", "npy": b"\x93NUMPY\x01\x00"}
        state_dict(self.folder / "torch.safetensors", layer(4, 3, 4))
        self.good("import", "torch.safetensors", "--as", "torch-lstm", "-o", "t.lstmc")
        read = ("npz", "MXNet's .params")  # by --params, whatever the suffix
        for kind, begin in begins.items():
            (self.folder / "w.bin").write_bytes(begin + bytes(64))
            (self.folder / "w.npz").write_bytes(begin + bytes(64))
            for words in (("import", "w.bin", "--as", "torch-lstm", "-o", "u.lnet"),
                          *([("run", "t.lstmc", "--params", "w.bin")] if kind not in read else []),
                          *([("run", "t.lstmc", "--params", "w.npz")]
                            if kind not in (*read, "zip") else [])):
                with self.subTest(kind=kind, words=words):
                    done = self.run_here(*words)
                    self.assertRegex(done.stderr, f"E0603.*this is .*{kind}")
        # A header of 274 bytes starts like MXNet's arrays.
        text = json.dumps({"w": {"dtype": "F32", "shape": [1],
                                 "data_offsets": [0, 4]}}).ljust(0x112).encode()
        (self.folder / "w.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(4))
        self.good("inspect", "w.safetensors")

    def test_a_package_at_once_and_json(self):
        state_dict(self.folder / "torch.safetensors", layer(3, 2, 4))
        self.good("import", "torch.safetensors", "--as", "torch-gru", "-o", "p.lstmc")
        self.assertEqual(sorted(path.name for path in self.folder.glob("p.*")),
                         ["p.lnet", "p.lstmc", "p.weights.safetensors"])
        self.good("run", "p.lstmc", "--params", "p.weights.safetensors", "-i", "data=0")
        said = self.document("import", "torch.safetensors", "--as", "torch-gru", "-o", "q.lnet",
                             "--layout", "TNC", schema="lstmc.import/1")
        self.assertEqual(said["modules"], ["-            GRU, 1 layer, 2 -> 4"])
        self.assertNotIn("package", said)
        self.assertIn("def net(data: float32[T, N, 2]):", (self.folder / "q.lnet").read_text())
        # The document is that of import, not of the compilation at its end.
        said = self.document("import", "torch.safetensors", "--as", "torch-gru", "-o", "r.lstmc",
                             schema="lstmc.import/1")
        self.assertEqual((said["network"], said["package"]), ("r.lnet", "r.lstmc"))

    def test_words_of_a_choice(self):
        for words, said in [
                (["--as", "torch-gur"], 'did you mean "torch-gru"?'),
                (["--as", "torch-gru", "--layout", "TCN"],
                 '--layout takes one of NTC, TNC, got "TCN"')]:
            done = self.run_here("import", "torch.safetensors", *words, "-o", "s.lnet")
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)

    def refused(self, status, message, *words, kind="torch-lstm"):
        done = self.run_here("import", "torch.safetensors", "--as", kind, "-o", "t.lnet", *words)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(message, done.stderr)
        self.assertFalse((self.folder / "t.lnet").exists())

    def test_what_is_refused(self):
        save = lambda shapes, **more: state_dict(self.folder / "torch.safetensors", shapes, **more)
        save({**layer(4, 3, 4), "weight_hr_l0": (2, 4)})
        self.refused(
            6, 'tensor "weight_hr_l0": is a projection (proj_size), which lstmc does not have')
        save(layer(3, 3, 4))
        self.refused(
            6, 'tensor "weight_hh_l0": found [12, 4], which is an nn.GRU\'s: --as torch-gru')
        save({**layer(4, 3, 4, prefix="rnn."), "bn.running_mean": (4,)})
        self.refused(6, 'tensor "bn.running_mean": belongs to no Embedding, Linear, LayerNorm, '
                        'LSTM, GRU or RNN')
        save({"conv.weight": (4, 3, 3)})
        self.refused(6, 'tensor "conv.weight": has the shape of no Embedding, Linear or '
                        'LayerNorm: [4, 3, 3]')
        save({"fc.weight": (4, 3), "fc.bias": (4,)})
        self.refused(6, "holds no weights of an nn.LSTM: no tensor is called weight_ih_l0")
        save({**layer(4, 3, 4, 2), "weight_ih_l1": (16, 5)})
        self.refused(6, 'tensor "weight_ih_l1": found shape [16, 5], want [16, 4]')
        save(layer(4, 3, 4), dtype="I32")
        self.refused(6, "found int32, want float32")
        # A norm of size four fits in two places.
        save({**layer(4, 4, 4, prefix="rnn."), "norm.weight": (4,), "norm.bias": (4,)})
        self.refused(6, "its modules fit one another in several orders; --modules ")
        self.refused(6, 'has no module "nrm"; it has norm, rnn', "--modules", "nrm,rnn")
        self.refused(6, 'module "norm" stands in --modules 0 times, want once', "--modules", "rnn")
        self.good("import", "torch.safetensors", "--as", "torch-lstm", "--modules", "rnn,norm",
                  "-o", "u.lnet")
        done = self.run_here("import", "torch.safetensors", "-o", "t.lnet")
        self.assertEqual(done.returncode, 2)
        self.assertIn("torch-lstm, torch-gru, torch-rnn, torch-rnn-relu, keras-lstm, keras-gru, "
                      "keras-rnn or tf-lstm", done.stderr)


if __name__ == "__main__":
    unittest.main()
