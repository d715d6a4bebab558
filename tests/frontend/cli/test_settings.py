"""Nothing without effect: each key of fit(..) and data(..), each argument of a schedule, set to
another value, changes what comes of a training, or is answered by a message that names it. A
generator over the records: a key, optimizer, schedule or kind of data that is added needs a case
here."""
import concurrent.futures
import itertools
import json
import os
import random
import re
import struct
import unittest
import zipfile

from command import SOURCE, Case

NET = """\
N = dim("batch", 4)

def net(data: float32[N, 3], label: float32[N, 2]):
    x = Activation(FullyConnected(data, num_hidden=5, name="one"), act_type="tanh")
    x = Concat(x, data, dim=1)
    return LinearRegressionOutput(FullyConnected(x, num_hidden=2, name="fc"), label, name="out")

"""
# Another value of each key of fit(..), as in a file.
FIT = {"optimizer": '"nadam"', "learning_rate": "0.3",
       "lr_scheduler": "FactorScheduler(step=2, factor=0.5)", "initializer": "Uniform(0.5)",
       "eval_metric": '"rmse"', "num_epoch": "3", "num_update": "5", "carry": '["none*"]',
       "seed": "5", "wd": "0.5", "rescale_grad": "0.01",
       "clip_gradient": "0.001", "clip_gradient_norm": "0.001", "momentum": "0.5", "wd_lh": "0.5",
       "eps": "0.1", "epsilon": "0.1", "gamma1": "0.3", "gamma2": "0.3", "centered": "True",
       "clip_weights": "0.01", "rho": "0.3", "lamda1": "0.5", "beta": "0.3", "beta1": "0.3",
       "beta2": "0.3", "correct_bias": "False", "schedule_decay": "0.5", "lower_bound": "0.9",
       "upper_bound": "0.01", "bias_correction": "False",
}
# Of an optimizer, what chooses the form of its update.
CHOOSES = ["momentum=0.5", "momentum=0.0", "centered=True", "bias_correction=False",
           "correct_bias=False"]
FACTOR = "all gradients get one factor, and a mean of them keeps its sign"
SAME = {  # (optimizer with the key beside, key): why its values are alike
        (f"signum({beside})", key): FACTOR for beside in ("", "momentum=0.5")
        for key in ("clip_gradient_norm", "rescale_grad")
}
# Calls with all that a schedule requires, and another value of each argument, with what it takes to
# be seen.
SCHEDULES = {
    "FactorScheduler": ("step=2, factor=0.5",
                        {"step": "3", "factor": "0.25", "stop_factor_lr": "0.05"}),
    "MultiFactorScheduler": ("step=[2, 4], factor=0.5", {"step": "[3, 5]", "factor": "0.25"}),
    "PolyScheduler": ("max_update=12", {"max_update": "20", "pwr": "3", "final_lr": "0.05"}),
    "CosineScheduler": ("max_update=12", {"max_update": "20", "final_lr": "0.05"}),
    "OneCycleScheduler": ("max_update=12", {"max_update": "20", "pct_start": "0.5",
                                            "div_factor": "5", "final_div_factor": "10"}),
    "PlateauScheduler": ("threshold=0.5, patience=0, factor=0.5", {
        "factor": "0.25", "patience": "1", "threshold": "0.0", "cooldown": "1", "min_lr": "0.09"}),
}
# Of each kind of data: a network, the spec that its keys are added to, other values of keys, and
# keys that make others of account.
WINDOWS = """\
N, T = dim("batch", 4), dim("seq", 6)

def net(data: float32[N, T, 3], label: float32[N]LENGTH):
    x = SequenceLast(SwapAxis(data, dim1=0, dim2=1)USED)
    return LinearRegressionOutput(Reshape(FullyConnected(x, num_hidden=1, name="fc"), shape=(-1,)), label, name="out")

"""
OF_SEQUENCES = WINDOWS.replace("LENGTH", ", length: float32[N]").replace(
    "USED", ", length, use_sequence_length=True")
