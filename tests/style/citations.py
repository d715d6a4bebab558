#!/usr/bin/env python3
"""citations.py FOLDER: every document that a source or another document cites is in the tree and
has the cited rule or section.

A citation is a path that ends in .md, from the root or from the citing file's folder:
"docs/numerics.md rule 5", "docs/language.md §4"; or notes of docs/design by number: "design note
007", "design notes 007 and 009".
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
rooms = ["backends", "cmake", "docs", "executor", "frontend", "ir", "passes", "samples",
         "tests", "viz"]
kinds = {".cpp", ".h", ".hpp", ".def", ".td", ".cmake", ".md", ".fbs", ".py", ".mlir", ".lnet",
         ".txt"}
cited = re.compile(r"(?<![\w/{}])([\w./-]*\w\.md)(?:\)|`|\b)(?:,? (rules? |§ ?)(\d+))?")
noted = re.compile(r"\bdesign\s+(?://+\s+|#\s+)?notes?((?:(?:,|\s|//+|#| and)*\b\d{3}\b)+)")
notes = {f.name[:3] for f in (root / "docs/design").glob("[0-9][0-9][0-9]-*.md")}
# Names of documents that `lstmc help --pages` and the target docs write.
written = {"NAME.md", "docs/NAME.md", "flags.md", "errors.md", "CODE.md", "errors/CODE.md",
           "optimizers.md", "fit.md", "names.md", "operators.md", "docs/operators.md",
           "ops.md", "passes.md", "../command.md"}  # the last as errors/CODE.md cites it


def has(document: pathlib.Path, kind: str, number: str) -> bool:
    text = document.read_text()
    if kind.startswith("rule"):
        return f"**Rule {number}:" in text
    return re.search(rf"^#+ {number}\.", text, re.MULTILINE) is not None


files = [root / "README.md"]
for room in rooms:
    files += [f for f in (root / room).rglob("*") if f.suffix in kinds and f.is_file()]
missing, found = [], 0
for file in sorted(files):
    if file.name == "citations.py":
        continue
    # A citation may extend over two comment lines.
    text = re.sub(r"\n\s*(?://+|#)?\s*(rules? |§)", r" \1", file.read_text(errors="replace"))
    for match in cited.finditer(text):
        path, kind, number = match.groups()
        if path in written:
            continue
        candidates = [root / path, file.parent / path, root / "docs" / path]
        document = next((c for c in candidates if c.is_file()), None)
        where = f"{file.relative_to(root)}: {match.group(0)}"
        found += 1
        if document is None:
            missing.append(f"{where}: no such document")
        elif kind and not has(document, kind, number):
            missing.append(f"{where}: no such {'rule' if kind.startswith('rule') else 'section'}")
    for number in re.findall(r"\d{3}", "".join(noted.findall(text))):
        found += 1
        if number not in notes:
            missing.append(f"{file.relative_to(root)}: there is no design note {number}")
    for word in re.findall(r"[Rr]obustness[:,]? (?:rules? \d|T\d)[\d, to-]*", text):
        missing.append(f"{file.relative_to(root)}: {word}: say which document")
print("\n".join(missing) if missing else f"{found} citations, all found")
sys.exit(1 if missing else 0)
