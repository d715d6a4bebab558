"""NVIDIA GPUs by their names in flags, with CUDA libraries that emulate them (tests/gpu/cuda)."""
import json
import os
import unittest

from command import Case

GIB = 2**30
CARDS = {"LD_LIBRARY_PATH": os.environ["LSTMC_EMULATED_CUDA"], "LSTMC_EMU_CARDS": "2",
         "LSTMC_EMU_MEMORY": str(2 * GIB)}


class Gpus(Case):
    def setUp(self):
        super().setUp()
        if "this build had no nvcc" in self.good("devices", env=CARDS).stdout:
            self.skipTest("this build had no nvcc, so it has no kernels for GPUs")

    def test_cards_and_links_are_listed(self):
        said = self.good("devices", env={**CARDS, "LSTMC_EMU_CARDS": "3"}).stdout.splitlines()
        first = next(i for i, line in enumerate(said) if line.startswith("gpu:0"))
        self.assertEqual(said[first:first + 7], [
            "gpu:0         2.0 GiB    132 sm_90    emulated GPU, 70.0 GiB free, 345 of 1980 MHz, "
            "memory 2619 MHz",
            "gpu:1         2.0 GiB    132 sm_90    emulated GPU, 71.0 GiB free, 345 of 1980 MHz, "
            "memory 2619 MHz",
            "gpu:2         2.0 GiB    132 sm_90    emulated GPU, 72.0 GiB free, 345 of 1980 MHz, "
            "memory 2619 MHz",
            "links     gpu:0  gpu:1  gpu:2",
            "gpu:0         X   NV18    SYS",
            "gpu:1      NV18      X    SYS",
            "gpu:2       SYS    SYS      X"])
        self.assertRegex(said[first + 7], r"^driver   580\.65\.06.*13\.0.*; fused programs: ")
        self.assertEqual([line.split()[0] for line in said[first + 8:]],
                         ["cuBLASLt", "cuDNN", "NCCL"])

    def test_documents_have_the_same(self):
        done = self.good("devices", "--json", env=CARDS)
        cards = [device for device in json.loads(done.stdout)["devices"]
                 if device["name"].startswith("gpu")]
        self.assertEqual([card["links"] for card in cards], [["X", "NV18"], ["NV18", "X"]])
        self.assertEqual(
            {(card["card"], card["level"], card["cores"], card["clock_mhz"]) for card in cards},
            {("emulated GPU", "sm_90", 132, 345)})

    def test_a_gpu_that_is_not_there_ends_a_run(self):
        for cards in ("0", "2"):
            done = self.run_here("run", "small.lnet", "-i", "data=random:3", "-d", "gpu:2",
                                 env={**CARDS, "LSTMC_EMU_CARDS": cards})
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertIn(f"error[E0501]: gpu:2: found {cards} GPUs", done.stderr)

    def trained(self, *flags):
        """Trains and returns the hash of the final weights, and stderr."""
        done = self.good("train", "small.lnet", "--data", "text:text.txt,valid=0.2", "-o", "ck",
                         "--force", *flags, env=CARDS)
        return done.stdout.split("weights ")[1].split()[0], done.stderr + done.stdout

    def test_they_train_to_the_weights_of_a_cpu(self):
        alone, _ = self.trained("-d", "cpu")
        for flags in ("-d gpu:0", "-d gpu", "-d gpu:0,1 --check-replicas 2", "-d cpu:0,gpu:1",
                      "-d gpu:0,0", "-d 2xgpu --place auto=2 --chunks 2",
                      "--gpus 1", "-d gpu:0 --fast cudnn"):
            with self.subTest(flags=flags):
                self.assertEqual(self.trained(*flags.split())[0], alone)

    def test_the_log_has_their_memory_and_how_busy_they_are(self):
        said = self.trained("-d", "2xgpu", "--disp-every", "2u")[1]
        self.assertGreaterEqual(said.count("gpus      gpu:0 70.00 GiB free, 12 % busy; gpu:1 71.00 "
                                           "GiB free, 12 % busy\n"), 3, said)
        self.assertIn("gpus      gpu:1 71.00 GiB free, 12 % busy\n",
                      self.trained("--gpus", "1", "--disp-every", "2u")[1])

    def test_libraries_are_followed_and_say_what_they_chose(self):
        hashes = {}
        for rules in ("cublaslt", "bf16,cublaslt", "tf32", "fp16,cudnn"):
            hashes[rules], said = self.trained("-d", "gpu:0", "--fast", rules)
            self.assertIn("cpu-f32+" + rules.replace(",", "+"), said)
            self.assertEqual("cuBLASLt 13.0.2: a product of " in said, "cublaslt" in rules, said)
            self.assertEqual("cuDNN 9" in said, "cudnn" in rules, said)
            self.assertEqual(self.trained("-d", "gpu:0", "--fast", rules)[0], hashes[rules])
        self.assertEqual(len(set(hashes.values())), 4, hashes)

    def test_memory_is_taken_as_planned(self):
        said = self.good("train", "small.lnet", "--data", "text:text.txt", "-o", "ck",
                         "-d", "2xgpu", "--format", "jsonl", env=CARDS).stdout
        peak = json.loads(said.splitlines()[-1])["peak"]
        self.assertEqual([device["device"] for device in peak], ["gpu:0", "gpu:1"])
        for device in peak:
            self.assertEqual(device["measured_bytes"], device["planned_bytes"], peak)


if __name__ == "__main__":
    unittest.main()
