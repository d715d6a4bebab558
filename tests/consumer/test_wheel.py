"""test_wheel.py BUILD SOURCE: the wheel of the runtime by `./dev wheels` has less than 10 MB, and
the tests of lstmc_runtime pass with it in a new environment; wheels are made for the right
interpreters. Exits with 77 (skipped) without the tools for wheels (cmake/wheel-requirements.txt).
The wheels of the compiler take long: `./dev bench wheels`.
"""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

build, source = map(pathlib.Path, sys.argv[1:])
LARGEST = 10 * 10**6
for module in "numpy", "wheel", "auditwheel":
    if not importlib.util.find_spec(module):
        print(f"skipped: {sys.executable} has no {module}")
        sys.exit(77)
import numpy  # noqa: E402


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n"
                 f"{done.stdout}{done.stderr}")
    return done


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    made = folder / "wheels"
    made.mkdir()
    run(sys.executable, source / "frontend/python/wheel.py", "py3-none",
        build / "executor/c/liblstmc.so", source / "executor/python/lstmc_runtime",
        source / "executor/python", made)
    [wheel] = made.glob("*.whl")
    if wheel.stat().st_size > LARGEST:
        sys.exit(f"{wheel.name} has {wheel.stat().st_size} bytes, more than {LARGEST}")
    run(sys.executable, "-m", "venv", folder / "venv")
    python = folder / "venv/bin/python"
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel)
    # NumPy comes from this interpreter, so that the test needs no network.
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(numpy.__file__))}
    environment.pop("LD_LIBRARY_PATH", None)
    done = run(python, "-B", source / "tests/executor/c/python_runtime.py", "installed",
               build / "frontend/cli/lstmc", source, cwd=folder, env=environment)
    print(f"{wheel.name}: {wheel.stat().st_size} bytes;", done.stderr.strip().splitlines()[-1])

    # A program of that name that fails, as pyenv's do, is passed over for the one in pyenv's
    # folder; missing ones are named.
    for place in "bin/python3.12", "pyenv/versions/3.12.1/bin/python3.12", "bin/python3.13":
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\nexit %d\n" % ("pyenv" not in place))
        path.chmod(0o755)
    found = run(source / "cmake/interpreters.sh", "12", "13",
                env={"PATH": f"{folder}/bin:/usr/bin:/bin", "PYENV_ROOT": str(folder / "pyenv")})
    if (found.stdout != f"{folder}/pyenv/versions/3.12.1/bin/python3.12\n"
        or found.stderr != "left out: python3.13, which is not here\n"):
        sys.exit(f"interpreters.sh finds {found.stdout!r} and says {found.stderr!r}")
