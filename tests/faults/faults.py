#!/usr/bin/env python3
"""Puts each fault of this folder into a copy of the tree and draws nets until a judge finds the
fault. usage: faults.py ROOT [--only REGEX] [--nets N]

The copy is ROOT/build-faults/tree. If this process has the permission, it mounts the copy over
ROOT, so that ccache finds earlier objects.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

here = pathlib.Path(__file__).resolve().parent


class Copy:
    """The present tree, without build folders."""

    def __init__(self, root):
        self.root = root
        self.folder = root / "build-faults"
        self.tree = self.folder / "tree"
        self.tree.mkdir(parents=True, exist_ok=True)
        files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root,
                               check=True, capture_output=True, text=True).stdout
        for name in files.splitlines():
            self.put(root / name, self.tree / name)
        self.mounts = subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0

    @staticmethod
    def put(source, to):
        """Writes a file only if it differs, because ninja compares times."""
        if not source.is_file() or (to.is_file() and to.read_bytes() == source.read_bytes()):
            return
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(source.read_bytes())
        to.chmod(source.stat().st_mode)

    def run(self, *command, **options):
        if self.mounts:
            view = 'mount --bind "$0" "$1" && cd "$1" && shift && exec "$@"'
            command = ["unshare", "-m", "bash", "-c", view, self.tree, self.root, *command]
        return subprocess.run(command, cwd=self.tree, text=True, **options)

    def build(self):
        if not (self.tree / "build/build.ninja").exists():
            # With the tree's options, for ccache hits.
            cache = (self.root / "build/CMakeCache.txt").read_text()
            same = re.findall(r"^((?:CMAKE_CXX_COMPILER|LSTMC_WERROR):\w+=.*)$", cache, re.M)
            self.run("cmake", "--preset", "release", *(f"-D{entry}" for entry in same), check=True,
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        made = self.run("cmake", "--build", "--preset", "release", "--target", "nets",
                        capture_output=True)
        if made.returncode:
            raise SystemExit(made.stdout[-3000:])

    def apply(self, patch, reverse=False):
        # the copy is not part of the surrounding repository
        outside = dict(os.environ, GIT_CEILING_DIRECTORIES=str(self.folder))
        return subprocess.run(["git", "apply", *(["-R"] if reverse else []), patch], cwd=self.tree,
                              env=outside, capture_output=True).returncode == 0

    def judge(self, first, last):
        """(the first seed that fails, and the finding), or None."""
        said = self.run("build/tests/nets/nets", "--seeds", f"{first}..{last}",
                        "--until-found", "--no-shrink", capture_output=True).stdout
        found = re.search(r"^seed (\d+): (.*)$", said, re.M)
        return found and (int(found[1]), found[2])


def is_fine(root, seed):
    """Whether the tree without the fault accepts the net."""
    program = root / "build/tests/nets/nets"
    return subprocess.run([program, "--seeds", f"{seed}..{seed}", "--no-shrink"],
                          capture_output=True).returncode == 0


def find(copy, nets):
    first = 1
    while first <= nets:
        found = copy.judge(first, nets)
        if not found:
            return None
        if is_fine(copy.root, found[0]):
            return found
        first = found[0] + 1
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--nets", type=int, default=2000)
    args = parser.parse_args()
    copy = Copy(args.root.resolve())
    missed = False
    print("| fault | found after | by |\n|---|---|---|")
    for patch in sorted(here.glob("*.patch")):
        if not re.search(args.only, patch.stem):
            continue
        if not copy.apply(patch):
            print(f"| `{patch.stem}` | does not apply | |", flush=True)
            missed = True
            continue
        try:
            begin = time.monotonic()
            copy.build()
            built = time.monotonic()
            found = find(copy, args.nets)
        finally:
            copy.apply(patch, reverse=True)
        print("%s: built in %.0f s, searched for %.0f "
              "s" % (patch.stem, built - begin, time.monotonic() - built), file=sys.stderr)
        what = re.sub(r"`[^`]*`", "", found[1])[:150].replace("|", " ") if found else ""
        print(f"| `{patch.stem}` | {f'{found[0]} nets' if found else f'not in {args.nets} nets'} | "
              f"{what} |", flush=True)
        missed |= not found
    raise SystemExit(1 if missed else 0)


main()
