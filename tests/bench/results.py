#!/usr/bin/env python3
"""Makes RESULTS.md, and the two tables in README.md, from results/*.json: per machine, the file of
`./dev bench peers --results results/MACHINE.json`; in tables.json, the last results of the other
benchmarks.

usage: results.py [--check]      --check: exit 1 if a document differs from the files
"""
import json
import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
PEERS = {"torch": "PyTorch", "ort": "ONNX Runtime", "jax": "JAX"}
# Shown in README.md: one of every kind of cell, slow ones included.
SHOWN = [("stream-H256", "stream"), ("B64-H512-L2-T50", "infer"), ("B64-H512-L2-T50", "train"),
         ("char-lm", "train")]
DEPLOYED = "Deployed, beside PyTorch"
HOW_TO_READ = """\
# Measured

Made by `tests/bench/results.py` from the files in `results/`: edit those. The test `style.results`
compares the two. Each section names the date and the machine of its measurement, and the command
that repeats it; figures of different machines, days or versions are not for comparison. Only the
last measurement is kept.

## Beside other programs: how to read

`./dev bench peers` runs lstmc, PyTorch, ONNX Runtime and JAX (of the versions in `peers.lock`) in
turn, in rounds, on one machine, and `--results tests/bench/results/MACHINE.json` writes for each
cell and program the median of all runs, the median of their distances from it, the number of runs,
and the median of each round. Cells are those of `cells.json`: T steps, B sequences, H = I units, L
layers, float32. `stream` is one step that keeps its state, `infer` forward, `train` forward and
backward, char-lm an update of `samples/char_lm.lnet`.

A ratio is the best peer's median divided by lstmc's; above 1, lstmc is faster. "Of limit" is the
least time that this machine's arithmetic and memory allow, divided by lstmc's time; it may exceed
1, because the limit reads weights in one direction, while lstmc sweeps back and forth and finds
some in cache. "-": the file has no such figure.
"""


def peers():
    """The files of ./dev bench peers, the newest first."""
    found = [json.loads(path.read_text()) for path in sorted((HERE / "results").glob("*.json"))]
    return sorted((result for result in found if result["schema"].startswith("lstmc.bench.peers/")),
                  key=lambda result: result["date"], reverse=True)


def times(row):
    """The median of each program, and its deviation if known. Schema 1 has no deviations."""
    if "programs" in row:
        return {name: (times["median_ms"], times["deviation_ms"])
                for name, times in row["programs"].items()}
    return {"lstmc": (row["lstmc_ms"], None), row["best_peer"]: (row["best_peer_ms"], None)}


def best(row):
    """The fastest peer and the ratio of its time to lstmc's."""
    medians = {name: median for name, (median, _) in times(row).items()}
    peer = min((name for name in PEERS if name in medians), key=medians.get)
    return peer, row["ratio"] if "ratio" in row else medians[peer] / medians["lstmc"]


def limit(row):
    return (row["limit_fraction"] if "limit_fraction" in row
            else row["limit_ms"] / times(row)["lstmc"][0])


def grid(columns, rows):
    return ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns),
            *("| " + " | ".join(row) + " |" for row in rows)]


def cells(result):
    """Every cell of one file."""
    def shown(row, name):
        if name not in times(row):
            return "-"
        median, deviation = times(row)[name]
        return f"{median:.4f}" if deviation is None else f"{median:.4f} ± {deviation:.4f}"

    rows = [[row["cell"], row["what"], *(shown(row, name) for name in ("lstmc", *PEERS)),
             f"{best(row)[1]:.2f} ({best(row)[0]})", f"{limit(row):.2f}"]
            for row in result["cells"]]
    return grid(
        ["cell", "what", "lstmc ms", *(f"{name} ms" for name in PEERS), "ratio", "of limit"], rows)


def described(shape):
    steps, batch, units, layers = shape
    return f"{layers} x LSTM {units}, batch {batch}, {steps} step{'s' if steps > 1 else ''}"


def summary(results):
    """The cells of SHOWN, with a column for each machine."""
    shapes = json.loads((HERE / "cells.json").read_text())

    def ratio(result, cell, what):
        row = next((row for row in result["cells"] if (row["cell"], row["what"]) == (cell, what)),
                   None)
        return f"{best(row)[1]:.2f} ({best(row)[0]})" if row else "-"

    rows = [["an update of `samples/char_lm.lnet`" if cell == "char-lm"
             else f"{described(shapes[cell])}: {what}",
             *(ratio(result, cell, what) for result in results)]
            for cell, what in SHOWN]
    return grid(["network", *(f"{re.sub(', [0-9]+ virtual cores$', '', result['machine'])}, "
                              f"{result['date']}" for result in results)], rows)


def paragraph(text):
    """The lines of a paragraph, of at most 100 columns as style.format wants them."""
    return textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False)


def document(results, sections):
    """RESULTS.md."""
    lines = HOW_TO_READ.splitlines()
    for result in results:
        versions = ", ".join(f"{name} {version}" for name, version in result["peers"].items())
        lines += ["", f"## {result['date']}, {result['machine']}", "",
                  *paragraph(f"Commit {result['commit']}, {result['threads']} threads; "
                             f"{versions}. {result.get('about', '')}"), "",
                  *cells(result)]
    for section in sections:
        lines += ["", f"## {section['title']}", "",
                  *paragraph(f"`{section['bench']}`, {section['date']}, {section['machine']}. "
                             f"{section['about']}")]
        if "rows" in section:
            lines += ["", *grid(section["columns"], section["rows"])]
    return "\n".join(lines) + "\n"


def filled(text, name, lines):
    """The document with these lines between the marks of `name`."""
    begin, end = f"<!-- made by tests/bench/results.py: {name} -->\n", "<!-- end -->"
    before, mark, rest = text.partition(begin)
    if not mark or end not in rest:
        raise SystemExit(f"no place for {name}: {begin.strip()} and {end}")
    return before + begin + "\n" + "\n".join(lines) + "\n\n" + rest[rest.index(end):]


def main():
    readme = HERE.parent.parent / "README.md"
    sections = json.loads((HERE / "results/tables.json").read_text())["sections"]
    [deployed] = [section for section in sections if section["title"] == DEPLOYED]
    page = filled(readme.read_text(), "deployed", grid(deployed["columns"], deployed["rows"]))
    made = {HERE / "RESULTS.md": document(peers(), sections),
            readme: filled(page, "ratios", summary(peers()))}
    for path, text in made.items():
        if "--check" not in sys.argv:
            path.write_text(text)
        elif text != path.read_text():
            raise SystemExit(f"{path.name} has other figures than tests/bench/results; run "
                             "tests/bench/results.py")


if __name__ == "__main__":
    main()
