"""Every attribute has an effect: each attribute of each op, set to another value in each of several
contexts, changes the plan or causes a message with its name.

Generated from the op records. A context is a call of the op, plain and with each other selecting
attribute (a bool, a word, a value instead of None) set. LSTMC_EFFECTS=all tests more values of each
attribute, and contexts of all attributes.
"""
import concurrent.futures
import itertools
import json
import os
import re
import sys
import unittest

from command import SOURCE, Case

sys.path.insert(0, str(SOURCE / "ir/sym"))
import op_table  # noqa: E402

ALL = os.environ.get("LSTMC_EFFECTS") == "all"

# Calls of ops whose inputs differ from one tensor of three axes, or which need attributes. The
# values of `net` are below.
CALLS = {
    "_zeros": ["shape=(4, 3, 6)"], "_ones": ["shape=(4, 3, 6)"],
    "_full": ["shape=(4, 3, 6), value=0.5"], "_arange": ["start=0, stop=6", "start=6"],
    "random_uniform": ["shape=(4, 3, 6)"], "random_normal": ["shape=(4, 3, 6)"],
    "sample_multinomial": ["softmax(x)"], "Activation": ["x, act_type=\"relu\""],
    "clip": ["x, a_min=-0.5, a_max=0.5"], "Cast": ["x, dtype=\"float32\""],
    "Reshape": ["x, shape=(0, -1)", "x, shape=(-1, 0)", "x, shape=(), target_shape=(12, 0)",
                "x, shape=(12, 6)"],
    "expand_dims": ["x, axis=0"], "squeeze": ["one"], "Concat": ["x, x"], "stack": ["x, x"],
    "SliceChannel": ["x, num_outputs=3"], "slice": ["x, begin=(0, 0, 0), end=(4, 2, 4)"],
    "slice_axis": ["x, axis=1, begin=0, end=2"],
    "reverse": ["x, axis=1"], "tile": ["x, reps=(1, 2, 1)"], "repeat": ["x, repeats=2"],
    "broadcast_to": ["one, shape=(4, 3, 6)"], "broadcast_axis": ["one, axis=0, size=4"],
    "Embedding": ["ids, input_dim=9, output_dim=5"], "take": ["x, ids"], "pick": ["x, ids"],
    "one_hot": ["ids, depth=6"], "FullyConnected": ["x, num_hidden=5"], "dot": ["square, square"],
    "batch_dot": ["cubes, cubes"], "linalg_gemm2": ["cubes, cubes"],
    "linalg_gemm": ["cubes, cubes, cubes"], "softmax": ["x", "x, length=per_row"],
    "log_softmax": ["x", "x, length=per_row"], "softmin": ["x", "x, length=per_row"],
    "SequenceMask": ["x", "x, sequence_length=length, use_sequence_length=True"],
    "SequenceLast": ["x", "x, sequence_length=length, use_sequence_length=True"],
    "SequenceReverse": ["x", "x, sequence_length=length, use_sequence_length=True"],
    "RNN": ["x, state_size=5", "x, state_size=5, num_layers=2", "x, state_size=5, mode=\"lstm\"",
            "x, state_size=5, mode=\"lstm\", lstm_state_clip_min=-0.1, lstm_state_clip_max=0.1"],
    "_rnn_param_concat": ["square, square, dim=0"], "SoftmaxOutput":
    ["flat, classes_label",
     "flat, flat_label", "x, steps_label, preserve_shape=True", "x, x_label, preserve_shape=True",
     "x, positions_label, multi_output=True"],
    "LinearRegressionOutput": ["flat, flat_label"], "MAERegressionOutput": ["flat, flat_label"],
    "LogisticRegressionOutput": ["flat, flat_label"], "SVMOutput": ["flat, classes_label"],
    "reshape_like": ["x, BlockGrad(x)"], "broadcast_like": ["one, x"], "slice_like": ["x, less"],
    "einsum": ["square, square, subscripts=\"ij,jk->ik\""],
    "scatter_nd": ["square[0, :3], ids[:1], shape=(9,)"],
    "diag": ["cubes"], "L2Normalization": ["x"], "amp_cast": ["x, dtype=\"float16\""],
    "batch_take": ["flat, classes"],
    "Pad": ["x, mode=\"constant\", pad_width=(0, 0, 0, 0, 1, 2)",
            "x, mode=\"edge\", pad_width=(0, 0, 1, 0, 1, 2)"],
    "Convolution": ["x, kernel=(2,), num_filter=2", "images, kernel=(2, 3), num_filter=3"],
    "Pooling": ["x, kernel=(3,)", "x, kernel=(3,), stride=(2,), pad=(1,), pool_type=\"avg\"",
                "images, kernel=(2, 2), stride=(2, 2)"],
    "Deconvolution": ["x, kernel=(2,), stride=(2,), num_filter=2",
                      "images, kernel=(2, 3), num_filter=3"],
    "UpSampling": ["images, scale=2, sample_type=\"nearest\"",
                   "images, images, scale=2, sample_type=\"nearest\""],
    "LRN": ["images, nsize=3"],
    "_split_v2": ["x, indices=(0, 2)", "x, sections=3", "x, sections=3, squeeze_axis=True"],
    "CTCLoss": ["x, transpose(ids)[:, :2]",
                "x, transpose(ids)[:, :2], label_lengths=length, use_label_lengths=True"],
}
# Pairs of values with equal meaning by the op's definition: (op, attribute, what the call or the
# value has) and the reason.
SAME = [
    (r".*_scalar", "is_int",
     "", "it says of which type the scalar is, and floats are computed in floats"),
    ("Reshape", "reverse", r"shape=\(12, 6\)", "no code is counted from an end"),
    ("_arange", "infer_range", "", "the range is known from the other values"),
    ("RNN|LayerNorm|GroupNorm|BatchNorm", "state_outputs|output_mean_var",
     "", "it adds results, which nothing reads here"),
    ("softmax|log_softmax|softmin|cumsum", "dtype", "dtype=\"float32\"$", "the type of the data"),
    ("reshape_like", "[lr]hs_(begin|end)", "_begin=0$|_end=3$", "the whole shape"),
    ("slice_like", "axes", r"\((0, 1|1, 0, 2)\)$", "all axes that differ"),
    ("sum|mean|max|min|prod|norm", "axis", r"\(1, 0, 2\)$", "all axes, as without it"),
    ("squeeze", "axis", r"\(0,\)$", "the one axis of one element"),
    ("SoftmaxOutput", "preserve_shape", "flat, ", "of two axes the last one is all but the first"),
    ("SoftmaxOutput", "multi_output", "flat, ", "axis 1 is the last one"),
    ("SoftmaxOutput", "use_ignore", "classes_label|steps_label|positions_label",
     "no label is -1 here"),
    ("SVMOutput", "margin", "use_linear=True", "all are within either margin"),
    ("SVMOutput", "regularization_coefficient|use_linear", "margin=-0.5",
     "no score is within this margin"),
    ("slice", "step", r"step=\(1, 1, 1\)$", "every element, as without it"),
    ("topk", "dtype", "ret_typ=\"both\"", "the type of the numbers, which nothing reads here"),
    ("Convolution|Deconvolution|Pooling", "stride|dilate|pad|adj|target_shape",
     r"(stride|dilate)=\(1,\)$|(pad|adj|target_shape)=\(0,\)$",
     "the values that an empty tuple stands for"),
    ("Pooling", "pooling_convention", r"kernel=\(3,\)(?!.*stride=\(2)",
     "the windows end with the data"),
    ("SoftmaxOutput|MakeLoss", "normalization",
     "", "each divides by what they count, which may be as many"),
]

