"""train.py LSTMC SOURCE PROGRAM: train.hpp in a program that links the runtime alone: hashes and
checkpoints are the command's, 20 updates are 10, a checkpoint and 10 for every optimizer, sources
and hooks of the program do what they are documented to do."""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

lstmc, source, program = sys.argv[1:]

LM = """
N, T = dim("batch", 8), dim("seq", 32)
vocab = setting("vocab", 65)
def char_lm(data: int32[N, T], label: int32[N, T]):
    x = Embedding(data, input_dim=vocab, output_dim=16, name="embed")
    x, h, c = LSTM(x, num_hidden=16, p=0.2, layout="NTC", name="lstm")
    y = FullyConnected(x, num_hidden=vocab, flatten=False, name="decoder")
    return SoftmaxOutput(y, label, preserve_shape=True, normalization="valid")
fit(char_lm, optimizer="adam", learning_rate=0.01,
    lr_scheduler=FactorScheduler(step=100, factor=0.7), clip_gradient_norm=5.0,
    initializer=Uniform(0.08), carry=["lstm*"])
"""
WAVE = """
N = dim("batch", 4)
def wave(data: float32[N, 6, 1], label: float32[N, 1]):
    y, h, c = LSTM(data, num_hidden=8, layout="NTC", name="lstm")
    return LinearRegressionOutput(FullyConnected(h[-1], num_hidden=1, name="fc"), label, name="y")
"""


def run(*command, status=0):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=240,
                          cwd=folder)
    if done.returncode != status:
        sys.exit(f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def train(after, output, *more):
    done = run(lstmc, "train", "lm.lnet", "--data", "text:t.txt,valid=0.1", "--valid-every", "50u",
               "--save-every", "50u", "--early-stop", "3", "--seed", "1", "-q", "--after",
               f"{after}u", "-o", output, *more)
    return re.search(r"best ([\d.]+)  weights (\w+)", done).groups()


def cpp(package, output, after):
    lines = run(program, "lm", package, "t.txt", output, after).splitlines()
    weights, _, best = lines[0].split()
    return (best, weights), lines


def check(name, found, wanted):
    if found != wanted:
        sys.exit(f"{name}: found {found}, want {wanted}")
    print(name, *wanted)


with tempfile.TemporaryDirectory() as folder:
    draw = random.Random(3)
    words = "the cat sat on mat and ran to red bed in a big old house with many green frogs".split()
    text = "".join(draw.choice(words) + (" " if draw.random() < .9 else ".\n") for _ in range(1500))
    pathlib.Path(folder, "t.txt").write_text(text)
    pathlib.Path(folder, "lm.lnet").write_text(LM)
    for devices in "cpu", "2xcpu":
        run(lstmc, "compile", "lm.lnet", "--set", f"vocab={len(set(text))}", "-d", devices, "-o",
            f"{devices}.lstmc")
    half, whole = train(100, "half"), train(200, "whole")
    found, lines = cpp("cpu.lstmc", "cpp", 200)
    check("fit as the command", found, whole)
    score = run(lstmc, "eval", "cpp", "--data", "text:t.txt,valid=0.1")
    measured = dict(line.rsplit(maxsplit=1) for line in lines[1:] if line.startswith("loss "))
    if f"loss {measured['loss']}" not in score:
        sys.exit(f"score gives {lines}, eval {score}")
    check("two devices", cpp("2xcpu.lstmc", "two", 200)[0], whole)
    check("on from the command", cpp("cpu.lstmc", "half", 200)[0], whole)
    check("half", cpp("cpu.lstmc", "cpp_half", 100)[0], half)
    check("the command on from it", train(200, "cpp_half", "--resume"), whole)
    check("ended, and started again", cpp("cpu.lstmc", "cpp", 200)[0], whole)
    pathlib.Path(folder, "other.txt").write_text("".join(sorted(text)[::3]).replace("a", ""))
    told = run(lstmc, "train", "lm.lnet", "--data", "text:t.txt", "--valid", "text:other.txt",
               "--after", "30u", "--seed", "1", "-o", "validated", "--json")
    found = run(program, "validated", "cpu.lstmc", "t.txt", "other.txt").splitlines()
    check("another text", found[0], f"{json.loads(told)['end']['loss']:.6f}")
    wanted = run(lstmc, "sample", "whole", "--prime", "the ", "--length", "60", "--temperature",
                 "0")
    if "\n".join(lines).split("perplexity", 1)[1].split("\n", 1)[1].strip() != wanted.strip():
        sys.exit(f"sample writes {lines}, the command {wanted}")

    pathlib.Path(folder, "wave.lnet").write_text(WAVE)
    rows = pathlib.Path(source, "executor/abi/Optimizers.def").read_text()
    optimizers = re.findall(r'^\{\.name = "(\w+)"', rows, re.M)
    for optimizer in optimizers:
        run(lstmc, "compile", "wave.lnet", "--optimizer", optimizer, "-o", f"{optimizer}.lstmc")
        print(optimizer, run(program, "loop", f"{optimizer}.lstmc", f"loop_{optimizer}").strip())
    if len(optimizers) < 13:
        sys.exit(f"found {optimizers}, want all of Optimizers.def")
    for what in "rows", "batches":
        print(what, run(program, what, "adam.lstmc", os.path.join(folder, "own")).strip())
    print(run(program, "metrics", "adam.lstmc", "cpu.lstmc", "t.txt",
              os.path.join(folder, "own")))
    print(run(program, "refusals", "adam.lstmc", "t.txt"))
