#!/usr/bin/env python3
"""kernels.py FOLDER: sources of GPU kernels use the machine only through Gpu.h, so that the emulated GPU sees everything they do."""
import pathlib
import re
import sys

banned = {
    r"__shared__|__global__|__device__|__syncthreads|__shfl|__ballot|atomic\w+\s*\(": "a word of CUDA: use the functions of Gpu.h",
    r"<<<": "a launch",
    r"\basm\b": "assembly",
    r"cooperative_groups|#include\s*<cuda|#include\s*\"cuda": "a header of CUDA",
    r"\b(?:exp|log|tanh|pow|sin|cos|erf|sqrt|fma)f?\s*\(": "a function of libm",
    r"\bwhile\s*\(\s*(?:true|1)\s*\)": "waiting: use spinUntilAtLeast",
}
allowed = {"Gpu.h", "CudaGpu.h", "Float.h"}  # they define what others use
found = []
folder = pathlib.Path(sys.argv[1]) / "backends/cuda/kernels"
for file in sorted(folder.iterdir()):
    if file.name in allowed:
        continue
    for number, line in enumerate(file.read_text().splitlines(), 1):
        code = line.split("//")[0]
        for pattern, why in banned.items():
            if re.search(pattern, code):
                found.append(f"{file.name}:{number}: {line.strip()}: {why}")
print("\n".join(found) or "clean")
sys.exit(1 if found else 0)
