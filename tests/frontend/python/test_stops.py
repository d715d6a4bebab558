"""Random trainings that ctrl-C stops in Python after some update, and the command resumes on other
devices, with the same weights, losses and end as without the stop. LSTMC_STOPS=N tests N of them
(8); LSTMC_STOPS_SEED=S begins at seed S."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import lstmc

LSTMC = os.environ["LSTMC"]
COUNT, FIRST = int(os.environ.get("LSTMC_STOPS", 8)), int(os.environ.get("LSTMC_STOPS_SEED", 1))
CLASSES = """\
N, T = dim("batch", 4), dim("seq", 3)

def net(data: float32[N, T, 2], label: int32[N]):
    x, h, c = LSTM(data, num_hidden=4, layout="NTC", name="lstm", num_layers=2)
    x = Dropout(x[:, -1], p=0.2) if setting("drop", 0) else x[:, -1]
    return SoftmaxOutput(FullyConnected(x, num_hidden=3, name="out"), label, name="sm")

"""
SYMBOLS = """\
N, T, V = dim("batch", 4), dim("seq", 6), setting("vocab", 10)

def net(data: int32[N, T], label: int32[N, T]):
    x = Embedding(SwapAxis(data, dim1=0, dim2=1), input_dim=V, output_dim=4, name="embed")
    x, h, c = LSTM(x, num_hidden=4, name="lstm", num_layers=2, p=0.3 if setting("drop", 0) else 0)
    x = FullyConnected(x, num_hidden=V, flatten=False, name="out")
    return SoftmaxOutput(x, SwapAxis(label, dim1=0, dim2=1), preserve_shape=True, use_ignore=True, normalization="valid")

