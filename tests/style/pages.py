#!/usr/bin/env python3
"""pages.py FOLDER: a room's README is one page, a design note has its parts and a row of the index.

A page has at most 500 words outside of code blocks. Notes of docs/design are cited by number.
"""
import pathlib
import re
import sys

WORDS = 500
PARTS = ["## Context", "## Choice", "## Given up"]
ROOMS = ("backends", "executor", "frontend", "ir", "passes", "samples", "tests", "viz")

root = pathlib.Path(sys.argv[1])
notes = {f.name[:3]: f for f in sorted((root / "docs/design").glob("[0-9][0-9][0-9]-*.md"))}
wrong = []


def words(text: str) -> int:
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return sum(any(c.isalnum() for c in word) for word in text.split())


def unknown(text: str) -> list[str]:
    """Numbers of notes that do not exist."""
    return sorted(set(re.findall(r"(?<![\w.,-])(0\d\d)(?![\w.-]*\w)", text)) - notes.keys())


for room in ROOMS:
    for page in sorted((root / room).rglob("README.md")):
        text = page.read_text()
        wrong += [f"{page.relative_to(root)}: there is no note {n}" for n in unknown(text)]
        if (count := words(text)) > WORDS:
            wrong.append(f"{page.relative_to(root)}: {count} words, of at most {WORDS}; "
                         "decisions go to docs/design")

index = (root / "docs/design/README.md").read_text()
for number, note in notes.items():
    title, *rest = note.read_text().splitlines()
    if not title.startswith(f"# {number}: "):
        wrong.append(f"{note.relative_to(root)}: its title does not begin with '# {number}: '")
    if [line for line in rest if line.startswith("## ")] != PARTS:
        wrong.append(f"{note.relative_to(root)}: its parts are not {', '.join(PARTS)}")
    if f"| [{number}]({note.name}) {title[len('# 000: '):]} | " not in index:
        wrong.append(f"docs/design/README.md: no row for {note.name} with its title")
    wrong += [f"{note.relative_to(root)}: there is no note {cited}"
              for cited in unknown(note.read_text())]
if len(notes) != len(list((root / "docs/design").glob("*.md"))) - 1:
    wrong.append("docs/design: a file that is no note, or two notes of one number")
print("\n".join(wrong) or f"{len(notes)} notes, all pages of one page")
sys.exit(1 if wrong else 0)
