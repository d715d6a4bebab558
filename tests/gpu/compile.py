"""compile.py NVCC SOURCE: compiles every kernel for the GPUs it is meant for, and prints the registers and memory of each.

No kernel may spill registers to memory. No operations are contracted, denormals are flushed as on the CPU, and divisions are exact.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

nvcc, source = sys.argv[1], pathlib.Path(sys.argv[2])
if not nvcc or not os.access(nvcc, os.X_OK):
    print("skipped: there is no nvcc")
    sys.exit(77)

ARCHITECTURES = ["sm_80", "sm_90"]
FLAGS = ["-std=c++20", "-O3", "--expt-relaxed-constexpr", "-fmad=false", "-ftz=true", "-prec-div=true", "-prec-sqrt=true", "-Xptxas", "-v"]


def compiled(file, architecture, folder):
    out = folder / f"{file.stem}.{architecture}.cubin"
    number = architecture.removeprefix("sm_")
    done = subprocess.run([nvcc, "-cubin", f"-gencode=arch=compute_{number},code={architecture}", *FLAGS, "-I", source, "-o", out, file],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{file.name}, {architecture}:\n{done.stdout}{done.stderr}")
    rows, kernel, spills = [], None, 0
    for line in (done.stdout + done.stderr).splitlines():
        if found := re.search(r"Compiling entry function '(\w+)'", line):
            kernel = found.group(1)
        elif found := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line):
            spills = int(found.group(1)) + int(found.group(2))
        elif kernel and (found := re.search(r"Used (\d+) registers(?:.*?(\d+) bytes smem)?", line)):
            rows.append((kernel, architecture, int(found.group(1)), spills, int(found.group(2) or 0)))
            kernel = None
    return rows


with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(2) as pool:
    files = sorted((source / "backends/cuda/kernels").glob("*.cu"))
    jobs = [pool.submit(compiled, file, a, pathlib.Path(name)) for file in files for a in ARCHITECTURES]
    rows = sorted(row for job in jobs for row in job.result())

print("| kernel | card | registers | spilled bytes | static shared bytes |\n| --- | --- | --- | --- | --- |")
for row in rows:
    print("| " + " | ".join(map(str, row)) + " |")
if not rows:
    sys.exit("no kernel was compiled")
if spilled := [row for row in rows if row[3]]:
    sys.exit(f"registers are spilled: {spilled}")
