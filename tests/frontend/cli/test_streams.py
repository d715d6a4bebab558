"""Streams that fail, end or do not exist, and signals: the work continues if possible, else the
exit code is an error."""
import fcntl
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest
import zipfile

from command import Case, LSTMC, words_in_table
from test_import import state_dict

LEARN = ["train", "small.lnet", "--data", "text:text.txt,valid=0.2"]
FULL = "error[E0601]: cannot write: No space left on device"
HAS_MPI = shutil.which("mpirun") and pathlib.Path(LSTMC).with_name("liblstmc-mpi.so").exists()
RANKS = ["launch", "-n", "2", "--"]


class Streams(Case):
    def raw(self, *words, **streams):
        """Runs the command with streams in subprocess's form; stderr is captured by default."""
        streams.setdefault("stderr", subprocess.PIPE)
        return subprocess.run([LSTMC, *words], cwd=self.folder, timeout=240, **streams)

    def prepare(self):
        self.good(*LEARN, "-o", "ck")
        self.good("compile", "small.lnet", "-o", "m.lstmc")
        state_dict(self.folder / "torch.safetensors",
                   {"weight_ih_l0": (8, 3), "weight_hh_l0": (8, 2)})
        (self.folder / "f.mlir").write_text("func.func @f() {\n  return\n}\n")

    # A call for every subcommand, after prepare(), and its result.
    RESULTS = {"compile": ["small.lnet", "-o", "-"], "run": ["m.lstmc", "-i", "data=0"],
               "train": [*LEARN[1:], "-o", "ck2"], "eval": ["ck", "--data", "text:text.txt"],
               "predict": ["ck", "--data", "text:text.txt", "-o", "-"],
               "sample": ["ck", "--length", "9"], "plot": ["small.lnet"], "plan": ["small.lnet"],
               "import": ["torch.safetensors", "--as", "torch-lstm", "-o", "t.lnet", "--force"],
               "export": ["small.lnet", "--to", "mxnet", "-o", "exported", "--force"],
               "inspect": ["small.lnet"], "opt": ["f.mlir"], "fmt": ["-"], "diff": ["ck", "ck"],
               "bench": ["small.lnet", "-r", "1"], "devices": [], "doctor": [],
               "explain": ["E0207"], "help": [], "launch": [*RANKS[1:], *LEARN, "-o", "ck5"]}

    def test_a_result_that_cannot_be_written_is_none(self):
        self.assertEqual(set(self.RESULTS), set(words_in_table()[0]))
        self.prepare()
        more = [["compile", "small.lnet", "-o", "n.lstmc"],
                ["run", "m.lstmc", "-i", "data=0", "-o", "-"],
                ["run", "m.lstmc", "-i", "data=0", "--json"],
                ["train", *LEARN[1:], "-o", "ck3", "--format", "jsonl"], ["sample", "ck", "--json"],
                ["inspect", "ck", "--json"], ["train", *LEARN[1:], "-o", "ck4", "--dump-config"],
                ["opt", "--help"], ["run", "-h"], ["-h"], ["--version"],
                [*RANKS, "run", "small.lnet", "-i", "data=0", "-o", "-"],
                [*RANKS, "plan", "small.lnet", "--json"]]
        for words in [[command, *rest] for command, rest in self.RESULTS.items()] + more:
            if words[0] == "launch" and not HAS_MPI:
                continue
            with open("/dev/full", "w") as full:
                done = self.raw(*words, stdout=full, input=b"x = 1\n")
            said = done.stderr.decode()
            self.assertEqual(done.returncode, 6, f"{words}\n{said}")
            self.assertIn("No space left on device", said)
            if words[0] != "opt":
                self.assertIn(FULL, said)
        # The training itself completes.
        self.assertTrue((self.folder / "ck2/update-000006/state.json").exists())
        self.assertTrue((self.folder / "ck3/update-000006/state.json").exists())
        if HAS_MPI:
            self.assertTrue((self.folder / "ck5/update-000006/state.json").exists())

    def test_messages_that_cannot_be_written_change_nothing(self):
        with open("/dev/full", "w") as full:
            # the requested log failed, which is reported at the end
            for log, status in ([], 0), (["--log", "/dev/full"], 6):
                done = self.raw(*LEARN, "-o", "ck", "--disp-every", "1u", *log,
                                "--force", stdout=subprocess.PIPE, stderr=full)
                self.assertEqual(done.returncode, status)
                self.assertIn(b"ck/update-000006", done.stdout)
            self.assertEqual(self.raw("compile", "none.lnet", "--dry-run", stderr=full).returncode,
                             6)

    def test_a_reader_that_leaves_ends_a_result_quietly(self):
        self.prepare()
        child = subprocess.Popen([LSTMC, "sample", "ck", "--length", "100M", "-q"], cwd=self.folder,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(len(child.stdout.read(20)), 20)
        child.stdout.close()
        self.assertEqual((child.wait(timeout=240), child.stderr.read()), (0, b""))
        child.stderr.close()
        for words in [["opt", "f.mlir"], ["run", "m.lstmc", "-i", "data=0", "-q"], ["help"]]:
            read, write = os.pipe()
            os.close(read)
            done = self.raw(*words, stdout=write)
            os.close(write)
            self.assertEqual((done.returncode, done.stderr), (0, b""), words)

    def test_training_goes_on_without_its_readers(self):
        for number, start in enumerate([[], RANKS] if HAS_MPI else [[]]):
            child = subprocess.Popen([LSTMC, *start, *LEARN, "-o", f"ck{number}", "--after", "300u",
                                      "--disp-every", "1u", "--format", "jsonl"],
                                     cwd=self.folder,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            child.stdout.readline()
            child.stdout.close()
            child.stderr.close()
            self.assertEqual(child.wait(timeout=240), 0)
            self.assertTrue((self.folder / f"ck{number}/update-000300/state.json").exists())

    @unittest.skipUnless(HAS_MPI, "there is no Open MPI")
    def test_a_slow_reader_has_all_that_ranks_print(self):
        """The reader starts when the ranks have ended; their output exceeds the capacity of its
        pipe."""
        child = subprocess.Popen([LSTMC, *RANKS, *LEARN, "-o", "ck", "--after", "300u",
                                  "--disp-every", "1u", "--format", "jsonl"],
                                 cwd=self.folder,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, pipesize=4096)
        end = time.monotonic() + 240
        while not (self.folder / "ck/update-000300/state.json").exists() and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(3)  # longer than mpirun waits
        self.assertIsNone(child.poll())
        events = [json.loads(line) for line in child.communicate(timeout=240)[0].splitlines()]
        self.assertEqual(child.returncode, 0)
        self.assertEqual([e["update"] for e in events if e["event"] == "update"],
                         list(range(1, 301)))
        self.assertEqual(events[-1]["event"], "end")

    @unittest.skipUnless(HAS_MPI, "there is no Open MPI")
    def test_a_job_that_is_told_to_end_waits_for_no_reader(self):
        child = subprocess.Popen(
            [LSTMC, *RANKS, *LEARN, "-o", "ck", "--after", "100Mu", "--disp-every", "1u",
             "--format", "jsonl", "--save-every", "300u"],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, pipesize=4096)
        end = time.monotonic() + 240
        while not (self.folder / "ck/update-000300").exists() and time.monotonic() < end:
            time.sleep(0.05)
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(timeout=60), 143)
        child.stdout.close()

    def test_closed_descriptors_are_no_files_of_ours(self):
        whole = self.raw("compile", "small.lnet", "-o", "-", stdout=subprocess.PIPE).stdout
        for closed in [[0], [1], [2], [0, 1, 2]]:
            name = "m%s.lstmc" % "".join(map(str, closed))
            close = lambda: [os.close(fd) for fd in closed]
            done = subprocess.run([LSTMC, "compile", "small.lnet", "-o", name], cwd=self.folder,
                                  preexec_fn=close, timeout=240)
            self.assertEqual(done.returncode, 0, closed)
            self.assertEqual((self.folder / name).read_bytes(), whole)

    def test_dash_is_a_stream(self):
        self.prepare()
        self.good("run", "m.lstmc", "-i", "data=0", "-o", "y.npz")
        done = self.raw("run", "m.lstmc", "-i", "data=0", "-o", "-", stdout=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stdout), (0, (self.folder / "y.npz").read_bytes()))
        self.assertEqual(self.good("plot", "small.lnet", "-o", "-").stdout,
                         self.good("plot", "small.lnet").stdout)
        self.assertEqual(self.good("sample", "ck", "--length", "5", "-o", "-").stdout,
                         self.good("sample", "ck", "--length", "5").stdout)
        (self.folder / "c.toml").write_text("[sample]\nlength = 7\n")
        from_file = self.good("sample", "ck", "-c", "c.toml").stdout
        self.assertEqual(
            self.good("sample", "ck", "-c", "-", input="[sample]\nlength = 7\n").stdout, from_file)
        self.assertEqual(len(from_file), 8)
        self.assertFalse((self.folder / "-").exists())
        for words in [["run", "m.lstmc", "-i", "data=0", "-o", "-", "--json"], [*LEARN, "-o", "-"],
                      ["compile", "small.lnet", "-o", "-", "--params", "ck"]]:
            done = self.run_here(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("stdout", done.stdout + done.stderr)

    def test_one_array_is_an_npy(self):
        self.prepare()
        self.good("run", "m.lstmc", "-i", "data=0", "-o", "y.npz")
        self.good("run", "m.lstmc", "-i", "data=0", "-o", "y.npy")
        with zipfile.ZipFile(self.folder / "y.npz") as archive:
            self.assertEqual(archive.read(archive.namelist()[0]),
                             (self.folder / "y.npy").read_bytes())
        (self.folder / "two.lnet").write_text(
            "def f(data: float32[2]):\n    return tanh(data), sigmoid(data)\n")
        done = self.run_here("run", "two.lnet", "-i", "data=0", "-o", "two.npy")
        self.assertEqual(done.returncode, 2)
        self.assertIn("an npy file holds one array, and there are 2: want F.npz", done.stderr)

    def test_text_is_written_as_it_is_drawn_and_kept_when_stopped(self):
        self.prepare()
        words = [LSTMC, "sample", "ck", "--length", "100M", "-q", "--prime", "ab"]
        whole = self.good("sample", "ck", "--length", "3000", "--prime", "ab").stdout
        for number, status in [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]:
            # Unbuffered, because communicate() would miss what a buffer has read.
            child = subprocess.Popen(words, cwd=self.folder, stdout=subprocess.PIPE, bufsize=0)
            seen = b""
            while len(seen) < 500: # long before the end
                seen += child.stdout.read(500)
            child.send_signal(number)
            seen = (seen + child.communicate(timeout=240)[0]).decode()
            self.assertEqual(child.returncode, status)
            self.assertTrue(seen.endswith("\n"))
            self.assertEqual(seen[:-1][:len(whole) - 1], whole[:-1][:len(seen) - 1])
        child = subprocess.Popen([*words, "-o", "text.out"], cwd=self.folder)
        # Until the end the file has a temporary name.
        while not any(part.stat().st_size > 99 for part in self.folder.glob(".text.out.*.part")):
            self.assertIsNone(child.poll())
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(timeout=240), 130)
        kept = (self.folder / "text.out").read_text()
        self.assertGreater(len(kept), 99)
        self.assertEqual(kept[:2000], whole[:-1][:min(len(kept), 2000)])


