"""Every command line of `lstmc` in a document parses: flags, their values, and flags that require
others. The pages made from the source agree with the command, and every page is in the site's
navigation."""
import pathlib
import re
import shlex
import unittest

from command import Case, LSTMC, SOURCE, words_in_table

COMMANDS, FLAGS = words_in_table()
DOCUMENTS = [
    SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md")),
    *sorted((SOURCE / "samples").glob("*")),
    *sorted(p for room in ("frontend", "executor", "passes", "ir", "backends", "viz", "tests")
            for p in (SOURCE / room).rglob("README.md"))]


def command_lines(text, page):
    """The `lstmc ...` in code spans, on lines of code blocks and in the comments at the start of a
    sample. Of a page, a line outside of blocks is a sentence."""
    blocks = re.findall(r"^ *```\w*\n(.*?)^ *```", text, re.M | re.S)
    block = "\n".join([*blocks, *re.findall(r"^    .*$", text, re.M)]) if page else text
    spans = re.findall(r"`((?:build/|\./)?lstmc [^`\n]+)`", text)
    lines = [m.strip() for m in re.findall(r"^(?:\s{4,}|#\s+|\$ ?)?((?:build/|\./)?lstmc "
                                           r"[a-z][^\n`]*)$", block, re.M)]
    for found in spans + lines:
        found = found.split(" #")[0].split(" | ")[0].split(" > ")[0].rstrip()
        words = shlex.split(found.replace("…", ""))
        if len(words) > 1 and re.fullmatch(r"[a-z]+", words[1]):
            if words[1] == "launch" and "--" in words:  # also the command that it starts
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
            for command, *words in command_lines(document.read_text(),
                                                 document.suffix == ".md"):
                if command in ("opt", "CMD", "COMMAND"):
                    continue
                where = f"{document.relative_to(SOURCE)}: lstmc {command} {' '.join(words)}"
                self.assertIn(command, COMMANDS, where)
                # -h stops after parsing, so operands and files need not exist.
                done = self.run_here(command, *words, "-h")
                self.assertEqual((done.returncode, done.stderr), (0, ""), where)
                seen += 1
        self.assertGreater(seen, 100)

    def test_operators_have_the_signatures_of_help(self):
        page = (pathlib.Path(LSTMC).parents[2] / "docs/operators.md").read_text()
        sections = dict(re.findall(r"^### (\S+)\n\n```python\n(.*)\n```$", page, re.M))
        names = self.good("help", "ops").stdout.split("\n\n")[1].split()
        self.assertEqual(sorted(names), sorted(sections))
        for name in names[::4]:  # each takes a process
            signature = " ".join(self.good("help", name).stdout.split("\n\n")[0].split()).replace(
                "( ", "(")
            if name not in ("LSTM", "GRU", "RNNLayer"):
                self.assertEqual(
                    signature.replace(", name=None)", ")").replace("(name=None)", "()"),
                    sections[name])

    def test_every_page_is_in_the_site_and_every_link_leads_to_one(self):
        self.good("help", "--pages", "pages")
        pages = {path.relative_to(self.folder / "pages").as_posix(): path
                 for path in (self.folder / "pages").rglob("*.md")}
        pages |= {path.name: path
                  for folder in (SOURCE / "docs", pathlib.Path(LSTMC).parents[2] / "docs")
                  for path in folder.glob("*.md")}
        listed = re.findall(r": (\S+\.md)$", (SOURCE / "docs/site/mkdocs.yml").read_text(), re.M)
        self.assertEqual(sorted(listed),
                         sorted(name for name in pages if not name.startswith("errors/")))
        links = 0
        for name, path in pages.items():
            for link in re.findall(r"\]\(([^)#:]+\.md)", path.read_text()):
                self.assertIn((pathlib.PurePosixPath("/") / name).parent.joinpath(link).as_posix()
                              .replace("/errors/../", "/")[1:], pages, f"{name}: {link}")
                links += 1
        self.assertGreater(links, 100)


if __name__ == "__main__":
    unittest.main()
