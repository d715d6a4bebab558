"""Signals, resuming and memory, through the command: a run that is stopped and resumed ends with
the weights of a run that is not stopped, and no run needs more memory than planned, checkpoints
included."""
import ctypes
import json
import random
import os
import re
import shutil
import signal
import subprocess
import unittest

from command import Case, HERE, LSTMC, SOURCE

LEARN = ["train", "small.lnet", "--data", "text:text.txt,valid=0.2", "--valid-every", "20u",
         "--save-every", "40u", "--disp-every", "1u"]


def weights(folder):
    newest = sorted(p for p in folder.iterdir() if re.fullmatch(r"update-\d+", p.name))[-1]
    return (newest.name, (newest / "model.safetensors").read_bytes(),
            (newest / "optimizer.safetensors").read_bytes())


class Earlier(Case):
    """checkpoint-0.1 was written by lstmc 0.1.0: `lstmc train lm.lnet --after 10u -o
    checkpoint-0.1`."""

    def setUp(self):
        super().setUp()
        shutil.copytree(HERE / "checkpoint-0.1", self.folder / "ck")

    def test_weights_of_it_load(self):
        done = self.good("eval", "ck/lm.lnet", "--params", "ck", "--data", "text:ck/pangrams.txt")
        self.assertIn("loss 2.39368  perplexity 10.9537", done.stdout)

    def test_training_goes_on_from_it(self):
        done = self.good("train", "ck/lm.lnet", "-o", "ck", "--resume", "--after", "12u")
        self.assertIn("warning: ck/update-000010: error[E0610]: written by lstmc 0.1.0 (9cd8e17), "
                      "whose digest of a network is another", done.stderr)
        self.assertEqual(weights(self.folder / "ck")[0], "update-000012")
        network = self.folder / "ck/lm.lnet"
        network.write_text(network.read_text().replace("num_hidden=4", "num_hidden=5"))
        done = self.run_here("train", "ck/lm.lnet", "-o", "ck", "--resume", "--after", "14u")
        self.assertEqual(done.returncode, 6)

    def test_its_package_is_refused_with_what_to_do(self):
        done = self.run_here("eval", "ck", "--data", "text:ck/pangrams.txt")
        self.assertEqual(done.returncode, 6)
        self.assertIn("error[E0603]: abi: package needs abi 5, this runtime has ", done.stderr)
        self.assertIn("--params CHECKPOINT", done.stderr)


