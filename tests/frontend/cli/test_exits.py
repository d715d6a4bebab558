"""Exit codes, streams and output files, each provoked from outside."""
import json
import math
import os
import pathlib
import re
import resource
import signal
import subprocess
import time
import unittest

from command import Case, LSTMC, SOURCE, run
from test_data import npy

LEARN = ["train", "small.lnet", "--data", "text:text.txt,valid=0.2"]


class Exits(Case):
    def status(self, *words, **options):
        done = self.run_here(*words, **options)
        self.assertNotIn("Traceback", done.stderr)
        return done.returncode

    def test_0_done(self):
        self.assertEqual(self.status("compile", "small.lnet", "-o", "m.lstmc"), 0)
        self.assertEqual(self.status(*LEARN, "-o", "ck", "--expect", "loss<100"), 0)

    def test_1_the_answer_is_no(self):
        self.assertEqual(self.status(*LEARN, "-o", "ck", "--expect", "loss<0.001"), 1)
        self.assertEqual(
            self.status("eval", "ck", "--data", "text:text.txt", "--expect", "perplexity<1"), 1)
        self.assertEqual(self.status("bench", "small.lnet", "-r", "1", "--expect", "median_s<0"), 1)
        (self.folder / "ugly.lnet").write_text("x=1\n")
        self.assertEqual(self.status("fmt", "--check", "ugly.lnet"), 1)
        self.good("run", "small.lnet", "-i", "data=0", "-o", "y.npz")
        name = json.loads(
            self.good("run", "small.lnet", "-i", "data=0", "--json").stdout)["outputs"][0]["name"]
        wanted = f"{name}=@y.npz"
        self.assertEqual(
            self.status("run", "small.lnet", "-i", "data=0", "--expect-output", wanted), 0)
        self.assertEqual(
            self.status("run", "small.lnet", "-i", "data=1", "--expect-output", wanted), 1)
        self.assertEqual(self.status("run", "small.lnet", "-i", "data=1", "--expect-output", wanted,
                                     "--atol", "1"),
                         0)

    def test_2_wrong_use(self):
        for words in [
                [], ["tran"], ["train"], ["train", "small.lnet"], ["train", "--frobnicate"],
                ["run", "small.lnet"], ["compile", "small.lnet", "-o"],
                ["compile", "small.lnet", "small.lnet", "-o", "x.lstmc"],
                ["train", "small.lnet", "--after", "3x", "-o", "ck", "--data", "text:text.txt"],
                ["bench", "small.lnet", "--format", "xml"],
                ["compile", "small.lnet", "--dry-run", "--format", "csv"],
                ["train", "small.lnet", "-b", "1", "-b", "2", "-o", "ck"],
                ["eval", "small.lnet", "--metric", "bleu"],
                ["compile", "small.lnet", "--dry-run", "--color", "sometimes"],
                ["sample", "small.lnet", "--temperature", "-1"],
                ["inspect", "small.lnet", "--limit", "size=3"], ["explain", "E9999"],
                ["plot", "small.lnet", "-o", "x.gif"]]:
            done = self.run_here(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertEqual(done.stdout, "", words)
            self.assertTrue(done.stderr, words)

    def test_3_source_is_wrong(self):
        (self.folder / "bad.lnet").write_text("def f(data: float32[2]):\n    return tanhh(data)\n")
        for command in ["compile", "run", "train", "eval", "predict", "sample", "plot", "inspect",
                        "bench"]:
            words = ([command, "bad.lnet"]
                     + {"predict": ["-o", "x.csv"], "compile": ["-o", "x.lstmc"]}.get(
                         command, ["-o", "x.dot"] if command in ("train", "plot") else []))
            self.assertEqual(self.status(*words), 3, command)
        self.assertEqual(self.status("fmt", "bad.lnet"), 0)
        (self.folder / "bad.lnet").write_text("def f(:\n")
        self.assertEqual(self.status("fmt", "bad.lnet"), 3)
        self.assertEqual((self.folder / "bad.lnet").read_text(), "def f(:\n")

    def test_4_does_not_fit(self):
        done = self.run_here("compile", "small.lnet", "-o", "m.lstmc", "--mem", "1K")
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr, r"small\.lnet:\d+:\d+: error\[E0401\]: the plan needs .* on "
                                      r"cpu:0, which may use 1\.00 KiB\n")
        self.assertFalse((self.folder / "m.lstmc").exists())
        (self.folder / "plain.lnet").write_text("def f(data: float32[2]):\n    return tanh(data)\n")
        self.assertEqual(self.status("compile", "plain.lnet", "--entry", "step", "--dry-run"), 4)

    def test_5_device_is_not_here(self):
        for device, instead in {"gpu:0": "cpu", "2xgpu": "2xcpu", "cpu:0,gpu:1": "2xcpu"}.items():
            done = self.run_here("run", "small.lnet", "-i", "data=0", "-d", device)
            self.assertEqual(done.returncode, 5)
            self.assertIn(f"-d {instead} would do", done.stderr)
        for indices, instead in {"0": "cpu", "0,2": "2xcpu"}.items():
            done = self.run_here("run", "small.lnet", "-i", "data=0", "--gpus", indices)
            self.assertEqual(done.returncode, 5)
            self.assertIn(f"-d {instead} would do", done.stderr)
        self.assertEqual(self.status("run", "small.lnet", "-i", "data=0", "-d", "tpu"), 2)

    def test_6_file_is_missing_or_refused(self):
        self.assertEqual(self.status("compile", "none.lnet", "--dry-run"), 6)
        self.assertEqual(self.status("run", "none.lstmc"), 6)
        self.assertEqual(self.status(*LEARN[:2], "--data", "text:none.txt", "-o", "ck"), 6)
        (self.folder / "junk.lstmc").write_bytes(b"LSTM" + bytes(range(200)))
        for words in [["run", "junk.lstmc"], ["inspect", "junk.lstmc"], ["inspect", "junk.npy"],
                      ["eval", "."]]:
            (self.folder / "junk.npy").write_bytes(b"\x93NUMPY\x09\x00")
            self.assertEqual(self.status(*words), 6, words)
        self.good("compile", "small.lnet", "-o", "m.lstmc")
        whole = (self.folder / "m.lstmc").read_bytes()
        (self.folder / "m.lstmc").write_bytes(whole[:-100])
        self.assertEqual(self.status("run", "m.lstmc", "-i", "data=0"), 6)

    def test_7_not_a_number(self):
        (self.folder / "big.lnet").write_text(
            "def f(data: float32[2, 3], label: float32[2, 3]):\n"
            "    w = Variable(\"w\", shape=(3, 3), init=One())\n"
            "    return LinearRegressionOutput(exp(FullyConnected(data, weight=w, num_hidden=3, "
            "no_bias=True)), label)\n")
        done = self.run_here("run", "big.lnet", "-i", "data=100", "--check-nan")
        self.assertEqual(done.returncode, 7)
        self.assertRegex(done.stderr, r"^big\.lnet:3:\d+: error\[E0701\]: ")
        done = self.run_here("train", "big.lnet", "--data", "random:1", "--lr", "1e30",
                             "--after", "9u", "-o", "ck")
        self.assertEqual(done.returncode, 7)

    def test_7_a_result_that_is_not_a_number(self):
        """eval, predict and run name the input or the op."""
        (self.folder / "log.lnet").write_text(
            "N = dim(\"batch\", 4)\n\n"
            "def f(data: float32[N, 3], label: float32[N, 1]):\n"
            "    return LinearRegressionOutput(FullyConnected(log(data), num_hidden=1, "
            "name=\"out\"), label)\n\n"
            "fit(f, optimizer=\"sgd\", learning_rate=0.01)\n")
        npy(self.folder / "y.npy", "f", "(10, 1)", [0.0] * 10)
        for name, at5 in (("x", 1.0), ("negative", -1.0), ("nan", math.nan)):
            npy(self.folder / f"{name}.npy", "f", "(10, 3)", [1.0] * 17 + [at5] + [1.0] * 12)
        self.good("train", "log.lnet", "--data", "npy:data=x.npy,label=y.npy", "--after", "1u",
                  "-o", "ck")
        for data, said in (
                ("negative", r"log\.lnet:4:\d+: error\[E0701\]: first NaN in batch 2: log"),
                ("nan", r'error\[E0701\]: first NaN in batch 2: input "data", element \[1, 2\]')):
            for words in (["eval", "ck", "--data", f"npy:data={data}.npy,label=y.npy"],
                          ["predict", "ck", "--data", f"npy:data={data}.npy", "-o", "p.csv"]):
                done = self.run_here(*words)
                self.assertEqual(done.returncode, 7, done.stderr)
                self.assertRegex(done.stderr, said)
                self.assertFalse((self.folder / "p.csv").exists())
        self.good("eval", "ck", "--data", "npy:data=x.npy,label=y.npy")
        self.good("compile", "log.lnet", "-o", "m.lstmc")
        for program, model in ((os.environ["LSTMC"], "log.lnet"), (os.environ["LSTMC"], "m.lstmc"),
                               (os.environ["LSTMC_RUN"], "m.lstmc")):
            run = [program, *(["run"] if program == os.environ["LSTMC"] else []), model]
            for value, status, said in (
                    ("1", 0, ""), ("-1", 7, "first NaN in forward: log"),
                    ("nan", 7, 'first NaN in forward: input "data", element [0, 0]')):
                done = subprocess.run([*run, "-i", f"data={value}", "-o", "y.npz"], cwd=self.folder,
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(said, done.stderr)
                self.assertTrue((self.folder / "y.npz").exists())  # kept, to look at
                (self.folder / "y.npz").unlink()
                self.assertIn("these are the initial values of seed", done.stderr)

    def test_9_out_of_memory_despite_the_plan(self):
        (self.folder / "large.lnet").write_text(
            "def f(data: float32[4096, 65536]):\n    return tanh(data)\n")
        little = lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        done = self.run_here("run", "large.lnet", "-i", "data=0", preexec_fn=little)
        self.assertEqual(done.returncode, 9, done.stderr)
        self.assertIn("error[E0901]", done.stderr)

    def test_9_no_memory_to_compile(self):
        lines = "".join(f"    x = tanh(x + {i})\n" for i in range(20000))
        (self.folder / "long.lnet").write_text(
            f"def f(data: float32[4, 6]):\n    x = data\n{lines}    return x\n")
        limit = lambda mib: lambda: resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20))
        starts = next(mib for mib in range(100, 2000, 10)
                      if self.run_here("--version", preexec_fn=limit(mib)).returncode == 0)
        compiled = False
        for more in range(10, 400, 7):  # memory runs out at a different point each time
            done = self.run_here("compile", "long.lnet", "-o", "b.lstmc",
                                 preexec_fn=limit(starts + more))
            compiled = done.returncode == 0
            if compiled:
                break
            self.assertEqual(done.returncode, 9, (more, done.stderr))
            self.assertIn("error[E0901]", done.stderr)
            self.assertEqual(list(self.folder.glob("*b.lstmc*")), [])
        self.assertTrue(compiled and more > 10, more)

    def test_8_a_launch_that_does_not_end(self):
        (self.folder / "slow.lnet").write_text(
            'def f(data: float32[3000, 3000]):\n    return FullyConnected(data, num_hidden=3000, '
            'no_bias=True, name="fc")\n')
        slow = {"LSTMC_CPU_LEVEL": "scalar", "LSTMC_LAUNCH_DEADLINE": "2"}
        done = self.run_here("run", "slow.lnet", "-i", "data=0", "-t", "1", env=slow)
        self.assertEqual(done.returncode, 8, done.stdout + done.stderr)
        self.assertRegex(done.stderr, r"(?m)^warning: slow\.lnet:2:\d+: error\[E0802\]: .* fc "
                                      r"\(FullyConnected\), for ")
        self.assertRegex(
            done.stderr, r"(?m)^slow\.lnet:2:\d+: error\[E0802\]: .* the run is given up$")
        # The kernel left its tiles: a process that has to be abandoned prints the error only.
        self.assertTrue(done.stderr.endswith("lstmc explain E0802\n"), done.stderr)

    def catches(self, child, number):
        """Whether the process has a handler for that signal."""
        status = pathlib.Path(f"/proc/{child.pid}/status").read_text()
        return int(re.search(r"(?m)^SigCgt:\s*([0-9a-f]+)$", status)[1], 16) >> (number - 1) & 1

    def test_130_143_signals_outside_training(self):
        for number, status in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
            child = subprocess.Popen([LSTMC, "bench", "small.lnet", "-r", "100M"], cwd=self.folder,
                                     stderr=subprocess.PIPE)
            while not self.catches(child, number):
                self.assertIsNone(child.poll())
                time.sleep(0.01)
            child.send_signal(number)
            child.communicate(timeout=240)
            self.assertEqual(child.returncode, status)


