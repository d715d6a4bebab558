"""modes.py INCLUDE: the C++ headers compile without warnings by each compiler of this machine, in
C++20 and C++23, with and without exceptions and run-time types; each header alone too. lstmc.hpp
is little more text to compile than the headers of the standard library that it includes.
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


def characters(includes):
    """The size of a program of these includes after the preprocessor, without its line marks."""
    text = "".join(f"#include <{name}>\n" for name in includes)
    done = subprocess.run([compilers[0], "-std=c++20", "-I", include, "-x", "c++", "-E", "-P", "-"],
                          input=text, text=True, check=True, capture_output=True)
    return len(done.stdout)


# Text to compile, and not time, which varies on a machine with other load. 1.06 of the standard
# headers' when this was written; <functional> or <filesystem> would make it 1.3.
own = characters(["lstmc/lstmc.hpp"])
standard = characters(["concepts", "memory", "optional", "span", "string", "vector"])
print(f"lstmc.hpp {own} characters, of these {standard} of the standard library")
if own > 1.15 * standard:
    sys.exit("lstmc.hpp includes more than it did")
print(f"{len(headers)} headers, {len(compilers)} compilers")
sys.exit(0 if len(headers) >= 5 else "headers are missing")
