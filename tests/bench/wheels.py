#!/usr/bin/env python3
"""The wheels of `./dev wheels` as users install them: `wheels.py BUILD SOURCE [--only REGEX]`.

Each is installed into a new environment of its interpreter together with lstmc_runtime, in a folder
apart from the build, and all tests of the package run there. A test that exits with 77 prints what
is missing. Exit 1 if one fails, or if there is no wheel.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77


def tests_of(source):
    """(name, command without the interpreter) of each test."""
    for test in sorted((source / "tests/frontend/python").glob("test_*.py")):
        yield test.stem.removeprefix("test_"), [test]
    yield "runtime", [source / "tests/executor/c/python_runtime.py", "installed",
                      os.environ["LSTMC"], source]


def judge(wheel, runtime, source, folder):
    """The names of the failing and of the skipped tests."""
    minor = re.search(r"-cp3(\d+)-", wheel.name)[1]
    print(wheel.name, flush=True)
    interpreter = subprocess.run([source / "cmake/interpreters.sh", minor], check=True,
                                 stdout=subprocess.PIPE, text=True).stdout.strip()
    subprocess.run([interpreter, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv/bin/python"
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, runtime],
        check=True)
    failed, skipped = [], []
    for name, command in tests_of(source):
        done = subprocess.run([python, "-B", *command], cwd=folder, capture_output=True, text=True,
                              timeout=600)
        if done.returncode == SKIPPED:
            skipped.append(name)
        elif done.returncode:
            failed.append(name)
            print(done.stdout[-3000:], done.stderr[-3000:], sep="\n", flush=True)
    print(f"  {len(failed)} failed {failed}, {len(skipped)} skipped {skipped}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--only", default="", help="wheels of this name")
    args = parser.parse_args()
    args.build, args.source = args.build.resolve(), args.source.resolve()
    os.environ.pop("PYTHONPATH", None)
    os.environ.update(LSTMC=str(args.build / "frontend/cli/lstmc"), LSTMC_SOURCE=str(args.source))
    folder = args.build / "wheels"
    wheels = [wheel for wheel in sorted(folder.glob("lstmc-*.whl"))
              if re.search(args.only, wheel.name)]
    if not wheels:
        raise SystemExit(f"no wheel in {folder}: run ./dev wheels first")
    (runtime,) = folder.glob("lstmc_runtime-*.whl")
    failed = 0
    for wheel in wheels:
        with tempfile.TemporaryDirectory() as environment:
            failed += len(judge(wheel, runtime, args.source, pathlib.Path(environment)))
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    sys.exit(main())
