"""Networks like those of users: each trains to the same bits when it is divided, written out and
read again, or killed and resumed."""
import json
import pathlib
import unittest

from command import Case

NETWORKS = sorted((pathlib.Path(__file__).parent / "networks").glob("*.lnet"))
WAYS = [[], ["-d", "3xcpu"], ["-d", "2xcpu", "--place", "auto"]]


class Networks(Case):
    def weights(self, path, *words):
        done = self.good("train", path, "--data", "random:5", "--json", "-o", "ck",
                         "--force", *words)
        return json.loads(done.stdout)["end"]["weights_hash"]

    def test_every_way_to_train(self):
        self.assertGreaterEqual(len(NETWORKS), 11)
        for path in NETWORKS:
            with self.subTest(path.name):
                hashes = {" ".join(way): self.weights(path, *way) for way in WAYS}
                self.assertEqual(len(set(hashes.values())), 1, hashes)
                (self.folder / "again.lnet").write_text(
                    self.good("inspect", path, "--emit", "lnet").stdout)
                self.assertEqual(self.weights("again.lnet"), hashes[""])

    def test_a_run_goes_on_as_if_it_had_not_stopped(self):
        for path in NETWORKS:
            with self.subTest(path.name):
                whole = self.weights(path, "--after", "4u")
                self.weights(path, "--after", "2u")
                done = self.good("train", path, "--data", "random:5", "--json", "-o", "ck",
                                 "--resume", "--after", "4u", "-d", "2xcpu")
                self.assertEqual(json.loads(done.stdout)["end"]["weights_hash"], whole)

    def test_inspect_says_how_many_ops_are_merged(self):
        (self.folder / "twice.lnet").write_text("""\
def twice(data: float32[4, 3], label: float32[4, 2]):
    a, b = tanh(data * 2), tanh(data * 2)
    return LinearRegressionOutput(FullyConnected(a * b, num_hidden=2), label)
""")
        kept = ["--disable-pass", "merge-equal-ops"]
        text = lambda *words: self.good("inspect", "twice.lnet", *words).stdout
        merged = lambda file, *words: (
            self.document("inspect", file, *words, schema="lstmc.inspect/1")["merged"])
        # A product and a tanh in each of forward, evaluate and step.
        self.assertIn("\nmerged 6 ops with equal ones before them\n", text())
        self.assertEqual(merged("twice.lnet"), 6)
        self.assertNotIn("merged", text(*kept))
        self.assertIsNone(merged("twice.lnet", *kept))
        # a package has no record of merged ops
        self.good("compile", "twice.lnet", "-o", "twice.lstmc")
        self.assertNotIn("merged", self.good("inspect", "twice.lstmc").stdout)
        self.assertIsNone(merged("twice.lstmc"))

    def test_they_are_formatted(self):
        self.good("fmt", "--check", *NETWORKS)


if __name__ == "__main__":
    unittest.main()
