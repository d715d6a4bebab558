"""Damaged files and overflowing numbers, through the command: every message names file, place and
field, and exit codes are 6 or 7."""
import itertools
import json
import struct
import subprocess
import unittest
import zlib

from command import LSTMC, Case

FLAT = """\
def flat(data: float32[2, 3], label: float32[2, 1]):
    y = FullyConnected(data, num_hidden=1, name="fc")
    return LinearRegressionOutput(y, label)

fit(flat, optimizer="sgd", learning_rate=0.1, initializer=One())
"""

TABLE = """\
def table(data: float32[2, 2, 2], label: float32[2, 1]):
    y = FullyConnected(Flatten(data), num_hidden=1, name="fc")
    return LinearRegressionOutput(y, label)

fit(table, optimizer="sgd", learning_rate=0.1)
"""

IMAGES = """\
def images(data: float32[2, 2, 2], label: float32[2]):
    y = FullyConnected(Flatten(data), num_hidden=10, name="fc")
    return SoftmaxOutput(y, label)

fit(images, optimizer="sgd", learning_rate=0.1)
"""


def npy(values, shape, header=None):
    """A float32 npy file, version 1.0, with the header as given."""
    header = header or f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
            + struct.pack(f"<{len(values)}f", *values))


def safetensors(header, data):
    text = header if isinstance(header, str) else json.dumps(header)
    return struct.pack("<Q", len(text)) + text.encode() + data


