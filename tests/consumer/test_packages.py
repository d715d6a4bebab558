"""test_packages.py BUILD SOURCE: the two Debian packages are built, installed into a bare root, used there and removed. The root has what the packages
say that they depend on, and nothing else. Ends with 77, which is a skip, where that cannot be tried."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import bare_root

build, source = sys.argv[1:]
LARGEST = 10 * 10**6  # bytes of the package that a deployment needs
INPUTS = ["--seed", "3", "-i", "data=64x24x8xf32=1", "-i", "length=64xf32=1"]


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def fields(package):
    text = run("dpkg-deb", "--field", package)
    return dict(re.findall(r"^([A-Za-z-]+): (.*)$", text, re.M))


def first(output):
    """The first number that a run prints of its outputs."""
    return re.search(r"\] ([-\d.e]+)", output)[1]


if os.geteuid() != 0:
    skip("only root may change its root folder")
for program in "dpkg", "dpkg-deb", "dpkg-shlibdeps", "cpack", "ldconfig", "chroot":
    if not shutil.which(program):
        skip(f"there is no {program}")

with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    run("cpack", "-G", "DEB", "--config", os.path.join(build, "CPackConfig.cmake"), "-B", folder / "made")
    packages = {fields(path)["Package"]: path for path in (folder / "made").glob("*.deb")}
    if not {"lstmc-runtime", "lstmc"} <= set(packages):
        sys.exit(f"cpack makes {', '.join(packages)}")
    size = packages["lstmc-runtime"].stat().st_size
    if size > LARGEST:
        sys.exit(f"lstmc-runtime has {size} bytes, more than {LARGEST}")
    installed = bare_root.Installed()

    def root_for(package):
        """A root with what the package depends on."""
        try:
            needed = installed.closure([["dash"], ["libc-bin"], *bare_root.names(fields(packages[package])["Depends"])])
        except LookupError as missing:
            skip(f"{package} depends on {missing}, which is not installed here")
        root = folder / f"root-{package}"
        bare_root.make(root, installed, needed)
        return root

    def dpkg(root, *arguments):
        return run("dpkg", f"--root={root}", "--force-script-chrootless", "--log=/dev/null", *arguments)

    def inside(root, *command):
        return run(shutil.which("chroot"), root, *command, env={"PATH": "/usr/bin:/bin", "HOME": "/tmp"})

    # The command: what it compiles, and what the tree's own command makes of the same file.
    root = root_for("lstmc")
    before = bare_root.tree(root)
    dpkg(root, "--install", packages["lstmc"])
    shutil.copy(os.path.join(source, "samples/forecast.lnet"), root / "tmp")
    inside(root, "sh", "-c", "cd /tmp && lstmc compile forecast.lnet -o m.lstmc")
    # A package has the name of its source in it.
    run(os.path.join(build, "lstmc"), "compile", "forecast.lnet", "-o", folder / "m.lstmc", cwd=os.path.join(source, "samples"))
    if (root / "tmp/m.lstmc").read_bytes() != (folder / "m.lstmc").read_bytes():
        sys.exit("the installed command compiles to other bytes")
    dpkg(root, "--purge", "lstmc")
    shutil.rmtree(root / "tmp")
    if left := bare_root.tree(root) ^ before:
        sys.exit(f"lstmc leaves or takes {sorted(left)}")

    # The runtime, where there is no compiler.
    root = root_for("lstmc-runtime")
    if any("LLVM" in path or "MLIR" in path for path in bare_root.tree(root)):
        sys.exit("lstmc-runtime depends on LLVM")
    before = bare_root.tree(root)
    dpkg(root, "--install", packages["lstmc-runtime"])
    shutil.copy(folder / "m.lstmc", root / "tmp")
    got = first(inside(root, "lstmc-run", "/tmp/m.lstmc", *INPUTS))
    want = first(run(os.path.join(build, "executor/run/lstmc-run"), folder / "m.lstmc", *INPUTS))
    if got != want:
        sys.exit(f"the installed lstmc-run gives {got}, that of the tree {want}")
    dpkg(root, "--purge", "lstmc-runtime")
    shutil.rmtree(root / "tmp")
    if left := bare_root.tree(root) ^ before:
        sys.exit(f"lstmc-runtime leaves or takes {sorted(left)}")
    print(f"lstmc-runtime: {size} bytes, needs {fields(packages['lstmc-runtime'])['Depends']}")
    print(f"lstmc: {packages['lstmc'].stat().st_size} bytes, needs {fields(packages['lstmc'])['Depends']}")