class Ends(Case):
    def trained(self, *words, **options):
        return subprocess.Popen([LSTMC, *LEARN, "--disp-every", "1u", *words], cwd=self.folder,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                **options)

    def wait_for(self, child, begin):
        for line in child.stderr:
            if line.startswith(begin):
                return
        self.fail(f"never said {begin}")

    def test_a_terminal_that_goes_away(self):
        with self.trained("-o", "ck", "--after", "100Mu") as child:
            self.wait_for(child, "update=9 ")
            child.send_signal(signal.SIGHUP)
            said = child.stderr.read()
        self.assertEqual(child.returncode, 129)
        self.assertRegex(said, r"(?m)^stopped   signal at update \d+$")
        self.assertGreaterEqual(
            int(max(p.name for p in (self.folder / "ck").glob("update-*")).split("-")[1]), 9)
        self.assertEqual(self.run_here("bench", "small.lnet", "-r", "1").returncode, 0)

    def test_nohup_is_respected(self):
        with self.trained("-o", "ck", "--after", "200u",
                          preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as child:
            self.wait_for(child, "update=9 ")
            child.send_signal(signal.SIGHUP)
            child.stderr.read()
        self.assertEqual(child.returncode, 0)
        self.assertTrue((self.folder / "ck/update-000200").exists())

    def test_the_folder_is_locked_before_it_is_read(self):
        (self.folder / "ck").mkdir()
        held = os.open(self.folder / "ck", os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(held, fcntl.LOCK_EX)
        done = self.run_here(*LEARN, "-o", "ck", "--resume")
        os.close(held)
        self.assertEqual(done.returncode, 6)
        self.assertIn("another process writes checkpoints to this folder", done.stderr)
        done = self.run_here(*LEARN, "-o", "ck", "--resume")
        self.assertIn("found no good checkpoint", done.stderr)
        done = self.run_here(*LEARN, "-o", "none", "--resume")
        self.assertEqual(done.returncode, 6)
        self.assertFalse((self.folder / "none").exists())


if __name__ == "__main__":
    unittest.main()
