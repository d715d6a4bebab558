"""compile.py FOLDER ROOM NVCC [--write]: checks ptxas' reports on the kernels for GPUs from the
build (FOLDER/*.log).

Every kernel of ROOM/kernels/Entries.def must be compiled for sm_80 and sm_90, from the file of its
entry; none may spill registers or use more local memory than ROOM/model/LocalMemory.def permits. If
the table in backends/cuda/registers.md is of this NVCC, it must have these numbers; --write updates
it.
"""

import pathlib
import re
import subprocess
import sys

ARCHITECTURES = ("sm_80", "sm_90")
BEGIN, END = "<!-- made by tests/gpu/compile.py -->\n", "<!-- end -->\n"


def said(logs):
    """{(kernel, architecture): (registers, spilled bytes, stack bytes, bytes of shared memory)}"""
    found = {}
    for log in logs:
        kernel = None
        for line in log.read_text().splitlines():
            if entry := re.search(r"Compiling entry function '(\w+)' for '(\w+)'", line):
                kernel, stack, spills = entry.groups(), 0, 0
            elif (kernel and (frame := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill "
                                                 r"stores, (\d+) bytes spill loads", line))):
                stack, spills = int(frame[1]), int(frame[2]) + int(frame[3])
            elif kernel and (used := re.search(r"Used (\d+) registers", line)):
                shared = re.search(r"(\d+) bytes smem", line)
                found[kernel] = (int(used[1]), spills, stack, int(shared[1]) if shared else 0)
                kernel = None
    return found


def table(found, version):
    lines = [f"By nvcc {version}, for sm_80 and sm_90 where they differ. Without shared "
             "memory asked for by a launch.", "",
             "| kernel | registers | spilled bytes | stack bytes | shared bytes |",
             "| --- | --- | --- | --- | --- |"]
    for kernel in sorted({kernel for kernel, _ in found}):
        columns = zip(*(found[kernel, architecture] for architecture in ARCHITECTURES))
        lines.append(f"| `{kernel.removeprefix('lstmc_')}` | "
                     + " | ".join(f"{a}" if a == b else f"{a}, {b}" for a, b in columns) + " |")
    return "\n".join(lines) + "\n"


def above_local(found, rows):
    """Kernels that use more local memory than their kind may."""
    kinds = re.findall(r'^LSTMC_LOCAL\(\w+, (\d+), "(.*)"\)', rows, re.M)
    limit = lambda kernel: next(int(most) for most, names in kinds
                                if re.fullmatch(names, kernel.removeprefix("lstmc_")))
    return [f"{kernel} for {architecture}: {row[2]} of {limit(kernel)} bytes"
            for (kernel, architecture), row in found.items() if row[2] > limit(kernel)]


def main():
    folder, room, nvcc = map(pathlib.Path, sys.argv[1:4])
    page = pathlib.Path(__file__).parents[2] / "backends/cuda/registers.md"
    logs = sorted(folder.glob("*.fatbin.log"))
    if not logs:
        print("skipped: the build had no nvcc")
        sys.exit(77)
    found = said(logs)
    files = dict(re.findall(r"^LSTMC_GPU_ENTRY\((\w+), (\w+)\)",
                            (room / "kernels/Entries.def").read_text(), re.M))
    for architecture in ARCHITECTURES:
        if missing := files.keys() - {kernel for kernel, other in found if other == architecture}:
            sys.exit(f"not compiled for {architecture}: {sorted(missing)}")
    if elsewhere := {kernel: log.name for log in logs for kernel, _ in said([log])
                     if files.get(kernel) != log.name.split(".")[0]}:
        sys.exit(f"kernels/Entries.def names other files: {elsewhere}")
    if spilled := [kernel for kernel, row in found.items() if row[1]]:
        sys.exit(f"registers are spilled: {spilled}")
    if above := above_local(found, (room / "model/LocalMemory.def").read_text()):
        sys.exit(f"more local memory than model/LocalMemory.def says: {above}")
    version = re.search(r"release ([\d.]+)", subprocess.run(
        [nvcc, "--version"], capture_output=True, text=True).stdout)[1]
    made, text = table(found, version), page.read_text()
    print(made)
    before, kept, after = re.split(f"{BEGIN}|{END}", text)
    if "--write" in sys.argv:
        page.write_text(before + BEGIN + made + END + after)
    elif f"nvcc {version}," in kept and kept != made:
        sys.exit(f"{page.name} has another table: {' '.join(sys.argv)} --write")


if __name__ == "__main__":
    main()
