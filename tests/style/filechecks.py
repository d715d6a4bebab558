#!/usr/bin/env python3
"""filechecks.py FOLDER: every run of FileCheck in the tests looks for something that is there. One
with only -NOT lines passes on any other text, an empty one too.
"""
import pathlib
import re
import sys


def problems(text):
    """The prefixes of runs that look for nothing, with the run."""
    joined = re.sub(r"\\\n\s*//\s*RUN:", "", text)
    runs = [line for line in joined.splitlines() if "RUN:" in line]
    for run in runs:
        for call in re.findall(r"FileCheck\b[^|]*", run):
            named = re.search(r"--?check-prefix(?:es)?[= ](\S+)", call)
            prefixes = named[1].split(",") if named else ["CHECK"]
            suffix = r"(-[A-Z]+)?(?:-\d+)?(?:{.*?})?:"
            lines = [line for prefix in prefixes
                     for line in re.findall(rf"^\W*{prefix}{suffix}", text, re.M)]
            if all(line == "-NOT" for line in lines):
                yield ",".join(prefixes), run.partition("RUN:")[2].strip()


def main(root):
    found, count = [], 0
    for file in sorted((root / "tests").rglob("*")):
        if file.suffix in (".mlir", ".test") and file.is_file():
            count += 1
            found += [f"{file.relative_to(root)}: {prefix} looks for nothing that is there: {run}"
                      for prefix, run in problems(file.read_text())]
    print("\n".join(found) if found else f"{count} files, all runs of FileCheck find something")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
