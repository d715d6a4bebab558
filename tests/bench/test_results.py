"""Measurements stored by bench.py, and the pages that results.py makes of them."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import bench  # noqa: E402
import results  # noqa: E402

# lstmc 2 ms, with a limit of 1.5; torch is less steady, and overall faster than ort.
ROW = {"cell": "ptb-small", "what": "infer", "limit_ms": 1.5,
       "programs": {"lstmc": bench.measured([[2.0, 2.0, 2.1], [1.9, 2.0]]),
                    "torch": bench.measured([[3.0, 9.0], [3.5, 3.0, 4.0]]),
                    "ort": bench.measured([[4.0]])}}


class Results(unittest.TestCase):
    def test_a_measurement_keeps_its_deviation_and_rounds(self):
        self.assertEqual(ROW["programs"]["torch"], {"median_ms": 3.5, "deviation_ms": 0.5,
                                                    "runs": 5, "rounds_ms": [6.0, 3.5]})
        self.assertEqual(ROW["programs"]["lstmc"], {"median_ms": 2.0, "deviation_ms": 0.0,
                                                    "runs": 5, "rounds_ms": [2.0, 1.95]})

    def test_every_peer_is_in_the_table(self):
        self.assertEqual(results.cells({"cells": [ROW]})[2], "| ptb-small | infer | 2.0000 ± "
                                                             "0.0000 | 3.5000 ± 0.5000 | 4.0000 ± "
                                                             "0.0000 | - | 1.75 (torch) | 0.75 |")
        self.assertEqual(results.best(ROW), ("torch", 1.75))
        self.assertRegex(bench.shown(ROW), r"^\| ptb-small +\| infer +\| +2\.0000 \| torch \| "
                                           r"+3\.5000 \| +1\.75 \| +0\.75 \|$")
        with_before = {**ROW, "programs": {**ROW["programs"], "before": bench.measured([[2.5]])}}
        self.assertTrue(bench.shown(with_before).endswith("|  1.250 |"))
        self.assertEqual(results.best(with_before), ("torch", 1.75))

    def test_every_peer_is_pinned(self):
        lines = [line for line in (HERE / "peers.lock").read_text().splitlines()
                 if not line.startswith("#")]
        self.assertEqual(len(bench.pinned()), len(lines))
        for result in results.peers():
            self.assertRegex(result["commit"], r"^[0-9a-f]{7,}( with changes)?$")
            self.assertRegex(result["date"], r"^\d{4}-\d\d-\d\d$")
            for name, version in result["peers"].items():
                self.assertTrue(version, name)

    def test_documents_are_checked(self):
        with tempfile.TemporaryDirectory() as scratch:
            tree = pathlib.Path(scratch)
            shutil.copytree(HERE, tree / "tests/bench",
                            ignore=shutil.ignore_patterns("__pycache__"))
            shutil.copy(HERE.parent.parent / "README.md", tree)
            program = [sys.executable, "-B", tree / "tests/bench/results.py"]

            def check():
                return subprocess.run([*program, "--check"], capture_output=True, text=True)

            self.assertEqual(check().returncode, 0, check().stderr)
            path = tree / "tests/bench/results/tables.json"
            tables = json.loads(path.read_text())
            tables["sections"][0]["rows"][0][-1] = "0.12"
            path.write_text(json.dumps(tables))
            self.assertIn("RESULTS.md has other figures", check().stderr)
            subprocess.run(program, check=True)
            self.assertEqual(check().returncode, 0)
            # A file of this machine, as `./dev bench peers --results` writes it, gets a section and
            # a column in the README.
            (tree / "tests/bench/results/here.json").write_text(json.dumps({
                "schema": "lstmc.bench.peers/2", "machine": "a machine", "date": "2027-01-02",
                "commit": "0123abc with changes", "threads": 2, "rounds": 3,
                "seconds": 0.9, "peers": bench.pinned(), "cells": [ROW]}))
            self.assertEqual(check().returncode, 1)
            subprocess.run(program, check=True)
            self.assertIn("## 2027-01-02, a machine\n\nCommit 0123abc with changes, 2 "
                          "threads; torch", (tree / "tests/bench/RESULTS.md").read_text())
            self.assertRegex((tree / "README.md").read_text(),
                             re.compile(r"^\| network \| a machine, 2027-01-02 \|", re.M))


if __name__ == "__main__":
    unittest.main()
