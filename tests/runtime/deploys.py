"""deploys.py LSTMC BUILD SOURCE: programs in C and C++ use the runtime as it is installed without a
compiler, found by find_package and by pkg-config; each compiler of this machine makes a program
that gives the same. A package comes from the command of another build.
"""

import os
import shutil
import subprocess
import sys
import tempfile

lstmc, build, source = sys.argv[1:]
if not os.path.exists(lstmc):
    print(f"{lstmc} is not there: build the release preset first")
    sys.exit(77)


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    prefix, made = os.path.join(folder, "usr"), os.path.join(folder, "b")
    run("cmake", "--install", build, "--prefix", prefix, "--component", "runtime")
    package = os.path.join(folder, "m.lstmc")
    run(lstmc, "compile", os.path.join(source, "samples/forecast.lnet"), "-o", package)
    consumer = os.path.join(source, "tests/consumer")
    run("cmake", "-G", "Ninja", "-S", consumer, "-B", made, f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DLSTMC_COMPILER=OFF")
    run("cmake", "--build", made)
    wanted = run(os.path.join(made, "consumer"), package)
    answers = {"C++ by find_package": run(os.path.join(made, "deploys"), package)}
    if shutil.which("pkg-config"):
        libraries = os.path.dirname(run("find", prefix, "-name", "liblstmc.so").strip())
        flags = run("pkg-config", "--cflags", "--libs", "lstmc", env=dict(
            os.environ, PKG_CONFIG_PATH=os.path.join(libraries, "pkgconfig"))).split()
        program = os.path.join(folder, "deploys")
        for compiler in filter(shutil.which, ("g++", "clang++-19")):
            run(compiler, "-std=c++20", os.path.join(consumer, "deploys.cpp"), "-o", program,
                *flags, f"-Wl,-rpath,{libraries}")
            answers[f"{compiler} by pkg-config"] = run(program, package)
    print(wanted, answers)
    if set(answers.values()) != {wanted}:
        sys.exit("programs give different numbers")
