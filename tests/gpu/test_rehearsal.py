"""test_rehearsal.py BUILD [LIBRARIES]: run.sh from packing to its table, at small sizes on an
emulated GPU; it tests the logic, not times."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import pack  # noqa: E402
import processes  # noqa: E402
import stages  # noqa: E402
import table  # noqa: E402

BUILD = sys.argv.pop(1)
# the emulated GPUs' folder, if it was built
LIBRARIES = sys.argv.pop(1) if len(sys.argv) > 1 and "/" in sys.argv[1] else None

# A stand-in for on_card, with the fault that trouble.json has for a package.
ON_CARD = """
import json, os, pathlib, signal, subprocess, sys, time
bundle = pathlib.Path(sys.argv[0]).resolve().parents[1]
package = str(pathlib.Path(sys.argv[2]).relative_to(bundle))
facts = json.loads((bundle / "bundle.json").read_text())
row = next(row for rows in ("cells", "trainings", "sameness", "fast") for row in facts[rows] if row["package"] == package)
trouble = json.loads((bundle / "trouble.json").read_text()).get(package)
if trouble == "signal":
    print("last words", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)
if trouble == "hang":
    (bundle / "parent").write_text(str(os.getpid()))
    child = subprocess.Popen(["sleep", "99"])
    (bundle / "child.part").write_text(str(child.pid))
    (bundle / "child.part").rename(bundle / "child")
    time.sleep(99)
if trouble == "nan":
    print('{"hash": nan}')
elif trouble == "half":
    print(json.dumps({"weights": row["weights"]}))
elif sys.argv[1] == "train":
    print(json.dumps({"weights": row["weights"], "loss": float("nan") if trouble else row["loss"]}))
else:
    print(json.dumps({"hash": row["hash"], "rms": float("nan") if trouble else row["rms"], "least_s": 0.001, "fed_s": 0.001}))
"""

# Two tests, of which the second one always aborts.
CONFORMANCE_TEST = """
import os, sys
if "--gtest_list_tests" in sys.argv:
    print("Running main() from a file\\nSuite.\\n  Bits/first  # 1\\n  Bits/second  # 2")
    sys.exit()
for test in ("first", "second"):
    if sys.argv[1] in ("--gtest_filter=Suite.*", "--gtest_filter=Suite.Bits/" + test):
        os.abort() if test == "second" else print("[       OK ] Suite.Bits/first (1 ms)", flush=True)
print("[  PASSED  ] 1 test.")
"""

# A stub of the PyTorch functions that peers.py calls. A layer of DIES_OF units ends the process.
TORCH = """
import contextlib, os, signal, types
__version__ = "0"
class Thing:
    def __getattr__(self, name):
        return lambda *_, **__: self
class LSTM(Thing):
    def __init__(self, inputs, units, layers):
        if units == int(os.environ.get("DIES_OF", "0")):
            os.kill(os.getpid(), signal.SIGKILL)
    def __call__(self, x):
        return Thing(), None
class Event(Thing):
    def elapsed_time(self, end):
        return 2.0