WINDOWS = WINDOWS.replace("LENGTH", "").replace("USED", "")
SYMBOLS = """\
N, T = dim("batch", 2), dim("seq", 8)

def net(data: int32[N, T], label: int32[N, T]):
    x = Embedding(data, input_dim=60, output_dim=60, name="embed")
    return SoftmaxOutput(x, label, preserve_shape=True, use_ignore=True, normalization="valid", name="out")

"""
CLASSES = """\
N = dim("batch", 4)

def net(data: float32[N, 3], label: int32[N]):
    return SoftmaxOutput(FullyConnected(data, num_hidden=9, name="fc"), label, name="out")

"""
DATA = [
    ("text", SYMBOLS, "text:a.txt",
     {"unit": "word", "vocab": "v.txt", "lines": "yes", "buckets": "4|8", "valid": "0.25"},
     ["", "lines=yes", "unit=word"]),
    ("csv", WINDOWS, "csv:t.csv", {"inputs": "b|a|y", "target": "a", "window": "5", "horizon": "2",
                                   "valid": "0.25", "shuffle": "no"},
     ["target=y", "target=y,horizon=3"]),
    ("csv", WINDOWS, "csv:gaps.csv,target=y", {"na": "-", "fill": "previous"},
     ["", "na=?,fill=drop"]),
    ("csv", OF_SEQUENCES, "csv:seq.csv,target=y,inputs=a|b|y", {"sequence": "id", "buckets": "3|6"},
     ["", "sequence=id"]),
    ("npz", NET, "npz:d.npz", {"valid": "0.25", "shuffle": "no"}, ["", "valid=0.5"]),
    ("npy", NET, "npy:data=x.npy,label=y.npy", {"valid": "0.25", "shuffle": "no"},
     ["", "valid=0.5"]),
    ("idx", CLASSES, "idx:data=x.idx,label=y.idx",
     {"valid": "0.25", "shuffle": "no", "classes": "3"}, ["", "valid=0.5"]),
    ("random", CLASSES, "random:7", {"classes": "3", "batches": "5"}, ["", "batches=3"]),
]
WARM_UP = {"warmup_steps": "4", "warmup_begin_lr": "0.05", "warmup_mode": '"constant"'}
OF_WARM_UP = "warmup_steps=3, warmup_begin_lr=0.01"


def rows(path, pattern):
    return re.findall(pattern, (SOURCE / path).read_text(), re.MULTILINE | re.DOTALL)


def fit_keys():
    """Of the loop, and of all optimizers."""
    text = (SOURCE / "frontend/lnet/net/TrainingDefaults.cpp").read_text()
    loop = re.findall(r'\{"(\w+)"', text.split("kLoopKeys[] = {")[1].split("};")[0])
    header, table = ((SOURCE / f"executor/abi/Optimizers.{end}").read_text()
                     for end in ("h", "def"))
    shared = re.findall(r'inline constexpr OptimizerKey k\w+ = \{"(\w+)"', header)
    common = re.findall(r'^    \{"(\w+)"',
                        header.split("kCommonOptimizerKeys[] = {")[1].split("};")[0], re.MULTILINE)
    own = [name for row in re.findall(r"\.keys = \{(.*?)\},\n \.", table, re.DOTALL)
           for name in re.findall(r'\{"(\w+)"', row)]
    return {*loop, *shared, *common, *own}


def optimizers():
    return rows("executor/abi/Optimizers.def", r'^\{\.name = "(\w+)"')


def schedules():
    """{name in the language: names of its own arguments}"""
    return {shown: set(re.findall(r'\{"(\w+)", ArgumentKind', arguments)) for shown, arguments in
            rows("executor/abi/Schedules.def", r'^LSTMC_SCHEDULE\(\w+, "\w+", "(\w+)",\n(.*?)\)$')}


def numbers(draw, *shape):
    return [numbers(draw, *shape[1:]) for _ in range(shape[0])] if shape else draw.uniform(-1, 1)


def flat(value):
    return [x for each in value for x in flat(each)] if isinstance(value, list) else [value]


