"""test_folder.py BUILD SOURCE [--compiler]: lstmc as a folder of another project (add_subdirectory)
has the targets lstmc::runtime, lstmc::symbol and lstmc::compiler, and adds neither tests nor names
without its prefix.

The runtime's parts are built with the flags of the preset `runtime`, for ccache hits. The compiler
is only configured; with --compiler it is built and tested too, which takes as long as any first
build.
"""

import os
import re
import subprocess
import sys
import tempfile

build, source, *rest = sys.argv[1:]
with open(os.path.join(build, "CMakeCache.txt")) as cache:
    werror = re.search(r"^LSTMC_WERROR:BOOL=(.*)$", cache.read(), re.M)[1]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n"
                 f"{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def configure(folder, *flags):
    """Configures the project and returns its targets."""
    # The images for GPUs take long and are tested elsewhere.
    run("cmake", "-G", "Ninja", "-S", os.path.join(source, "tests/consumer"), "-B", folder,
        f"-DLSTMC_SOURCE={source}",
        "-DCMAKE_BUILD_TYPE=Release", "-DLSTMC_NVCC=OFF", f"-DLSTMC_WERROR={werror}", *flags)
    targets = set(re.findall(r"^(\S+): ", run("ninja", "-C", folder, "-t", "targets", "all"), re.M))
    for target in targets:
        if target.startswith("lstmc/tests/") or target == "lstmc_core":
            sys.exit(f"the project gets {target}")
    return targets


def output(*command):
    print(run(*command).strip())


def try_compiler(folder):
    """Builds the compiler: a file compiles to the bytes of BUILD's command, and a graph runs."""
    run("cmake", "--build", folder, "--target", "compiles", "draws", "consumer")
    compiled, graph, by_command = (os.path.join(folder, name)
                                   for name in ("c.lstmc", "g.lstmc", "d.lstmc"))
    net = os.path.join(source, "samples/tiny.lnet")
    run(os.path.join(folder, "compiles"), net, compiled, graph)
    run(os.path.join(build, "lstmc"), "compile", net, "-b", "4", "-o", by_command)
    if open(compiled, "rb").read() != open(by_command, "rb").read():
        sys.exit("lstmc::compiler and the command compile one file to different packages")
    output(os.path.join(folder, "consumer"), graph)
    print("lstmc::symbol:", run(os.path.join(folder, "draws")).splitlines()[-1])


def beside(name):
    """An empty folder beside those of the presets, so that ccache sees the same relative paths."""
    return tempfile.TemporaryDirectory(dir=source, prefix=f"build-folder-{name}-")


with beside("whole") as whole:
    targets = configure(whole)  # fails if it links a name that is no target
    for wanted in "compiles", "draws", "consumer":
        if wanted not in targets:
            sys.exit(f"there is no {wanted}")
    if rest == ["--compiler"]:
        try_compiler(whole)

with beside("runtime") as half:
    configure(half, "-DLSTMC_COMPILER=OFF")
    run("cmake", "--build", half, "--target", "consumer")
    package = os.path.join(half, "m.lstmc")
    run(os.path.join(build, "lstmc"), "compile", os.path.join(source, "samples/forecast.lnet"),
        "-o", package)
    output(os.path.join(half, "consumer"), package)
