#!/usr/bin/env python3
"""The tables of ratios in RESULTS.md and README.md, made from results/*.json: what `./dev bench peers --results results/MACHINE.json` wrote,
one file for each kind of machine.

usage: results.py [--check]      --check: exit 1 where a table is not what the files say
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Shown in README.md: of every kind of cell some, the slow ones too.
SHOWN = [("stream-H256", "stream"), ("B1-H256-L2-T64", "infer"), ("ptb-medium", "infer"), ("ptb-medium", "train"), ("B64-H512-L2-T50", "infer"),
         ("B64-H512-L2-T50", "train"), ("B8-H256-T2000", "train"), ("char-lm", "train")]


def measured():
    """The files, the newest first."""
    found = [(path.stem, json.loads(path.read_text())) for path in sorted((HERE / "results").glob("*.json"))]
    return sorted(found, key=lambda entry: entry[1]["date"], reverse=True)


def described(shape):
    steps, batch, units, layers = shape
    return f"{layers} x LSTM {units}, batch {batch}, {steps} step{'s' if steps > 1 else ''}"


def whole(result):
    """Every cell of one file."""
    before = "before_ratio" in result["cells"][0]
    lines = ["| cell | what | lstmc ms | best peer | peer ms | ratio | of limit |" + (" before |" if before else ""),
             "|---|---|---|---|---|---|---|" + ("---|" if before else "")]
    for row in result["cells"]:
        lines.append(f"| {row['cell']} | {row['what']} | {row['lstmc_ms']:.4f} | {row['best_peer']} | {row['best_peer_ms']:.4f} | "
                     f"{row['ratio']:.2f} | {row['limit_fraction']:.2f} |" + (f" {row['before_ratio']:.3f} |" if before else ""))
    return lines


def summary(results):
    """The cells of SHOWN, with a column for each machine."""
    shapes = json.loads((HERE / "cells.json").read_text())
    lines = ["| network | " + " | ".join(f"{result['machine']}, {result['date']}" for _, result in results) + " |",
             "|---|" + "---|" * len(results)]
    for cell, what in SHOWN:
        ratios = []
        for _, result in results:
            row = next((row for row in result["cells"] if (row["cell"], row["what"]) == (cell, what)), None)
            ratios.append(f"{row['ratio']:.2f} ({row['best_peer']})" if row else "-")
        network = "an update of `samples/char_lm.lnet`" if cell == "char-lm" else f"{described(shapes[cell])}: {what}"
        lines.append(f"| {network} | " + " | ".join(ratios) + " |")
    return lines


def filled(text, name, lines):
    """The document with these lines between the marks of `name`."""
    begin, end = f"<!-- made by tests/bench/results.py: {name} -->\n", "<!-- end -->"
    before, mark, rest = text.partition(begin)
    if not mark or end not in rest:
        raise SystemExit(f"no place for {name}: {begin.strip()} and {end}")
    return before + begin + "\n" + "\n".join(lines) + "\n\n" + rest[rest.index(end):]


def main():
    results = measured()
    documents = {HERE / "RESULTS.md": [(name, whole(result)) for name, result in results],
                 HERE.parent.parent / "README.md": [("ratios", summary(results))]}
    for path, tables in documents.items():
        text = made = path.read_text()
        for name, lines in tables:
            made = filled(made, name, lines)
        if "--check" not in sys.argv:
            path.write_text(made)
        elif made != text:
            raise SystemExit(f"{path.name} has other figures than tests/bench/results; run tests/bench/results.py")


if __name__ == "__main__":
    main()
