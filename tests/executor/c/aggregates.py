"""aggregates.py PROGRAM HEADERS: schedules.hpp and optimizers.hpp are what PROGRAM makes from the
tables. To renew one: PROGRAM schedules > HEADERS/schedules.hpp."""

import pathlib
import subprocess
import sys

program, headers = sys.argv[1:]
for name in "schedules", "optimizers":
    made = subprocess.run([program, name], check=True, capture_output=True, text=True).stdout
    path = pathlib.Path(headers, f"{name}.hpp")
    if path.read_text() != made:
        sys.exit(f"{path} is not what executor/abi says: {program} {name} >{path}")
    print(path, len(made))
