"""test_configure.py BUILD SOURCE: configuring. Where MLIR is absent or has another version, the
message names what is needed, what was found and how to get it; the presets and pip use the compiler
of CXX; LSTMC_WERROR makes warnings errors.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

build, source = map(pathlib.Path, sys.argv[1:])
cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M))


def configure(folder, *flags, **environment):
    done = subprocess.run(["cmake", "-G", "Ninja", "-S", source, "-B", folder, *flags],
                          capture_output=True, text=True, env=dict(os.environ, **environment))
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def expect(said, *parts):
    for part in parts:
        if part not in said:
            sys.exit(f'there is no "{part}" in:\n{said}')


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    real = [cache["MLIR_DIR"], os.path.realpath(cache["MLIR_DIR"])]
    without = ["-G", "Ninja", f"-DCMAKE_IGNORE_PATH={';'.join(real)}", "-DCMAKE_BUILD_TYPE=Release"]
    remedies = ("apt-get install llvm-19-dev libmlir-19-dev mlir-19-tools",
                "-D MLIR_DIR=PREFIX/lib/cmake/mlir", "cmake --preset runtime")
    exit_code, said = configure(folder / "absent", *without)
    if not exit_code:
        sys.exit("it configures without MLIR")
    expect(said, "lstmc needs MLIR and LLVM 19.1. Debian:", *remedies)

    other = folder / "other"
    other.mkdir()
    (other / "MLIRConfig.cmake").write_text("")
    (other / "MLIRConfigVersion.cmake").write_text(
        'set(PACKAGE_VERSION 18.1.8)\nset(PACKAGE_VERSION_COMPATIBLE FALSE)\n')
    exit_code, said = configure(folder / "old", *without, f"-DMLIR_DIR={other}")
    if not exit_code:
        sys.exit("it configures with MLIR 18")
    expect(said, f"lstmc needs MLIR and LLVM 19.1, not 18.1.8 of {other}/MLIRConfig.cmake.",
           *remedies)

    # Only fuzzing needs a certain compiler.
    presets = json.loads((source / "CMakePresets.json").read_text())["configurePresets"]
    if (named := [preset["name"] for preset in presets
                  if any("COMPILER" in name and name.startswith("CMAKE")
                         for name in preset.get("cacheVariables", {}))]) != ["fuzz"]:
        sys.exit(f"these presets name a compiler: {named}")
    if "COMPILER" in (source / "pyproject.toml").read_text():
        sys.exit("pyproject.toml names a compiler")
    exit_code, said = configure(folder / "runtime", "--preset", "runtime", "-DLSTMC_WERROR=ON",
                                "-DLSTMC_NVCC=OFF", CXX=cache["CMAKE_CXX_COMPILER"])
    if exit_code:
        sys.exit(said)
    commands = {pathlib.Path(one["file"]).suffix: one["command"]
                for one in json.loads((folder / "runtime/compile_commands.json").read_text())}
    for suffix in ".c", ".cpp":
        expect(commands[suffix], " -Werror ")
    expect(commands[".cpp"], cache["CMAKE_CXX_COMPILER"])