class Stopped(Case):
    def stop(self, number, folder, at):
        """Sends a signal after update `at` is reported."""
        words = [LSTMC, *LEARN, "--after", "100Mu", "-o", folder]
        with subprocess.Popen(words, cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as child:
            for line in child.stderr:
                if line.startswith(f"update={at} "):
                    child.send_signal(number)
                    break
            rest = child.stderr.read()
        return child.returncode, rest

    def test_a_resumed_run_ends_with_equal_bits(self):
        for number, status, at in [(signal.SIGINT, 130, 7), (signal.SIGTERM, 143, 45)]:
            folder = f"stopped-{status}"
            returned, said = self.stop(number, folder, at)
            self.assertEqual(returned, status)
            self.assertRegex(said, rf"(?m)^stopped   signal at update \d+$")
            name, *_ = weights(self.folder / folder)
            reached = int(name.split("-")[1])
            self.assertGreaterEqual(reached, at)
            total = str(reached + 30) + "u"
            self.good(*LEARN, "--after", total, "-o", folder, "--resume")
            self.good(*LEARN, "--after", total, "-o", f"whole-{status}")
            self.assertEqual(weights(self.folder / folder),
                             weights(self.folder / f"whole-{status}"))

    def test_comparing_replicas_changes_nothing(self):
        def trained(folder, *words):
            return self.good(*LEARN, "--after", "5u", "-o", folder,
                             *words).stdout.split("weights ")[1]
        self.assertEqual(trained("compared", "-d", "2xcpu", "--check-replicas", "2"),
                         trained("alone"))
        done = self.run_here(*LEARN, "--after", "5u", "-o", "no", "--check-replicas", "often")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--check-replicas takes a count", done.stderr)

    def test_a_folder_with_checkpoints_is_not_begun_anew(self):
        self.good(*LEARN, "--after", "3u", "-o", "ck")
        done = self.run_here(*LEARN, "--after", "3u", "-o", "ck")
        self.assertEqual(done.returncode, 6)
        self.assertIn("E0608", done.stderr)

    def test_the_seed_decides(self):
        hashes = {}
        for seed in ("1", "1", "2"):
            words = [*LEARN, "--after", "3u", "-o", f"ck{len(hashes)}-{seed}", "--seed", seed,
                     "--force"]
            hashes.setdefault(seed, set()).add(self.good(*words).stdout.split("weights ")[1])
        self.assertEqual([len(h) for h in hashes.values()], [1, 1])
        self.assertNotEqual(hashes["1"], hashes["2"])
        # The file's value holds unless a flag overrides it.
        text = (self.folder / "small.lnet").read_text().replace("num_update=6)",
                                                                "num_update=6, seed=2)")
        (self.folder / "small.lnet").write_text(text)
        self.assertEqual(
            {self.good(*LEARN, "--after", "3u", "-o", "ck3").stdout.split("weights ")[1]},
            hashes["2"])

    def test_a_schedule_of_the_file_is_in_force(self):
        text = (self.folder / "small.lnet").read_text().replace(
            "num_update=6)", "lr_scheduler=MultiFactorScheduler(step=[2, 4], factor=0.1))")
        (self.folder / "small.lnet").write_text(text)
        said = self.good(*LEARN, "--after", "6u", "-o", "ck").stderr
        rates = [float(rate) for rate in re.findall(r"(?m)^update=.* lr=(\S+)", said)]
        self.assertEqual([round(rate, 9) for rate in rates],
                         [0.01, 0.01, 0.001, 0.001, 0.0001, 0.0001])


PAGE = 4096
PR_SET_THP_DISABLE = 41
# 50 MiB of parameters, so that a copy would be noticed.
WIDE = """hidden, layers = setting("hidden", 900), setting("layers", 2)
N, T = dim("batch", 2), dim("seq", 3)

def wide(data: float32[T, N, hidden], label: float32[T, N, hidden]):
    x = data
    for i in range(layers):
        x, h, c = LSTM(x, num_hidden=hidden, name="lstm%d" % i)
    return LinearRegressionOutput(x, label)
"""


class Memory(Case):
    def held(self, document, spare=PAGE, read=0):
        for device in document["peak"]:
            self.assertLessEqual(device["measured_bytes"], device["planned_bytes"])
            self.assertLess(device["planned_bytes"] - device["measured_bytes"], spare, device)
        self.assertLess(document["resident_beyond_bytes"], (90 << 20) + read)
        self.assertGreater(document["resident_beyond_bytes"], 10 << 20)

    def test_what_is_planned_is_touched_and_little_beyond(self):
        # A touched huge page counts as a whole, so they are switched off; children inherit this.
        self.assertEqual(ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0)
        (self.folder / "wide.lnet").write_text(WIDE)
        for i, words in enumerate([[], ["--optimizer", "adam"], [
                "-d", "2xcpu", "--kv-store", "device", "--fit", "momentum=0.9"]]):
            folder = f"ck{i}"
            trained = self.document("train", "wide.lnet", "--data", "random:1", "--after", "3u",
                                    "--save-every", "1u", "-o", folder, *words,
                                    schema="lstmc.train/1")
            self.held(trained["end"])
        self.held(self.document("run", "wide.lnet", "-i", "data=3x2x900xf32=random:1",
                                schema="lstmc.run/1"))
        weights = self.folder / "ck0/last/model.safetensors"  # read as a whole
        self.held(self.document("eval", "wide.lnet", "--params", weights, "--data", "random:1",
                                schema="lstmc.eval/1"),
                  read=weights.stat().st_size)

    def test_the_compiler_and_many_threads_take_little_beyond(self):
        lines = random.Random(1)
        (self.folder / "long.txt").write_text(
            "".join(lines.choice("abcdefghijklmnopqrstuvwxyz ,.\n") for _ in range(200_000)))
        net = SOURCE / "samples/char_lm.lnet"
        for i, words in enumerate([["-d", "8xcpu"], ["-d", "8xcpu", "--place", "auto"],
                                   ["--accumulate", "4"], ["-t", "16"]]):
            document = self.document("train", net, "--data", "text:long.txt", "--after", "1u",
                                     "-o", f"long{i}", *words, schema="lstmc.train/1")
            # Half of the allowed 90 MiB is code of the compiler, unless it is unmapped.
            self.assertLess(document["end"]["resident_beyond_bytes"], 75 << 20, words)

    def resident(self, child):
        try:
            with open(f"/proc/{child.pid}/smaps_rollup") as pages:
                # The process's private KiB, summed over its mappings: shared pages of files vary,
                # and the kernel's counters lag.
                return sum(int(line.split()[1]) for line in pages if line.startswith("Anonymous:"))
        except OSError: # at its end
            return 0

    def test_memory_is_flat_over_10_000_updates(self):
        docs = "".join(path.read_text() for path in sorted((SOURCE / "docs").glob("*.md")))
        (self.folder / "docs.txt").write_text(docs)
        child = subprocess.Popen(
            [LSTMC, "train", "small.lnet", "--data", "text:docs.txt,valid=0.05",
             "--after", "11000u", "--save-every", "500u", "--valid-every", "1000u",
             "--disp-every", "100u", "-o", "ck", "--format", "jsonl"],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        sizes = {}
        for line in child.stdout:
            event = json.loads(line)
            if event["event"] == "update":
                sizes[event["update"]] = self.resident(child)
        child.stdout.close()
        self.assertEqual(child.wait(), 0)
        # The heap keeps a 1 MiB file buffer from the first or second save on, so the first five
        # saves are ignored.
        sizes = {update: size for update, size in sizes.items() if update >= 2500 and size > 0}
        self.assertGreater(len(sizes), 75)
        # A list that grows by 64 bytes an update would be 544 KiB.
        self.assertLess(max(sizes.values()) - sizes[2500], 384, sizes)


class Deployed(Case):
    def test_a_checkpoint_gives_the_weights_of_a_package(self):
        self.good("train", "small.lnet", "--data", "text:text.txt", "--after", "3u", "-o", "ck")
        self.good("compile", "small.lnet", "-o", "small.lstmc")
        def outputs(*words):
            done = subprocess.run([os.environ["LSTMC_RUN"], *words, "-i", "data=1", "-o", "y.npz"],
                                  cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            data = (self.folder / "y.npz").read_bytes()
            (self.folder / "y.npz").unlink()
            return data
        given = outputs("small.lstmc", "--params", "ck")
        self.assertEqual(outputs("small.lstmc", "--params", "ck/last"), given)
        self.assertEqual(outputs("small.lstmc", "--params", "ck/last/model.safetensors"), given)
        self.assertNotEqual(outputs("small.lstmc"), given)


if __name__ == "__main__":
    unittest.main()
