"""modes.py INCLUDE: the C++ headers compile without warnings by each compiler of this machine, in
C++20 and C++23, with and without exceptions and run-time types; each header alone too. lstmc.hpp
costs little more to compile than the headers of the standard library that it includes.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

include = pathlib.Path(sys.argv[1])
program = pathlib.Path(__file__).parent / "modes.cpp"
strict = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror",
          "-I", include]
compilers = [name for name in ("g++", "clang++-19") if shutil.which(name)] or ["c++"]


def check(*command):
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


for compiler in compilers:
    # Optimised once, since that finds more.
    check(compiler, "-std=c++20", "-O2", *strict, "-c", program, "-o", os.devnull)
    check(compiler, "-std=c++23", "-fno-exceptions", "-fno-rtti", *strict, "-fsyntax-only", program)
headers = sorted((include / "lstmc").glob("*.hpp"))
for header in headers:
    check(compilers[-1], "-std=c++20", *strict, "-fsyntax-only", "-x", "c++", "-include", header,
          os.devnull)
    for name in re.findall(r"^ *# *include *<(.*)>", header.read_text(), re.M):
        if "/" in name and not name.startswith(("lstmc/", "sys/")):
            sys.exit(f"{header} includes <{name}>")


def seconds(includes):
    """The processor's time to compile a program of these includes, the least of five."""
    text = "".join(f"#include <{name}>\n" for name in includes) + "int main() {}\n"
    times = []
    for _ in range(5):
        before = os.times().children_user
        subprocess.run([compilers[0], "-std=c++20", "-I", include, "-x", "c++", "-c", "-", "-o",
                        os.devnull], input=text, text=True, check=True)
        times.append(os.times().children_user - before)
    return min(times)


# 1.4 when this was written; a header such as <functional>, <regex> or <filesystem> would show.
own = seconds(["lstmc/lstmc.hpp"])
standard = seconds(["concepts", "memory", "optional", "span", "string", "vector"])
print(f"lstmc.hpp {own:.2f} s, of these {standard:.2f} s for the standard library")
if own > 2 * standard:
    sys.exit("lstmc.hpp is slow to compile")
print(f"{len(headers)} headers, {len(compilers)} compilers")
sys.exit(0 if len(headers) >= 5 else "headers are missing")
