"""Networks that MXNet 1.9.1 made: `lstmc run NAME-symbol.json --params NAME-0000.params` gives the
outputs that MXNet gave for the same inputs, and an import and an export give the same bits. Needs
the files of ../shared/data/elsewhere/mxnet (or LSTMC_DATA), which say the inputs and outputs too;
ends with 77 where they are absent."""
import array
import ast
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

LSTMC = os.environ["LSTMC"]
SOURCE = pathlib.Path(os.environ["LSTMC_SOURCE"])
DATA = pathlib.Path(os.environ.get("LSTMC_DATA", SOURCE / ".." / "shared" / "data"))
NETS = DATA / "elsewhere" / "mxnet"

# Networks whose outputs depend on their label; that of others is read in training alone.
READ_LABELS = {"ctc_ocr_train", "word_lm"}
# Inputs that were zero, and so are not in the file.
ZERO = {"gluon_lstm": ["data1", "data2"]}
# A layer norm divides by the root of a small variance. The sums of lenet have 500 and 800 terms:
# of outputs up to 0.68, ours are 1.2e-6 from those in float64 and MXNet's 0.7e-6.
TOLERANCES = {"gluon_attention": 5e-6, "sockeye_transformer": 5e-6, "lenet": 3e-6}


def values(raw):
    """(shape, numbers) of an npy of float32."""
    end = 10 + int.from_bytes(raw[8:10], "little")
    header = ast.literal_eval(raw[10:end].decode())
    assert header["descr"] == "<f4" and not header["fortran_order"], header
    numbers = array.array("f")
    numbers.frombytes(raw[end:])
    return header["shape"], numbers


def entries(path):
    """{name: bytes of the npy}, in the order of the archive."""
    with zipfile.ZipFile(path) as file:
        return {name.removesuffix(".npy"): file.read(name) for name in file.namelist()}


class Nets(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def lstmc(self, *words):
        return subprocess.run([LSTMC, *map(str, words)], cwd=self.folder, capture_output=True,
                              text=True, timeout=120)

    def inputs(self, name):
        """(words for inputs, words for the shapes of labels)"""
        given, shapes = [], []
        for key, raw in entries(NETS / f"{name}-io.npz").items():
            if not key.startswith("in:"):
                continue
            key = key[3:]
            if key.endswith("label") and name not in READ_LABELS:
                shapes += ["--shape", f"{key}:{'x'.join(map(str, values(raw)[0]))}"]
                continue
            (self.folder / f"{key}.npy").write_bytes(raw)
            given += ["-i", f"{key}=@{key}.npy"]
        for key in ZERO.get(name, ()):
            given += ["-i", f"{key}=0"]
        return given, shapes

    def compare(self, name, path):
        wanted = [values(raw) for key, raw in entries(NETS / f"{name}-io.npz").items()
                  if key.startswith("out:")]
        found = [values(raw) for raw in entries(path).values()]
        self.assertEqual([shape for shape, _ in found], [shape for shape, _ in wanted])
        for (_, ours), (_, theirs) in zip(found, wanted):
            largest = max(map(abs, theirs))
            apart = max(abs(a - b) for a, b in zip(ours, theirs))
            self.assertLessEqual(apart, TOLERANCES.get(name, 1e-6) * largest)

    def test_outputs(self):
        for name in sorted(path.name.removesuffix("-symbol.json")
                           for path in NETS.glob("*-symbol.json")):
            with self.subTest(name):
                given, shapes = self.inputs(name)
                done = self.lstmc("run", NETS / f"{name}-symbol.json", "--params",
                                  NETS / f"{name}-0000.params", *given, *shapes,
                                  "-o", f"{name}.npz")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.compare(name, self.folder / f"{name}.npz")

    def test_the_same_after_an_export(self):
        for name in sorted(path.name.removesuffix("-symbol.json")
                           for path in NETS.glob("*-symbol.json")):
            if name in ZERO:  # nobody says the shapes of those to export
                continue
            with self.subTest(name):
                given, shapes = self.inputs(name)
                for key, raw in entries(NETS / f"{name}-io.npz").items():
                    if key.startswith("in:") and f"{key[3:]}=@{key[3:]}.npy" in given:
                        shapes += ["--shape", f"{key[3:]}:{'x'.join(map(str, values(raw)[0]))}"]
                done = self.lstmc("run", NETS / f"{name}-symbol.json", "--params",
                                  NETS / f"{name}-0000.params", *given, *shapes, "-o", "a.npz",
                                  "-y")
                self.assertEqual(done.returncode, 0, done.stderr)
                done = self.lstmc("export", NETS / f"{name}-symbol.json", *shapes, "--params",
                                  NETS / f"{name}-0000.params", "-o", name, "--to", "mxnet")
                self.assertEqual(done.returncode, 0, done.stderr)
                done = self.lstmc("run", "--model-prefix", name, "--load-epoch", "0", *given,
                                  *shapes, "-o", "b.npz", "-y")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(list(entries(self.folder / "a.npz").values()),
                                 list(entries(self.folder / "b.npz").values()))

    def test_the_same_by_prefix_and_after_an_import(self):
        for name in ("lstm_bucketing", "gluon_word_lm", "old_lstm_080"):
            with self.subTest(name):
                given, shapes = self.inputs(name)
                prefix = ["--model-prefix", NETS / name, "--load-epoch", "0"]
                done = self.lstmc("run", *prefix, *given, *shapes, "-o", f"{name}-1.npz")
                self.assertEqual(done.returncode, 0, done.stderr)
                for key, raw in entries(NETS / f"{name}-io.npz").items():
                    if key.startswith("in:") and not key.endswith("label"):
                        shapes += ["--shape", f"{key[3:]}:{'x'.join(map(str, values(raw)[0]))}"]
                done = self.lstmc("import", *prefix, *shapes, "-o", f"{name}.lnet")
                self.assertEqual(done.returncode, 0, done.stderr)
                done = self.lstmc("run", f"{name}.lnet", "--params", f"{name}.weights.safetensors",
                                  *given, "-o", f"{name}-2.npz")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(list(entries(self.folder / f"{name}-1.npz").values()),
                                 list(entries(self.folder / f"{name}-2.npz").values()))


if __name__ == "__main__":
    if not NETS.is_dir():
        print(f"no shared data: {NETS}")
        sys.exit(77)
    unittest.main()
