"""modes.py INCLUDE...: compile.hpp compiles without warnings by each compiler of this machine, in
C++20 and C++23, with and without exceptions and run-time types; each header alone too; and it is
not much more text to compile than train.hpp and what is made from the records.
"""

import os
import pathlib
import shutil
import subprocess
import sys

includes = [word for path in sys.argv[1:] for word in ("-I", path)]
strict = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror", *includes]
compilers = [name for name in ("g++", "clang++-19") if shutil.which(name)] or ["c++"]
PROGRAM = """
#include <lstmc/compile.hpp>
using namespace lstmc;
Result<Package> compiled(const std::string &word) {
  build::Net net("net");
  auto x = net.data("data", DType::F32, {{4, "batch"}, {6, "seq"}, 8});
  const auto y = net.label("label", DType::I32, {{4, "batch"}});
  x = build::lstm(x, {.num_hidden = 5, .layout = "NTC"}).h[-1];
  x += build::activation(x * 2.0 > 0.5, {.act_type = word});
  auto network = net.try_finish({build::softmaxOutput(x, y, {.normalization = "valid"})});
  if (!network)
    return network.error();
  auto plan = network->try_plan({.dims = {{"batch", 8}}, .initializer = Xavier{.magnitude = 2}});
  auto picture = network->try_plot("x.svg", {.view = PlotOptions::View::memory});
  return try_compile(*network, {.entries = {"forward"}, .optimizer = Adam{.beta1 = 0.8}});
}
"""
REFUSED = """
#include <lstmc/compile.hpp>
auto f(lstmc::build::Value x) {{ return lstmc::build::activation(x, {{{}}}); }}
"""


def compiles(compiler, text, *flags):
    return subprocess.run([compiler, *flags, "-fsyntax-only", "-x", "c++", "-"], input=text,
                          capture_output=True, text=True)


def check(compiler, text, *flags):
    done = compiles(compiler, text, *flags, *strict)
    if done.returncode:
        sys.exit(f"{compiler} {' '.join(flags)}\n{done.stdout}{done.stderr}")


for compiler in compilers:
    check(compiler, PROGRAM, "-std=c++20")
    check(compiler, PROGRAM, "-std=c++23", "-fno-exceptions", "-fno-rtti")
    # Names and literals are checked by the compiler.
    for options, fits in (('.act_type = "tanh"', True), ('.act_type = "tahn"', False),
                          ('.axis = 1', False), ('', False)):
        done = compiles(compiler, REFUSED.format(options), "-std=c++20", *includes)
        if (done.returncode == 0) != fits:
            sys.exit(f"{compiler}: activation(x, {{{options}}})\n{done.stderr}")
headers = sorted(path for folder in sys.argv[2:] for path in pathlib.Path(folder).glob("lstmc/*"))
for header in headers:
    check(compilers[-1], f"#include <lstmc/{header.name}>\n", "-std=c++20")
    if header.suffix == ".h":
        subprocess.run(["cc", "-std=c99", "-pedantic", *includes, "-Wall", "-Wextra", "-Werror",
                        "-fsyntax-only", "-x", "c", "-include", header, os.devnull], check=True)


def characters(include):
    """The size of a program of this include after the preprocessor, without its line marks."""
    return len(subprocess.run([compilers[0], "-std=c++20", *includes, "-x", "c++", "-E", "-P", "-"],
                              input=f"#include <lstmc/{include}>\n", text=True, check=True,
                              capture_output=True).stdout)


# Text to compile, and not time, which varies on a machine with other load.
run, made = characters("train.hpp"), sum(header.stat().st_size for header in headers)
everything = characters("compile.hpp")
print(f"compile.hpp {everything} characters, train.hpp {run}, our headers {made}")
if everything > run + made + 250_000:
    sys.exit("compile.hpp includes more than it did")
print(f"{len(headers)} headers, {len(compilers)} compilers")
sys.exit(0 if len(headers) >= 6 else "headers are missing")
