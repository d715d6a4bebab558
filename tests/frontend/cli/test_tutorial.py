"""The console blocks of the README and of the tutorial, run in order, have the output shown: the
README's in a copy of the repository, the tutorial's in an empty folder.

A block with a title is a file. In an output, a line `…` stands for any number of lines, and `…`
within a line for any text.
"""
import os
import re
import subprocess
import unittest

from command import Case, LSTMC, SOURCE

BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.M | re.S)


def commands(block):
    """Pairs of a command and its output lines."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, printed = part.partition("\n")
        yield command, printed


def pattern(printed):
    lines = []
    for line in printed.splitlines():
        if line == "…":
            lines.append(r"(?:.*\n)*?")
        else:
            words = [re.sub(r"(?:\\ )+", r"\\s+", re.escape(words)) for words in line.split("…")]
            lines.append(".*?".join(words) + r" *\n")
    return re.compile("".join(lines))


class Tutorial(Case):
    def follow(self, name, where):
        tools = self.folder / "bin"
        tools.mkdir()
        (tools / "lstmc").symlink_to(LSTMC)
        env = {"PATH": f"{tools}:{os.environ['PATH']}"}
        seen = 0
        for kind, title, block in BLOCK.findall((SOURCE / name).read_text()):
            if title:
                (where / title).write_text(block)
            elif kind == "console":
                for command, printed in commands(block):
                    done = subprocess.run(["sh", "-c", command], cwd=where, env=env, text=True,
                                          timeout=240,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                    self.assertRegex(done.stdout,
                                     re.compile(r"\A" + pattern(printed).pattern + r"\Z"),
                                     f"{name}: $ {command}")
                    seen += 1
        return seen

    def test_tutorial(self):
        where = self.folder / "empty"
        where.mkdir()
        self.assertGreater(self.follow("docs/tutorial.md", where), 10)

    def test_readme_is_short(self):
        lines = (SOURCE / "README.md").read_text().splitlines()
        self.assertLessEqual(len(lines), 120)
        self.assertEqual([line for line in lines if len(line) > 100], [])

    def test_readme(self):
        where = self.folder / "copy"
        (where / "build").mkdir(parents=True)
        (where / "build/lstmc").symlink_to(LSTMC)
        for name in ("docs", "samples"):
            (where / name).symlink_to(SOURCE / name)
        self.assertEqual(self.follow("README.md", where), 3)

    def test_a_page_that_says_something_else_fails(self):
        text = "valid  loss 0.1\nsaved ck\n"
        self.assertTrue(pattern("valid  loss …\n…\n").fullmatch(text))
        self.assertTrue(pattern("…\nsaved ck\n").fullmatch(text))
        for wrong in ("valid  loss …\n", "valid  loss 0.2\n…\n", "saved ck\n…\n", ""):
            self.assertFalse(pattern(wrong).fullmatch(text), wrong)


if __name__ == "__main__":
    unittest.main()
