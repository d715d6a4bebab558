"""Packages and checkpoints with a valid digest and invalid contents: the error names the field."""
import json
import math
import struct
import unittest

from command import Case
from package_file import PackageFile, operand, seal_checkpoint


class Attacks(Case):
    def refused(self, done, code, message, status):
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertIn(f"error[{code}]", done.stderr)
        self.assertIn(message, done.stderr)

    def compiled(self, *words):
        self.good("compile", "small.lnet", *words, "-o", "m.lstmc", "--force")
        return PackageFile((self.folder / "m.lstmc").read_bytes())

    def write(self, package):
        (self.folder / "m.lstmc").write_bytes(package.sealed())

    def trained(self):
        self.good("train", "small.lnet", "--data", "text:text.txt", "--after", "2u",
                  "-o", "ck", "-q")
        return next(path for path in (self.folder / "ck").iterdir()
                    if path.is_dir() and not path.is_symlink())

    def test_seal_is_the_one_that_the_compiler_makes(self):
        package = self.compiled()
        before = bytes(package.bytes)
        self.assertEqual(package.sealed(), before)

    def test_scratch_of_a_recurrence_that_is_too_small(self):
        for entry, kernel in [("forward", "rnn_forward"), ("step", "rnn_forward"),
                              ("step", "rnn_backward")]:
            package = self.compiled("--entry", entry)
            launch = next(package.launches(entry, kernel))
            shape = (*launch, "operands", operand("scratch", kernel), "shape", 0)
            package.set(*shape, package.get(*shape) - 2 * 4 * 16 * 4)
            self.write(package)
            self.refused(self.run_here("run", "m.lstmc", "-i", "data=0"),
                         "E0605", f"for scratch of {kernel}", 6)

    def test_step_without_the_metric_that_evaluate_has(self):
        package = self.compiled()
        package.set("entries", package.entry("step"), "outputs", 0)
        self.write(package)
        done = self.run_here("train", "m.lstmc", "--data", "text:text.txt", "--after", "1u",
                             "-o", "ck")
        self.refused(done, "E0605", "entry evaluate: found 1 metrics, want 0 as in step", 6)

    def test_sampling_package_without_outputs(self):
        checkpoint = self.trained()
        path = checkpoint / "sample.lstmc"
        package = PackageFile(path.read_bytes())
        package.set("entries", package.entry("forward"), "outputs", 0)
        path.write_bytes(package.sealed())
        seal_checkpoint(checkpoint)
        self.refused(self.run_here("sample", checkpoint), "E0610", "entry forward has no output", 6)

    def test_weights_that_are_no_numbers(self):
        checkpoint = self.trained()
        path = checkpoint / "model.safetensors"
        data = bytearray(path.read_bytes())
        length = struct.unpack_from("<Q", data)[0]
        begin, end = json.loads(data[8:8 + length])["decoder_bias"]["data_offsets"]
        count = (end - begin) // 4
        struct.pack_into(f"<{count}f", data, 8 + length + begin, *[math.nan] * count)
        # Weights from other programs have no digest.
        data[8:8 + length] = data[8:8 + length].replace(b"lstmc_digest", b"other_digest")
        path.write_bytes(data)
        seal_checkpoint(checkpoint)
        self.refused(self.run_here("sample", checkpoint, "--length", "5"),
                     "E0701", 'parameter "decoder_bias": found NaN at [0], want finite numbers', 7)

    def test_names_that_move_the_cursor(self):
        package = self.compiled()
        at = next(i for i in range(package.get("locations"))
                  if package.text("locations", i, "name") == "lstm")
        package.set_text("locations", at, "name", b"\x1b[2J")
        self.write(package)
        for words in (["plan"], ["inspect"], ["inspect", "--plan"]):
            done = self.run_here(*words, "m.lstmc")
            self.refused(done, "E0604", f'locations[{at}].name: found "\\u001b[2J"', 6)
            self.assertNotIn("\x1b", done.stdout + done.stderr)

    def test_orthogonal_values_are_made_in_planned_memory(self):
        (self.folder / "orth.lnet").write_text("""\
def orth(data: float32[1, 12000], label: float32[1, 1500]):
    return LinearRegressionOutput(FullyConnected(data, num_hidden=1500, name="fc"), label)

fit(orth, optimizer="sgd", learning_rate=0.1, initializer=Orthogonal())
""")
        plan = self.document("plan", "orth.lnet", "--entry", "forward", schema="lstmc.plan/1")
        arena = sum(device["peak_bytes"] for device in plan["devices"])
        weights = 1500 * 12000 * 4
        # Packed weights have the size of the parameter; the matrix is made orthonormal in place.
        self.assertLess(arena, 2.1 * weights)


if __name__ == "__main__":
    unittest.main()
