"""test_rehearsal.py BUILD: run.sh from packing to its table, on an emulated GPU and in small; its logic, not its times."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import pack  # noqa: E402
import stages  # noqa: E402

BUILD = sys.argv.pop(1)


class Rehearsal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.bundle = cls.folder / "bundle"
        subprocess.run([sys.executable, "-B", HERE / "pack.py", BUILD, cls.bundle, "--small"], check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def run_sh(self, device="emu:0", tools=""):
        environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}" if tools else os.environ["PATH"])
        return subprocess.run([HERE / "run.sh", self.bundle, device], capture_output=True, text=True, env=environment)

    def test_all_stages_pass_and_no_time_is_shown(self):
        tools = self.folder / "tools"
        tools.mkdir()
        sanitizer = tools / "compute-sanitizer"
        sanitizer.write_text('#!/bin/bash\n[[ $1 == --tool && $3 == --error-exitcode ]] || exit 2\nexec "${@:5}"\n')
        sanitizer.chmod(0o755)
        done = self.run_sh(tools=str(tools))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for line in ("conformance of kernels +equal bits", "compute-sanitizer on it +no error", "sameness: a stack of four, 2 updates +the weights of a cpu",
                     "training: char LM, 2 updates +the weights of a cpu, loss", "training: word LM, 2 updates +the weights of a cpu, loss",
                     "cell B4 H24 L2 T6 step strict +the bits of a cpu", "cell B4 H24 L2 T6 forward bf16 +near to a cpu",
                     "B4 H24 T6, half padding strict +compared with the time without padding"):
            self.assertRegex(done.stdout, line)
        for rule in pack.RULES:
            self.assertRegex(done.stdout, f"--fast {rule}: char LM, 2 updates +near the strict loss, repeated to the bit, loss")
        cells = [line for line in done.stdout.splitlines() if line.startswith("| B4 ") and line.count("|") > 6]
        self.assertEqual([line.split(" | ")[1] for line in cells], [rule or "strict fp32" for cell in pack.SMALL for rule in cell[4]])
        self.assertNotRegex("".join(cells), r"\d ms")
        self.assertIn("emulated: times are not shown", done.stdout)
        self.assertFalse((HERE / "RESULTS.md").exists() and "emu:0" in (HERE / "RESULTS.md").read_text())

    def test_a_difference_is_found(self):
        facts = (self.bundle / "bundle.json").read_text()
        self.addCleanup((self.bundle / "bundle.json").write_text, facts)
        other = json.loads(facts)
        other["trainings"][0]["weights"] = "0" * 16
        other["fast"][1]["loss"] *= 1.1
        other["cells"][0]["hash"] = "0" * 16
        other["cells"][1]["rms"] *= 1.1
        (self.bundle / "bundle.json").write_text(json.dumps(other))
        done = self.run_sh()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, "--fast bf16: char LM, 2 updates +far from the strict loss, repeated to the bit")
        self.assertRegex(done.stdout, "training: char LM, 2 updates +other weights than a cpu")
        self.assertRegex(done.stdout, "cell B4 H24 L2 T6 forward strict +other bits than a cpu")
        self.assertRegex(done.stdout, "cell B4 H24 L2 T6 forward bf16 +far from a cpu")

    def test_what_there_was_no_time_for_is_named_and_is_no_failure(self):
        run = stages.Stages(self.bundle, "emu:0")
        # Enough for a shell to begin on a busy machine, where a second may not be.
        answer = run.run("bash", "-c", "echo first; exec sleep 99", most=8)
        self.assertEqual((answer.code, answer.stdout, answer.why), (None, "first\n", "did not end in 8 s"))
        run.left = lambda: 1.5
        self.assertEqual(run.run("sleep", "99").why, "not run for lack of time: 2 s were left")
        run.left = lambda: 0.9
        self.assertEqual(run.on_card("time", "a.lstmc", "forward", 1), (None, "not run for lack of time"))
        run.check("a cell", run.run("true").why, False)
        self.assertEqual((run.failed, run.missing), (False, 1))

    def test_what_peers_answered_before_their_time_ended_counts(self):
        peers = '{"versions": "PyTorch 2"}\n{"torch_s": 0.5}\n{"torch_s": 0.'
        run = stages.Stages(self.bundle, "emu:0")
        run.run = lambda *words, **limits: stages.Answer(None, peers, "", "did not end in 240 s")
        answers = run.peers()
        self.assertEqual(answers[:2], [{"torch_s": 0.5}, {"missing": "no answer"}])
        self.assertEqual(len(answers), len(run.facts["cells"]))
        self.assertEqual(run.checks, [("PyTorch and cuDNN", f"1 of {len(answers)} cells: did not end in 240 s")])

    def test_a_gpu_that_is_not_here(self):
        if shutil.which("nvidia-smi"):
            self.skipTest("there may be one")
        done = self.run_sh("gpu:0")
        self.assertEqual(done.returncode, 5)
        self.assertIn("gpu:0", done.stdout)

    def test_a_row_of_a_card_says_what_was_reached_and_what_stands_between(self):
        cell = {"name": "B1", "entry": "forward", "padded": False, "rule": "", "goal": "2x PyTorch", "flops": 67e9, "weight_bytes": 1,
                "forecasts": {"H200": {"seconds": 0.002, "ways": ["forward on-chip"], "waiting_s": 0.0015}}}
        cards = pack.cards()
        self.assertEqual(stages.card_of("NVIDIA H200", {"cards": cards}), "H200")
        self.assertEqual(stages.card_of("NVIDIA A100-SXM4-80GB", {"cards": cards}), "A100")
        self.assertIsNone(stages.card_of("NVIDIA L40S", {"cards": cards}))
        peer = {"torch_s": 0.006, "cudnn_s": 0.004, "cudnn_algorithm": "standard"}
        row = stages.cell_row(cell, 0.003, peer, "H200", cards["H200"], True)
        self.assertEqual(row, ["B1, forward", "strict fp32", "3 ms", "6 ms", "4 ms (standard)", "2.00x", "1.33x", "2x PyTorch", "1 ms",
                               "forecast 2 ms, 1.5 ms of it steps that wait for one another (forward on-chip); measured 1.5 times that"])
        fast = stages.cell_row({**cell, "rule": "bf16", "flops": 989e9}, 0.003, peer, "H200", cards["H200"], True)
        self.assertEqual((fast[1], fast[8]), ("bf16", "1 ms"))
        self.assertEqual(stages.cell_row(cell, None, {"missing": "not here"}, None, None, True)[2:7], ["-", "not here", "-", "-", "-"])


if __name__ == "__main__":
    unittest.main()
