#!/usr/bin/env python3
"""words.py FOLDER: words that sources and documents must not use, and their replacements."""
import pathlib
import re
import subprocess
import sys

BANNED = {
    r"\b(?:behind|in front of)\b": "after or before, for time and order",
    r"\b(?:ints|floats)\[\d": "kernel arguments have names (executor/abi/KernelArguments.h)",
    r"\b(?:Seat|WaitingRoom|retreat|Foretold|Homes|Stamp)\b": "device state, parker, backward, "
                                                              "forecast, placement, location",
    r"\b[Bb]orders?\b": "boundary or alignment",
}
SUFFIXES = {".h", ".hpp", ".cpp", ".cu", ".td", ".def", ".md", ".py", ".fbs", ".txt", ".lnet"}

folder = pathlib.Path(sys.argv[1])
listed = subprocess.run(["git", "-C", folder, "ls-files"], capture_output=True, text=True)
files = ([folder / name for name in listed.stdout.splitlines()] if listed.returncode == 0
         else list(folder.rglob("*")))
found = []
for file in files:
    if (file.suffix not in SUFFIXES or file.name == "words.py" or not file.is_file()
        or "build" in file.relative_to(folder).parts[0]):
        continue
    for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
        for pattern, instead in BANNED.items():
            if re.search(pattern, line):
                found.append(f"{file.relative_to(folder)}:{number}: {line.strip()}: {instead}")
print("\n".join(found) or "clean")
sys.exit(1 if found else 0)
