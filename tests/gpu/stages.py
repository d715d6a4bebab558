"""stages.py BUNDLE DEVICE: the stages of run.sh, and their table. Each has a time limit of its own, and all together end before the ten minutes.

What there was no time for is named as not run, and is no failure. LSTMC_STAGES_SECONDS sets another time for all together.
"""

import collections
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ALL_SECONDS = float(os.environ.get("LSTMC_STAGES_SECONDS", 560))
NEAR = 0.03  # of the strict loss, or of the strict outputs' magnitude: what a run with a rule may differ by
PADDED = 0.65  # of the time without padding: what a run may take half of whose steps are padding
CELL_SECONDS = 1.0  # of measuring, for each of ours and the peers'
CONFORMANCE = {"gpu": "*RealGpu*", "emu": "*EmulatedGpu*/softmax:*EmulatedGpu*/product"}


NOT_RUN = "not run for lack of time"
Answer = collections.namedtuple("Answer", "code stdout stderr why")


class Stages:
    def __init__(self, bundle, device):
        self.bundle, self.device, self.begin = bundle, device, time.monotonic()
        self.facts = json.loads((bundle / "bundle.json").read_text())
        self.real = device.startswith("gpu")
        self.checks, self.failed, self.missing = [], False, 0

    def left(self):
        return ALL_SECONDS - (time.monotonic() - self.begin)

    def run(self, *words, most=120, ours=True):
        """The process, with what it wrote even if its time ended before; `why` it gives no answer, else "". Only our programs take the libraries of the bundle."""
        limit = min(most, self.left())
        if limit < 1:
            return Answer(None, "", "", NOT_RUN)
        environment = dict(os.environ, LD_LIBRARY_PATH=str(self.bundle / "lib")) if ours else None
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
            try:
                code = subprocess.run([str(w) for w in words], stdout=out, stderr=errors, timeout=limit, env=environment).returncode
            except subprocess.TimeoutExpired:
                code = None
            said, errors_said = (file.seek(0) or file.read() for file in (out, errors))
        if code is None:
            why = f"did not end in {limit:.0f} s" if limit == most else f"{NOT_RUN}: {limit:.0f} s were left"
        else:
            why = "" if code == 0 else (errors_said.strip().splitlines() or [f"exit {code}"])[-1]
        return Answer(code, said, errors_said, why)

    def on_card(self, *words, most=120):
        """What on_card answers, or why it does not."""
        done = self.run(self.bundle / "bin/on_card", *words, self.device, most=most)
        return (None, done.why) if done.why else (json.loads(done.stdout), "")

    def check(self, what, found, good=True):
        self.checks.append((what, found))
        self.missing += found.startswith(NOT_RUN)
        self.failed |= not good and not found.startswith(NOT_RUN)
        print(f"{what:<48} {found}", flush=True)

    # The stages.

    def conformance(self):
        program = [self.bundle / "bin/lstmc_conformance_test", f"--gtest_filter={CONFORMANCE[self.device[:3]]}"]
        done = self.run(*program)
        good = not done.why and "SKIPPED" not in done.stdout and "PASSED" in done.stdout
        self.check("conformance of kernels", "equal bits" if good else done.why if done.code is None else "differs", good)
        if not good:
            print("\n".join((done.stdout + done.stderr).splitlines()[-40:]))
        if not shutil.which("compute-sanitizer"):
            return self.check("compute-sanitizer on it", "not here")
        done = self.run("compute-sanitizer", "--tool", "memcheck", "--error-exitcode", "9", *program)
        said = (done.stdout.strip().splitlines() or ["failed"])[-1]
        self.check("compute-sanitizer on it", said if done.code else done.why or "no error", done.code in (0, None))

    def layers_of_cudnn(self):
        """Near to the exact ones, and twice to the same bits. Where the library is missing, that is no failure."""
        if not self.real:
            return
        done = self.run(self.bundle / "bin/lstmc_conformance_test", "--gtest_filter=RealCudnn*")
        here = "SKIPPED" not in done.stdout
        good = not done.why and "PASSED" in done.stdout
        self.check("layers by cuDNN", done.why if done.code is None else "not here" if good and not here else "near to ours, repeated to the bit" if good else "differ", good)
        if not good:
            print("\n".join((done.stdout + done.stderr).splitlines()[-40:]))

    def trainings(self, kind, rows):
        for row in rows:
            data = row["data"].replace("DATA", str(self.bundle / "data"))
            found, why = self.on_card("train", self.bundle / row["package"], data, row["updates"])
            if not found:
                self.check(f"{kind}: {row['name']}", why, False)
                continue
            same = found["weights"] == row["weights"]
            loss = "" if found["loss"] is None else f", loss {found['loss']:.4f} (cpu {row['loss']:.4f})"
            self.check(f"{kind}: {row['name']}, {row['updates']} updates", ("the weights of a cpu" if same else "other weights than a cpu") + loss, same)

    def fast_trainings(self):
        """By tolerance, and twice to the same bits. Where the library of a rule is missing, that is no failure."""
        for row in self.facts["fast"]:
            data, name = row["data"].replace("DATA", str(self.bundle / "data")), f"--fast {row['rule']}: {row['name']}, {row['updates']} updates"
            runs = [self.on_card("train", self.bundle / row["package"], data, row["updates"]) for _ in range(2)]
            if not all(found for found, _ in runs):
                why = next(why for found, why in runs if not found)
                self.check(name, why, is_missing_library(why))
                continue
            found, again = (found for found, _ in runs)
            near = abs(found["loss"] - row["loss"]) <= NEAR * row["loss"]
            same = found["weights"] == again["weights"]
            self.check(name, f"{'near' if near else 'far from'} the strict loss, {'repeated to the bit' if same else 'other weights when repeated'}, "
                             f"loss {found['loss']:.4f} (cpu {row['loss']:.4f})", near and same)

    def cells(self):
        """(cell, its least time, what the peers answer) of all."""
        found = [self.cell(cell) for cell in self.facts["cells"]]
        self.padding(found)
        return list(zip(self.facts["cells"], found, self.peers()))

    def cell(self, cell):
        """Its least time; its outputs, and its weights after one run, are those of a cpu, or near to them with a rule."""
        name = f"cell {cell['name']} {cell['entry']} {cell['rule'] or 'strict'}"
        found, why = self.on_card("time", self.bundle / cell["package"], cell["entry"], CELL_SECONDS if self.real else 0.01, most=40)
        if not found:
            self.check(name, why, bool(cell["rule"]) and is_missing_library(why))
            return None
        if cell["rule"]:
            same = abs(found["rms"] - cell["rms"]) <= NEAR * abs(cell["rms"])
            self.check(name, "near to a cpu" if same else f"far from a cpu: {found['rms']} and {cell['rms']}", same)
        else:
            same = found["hash"] == cell["hash"]
            self.check(name, "the bits of a cpu" if same else "other bits than a cpu", same)
        return found["least_s"]

    def padding(self, times):
        """What half of the steps as padding save, where the same cell is there without."""
        whole = {(*cell["shape"], cell["entry"], cell["rule"]): seconds for cell, seconds in zip(self.facts["cells"], times) if not cell["padded"]}
        for cell, seconds in zip(self.facts["cells"], times):
            other = whole.get((*cell["shape"], cell["entry"], cell["rule"]))
            if cell["padded"] and seconds and other:
                ratio = seconds / other
                self.check(f"{cell['name']} {cell['rule'] or 'strict'}", f"{ratio:.2f} of the time without padding" if self.real else "compared with the time without padding",
                           not self.real or ratio <= PADDED)

    def peers(self):
        """An answer for each cell, as far as PyTorch came."""
        cells = self.facts["cells"]
        done = self.run(sys.executable, "-B", HERE / "peers.py", self.cell_file(), CELL_SECONDS / 2, most=240, ours=False)
        answers = answers_of(done.stdout)
        self.versions = answers.pop(0).get("versions", "") if answers and "versions" in answers[0] else ""
        if not self.versions:
            missing = answers[0].get("missing", "") if answers else done.why or "no answer"
            self.check("PyTorch and cuDNN", f"not here: {missing}")
            return [{"missing": "not here"}] * len(cells)
        if len(answers) < len(cells):
            self.check("PyTorch and cuDNN", f"{len(answers)} of {len(cells)} cells: {done.why or 'the rest has no answer'}")
        return answers[: len(cells)] + [{"missing": "no answer"}] * (len(cells) - len(answers))

    def cell_file(self):
        path = self.bundle / "cells.json"
        path.write_text(json.dumps(self.facts["cells"]))
        return path


