"""inspect and compile say which loops of a source become one op, and why others do not."""
import json
import unittest

from command import SOURCE, Case

NETS = SOURCE / "tests/e2e/nets/rolled.lnet"


class Rolled(Case):
    def test_inspect_lists_what_is_rolled_and_how_it_rounds(self):
        said = self.good("inspect", NETS, "--net", "turned").stdout
        for name, mode, more in (("l0", "lstm", "x and h"), ("g", "gru", "x and h, of h")):
            self.assertIn(f"rolled {name}: 5 steps of {mode}; gradients of {more} are added in its "
                          "order", said)
        document = json.loads(self.good("inspect", NETS, "--net", "broken", "--json").stdout)
        self.assertEqual(document["rolled"], [
            {"name": "l0", "mode": "lstm", "cells": 5, "steps": 0,
             "reason": "step 2: its weights are not those of the first step", "rounding": None}])

    def test_compile_says_what_stays_written_out(self):
        words = ["compile", NETS, "-o", "net.lstmc", "--force", "--net"]
        self.assertNotIn("not rolled", self.good(*words, "turned").stderr)
        self.assertIn("not rolled l0: 5 steps of lstm: step 2: its weights are not those",
                      self.good(*words, "broken").stderr)
        self.assertNotIn("not rolled", self.good(*words, "broken", "-q").stderr)

    def test_a_loop_of_no_cell_is_listed_too(self):
        (self.folder / "own.lnet").write_text(
            "def own(data: float32[6, 3, 4]):\n"
            "    h = zeros((3, 4))\n"
            "    for t in range(6):\n"
            "        h = FullyConnected(h * data[t], weight=Variable('own_h2h_weight'),\n"
            "                           no_bias=True, num_hidden=4)\n"
            "    return h\n")
        self.assertIn("not rolled own: 6 steps of loop: its steps are not those of an LSTM, GRU or "
                      "RNN", self.good("inspect", "own.lnet").stdout)


if __name__ == "__main__":
    unittest.main()