class Hostile(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "flat.lnet").write_text(FLAT)

    def refused(self, name, contents, *words, message):
        """Checks a file for exit code 6 and a first line `NAME: [byte N:|LINE:COL:] error[E06xx]:
        ...MESSAGE...`."""
        if contents is not None:
            (self.folder / name).write_bytes(contents)
        done = self.run_here(*words)
        where = f"lstmc {' '.join(words)}\n{done.stderr}"
        self.assertEqual(done.returncode, 6, where)
        self.assertRegex(done.stderr.splitlines()[0], rf"{name}:(\d+:\d+:| byte \d+:)? "
                                                      r"error\[E06\d\d\]: ", where)
        self.assertIn(message, done.stderr, where)
        self.assertEqual(done.stdout, "", where)

    def test_inspect_in_a_process_of_its_own(self):
        (self.folder / "part.lnet").write_text("def part(x):\n    return tanh(x)\n")
        (self.folder / "whole.lnet").write_text(
            "from part import part\n\ndef whole(data: float32[2, 3]):\n    return part(data)\n")
        self.good("compile", "flat.lnet", "-o", "m.lstmc")
        self.good("train", "small.lnet", "--data", "text:text.txt", "-o", "ck", "--after", "1u")
        (self.folder / "bad.lstmc").write_bytes((self.folder / "m.lstmc").read_bytes()[:99])
        (self.folder / "x.npy").write_bytes(npy([1, 2], "(2,)"))
        (self.folder / "bad.lnet").write_text("def bad(data: float32[2]):\n    return tanh(dat)\n")
        # Names with terminal control sequences are escaped, by the reader or when its message is
        # printed.
        (self.folder / "esc.safetensors").write_bytes(safetensors(
            {"a\\u001b]0;x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, bytes(4)))
        for words in (["m.lstmc"], ["m.lstmc", "--plan"], ["m.lstmc", "--json"], ["ck"],
                      ["ck", "--params"], ["x.npy"], ["x.npy", "m.lstmc"],
                      ["ck/last/model.safetensors", "--json"], ["whole.lnet"],
                      ["whole.lnet", "--emit", "sym"], ["flat.lnet", "--params"], ["bad.lstmc"],
                      ["bad.lstmc", "--json"], ["bad.lnet"], ["none.npy"], ["esc.safetensors"]):
            plain = self.run_here("inspect", *words)
            apart = self.run_here("inspect", *words, "--untrusted")
            self.assertEqual((apart.returncode, apart.stdout, apart.stderr),
                             (plain.returncode, plain.stdout, plain.stderr), words)
            self.assertNotIn("\x1b", plain.stdout + apart.stdout)
        # Files without read permission are refused, also through links.
        (self.folder / "links").mkdir()
        (self.folder / "links/update-000001").symlink_to("../ck/update-000001")
        self.good("inspect", "links")
        done = self.run_here("inspect", "links", "--untrusted")
        self.assertEqual(done.returncode, 6)
        self.assertIn("cannot read: Permission denied", done.stderr)
        done = self.run_here("inspect", "-", "--untrusted")
        self.assertEqual(done.returncode, 2)

    def test_confining_a_reader_needs_proc(self):
        self.good("compile", "flat.lnet", "-o", "m.lstmc")
        hidden = ["unshare", "--mount", "sh", "-c",
                  'mount --make-rprivate / && umount -l /proc && [ ! -e /proc/self ] && '
                  'echo hidden && exec "$0" "$@"']
        done = subprocess.run([*hidden, LSTMC, "inspect", "--untrusted", "m.lstmc"],
                              cwd=self.folder, capture_output=True, text=True)
        if not done.stdout.startswith("hidden"):
            self.skipTest("mount namespaces cannot be made here")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("/proc is not mounted", done.stderr)

    def test_packages(self):
        self.good("compile", "flat.lnet", "-o", "m.lstmc")
        good = (self.folder / "m.lstmc").read_bytes()
        words = ["run", "m.lstmc", "-i", "data=0"]
        for at in range(0, len(good), len(good) // 40):
            bad = bytearray(good)
            bad[at] ^= 0x81
            self.refused("m.lstmc", bytes(bad), *words, message=": found ")
        for length in range(0, len(good), len(good) // 20):
            self.refused("m.lstmc", good[:length], *words, message=": found ")
        self.refused("m.lstmc", good + bytes(8), *words, message="the size of the file")

    def test_weights(self):
        self.good("compile", "flat.lnet", "-o", "m.lstmc")
        tensor = {"dtype": "F32", "shape": [1, 3], "data_offsets": [0, 12]}
        bias = {"dtype": "F32", "shape": [1], "data_offsets": [12, 16]}
        both = {"fc_weight": tensor, "fc_bias": bias}
        words = ["run", "m.lstmc", "-i", "data=1", "--params", "w.safetensors"]
        (self.folder / "w.safetensors").write_bytes(safetensors(both, bytes(16)))
        self.good(*words)
        for contents, message in [
            (b"", "header length"),
            (struct.pack("<Q", 1 << 63) + b"{}", "header length"),
            (safetensors("{]", b""), "header"),
            (safetensors(both, bytes(15)), "want at most the 15 bytes"),
            (safetensors(both, bytes(17)), "after the last tensor"),
            (safetensors({**both, "fc_bias": {**bias, "data_offsets": [8, 12]}}, bytes(16)),
             "overlaps"),
            (safetensors({**both, "fc_bias": {**bias, "shape": [1 << 62, 4]}}, bytes(16)),
             "want more than 2^63"),
            (safetensors({**both, "fc_bias": {**bias, "dtype": "F31"}}, bytes(16)), "F31"),
            (safetensors({"fc_weight": tensor}, bytes(12)), "fc_bias"),
            (safetensors({**both, "fc_weight": {**tensor, "shape": [3, 1]}}, bytes(16)),
             "want f32[1, 3]"),
        ]:
            self.refused("w.safetensors", contents, *words, message=message)

    def test_arrays(self):
        words = ["run", "flat.lnet", "-i", "data=@x.npy"]
        (self.folder / "x.npy").write_bytes(npy([1] * 6, "(2, 3)"))
        self.good(*words)
        for contents, message in [
            (b"", "magic"),
            (npy([1] * 5, "(2, 3)"), "data: found 20 bytes, want 24"),
            (npy([1] * 6, "(2, -3)"), "shape"),
            (npy([1] * 6, "(4611686018427387904, 4)"), "shape"),
            (npy([1] * 6, "", "{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }"),
             "descr"),
            (npy([1] * 6, "", "{'descr': '<f4', 'fortran_order': open('x'), 'shape': (2, 3), }"),
             "fortran_order"),
        ]:
            self.refused("x.npy", contents, *words, message=message)

    def test_archives(self):
        def entry(name, data, unpacked=None, crc=None):
            crc = zlib.crc32(data) if crc is None else crc
            sizes = struct.pack("<III", crc, len(data), len(data) if unpacked is None else unpacked)
            local = (b"PK\3\4" + struct.pack("<HHHHH", 20, 0, 0, 0, 0) + sizes
                     + struct.pack("<HH", len(name), 0) + name + data)
            central = (b"PK\1\2" + struct.pack("<HHHHHH", 20, 20, 0, 0, 0, 0) + sizes
                       + struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, 0) + name)
            end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
            return local + central + end

        words = ["run", "flat.lnet", "-i", "data=@x.npz"]
        array = npy([1] * 6, "(2, 3)")
        (self.folder / "x.npz").write_bytes(entry(b"data.npy", array))
        self.good(*words)
        for contents, message in [
            (entry(b"data.npy", array)[:-3], "end record"),
            (entry(b"../data.npy", array), "name"),
            (entry(b"data.npy", array, unpacked=1 << 30), "bytes"),
            (entry(b"data.npy", array, crc=1), "crc"),
            (entry(b"data.txt", array), "npy"),
            (entry(b"data.pkl", array), "PyTorch"),
        ]:
            self.refused("x.npz", contents, *words, message=message)

    def test_texts(self):
        words = ["train", "small.lnet", "--data", "text:text.txt", "-o", "ck"]
        for contents, message in [(b"ab\nc\xff\n", "text.txt:2:2"), (b"ab\0", "NUL"),
                                  (b"", "no tokens")]:
            self.refused("text.txt", contents, *words, message=message)
        self.assertFalse((self.folder / "ck").exists())

    def test_tables(self):
        (self.folder / "table.lnet").write_text(TABLE)
        words = ["train", "table.lnet", "--data", "csv:x.csv,inputs=a|b,target=b,window=2",
                 "--after", "1u", "-o", "ck"]
        for contents, message in [
            (b"", "x.csv:1:1: error[E0602]: table: found an empty file"),
            (b"a,c\n1,2\n", 'x.csv:1:1: error[E0610]: column "b": found none, want one of a, c'),
            (b"a,a\n1,2\n", 'x.csv:1:1: error[E0612]: column "a": found twice'),
            (b"a,b\n1,2\n3\n", "x.csv:3:1: error[E0605]: row: found only 1 cells, want 2"),
            (b'a,b\n1,2\n3,"4\n', "x.csv:3:3: error[E0603]: quote: found the end of the file"),
            (b"a,b\n1,2\n3,NA\n", 'x.csv:3:1: error[E0607]: column "b": found a missing cell'),
            (b"a,b\n1,2\n3,x\n", 'x.csv:3:3: error[E0607]: column "b": found "x"'),
            (b"a,b\n1,1e999\n", 'x.csv:2:3: error[E0607]: column "b": found "1e999"'),
            (b"a,b\n1,\xff\n", "x.csv:2:3: error[E0603]: cell: found byte 0xff"),
        ]:
            self.refused("x.csv", contents, *words, message=message)
        self.assertFalse((self.folder / "ck").exists())
        (self.folder / "x.csv").write_bytes(b"a,b\n1,2\n3,4\n5,6\n7,8\n9,1\n")
        self.good(*words)

    def test_images(self):
        (self.folder / "images.lnet").write_text(IMAGES)
        words = ["train", "images.lnet", "--data", "idx:data=x.idx,label=y.idx", "--after", "1u",
                 "-o", "ck"]
        images = struct.pack(">IIII", 0x803, 4, 2, 2) + bytes(16)
        (self.folder / "y.idx").write_bytes(struct.pack(">II", 0x801, 4) + bytes(4))
        for contents, message in [
            (b"", "magic"),
            (b"\1" + images[1:], "magic"),
            (images[:7], "byte 4: error[E0602]: extent: found 3 bytes left, want 4"),
            (struct.pack(">IIII", 0x803, 0xffffffff, 0xffffffff,
                         2), "byte 4: error[E0605]: extents"),
            (images[:-1], "byte 16: error[E0602]: data: found 15 bytes, want 16"),
            (images + b"x", "byte 16: error[E0605]: data: found 17 bytes, want 16"),
            (b"\x1f\x8b\x08\0" + images, "gzip"),
        ]:
            self.refused("x.idx", contents, *words, message=message)
        (self.folder / "x.idx").write_bytes(images)
        (self.folder / "y.idx").write_bytes(struct.pack(">II", 0x801, 3) + bytes(3))
        done = self.run_here(*words)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn('y.idx: error[E0605]: array "label": found 3 samples, want 4 as in "data"',
                      done.stderr)
        self.assertFalse((self.folder / "ck").exists())
        (self.folder / "y.idx").write_bytes(struct.pack(">II", 0x801, 4) + bytes(4))
        self.good(*words)

    def test_checkpoints(self):
        self.good("train", "small.lnet", "--data", "text:text.txt", "--after", "2u", "-o", "ck")
        newest = self.folder / "ck/update-000002"
        for path in sorted(newest.iterdir()):
            good = path.read_bytes()
            for at in range(0, len(good), len(good) // 5 + 1):
                path.write_bytes(good[:at] + bytes([good[at] ^ 4]) + good[at + 1:])
                self.refused(path.name, None, "eval", "ck/update-000002", "--data", "text:text.txt",
                             message="found ")
            path.write_bytes(good)
        self.good("eval", "ck", "--data", "text:text.txt")


class NotFinite(Case):
    def test_the_op_whose_gradient_is_not_finite_first(self):
        """The gradient of sqrt at 0, between ops whose gradients it makes NaN."""
        (self.folder / "root.lnet").write_text(
            "def net(data: float32[4, 3], label: float32[4, 1]):\n    x = FullyConnected(data, "
            "num_hidden=5, name=\"f1\")\n    z = relu(x, name=\"r0\")\n"
            "    s = sqrt(z, name=\"s0\")\n    y = tanh(s * 3, name=\"t0\")\n    return "
            "LinearRegressionOutput(FullyConnected(y, num_hidden=1, name=\"f2\"), label)\n"
            "fit(net, optimizer=\"sgd\", learning_rate=0.1)\n")
        # With --check-nan nothing is fused; without it, the ops are instructions of one program.
        for device, words in itertools.product(("cpu", "emu", "2xcpu"), ([], ["--check-nan"])):
            done = self.run_here("train", "root.lnet", "--data", "random:1", *words,
                                 "-o", f"ck-{device}", "--force", "-d", device)
            self.assertEqual(done.returncode, 7, done.stderr)
            self.assertRegex(done.stderr, r"root\.lnet:4:9: error\[E0701\]: first infinity at "
                                          r"update 1: s0 \(sqrt\), output\[")

    def test_at_update_3(self):
        (self.folder / "flat.lnet").write_text(FLAT)
        rows = [1.0] * 24
        rows[15:18] = [3e38] * 3  # sample 5, in the third batch of two
        (self.folder / "x.npy").write_bytes(npy(rows, "(8, 3)"))
        (self.folder / "y.npy").write_bytes(npy([1.0] * 8, "(8, 1)"))
        learn = ["train", "flat.lnet", "--data", "npy:data=x.npy,label=y.npy,shuffle=no",
                 "--save-every", "1u"]
        done = self.run_here(*learn, "--after", "4u", "-o", "ck")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertRegex(done.stderr, r"flat\.lnet:2:\d+: error\[E0701\]: first infinity at update "
                                      r"3: fc \(FullyConnected\), output\[(0, )?1, 0\]")
        self.assertIn("y = FullyConnected(data", done.stderr)
        # The update was stored, and the message shows how to repeat it from these files alone.
        *message, saved, explain = done.stderr[done.stderr.index("flat.lnet:2:"):].splitlines()
        self.assertEqual(saved, "    = saved to see it again: lstmc run ck/nan-3")
        for name in ("flat.lnet", "x.npy", "y.npy"):
            (self.folder / name).rename(self.folder / f"was-{name}")
        for engine in ("fast", "naive"):
            again = self.run_here("run", "ck/nan-3", "--engine", engine)
            self.assertEqual((again.returncode, again.stdout), (7, ""))
            self.assertEqual(again.stderr.splitlines(), [*message, explain])
        for flag in ("-i=data=0", "--seed=1", "--repeat=2"):
            self.assertEqual(self.run_here("run", "ck/nan-3", flag).returncode, 2, flag)
        for name in ("flat.lnet", "x.npy", "y.npy"):
            (self.folder / f"was-{name}").rename(self.folder / name)
        refused = self.run_here(*learn, "--resume", "-o", "ck/nan-3")
        self.assertEqual(refused.returncode, 6, refused.stderr)
        self.assertIn("ck/nan-3: error[E0610]: found an update that failed", refused.stderr)
        # The file on disk is unchanged.
        self.good(*learn, "--after", "2u", "-o", "two")
        newest = sorted(p.name for p in (self.folder / "ck").glob("update-*"))[-1]
        self.assertEqual(newest, "update-000002")
        for name in ("model", "optimizer"):
            self.assertEqual((self.folder / "ck" / newest / f"{name}.safetensors").read_bytes(),
                             (self.folder / "two" / newest / f"{name}.safetensors").read_bytes())


if __name__ == "__main__":
    unittest.main()
