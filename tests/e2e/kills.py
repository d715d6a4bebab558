#!/usr/bin/env python3
"""kills.py LSTMC KILLS [--state FILE]: a training that is killed again and again ends with the
weights of an undisturbed one.

A small network is trained with a checkpoint after every update, and killed (SIGKILL) at random
instants, from before it has read anything to the middle of a save. It is resumed until it ends, and
then a new training starts. After each kill, the newest checkpoint reported as "saved" must exist
and be complete, and the end must have the hash of an undisturbed training. --state keeps the count
in a file, so that many kills can be made in several calls. Exit 1 unless every kill was survived.
"""
import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

NET = """\
vocab, hidden = setting("vocab", 5), setting("hidden", 24)
N, T = dim("batch", 4), dim("seq", 8)

def small(data: int32[N, T], label: int32[N, T]):
    x = Embedding(SwapAxis(data, dim1=0, dim2=1), input_dim=vocab, output_dim=8, name="embed")
    x, h, c = LSTM(x, num_hidden=hidden, name="lstm")
    y = FullyConnected(x, num_hidden=vocab, flatten=False, name="decoder")
    return SoftmaxOutput(y, SwapAxis(label, dim1=0, dim2=1), preserve_shape=True, normalization="valid")

fit(small, optimizer="adam", learning_rate=0.01, initializer=Uniform(0.1), carry=["lstm*"])
"""
UPDATES = 120


class Trained:
    """A training folder, from the first update to the last."""

    def __init__(self, command, folder):
        self.command, self.folder, self.saved = command, folder, 0

    def go(self, kill_after=None):
        """Starts or resumes; returns the exit code (-9 if it was killed in time) and the events."""
        there = any(re.fullmatch(r"update-\d+", p.name) for p in self.folder.glob("*"))
        words = [*self.command, "-o", self.folder, *(["--resume"] if there else [])]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as child:
            if kill_after is not None:
                try:
                    child.wait(kill_after)
                except subprocess.TimeoutExpired:
                    child.kill()
            out, err = child.communicate()
        events = [json.loads(line) for line in out.splitlines() if line.endswith("}")]
        if child.returncode not in (0, -9):
            raise SystemExit(f"{self.folder}: exit {child.returncode}\n{err}")
        begun = next((e["update"] for e in events if e["event"] == "start"), None)
        if begun is not None and begun < self.saved:
            raise SystemExit(f"{self.folder}: went on from update {begun}, {self.saved} was saved")
        self.saved = max([self.saved, *(int(e["path"].rsplit("-", 1)[1]) for e in events
                                        if e["event"] == "save")])
        return child.returncode, events


def hash_of(events):
    return next(e["weights_hash"] for e in events if e["event"] == "end")


def kills(lstmc, wanted, state):
    """Kills this often in total and prints the result. True if all were survived."""
    done = {"kills": 0, "trainings": 0, "wrong": 0}
    if state and state.exists():
        done.update(json.loads(state.read_text()))
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "net.lnet").write_text(NET)
        draw = random.Random(1)
        (scratch / "text.txt").write_text("".join(draw.choice("abcd\n") for _ in range(3000)))
        data = ["--data", f"text:{scratch}/text.txt,valid=0.1"]
        subprocess.run([lstmc, "compile", scratch / "net.lnet", "--shape", "data=4x8",
                        "--entry", "step,evaluate", "-q", "-o", scratch / "net.lstmc"],
                       check=True, stdout=subprocess.DEVNULL)
        command = [lstmc, "train", scratch / "net.lstmc", *data, "--after", f"{UPDATES}u",
                   "--save-every", "1u", "--valid-every", "50u", "--keep", "2",
                   "--disp-every", "30u", "--format", "jsonl", "-t", "1"]
        begin = time.monotonic()
        _, events = Trained(command, scratch / "whole").go()
        whole, seconds = hash_of(events), time.monotonic() - begin
        while done["kills"] < wanted:
            training = Trained(command, scratch / f"killed-{done['trainings']}")
            training.folder.mkdir()
            end = -9
            while end != 0:
                draw = random.Random(done["kills"] + 10_000 * done["trainings"])
                end, events = training.go(draw.uniform(0, seconds / 4) if done["kills"] < wanted
                                          else None)
                done["kills"] += end == -9
                if end == 0:
                    done["trainings"] += 1
                    done["wrong"] += hash_of(events) != whole
                if state:
                    state.write_text(json.dumps(done))
    print("%d kills in %d trainings of %d updates, %d of which ended otherwise than one that "
          "was not killed" % (done["kills"], done["trainings"], UPDATES, done["wrong"]))
    return done["wrong"] == 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lstmc")
    parser.add_argument("kills", type=int)
    parser.add_argument("--state", type=pathlib.Path)
    arguments = parser.parse_args()
    sys.exit(0 if kills(arguments.lstmc, arguments.kills, arguments.state) else 1)
