#!/usr/bin/env python3
"""Mutants of the most critical code: `mutants.py SOURCE --mutants N --only REGEX`.

Changes one place at a time in a copy of the tree (build-mutants/tree), then builds and runs the
runtime half's tests of it; a mutant survives if they pass. Places are drawn from a fixed seed;
build-mutants/done.jsonl has the result of each, so that calls add up. Exit 1 if fewer than 90 % are
killed.
"""
import argparse
import filecmp
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

# The package check and all code for checkpoints, with the programs that test them.
SOURCES = ["executor/package/Check*.cpp", "executor/package/KernelRules.cpp",
           "executor/package/Rule.cpp", "executor/package/Streams.cpp",
           "executor/package/PackedLife.cpp", "executor/package/Parse.cpp",
           "executor/training/Checkpoint*.cpp"]
PROGRAMS = {"test_package": "executor/package", "test_session": "executor/session",
            "test_training": "executor/training",
            "test_failures": "executor/failures", "test_loaders": "executor/loaders"}
WANTED = 0.9

# Patterns and their replacements. They apply to code only, not to comments, texts, includes or
# declarations of templates.
CHANGES = [(r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
           (r" == ", " != "), (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "),
           (r" \+ 1\b", ""), (r" - 1\b", ""), (r" \+ ", " - "), (r" \* ", " + "),
           (r"if \(!", "if ("), (r"if \((?!!)", "if (!"), (r"\bmin\(", "max("),
           (r"\bmax\(", "min("), (r"return true;", "return false;"),
           (r"return false;", "return true;"), (r"^\s*LSTMC_TRY\(.*\);$", ";"),
           (r"\bcontinue;", "break;"), (r" \+= ", " -= ")]


def places(tree):
    """(file, line number, change, column) of all mutants."""
    for pattern in SOURCES:
        for file in sorted(tree.glob(pattern)):
            for number, line in enumerate(file.read_text().splitlines()):
                code = re.sub(r'"(\\.|[^"\\])*"', lambda text: '"' + "_" * (len(text[0]) - 2) + '"',
                              line).split("//")[0]
                if (code.lstrip().startswith(("#", "template", "static_assert", "using", "/*", "*"))
                    or "operator" in code):
                    continue
                for change, (what, _) in enumerate(CHANGES):
                    for found in re.finditer(what, code):
                        yield str(
                            file.relative_to(tree)), number, change, found.start(), found.end()


def mutate(text, place):
    lines = text.split("\n")
    _, number, change, begin, end = place
    line = lines[number]
    made = CHANGES[change][1]
    if change == 13:  # if (x) -> if (!(x))
        depth, close = 1, end
        while close < len(line) and depth:
            depth += {"(": 1, ")": -1}.get(line[close], 0)
            close += 1
        if depth or " = " in line[end:close] or ";" in line[end:close]:
            return None
        lines[number] = line[:end] + "!(" + line[end:close - 1] + ")" + line[close - 1:]
    else:
        lines[number] = line[:begin] + made + line[end:]
    return "\n".join(lines)


def copy(source, tree):
    """Copies the checkout's files; unchanged ones keep their time, so that they are not built
    again."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=source,
                            check=True, capture_output=True, text=True).stdout
    for name in listed.splitlines():
        file = tree / name
        if ((source / name).is_file()
            and not (file.exists() and filecmp.cmp(source / name, file, shallow=False))):
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, file)
            shutil.copymode(source / name, file)


def run(command, seconds, **more):
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace",
                              timeout=seconds, **more)
    except subprocess.TimeoutExpired:
        return None


def judge(build, seconds=900):
    """The killer of the mutant: "compiler", the name of a program, or nothing. `seconds`: limit of
    the build."""
    built = run(["cmake", "--build", build, "--target", *PROGRAMS], seconds)
    if built is None or built.returncode:
        return "compiler"
    for program, folder in PROGRAMS.items():
        tested = run([build / "tests" / folder / program, "--gtest_brief=1", "--gtest_fail_fast"],
                     300)
        if tested is None or tested.returncode:
            return program
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--only", default="", help="sources of this name")
    args = parser.parse_args()
    work = args.source / "build-mutants"
    tree, build, kept = work / "tree", work / "build", work / "done.jsonl"
    copy(args.source, tree)
    if not (build / "build.ninja").exists():
        subprocess.run(
            ["cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DCMAKE_CXX_COMPILER=clang++-19",
             "-DLSTMC_COMPILER=OFF", "-DCMAKE_BUILD_TYPE=Debug",
             "-DCMAKE_CXX_FLAGS_DEBUG=-O1"],
            check=True, stdout=subprocess.DEVNULL)
    if (by := judge(build, seconds=10_000)):  # everything
        raise SystemExit(f"without a mutant: {by} fails")
    every = [place for place in places(tree) if re.search(args.only, place[0])]
    random.Random(1).shuffle(every)
    done = ({tuple(one["place"]): one for one in map(json.loads, kept.read_text().splitlines())}
            if kept.exists() else {})
    judged = [one for place, one in done.items()
              if re.search(args.only, place[0]) and one["by"] != "compiler"]
    for place in every:
        if len(judged) >= args.mutants:
            break
        if place in done:
            continue
        file = tree / place[0]
        plain = file.read_text()
        mutant = mutate(plain, place)
        if mutant is None or mutant == plain:
            continue
        begin = time.monotonic()
        file.write_text(mutant)
        try:
            by = judge(build)
        finally:
            file.write_text(plain)
        one = {"place": place, "line": plain.split("\n")[place[1]].strip(),
               "to": mutant.split("\n")[place[1]].strip(), "by": by,
               "seconds": round(time.monotonic() - begin, 1)}
        with kept.open("a") as out:
            out.write(json.dumps(one) + "\n")
        if by != "compiler":
            judged.append(one)
        if not by:
            print(f"{place[0]}:{place[1] + 1}: survives\n  {one['line']}\n  {one['to']}",
                  flush=True)
    killed = sum(bool(one["by"]) for one in judged)
    print(f"{killed} of {len(judged)} mutants killed ({100 * killed / max(1, len(judged)):.1f} %)")
    return killed < WANTED * len(judged)


if __name__ == "__main__":
    sys.exit(main())