float32, bfloat16, float16, int32, uint8 = range(5)
nn = types.SimpleNamespace(LSTM=LSTM, utils=types.SimpleNamespace(rnn=Thing()))
cuda = types.SimpleNamespace(Event=lambda **_: Event(), is_available=lambda: True, current_stream=Thing)
backends = types.SimpleNamespace(cuda=types.SimpleNamespace(matmul=types.SimpleNamespace()), cudnn=types.SimpleNamespace(version=lambda: 0))
randn = full = lambda *_, **__: Thing()
inference_mode, autocast = contextlib.nullcontext, lambda *_, **__: contextlib.nullcontext()
"""


def program(path, text):
    path.write_text(text)
    path.chmod(0o755)


def wait_for(condition, seconds=60):
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.05)


def is_gone(process):
    """Whether the process has ended, even if nobody has waited for it yet."""
    def ended():
        try:
            return " Z " in pathlib.Path(f"/proc/{process}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):  # it may end while it is read
            return True

    wait_for(ended, 5)
    return ended()


class Rehearsal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.bundle = cls.folder / "bundle"
        subprocess.run([sys.executable, "-B", HERE / "pack.py", BUILD, cls.bundle, "--small"],
                       check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def run_sh(self, device="emu:0", tools="", bundle=None, **variables):
        environment = dict(os.environ,
                           PATH=f"{tools}:{os.environ['PATH']}" if tools else os.environ["PATH"],
                           **variables)
        return subprocess.run([HERE / "run.sh", bundle or self.bundle, device], capture_output=True,
                              text=True, env=environment)

    def new_folder(self):
        return pathlib.Path(tempfile.mkdtemp(dir=self.folder))

    def sanitizer(self, text):
        """A folder for PATH with a compute-sanitizer that runs this script on its command, "$@"."""
        tools = self.new_folder()
        program(tools / "compute-sanitizer", '#!/bin/bash\n[[ $1 == --tool && $3$4 == '
                                             '--report-api-errorsno && $7 == --error-exitcode ]] '
                                             f'|| exit 2\nshift 8\n{text}\n')
        return str(tools)

    def test_all_stages_pass_and_no_time_is_shown(self):
        out = self.new_folder()
        done = self.run_sh(tools=self.sanitizer('exec "$@"'), OUT=str(out))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for line in ("conformance of kernels +equal bits", "compute-sanitizer on it +no error",
                     "sameness: a stack of four, 2 updates +the weights of a cpu",
                     "sameness: a stack of four, on emu:0,0, 2 updates +the weights of a cpu",
                     "sameness: a stack of four, on cpu:0,emu:0, 2 updates +the weights of a cpu",
                     "training: char LM, 2 updates +the weights of a cpu, loss",
                     "training: word LM, 2 updates +the weights of a cpu, loss",
                     "cell B4 H24 L2 T6 step strict +the bits of a cpu",
                     "cell B4 H24 L2 T6 forward bf16 +near to a cpu",
                     "B4 H24 T6, half padding strict +compared with the time without padding",
                     "B4 H24 L2 T6, step, with copies from and to the host +compared with "
                     "the time without", "cell B2 H8 T3 forward strict +the bits of a cpu"):
            self.assertRegex(done.stdout, line)
        # The most important stages come first.
        order = [done.stdout.index(line)
                 for line in ("cell B4", "conformance", "sameness", "training: ", "cell B2",
                              "--fast", "compute-sanitizer on it")]
        self.assertEqual(order, sorted(order))
        for rule in pack.RULES:
            self.assertRegex(done.stdout, f"--fast {rule}: char LM, 2 updates +near the strict "
                                          "loss, repeated to the bit, loss")
        cells = [line for line in done.stdout.splitlines()
                 if line.startswith("| B4 ") and line.count("|") > 6]
        # Training layers use our own kernels.
        self.assertEqual([line.split(" | ")[1] for line in cells],
                         [(rule or "strict fp32")
                          + ", by our own kernels" * (cell[1] == "step" and rule == "cudnn")
                          for cell in pack.SMALL for rule in cell[4]])
        self.assertIn("cuDNN 9", next(line for line in cells if "forward | cudnn" in line))
        self.assertNotRegex("".join(cells), r"\d ms")
        self.assertEqual((out / "RESULTS.md").read_text().strip(), done.stdout[
            done.stdout.index("# A rehearsal"):done.stdout.index("emulated: times")].strip())
        self.assertIn("[       OK ]", (out / "conformance.txt").read_text())
        self.assertIn("emulated: times are not shown", done.stdout)
        self.assertFalse((HERE / "RESULTS.md").exists()
                         and "emu:0" in (HERE / "RESULTS.md").read_text())

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
        self.assertRegex(done.stdout, "--fast bf16: char LM, 2 updates +far from the strict loss, "
                                      "repeated to the bit")
        self.assertRegex(done.stdout, "training: char LM, 2 updates +other weights than a cpu")
        self.assertRegex(done.stdout, "cell B4 H24 L2 T6 forward strict +other bits than a cpu")
        self.assertRegex(done.stdout, "cell B4 H24 L2 T6 forward bf16 +far from a cpu")

    def test_what_there_was_no_time_for_is_named_and_is_no_failure(self):
        run = stages.Stages(self.bundle, "emu:0")
        # Long enough for a shell to start on a busy machine, where a second may be too short.
        answer = run.run("bash", "-c", "echo first; exec sleep 99", most=8)
        self.assertEqual((answer.code, answer.stdout, answer.why),
                         (None, "first\n", "did not end in 8 s"))
        run.left = lambda: 1.5
        self.assertEqual(run.run("sleep", "99").why, "not run for lack of time: 2 s were left")
        run.left = lambda: 0.9
        self.assertEqual(run.on_card("time", "a.lstmc", "forward", 1, most=9),
                         (None, "not run for lack of time", ""))
        run.check("a cell", run.run("true").why, False)
        run.conformance()
        self.assertEqual((run.failed, run.missing), (False, 2))

    def test_our_programs_find_their_libraries_in_the_bundle(self):
        for path in (self.bundle / "bin").iterdir():
            libraries = [line.split()[2]
                         for line in subprocess.run(["ldd", path], capture_output=True,
                                                    text=True).stdout.splitlines()
                         if "=>" in line and not line.strip().startswith(pack.SYSTEM)]
            self.assertTrue(libraries)
            for library in libraries:
                self.assertEqual(pathlib.Path(library).resolve().parent,
                                 (self.bundle / "lib").resolve(), path)

    def test_a_program_leaves_nothing_running_and_gets_what_was_set(self):
        for rest, code in (("wait", None), ("exit 3", 3)):
            done = processes.run(["bash", "-c", f"sleep 99 & echo $!; {rest}"],
                                 3 if code is None else 99)
            self.assertEqual(done.code, code)
            self.assertTrue(is_gone(int(done.stdout)))
        self.assertEqual(processes.run(["bash", "-c", "echo it was >&2; kill -SEGV $$"], 99).why,
                         "ended by SIGSEGV: it was")
        with mock.patch.dict(os.environ, {"LD_LIBRARY_PATH": "/a/driver:/another"}):
            os.environ.pop("VIRTUAL_ENV", None)
            said = stages.Stages(self.bundle, "emu:0").run(
                "bash", "-c", "echo $LD_LIBRARY_PATH $VIRTUAL_ENV").stdout.split()
        self.assertTrue(said[0].startswith("/a/driver:/another"))
        self.assertEqual(said[1], sys.prefix)

    # Faulty programs. The bundle's on_card returns the results of a cpu, except for the fault that
    # `trouble` has for a package.

    def troubled(self, trouble):
        bundle = self.new_folder() / "bundle"
        (bundle / "bin").mkdir(parents=True)
        shutil.copy(self.bundle / "bundle.json", bundle)
        (bundle / "trouble.json").write_text(json.dumps(trouble))
        program(bundle / "bin/on_card", f"#!{sys.executable}\n{ON_CARD}")
        program(bundle / "bin/lstmc_conformance_test", f"#!{sys.executable}\n{CONFORMANCE_TEST}")
        return bundle

    def named(self, start, **wanted):
        return next(row["package"] for row in stages.Stages(self.bundle, "emu:0").facts[start]
                    if all(row[key] == value for key, value in wanted.items()))

    def test_what_prints_nan_or_dies_is_named_and_the_rest_is_run(self):
        trouble = {self.named("cells", entry="step", rule=""): "nan",
                   self.named("cells", entry="step", rule="bf16"): "NaN",
                   self.named("fast", rule="bf16"): "NaN",
                   self.named("trainings", name="word LM"): "signal",
                   self.named("sameness", name="a stack of four, on cpu:0,DEVICE"): "half"}
        out = self.new_folder()
        done = self.run_sh(bundle=self.troubled(trouble), OUT=str(out))
        self.assertEqual(done.returncode, 1, done.stderr)
        page = (out / "RESULTS.md").read_text()
        for what, found in (("cell B4 H24 L2 T6 step strict", 'no JSON: {"hash": nan'),
                            ("cell B4 H24 L2 T6 step bf16", "far from a cpu: nan"),
                            ("--fast bf16: char LM, 2 updates", "far from the strict loss"),
                            ("training: word LM", "ended by SIGSEGV: last words"),
                            ("sameness", "KeyError: 'loss'"),
                            ("training: char LM, 2 updates", "the weights of a cpu"),
                            ("cell B2 H8 T3 forward strict", "the bits of a cpu"),
                            ("conformance of kernels", "differs: Suite/second (ended by SIGABRT)")):
            self.assertIn(f"| {what} | {found}", page)
            self.assertIn(f"{what:<48} {found}", done.stdout)

    def test_with_little_time_the_goals_are_measured(self):
        out = self.new_folder()
        done = self.run_sh(
            bundle=self.troubled({self.named("sameness", name="a stack of four, "
                                                              "on cpu:0,DEVICE"): "hang"}),
            OUT=str(out), LSTMC_STAGES_SECONDS="12", tools=self.sanitizer("sleep 99"))
        page = (out / "RESULTS.md").read_text()
        self.assertIn("| cell B4 H24 L2 T6 forward strict | the bits of a cpu |", page)
        for what in (
                "sameness: a stack of four, on cpu:0,emu:0",
                "training: char LM", "cell B2 H8 T3 forward strict", "compute-sanitizer on it"):
            self.assertIn(f"| {what} | not run for lack of time", page)
        self.assertRegex(done.stdout, r"not run for lack of time: \d+ of \d+")

    def test_a_program_that_hangs_with_a_child_is_ended_and_the_rest_is_run(self):
        bundle = self.troubled({self.named("cells", rule="", entry="forward"): "hang"})
        with mock.patch.object(stages, "CELL_MOST",
                               3), mock.patch.dict(os.environ, {"OUT": str(self.new_folder())}):
            run = stages.Stages(bundle, "emu:0")
            run.carry_out([run.goals, run.sameness])
            page = pathlib.Path(os.environ["OUT"], "RESULTS.md").read_text()
        self.assertIn("| cell B4 H24 L2 T6 forward strict | did not end in 3 s |", page)
        self.assertIn("| sameness: a stack of four, 2 updates | the weights of a cpu", page)
        self.assertTrue(is_gone(int((bundle / "child").read_text())))

    def test_what_was_found_is_there_when_all_is_killed(self):
        bundle, out = (self.troubled({self.named("trainings", name="word LM"): "hang"}),
                       self.new_folder())
        run = processes.begin([HERE / "run.sh", bundle, "emu:0"], stdout=subprocess.DEVNULL,
                              env=dict(os.environ, OUT=str(out)))
        try:
            wait_for(lambda: (bundle / "child").exists())
        finally:
            processes.end(run)
            for process in ("parent", "child"):
                os.kill(int((bundle / process).read_text()), signal.SIGKILL)
        page = (out / "RESULTS.md").read_text()
        for line in ("| cell B4 H24 L2 T6 forward strict | the bits of a cpu |",
                     "| sameness: a stack of four, 2 updates | the weights of a cpu",
                     "| training: char LM, 2 updates | the weights of a cpu",
                     "| trainings | has not ended |",
                     "| fast trainings | has not ended |"):
            self.assertIn(line, page)

    def test_on_a_gpu_the_page_is_beside_the_stages_with_card_times_and_peers(self):
        here, tools = self.new_folder() / "gpu", self.new_folder()
        shutil.copytree(HERE, here)
        (tools / "torch.py").write_text(TORCH)
        program(tools / "nvidia-smi", "#!/bin/bash\necho NVIDIA H200, 580.1, 1980 MHz, 3201 MHz\n")
        environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}", PYTHONPATH=str(tools))
        environment.pop("OUT", None)
        subprocess.run([here / "run.sh", self.troubled({}), "gpu:0"], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env=environment)
        page = (here / "RESULTS.md").read_text()
        self.assertIn(", NVIDIA H200, driver 580.1, at most 1980 MHz and 3201 MHz, ", page)
        self.assertIn("| sameness: a stack of four, on gpu:0,0, 2 updates | the weights of a cpu",
                      page)
        row = next(line for line in page.splitlines()
                   if line.startswith("| B4 H24 L2 T6, step | bf16 |")).split(" | ")
        self.assertEqual((row[2], row[3], row[5]), ("1 ms", "2 ms (layers in fp16)", "2.00x"))
        self.assertIn("forecast", row[-1])

    @unittest.skipUnless(LIBRARIES, "this build had no nvcc, so it has no kernels for GPUs")
    def test_a_gpu_by_that_name_has_the_bits_of_a_cpu(self):
        """Driver, cuBLASLt and cuDNN are those of emulated GPUs (cuda/); the conformance test is
        left out, as in gpu.cards."""
        here, bundle = self.new_folder() / "gpu", self.new_folder() / "bundle"
        shutil.copytree(HERE, here)
        shutil.copytree(self.bundle, bundle)
        program(bundle / "bin/lstmc_conformance_test", "#!/bin/bash\necho 'Suite.'; echo '  "
                                                       "First'; echo '[       OK ] Suite.First'; "
                                                       "echo '[  PASSED  ] 1 test.'\n")
        environment = dict(os.environ, LD_LIBRARY_PATH=LIBRARIES, LSTMC_EMU_CARDS="1")
        environment.pop("OUT", None)
        done = subprocess.run([here / "run.sh", bundle, "gpu:0"], capture_output=True, text=True,
                              env=environment)
        page = (here / "RESULTS.md").read_text()
        # The check of padding compares times, which mean nothing here.
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertNotRegex(page, r"differ|other bits|other weights|far from|did not end|exit \d")
        for what, found in (
                ("cell B4 H24 L2 T6 step strict", "the bits of a cpu"),
                ("cell B4 H24 L2 T6 forward bf16", "near to a cpu"),
                ("sameness: a stack of four, on gpu:0,0, 2 updates", "the weights of a cpu"),
                ("sameness: a stack of four, on cpu:0,gpu:0, 2 updates", "the weights of a cpu"),
                ("training: word LM, 2 updates", "the weights of a cpu"),
                ("--fast cublaslt: char LM, 2 updates",
                 "near the strict loss, repeated to the bit")):
            self.assertIn(f"| {what} | {found}", page)
        self.assertRegex(page, "--fast cudnn: .*gpu:0: cuDNN 9")

    def test_shapes_that_cudnn_leaves_to_our_kernels_are_named(self):
        told = ("cuDNN 9.1: lstm of 1 x 3 x 5, 7 units, by our own kernels: the plan has 4 bytes "
                "of workspace, and the library wants 5")
        for said, why, found, failed in (
                (f"{told}\n[  PASSED  ] 1 test.",
                 "", "near to ours, repeated to the bit; shapes by our own kernels: "
                     f"1, first {told}", False),
                ("[  PASSED  ] 0 tests.\n[  SKIPPED ] 1 test", "", "not here", False),
                ("[  FAILED  ] 1 test", "exit 1", "differ", True)):
            run = stages.Stages(self.bundle, "emu:0")
            run.real = True
            run.save = lambda: None
            run.run = lambda *words: processes.Answer(int(bool(why)), said, "", why)
            run.layers_of_cudnn()
            self.assertEqual((run.checks, run.failed), ([("layers by cuDNN", found)], failed))

    def test_a_sanitizer_that_finds_something_fails_and_one_that_cannot_work_does_not(self):
        for text, found, failed in (
                ('echo "========= Invalid __global__ read of size 4 bytes"; sleep 99',
                 "EmulatedGpu: ========= Invalid __global__ read of size 4 bytes", True),
                ('echo "========= Error: Device not supported"; exit 1',
                 "does not support this machine", False),
                ("sleep 99", "not run for lack of time: all but 0 of 1 suites", False),
                ("exit 9", "EmulatedGpu: exit 9", True)):
            run = stages.Stages(self.bundle, "emu:0")
            run.suites = lambda: ({"Kernels/EmulatedGpu": []}, "")
            run.begin -= stages.ALL_SECONDS - 4
            with mock.patch.dict(os.environ,
                                 {"PATH": f"{self.sanitizer(text)}:{os.environ['PATH']}"}):
                run.sanitizer()
            self.assertEqual((run.checks, run.failed),
                             ([("compute-sanitizer on it", found)], failed))

    # peers.py with a stub of PyTorch.

    def peers(self, **variables):
        folder = self.new_folder()
        (folder / "torch.py").write_text(TORCH)
        variables = mock.patch.dict(os.environ, {"PYTHONPATH": str(folder), **variables})
        variables.start()
        self.addCleanup(variables.stop)
        peers = processes.Peers([sys.executable, "-B", HERE / "peers.py", 0])
        self.addCleanup(peers.close)
        return peers

    def test_peers_are_asked_cell_by_cell(self):
        peers = self.peers()
        first, step = (cell for cell in stages.Stages(self.bundle, "emu:0").facts["cells"]
                       if cell["rule"] == "bf16" and not cell["padded"])
        self.assertEqual(peers.ask(first, 60), {"torch_s": 0.002, "cudnn_missing": mock.ANY})
        self.assertEqual(peers.ask(step, 60), {"torch_s": 0.002, "torch_as": "layers in fp16",
                                               "cudnn_missing": mock.ANY})
        self.assertEqual(peers.versions, "PyTorch 0, cuDNN 0")

    def test_peers_that_die_in_the_middle_are_begun_anew(self):
        cell = stages.Stages(self.bundle, "emu:0").facts["cells"][0]
        peers = self.peers(DIES_OF="7")
        of = lambda units: peers.ask({**cell, "shape": [1, 1, units, 1]}, 60)
        self.assertEqual([of(units).get("torch_s") for units in (6, 7, 8)], [0.002, None, 0.002])
        self.assertEqual(of(7), {"missing": "ended by SIGKILL"})
        for _ in range(9):
            answer = of(7)
        self.assertEqual(
            (peers.begun, answer),
            (peers.MOST_BEGUN, {"missing": "ended 5 times, the last time: ended by SIGKILL"}))

    def test_peers_that_are_not_here_or_hang_are_asked_no_more(self):
        run = stages.Stages(self.bundle, "emu:0")
        run.on_card = lambda *words, **limits: (None, "not run for lack of time", "")
        run.peers = processes.Peers(["bash",
                                     "-c", "echo '{\"missing\": \"No PyTorch\"}'; sleep 99"])
        self.addCleanup(run.peers.close)
        run.goals()
        run.other_cells()
        self.assertEqual([found for what, found in run.checks if what == "PyTorch and cuDNN"],
                         ["not here: No PyTorch"])
        self.assertEqual(run.cells[0].peer, {"missing": "No PyTorch"})
        peers = processes.Peers(["sleep", "99"])
        self.assertEqual(peers.ask({}, 1), {"missing": "no answer in 1 s"})
        self.assertIsNone(peers.process)

    def test_a_gpu_that_is_not_here(self):
        if shutil.which("nvidia-smi"):
            self.skipTest("there may be one")
        done = self.run_sh("gpu:0")
        self.assertEqual(done.returncode, 5)
        self.assertIn("gpu:0", done.stdout)

    def test_a_row_of_a_card_says_what_was_reached_and_what_stands_between(self):
        cell = {"name": "B1", "entry": "forward", "padded": False, "rule": "", "goal": "2x PyTorch",
                "flops": 67e9, "weight_bytes": 1,
                "forecasts": {"H200": {"seconds": 0.002, "ways": ["forward on-chip"],
                                       "waiting_s": 0.0015}}}
        cards = pack.cards()
        self.assertEqual(table.card_of("NVIDIA H200", {"cards": cards}), "H200")
        self.assertEqual(table.card_of("NVIDIA A100-SXM4-80GB", {"cards": cards}), "A100")
        self.assertIsNone(table.card_of("NVIDIA L40S", {"cards": cards}))
        peer = {"torch_s": 0.006, "cudnn_s": 0.004, "cudnn_algorithm": "standard"}
        row = table.cell_row(cell, table.Cell(0.003, peer=peer), "H200", cards["H200"], True)
        self.assertEqual(row, ["B1, forward", "strict fp32", "3 ms", "6 ms", "4 ms (standard)",
                               "2.00x", "1.33x", "2x PyTorch", "1 ms",
                               "forecast 2 ms, 1.5 ms of it steps that wait for one another "
                               "(forward on-chip); measured 1.5 times that"])
        fast = table.cell_row({**cell, "rule": "bf16", "flops": 989e9},
                              table.Cell(0.003, peer={**peer, "torch_as": "layers in fp16"}),
                              "H200", cards["H200"], True)
        self.assertEqual((fast[1], fast[3], fast[8]), ("bf16", "6 ms (layers in fp16)", "1 ms"))
        self.assertEqual(
            table.cell_row(cell, table.Cell(why="did not end", peer={"missing": "not here"}), None,
                           None, True)[2:7], ["did not end", "not here", "not here", "-", "-"])
        own = table.cell_row(
            {**cell, "rule": "cudnn"},
            table.Cell(0.003, notes="gpu:0: cuDNN 9: lstm, by our own kernels: it is large"),
            "H200", cards["H200"], True)
        self.assertEqual(own[1], "cudnn, by our own kernels")
        self.assertTrue(own[9].endswith("; gpu:0: cuDNN 9: lstm, by our own kernels: it is large"))


if __name__ == "__main__":
    unittest.main()
