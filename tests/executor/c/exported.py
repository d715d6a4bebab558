"""exported.py LIBRARY MAP HEADER: the library exports the names of its version map, which are those that the header declares."""

import re
import subprocess
import sys

library, version_map, header = sys.argv[1:]
listed = set(re.findall(r"^\s+(lstmc_\w+);", open(version_map).read(), re.MULTILINE))
declared = set(re.findall(r"LSTMC_API [^;(]*?\b(lstmc_\w+)\(", open(header).read()))
symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
exported = {line.split()[-1].split("@")[0] for line in symbols.splitlines() if " A " not in line}
for name, left, right in (("map and header", listed, declared), ("map and library", listed, exported)):
    if left != right:
        sys.exit(f"{name} differ: {sorted(left ^ right)}")
print(f"{len(listed)} names")
