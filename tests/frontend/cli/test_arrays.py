"""Files of weights: every command reads safetensors, npz and MXNet's .params, whatever they are
called."""
import json
import struct
import unittest

from command import Case
from mxnet_files import VERSIONS, array, params

NET = """\
N = dim("batch", 2)

def net(data: float32[N, 3]):
    return FullyConnected(data, num_hidden=2, name="fc")
"""
WEIGHTS = {"fc_weight": ((2, 3), [1, 2, 3, 4, 5, 6]), "fc_bias": ((2,), [0.5, -0.5])}


def safetensors():
    header, data = {}, b""
    for name, (shape, values) in WEIGHTS.items():
        raw = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": list(shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


class Arrays(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "net.lnet").write_text(NET)
        (self.folder / "w.safetensors").write_bytes(safetensors())
        self.good("compile", "net.lnet", "-o", "net.lstmc")

    def write(self, name, version, prefix="arg:"):
        (self.folder / name).write_bytes(params(
            {prefix + key: array(version, *value) for key, value in WEIGHTS.items()}))

    def test_params_of_every_version(self):
        wanted = self.good("run", "net.lnet", "--params", "w.safetensors", "-i", "data=1").stdout
        self.assertIn("6.5 14.5", wanted)
        for version in VERSIONS:
            for name in ("w.params", "w.safetensors.old", "w.npz"):
                with self.subTest(version=version, name=name):
                    self.write(name, version)
                    for model in ("net.lnet", "net.lstmc"):
                        found = self.good("run", model, "--params", name, "-i", "data=1").stdout
                        self.assertEqual(found, wanted)
                    self.assertEqual(self.run_here("diff", name, "w.safetensors").returncode, 0)
                    said = self.document("inspect", name, schema="lstmc.inspect/1")
                    self.assertEqual(said["kind"], "params")
                    self.assertEqual([row["shape"] for row in said["parameters"]], [[2, 3], [2]])

    def test_weights_go_beside_the_package_and_into_a_training(self):
        self.write("w.params", "V2")
        self.good("compile", "net.lnet", "--params", "w.params", "-o", "beside.lstmc")
        self.assertEqual(self.run_here("diff", "beside.safetensors", "w.params").returncode, 0)
        (self.folder / "train.lnet").write_text(
            NET.replace("data: float32[N, 3]", "data: float32[N, 3], label: float32[N, 2]")
               .replace("return FullyConnected(data, num_hidden=2, name=\"fc\")",
                        "x = FullyConnected(data, num_hidden=2, name=\"fc\")\n"
                        "    return LinearRegressionOutput(x, label)"))
        done = self.good("train", "train.lnet", "--data", "random:1", "--init-params", "w.params",
                         "--after", "1u", "--lr", "0", "-o", "ck")
        self.assertNotIn("initialised:", done.stderr)
        self.good("diff", "ck", "w.params")  # at a rate of 0

    def test_what_is_wrong_is_named(self):
        self.write("w.params", "V2")
        good = (self.folder / "w.params").read_bytes()
        for bad, said in [
                (good[:-1], r"w\.params: byte \d+: error\[E0602\]: name 1: found 10 bytes left"),
                (good + b"x", r"w\.params: byte \d+: error\[E0605\]: end: found 1 bytes"),
                (good.replace(struct.pack("<I", VERSIONS["V2"]) + bytes(4),
                              struct.pack("<Ii", VERSIONS["V2"], 1), 1),
                 r"w\.params: byte 28: error\[E0613\]: array 0 storage type: found 1 \(row_s"),
                (good.replace(b"arg:fc_bias", b"arg:fc_bike"),
                 r'w\.params: error\[E0610\]: parameter "fc_bias": found no tensor of that name')]:
            (self.folder / "w.params").write_bytes(bad)
            with self.subTest(said=said):
                done = self.run_here("run", "net.lstmc", "--params", "w.params", "-i", "data=1")
                self.assertEqual(done.returncode, 6)
                self.assertRegex(done.stderr, said)


if __name__ == "__main__":
    unittest.main()
