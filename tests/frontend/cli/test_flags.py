"""Nothing without effect: of each command, each flag that is not common to all changes what the
command prints, writes or ends with, or a message names it. A generator over options.def: a flag
that is added needs a value here."""
import concurrent.futures
import hashlib
import os
import pathlib
import random
import re
import shutil
import tempfile
import unittest
import zipfile

from command import Case, SOURCE, run, words_in_table
from test_settings import npy, numbers, flat

NET = """\
units = setting("units", 8)
N, T = dim("batch", 8), dim("seq", 6)

def net(data: float32[N, T, 3], label: int32[N]):
    data = tanh(data * 0.5 + 0.1)
    for i in range(2):
        with ctx_group("layer%d" % i):
            data, h, c = LSTM(data, num_hidden=units, layout="NTC", name="lstm%d" % i)
            data = Dropout(data, p=0.3, name="drop%d" % i)
    y = FullyConnected(SequenceLast(SwapAxis(data, dim1=0, dim2=1, name="swap"), name="end"), num_hidden=3, name="out")
    return SoftmaxOutput(y, label, name="softmax")

def other(data: float32[N, T, 3], label: int32[N]):
    return SoftmaxOutput(FullyConnected(data, num_hidden=3, name="out"), label, name="softmax")

def noisy(data: float32[N, T, 3]):
    return FullyConnected(Dropout(data[:, 0], p=0.5, mode="always"), num_hidden=32, weight=Variable("lstm0_i2h_weight", shape=(32, 3)), no_bias=True)

fit(net, optimizer="adam", learning_rate=0.02, initializer=Uniform(0.1))
"""
BASE = {"compile": "net.lnet -o out.lstmc", "run": "net.lnet -i data=@x.npy --params w -o y",
        "train": "net.lnet --data npz:d.npz --valid 0.25 --after 4e -o ck",
        "eval": "net.lnet --data npz:d.npz --params w",
        "predict": "net.lnet --data npz:d.npz --params w -o p.csv",
        "plot": "net.lnet -o p.svg --what schedule", "plan": "net.lnet",
        "inspect": "net.lnet --plan", "bench": "net.lnet --repeats 2 --entry step",
        "sample": "text --length 50", "fmt": "rough.lnet", "diff": "w w2",
        "import": "layer.npz --as torch-lstm -o i.lnet", "devices": "", "help": "train",
        "export": "net.lnet -o e --to mxnet",
}
TWO = "-d 2xcpu"
NETWORK = "net.lnet -o p.svg --what network"
SAVES = "--valid-every 1u --save-every 1u"
# Another value of each flag, and words beside it that make it of account; by command where they
# differ.
VALUES = {"output": ("-o else", ""), "shape": ("--shape data:16x6x3", ""),
          "set": ("--set units=16", ""), "net": ("--net other", "--net net"),
          "params": ("--params w2", ""), "devices": ("-d 2xcpu", ""), "gpus": ("--gpus 99", ""),
          "work-load-list": ("--work-load-list 3,1", TWO), "kv-store": ("--kv-store device", TWO),
          "update-on-kvstore": ("--update-on-kvstore 0", TWO + " --kv-store device"),
          "bigarray-bound": ("--bigarray-bound 20", TWO + " --kv-store device"),
          "bucket-bytes": ("--bucket-bytes 0", TWO),
          "gradient-compression": ("--gradient-compression 2bit", ""),
          "accumulate": ("--accumulate 2", ""), "place": ("--place layer1=cpu:1", TWO),
          "chunks": ("--chunks 3", TWO + " --place layer1=cpu:1"), "streams": ("--streams 2", ""),
          "recompute": ("--recompute lstm0", ""),
          "mem": ("--mem 20K", ""), "batch": ("-b 16", ""), "batch-size": ("--batch-size 16", ""),
          "dtype": ("--dtype f64", ""), "shards": ("--shards 4", ""),
          "fast": ("--fast tf32", ""), "disable-pass": ("--disable-pass fuse", ""),
          "limit": ("--limit source=10", ""), "seed": ("--seed 5", ""),
          "entry": ("--entry forward", ""), "fixed-params": ("--fixed-params lstm*", ""),
          "gradient-norms": ("--gradient-norms", "--json"), "optimizer": ("--optimizer sgd", ""),
          "fit": ("--fit wd=0.5", ""), "lr": ("--lr 0.5", ""),
          "metric": ("--metric accuracy", "--json"), "init-params": ("--init-params w2", ""),
          "after": ("--after 1u", ""), "num-epochs": ("--num-epochs 1", ""),
          "valid-every": ("--valid-every 1u", ""), "save-every": ("--save-every 1u", ""),
          "keep": ("--keep 1", SAVES), "keep-every": ("--keep-every 2", SAVES + " --keep 1"),
          "resume": ("--resume", ""), "early-stop": ("--early-stop 1", "--lr 0"),
          "valid": ("--valid 0.5", ""), "data": ("--data npz:d.npz,valid=0.5", ""),
          "expect": ("--expect loss<0.1", ""), "lr-find": ("--lr-find", ""),
          "trace": ("--trace t.json", ""), "tensorboard": ("--tensorboard tb", ""),
          "monitor": ("--monitor *", ""), "disp-every": ("--disp-every 1u", ""),
          "disp-batches": ("--disp-batches 1", ""),
          "check-nan": ("--check-nan", ""), "input": ("-i data=8x6x3xf32=random:3", ""),
          "expect-output": ("--expect-output softmax_output=@x.npy", ""),
          "repeat": ("--repeat 3", "--verbose-ops"), "verbose-ops": ("--verbose-ops", ""),
          "print-pass-times": ("--print-pass-times", ""), "top": ("--top 2", ""),
          "labels": ("--labels names.txt", "--top 1"), "prime": ("--prime ab", ""),
          "length": ("--length 9", ""), "temperature": ("--temperature 0.1", ""),
          "top-k": ("--top-k 1", ""), "what": ("--what memory", ""),
          "show": ("--show memory", "", NETWORK), "unfold": ("--unfold layer", "", NETWORK),
          "summary": ("--summary", ""), "passes": ("--passes", ""), "limits": ("--limits", ""),
          "emit": ("--emit sym", ""), "check": ("--check", ""), "repeats": ("--repeats 3", ""),
          "warmup": ("--warmup 0", "--json"), "all": ("--all", ""), "ulp": ("--ulp 1", ""),
          "rtol": ("--rtol 1e9", ""), "atol": ("--atol 1e9", ""), "measured": ("--measured", ""),
          "replay": ("--replay none.log", ""), "staleness": ("--staleness 1", ""),
          "man": ("--man", ""), "completion": ("--completion bash", ""),
          "pages": ("--pages pages", ""), "plan": ("--plan", "--summary"),
          "cluster": ("--cluster none.toml", ""), "losses": ("--losses none.jsonl", ""),
}
BY_COMMAND = {
    ("inspect", "params"): ("--params", ""), ("plot", "after"): ("--after fuse", "", NETWORK),
    ("diff", "ulp"): ("--ulp 4000000000", ""), ("plan", "measured"): ("--measured", "--json"),
    ("run", "seed"): ("--seed 5", "", "net.lnet -i data=@x.npy -o y"),
    ("predict", "seed"): ("--seed 5",
                          "", "net.lnet --net noisy --data npz:d.npz --params w -o p.csv"),
    ("run", "check-nan"): ("--check-nan", "", "net.lnet -i data=@bad.npy --params w -o y"),
    ("eval", "check-nan"): ("--check-nan", "", "net.lnet --data npz:bad.npz --params w"),
    ("predict", "check-nan"): ("--check-nan",
                               "", "net.lnet --data npz:bad.npz --params w -o p.csv"),
    ("train", "check-nan"): ("--check-nan", "", "net.lnet --data npz:bad.npz --after 4e -o ck"),
    ("fmt", "diff"): ("--diff", ""), ("fmt", "limit"): ("--limit source=10", ""),
    ("diff", "limit"): ("--limit header=1", ""),
    # of a file that is exported the batch is open
    ("export", "batch"): ("-b 0", ""), ("export", "batch-size"): ("--batch-size 0", ""),
    ("export", "shape"): ("--shape data:8x7x3", ""),
    ("import", "limit"): ("--limit header=1", "",
                          "w/last/model.safetensors --as torch-lstm -o i.lnet"),
    ("bench", "expect"): ("--expect ms_per_run<1e-9", ""), ("bench", "input"): ("-i random:2", ""),
    ("plan", "data"): ("--data npz:d.npz,valid=0.5", ""),
    ("sample", "data"): ("--data text:none.txt", ""),
    ("run", "atol"): ("--atol 1e9", "--expect-output softmax_output=@z.npy"),
    ("run", "rtol"): ("--rtol 1e9", "--expect-output softmax_output=@z.npy"),
    ("run", "ulp"): ("--ulp 4294967295", "--expect-output softmax_output=@z.npy"),
    ("bench", "entry"): ("--entry forward", ""),
    ("sample", "limit"): ("--limit header=1", ""),
    ("sample", "mem"): ("--mem 1K", ""), ("eval", "limit"): ("--limit header=1", ""),
    ("predict", "limit"): ("--limit header=1", ""),
    ("run", "limit"): ("--limit header=1", "", "w -i data=@x.npy -o y"),
    ("inspect", "limit"): ("--limit header=1", "", "w"),
}
# Contexts in which flags have less to work on than above: one device, nothing beside the flag.
BARE = {"compile": ["net.lnet -o out.lstmc"], "run": ["net.lnet -i data=@x.npy --params w -o y"],
        "train": ["net.lnet --data npz:d.npz --after 4e -o ck --save-every 1u --disp-every 1u"],
        "eval": ["net.lnet --data npz:d.npz --params w"],
        "predict": ["net.lnet --data npz:d.npz --params w -o p.csv"], "plan": ["net.lnet"],
        "plot": ["net.lnet -o p.svg", "net.lnet -o p.svg --what schedule",
                 "net.lnet -o p.svg --what memory"],
        "inspect": ["net.lnet"], "bench": ["net.lnet --repeats 2"], "sample": ["text --length 50"]}
