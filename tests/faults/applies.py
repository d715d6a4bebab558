#!/usr/bin/env python3
"""Checks that each patch in this folder applies to the current tree. usage: applies.py ROOT"""
import os
import pathlib
import shutil
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
root = pathlib.Path(sys.argv[1]).resolve()
if shutil.which("git"):
    command = ["git", "apply", "--check"]  # works without a repository
elif shutil.which("patch"):
    command = ["patch", "--dry-run", "--force", "-p1", "-i"]
else:
    print("skipped: neither git nor patch is here")
    sys.exit(77)

patches = sorted(here.glob("*.patch"))
outside = dict(os.environ, GIT_CEILING_DIRECTORIES=str(root.parent))
refused = 0
for patch in patches:
    said = subprocess.run([*command, patch], cwd=root, env=outside, capture_output=True, text=True)
    if said.returncode:
        refused += 1
        print(f"{patch.name} does not apply; make it again for the present code (README.md)\n"
              f"{said.stdout}{said.stderr}")
print(f"{len(patches) - refused} of {len(patches)} patches apply")
sys.exit(1 if refused or not patches else 0)
