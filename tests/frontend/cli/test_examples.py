"""The examples in the documents work: programs of the language load and train, the commands for
pipelines succeed, import prints what the page shows, and the C program runs the imported network.
(The tutorial and the examples in Python have tests of their own.)"""
import json
import os
import random
import re
import struct
import subprocess
import unittest
import zipfile

from command import Case, LSTMC, SOURCE, SMALL
from test_tutorial import BLOCK, commands, pattern


def npy(path, shape, numbers):
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                     + struct.pack(f"<{len(numbers)}i", *numbers))


def safetensors(path, shapes):
    """Writes weights of small random numbers."""
    draw, header, values = random.Random(2), {}, b""
    for name, shape in shapes.items():
        count = 1
        for extent in shape:
            count *= extent
        header[name] = {"dtype": "F32", "shape": shape,
                        "data_offsets": [len(values), len(values) + 4 * count]}
        values += struct.pack(f"<{count}f", *(draw.uniform(-0.1, 0.1) for _ in range(count)))
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + values)


class Examples(Case):
    def blocks(self, name):
        return BLOCK.findall((SOURCE / "docs" / name).read_text())

    def shell(self, command):
        tools = self.folder / "bin"
        if not tools.exists():
            tools.mkdir()
            for program in ("lstmc", "lstmc-run"):
                place = (LSTMC if program == "lstmc"
                         else os.path.join(os.path.dirname(LSTMC), "../../executor/run/lstmc-run"))
                (tools / program).symlink_to(os.path.realpath(place))
        # A C compiler finds lstmc.h and liblstmc.so as if they were installed.
        library = os.path.realpath(os.path.join(os.path.dirname(LSTMC), "../../executor/c"))
        env = {"PATH": f"{tools}:{os.environ['PATH']}", "CPATH": str(SOURCE / "executor/c/include"),
               "LIBRARY_PATH": library,
               "LD_LIBRARY_PATH": library}
        return subprocess.run(["sh", "-c", command], cwd=self.folder, env=env, text=True,
                              timeout=240, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def test_programs_train(self):
        seen = 0
        for document in sorted((SOURCE / "docs").glob("*.md")):
            for kind, title, text in self.blocks(document.name):
                if kind == "lnet":
                    (self.folder / "example.lnet").write_text(text)
                    self.good("train", "example.lnet", "--data", "random:1", "--after", "2u",
                              "-q", "-o", f"ck{seen}")
                    seen += 1
        self.assertGreaterEqual(seen, 3)

    def test_pipelines(self):
        (self.folder / "nets").mkdir()
        (self.folder / "nets/lm.lnet").write_text(SMALL)
        self.good("fmt", "nets/lm.lnet")
        for name in ("corpus.txt", "held-out.txt"):
            (self.folder / name).write_text("abcd\n" * 400)
        npy(self.folder / "x.npy", (4, 8), [i % 5 for i in range(32)])
        seen = 0
        for block in re.findall(r"^```\n(.*?)^```$", (SOURCE / "docs/ci.md").read_text(),
                                re.M | re.S):
            for line in block.splitlines():
                if "--expect-output" in line:
                    self.good("run", "lm.lstmc", "-i", "data=@x.npy", "-o", "y.npy")
                    line = line.replace(
                        "y=@", json.loads(self.good("run", "lm.lstmc", "-i", "data=@x.npy",
                                                    "--json").stdout)["outputs"][0]["name"] + "=@")
                done = self.shell(line)
                self.assertEqual(done.returncode, 0, line + "\n" + done.stdout)
                seen += 1
        self.assertGreater(seen, 8)

    def test_import(self):
        gates = {f"rnn.{kind}_{part}_l{layer}": [256]
                 + ([32 if kind == "weight" and part == "ih" and layer == 0 else 64]
                    if kind == "weight" else [])
                 for layer in (0, 1) for kind in ("weight", "bias") for part in ("ih", "hh")}
        safetensors(self.folder / "lm.safetensors",
                    {"embed.weight": [65, 32], **gates, "norm.weight": [64], "norm.bias": [64],
                     "fc.weight": [65, 64], "fc.bias": [65]})
        npy(self.folder / "x.npy", (3, 20), [i % 65 for i in range(60)])
        page = (SOURCE / "docs/from-pytorch.md").read_text()
        program, = (text for kind, title, text in BLOCK.findall(page) if kind == "c")
        self.assertLessEqual(len([line for line in program.splitlines() if line]), 20)
        (self.folder / "lm.c").write_text(program)
        seen = 0
        for block in re.findall(r"^```\n(\$ .*?)^```$", page, re.M | re.S):
            for command, printed in commands(block):
                done = self.shell(command)
                self.assertEqual(done.returncode, 0, command + "\n" + done.stdout)
                if printed or command.startswith("cc "):
                    self.assertRegex(done.stdout,
                                     re.compile(r"\A" + pattern(printed).pattern + r"\Z"),
                                     f"$ {command}")
                seen += 1
        self.assertGreaterEqual(seen, 8)
        with zipfile.ZipFile(self.folder / "y.npz") as arrays:
            self.assertEqual(arrays.read("fc_output.npy")[-3 * 20 * 65 * 4:],
                             (self.folder / "y.f32").read_bytes())
        self.assertIn("the input is too short", self.shell("echo 1 | ./lm").stdout)

    def test_message_of_the_language(self):
        (message,) = re.findall(r"^```\n(tied\.lnet:.*?)^```$",
                                (SOURCE / "docs/language.md").read_text(), re.M | re.S)
        (self.folder / "tied.lnet").write_text(
            (SOURCE / "tests/frontend/lnet/errors/tied.lnet").read_text())
        self.assertTrue(
            self.run_here("compile", "tied.lnet", "--dry-run").stderr.startswith(message))


if __name__ == "__main__":
    unittest.main()