def npy(values, shape, kind="f4"):
    """The bytes of an array of the format .npy, version 1."""
    head = (f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': "
            f"({', '.join(map(str, shape))},), }}")
    head = head.ljust((len(head) + 10 + 64) // 64 * 64 - 11) + "\n"
    packed = struct.pack(f"<{len(values)}{'f' if kind == 'f4' else 'i'}", *values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + packed


class Settings(Case):
    def setUp(self):
        super().setUp()
        draw = random.Random(2)
        data = numbers(draw, 40, 3)
        arrays = {"data": npy(flat(data), (40, 3)),
                  "label": npy([x / 2 for row in data for x in row[:2]], (40, 2))}
        self.archive("d.npz", arrays)
        self.archive("w.npz", {"one_weight": npy(flat(numbers(draw, 5, 3)), (5, 3)),
                               "one_bias": npy(flat(numbers(draw, 5)), (5,)),
                               "fc_weight": npy(flat(numbers(draw, 2, 5)), (2, 5)),
                               "fc_bias": npy(flat(numbers(draw, 2)), (2,))})
        for name, key in ("x", "data"), ("y", "label"):
            (self.folder / f"{name}.npy").write_bytes(arrays[key])
        (self.folder / "x.idx").write_bytes(struct.pack(">BBBBII", 0, 0, 8, 2, 40, 3)
                                            + bytes(draw.randrange(256) for _ in range(120)))
        (self.folder / "y.idx").write_bytes(struct.pack(">BBBBI", 0, 0, 8, 1, 40)
                                            + bytes(draw.randrange(9) for _ in range(40)))
        self.tables(draw)
        (self.folder / "a.txt").write_text("".join(
            " ".join(draw.choice(("ab", "c", "bca")) for _ in range(draw.randint(1, 2))) + "\n"
            for _ in range(60)))
        (self.folder / "v.txt").write_text("\\n\nc\nb\na\n\\s\n")
        self.ends, self.found, self.judged, self.numbers = {}, [], set(), itertools.count()

    def tables(self, draw):
        rows = [[f"s{int(at ** 0.5)}", *(f"{draw.uniform(-1, 1):.6f}" for _ in "aby")]
                for at in range(36)]
        gaps = [[cell if at % 17 or column != 2 else "?" for column, cell in enumerate(row)]
                for at, row in enumerate(rows)]
        for name, first, lines in ("t", 1, rows), ("gaps", 1, gaps), ("seq", 0, rows):
            head = ["id", "a", "b", "y"]
            (self.folder / f"{name}.csv").write_text(
                "".join(",".join(line[first:]) + "\n" for line in [head, *lines]))

    def archive(self, name, arrays):
        with zipfile.ZipFile(self.folder / name, "w") as file:
            for key, value in arrays.items():
                file.writestr(key + ".npy", value)

    def outcome(self, net, *words):
        """(what comes of a training or measurement, its messages): validations, updates and the
        last weights; or the error."""
        number = next(self.numbers)
        (self.folder / f"net{number}.lnet").write_text(net)
        done = self.run_here(words[0], f"net{number}.lnet",
                             *(word.replace("OUT", f"out{number}") for word in words[1:]),
                             "--json", "--force")
        self.assertNotEqual(done.returncode, 70, done.stderr)
        found = json.loads(done.stdout) if done.stdout.strip() else {}
        messages = [line.split(": ", 1)[-1] for line in done.stderr.splitlines()
                    if "warning[" in line or "error[" in line or line.startswith("left out")]
        messages += [each["message"] for each in found.get("diagnostics", [])]
        return (done.returncode, self.of_interest(found)), messages

    def of_interest(self, found):
        """Without times, places, and what only repeats the settings."""
        left_out = {"start", "saves", "time_s", "checkpoint", "peak", "resident_beyond_bytes",
                    "diagnostics", "plan", "seconds", "seed", "graph_hash"}
        if isinstance(found, dict):
            return {key: self.of_interest(value) for key, value in found.items()
                    if key not in left_out and not key.endswith("_s")}
        return [self.of_interest(value) for value in found] if isinstance(found, list) else found

    def train(self, fit, *words):
        key = fit, words
        if key not in self.ends:
            end = ([] if "num_" in fit or "num_" in "".join(words)
                   else ["--after", "6e" if "lr_scheduler" in fit else "2e"])
            self.ends[key] = self.outcome(f"{NET}fit(net{', ' if fit else ''}{fit})\n", "train",
                                          "--data", "npz:d.npz", "--valid", "0.25", *end,
                                          "-o", "OUT", *words)
        return self.ends[key]

    def judge(self, what, name, before, after):
        """A setting that changes nothing is named. Takes functions that give the outcomes. Of a
        context that is refused nothing is judged."""
        first, second = before(), after()
        if first == second and first[0][0] != 0:
            return
        self.judged.add(name)
        if (second[0] == first[0]
            and not any(name in message for message in second[1] if message not in first[1])):
            self.found.append(f"{what}: {name} changes nothing, without a word")

    def judge_all(self, cases):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda case: self.judge(*case), cases))
        self.assertEqual(self.judged, {name for _, name, *_ in cases}, "in no context accepted")
        self.assertEqual(self.found,
                         [], f"{len(self.found)} of {len(cases)}:\n" + "\n".join(self.found))

    def choices(self, optimizer):
        """What chooses the form of its update: nothing, or one of its own keys."""
        plain = self.train(f'optimizer="{optimizer}"')
        ends = {choice: self.train(f'optimizer="{optimizer}", {choice}') for choice in CHOOSES}
        return ["", *(choice for choice, end in ends.items() if end[0][0] == 0 and end != plain)]

    def test_keys_of_fit(self):
        self.assertEqual(set(FIT), fit_keys(), "a key of fit(..) needs a case here")
        self.assertGreater(len(optimizers()), 12)
        cases = []
        for optimizer, choice in ((each, choice) for each in optimizers()
                                  for choice in self.choices(each)):
            context = f'optimizer="{optimizer}"' + (f", {choice}" if choice else "")
            for key, value in FIT.items():
                if (not re.search(rf"\b{key}=", context)
                    and (f"{optimizer}({choice})", key) not in SAME):
                    cases.append((context, key, lambda c=context: self.train(c),
                                  lambda c=f"{context}, {key}={value}": self.train(c)))
                if (optimizer == "rmsprop" and not choice
                    and key not in ("optimizer", "initializer")):
                    flag = f"{key}={value}" if "(" in value else key + "=" + value.strip('["]')
                    cases.append((f"{context} --fit", key, lambda c=context: self.train(c),
                                  lambda c=context, f=flag: self.train(c, "--fit", f)))
        self.judge_all(cases)

    def test_arguments_of_schedules(self):
        self.assertEqual({name: set(values) for name, (_, values) in SCHEDULES.items()},
                         schedules(), "an argument of a schedule needs a case here")
        warm_up = (SOURCE / "executor/abi/Schedules.h").read_text().split("kWarmUp[] = {")[1]
        self.assertEqual(set(WARM_UP), set(re.findall(r'\{"(\w+)", ArgumentKind', warm_up)))
        cases = []
        for name, (required, values) in SCHEDULES.items():
            for beside, others in (("", values), ("", WARM_UP), (OF_WARM_UP, {**values, **WARM_UP}),
                                   ("warmup_mode=\"constant\"", WARM_UP)):
                given = self.arguments(required, beside)
                for argument, value in others.items():
                    if given.get(argument) != value:
                        cases.append(
                            (f"{name}({given})", argument,
                             lambda n=name, a=given: self.scheduled(n, a),
                             lambda n=name, a={**given, argument: value}: self.scheduled(n, a)))
        self.judge_all(cases)

    def test_keys_of_data(self):
        """As typed, and as the file has them."""
        table = dict(
            re.findall(r'^    \{"(\w+)", "[^"]*", "([\w ]+)"',
                       (SOURCE / "executor/data/DataSpec.cpp").read_text().split("kKeys[] = {")[1],
                       re.MULTILINE))
        known = {(kind, key) for key, kinds in table.items() for kind in kinds.split()}
        self.assertEqual({(kind, key) for kind, _, _, keys, _ in DATA for key in keys},
                         known, "a key of data(..) needs a case here")
        cases = []
        for _, net, spec, keys, contexts in DATA:
            for context, (key, value) in itertools.product(contexts, keys.items()):
                given = dict(part.split("=") for part in context.split(",") if part)
                if given.get(key) == value:
                    continue
                for how in ("typed", "written"):
                    cases.append((f"{how} {spec}: {context}", key,
                                  *(lambda n=net, s=spec, a=arguments, h=how: self.read(n, s, a, h)
                                    for arguments in (given, {**given, key: value}))))
        self.judge_all(cases)

    def read(self, net, spec, keys, how):
        words = ["train", "--after", "2e", "--lr", "0.1", "-o", "OUT"]
        if how == "typed":
            return self.outcome(net, *words, "--data",
                                spec + "".join(f",{key}={value}" for key, value in keys.items()))
        text = ", ".join(f"{key}={self.written(key, value)}" for key, value in keys.items()
                         if key != "batches")
        kept = f",batches={keys['batches']}" if "batches" in keys else ""  # no key of the language
        return self.outcome(net + f'data(net, train="{spec}{kept}"{", " if text else ""}{text})\n',
                            *words)

    @staticmethod
    def written(key, value):
        if key in ("lines", "shuffle"):
            return str(value == "yes")
        if key == "buckets":
            return "[" + value.replace("|", ", ") + "]"
        return (value if re.fullmatch(r"[\d.]+", value)
                else json.dumps(value.split("|") if "|" in value else value))

    @staticmethod
    def arguments(*texts):
        return dict(re.findall(r"(\w+)=(\[.*?\]|[^,]+)", ", ".join(texts)))

    def scheduled(self, name, arguments):
        text = ", ".join(f"{key}={value}" for key, value in arguments.items())
        return self.train(f"learning_rate=0.1, lr_scheduler={name}({text})")


if __name__ == "__main__":
    unittest.main()
