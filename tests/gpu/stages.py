"""stages.py BUNDLE DEVICE: the stages of run.sh, the most important ones first. Each has a time
limit of its own, and all together end within ten minutes.

Stages without time left are reported as not run, which is no failure. LSTMC_STAGES_SECONDS sets
another limit for all together. RESULTS.md (table.py) is written after each check, so it always has
the results so far.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import sys
import time
import traceback

import processes
from processes import Answer
from table import Cell, OWN_KERNELS, document

HERE = pathlib.Path(__file__).resolve().parent
ALL_SECONDS = float(os.environ.get("LSTMC_STAGES_SECONDS", 560))
# tolerance of a run with a rule, relative to the strict loss or the magnitude of the strict outputs
NEAR = 0.03
PADDED = 0.65  # limit of the time with half of the steps as padding, relative to the time without
CELL_SECONDS, PEER_SECONDS = 0.3, 0.2  # of measuring; peers.py measures up to four times
# seconds, as a limit for each program
CELL_MOST, PEER_MOST, IMPORT_MOST, TRAINING_MOST, CONFORMANCE_MOST = 40, 60, 150, 60, 120
CONFORMANCE = {"gpu": "*RealGpu*", "emu": "*EmulatedGpu*/softmax:*EmulatedGpu*/product"}
DRIVER_FOLDER = "/usr/local/nvidia/lib64"  # the driver's folder in containers
NOT_RUN = "not run for lack of time"
MOST_NOTES = 300  # characters


class Stages:
    def __init__(self, bundle, device):
        self.bundle, self.device, self.begin = bundle, device, time.monotonic()
        self.facts = json.loads((bundle / "bundle.json").read_text())
        self.real = device.startswith("gpu")
        self.checks, self.failed, self.missing = [], False, 0
        self.cells = [Cell() for _ in self.facts["cells"]]
        self.peers = processes.Peers([sys.executable, "-B", HERE / "peers.py", PEER_SECONDS])
        self.card = self.machine = ""
        self.ahead = []

    def left(self):
        return ALL_SECONDS - (time.monotonic() - self.begin)

    def environment(self):
        """The environment of our programs: with the driver's folder if it is mounted, and the
        wheels of the running Python, whose environment need not be activated."""
        places = [*filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")),
                  *filter(os.path.isdir, [DRIVER_FOLDER])]
        return {"VIRTUAL_ENV": sys.prefix, **os.environ,
                **({"LD_LIBRARY_PATH": ":".join(places)} if places else {})}

    def run(self, *words, most=CONFORMANCE_MOST):
        """processes.run within the time left."""
        limit = min(most, self.left())
        if limit < 1:
            return Answer(None, "", "", NOT_RUN)
        done = processes.run(words, limit, self.environment())
        return (done._replace(why=f"{NOT_RUN}: {limit:.0f} s were left")
                if done.code is None and limit < most else done)

    def on_card(self, *words, most, devices="DEVICE"):
        """The answer of on_card, or None; the reason if there is none; its devices' choices, and
        warnings."""
        done = self.run(self.bundle / "bin/on_card", *words, devices.replace("DEVICE", self.device),
                        most=most)
        if done.why:
            return None, done.why, ""
        try:
            return json.loads(done.stdout), "", "; ".join(done.stderr.splitlines())[:MOST_NOTES]
        except ValueError:
            return None, f"no JSON: {done.stdout.strip()[-200:]}", ""

    def check(self, what, found, good=True):
        self.checks.append((what, found))
        self.missing += found.startswith(NOT_RUN)
        self.failed |= not good and not found.startswith(NOT_RUN)
        print(f"{what:<48} {found}", flush=True)
        self.save()

    # Output.

    def save(self):
        """Writes a file into $OUT, and beside this script unless it is a rehearsal."""
        self.keep("RESULTS.md", document(self), *([HERE] if self.real else []))

    @staticmethod
    def keep(name, text, *folders):
        """Writes a file in $OUT and the folders, atomically."""
        for folder in map(pathlib.Path, filter(None, [os.environ.get("OUT"), *folders])):
            folder.mkdir(parents=True, exist_ok=True)
            part = folder / f"{name}.part"
            part.write_text(text)
            part.replace(folder / name)

    # The stages.

    def carry_out(self, stages):
        """Runs all stages, even if one raises."""
        self.ahead = [stage.__name__.replace("_", " ") for stage in stages]
        try:
            for stage in stages:
                self.carry_out_one(stage)
        finally:
            self.peers.close()

    def carry_out_one(self, stage):
        try:
            stage()
        except Exception as error:
            traceback.print_exc()
            self.check(self.ahead[0], f"{type(error).__name__}: {error}", False)
        self.ahead.pop(0)
        self.save()

    def look_around(self):
        """Lists card and driver, and the driver's folder, for the case that the driver is not
        found."""
        said = lambda *words: (processes.run(words, 20).stdout.strip() if shutil.which(words[0])
                               else f"no {words[0]}")
        if self.real:
            query = said("nvidia-smi",
                         "--query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem",
                         "--format=csv,noheader").splitlines()
            facts = [fact.strip() for fact in (query or [""])[0].split(",")]
            if len(facts) == 4:
                self.card, self.machine = (
                    facts[0], f"driver {facts[1]}, at most {facts[2]} and {facts[3]}")
            libraries = [line.split()[-1] for line in said("ldconfig", "-p").splitlines()
                         if "libcuda.so" in line]
            print(f"{self.card or 'nvidia-smi names no card'}; {self.machine}; LD_LIBRARY_PATH "
                  f"{os.environ.get('LD_LIBRARY_PATH', 'is not set')}; ldconfig has {libraries}",
                  flush=True)

    def is_card_here(self):
        """False, with the reason, if there is no device of that name. Other errors appear in the
        stages."""
        row = self.facts["sameness"][0]
        done = self.run(self.bundle / "bin/on_card", "train", self.bundle / row["package"],
                        row["data"], 1, self.device, most=TRAINING_MOST)
        if done.code == 5:
            print(done.stderr or done.why)
        return done.code != 5

    def goals(self):
        """Measures the cells with goals, each beside its peers."""
        self.peers.begin()
        self.measure([number for number, cell in enumerate(self.facts["cells"])
                      if cell["in_goals"]])
        self.padding()
        self.copies()

    def other_cells(self):
        self.measure([number for number, cell in enumerate(self.facts["cells"])
                      if not cell["in_goals"]])

    def conformance(self):
        """A process for each test suite, because after a kernel's fault every call of its process
        fails. The tests of a failed suite run in a process each."""
        what, output, differ, late = "conformance of kernels", "", [], []
        suites, why = self.suites()
        if not suites:
            return self.check(what, why, False)
        for suite, tests in suites.items():
            done = self.tests(f"{suite}.*")
            output += done.stdout + done.stderr
            again = ([] if not done.why or done.why.startswith(NOT_RUN)
                     else [test for test in tests if f"[       OK ] {test} " not in done.stdout])
            alone = {test: self.tests(test) for test in again}
            output += "".join(one.stdout + one.stderr for one in alone.values())
            # Tests that pass by themselves do not explain it.
            failed = ({test: one.why for test, one in alone.items() if one.why}
                      or ({suite: done.why} if done.why else {}))
            late += [short(test) for test, why in failed.items() if why.startswith(NOT_RUN)]
            differ += [f"{short(test)} ({why})" for test, why in failed.items()
                       if not why.startswith(NOT_RUN)]
        self.keep("conformance.txt", output)
        if differ:
            print("\n".join(output.splitlines()[-40:]))
        found = (["differs: " + ", ".join(differ)] * bool(differ)
                 + [f"{NOT_RUN}: " + ", ".join(late)] * bool(late))
        self.check(what, "; ".join(found) or "equal bits", not differ)

    def suites(self):
        """The names of the tests in each suite; the reason if there are none."""
        suites, suite = {}, ""
        done = self.run(self.bundle / "bin/lstmc_conformance_test",
                        f"--gtest_filter={CONFORMANCE[self.device[:3]]}",
                        "--gtest_list_tests", most=20)
        for line in done.stdout.splitlines():
            if line.startswith("  "):
                suites.setdefault(suite, []).append(f"{suite}.{line.split()[0]}")
            elif line.split("#")[0].strip().endswith("."):
                suite = line.split("#")[0].strip()[:-1]
        return suites, "" if suites else done.why or "no tests"

    def tests(self, names):
        """Runs those tests in a process; the reason if one is skipped."""
        done = self.run(self.bundle / "bin/lstmc_conformance_test", f"--gtest_filter={names}")
        return (done if done.why or ("PASSED" in done.stdout and "SKIPPED" not in done.stdout)
                else done._replace(why="left out"))

    def layers_of_cudnn(self):
        """Close to the exact ones, and twice with the same bits. It is no failure if the library is
        missing or leaves shapes to our kernels."""
        if not self.real:
            return
        done = self.run(self.bundle / "bin/lstmc_conformance_test", "--gtest_filter=RealCudnn*")
        good = not done.why and "PASSED" in done.stdout
        own = [line for line in done.stdout.splitlines() if OWN_KERNELS in line]
        found = ("not here" if good and "SKIPPED" in done.stdout
                 else "near to ours, repeated to the bit" if good else done.why if done.code is None
                 else "differ")
        self.check("layers by cuDNN", found + (f"; shapes {OWN_KERNELS}: {len(own)}, "
                                               f"first {own[0]}" if own else ""), good)
        self.keep("cudnn.txt", done.stdout + done.stderr)
        if not good:
            print("\n".join((done.stdout + done.stderr).splitlines()[-40:]))

    def sameness(self):
        self.train("sameness", self.facts["sameness"])

    def trainings(self):
        self.train("training", self.facts["trainings"])

    def training(self, row):
        data = row["data"].replace("DATA", str(self.bundle / "data"))
        return self.on_card("train", self.bundle / row["package"], data, row["updates"],
                            most=TRAINING_MOST, devices=row["devices"])

    def train(self, kind, rows):
        for row in rows:
            name = f"{kind}: {row['name'].replace('DEVICE', self.device)}"
            found, why, notes = self.training(row)
            if not found:
                self.check(name, why, False)
                continue
            same = found["weights"] == row["weights"]
            loss = ("" if found["loss"] is None
                    else f", loss {found['loss']:.4f} (cpu {row['loss']:.4f})")
            self.check(f"{name}, {row['updates']} updates",
                       ("the weights of a cpu" if same else "other weights than a cpu") + loss
                       + noted(notes), same)

    def fast_trainings(self):
        """Within the tolerance, and twice with the same bits. It is no failure if the library of a
        rule is missing."""
        for row in self.facts["fast"]:
            name = f"--fast {row['rule']}: {row['name']}, {row['updates']} updates"
            runs = [self.training(row) for _ in range(2)]
            if not all(found for found, _, _ in runs):
                why = next(why for found, why, _ in runs if not found)
                self.check(name, why, is_missing_library(why))
                continue
            found, again = (found for found, _, _ in runs)
            loss = "none" if found["loss"] is None else f"{found['loss']:.4f}"
            near = (found["loss"] is not None
                    and abs(found["loss"] - row["loss"]) <= NEAR * row["loss"])
            same = found["weights"] == again["weights"]
            self.check(name, f"{'near' if near else 'far from'} the strict loss, "
                             f"{'repeated to the bit' if same else 'other weights when repeated'}, "
                             f"loss {loss} (cpu {row['loss']:.4f}){noted(runs[0][2])}",
                       near and same)

    def measure(self, numbers):
        """Measures each cell, and then its peers."""
        missing = self.peers.missing
        for number in numbers:
            cell = self.facts["cells"][number]
            self.cells[number] = self.cell(cell)
            if self.left() >= 1:
                self.cells[number] = self.cells[number]._replace(peer=self.peers.ask(
                    cell, min(PEER_MOST, self.left()), min(IMPORT_MOST, self.left())))
            self.save()
        if self.peers.missing and not missing:
            self.check("PyTorch and cuDNN", f"not here: {self.peers.missing}")

    def cell(self, cell):
        """Measures a cell: the least time. Its outputs, and its weights after one run, are those of
        a cpu, or close to them with a rule."""
        name = f"cell {cell['name']} {cell['entry']} {cell['rule'] or 'strict'}"
        found, why, notes = self.on_card("time", self.bundle / cell["package"], cell["entry"],
                                         CELL_SECONDS if self.real else 0.01, most=CELL_MOST)
        if not found:
            self.check(name, why, bool(cell["rule"]) and is_missing_library(why))
            return Cell(why=why, notes=notes)
        if cell["rule"]:
            same = abs(found["rms"] - cell["rms"]) <= NEAR * abs(cell["rms"])
            what = "near to a cpu" if same else f"far from a cpu: {found['rms']} and {cell['rms']}"
        else:
            same = found["hash"] == cell["hash"]
            what = "the bits of a cpu" if same else "other bits than a cpu"
        self.check(name, what + (f", {OWN_KERNELS}" if OWN_KERNELS in notes else ""), same)
        return Cell(found["least_s"], "", notes, fed=found["fed_s"])

    def padding(self):
        """The time saved by half of the steps as padding, compared with the same cell without."""
        key = lambda cell: (*cell["shape"], cell["entry"], cell["rule"])
        all_cells = list(zip(self.facts["cells"], self.cells))
        whole = {key(cell): found.seconds for cell, found in all_cells if not cell["padded"]}
        for cell, found in all_cells:
            other = whole.get(key(cell))
            if cell["padded"] and found.seconds and other:
                ratio = found.seconds / other
                self.check(f"{cell['name']} "
                           f"{cell['rule'] or 'strict'}", f"{ratio:.2f} of the time without padding"
                           if self.real else "compared with the time without padding",
                           not self.real or ratio <= PADDED)

    def copies(self):
        """The cost of copying inputs from the host during the previous run, and outputs to the
        host."""
        for cell, found in zip(self.facts["cells"], self.cells):
            if cell["in_goals"] and not cell["rule"] and found.seconds:
                name = f"{cell['name']}, {cell['entry']}, with copies from and to the host"
                self.check(name, f"{found.fed / found.seconds:.2f} of the time without" if self.real
                           else "compared with the time without")

    def sanitizer(self):
        """Runs the sanitizer on suites in the remaining time."""
        what, output, clean, bad = "compute-sanitizer on it", "", 0, []
        if not shutil.which("compute-sanitizer"):
            return self.check(what, "not here")
        suites, why = self.suites()
        if not suites:
            return self.check(what, why, False)
        for suite in suites:
            # The driver refuses calls for whose failure we are prepared, such as enabling peer
            # access twice: no kernel errors.
            done = self.run("compute-sanitizer", "--tool", "memcheck", "--report-api-errors", "no",
                            "--print-limit", "20", "--error-exitcode", "9",
                            self.bundle / "bin/lstmc_conformance_test", f"--gtest_filter={suite}.*",
                            most=self.left())
            output += done.stdout + done.stderr
            self.keep("sanitizer.txt", output)
            if "Device not supported" in done.stdout + done.stderr:
                return self.check(what, "does not support this machine")
            clean += done.code == 0
            errors = re.findall(r"^=+ (?:Invalid|Misaligned|Program hit).*", done.stdout, re.M)
            if errors or done.code:
                bad.append(f"{short(suite)}: {(errors or [done.why])[0]}")
        late = "" if clean == len(suites) else f"{NOT_RUN}: all but {clean} of {len(suites)} suites"
        self.check(what, "; ".join(bad) or late or "no error", not bad)


def short(test):
    """The distinguishing part of a test's name."""
    return re.sub(r"\.\w+(?=/|$)", "", test).removeprefix("Kernels/")


def noted(notes):
    return f"; {notes}" if notes else ""


def is_missing_library(why):
    return any(f"{name} was not found" in why for name in ("cuBLASLt", "cuDNN"))


def main():
    # so that no program keeps running
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    stages = Stages(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2])
    stages.look_around()
    if not stages.is_card_here():
        sys.exit(5)
    stages.carry_out([stages.goals, stages.conformance, stages.layers_of_cudnn, stages.sameness,
                      stages.trainings, stages.other_cells, stages.fast_trainings,
                      stages.sanitizer])
    print("\n" + document(stages))
    if not stages.real:
        print("emulated: times are not shown, since they say nothing about a GPU")
    if stages.missing:
        print(f"not run for lack of time: {stages.missing} of {len(stages.checks)}")
    sys.exit(int(stages.failed))


if __name__ == "__main__":
    main()