NET = """\
def net(data: float32[4, 3, 6], ids: int32[4, 3], length: float32[3], per_row: int32[4, 3], classes_label: float32[4], flat_label: float32[4, 6],
        steps_label: float32[4, 3], x_label: float32[4, 3, 6], positions_label: float32[4, 6]):
    x = data * Variable("v", shape=(4, 3, 6), init=0.5)
    one, flat, less = x[:1], x[:, 0], BlockGrad(x[:2, :2])
    square, cubes = Variable("s", shape=(6, 6), init=0.5), Variable("c", shape=(4, 3, 3), init=0.5)
    images, classes = reshape(x, shape=(4, 3, 3, 2)), cast(classes_label, dtype="int32")
    r = {call}
    return {end}

fit(net, optimizer="sgd", learning_rate=0.1)
"""
HEADS = ("SoftmaxOutput", "SVMOutput", "MakeLoss", "LinearRegressionOutput", "MAERegressionOutput",
         "LogisticRegressionOutput")
ENDS = ["MakeLoss(mean(r * r))", "MakeLoss(mean(r[0] * r[0]))", "r"]


class Op:
    """An op of the records, and the possible values of its attributes."""

    def __init__(self, name, attributes):
        self.name = name
        self.attributes = attributes  # name -> (kind, choices, default)

    def values(self, name, most=None):
        kind, choices, default = self.attributes[name]
        if kind == "Boolean":
            values = ["False" if default == "True" else "True"]
        elif kind == "Choice":
            values = [f'"{word}"' for word in choices if word != default]
        elif kind == "DType":
            values = [f'"{word}"' for word in ("float64", "int32", "float32") if word != default]
        elif kind == "Integer":
            values = [str(number) for number in (0, 1, 2, 3, -2) if str(number) != default]
        elif kind == "Float":
            values = [text for text in ("0.3", "2.0", "-0.5", "1e-3")
                      if not re.fullmatch(r"[\d.e+-]+", default) or float(text) != float(default)]
        elif kind == "String":
            values = ['"gpu(0)"']
        else:
            values = ["(0,)", "(1,)", "(1, 0, 2)", "(0, 1)", "(4, 3, 6)", "(1, 1, 1)"]
        return values[:most] if most and not ALL else values

    def chooses(self, name):
        kind, _, default = self.attributes[name]
        return ALL or kind in ("Boolean", "Choice") or default == "None"


