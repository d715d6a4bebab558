"""compile.py FOLDER ENTRIES: reads what ptxas said when the build compiled the kernels for GPUs (FOLDER/*.log) and prints the registers and memory of each.

Every kernel of ENTRIES is compiled for sm_80 and sm_90, and none may spill registers to memory.
"""

import pathlib
import re
import sys

logs = sorted(pathlib.Path(sys.argv[1]).glob("*.fatbin.log"))
if not logs:
    print("skipped: the build had no nvcc")
    sys.exit(77)

rows = []
for log in logs:
    kernel, stack, spills = None, 0, 0
    for line in log.read_text().splitlines():
        if found := re.search(r"Compiling entry function '(\w+)' for '(\w+)'", line):
            kernel = found.groups()
        elif found := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            stack, spills = int(found.group(1)), int(found.group(2)) + int(found.group(3))
        elif kernel and (found := re.search(r"Used (\d+) registers(?:.*?(\d+) bytes smem)?", line)):
            rows.append((*kernel, int(found.group(1)), spills, stack, int(found.group(2) or 0)))
            kernel = None

print("| kernel | for | registers | spilled bytes | stack bytes | static shared bytes |\n| --- | --- | --- | --- | --- | --- |")
for row in sorted(rows):
    print("| " + " | ".join(map(str, row)) + " |")
names = set(re.findall(r"^LSTMC_GPU_ENTRY\((\w+)\)", pathlib.Path(sys.argv[2]).read_text(), re.M))
for architecture in ("sm_80", "sm_90"):
    if missing := names - {row[0] for row in rows if row[1] == architecture}:
        sys.exit(f"not compiled for {architecture}: {sorted(missing)}")
if spilled := [row for row in rows if row[3]]:
    sys.exit(f"registers are spilled: {spilled}")
