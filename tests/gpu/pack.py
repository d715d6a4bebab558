"""pack.py BUILD FOLDER [--small] [--words FOLDER]: packs the files of run.sh for a machine with a
GPU and without our compiler, in a folder of at most 64 MiB.

Contents: the runtime half with the kernels for GPUs (BUILD needs nvcc for that), its libraries
besides the C library, packages, data, and the results of each on a cpu. --small: for rehearsals.
--words has train.txt, the text of the word language model; the default is the text of docs/.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
MOST_BYTES = 64 << 20
SYSTEM = ("linux-vdso", "ld-linux", "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so")

HALF = "half of the time without padding"
# name, entry, [T, B, H, L], whether half of the steps are padding, the goal of each rule of --fast
# ("": strict fp32)
CELLS = [
    ("B1 H1024 L2 T512", "forward", [512, 1, 1024, 2], False, {"": "", "bf16": "4x cuDNN"}),
    ("B16 H768 L1 T1024", "forward", [1024, 16, 768, 1], False,
     {"": "", "bf16": "3x PyTorch", "fp16": "1x cuDNN", "cudnn": ""}),
    ("B16 H768 L1 T1024", "step", [1024, 16, 768, 1], False,
     {"": "", "bf16": "3x PyTorch", "fp16": "1x cuDNN"}),
    ("B32 H256 L4 T512", "forward", [512, 32, 256, 4], False,
     {"": "2x PyTorch", "bf16": "10x cuDNN's STANDARD", "cudnn": ""}),
    ("B128 H1024 L4 T50", "step", [50, 128, 1024, 4], False, {"": "", "bf16": "2x PyTorch"}),
    ("B32 H512 T1000, half padding", "forward", [1000, 32, 512, 1], True, {"": HALF, "bf16": HALF}),
    ("B32 H512 T1000", "forward", [1000, 32, 512, 1], False, {"": "", "bf16": ""}),
]
RULES = ("tf32", "bf16", "fp16", "cublaslt", "cudnn")
SMALL = [("B4 H24 L2 T6", e, [6, 4, 24, 2], False, {"": "", "bf16": "", "cudnn": ""})
         for e in ("forward", "step")]
SMALL += [("B4 H24 T6, half padding", "forward", [6, 4, 24, 1], True, {"": HALF, "fp16": HALF}),
          ("B4 H24 T6", "forward", [6, 4, 24, 1], False, {"": "", "fp16": ""})]


def cards():
    """{card: rates} from the data sheets that plans use: operations per second in fp32 ("") and by
    the tensor cores of each rule, and bytes of memory per second."""
    text = (SOURCE / "backends/cuda/compiler/Cards.def").read_text()
    rows = [row.split(", ") for row in re.findall(r"^LSTMC_CARD\((.*)\)$", text, re.M)]
    rates = {"": 10, "tf32": 11, "bf16": 12, "fp16": 12, "cudnn": 10}
    return {row[0].strip('"'): {"memory": float(row[9]) * 1e9,
                                **{rule: float(row[at]) * 1e12 for rule, at in rates.items()}}
            for row in rows}


def network(shape, padded, train):
    steps, batch, units, layers = shape
    inputs = f"data: float32[T, N, {units}]" + (", length: float32[N]" if padded else "")
    lstm = (f'LSTM(x, num_hidden={units}, name="lstm%d" % i'
            + (", length=length)" if padded else ")"))
    return (f'N, T = dim("batch", {batch}), dim("seq", {steps})\n\ndef net({inputs}):\n    x = '
            f'data\n    for i in range({layers}):\n'
            f"        x, h, c = {lstm}\n    return {'MakeLoss(x)' if train else 'x'}\n")


class Bundle:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.lstmc = next(p for p in (build / "frontend/cli/lstmc", build / "lstmc") if p.exists())
        self.on_card = build / "tests/gpu/on_card"

    def run(self, *words):
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, words))}\n{done.stderr}")
        return done.stdout

    def programs(self):
        for name in ("bin", "lib", "data", "packages"):
            (self.folder / name).mkdir(parents=True)
        for path in (self.on_card,
                     self.build / "tests/backends/conformance/lstmc_conformance_test"):
            copy = self.folder / "bin" / path.name
            shutil.copy(path, copy)
            self.run("strip", copy)
            for line in self.run("ldd", path).splitlines():
                parts = line.split()
                if "=>" in parts and not parts[0].startswith(SYSTEM):
                    shutil.copy(parts[2], self.folder / "lib" / parts[0])

    def compile(self, name, net, *words, devices="emu:0"):
        package = self.folder / "packages" / f"{name}.lstmc"
        self.run(self.lstmc, "compile", net, "-o", package, "-d", devices, "--force", *words)
        return f"packages/{name}.lstmc"

    def training(self, name, net, data, updates, *words):
        """A training's result on a cpu, with the package for the card."""
        package = self.compile(name.replace(" ", "_"), net, *words)
        found = json.loads(
            self.run(self.on_card, "train", self.folder / package,
                     data.replace("DATA", str(self.folder / "data")), updates, "cpu"))
        return {"name": name, "package": package, "data": data, "updates": updates,
                "devices": "DEVICE", **found}

    def on_several(self, row, net, devices, *words):
        """The same training on several devices, which must end with the weights of one. `devices`
        calls the GPU DEVICE."""
        package = self.compile(
            f"{row['name']}_{devices}".replace(" ", "_").replace(",", "_").replace(":", ""), net,
            *words, devices=devices.replace("DEVICE", "emu:0"))
        return {**row, "name": f"{row['name']}, on {devices}", "package": package,
                "devices": devices}

    def words(self, folder, small):
        """The text of the word language model, and its number of different words, including those
        for other words and for ends of lines."""
        text = ((folder / "train.txt").read_text() if folder
                else "".join(p.read_text() for p in sorted((SOURCE / "docs").glob("*.md"))))
        if small:
            text = text[:8_000]
        (self.folder / "data/words.txt").write_text(text)
        return len(set(text.split())) + 2

    def cell(self, number, in_goals, name, entry, shape, padded, rule, goal):
        net = self.folder / "net.lnet"
        net.write_text(network(shape, padded, entry == "step"))
        words = ((["--optimizer", "sgd"] if entry == "step" else [])
                 + (["--fast", rule] if rule else []))
        package = self.compile(f"cell{number}", net, *words)
        forecasts = {}
        for card in cards():
            cluster = self.folder / "card.toml"
            cluster.write_text(f'[[device]]\nname = "gpu:0"\nkind = "{card}"\n')
            plan = json.loads(
                self.run(self.lstmc, "plan", net, "--cluster", cluster, "--json", *words))
            forecasts[card] = {
                "seconds": plan["forecast"]["update_s" if entry == "step" else "forward_s"],
                "ways": sorted({f"{r['direction']} {r['way']}" for r in plan["recurrences"]}),
                "waiting_s": sum(r["time_s"] for r in plan["recurrences"])}
            cluster.unlink()
        net.unlink()
        found = json.loads(self.run(self.on_card, "hash", self.folder / package, entry, "cpu"))
        steps, batch, units, layers = shape
        return {
            "name": name, "entry": entry, "shape": shape, "padded": padded, "rule": rule,
            "goal": goal, "in_goals": in_goals, "package": package, "forecasts": forecasts, **found,
            "flops": 16 * units * units * batch * steps * layers * (3 if entry == "step" else 1),
            "weight_bytes": 32 * units * units * layers}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--words", type=pathlib.Path)
    given = parser.parse_args()
    bundle = Bundle(given.build.resolve(), given.folder.resolve())
    shutil.rmtree(bundle.folder, ignore_errors=True)
    bundle.programs()
    data = bundle.folder / "data"
    (data / "chars.txt").write_text(
        "".join(p.read_text() for p in sorted((SOURCE / "docs").glob("*.md")))[: 20_000
                                                                               if given.small
                                                                               else 400_000])
    small = ["--set", "hidden=24", "--set", "layers=2", "-b", "2"] if given.small else []
    chars = ["--set", f"vocab={len(set((data / 'chars.txt').read_text())) + 2}"]
    samples = SOURCE / "samples"
    trainings = [
        bundle.training("char LM", samples / "char_lm.lnet", "text:DATA/chars.txt,valid=0.05",
                        2 if given.small else 100, *chars, *small)]
    vocabulary = ["--set", f"vocab={bundle.words(given.words, given.small)}"]
    trainings.append(bundle.training("word LM", samples / "word_lm.lnet",
                                     "text:DATA/words.txt,unit=word,valid=0.1",
                                     2 if given.small else 20, *vocabulary, *small))
    sizes = ["--set", "hidden=24", "--set", "layers=2", "-b", "4"] if given.small else []
    stack = bundle.training("a stack of four", samples / "stacked.lnet", "random:1,batches=4",
                            2, *sizes)
    same = [stack, *(bundle.on_several(stack, samples / "stacked.lnet", devices, *sizes)
                     for devices in ("DEVICE,0", "cpu:0,DEVICE")),
            bundle.training("a forecast, with lengths", samples / "forecast.lnet",
                            "random:1,batches=4", 2,
                            *(["--set", "hidden=16", "-b", "3"] if given.small else []))]
    # With a rule, a run is close to the strict one and repeatable: its bits depend on the card.
    fast = [{**trainings[0], "rule": rule,
             "package": bundle.compile(f"char_LM_{rule}", samples / "char_lm.lnet", *chars, *small,
                                       "--fast", rule)}
            for rule in RULES]
    cells = [(True, *cell[:4], rule, goal) for cell in (SMALL if given.small else CELLS)
             for rule, goal in cell[4].items()]
    if given.small:
        cells.append((False, "B2 H8 T3", "forward", [3, 2, 8, 1], False, "", ""))
    else:
        shapes = json.loads((SOURCE / "tests/bench/cells.json").read_text())
        for name, shape in shapes.items():
            goal = "2x PyTorch" if shape[1] <= 32 else ""
            cells += [(False, name, entry, shape, False, "", goal) for entry in ("forward", "step")]
    facts = {"small": given.small, "version": bundle.run(bundle.lstmc, "--version").strip(),
             "trainings": trainings, "sameness": same, "fast": fast, "cards": cards(),
             "cells": [bundle.cell(number, *cell) for number, cell in enumerate(cells)]}
    (bundle.folder / "bundle.json").write_text(json.dumps(facts, indent=1))
    total = sum(p.stat().st_size for p in bundle.folder.rglob("*") if p.is_file())
    if total > MOST_BYTES:
        sys.exit(f"{bundle.folder} has {total >> 20} MiB, {MOST_BYTES >> 20} may travel")
    print(f"{bundle.folder}: {total / (1 << 20):.1f} MiB")


if __name__ == "__main__":
    main()