def ops(path):
    """Ops of the records that have attributes."""
    records = op_table.Records(path)
    for record in records.ops():
        if not record["mxnetName"]:
            continue
        attributes = {}
        for reference, name in record["arguments"]["args"]:
            constraint = records.of(reference)
            if "AttrConstraint" in constraint["!superclasses"]:
                kind, _, _, choices, default = records.attribute_facts(name, constraint)
                attributes[name] = kind, choices, default
        if attributes:
            yield Op(record["mxnetName"], attributes)


def calls(op):
    if op.name.endswith("_scalar") and op.name not in CALLS:
        return ["x, scalar=1.5"]
    return CALLS.get(op.name, ["x"])


def named(call):
    """The attributes that a call sets."""
    return set(re.findall(r"(\w+)=", call))


class Effects(Case):
    def setUp(self):
        super().setUp()
        self.known = {}
        self.results = {}
        self.faults = []
        self.numbers = itertools.count()

    def plan(self, call):
        """The plan of a call without source locations, and the warnings; None if the call is
        refused."""
        if call not in self.known:
            self.known[call] = self.compile(call)
        return self.known[call]

    def compile(self, call):
        for end in ENDS:
            file = f"net{next(self.numbers)}.lnet"
            (self.folder / file).write_text(
                NET.format(call=call, end="r" if "Output(" in call or "MakeLoss(" in call else end))
            done = self.run_here("inspect", file, "--emit", "exec")
            if done.returncode == 70:
                self.faults.append(f"{call}: {done.stderr}")
                return None
            if done.returncode == 0:
                warnings = [line.split(": ", 1)[1] for line in done.stderr.splitlines()
                            if "warning[" in line]
                return done.stdout, frozenset(warnings)
        return None

    def judge(self, op, given, name):
        """The values of an attribute in a context that are accepted, change nothing and cause no
        warning."""
        before = self.plan(f"{op.name}({given})")
        if before is None:
            return []
        found = []
        for value in op.values(name, most=3):
            after = self.plan(f"{op.name}({given}, {name}={value})")
            if after is None:
                continue
            if (after[0] == before[0]
                or (op.name in HEADS and self.trains_alike(op, given, f"{given}, {name}={value}"))):
                found += self.unnamed(op, given, name, value, before, after)
            elif op.name in HEADS:
                # one value that changes the weights suffices: which ones do depends on the data
                return []
        return found

    def unnamed(self, op, given, name, value, before, after):
        return ([] if any(name in warning for warning in after[1] - before[1])
                or self.same(op, given, name, value)
                else [f"{op.name}({given}): {name}={value} changes nothing, without a word"])

    def trains_alike(self, op, *given):
        """For a head, whose attributes are all arguments of its kernels: whether two updates end
        with the same weights."""
        ends = {self.trained(f"{op.name}({each})") for each in given}
        return len(ends) == 1 and None not in ends

    def trained(self, call):
        if call not in self.results:
            number = next(self.numbers)
            # all have the batch first
            net = re.sub(r"ids: .*?per_row: int32\[4, 3\], ", "", NET.format(call=call, end="r"))
            (self.folder / f"train{number}.lnet").write_text(net)
            done = self.run_here("train", f"train{number}.lnet", "--data", "random:1,classes=3",
                                 "--after", "2u", "-o", f"out{number}", "--json")
            self.results[call] = (json.loads(done.stdout)["end"]["weights_hash"]
                                  if done.returncode == 0 else None)
        return self.results[call]

    def same(self, op, given, name, value):
        kind, _, default = op.attributes[name]
        text = f"{given}, {name}={value}"
        if (kind == "Integer" and (name.startswith("axis") or name.startswith("dim"))
            and default.lstrip("-").isdigit()):
            if any((int(value) - int(default)) % rank == 0 for rank in (3, 4)):
                return True
        return any(re.fullmatch(who, op.name) and re.fullmatch(what, name)
                   and re.search(where, text) for who, what, where, _ in SAME)

    def contexts(self, op):
        for call in calls(op):
            yield call
            for other in op.attributes:
                if other not in named(call) and op.chooses(other):
                    for value in op.values(other, most=1):
                        yield f"{call}, {other}={value}"

    def test_each_attribute_does_something_or_is_answered(self):
        tasks, without = [], []
        for op in ops(os.environ["LSTMC_RECORDS"]):
            if not any(self.plan(f"{op.name}({call})") for call in calls(op)):
                without.append(op.name)  # describe a call above
            tasks += [(op, given, name) for given in self.contexts(op) for name in op.attributes
                      if name not in named(given)]
        self.assertEqual(without, [], "no call of these is accepted: describe one in CALLS")
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(itertools.chain(*pool.map(lambda task: self.judge(*task), tasks)))
        self.assertEqual(self.faults, [], "\n".join(self.faults))
        self.assertEqual(found,
                         [], f"{len(found)} found of {len(self.known)} calls:\n" + "\n".join(found))


if __name__ == "__main__":
    unittest.main()