# What changes nothing there by what it says of itself: (command, flag) and the reason.
ALIKE = {
    **{(command, "check-nan"): "all values are finite"
       for command in ("run", "eval", "predict", "train")},
    **{(command, "seed"): "nothing is drawn" for command in ("run", "predict")},
    ("inspect", "limit"): "of files that are no source",
    ("run", "repeat"): "the last of several equal runs is shown",
    ("plan", "measured"): "times, which differ between any two runs",
    ("inspect", "summary"): "what is shown without flags",
}
# What is tried elsewhere, or changes nothing by what it says of itself.
ELSEWHERE = {
    "check-replicas": "copies never differ here", "numerics": "both words mean the same bits",
    "p3": "MXNet's word, which changes nothing", "threads": "results do not depend on it",
    "engine": "the same bits",
    "include": "test_names.py", "allow-data": "test_hostile.py",
    "data-on": "of ranks: test_several.py", "calibrate": "test_devices.py",
    "untrusted": "test_hostile.py",
    "as": "test_import.py", "modules": "test_import.py", "layout": "test_import.py",
    "model-prefix": "test_mxnet.py", "load-epoch": "test_mxnet.py", "to": "test_mxnet.py",
    "interface": "of launch", "port": "of launch",
}
# Of an update alone, or of the layout: they change what is compiled, which these commands do not
# show.
COMPILED = {"run": "forward", "eval": "evaluate", "predict": "forward",
            "plan": "forward,evaluate,step", "inspect": "forward,evaluate,step", "bench": "step",
            "train": "step", "plot": "step", "sample": "forward"}