def is_missing_library(why):
    return any(f"{name} was not found" in why for name in ("cuBLASLt", "cuDNN"))


def answers_of(text):
    """Of each whole line."""
    answers = []
    for line in text.splitlines():
        try:
            answers.append(json.loads(line))
        except ValueError: # cut short
            break
    return answers


def milliseconds(seconds):
    return "-" if seconds is None else f"{seconds * 1e3:.3g} ms"


def card_of(name, facts):
    """The card of Cards.def whose name is a word of the driver's."""
    return next((card for card in facts["cards"] if card in name.replace("-", " ").split()), None)


def cell_row(cell, seconds, peer, card, peaks, real):
    """What was reached, beside PyTorch and cuDNN; the card's limit (`peaks`: operations of each rule and bytes, a second); what stands between."""
    torch, cudnn = peer.get("torch_s"), peer.get("cudnn_s")
    limit = forecast = between = None
    if card:
        flops, memory = peaks[cell["rule"]], peaks["memory"]
        limit = max(cell["flops"] * (0.5 if cell["padded"] else 1) / flops, cell["weight_bytes"] / memory)
        forecast = cell["forecasts"][card]
        between = (f"forecast {milliseconds(forecast['seconds'])}, {milliseconds(forecast['waiting_s'])} of it steps that wait for one another "
                   f"({', '.join(forecast['ways'])})" + (f"; measured {seconds / forecast['seconds']:.2g} times that" if real and seconds else ""))
    time_of = lambda value: milliseconds(value) if real else "-"
    over = lambda other: f"{other / seconds:.2f}x" if real and seconds and other else "-"
    algorithm = f" ({peer['cudnn_algorithm']})" if cudnn else ""
    return [f"{cell['name']}, {cell['entry']}", cell["rule"] or "strict fp32", time_of(seconds), (time_of(torch) if torch else peer.get("missing", "-")),
            time_of(cudnn) + algorithm, over(torch), over(cudnn),
            cell["goal"] or "-", milliseconds(limit), between or "the card has no data sheet here"]


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return lines + ["| " + " | ".join(str(c).replace("|", "/") for c in row) + " |" for row in rows]


