"""diff: names, sizes and places of differences; and equal files."""
import json
import pathlib
import struct
import unittest

from command import Case


def safetensors(path, tensors):
    """Writes name -> (shape, floats)."""
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        raw = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape,
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


class Diff(Case):
    LEARN = ["train", "small.lnet", "--data", "text:text.txt,valid=0.2"]

    def write(self, name, **tensors):
        safetensors(self.folder / name, tensors)

    def differing(self, *words):
        return self.document("diff", *words, schema="lstmc.diff/1", status=1)

    def test_numbers(self):
        self.write("a.safetensors", x=([2, 3], [1, 2, 3, 4, 5, 6]), y=([2], [1, 1]))
        up = struct.unpack("<f",
                           struct.pack("<I", struct.unpack("<I", struct.pack("<f", 4.0))[0] + 3))[0]
        self.write("b.safetensors", x=([2, 3], [1, 2, 3, up, 5, 6.5]), y=([2], [1, 1]))
        same = self.document("diff", "a.safetensors", "a.safetensors", schema="lstmc.diff/1")
        self.assertTrue(same["equal"])
        found = self.differing("a.safetensors", "b.safetensors")
        self.assertEqual((found["compared"], found["differ"]), (2, 1))
        self.assertEqual(
            (found["first"]["name"], found["first"]["elements"], found["first"]["index"]),
            ("x", 2, [1, 2]))
        self.assertEqual(found["first"]["absolute"], 0.5)
        text = self.run_here("diff", "a.safetensors", "b.safetensors").stdout
        self.assertIn(
            "1 of 2 differ\nfirst     x[1, 0]: 4 and 4.00000143, 3 ulp, 1.43e-06; 2 of 6 elements\n"
            "largest   x[1, 2]: 6 and 6.5, 1.049e+06 ulp, 0.5; 2 of 6 elements\n", text)
        self.write("c.safetensors", x=([2, 3], [1, 2, 3, up, 5, 6]), y=([2], [1, 1]))
        self.good("diff", "a.safetensors", "c.safetensors", "--ulp", "3")
        self.differing("a.safetensors", "c.safetensors", "--ulp", "2.9")
        self.good("diff", "a.safetensors", "b.safetensors", "--atol", "0.5")
        self.good("diff", "a.safetensors", "b.safetensors", "--rtol", "0.08")
        self.differing("a.safetensors", "b.safetensors", "--rtol", "0.07")

    def test_bits_count_without_a_tolerance(self):
        self.write("a.safetensors", x=([1], [0.0]))
        self.write("b.safetensors", x=([1], [-0.0]))
        self.write("n.safetensors", x=([1], [float("nan")]))
        self.assertEqual(self.differing("a.safetensors", "b.safetensors")["largest"][0]["ulp"], 0)
        self.good("diff", "a.safetensors", "b.safetensors", "--ulp", "0")
        self.good("diff", "n.safetensors", "n.safetensors")
        for tolerance in [[], ["--atol", "1e30"], ["--ulp", "1e9"]]:
            self.differing("a.safetensors", "n.safetensors", *tolerance)

    def test_names_shapes(self):
        self.write("a.safetensors", x=([2], [1, 2]), old=([1], [0]))
        self.write("b.safetensors", x=([1, 2], [1, 2]), new=([1], [0]))
        found = self.differing("a.safetensors", "b.safetensors")
        self.assertEqual((found["only_in_a"], found["only_in_b"]), (["old"], ["new"]))
        self.assertEqual(found["first"]["what"], "f32[2] and f32[1, 2]")
        self.assertIsNone(found["first"]["absolute"])
        self.write("c.safetensors", x=([2], [1, 2]))
        self.assertEqual(self.run_here("diff", "a.safetensors", "c.safetensors").stdout,
                         "only in a.safetensors: old\n0 of 1 differ\n")

    def test_checkpoints_name_the_line(self):
        for folder, more in [("one", []), ("two", ["-d", "2xcpu"]), ("other", ["--seed", "1"])]:
            self.good(*self.LEARN, "-o", folder, *more)
        self.assertIn("equal: ", self.good("diff", "one", "two").stdout)
        found = self.differing("one", "other")
        self.assertEqual((found["first"]["file"], found["first"]["name"]),
                         ("small.lnet", "embed_weight"))
        self.assertEqual(found["first"]["line"], 5)
        self.assertGreater(found["largest"][0]["absolute"], 0)
        self.assertEqual(sorted(d["absolute"] for d in found["largest"]),
                         [d["absolute"] for d in found["largest"]][::-1])

    def test_packages(self):
        self.good("compile", "small.lnet", "-o", "a.lstmc")
        self.good("compile", "small.lnet", "-o", "b.lstmc")
        self.good("diff", "a.lstmc", "b.lstmc")
        self.good("compile", "small.lnet", "-o", "c.lstmc", "--set", "hidden=7")
        found = self.differing("a.lstmc", "c.lstmc")
        self.assertEqual(found["first"]["name"], "graph")
        text = self.run_here("diff", "a.lstmc", "c.lstmc").stdout
        self.assertRegex(text, r"first     graph: ")

    def test_what_is_refused(self):
        for words, status, message in [
                (["a"], 2, "diff takes two files, got 1"),
                (["a.txt", "b.txt"], 6, "want a checkpoint folder, .lstmc, .safetensors"),
                (["none.npz", "none.npz"], 6, "error[E0601]"), ([".", "."], 6, "error[E0601]")]:
            done = self.run_here("diff", *words)
            self.assertEqual(done.returncode, status, words)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
