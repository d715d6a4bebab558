"""Scripts in the style of MXNet's how-tos (howtos/), run with `import mxnet as mx` replaced."""

import contextlib
import io
import os
import pathlib
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).parent / "howtos"
IMPORT = "import mxnet as mx\n"


class HowTos(unittest.TestCase):
    def run_script(self, name):
        """The script's globals and its output."""
        text = (FOLDER / name).read_text()
        self.assertEqual(text.count("mxnet"), 1)
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        names = {"__name__": "__main__", "PREFIX": os.path.join(scratch.name, "model")}
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(text.replace(IMPORT, "import lstmc as mx\n"), str(FOLDER / name), "exec"),
                 names)
        return names, printed.getvalue()

    def test_bucketing(self):
        found, _ = self.run_script("bucketing.py")
        # Without the rule seven words are equally likely; the rule determines each word.
        self.assertLess(found["perplexity"]["perplexity"], 1.5)
        self.assertEqual(sorted(found["vocab"].values()), list(range(8)))
        self.assertEqual(found["train_iter"].default_bucket_key, 12)
        trained = found["model"].get_params()[0]
        for name, value in found["arg_params"].items():
            self.assertTrue((value.asnumpy() == trained[name].asnumpy()).all(), name)

    def test_character_lstm(self):
        found, _ = self.run_script("char_lstm.py")
        self.assertIn(found["sampled"][:45], found["TEXT"])

    def test_model_parallel_lstm(self):
        found, _ = self.run_script("model_parallel_lstm.py")
        self.assertEqual(found["groups"]["l2_h2h_weight"], "layer2")
        self.assertEqual(found["groups"]["embed_weight"], "embed")
        self.assertGreater(found["losses"][0], 2.0)  # log 9 without any knowledge
        self.assertLess(found["losses"][-1], 0.7)

    def test_module(self):
        found, printed = self.run_script("module.py")
        self.assertGreater(found["by_hand"][-1], 0.75)
        self.assertGreater(found["by_hand"][-1], found["by_hand"][0])
        self.assertGreater(dict(found["score"])["accuracy"], 0.9)
        self.assertGreater(dict(found["later"])["accuracy"], 0.9)
        self.assertGreater(dict(found["earlier"])["accuracy"], 0.5)
        self.assertEqual(found["predicted"].shape, (80, 2))
        # 4 * 20 * (4 + 20 + 2), 20 * 12 + 12 and 12 * 2 + 2.
        self.assertIn(f"Total params: {2080 + 252 + 26}\n", printed)
        self.assertIn("fc2(FullyConnected)", printed)
        self.assertIn("digraph", found["picture"].source)

    def test_metric_and_iterator(self):
        found, _ = self.run_script("metric_and_iterator.py")
        self.assertLess(found["scores"]["sum-error"], 0.2)
        self.assertGreater(found["scores"]["within"], 0.6)
        self.assertEqual(found["seen"], [0, 1, 2, 3, 4])


if __name__ == "__main__":
    unittest.main()
