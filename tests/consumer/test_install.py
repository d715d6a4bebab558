"""test_install.py BUILD SOURCE: another project can use the installed files: with find_package
(runtime, compiler), with pkg-config, and without either.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

build, source = sys.argv[1:]


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    prefix = os.path.join(folder, "usr")
    run("cmake", "--install", build, "--prefix", prefix)
    libraries = os.path.dirname(run("find", prefix, "-name", "liblstmc.so").strip())
    command = os.path.join(prefix, "bin", "lstmc")
    package = os.path.join(folder, "m.lstmc")
    run(command, "compile", os.path.join(source, "samples/forecast.lnet"), "-o", package)
    want = run(os.path.join(prefix, "bin", "lstmc-run"), package, "--seed", "3",
               "-i", "data=64x24x8xf32=1", "-i", "length=64xf32=1")
    want = re.search(r"\] ([-\d.e]+)", want).group(1)

    consumer = os.path.join(source, "tests/consumer")
    run("cmake", "-G", "Ninja", "-S", consumer, "-B", os.path.join(folder, "b"),
        f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", os.path.join(folder, "b"))
    by_cmake = run(os.path.join(folder, "b", "consumer"), package)
    print("find_package:", by_cmake.strip())
    if not by_cmake.endswith(f": {want}\n"):
        sys.exit(f"the consumer gives {by_cmake.strip()}, lstmc-run {want}")
    if run(os.path.join(folder, "b", "deploys"), package) != by_cmake:
        sys.exit("the consumer in C++ gives something else")

    # The compiler from C++: a file compiles to the command's bytes, and a graph runs.
    compiled, graph, by_command = (os.path.join(folder, name)
                                   for name in ("c.lstmc", "g.lstmc", "d.lstmc"))
    net = os.path.join(source, "samples/tiny.lnet")
    run(os.path.join(folder, "b", "compiles"), net, compiled, graph)
    run(command, "compile", net, "-b", "4", "-o", by_command)
    if open(compiled, "rb").read() != open(by_command, "rb").read():
        sys.exit("lstmc::compiler and the command compile one file to different packages")
    if not run(os.path.join(folder, "b", "consumer"), graph).endswith(": 2\n"):
        sys.exit("twice 1 is not 2")
    drawn = run(os.path.join(folder, "b", "draws"))
    print("drawn:", drawn.splitlines()[-1])
    char_lm = os.path.join(folder, "e.lstmc")
    run(command, "compile", os.path.join(source, "samples/char_lm.lnet"), "-o", char_lm)
    if drawn.split()[-1] not in run(command, "inspect", char_lm, "--json"):
        sys.exit("lstmc::compiler draws samples/char_lm.lnet with another hash")

    # Each public header compiles alone, without warnings, and includes nothing but the standard
    # library and others of them.
    include = os.path.join(prefix, "include")
    headers = [os.path.join(place, name) for place, _, names in os.walk(include) for name in names]
    strict = ["-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers", "-fsyntax-only"]
    for header in headers:
        for path in re.findall(r"^ *# *include *<(.*)>", open(header).read(), re.M):
            if "/" in path and not path.startswith(("lstmc/", "sys/")):
                sys.exit(f"{header} includes <{path}>")
        run("c++", "-std=c++20", *strict, "-I", include, "-x", "c++", "-include", header,
            os.devnull)
        if header.endswith(".h"):
            run("cc", "-std=c99", "-pedantic", *strict, "-I", include, "-x", "c", "-include",
                header, os.devnull)
    if len(headers) < 12:
        sys.exit(f"only {len(headers)} public headers")

    # A component that is not there is refused with the reason.
    done = subprocess.run(["cmake", "-G", "Ninja", "-S", consumer, "-B", os.path.join(folder, "r"),
                           f"-DCMAKE_PREFIX_PATH={prefix}", "-DLSTMC_COMPONENT=symbol"],
                          capture_output=True, text=True)
    if done.returncode == 0 or "no component symbol" not in done.stderr:
        sys.exit(f"find_package(lstmc COMPONENTS symbol):\n{done.stderr}")

    if shutil.which("pkg-config"):
        environment = dict(os.environ, PKG_CONFIG_PATH=os.path.join(libraries, "pkgconfig"))
        flags = run("pkg-config", "--cflags", "--libs", "lstmc", env=environment).split()
        program = os.path.join(folder, "c")
        run("cc", os.path.join(consumer, "main.c"), "-o", program, *flags,
            f"-Wl,-rpath,{libraries}")
        if run(program, package) != by_cmake:
            sys.exit("the program built by pkg-config gives something else")
        # One binary of the library for programs of all compilers.
        for compiler in filter(shutil.which, ("g++", "clang++-19")):
            run(compiler, "-std=c++20", os.path.join(consumer, "deploys.cpp"), "-o", program,
                *flags, f"-Wl,-rpath,{libraries}")
            if run(program, package) != by_cmake:
                sys.exit(f"the program built by {compiler} and pkg-config gives something else")
        flags = run("pkg-config", "--cflags", "--libs", "lstmc-compiler", env=environment).split()
        for compiler in filter(shutil.which, ("g++", "clang++-19")):
            run(compiler, "-std=c++20", os.path.join(consumer, "compiles.cpp"), "-o", program,
                *flags, f"-Wl,-rpath,{libraries}")
            run(program, net, compiled, graph)
            if open(compiled, "rb").read() != open(by_command, "rb").read():
                sys.exit(f"{compiler} and pkg-config compile a file to another package")
        print("pkg-config: the same")

    for path in ("share/man/man1/lstmc.1", "share/man/man1/lstmc-run.1",
                 *(f"share/{place}" for name in ("lstmc", "lstmc-run")
                   for place in (f"bash-completion/completions/{name}",
                                 f"zsh/vendor-completions/_{name}",
                                 f"fish/vendor_completions.d/{name}.fish")),
                 "include/lstmc/lstmc.h",
                 "include/lstmc/ops.hpp"):
        if not os.path.getsize(os.path.join(prefix, path)):
            sys.exit(f"{path} is empty")
