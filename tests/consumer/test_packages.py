"""test_packages.py BUILD SOURCE: builds the Debian packages, installs them into a bare root, uses
them there and removes them. The root has the packages' declared dependencies and nothing else;
other programs are built from its files. Exits with 77 (skipped) where that is impossible.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import bare_root

build, source = sys.argv[1:]
LARGEST = 10 * 10**6  # limit in bytes of the package for deployment
INPUTS = ["--seed", "3", "-i", "data=64x24x8xf32=1", "-i", "length=64xf32=1"]


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n"
                 f"{done.stdout}{done.stderr}")
    return done.stdout


def fields(package):
    text = run("dpkg-deb", "--field", package)
    return dict(re.findall(r"^([A-Za-z-]+): (.*)$", text, re.M))


def first(output):
    """The first number of the outputs that a run prints."""
    return re.search(r"\] ([-\d.e]+)", output)[1]


if os.geteuid() != 0:
    skip("only root may change its root folder")
for program in "dpkg", "dpkg-deb", "dpkg-shlibdeps", "cpack", "ldconfig", "chroot", "pkg-config":
    if not shutil.which(program):
        skip(f"there is no {program}")

with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    run("cpack", "-G", "DEB", "--config", os.path.join(build, "CPackConfig.cmake"), "-B",
        folder / "made")
    packages = {fields(path)["Package"]: path for path in (folder / "made").glob("*.deb")}
    if not {"lstmc-runtime", "lstmc"} <= set(packages):
        sys.exit(f"cpack makes {', '.join(packages)}")
    size = packages["lstmc-runtime"].stat().st_size
    if size > LARGEST:
        sys.exit(f"lstmc-runtime has {size} bytes, more than {LARGEST}")
    installed = bare_root.Installed()

    def with_own(package):
        """The package, after those of our packages on which it depends."""
        own = [choices[0] for choices in bare_root.names(fields(packages[package])["Depends"])
               if choices[0] in packages]
        return list(dict.fromkeys([known for name in own for known in with_own(name)] + [package]))

    def root_for(package):
        """A root with all dependencies of the package and of those of our packages that it needs;
        and the names of these packages."""
        own = with_own(package)
        needed = [choices for name in own
                  for choices in bare_root.names(fields(packages[name])["Depends"])
                  if choices[0] not in packages]
        try:
            found = installed.closure([["dash"], ["libc-bin"], *needed])
        except LookupError as missing:
            skip(f"{package} depends on {missing}, which is not installed here")
        root = folder / f"root-{package}"
        bare_root.make(root, installed, found)
        return root, own

    def dpkg(root, *arguments):
        return run("dpkg", f"--root={root}", "--force-script-chrootless", "--log=/dev/null",
                   *arguments)

    def inside(root, *command):
        return run(shutil.which("chroot"), root, *command,
                   env={"PATH": "/usr/bin:/bin", "HOME": "/tmp"})

    def with_system(root, *command):
        """Like inside, with /proc and /dev of this machine, which mpirun needs. None if that is not
        permitted."""
        mount = 'mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev"'
        if subprocess.run(["unshare", "--mount", "sh", "-c", mount, root],
                          capture_output=True).returncode:
            return None
        return run("unshare", "--mount", "sh", "-c", mount + ' && exec chroot "$0" "$@"', root,
                   *command, env={"PATH": "/usr/bin:/bin:/usr/sbin", "HOME": "/tmp"})

    def remove(root, before, own):
        """Removes the packages in reverse order; no file may remain."""
        for name in reversed(own):
            dpkg(root, "--purge", name)
        shutil.rmtree(root / "tmp")
        if left := bare_root.tree(root) ^ before:
            sys.exit(f"{', '.join(own)} leave or take {sorted(left)}")

    def consumers(root, *flags):
        """Builds the consumer project against the files of a root: find_package finds the packages
        and their dependencies, fmt too."""
        made = folder / f"consumer-{root.name}"
        run("cmake", "-G", "Ninja", "-S", os.path.join(source, "tests/consumer"), "-B", made,
            f"-DCMAKE_PREFIX_PATH={root}/usr", *flags)
        for name, place in re.findall(r"^(lstmc|fmt)_DIR:PATH=(.*)$",
                                      (made / "CMakeCache.txt").read_text(), re.M):
            if not os.path.realpath(place).startswith(f"{os.path.realpath(root)}/"):
                sys.exit(f"{name} is not of the root but of {place}")
        run("cmake", "--build", made)
        # Also by pkg-config; the programs run in the root.
        search = ":".join(map(str, root.glob("usr/lib/**/pkgconfig")))
        flags = run("pkg-config", "--cflags", "--libs", "lstmc",
                    env=dict(os.environ, PKG_CONFIG_LIBDIR=search)).split()
        run("cc", os.path.join(source, "tests/consumer/main.c"),
            "-o", root / "tmp/by-pkg-config", *flags)
        shutil.copy(made / "consumer", root / "tmp/by-cmake")
        shutil.copy(folder / "m.lstmc", root / "tmp")
        for program in "by-pkg-config", "by-cmake":
            if not inside(root, f"/tmp/{program}", "/tmp/m.lstmc").endswith(f": {wanted}\n"):
                sys.exit(f"{program} gives another number than {wanted}")
        return made

    # The reference: packages by the tree's own commands. A package has the name of its source in
    # it.
    run(os.path.join(build, "lstmc"), "compile", "forecast.lnet", "-o", folder / "m.lstmc",
        cwd=os.path.join(source, "samples"))
    wanted = first(run(os.path.join(build, "executor/run/lstmc-run"), folder / "m.lstmc", *INPUTS))

    # The command, the programs that use the compiler, and training by two processes if Open MPI is
    # installed.
    root, own = root_for("lstmc-ranks" if "lstmc-ranks" in packages else "lstmc")
    before = bare_root.tree(root)
    for name in own:
        dpkg(root, "--install", packages[name])
    for name in own:
        if ((root / f"usr/share/doc/{name}/copyright").read_bytes()
            != pathlib.Path(source, "LICENSE").read_bytes()):
            sys.exit(f"{name} has no licence")
    shutil.copy(os.path.join(source, "samples/forecast.lnet"), root / "tmp")
    inside(root, "sh", "-c", "cd /tmp && lstmc compile forecast.lnet -o m.lstmc")
    if (root / "tmp/m.lstmc").read_bytes() != (folder / "m.lstmc").read_bytes():
        sys.exit("the installed command compiles to other bytes")
    made = consumers(root)
    run(made / "compiles", os.path.join(source, "samples/tiny.lnet"), folder / "c.lstmc",
        folder / "g.lstmc")
    if not run(made / "consumer", folder / "g.lstmc").endswith(": 2\n"):
        sys.exit("twice 1 is not 2")
    if "lstmc-ranks" in own:
        # the link that update-alternatives would make, which does not run in this root
        (root / "usr/bin/mpirun").symlink_to("mpirun.openmpi")
        train = "train forecast.lnet --data random:1 --after 2u -q -o"
        ends = with_system(
            root, "sh", "-c", f"cd /tmp && lstmc {train} one && lstmc launch -n 2 -- {train} two")
        (root / "usr/bin/mpirun").unlink()
        if ends is None:
            print("not tried: mpirun, because nothing may be mounted here")
        elif (len(set(hashes := re.findall(r"weights ([0-9a-f]{16})", ends))) != 1
              or len(hashes) != 2):
            sys.exit(f"one process and two train to different weights:\n{ends}")
    remove(root, before, own)

    # The runtime without a compiler.
    root, own = root_for("lstmc-runtime")
    if any("LLVM" in path or "MLIR" in path for path in bare_root.tree(root)):
        sys.exit("lstmc-runtime depends on LLVM")
    before = bare_root.tree(root)
    dpkg(root, "--install", packages["lstmc-runtime"])
    shutil.copy(folder / "m.lstmc", root / "tmp")
    if (got := first(inside(root, "lstmc-run", "/tmp/m.lstmc", *INPUTS))) != wanted:
        sys.exit(f"the installed lstmc-run gives {got}, that of the tree {wanted}")
    consumers(root, "-DLSTMC_COMPILER=OFF")
    remove(root, before, own)
    print(f"lstmc-runtime: {size} bytes, needs {fields(packages['lstmc-runtime'])['Depends']}")
    print(f"lstmc: {packages['lstmc'].stat().st_size} bytes, needs "
          f"{fields(packages['lstmc'])['Depends']}")
