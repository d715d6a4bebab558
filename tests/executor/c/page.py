"""page.py LIBRARY LSTMC SOURCE COMPILER MADE: docs/cpp.md, read from top to bottom in an empty
folder: blocks with a title are files, and commands print what the page shows (a line `…` stands for
any lines, `…` within one for any text). Each program compiles without warnings by every compiler of
this machine.
COMPILER is the library of the compiler, MADE the folder of its headers that are made.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

library, lstmc, source, compiler_library, made = sys.argv[1:]
sys.path.insert(0, os.path.join(source, "tests/frontend/cli"))
os.environ.update(LSTMC=lstmc, LSTMC_SOURCE=source)
from test_tutorial import BLOCK, commands, pattern  # noqa: E402

include = ":".join((os.path.join(source, "executor/c/include"),
                    os.path.join(source, "frontend/library/include"), made))
programs = 0
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    tools = folder / "bin"
    tools.mkdir()
    (tools / "lstmc").symlink_to(lstmc)
    libraries = ":".join(map(os.path.dirname, (library, compiler_library)))
    # Headers and library are found as if they were installed.
    env = {"PATH": f"{tools}:{os.environ['PATH']}", "CPATH": include, "LIBRARY_PATH": libraries,
           "LD_LIBRARY_PATH": libraries}
    for kind, title, block in BLOCK.findall(pathlib.Path(source, "docs/cpp.md").read_text()):
        if title:
            (folder / title).write_text(block)
        if kind == "cpp":
            programs += 1
            for compiler in filter(shutil.which, ("g++", "clang++-19")):
                flags = ["-fno-exceptions", "-fno-rtti"] if title == "without.cpp" else []
                subprocess.run([compiler, "-std=c++20", *flags, "-fsyntax-only", "-Wall", "-Wextra",
                                "-Wconversion", "-Wshadow", "-Werror", title],
                               cwd=folder, env=env, check=True)
        for command, printed in commands(block) if kind == "console" else []:
            done = subprocess.run(["sh", "-c", command], cwd=folder, env=env, text=True,
                                  timeout=240, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if done.returncode or not re.fullmatch(pattern(printed).pattern, done.stdout):
                sys.exit(f"$ {command}: exit {done.returncode}\n{done.stdout}\nwanted\n{printed}")
print(f"{programs} programs")
sys.exit(0 if programs >= 10 else "programs are missing")
