"""The examples of README.md, docs/python.md and docs/from-pytorch.md run in order, unchanged."""
import os
import pathlib
import re
import sys
import tempfile
import types
import unittest
from unittest import mock

import numpy as np

import lstmc

SOURCE = pathlib.Path(os.environ["LSTMC_SOURCE"])
DOCS = SOURCE / "docs"


def blocks(name):
    return re.findall(r"^```python\n(.*?)^```$", (DOCS / name).read_text(), re.M | re.S)


class Documents(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(scratch.name)

    def run_all(self, examples, names):
        for example in examples:
            exec(compile(example, "example", "exec"), names)

    def test_python(self):
        draw = np.random.default_rng(1)
        y = draw.integers(0, 65, (80, 64), dtype=np.int32)
        names = {"ids": y[:32], "print": lambda *_: None}
        drawn, compiled, runtime, trained, eager, block, script, loop = blocks("python.md")
        self.run_all([drawn], names)
        shapes = {"data": (32, 64), "label": (32, 64)}
        lstmc.Network(names["net"]).compile(shapes,
                                            devices="cpu").session().save_params("lm.safetensors")
        self.run_all([compiled], names)
        command = pathlib.Path(os.environ["LSTMC"]).resolve()
        os.environ["LSTMC_RUNTIME_LIBRARY"] = str(command.parents[2] / "executor/c/liblstmc.so")
        sys.path.append(str(SOURCE / "executor/python"))
        self.run_all([runtime], again := {"ids": names["ids"]})
        self.assertEqual([a.tobytes() for a in again["outputs"].values()],
                         [a.tobytes() for a in names["outputs"].values()])
        names |= {"x": np.roll(y, 1, axis=1), "y": y}  # the page assumes these arrays
        self.run_all([trained], names)
        self.assertEqual(next(iter(names["outputs"].values())).shape, (64, 32, 65))
        self.assertTrue(pathlib.Path("ck").is_dir())
        nd = lstmc.nd
        self.run_all([script], names)
        self.assertEqual(names["symbol"].list_outputs(), ["softmax_output"])
        self.run_all([loop], names)
        self.assertEqual(names["metric"].num_inst, 96 * 64)  # the last batch is padded
        batches = {"batches": [(nd.ones((3, 4)), nd.array([0, 9, 1]))]}
        self.run_all([eager], names | batches)
        self.run_all([block], trained := dict(batches))
        self.assertEqual(trained["lost"].shape, (3,))

    def test_readme(self):
        """The README's forecast, with a stub of matplotlib that records the plot: the wave and the
        prediction one step ahead."""
        [example] = re.findall(r"^```python title=\"wave.py\"\n(.*?)^```$",
                               (SOURCE / "README.md").read_text(), re.M | re.S)
        plots = mock.Mock()
        modules = {"matplotlib": types.SimpleNamespace(pyplot=plots), "matplotlib.pyplot": plots}
        with mock.patch.dict(sys.modules, modules):
            self.run_all([example], {})
        [[drawn]] = [call.args for call in plots.figure().gca().plot.call_args_list]
        wave, ahead = drawn.T
        self.assertEqual(drawn.shape, (216, 2))
        self.assertLess(np.abs(wave - ahead).max(), 0.1)
        # repeating the last value would be further off
        self.assertGreater(np.abs(wave - np.roll(wave, 1)).max(), 0.1)
        plots.savefig.assert_called_once_with("wave.svg")

    def test_from_pytorch(self):
        try:
            import torch
            import safetensors.torch
        except ImportError:
            self.skipTest("no PyTorch")
        saved, converted, trained = blocks("from-pytorch.md")
        ids = np.arange(3200).reshape(32, 100) % 65
        names = {"torch": torch, "safetensors": safetensors, "lstmc": lstmc, "ids": ids,
                 "next_ids": np.roll(ids, -1, 1)}
        exec(saved.split("\n\nsafetensors")[0], names)
        names["model"] = names["CharLM"]()
        self.run_all([saved.split("\n\n")[-1], converted, trained], names)
        self.assertTrue(pathlib.Path("lm.lstmc").exists())


if __name__ == "__main__":
    unittest.main()
