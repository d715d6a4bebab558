"""exported.py LIBRARY MAP HEADERS RECORD: the library exports the names of its version map, which
are those declared in the C headers of a folder, and the interface has everything in RECORD, so that
a program built with an earlier header finds the same functions, numbers and fields. New names are
added to RECORD by hand.
"""

import pathlib
import re
import subprocess
import sys

library, version_map, headers, record = sys.argv[1:]
text = "".join(path.read_text() for path in sorted(pathlib.Path(headers).glob("*.h")))
text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                         check=True).stdout
exported = dict(line.split()[-1].split("@@") for line in symbols.splitlines() if " A " not in line)
declared = {re.search(r"(\w+)\(", declaration)[1]: " ".join(declaration.split())
            for declaration in re.findall(r"^LSTMC_API ([^;]*);", text, re.MULTILINE)}
listed = set(re.findall(r"^\s+(lstmc_\w+);", open(version_map).read(), re.MULTILINE))
for name, left, right in (("map and header", listed, set(declared)),
                          ("map and library", listed, set(exported))):
    if left != right:
        sys.exit(f"{name} differ: {sorted(left ^ right)}")

interface = {f"{exported[name]} {declaration}" for name, declaration in declared.items()}
interface |= {f"{name} = {value}"
              for name, value in re.findall(r"\b(LSTMC_[A-Z0-9_]+) = (\d+)", text)}
for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\} \1;", text, re.DOTALL):
    fields = [" ".join(field.split()) for field in body.split(";") if field.strip()]
    interface |= {f"{name}.{index}: {field}" for index, field in enumerate(fields)}
recorded = {line for line in open(record).read().splitlines() if line and not line.startswith("#")}
if recorded - interface:
    sys.exit("programs that were built with an earlier lstmc.h no longer find:\n"
             + "\n".join(sorted(recorded - interface)))
if interface - recorded:
    sys.exit(f"new in the interface, and not yet in {record}:\n"
             + "\n".join(sorted(interface - recorded)))
print(f"{len(declared)} functions, {len(interface)} lines of the record")
