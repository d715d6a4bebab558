"""page.py LIBRARY LSTMC SOURCE: docs/cpp.md, read from top to bottom in an empty folder: blocks
with a title are files, and commands print what the page shows (a line `…` stands for any lines, `…`
within one for any text). Each program compiles without warnings by every compiler of this machine.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

library, lstmc, source = sys.argv[1:]
sys.path.insert(0, os.path.join(source, "tests/frontend/cli"))
os.environ.update(LSTMC=lstmc, LSTMC_SOURCE=source)
from test_tutorial import BLOCK, commands, pattern  # noqa: E402

include = os.path.join(source, "executor/c/include")
programs = 0
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    tools = folder / "bin"
    tools.mkdir()
    (tools / "lstmc").symlink_to(lstmc)
    libraries = os.path.dirname(library)
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
                                "-Wconversion", "-Wshadow", "-Werror", "-I", include, title],
                               cwd=folder, check=True)
        for command, printed in commands(block) if kind == "console" else []:
            done = subprocess.run(["sh", "-c", command], cwd=folder, env=env, text=True,
                                  timeout=240, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if done.returncode or not re.fullmatch(pattern(printed).pattern, done.stdout):
                sys.exit(f"$ {command}: exit {done.returncode}\n{done.stdout}\nwanted\n{printed}")
print(f"{programs} programs")
sys.exit(0 if programs >= 7 else "programs are missing")