class Streams(Case):
    def test_help(self):
        alone = run()
        self.assertEqual((alone.returncode, alone.stdout), (2, ""))
        asked = run("help")
        self.assertEqual((asked.returncode, asked.stderr), (0, ""))
        self.assertEqual(asked.stdout, alone.stderr)
        self.assertLessEqual(asked.stdout.count("\n"), 24)
        self.assertRegex(run("--version").stdout, r"\Alstmc \d+\.\d+\.\d+ \(.+\)\n\Z")
        self.assertIn("LLVM 19", run("--version", "-v").stdout)

    def test_results_only_on_stdout(self):
        done = self.good("compile", "small.lnet", "-o", "m.lstmc")
        self.assertRegex(done.stdout, r"\Am\.lstmc  \d+ bytes  cpu:0 peak .*\n\Z")
        self.assertIn("peak MiB", done.stderr)
        self.assertEqual(
            self.good("run", "m.lstmc", "-i", "data=0", "-o", "y.npz").stdout.splitlines()[-1],
            "y.npz")
        done = self.good(*LEARN, "-o", "ck")
        self.assertRegex(
            done.stdout, r"\Ack/update-000006  loss [\d.]+  best [\d.]+  weights [0-9a-f]+\n\Z")
        self.assertRegex(
            done.stderr, r"(?m)^valid     update 6  loss .*  saved ck/update-000006 \(sha256 ")
        done = self.good("sample", "ck", "--length", "9", "--prime", "ab")
        self.assertEqual(len(done.stdout), 12)
        self.assertTrue(done.stdout.startswith("ab"))
        self.assertEqual(self.good("sample", "ck", "--length", "9", "-q").stderr, "")
        self.assertEqual(self.good("fmt", "--check", "small.lnet").stdout, "")
        self.assertEqual(self.good("plot", "small.lnet", "-o", "n.dot").stdout, "n.dot\n")
        self.assertTrue(self.good("plot", "small.lnet").stdout.startswith("digraph"))

    def test_dash_is_a_stream(self):
        from command import SMALL
        self.assertEqual(self.good("fmt", "-", input="x=1\n").stdout, "x = 1\n")
        package = self.good("compile", "-", "-o", "-", input=SMALL.encode(), text=False).stdout
        (self.folder / "m.lstmc").write_bytes(package)
        self.good("run", "m.lstmc", "-i", "data=0")

    def test_json_of_every_command(self):
        self.good(*LEARN, "-o", "ck")
        self.document("compile", "small.lnet", "-o", "m.lstmc", schema="lstmc.plan/1")
        self.document("run", "m.lstmc", "-i", "data=0", schema="lstmc.run/1")
        self.document(*LEARN, "-o", "ck2", schema="lstmc.train/1")
        self.document("eval", "ck", "--data", "text:text.txt", schema="lstmc.eval/1")
        self.document("sample", "ck", "--length", "5", schema="lstmc.sample/1")
        self.document("plot", "small.lnet", "-o", "n.dot", schema="lstmc.plot/1")
        self.document("bench", "small.lnet", "-r", "2", schema="lstmc.bench/1")
        libraries = self.document("devices", schema="lstmc.devices/1")["gpu"]["libraries"]
        self.assertEqual([row["name"] for row in libraries], ["cuBLASLt", "cuDNN", "NCCL"])
        for row in libraries:  # each is found, or has a note where it was searched for
            self.assertRegex(row["version"] or row["missing"], r"^\d+\.\d+\.\d+$|looked for lib")
        self.document("devices", "--all", schema="lstmc.devices/1")
        self.document("doctor", schema="lstmc.doctor/1")
        self.document("explain", "E0207", schema="lstmc.explain/1")
        for path in ["small.lnet", "m.lstmc", "ck", "text.txt"]:
            self.document("inspect", path, schema="lstmc.inspect/1")
        self.document("inspect", "--limits", schema="lstmc.inspect/1")
        (self.folder / "t.csv").write_text("a,b\n1,x\nNA,y\n")
        self.document("inspect", "t.csv", schema="lstmc.inspect/1")
        self.document("inspect", "ck/update-000006/model.safetensors", schema="lstmc.inspect/1")
        # Also if the work fails, and if the command line is wrong.
        self.document("compile", "none.lnet", "--dry-run", schema="lstmc.diagnostics/1", status=6)
        self.document("compile", "--frobnicate", schema="lstmc.diagnostics/1", status=2)

    def test_json_lines(self):
        lines = [json.loads(line)
                 for line in self.good(*LEARN, "-o", "ck", "--format", "jsonl").stdout.splitlines()]
        self.assertEqual([line["event"] for line in lines if line["event"] != "update"][:1],
                         ["start"])
        self.assertEqual(lines[-1]["event"], "end")
        for line in lines:
            self.assertEqual(line["schema"], "lstmc.train/1")
            self.assertLessEqual({"update", "epoch", "time_s"}, set(line))

    def test_bench_sweeps(self):
        words = ["bench", "small.lnet", "-r", "2", "-b", "2,4", "-t", "1,2", "--dtype", "f32,f64"]
        cells = self.document(*words, schema="lstmc.bench/1")["cells"]
        self.assertEqual([(c["batch"], c["threads"], c["dtype"]) for c in cells],
                         [(b, t, d) for d in ("f32", "f64") for b in (2, 4) for t in (1, 2)])
        rows = self.good(*words, "--format", "csv").stdout.splitlines()
        self.assertEqual(len(rows), 9)
        self.assertEqual(len({row.count(",") for row in rows}), 1)
        self.assertEqual(len(self.good(*words).stdout.splitlines()), 10)
        shapes = self.document("bench", "small.lnet", "-r", "1", "--shape", "data:2x8",
                               "--shape", "data:2x16", schema="lstmc.bench/1")
        self.assertEqual([cell["steps"] for cell in shapes["cells"]], [8, 16])

    def test_calibrate(self):
        cache = {"LSTMC_CACHE_DIR": str(self.folder / "cache")}
        limit = lambda *more: (
            json.loads(self.good("bench", "small.lnet", "-r", "1", "-t", "1", "--json", *more,
                                 env=cache).stdout)["cells"][0]["limit_s"])
        self.assertIsNone(limit())
        found = limit("--calibrate")
        self.assertGreater(found, 0)
        self.assertEqual(limit(), found)
        rates = json.loads(self.good("devices", "--json", env=cache).stdout)["rates"]
        self.assertIn(1, [r["threads"] for r in rates])
        self.assertTrue(all(0 < r["link_s"] < 0.1 and r["link_bytes_per_s"] > 1e6 for r in rates),
                        rates)
        self.assertRegex(
            self.good("devices", env=cache).stdout, r"\nmeasured with 1 thread: [\d.]+ GFLOP/s, "
                                                    r"[\d.]+ GB/s from memory; a message [\d.]+ µs "
                                                    r"and [\d.]+ GB/s\n")
        self.assertEqual([p.name for p in (self.folder / "cache").iterdir()], ["machine.json"])
        (self.folder / "cache/machine.json").write_text('{"schema": "lstmc.machine/1", "rates": 3}')
        self.assertIsNone(limit())

    def test_colour(self):
        bad = ["compile", "bad.lnet", "--dry-run"]
        (self.folder / "bad.lnet").write_text("x = 007\n")
        colour = lambda *more, **env: "\x1b[" in self.run_here(*bad, *more, env=env).stderr
        self.assertFalse(colour())
        self.assertTrue(colour(CLICOLOR_FORCE="1"))
        self.assertFalse(colour(CLICOLOR_FORCE="1", NO_COLOR="1"))
        self.assertTrue(colour(CLICOLOR_FORCE="1", NO_COLOR=""))
        self.assertTrue(colour("--color", "always", NO_COLOR="1"))
        self.assertFalse(colour("--color", "never", CLICOLOR_FORCE="1"))

    def test_on_a_terminal(self):
        import pty
        try:
            for end in pty.openpty():
                os.close(end)
        except OSError as error:
            self.skipTest(f"no terminals here: {error}")
        def on_terminal(*words, **more):
            master, slave = pty.openpty()
            child = subprocess.Popen([LSTMC, *words], cwd=self.folder, stdout=subprocess.PIPE,
                                     stderr=slave, env={"PATH": os.environ["PATH"], **more})
            os.close(slave)
            seen = b""
            try:
                while block := os.read(master, 65536):
                    seen += block
            except OSError:
                pass
            child.communicate()
            os.close(master)
            return seen
        (self.folder / "bad.lnet").write_text("x = 007\n")
        bad = ["compile", "bad.lnet", "--dry-run"]
        self.assertIn(b"\x1b[1;31m", on_terminal(*bad, TERM="xterm"))
        self.assertNotIn(b"\x1b[", on_terminal(*bad, TERM="xterm", NO_COLOR="1"))
        self.assertNotIn(b"\x1b[", on_terminal(*bad, TERM="dumb"))
        train = [*LEARN, "--after", "3Ku", "-o"]
        self.assertIn("━".encode(), on_terminal(*train, "ck1", TERM="xterm", COLUMNS="140"))
        self.assertNotIn("━".encode(), on_terminal(*train, "ck2", TERM="dumb"))
        self.assertNotIn("━".encode(),
                         on_terminal(*train, "ck3", "--progress", "never", TERM="xterm"))

    def test_log_and_trace(self):
        self.good(*LEARN, "-o", "ck", "--log", "log.jsonl", "--trace", "trace.json", "-q")
        lines = [json.loads(line) for line in (self.folder / "log.jsonl").read_text().splitlines()]
        self.assertTrue(any("saved ck/update-000006" in line["text"] for line in lines))
        self.assertTrue(all({"time_s", "level"} <= set(line) for line in lines))
        spans = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
        self.assertIn("plan-memory", {s["name"] for s in spans if s.get("cat") == "pass"})
        launches = [s for s in spans if s.get("cat") == "launch"]
        self.assertTrue(any(s["args"]["at"].startswith("step ") for s in launches))
        for before, after in zip(launches, launches[1:]):
            self.assertLessEqual(before["ts"] + before["dur"], after["ts"] + 1e-3)
        self.good(*LEARN, "-o", "ck2", "-d", "2xcpu", "--trace", "two.json", "-q")
        spans = json.loads((self.folder / "two.json").read_text())["traceEvents"]
        lanes = {s["args"]["name"]: s["tid"] for s in spans if s["ph"] == "M"}
        self.assertEqual(list(lanes), ["compiler", "cpu:0", "cpu:1"])
        for lane in ("cpu:0", "cpu:1"):
            at = [s for s in spans if s["ph"] == "X" and s["tid"] == lanes[lane]]
            self.assertEqual(sum(s["args"]["at"].startswith("step 0,") for s in at), 6)
            for before, after in zip(at, at[1:]):
                self.assertLessEqual(before["ts"] + before["dur"], after["ts"] + 1e-3)
        (self.folder / "bad.lnet").write_text("x = 007\n")
        self.run_here("compile", "bad.lnet", "--dry-run", "--log", "bad.jsonl")
        self.assertEqual(json.loads((self.folder / "bad.jsonl").read_text())["code"], "E0104")


