#!/usr/bin/env python3
"""`./dev check [COMMIT]`: builds and runs the tests of the rooms that changed since COMMIT
(default: HEAD, for what is not committed yet), then tests of the rooms that include those, quickest
first, until 60 seconds are over. Stops at the first test that fails. It is the inner loop of an
edit; `./dev test` remains what decides.

A test's label is the room that its folder follows (tests/executor/session: executor/session).
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
BUILD = SOURCE / "build"
UNKNOWN = 3  # seconds that a test which never ran is taken to need
BATCH = 10  # seconds of tests per call of ctest
INCLUDE = r'^#include "[a-z_0-9]+(/[A-Za-z_0-9]+)*/[A-Za-z_0-9]+\.(h|def|inc)"'


def output(*command):
    return subprocess.run(command, cwd=SOURCE, check=True, text=True, capture_output=True).stdout


def changed_files(commit):
    tracked = output("git", "diff", "--name-only", commit).split("\n")
    new = output("git", "ls-files", "--others", "--exclude-standard").split("\n")
    return [name for name in tracked + new if name]


def included_rooms():
    """{room: rooms that its files include}; a room is a folder."""
    rooms = {}
    for line in output("git", "grep", "-E", INCLUDE, "--", "*.h", "*.cpp").splitlines():
        name, include = line.split(":", 1)
        included = re.search(r'"(.*)/', include)[1]
        rooms.setdefault(str(Path(name).parent), set()).add(included)
    return rooms


def labels_of(room, labels):
    """The labels that test a room: those of its folder and of folders in it; without any, those of
    the nearest folder above it. A folder of tests is tested by itself."""
    room = room.removeprefix("tests/")
    while room and room != ".":
        found = {label for label in labels if label == room or label.startswith(room + "/")}
        if found:
            return found
        room = str(Path(room).parent)
    return set()


def registered_tests():
    """[(name, labels, words of the command and of the environment)]"""
    tests = json.loads(output("ctest", "--test-dir", str(BUILD), "--show-only=json-v1"))["tests"]
    result = []
    for test in tests:
        properties = {item["name"]: item["value"] for item in test.get("properties", [])}
        words = list(test.get("command", []))
        environment = properties.get("ENVIRONMENT", [])
        words += [word.split("=", 1)[1] for word in environment if "=" in word]
        result.append((test["name"], set(properties.get("LABELS", [])), words))
    return result


def seconds_of_tests():
    """What earlier runs of ctest took: {name: seconds}."""
    record = BUILD / "Testing/Temporary/CTestCostData.txt"
    costs = {}
    for line in record.read_text().splitlines() if record.exists() else []:
        match = re.fullmatch(r"(.+) (\d+) ([0-9.e+-]+)", line)
        if match and int(match[2]):
            costs[match[1]] = float(match[3])
    return costs


def targets_of(tests, labels):
    """What ninja must build: programs in the labels' folders, and what the tests' commands name."""
    lines = output("ninja", "-C", str(BUILD), "-t", "targets", "all").splitlines()
    known = {line.split(": ")[0] for line in lines}
    targets = {f"tests/{label}/all" for label in labels} & known
    for _, _, words in tests:
        for word in words:
            if word == str(BUILD / "python"):
                targets.add("lstmc_python_package")
            elif word.startswith(f"{BUILD}/") and os.path.relpath(word, BUILD) in known:
                targets.add(os.path.relpath(word, BUILD))
    return sorted(targets)


def batches(names, costs):
    """Names in runs that are expected to take BATCH seconds on all cores, at most 100 names each,
    and the seconds."""
    batch, seconds = [], 0
    for name in names:
        cost = costs.get(name, UNKNOWN) / os.cpu_count()
        if batch and (seconds + cost > BATCH or len(batch) == 100):
            yield batch, seconds
            batch, seconds = [], 0
        batch.append(name)
        seconds += cost
    if batch:
        yield batch, seconds


def run(names, costs, stop):
    """Runs tests in their order as far as the time `stop` allows; returns how many ran, exits where
    one fails."""
    ran = 0
    for batch, seconds in batches(names, costs):
        if time.monotonic() + seconds > stop:
            break
        pattern = "^(" + "|".join(re.escape(name) for name in batch) + ")$"
        ctest = subprocess.run(["ctest", "--test-dir", str(BUILD), "-R", pattern, "--quiet",
                                "--stop-on-failure", "--output-on-failure", "-j",
                                str(os.cpu_count()), "--output-log", str(BUILD / "check.log")])
        if ctest.returncode:
            sys.stdout.write((BUILD / "check.log").read_text())
            sys.exit(f"failed; {ran} tests of these rooms passed before")
        ran += len(batch)
    return ran


def main():
    parser = argparse.ArgumentParser(prog="./dev check", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", nargs="?", default="HEAD")
    parser.add_argument("--seconds", type=float, default=60, help="budget with building (60)")
    arguments = parser.parse_args()
    stop = time.monotonic() + arguments.seconds

    tests = registered_tests()
    labels = set().union(*(of for _, of, _ in tests))
    changed = {str(Path(name).parent) for name in changed_files(arguments.commit)}
    if not changed:
        print(f"nothing changed since {arguments.commit}")
        return
    own = set().union(*(labels_of(room, labels) for room in changed))
    readers = {room for room, includes in included_rooms().items() if includes & changed}
    near = set().union(*(labels_of(room, labels) for room in readers)) - own

    costs = seconds_of_tests()
    for title, wanted in (("changed", own), ("including", near)):
        chosen = sorted((test for test in tests if test[1] & wanted),
                        key=lambda test: costs.get(test[0], UNKNOWN))
        if not chosen or time.monotonic() > stop:
            continue
        print(f"{title}: {' '.join(sorted(wanted))}")
        targets = targets_of(chosen, wanted)
        subprocess.run(["ninja", "-C", str(BUILD), "--quiet", *targets], check=True)
        ran = run([name for name, _, _ in chosen], costs, stop)
        rest = "" if ran == len(chosen) else "; no time for the others"
        print(f"  {ran} of {len(chosen)} tests passed{rest}")


if __name__ == "__main__":
    main()
