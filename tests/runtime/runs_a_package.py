"""Packages of samples by lstmc run with lstmc-run, which is built without the compiler, to the bits
of `lstmc run`."""

import json
import os
import subprocess
import sys
import tempfile

SAMPLES = ["cell.lnet", "forecast.lnet", "tiny.lnet"]


def run(*command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def inputs(lstmc, package, folder):
    """An -i for every input of `forward` in inspect --json."""
    entries = json.loads(run(lstmc, "inspect", package, "--json", folder=folder))["entries"]
    forward = next(entry for entry in entries if entry["name"] == "forward")
    flags = []
    for i in forward["inputs"]:
        kind = i["dtype"]
        shape = "x".join(map(str, i["shape"]))
        flags += ["-i",
                  f"{i['name']}={shape}x{kind}=" + ("1" if kind.startswith("i") else "random:7")]
    return flags


def main(lstmc, runtime, samples):
    if not os.path.exists(lstmc):
        print(f"{lstmc} is not there: build the release preset first")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        for sample in SAMPLES:
            run(lstmc, "compile", os.path.join(samples, sample), "-o", "m.lstmc",
                "--force", folder=folder)
            flags = inputs(lstmc, "m.lstmc", folder)
            run(lstmc, "run", "m.lstmc", *flags, "--seed", "3", "-o", "a.npz",
                "--force", folder=folder)
            run(runtime, "m.lstmc", *flags, "--seed", "3", "-o", "b.npz", "--force", folder=folder)
            with open(os.path.join(folder, "a.npz"),
                      "rb") as a, open(os.path.join(folder, "b.npz"), "rb") as b:
                if a.read() != b.read():
                    sys.exit(f"{sample}: lstmc-run gives other bits than lstmc run")
            print(sample, "equal")


main(*sys.argv[1:])