def document(stages, rows, card_name):
    driver = stages.run("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", ours=False) if shutil.which("nvidia-smi") else None
    lines = ["# What a GPU showed", "", f"{datetime.date.today()}, {card_name or stages.device}, driver {(driver.stdout.split() or ['unknown'])[0] if driver else 'unknown'}, "
             f"{stages.facts['version']}, {stages.versions or 'no PyTorch'}. Strict fp32 has the bits of a cpu; a rule of --fast uses tensor cores, cuBLASLt or cuDNN, with weights in f32.", ""]
    lines += table(["what", "found"], stages.checks) + [""]
    card = card_of(card_name, stages.facts) if card_name else None
    lines += table(["cell", "rule", "lstmc", "PyTorch", "cuDNN, its best algorithm", "over PyTorch", "over cuDNN", "goal", "limit of the card", "what stands between"],
                   [cell_row(*row, card, stages.facts["cards"].get(card), stages.real) for row in rows])
    return "\n".join(lines) + "\n"


def main():
    stages = Stages(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2])
    first = stages.facts["cells"][0]
    found = stages.run(stages.bundle / "bin/on_card", "time", stages.bundle / first["package"], first["entry"], 0, stages.device)
    if found.why:
        print(found.stderr or found.why)
        sys.exit(5 if found.code == 5 else 1)
    stages.conformance()
    stages.layers_of_cudnn()
    stages.trainings("sameness", stages.facts["sameness"])
    stages.trainings("training", stages.facts["trainings"])
    stages.fast_trainings()
    rows = stages.cells()
    name = ""
    if stages.real and shutil.which("nvidia-smi"):
        done = stages.run("nvidia-smi", "--query-gpu=name", "--format=csv,noheader", ours=False)
        name = done.stdout.splitlines()[0] if done.stdout else ""
    text = document(stages, rows, name)
    print("\n" + text)
    if stages.real:
        for folder in filter(None, [HERE, os.environ.get("OUT")]):
            pathlib.Path(folder, "RESULTS.md").write_text(text)
    else:
        print("emulated: times are not shown, since they say nothing about a GPU")
    if stages.missing:
        print(f"not run for lack of time: {stages.missing} of {len(stages.checks)}")
    sys.exit(int(stages.failed))


if __name__ == "__main__":
    main()
