#!/usr/bin/env python3
"""kernels.py FOLDER: sources of GPU kernels use the machine only through Gpu.h, so that the
emulated GPU sees everything they do."""
import pathlib
import re
import sys

# Functions of <cmath> and further ones of CUDA.
MATH = "|".join("""
    a?(?:cos|sin|tan)h? atan2 sincos sincospi (?:cos|sin|tan)pi exp exp2 exp10 expm1 frexp ldexp
    scalbl?n log log2 log10 log1p logb ilogb modf pow cbrt rcbrt sqrt rsqrt hypot rhypot norm3d
    norm4d erf erfc erfcx erfinv erfcinv normcdf normcdfinv tgamma lgamma j[01n] y[01n] ceil floor
    trunc round l?l?rint l?l?round nearbyint fmod remainder remquo fdim fmax fmin fma fabs copysign
    nextafter nexttoward nan lerp fdivide saturate""".split())

BANNED = {
    r"__(?:shared|global|device|host|constant|managed|restrict|cluster_dims|launch_bounds|maxnreg|"
    r"grid_constant)__|\batomic\w+\s*\(":
    "a word of CUDA: use the functions of Gpu.h",
    r"\b(?:threadIdx|blockIdx|blockDim|gridDim|clusterIdx|warpSize)\b":
    "a variable of CUDA: use the functions of Gpu.h",
    r"\b__(?!builtin_)[a-z]\w*\s*\(": "an intrinsic: use the functions of Gpu.h",
    r"<<<": "a launch",
    r"\b(?:asm|__asm\w*)\b": "assembly",
    r"cooperative_groups|\bcub::|\bcuda::(?!std\b)|\bnvcuda\b": "a library of CUDA",
    r"#\s*include\b(?!\s*<(?:bit|cstdint|type_traits)>"
    r"|\s*\"(?:backends/cuda/kernels|executor/(?:abi|base))/[\w/]+\.(?:h|def)\")":
    "a header that is not in the list: use Gpu.h",
    rf"\b(?:{MATH})[fl]?\s*\(": "a function of libm",
    r"\b(?:clock64|clock|nanosleep|globaltimer)\s*\(": "a clock",
    r"\bwhile\s*\(\s*(?:true|1)\s*\)|\bfor\s*\(\s*;\s*;|\bwhile\s*\([^;{}]*\)\s*(?:\{\s*\}|;)":
    "waiting: use spinUntilAtLeast",
    r"\.data\s*(?:\[|[-+]\s*\w)|\*\s*[\w.]+\.data\b|\*\s*reinterpret_cast|->\s*data\s*\[":
    "an access past the accessors",
}
ALLOWED = {"Gpu.h", "CudaGpu.h", "Float.h"}  # they define what others use


def problems(text):
    """The violations in a source: (line number, line, reason)."""
    return [(number, line.strip(), why) for number, line in enumerate(text.splitlines(), 1)
            for pattern, why in BANNED.items() if re.search(pattern, line.split("//")[0])]


def main():
    found = [f"{file.name}:{number}: {line}: {why}"
             for file in sorted((pathlib.Path(sys.argv[1]) / "backends/cuda/kernels").iterdir())
             if file.name not in ALLOWED for number, line, why in problems(file.read_text())]
    print("\n".join(found) or "clean")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
