"""Walks the inputs of ../shared/cases (LSTMC_CASES): each once broke something. A folder's cases
stand in its module as they stand in the folder's README: a command, and what must happen."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["LSTMC_SOURCE"])
CASES = pathlib.Path(os.environ.get("LSTMC_CASES", SOURCE.parent / "shared" / "cases")) / "turn3"
COMMAND = os.environ["LSTMC"]
BUILD = pathlib.Path(os.environ["LSTMC_BUILD"])
PYTHON = os.environ["LSTMC_PYTHON"]
PEERS = os.environ.get("LSTMC_PEER_PYTHON")  # one that has PyTorch, pandas and NumPy


class Walk(unittest.TestCase):
    """A test with a copy of one folder of cases, in which commands run."""

    cases = ""  # the folder's name

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name) / self.cases
        shutil.copytree(CASES / self.cases, self.folder)
        for path in (self.folder, *self.folder.rglob("*")):
            path.chmod(path.stat().st_mode | 0o600)
        self.env = {**os.environ, "PYTHONPATH": str(BUILD / "python"), "LSTMC": COMMAND,
                    "PYTHON": PYTHON, "SOURCE": str(SOURCE), "BUILD": str(BUILD),
                    "LSTMC_RUNTIME_LIBRARY": str(BUILD / "executor/c/liblstmc.so")}

    def shell(self, line, exit=0, limit=120, where="."):
        """Runs a line of shell in the copy, where $LSTMC is the command; returns all it prints."""
        done = subprocess.run(["bash", "-c", line], cwd=self.folder / where, env=self.env,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=limit, stdin=subprocess.DEVNULL, errors="replace")
        self.assertEqual(done.returncode, exit, f"{line}\n{done.stdout[-3000:]}")
        return done.stdout

    def script(self, name, *words, exit=0, limit=120):
        """Runs a case's Python program, or skips it where what it imports is absent."""
        text = (self.folder / name).read_text()
        python = PYTHON
        if "torch" in text:
            if not PEERS:
                self.skipTest(f"{name} needs PyTorch, which LSTMC_PEER_PYTHON names none with")
            python = PEERS
        path = pathlib.Path(name)
        return self.shell(" ".join([python, "-B", path.name, *map(str, words)]), exit, limit,
                          path.parent)

    def says(self, text, *patterns):
        """Asserts that each pattern is found, in this order."""
        at = 0
        for pattern in patterns:
            found = re.compile(pattern).search(text, at)
            self.assertTrue(found, f"{pattern} is not found in\n{text[-3000:]}")
            at = found.end()


def main():
    if not CASES.is_dir():
        print(f"{CASES} is not here: LSTMC_CASES names the folder of cases")
        sys.exit(77)
    unittest.main(verbosity=1)
