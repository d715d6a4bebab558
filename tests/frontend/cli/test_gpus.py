"""What a user is shown of NVIDIA GPUs, with a driver and an NVML that only say what three cards are (fake/)."""
import json
import os
import unittest

from command import Case

CARDS = {"LD_LIBRARY_PATH": os.environ["LSTMC_FAKE_GPUS"]}


class Gpus(Case):
    def test_cards_and_links_are_listed(self):
        said = self.good("devices", env=CARDS).stdout.splitlines()
        first = next(i for i, line in enumerate(said) if line.startswith("gpu:0"))
        self.assertEqual(said[first:first + 7], [
            "gpu:0        79.0 GiB    132 sm_90    NVIDIA H100 80GB HBM3, 70.0 GiB free, 345 of 1980 MHz, memory 2619 MHz",
            "gpu:1        79.0 GiB    132 sm_90    NVIDIA H100 80GB HBM3, 71.0 GiB free, 345 of 1980 MHz, memory 2619 MHz",
            "gpu:2        79.0 GiB    132 sm_90    NVIDIA H100 80GB HBM3, 72.0 GiB free, 345 of 1980 MHz, memory 2619 MHz",
            "links     gpu:0  gpu:1  gpu:2",
            "gpu:0         X   NV18    SYS",
            "gpu:1      NV18      X    SYS",
            "gpu:2       SYS    SYS      X"])
        self.assertRegex(said[first + 7], r"^driver   580\.65\.06.*13\.0.*; fused programs: ")
        # Each library that is not here is named.
        self.assertTrue(all(any(line.startswith(name) for line in said) for name in ("cuBLASLt", "cuDNN", "NCCL")), said)

    def test_documents_have_the_same(self):
        done = self.good("devices", "--json", env=CARDS)
        cards = [device for device in json.loads(done.stdout)["devices"] if device["name"].startswith("gpu")]
        self.assertEqual([card["links"] for card in cards], [["X", "NV18", "SYS"], ["NV18", "X", "SYS"], ["SYS", "SYS", "X"]])
        self.assertEqual({(card["card"], card["level"], card["cores"], card["clock_mhz"]) for card in cards}, {("NVIDIA H100 80GB HBM3", "sm_90", 132, 345)})

    def test_a_driver_that_does_nothing_ends_a_run(self):
        done = self.run_here("run", "small.lnet", "-i", "data=random:3", "-d", "gpu:0", env=CARDS)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("error[E0501]", done.stderr)


if __name__ == "__main__":
    unittest.main()
