#!/usr/bin/env python3
"""kernels.py FOLDER: sources of GPU kernels use the machine only through Gpu.h, so that the emulated GPU sees everything they do."""
import pathlib
import re
import sys

BANNED = {
    r"__(?:shared|global|device|host|constant|managed|restrict|cluster_dims|launch_bounds|maxnreg|grid_constant)__|\batomic\w+\s*\(": "a word of CUDA: use the functions of Gpu.h",
    r"\b(?:threadIdx|blockIdx|blockDim|gridDim|clusterIdx|warpSize)\b": "a variable of CUDA: use the functions of Gpu.h",
    r"\b__(?!builtin_)[a-z]\w*\s*\(": "an intrinsic: use the functions of Gpu.h",
    r"<<<": "a launch",
    r"\basm\b": "assembly",
    r"cooperative_groups|#include\s*<cuda|#include\s*\"cuda": "a header of CUDA",
    r"\b(?:exp2?|expm1|log(?:2|10|1p)?|tanh?|pow|sinh?|cosh?|erfc?|sqrt|rsqrt|fma|lgamma)f?\s*\(": "a function of libm",
    r"\bwhile\s*\(\s*(?:true|1)\s*\)|\bfor\s*\(\s*;\s*;": "waiting: use spinUntilAtLeast",
}
ALLOWED = {"Gpu.h", "CudaGpu.h", "Float.h"}  # they define what others use


def problems(text):
    """What a source may not have: (line number, line, why)."""
    return [(number, line.strip(), why) for number, line in enumerate(text.splitlines(), 1) for pattern, why in BANNED.items()
            if re.search(pattern, line.split("//")[0])]


def main():
    found = [f"{file.name}:{number}: {line}: {why}" for file in sorted((pathlib.Path(sys.argv[1]) / "backends/cuda/kernels").iterdir())
             if file.name not in ALLOWED for number, line, why in problems(file.read_text())]
    print("\n".join(found) or "clean")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
