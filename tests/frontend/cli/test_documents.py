"""Every command line of `lstmc` in a document parses: flags, their values, and flags that require others."""
import re
import shlex
import unittest

from command import Case, SOURCE, words_in_table

COMMANDS, FLAGS = words_in_table()
DOCUMENTS = [SOURCE / "README.md", *sorted((SOURCE / "samples").glob("*")),
             *sorted(p for room in ("frontend", "executor", "passes", "ir", "backends", "viz", "tests") for p in (SOURCE / room).rglob("README.md"))]


def command_lines(text):
    """`lstmc ...` in code spans, on lines of code blocks and in the comments at the start of a sample."""
    spans = re.findall(r"`((?:build/|\./)?lstmc [^`\n]+)`", text)
    lines = [m.strip() for m in re.findall(r"^(?:\s{4,}|#\s+|\$ ?)?((?:build/|\./)?lstmc [a-z][^\n`]*)$", text, re.M)]
    for found in spans + lines:
        found = found.split(" #")[0].split(" | ")[0].split(" > ")[0].rstrip()
        words = shlex.split(found.replace("…", ""))
        if len(words) > 1 and re.fullmatch(r"[a-z]+", words[1]):
            if words[1] == "launch" and "--" in words:  # and the command that it starts
                inner = words.index("--")
                yield words[inner + 1:]
                words = words[:inner]
            yield words[1:]


class Documents(Case):
    def test_command_lines(self):
        seen = 0
        for document in DOCUMENTS:
            if not document.is_file() or document.suffix not in (".md", ".lnet", ".sh"):
                continue
            for command, *words in command_lines(document.read_text()):
                if command in ("opt", "CMD", "COMMAND"):
                    continue
                where = f"{document.relative_to(SOURCE)}: lstmc {command} {' '.join(words)}"
                self.assertIn(command, COMMANDS, where)
                # -h stops after parsing, so operands and files need not exist.
                done = self.run_here(command, *words, "-h")
                self.assertEqual((done.returncode, done.stderr), (0, ""), where)
                seen += 1
        self.assertGreater(seen, 15)


if __name__ == "__main__":
    unittest.main()