def observed(folder):
    """What a command has left, without times: names of files, and the bytes of those that are
    results."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name = str(path.relative_to(folder))
            whole = path.suffix in (".lstmc", ".csv", ".svg", ".safetensors", ".json", ".params")
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest() if whole else ""
    return found


def plain(text):
    text = re.sub(r"\(sha256 \w+…?\)|/tmp/\S+", "", text)
    text = re.sub(
        r"[-+]?\d[\d.,e+-]* ?(ns|µs|us|ms|s|min|h|%|GFLOP/s|/s|MB/s|GB/s|MiB|GiB|KiB|bytes)?\b",
        lambda m: "" if m[1] in ("ns", "µs", "us", "ms", "s", "%", "GFLOP/s", "/s", "GiB")
        else m[0], text)
    text = re.sub(r" (labels/s|left|input)=\S+| [+-]?%\)|\(.*\)", "", text)
    return "\n".join(line for line in text.splitlines()
                     if not re.match(r"\s*(forecast|rates)\b", line))


class Flags(Case):
    def setUp(self):
        super().setUp()
        draw = random.Random(1)
        data = flat(numbers(draw, 48, 6, 3))
        labels = [draw.randrange(3) for _ in range(48)]
        with zipfile.ZipFile(self.folder / "d.npz", "w") as file:
            file.writestr("data.npy", npy(data, (48, 6, 3)))
            file.writestr("label.npy", npy(labels, (48,), "i4"))
        (self.folder / "x.npy").write_bytes(npy(data[:8 * 18], (8, 6, 3)))
        data[7] = float("nan")
        (self.folder / "bad.npy").write_bytes(npy(data[:8 * 18], (8, 6, 3)))
        with zipfile.ZipFile(self.folder / "bad.npz", "w") as file:
            file.writestr("data.npy", npy(data, (48, 6, 3)))
            file.writestr("label.npy", npy(labels, (48,), "i4"))
        (self.folder / "net.lnet").write_text(NET)
        for name, seed in ("w", 1), ("w2", 2):
            self.good("train", "net.lnet", "--data", "npz:d.npz", "--after", "1u", "-o", name,
                      "--seed", seed)
        self.good("train", "small.lnet", "--data", "text:text.txt", "--after", "2u", "-o", "text")
        (self.folder / "rough.lnet").write_text("def net(data: float32[2,3]):\n    return   data\n")
        (self.folder / "names.txt").write_text("one\ntwo\nthree\n")
        (self.folder / "z.npy").write_bytes(npy([0.3] * 24, (8, 3)))
        self.ends = {}

    def outcome(self, words):
        if words not in self.ends:
            with tempfile.TemporaryDirectory() as scratch:
                folder = pathlib.Path(scratch) / "here"
                shutil.copytree(self.folder, folder, symlinks=True)
                before = observed(folder)
                done = run(*words.split(), cwd=folder)
                after = {name: value for name, value in observed(folder).items()
                         if before.get(name) != value}
                self.ends[words] = (done.returncode, plain(done.stdout), after), done.stderr
        return self.ends[words]

    def compiled(self, command, beside, value):
        """Whether another package is compiled of what the command compiles."""
        base = f"compile net.lnet --entry {COMPILED[command]} -o out.lstmc {beside}"
        before, after = self.outcome(base.strip())[0], self.outcome(f"{base} {value}")[0]
        return after[0] == 0 and after != before  # not where `compile` has no such flag

    def judge(self, case):
        command, flag, value, beside, words = case
        base = f"{command} {words} {beside}".strip()
        before, after = self.outcome(base), self.outcome(f"{base} {value}")
        if before[0][0] != 0 and after == before and beside:
            return None  # what is beside it is refused, by its own name
        if (after[0] != before[0] or f"--{flag}" in after[1].replace(before[1], "")
            or plain(after[1]) != plain(before[1])):
            return None
        drawn = command == "plot" and "--what" not in words  # as it is written
        if (command in COMPILED and "out.lstmc" not in base and not drawn
            and self.compiled(command, beside, value)):
            return None
        return f"{base}: {value} changes nothing, without a word"

    def test_each_flag_of_each_command(self):
        _, flags = words_in_table()
        cases, without = [], []
        for flag in flags:
            name = flag["name"]
            for command in flag["commands"]:
                if (flag["group"] == "Common" or command in ("launch", "doctor", "opt")
                    or name in ELSEWHERE):
                    continue
                case = BY_COMMAND.get((command, name), VALUES.get(name))
                if case is None or command not in BASE:
                    without.append(f"{command} --{name}")
                else:
                    cases.append((command, name, *case,
                                  *([BASE[command]] if len(case) == 2 else [])))
        self.assertEqual(without, [], "flags that need a value here")
        self.judge_all(cases)

    def test_where_there_is_nothing_to_work_on(self):
        """In plainer contexts too, where a flag may have nothing to change: it says so."""
        _, flags = words_in_table()
        cases = []
        for flag in flags:
            name = flag["name"]
            for command in sorted(set(flag["commands"]) & set(BARE)):
                if flag["group"] == "Common" or name in ELSEWHERE or (command, name) in ALIKE:
                    continue
                value = BY_COMMAND.get((command, name), VALUES.get(name))[0]
                cases += [(command, name, value, "", words) for words in BARE[command]]
        self.judge_all(cases)

    def judge_all(self, cases):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = [each for each in pool.map(self.judge, cases) if each]
        self.assertEqual(found, [], f"{len(found)} of {len(cases)}:\n" + "\n".join(found))


if __name__ == "__main__":
    unittest.main()
