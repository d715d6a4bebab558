"""Stored results of the bench of emulated GPUs count for the same command only."""
import pathlib
import tempfile
import unittest

import emulated


class Kept(unittest.TestCase):
    def test_another_build_finds_all_again(self):
        with tempfile.TemporaryDirectory() as folder:
            command = pathlib.Path(folder, "lstmc")
            command.write_bytes(b"one build")
            self.assertEqual(emulated.Done(command).of("order 1", lambda: "a"), "a")
            self.assertEqual(emulated.Done(command).of("order 1", lambda: "b"), "a")
            command.write_bytes(b"another")
            self.assertEqual(emulated.Done(command).of("order 1", lambda: "c"), "c")

    def test_ways_have_several_numbers_of_streams(self):
        asked = {way.split("--streams ")[1].split()[0] if "--streams" in way else "chosen"
                 for way in emulated.WAYS}
        self.assertGreater(len(asked), 3)


if __name__ == "__main__":
    unittest.main()
