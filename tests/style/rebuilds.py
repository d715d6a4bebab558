#!/usr/bin/env python3
"""rebuilds.py BUILD SOURCE: how many objects a change of a table compiles again, by the
dependencies that ninja has recorded. A text may cost 5 objects, a row 40."""
import collections
import os
import subprocess
import sys

TEXT, ROW = 5, 40
TEXTS = {"executor/base/ErrorTexts.def", "frontend/cli/help.def", "frontend/names/Synonyms.def"}
# Rows that are enumerators, which code names: what they cost today, which may only become less.
NAMED = {
    "executor/base/Errors.def": 830,
    "executor/abi/ScalarOps.def": 640,
    "executor/abi/Kernels.def": 549,
    "frontend/cli/options.def": 80,
    "frontend/driver/request.def": 112,
    "backends/cpu/runtime/KernelFiles.def": 65,
    "backends/cuda/runtime/Driver.def": 60,
}


def objects_of_tables(build, source):
    """{table: objects that include it}"""
    done = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(77)
    counts, depends = collections.Counter(), False
    for line in done.stdout.splitlines():
        if not line.startswith(" "):
            depends = line.split(":")[0].endswith((".o", ".pch"))
        elif depends and line.endswith(".def"):
            path = os.path.normpath(os.path.join(build, line.strip()))
            counts[os.path.relpath(path, source)] += 1
    return counts


def main(build, source):
    counts = objects_of_tables(build, source)
    tables = subprocess.run(["git", "ls-files", "*.def"], cwd=source, capture_output=True,
                            text=True)
    names = tables.stdout.split() or sorted(name for name in counts if not name.startswith(".."))
    if not any(counts[name] for name in names):
        print("ninja has recorded no dependencies here")
        sys.exit(77)
    faults = []
    for name in names:
        most = TEXT if name in TEXTS else NAMED.get(name, ROW)
        if counts[name] > most:
            faults.append(f"{name}: a change compiles {counts[name]} objects, at most {most}")
    faults += [f"{name}: there is no such table" for name in (TEXTS | set(NAMED)) - set(names)]
    print("\n".join(faults))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