"""
LINES = SYMBOLS.replace("label: int32[N, T]", "label: int32[N, T], length: int32[N]").replace(
    'name="lstm"', 'length=length, name="lstm"').replace('"batch", 4', '"batch", 2').replace(
    '"seq", 6', '"seq", 60')
ROWS = CLASSES.replace("label: int32[N]", "label: float32[N]").replace(
    "SoftmaxOutput(", "LinearRegressionOutput(Reshape(").replace(
    'num_hidden=3, name="out")', 'num_hidden=1, name="out"), shape=(-1,))').replace(
    '"seq", 3', '"seq", 5')
SEQUENCES = ROWS.replace("label: float32[N]", "label: float32[N], length: int32[N]").replace(
    'name="lstm"', 'length=length, name="lstm"').replace('"batch", 4', '"batch", 2').replace(
    '"seq", 5', '"seq", 20')
KINDS = [(CLASSES, "npz:d.npz"), (CLASSES, "npz:d.npz,shuffle=no"), (SYMBOLS, "text:a.txt"),
         (LINES, "text:a.txt,lines=yes"), (LINES, "text:a.txt,lines=yes,buckets=6|12|20"),
         (ROWS, "csv:t.csv,target=y,inputs=a|b"),
         (SEQUENCES, "csv:t.csv,target=y,inputs=a|b,sequence=id")]
OPTIMIZERS = ["sgd", "nag", "signum", "adagrad", "rmsprop", "adadelta", "ftrl", "adam", "adamw",
              "adamax", "ftml", "nadam", "lamb"]
SCHEDULES = ["FactorScheduler(step=3, factor=0.7)", "MultiFactorScheduler(step=[4, 9], factor=0.5)",
             "PolyScheduler(max_update=20)", "CosineScheduler(max_update=20, warmup_steps=3)",
             "OneCycleScheduler(max_update=20)",
             "PlateauScheduler(patience=0, factor=0.5, threshold=0.5)"]
WAYS = [[], ["--devices", "2xcpu"], ["--threads", "1"],
        ["--devices", "2xcpu", "--kv-store", "device"], ["--accumulate", "2"]]


def drawn(draw):
    """(source, SPEC, flags, amount): a training that lstmc takes."""
    net, spec = draw.choice(KINDS)
    optimizer, schedule = draw.choice(OPTIMIZERS), draw.choice([None, None, *SCHEDULES])
    fit = [f'optimizer="{optimizer}"', "learning_rate=0.01"]
    if optimizer in ("sgd", "nag", "signum") and draw.random() < 0.6:
        fit.append("momentum=0.9")
    fit += [key for key in ("wd=0.01", "clip_gradient_norm=0.1", "seed=7") if draw.random() < 0.3]
    if schedule:
        fit.append(f"lr_scheduler={schedule}")
    if (spec in ("text:a.txt", "npz:d.npz,shuffle=no")) and draw.random() < 0.6:
        fit.append('carry=["lstm*"]')
    flags = ["--save-every", draw.choice(["1e", "1u", "2u", "7u"]), "--keep",
             draw.choice(["0", "1", "3"])]
    if draw.random() < 0.6 or (schedule or "").startswith("Plateau"):
        flags += ["--valid", "0.2", "--valid-every", draw.choice(["1e", "3u", "0.5e"])]
        if draw.random() < 0.5:
            flags += ["--early-stop", str(draw.randint(1, 3))]
    if draw.random() < 0.3:
        flags += ["--keep-every", draw.choice(["2", "5"])]
    if draw.random() < 0.4:
        flags += ["--set", "drop=1"]
    return f"{net}fit(net, {', '.join(fit)})\n", spec, flags, draw.choice(["3e", "17u", "23u"])


def stop(number, spec, output, end, *flags):
    """In a process of its own: trains until ctrl-C comes, after this update."""
    keywords = {"set": {}}
    for flag, value in zip(flags[::2], flags[1::2]):
        key = flag[2:].replace("-", "_")
        if key == "set":
            keywords[key] = {"drop": 1}
        else:
            keywords[key] = float(value) if key == "valid" else value

    def callback(event):
        if event["event"] == "update" and event["update"] == int(number):
            os.kill(os.getpid(), signal.SIGINT)

    try:
        lstmc.load("net.lnet").fit(spec, output=output, after=end, callback=callback, **keywords)
    except KeyboardInterrupt:
        sys.exit(130)


class Stops(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(scratch.name)
        draw = np.random.default_rng(1)
        np.savez("d.npz", data=draw.normal(size=(53, 3, 2)).astype("f"),
                 label=draw.integers(0, 3, 53).astype("i"))
        pathlib.Path("a.txt").write_text("".join(draw.choice(list("abcde \n"), size=900)))
        pathlib.Path("t.csv").write_text("id,a,b,y\n" + "".join(
            f"s{int(i ** 0.5)}," + ",".join(f"{x:.4f}" for x in draw.normal(size=3)) + "\n"
            for i in range(90)))

    def command(self, *words):
        """(end and validations) of a training."""
        done = subprocess.run([LSTMC, "train", "net.lnet", *words, "--json"], capture_output=True,
                              text=True, timeout=240)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = json.loads(done.stdout)
        end = {key: found["end"][key] for key in ("update", "weights_hash", "loss", "best_loss")}
        return end, {(each["update"], each["loss"]) for each in found["valid"]}

    def test_any_of_them(self):
        for seed in range(FIRST, FIRST + COUNT):
            draw = random.Random(seed)
            text, spec, flags, amount = drawn(draw)
            pathlib.Path("net.lnet").write_text(text)
            words = ["--data", spec, *flags, "--after", amount]
            with self.subTest(seed=seed, words=words, fit=text.split("fit(")[1]):
                end, valid = self.command(*words, "-o", f"whole{seed}")
                if end["update"] < 2:
                    continue
                at, before, after = (draw.randint(1, end["update"] - 1), draw.choice(WAYS),
                                     draw.choice(WAYS))
                done = subprocess.run([sys.executable, __file__, "stop", str(at), spec,
                                       f"half{seed}", amount, *flags, *before],
                                      capture_output=True, text=True, timeout=240)
                self.assertEqual(done.returncode, 130, done.stderr)
                found, again = self.command(*words, *after, "-o", f"half{seed}", "--resume")
                self.assertEqual(found, end, f"after {at} updates, {before} and then {after}")
                self.assertLessEqual(again, valid)


if __name__ == "__main__":
    if sys.argv[1:2] == ["stop"]:
        stop(*sys.argv[2:])
    else:
        unittest.main()
