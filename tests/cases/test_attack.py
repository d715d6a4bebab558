"""The cases of attacks and faults, in the order of their README."""
import os
import pty
import re
import signal
import stat
import subprocess
import time

import walk

SIX = "--data random:1 --after 3u --force -o ck"


class Attack(walk.Walk):
    cases = "attack"

    def small(self):
        self.shell("$LSTMC compile small.lnet -o small.lstmc")

    def weights(self, line, **options):
        return re.search(r"weights ([0-9a-f]{16})", self.shell(line, **options))[1]

    def test_observers_on_several_gpus_have_the_bits_of_a_cpu(self):
        plain = self.weights(f"$LSTMC train check_nan_2gpu.lnet -d cpu {SIX}")
        for devices in ("2xemu", "3xemu", "emu:0,0"):
            for observer in ("--check-nan", "--monitor '*'", "--check-nan -t 1"):
                with self.subTest(f"{devices} {observer}"):
                    self.assertEqual(self.weights(f"$LSTMC train check_nan_2gpu.lnet -d {devices} "
                                                  f"{observer} {SIX}"), plain)
        self.shell("$LSTMC eval ck -d 2xemu --data random:1 --check-nan")

    def test_every_entry_runs_on_a_small_stack(self):
        self.small()
        for size in (192, 256, 384, 1024):
            self.says(self.script("py_small_stack.py", size), "forward ok", "evaluate ok",
                      "step ok")
        self.shell("ulimit -s 1024; $LSTMC train small.lnet --data text:small.txt --after 2u -o ck")

    def test_a_limit_of_file_sizes_is_a_full_disk(self):
        self.small()
        for line in ("train small.lnet --data text:small.txt --after 2u -o ck",
                     "compile small.lnet -o other.lstmc", "plot small.lnet -o net.svg"):
            text = self.shell(f"ulimit -f 2; $LSTMC {line}", exit=6)
            self.says(text, "error.*File too large")
        self.assertEqual([path.name for path in self.folder.rglob("*")
                          if path.name.startswith((".update", ".net", ".other"))], [])

    def test_a_log_on_a_full_disk_ends_with_6(self):
        text = self.shell("$LSTMC train small.lnet --data text:small.txt --after 3u -o ck "
                          "--log /dev/full", exit=6)
        self.says(text, "warning: /dev/full.*No space left", "weights", "error.*No space left")

    def test_a_function_as_a_metric_is_called_or_refused(self):
        text = self.script("py_metric_function_never_called.py")
        lines = [line for line in text.splitlines() if line.startswith("[")]
        self.assertGreaterEqual(len(lines), 6)
        for line in lines:
            self.assertRegex(line, "RuntimeError metric|error.E0001.*no data to validate on")

    def test_patterns_match_in_linear_time(self):
        self.shell("$LSTMC compile regex.lnet -o x.lstmc", limit=20)

    def test_heads_cost_what_they_are(self):
        text = self.script("heads.py")
        self.says(text, r"20000 heads \d+ bytes [0-4]\.\d* s \d\d\d? MiB ok")

    def test_names_and_numbers_have_a_place(self):
        for name, code, exit in (("name_newline", "E0204", 3), ("num_bcax_2147483647", "E0402", 4),
                                 ("num_flat_2147483647", "E0402", 4)):
            text = self.shell(f"$LSTMC compile {name}.lnet -o x.lstmc", exit)
            self.says(text, rf"{name}\.lnet:\d+:\d+: error\[{code}\]")
        long = "a" * 300
        text = self.shell(f"$LSTMC train small.lnet --data text:small.txt -o {long} --resume", 6)
        self.says(text, r"error\[E0601\].*File name too long")

    def test_a_sample_is_escaped_on_a_terminal(self):
        self.shell("$LSTMC train small.lnet --data text:esc.txt --after 20u -o ck")
        plain = subprocess.run([walk.COMMAND, "sample", "ck", "--seed", "1"], cwd=self.folder,
                               capture_output=True, check=True).stdout
        ours, theirs = pty.openpty()
        process = subprocess.Popen([walk.COMMAND, "sample", "ck", "--seed", "1"], cwd=self.folder,
                                   stdout=theirs, stderr=subprocess.DEVNULL)
        os.close(theirs)
        shown = b""
        while True:
            try:
                more = os.read(ours, 1 << 16)
            except OSError:  # the terminal is closed
                break
            if not more:
                break
            shown += more
        self.assertEqual(process.wait(), 0)
        self.assertIn(b"\x1b", plain)
        self.assertNotIn(b"\x1b", shown)

    def test_a_fit_within_a_fit_is_refused(self):
        self.says(self.script("py_nested_fit_hang.py", exit=1), "E0001.*fit was called within")

    def test_a_daemon_thread_at_exit_ends_with_0(self):
        self.small()
        for _ in range(5):
            self.script("exit_thread.py")

    def test_numbers_that_an_input_does_not_hold_are_refused(self):
        (self.folder / "mnist8.lnet").write_text(
            'def net(data: float32[4, 8, 8]):\n'
            '    return FullyConnected(data, num_hidden=2, name="fc")\n')
        self.shell("""$PYTHON -c 'import numpy as np; np.savez("w.npz", fc_bias=np.zeros(2, "f4"),
                   fc_weight=np.ones((2, 64), "f4"))'
                   $LSTMC compile mnist8.lnet -o mnist8.lstmc --params w.npz""")
        self.says(self.script("py_float_overflow.py", exit=1), r"error\[E0\d\d\d\].*data")

    def test_the_file_of_rates_is_no_way_to_another(self):
        line = "LSTMC_CACHE_DIR=$PWD/cache $LSTMC plan small.lnet"
        self.shell("mkdir cache; echo mine > file; ln -s ../file cache/machine.json")
        self.shell(line)
        self.assertEqual((self.folder / "file").read_text(), "mine\n")
        self.shell("rm cache/machine.json; mkfifo cache/machine.json")
        self.shell(line)

    def test_values_that_are_not_finite_end_with_7(self):
        self.shell("""$PYTHON -c 'import numpy as np; np.savez("w.npz", **{f"f{i}_{name}":
                   np.ones(shape, "f4") for i, name, shape in ((1, "weight", (5, 3)),
                   (1, "bias", 5), (2, "weight", (1, 5)), (2, "bias", 1))})
np.save("row.npy", np.load("nan.npz")["data"][12:])'""")
        for line in ("eval nan.lnet --data npz:nan.npz", "run nan.lnet -i data=@row.npy",
                     "predict nan.lnet --data npz:nan.npz -o p.npy"):
            with self.subTest(line):
                self.says(self.shell(f"$LSTMC {line} --params w.npz", exit=7),
                          r"error\[E07\d\d\]")

    def test_checkpoints_have_the_modes_of_the_umask(self):
        self.shell("umask 022; $LSTMC train small.lnet --data text:small.txt --after 2u -o ck")
        for path in (self.folder / "ck").rglob("*"):
            if not path.is_symlink():
                want = 0o755 if path.is_dir() else 0o644
                self.assertEqual(stat.S_IMODE(path.stat().st_mode), want, path)

    def test_the_signal_of_a_scheduler_saves(self):
        for name in ("USR1", "QUIT"):
            checkpoints = self.folder / f"ck{name}"
            process = subprocess.Popen(
                [walk.COMMAND, "train", "small.lnet", "--data", "text:small.txt", "--after",
                 "1000000u", "-o", checkpoints], cwd=self.folder, text=True, env=self.env,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.addCleanup(process.kill)
            while process.poll() is None and not (checkpoints / "last").exists():
                time.sleep(0.05)
            number = signal.Signals[f"SIG{name}"]
            process.send_signal(number)
            self.says(process.communicate(timeout=60)[0], "stopped +signal at update", "weights")
            self.assertEqual(process.returncode, 128 + number)
            self.assertEqual([path.name for path in checkpoints.iterdir()
                              if path.name.startswith(".update")], [])


if __name__ == "__main__":
    walk.main()