class Files(Case):
    OUTPUTS = [(["compile", "small.lnet", "-o", "out"], "out"),
               (["run", "small.lnet", "-i", "data=0", "-o", "out.npz"], "out.npz"),
               (["plot", "small.lnet", "-o", "out.dot"], "out.dot"),
               (["compile", "small.lnet", "--dry-run", "--log", "out"], "out"),
               (["compile", "small.lnet", "-o", "other", "--force", "--trace", "out"], None),
               (["help", "--pages", "."], "flags.md")]

    def test_an_existing_file_is_kept(self):
        for words, name in self.OUTPUTS:
            if name is None:
                continue
            (self.folder / name).write_text("mine")
            done = self.run_here(*words)
            self.assertEqual(done.returncode, 6, words)
            self.assertIn("error[E0608]", done.stderr)
            self.assertEqual((self.folder / name).read_text(), "mine")
            self.good(*words, "--force")
            self.assertNotEqual((self.folder / name).read_text(errors="replace"), "mine")

    def test_nothing_unfinished_is_left(self):
        for words, _ in self.OUTPUTS:
            self.run_here(*words, "--force")
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name.startswith(".")], [])
        # The new file replaces the old one by rename: a process with the old file open still sees
        # the old contents.
        with open(self.folder / "out.npz", "rb") as old:
            before = old.read()
            self.good("run", "small.lnet", "-i", "data=1", "-o", "out.npz", "--force")
            old.seek(0)
            self.assertEqual(old.read(), before)
        self.assertNotEqual((self.folder / "out.npz").read_bytes(), before)

    def test_dry_run_writes_nothing(self):
        self.good(*LEARN, "-o", "ck")
        before = sorted(self.folder.iterdir())
        for words in [["compile", "small.lnet", "-o", "m.lstmc"],
                      ["run", "small.lnet", "-i", "data=0", "-o", "y.npz"], [*LEARN, "-o", "ck2"],
                      ["plot", "small.lnet", "-o", "n.dot"], ["bench", "small.lnet"],
                      ["eval", "ck", "--data", "text:text.txt"],
                      ["predict", "ck", "-o", "p.csv"]]:
            self.good(*words, "--dry-run")
        (self.folder / "ugly.lnet").write_text("x=1\n")
        self.good("fmt", "ugly.lnet", "--dry-run")
        self.assertEqual((self.folder / "ugly.lnet").read_text(), "x=1\n")
        (self.folder / "ugly.lnet").unlink()
        self.assertEqual(sorted(self.folder.iterdir()), before)


class WrongPrograms(Case):
    """The complete messages for the invalid programs of tests/frontend/lnet/errors."""

    def test_texts(self):
        folder = SOURCE / "tests/frontend/lnet/errors"
        expected = sorted(folder.glob("*.txt"))
        self.assertGreaterEqual(len(expected), 20)
        with_place = 0
        for path in expected:
            name = path.stem
            flags = folder / (name + ".args")
            words = flags.read_text().split() if flags.exists() else []
            done = run("compile", name + ".lnet", "--dry-run", *words, cwd=folder,
                       errors="surrogateescape")
            text = path.read_text(errors="surrogateescape")
            code = text.split("error[")[1][:5] if "error[" in text else None
            usage = code == "E0001"
            self.assertEqual(done.stderr, text + ("" if usage else f"lstmc explain {code}\n"), name)
            self.assertEqual((done.returncode, done.stdout),
                             (2 if usage else 6 if code == "E0601" else 3, ""), name)
            with_place += not usage and bool(
                __import__("re").match(r"[^:\n]+:\d+:\d+: (error|warning)\[[EW]\d{4}\]: ", text))
        self.assertGreaterEqual(with_place, 20)


if __name__ == "__main__":
    unittest.main()
