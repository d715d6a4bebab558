"""test_folder.py BUILD SOURCE: lstmc as a folder of another project (add_subdirectory) has the targets lstmc::runtime, lstmc::symbol and
lstmc::compiler, and brings no tests and no names of its own. What the runtime is made of is built, with the flags of the preset `runtime`, so that ccache
knows the objects; the compiler is configured alone."""

import os
import re
import subprocess
import sys
import tempfile

build, source = sys.argv[1:]
with open(os.path.join(build, "CMakeCache.txt")) as cache:
    werror = re.search(r"^LSTMC_WERROR:BOOL=(.*)$", cache.read(), re.M)[1]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def configure(folder, *flags):
    """The targets of the project."""
    # The images for GPUs take long and are tried elsewhere.
    run("cmake", "-G", "Ninja", "-S", os.path.join(source, "tests/consumer"), "-B", folder, f"-DLSTMC_SOURCE={source}",
        "-DCMAKE_BUILD_TYPE=Release", "-DLSTMC_NVCC=OFF", f"-DLSTMC_WERROR={werror}", *flags)
    targets = set(re.findall(r"^(\S+): ", run("ninja", "-C", folder, "-t", "targets", "all"), re.M))
    for target in targets:
        if target.startswith("lstmc/tests/") or target == "lstmc_core":
            sys.exit(f"the project gets {target}")
    return targets


with tempfile.TemporaryDirectory() as folder:
    targets = configure(os.path.join(folder, "w"))  # fails where a name that it links is none
    for wanted in "compiles", "draws", "consumer":
        if wanted not in targets:
            sys.exit(f"there is no {wanted}")

    half = os.path.join(folder, "h")
    configure(half, "-DLSTMC_COMPILER=OFF")
    run("cmake", "--build", half, "--target", "consumer")
    package = os.path.join(folder, "m.lstmc")
    run(os.path.join(build, "lstmc"), "compile", os.path.join(source, "samples/forecast.lnet"), "-o", package)
    print(run(os.path.join(half, "consumer"), package).strip())
