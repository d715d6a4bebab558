#!/usr/bin/env python3
"""Random nets in files between lstmc and MXNet 1.9.1: `mxnet_nets.py A B` for the seeds A to B,
after a sweep over all ops.

A net is made with one of the two, written by it (symbol.json and .params), and loaded by the other;
every net also goes through `lstmc export --to mxnet`, from the language or from MXNet's file, and
MXNet has to compute the same from what that writes.
MXNet must infer the shapes of all weights from those of the inputs only, as its Module does, and
outputs and gradients must be equal up to roundings of f32. Nets of even seeds go to MXNet, those of
odd ones come from it, every fifth of these as an exported Gluon block. Lengths of sequences, a
range for the cell's state, and training with projections are left out: MXNet has them on GPUs only.
"""
import collections
import json
import logging
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings

import numpy as np

os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"  # no fused kernels, which round differently
warnings.filterwarnings("ignore")  # MXNet's warnings about NumPy
logging.disable(logging.WARNING)  # about files without weights
import mxnet

import lstmc

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("LSTMC", str(ROOT / "build/lstmc"))
sys.path.append(str(ROOT / "tests/frontend/python"))

# Both compute in f32, in different orders. A wrong gate, axis or attribute differs by far more than
# this share of the largest number.
BOUND = 2e-4
PROBE = 0.05  # the least distance of inputs and weights from 0

POINTWISE = ["relu", "sigmoid", "tanh", "exp", "abs", "square", "sin", "cos", "arctan", "erf",
             "expm1", "log1p_abs", "rsqrt_abs", "negative", "softsign", "cbrt",
             "hard_sigmoid", "smooth_l1", "clip", "leaky", "elu", "selu", "gelu_leaky",
             "Activation"]
# MXNet has no op of this name
OURS = ["silu", "gelu", "mish", "log_sigmoid", "softplus", "Activation_mish"]
SCALARS = [lambda x: x + 0.5, lambda x: 1.25 - x, lambda x: x * -0.75,
           lambda x: 2.0 / (x * x + 1.0), lambda x: (x * x + 0.5) ** 0.5, lambda x: x / 3.0,
           lambda x: 2.0**x]


class Net:
    """A net of one library: `symbol`, and `values`, the arrays of its inputs and weights by
    name."""

    def __init__(self, library, seed):
        self.sym, self.rnn, self.mx = library.sym, library.rnn, library
        self.ours = library is lstmc
        self.draw, self.random = random.Random(seed), np.random.default_rng(seed)
        self.log, self.inputs, self.counts = [], {}, collections.Counter()
        self.is_random = False  # has dropout in training
        self.differentiates = True
        self.n, self.t = self.draw.choice([1, 2, 3]), self.draw.choice([1, 2, 4])
        x = self.first()
        seen = [x]
        for _ in range(self.draw.randint(1, 5)):
            x = self.step(seen[-1] if self.draw.random() < 0.8 else self.draw.choice(seen))
            seen.append(x)
        self.symbol = self.head(seen)

    def name(self, hint):
        self.counts[hint] += 1
        return f"{hint}_{self.counts[hint]}"

    def variable(self, hint, shape, **options):
        """A weight whose shape its use does not determine."""
        return self.sym.Variable(self.name(hint), shape=shape, **options)

    def input(self, hint, shape, below=None):
        name = self.name(hint) + ("_label" if "label" in hint else "_data")
        values = (self.random.integers(0, below, shape) if below
                  else self.random.uniform(PROBE, 1, shape) * self.random.choice([-1, 1], shape))
        self.inputs[name] = values.astype(np.float32)
        return self.sym.Variable(name)

    # Values are (symbol, shape), [N, T, C] or [N, C].

    def first(self):
        width = self.draw.randint(2, 6)
        if self.draw.random() < 0.4:
            self.log.append("Embedding")
            ids = self.input("ids", (self.n, self.t), below=7)
            return (self.sym.Embedding(ids, input_dim=7, output_dim=width, name=self.name("embed")),
                    (self.n, self.t, width))
        return self.input("x", (self.n, self.t, width)), (self.n, self.t, width)

    def image(self, x, shape):
        """[N, T, C] as the images [N, T, C, 1], and back."""
        sym = self.sym
        kind = self.draw.choice(["Convolution", "Deconvolution", "Pooling", "UpSampling", "LRN",
                                 "GroupNorm", "InstanceNorm", "BatchNorm", "Pad", "split_v2"])
        self.log.append(kind)
        y, channels, height = sym.expand_dims(x, axis=3), shape[1], shape[2]
        name = self.name(kind.lower())
        if kind in ("Convolution", "Deconvolution"):
            made = {"kernel": (2, 1), "pad": (1, 0), "num_filter": channels, "num_group": 1,
                    "no_bias": self.draw.random() < 0.5, "name": name}
            if kind == "Deconvolution":
                made.update(stride=(2, 1), adj=(1, 0))
                y, height = sym.Deconvolution(y, **made), 2 * height - 1
            else:
                y, height = sym.Convolution(y, **made), height + 1
        elif kind == "Pooling":
            y = sym.Pooling(y, kernel=(3, 1), pad=(1, 0),
                            pool_type=self.draw.choice(["max", "avg", "sum"]))
        elif kind == "UpSampling":
            y = sym.slice_axis(sym.UpSampling(y, scale=2, sample_type="nearest", num_args=1),
                               axis=3, begin=0, end=1)
            height *= 2
        elif kind == "LRN":
            y = sym.LRN(y, nsize=3, alpha=0.2, name=name)
        elif kind == "Pad":
            y, height = sym.Pad(y, mode="edge", pad_width=(0, 0, 0, 0, 1, 2, 0, 0)), height + 3
        elif kind == "split_v2":
            return sym.split_v2(sym.Concat(x, x * 0.5, dim=2), (height,), axis=2)[1], shape
        else:
            options = {"num_groups": channels} if kind == "GroupNorm" else {}
            self.differentiates &= height > 1
            y = getattr(sym, kind)(y, eps=0.01, name=name, **options)
        return sym.squeeze(y, axis=3), (shape[0], channels, height)

    def step(self, value):
        _, shape = value
        kinds = [self.pointwise, self.dense, self.shapes, self.pair, self.along]
        if len(shape) == 3:
            kinds += [self.recurrent] * 5 + [self.sequence, self.image, self.image]
        return self.draw.choice(kinds)(*value)

    def recurrent(self, x, shape):
        makers = [self.cells, self.fused, self.raw] + [self.layer, self.layer] * self.ours
        return self.draw.choice(makers)(x, shape)

    def layer(self, x, shape):
        kind, units = self.draw.choice(["LSTM", "GRU", "RNNLayer"]), self.draw.randint(1, 5)
        layers, both, layout = (self.draw.randint(1, 3), self.draw.random() < 0.4,
                                self.draw.choice(["NTC", "TNC"]))
        self.log.append(f"{kind}({units}, layers={layers}, both={both}, {layout})")
        options = {"activation": self.draw.choice(["tanh", "relu"])} if kind == "RNNLayer" else {}
        directions = 2 if both else 1
        if self.draw.random() < 0.3:
            for state in "hc"[: 2 if kind == "LSTM" else 1]:
                options[state] = self.variable("state", (layers * directions, shape[0], units))
        if self.draw.random() < 0.3 and layers > 1:
            options["p"], self.is_random = 0.25, True
        x = x if layout == "NTC" else self.sym.SwapAxis(x, dim1=0, dim2=1)
        made = getattr(self.sym, kind)(x, num_hidden=units, num_layers=layers, bidirectional=both,
                                       layout=layout, name=self.name(kind.lower()), **options)
        if self.draw.random() < 0.3:  # a last state, [layers * directions, N, units]
            state = self.sym.slice_axis(made[self.draw.randint(1, len(made) - 1)], axis=0, begin=-1,
                                        end=None)
            return self.sym.Reshape(state, shape=(-3, 0)), (shape[0], units)
        y = made[0] if layout == "NTC" else self.sym.SwapAxis(made[0], dim1=0, dim2=1)
        return y, (*shape[:2], directions * units)

    def fused(self, x, shape):
        mode, units = self.draw.choice(["lstm", "gru", "rnn_tanh",
                                        "rnn_relu"]), self.draw.randint(1, 5)
        layers, both = self.draw.randint(1, 2), self.draw.random() < 0.4
        self.log.append(f"FusedRNNCell({mode}, {units}, layers={layers}, both={both})")
        cell = self.rnn.FusedRNNCell(units, num_layers=layers, mode=mode, bidirectional=both,
                                     prefix=self.name("fused") + "_")
        y, _ = cell.unroll(shape[1], x, layout="NTC", merge_outputs=True)
        return y, (*shape[:2], (2 if both else 1) * units)

    def raw(self, x, shape):
        mode, units = self.draw.choice(["lstm", "gru", "rnn_tanh",
                                        "rnn_relu"]), self.draw.randint(1, 5)
        layers, both, name = self.draw.randint(1, 2), self.draw.random() < 0.4, self.name("raw")
        self.log.append(f"RNN({mode}, {units}, layers={layers}, both={both})")
        directions = 2 if both else 1
        states = {}
        if not self.ours or self.draw.random() < 0.4:
            for state in ("state", "state_cell")[: 2 if mode == "lstm" else 1]:
                states[state] = self.variable("state", (layers * directions, shape[0], units))
        made = self.sym.RNN(data=self.sym.SwapAxis(x, dim1=0, dim2=1),
                            parameters=self.sym.Variable(f"{name}_parameters"), state_size=units,
                            num_layers=layers, mode=mode, bidirectional=both,
                            state_outputs=self.draw.random() < 0.5, name=name, **states)
        return self.sym.SwapAxis(made[0], dim1=0, dim2=1), (*shape[:2], directions * units)

    def cells(self, x, shape):
        stack, units, prefix = (self.rnn.SequentialRNNCell(), self.draw.randint(1, 4),
                                self.name("cell"))
        width = shape[2]
        for number in range(self.draw.randint(1, 2)):
            kind = self.draw.choice(["lstm", "gru", "rnn", "both", "residual", "zoneout",
                                     "dropout"])
            self.log.append(kind)
            own = f"{prefix}_{number}_"
            if kind == "both":
                stack.add(self.rnn.BidirectionalCell(self.rnn.LSTMCell(units, prefix=own + "l_"),
                                                     self.rnn.GRUCell(units, prefix=own + "r_"),
                                                     output_prefix=own))
                width = 2 * units
            elif kind == "residual":
                stack.add(self.rnn.ResidualCell(self.rnn.GRUCell(width, prefix=own)))
            elif kind == "zoneout":
                stack.add(self.rnn.ZoneoutCell(self.rnn.LSTMCell(units, prefix=own),
                                               zoneout_outputs=0.2, zoneout_states=0.2))
                width, self.is_random = units, True
            elif kind == "dropout":
                stack.add(self.rnn.DropoutCell(0.3, prefix=own))
                self.is_random = True
            else:
                cell = {"lstm": self.rnn.LSTMCell, "gru": self.rnn.GRUCell,
                        "rnn": self.rnn.RNNCell}[kind]
                stack.add(cell(units, prefix=own))
                width = units
        y, _ = stack.unroll(shape[1], x, layout="NTC", merge_outputs=True)
        return y, (*shape[:2], width)

    def pointwise(self, x, shape):
        if self.draw.random() < 0.3:
            number = self.draw.randrange(len(SCALARS))
            self.log.append(f"scalar {number}")
            return SCALARS[number](x), shape
        kind = self.draw.choice(POINTWISE + OURS * self.ours)
        self.log.append(kind)
        # MXNet takes the derivative at the output, not at the input
        self.differentiates &= kind != "selu"
        sym = self.sym
        special = {"log1p_abs": lambda: sym.log1p(sym.abs(x)),
                   "rsqrt_abs": lambda: sym.rsqrt(sym.abs(x) + 1.0),
                   "clip": lambda: sym.clip(x, a_min=-0.4, a_max=0.6),
                   "smooth_l1": lambda: sym.smooth_l1(x, scalar=2.0),
                   "leaky": lambda: sym.LeakyReLU(x, act_type="leaky", slope=0.1),
                   "elu": lambda: sym.LeakyReLU(x, act_type="elu", slope=0.7),
                   "selu": lambda: sym.LeakyReLU(x, act_type="selu"),
                   "gelu_leaky": lambda: sym.LeakyReLU(x, act_type="gelu"),
                   "Activation_mish": lambda: sym.Activation(x, act_type="mish"),
                   "Activation": lambda: sym.Activation(x, act_type=self.draw.choice(
                       ["relu", "sigmoid", "softrelu", "softsign", "tanh"]))}
        return special.get(kind, lambda: getattr(sym, kind)(x))(), shape

    def dense(self, x, shape):
        units, flatten = self.draw.randint(1, 5), self.draw.random() < 0.3
        self.log.append(f"FullyConnected(flatten={flatten})")
        y = self.sym.FullyConnected(x, num_hidden=units, flatten=flatten,
                                    no_bias=self.draw.random() < 0.3, name=self.name("fc"))
        return y, (shape[0], units) if flatten else (*shape[:-1], units)

    def shapes(self, x, shape):
        sym, last = self.sym, len(shape) - 1
        kind = self.draw.choice(["concat", "split", "slice", "slice_axis", "reverse", "tile",
                                 "repeat", "expand", "reshape", "stack", "broadcast", "flatten"])
        self.log.append(kind)
        if kind == "concat":
            return sym.Concat(x, sym.square(x), dim=last), (*shape[:-1], 2 * shape[-1])
        if kind == "split":
            parts = sym.SliceChannel(sym.Concat(x, x * 2.0, dim=-1), num_outputs=2, axis=last)
            return parts[1], shape
        if kind == "slice":
            return sym.slice(x, begin=(None,) * last + (0,), end=(None,) * last + (shape[-1],),
                             step=(1,) * last + (2,)), (*shape[:-1], (shape[-1] + 1) // 2)
        if kind == "slice_axis":
            begin = self.draw.randrange(shape[-1])
            return sym.slice_axis(x, axis=-1, begin=begin, end=None), (
                *shape[:-1], shape[-1] - begin)
        if kind == "reverse":
            return sym.reverse(x, axis=last), shape
        if kind == "tile":
            return sym.tile(x, reps=(1,) * last + (2,)), (*shape[:-1], 2 * shape[-1])
        if kind == "repeat":
            return sym.repeat(x, repeats=2, axis=last), (*shape[:-1], 2 * shape[-1])
        if kind == "expand":
            return sym.squeeze(sym.expand_dims(x, axis=1), axis=1), shape
        if kind == "reshape":
            return sym.Reshape(sym.Reshape(x, shape=(-1, shape[-1])),
                               shape=(*shape[:-1], -1)), shape
        if kind == "stack":
            return sym.sum(sym.stack(x, x * 0.5, axis=1), axis=1), shape
        if kind == "broadcast":
            return sym.broadcast_mul(x, sym.broadcast_to(sym.expand_dims(sym.sum(x, axis=last),
                                                                         axis=last),
                                                         shape=(0,) * last + (shape[-1],))), shape
        whole = int(np.prod(shape[1:]))
        return sym.Flatten(x), (shape[0], whole)

    def pair(self, x, shape):
        sym = self.sym
        kind = self.draw.choice(["elemwise_add", "elemwise_mul", "broadcast_add", "broadcast_mul",
                                 "broadcast_maximum", "maximum", "where", "broadcast_hypot", "dot",
                                 "batch_dot"])
        self.log.append(kind)
        if kind.startswith("elemwise"):
            return getattr(sym, kind)(x, sym.tanh(x)), shape
        if kind.startswith("broadcast"):
            weight = self.variable("bias", (1,) * (len(shape) - 1) + (shape[-1],), lr_mult=0.5,
                                   init=self.mx.init.Normal(0.1))
            return getattr(sym, kind)(x, weight), shape
        if kind == "maximum":
            return sym.maximum(x, sym.cos(x)), shape
        if kind == "where":
            return sym.where(x > 0.1, x, sym.exp(x)), shape
        if kind == "dot" and len(shape) == 2:
            return sym.dot(x, self.variable("matrix", (shape[-1], 3))), (shape[0], 3)
        if kind == "batch_dot" and len(shape) == 3:
            return sym.batch_dot(x, sym.batch_dot(x, x, transpose_a=True)), shape
        return sym.elemwise_sub(x, sym.sin(x)), shape

    def along(self, x, shape):
        sym, last = self.sym, len(shape) - 1
        kind = self.draw.choice(["softmax", "log_softmax", "LayerNorm", "BatchNorm",
                                 "L2Normalization", "mean", "max", "argmax", "norm", "Dropout",
                                 "sort", "topk", "pick", "BlockGrad"])
        self.log.append(kind)
        if kind == "LayerNorm":
            return sym.LayerNorm(x, axis=-1, eps=self.draw.choice([1e-5, 1e-3]),
                                 name=self.name("norm")), shape
        if kind == "BatchNorm":
            # of one row the variance is 0, and its gradient noise
            self.differentiates &= int(np.prod(shape[:-1])) > 2
            return sym.BatchNorm(x, axis=last, fix_gamma=self.draw.random() < 0.5,
                                 use_global_stats=self.draw.random() < 0.3, eps=0.01,
                                 name=self.name("batchnorm")), shape
        if kind == "L2Normalization":
            return sym.L2Normalization(x, mode="instance"), shape
        if kind in ("mean", "max", "norm"):
            y = getattr(sym, kind)(x, axis=last, keepdims=True)
            return sym.broadcast_sub(x, y), shape
        if kind == "argmax":
            self.differentiates = False
            return sym.broadcast_add(x, sym.expand_dims(sym.argmax(x, axis=last), axis=last)), shape
        if kind == "Dropout":
            self.is_random = True
            return sym.Dropout(x, p=0.4), shape
        if kind == "sort":
            self.differentiates = False  # MXNet's gradient fails
            return sym.sort(x, axis=-1, is_ascend=self.draw.random() < 0.5), shape
        if kind == "topk":
            k = self.draw.randint(1, shape[-1])
            return sym.topk(x, axis=-1, k=k, ret_typ="value"), (*shape[:-1], k)
        if kind == "pick":
            at = self.input("at", shape[:-1], below=shape[-1])
            return sym.pick(x, at, axis=last, keepdims=True), (*shape[:-1], 1)
        return getattr(sym, kind)(x), shape

    def sequence(self, x, shape):
        sym = self.sym
        kind = self.draw.choice(["SequenceMask", "SequenceLast", "SequenceReverse", "swap"])
        self.log.append(kind)
        if kind == "swap":
            return sym.transpose(x, axes=(0, 2, 1)), (shape[0], shape[2], shape[1])
        length = self.input("length", (shape[0],), below=shape[1]) + 1.0
        if kind == "SequenceLast":
            return sym.SequenceLast(x, length, use_sequence_length=True, axis=1), (
                shape[0], shape[2])
        if kind == "SequenceMask":
            return sym.SequenceMask(x, length, use_sequence_length=True, axis=1, value=-0.5), shape
        y = sym.SequenceReverse(sym.SwapAxis(x, dim1=0, dim2=1), length, use_sequence_length=True)
        return sym.SwapAxis(y, dim1=0, dim2=1), shape

    def head(self, seen):
        sym, (x, shape) = self.sym, seen[-1]
        kind = self.draw.choice(["SoftmaxOutput", "LinearRegressionOutput",
                                 "LogisticRegressionOutput", "MAERegressionOutput", "MakeLoss",
                                 "softmax_cross_entropy",
                                 "SVMOutput", "group"])
        self.log.append(kind)
        classes = 4
        if kind in ("SoftmaxOutput", "SVMOutput", "softmax_cross_entropy"):
            x = sym.FullyConnected(x, num_hidden=classes, flatten=False, name="pred")
            rows = int(np.prod(shape[:-1]))
            x = sym.Reshape(x, shape=(-1, classes)) if len(shape) > 2 else x
            label = self.input("label", (rows,), below=classes)
            options = {}
            if kind == "SoftmaxOutput":
                options = {"normalization": self.draw.choice(["null", "batch", "valid"]),
                           "grad_scale": self.draw.choice([1.0, 0.5])}
                if self.draw.random() < 0.4:
                    options.update(use_ignore=True, ignore_label=1)
            if kind == "softmax_cross_entropy":
                self.differentiates = False  # MXNet's gradient ignores the head gradient
                x = sym.tanh(x)  # MXNet's probabilities are at least 1e-8
            return getattr(sym, kind)(x, label, name="loss", **options)
        if kind.endswith("Output"):
            label = self.input("label", shape)
            return getattr(sym, kind)(x, label, grad_scale=self.draw.choice([1.0, 2.0]),
                                      name="loss")
        if kind == "MakeLoss":
            return sym.MakeLoss(sym.mean(sym.square(x), axis=tuple(range(1, len(shape)))),
                                name="loss")
        return sym.Group([sym.identity(y) for y, _ in seen[-2:]])


def weights_of(symbol, inputs, rng):
    """Arrays for all arguments but the inputs, and for auxiliary states, drawn in the order of
    their names."""
    shapes, _, states = symbol.infer_shape(**{name: value.shape for name, value in inputs.items()})
    known = {**dict(zip(symbol.list_arguments(), shapes)),
             **dict(zip(symbol.list_auxiliary_states(), states))}
    draw = lambda shape: (
        (rng.uniform(PROBE, 0.7, shape) * rng.choice([-1, 1], shape)).astype(np.float32))
    return {name: np.abs(draw(known[name])) if name.endswith("_var") else draw(known[name])
            for name in sorted(known) if name not in inputs}


def run(library, symbol, values, inputs, gradients):
    """[outputs], and {weight: gradient}."""
    array = lambda value: library.nd.array(value, dtype=value.dtype)
    given = {name: array(values[name]) for name in symbol.list_arguments()}
    wanted = ({name: array(np.zeros_like(values[name])) for name in given if name not in inputs}
              if gradients else {})
    states = {name: array(values[name]) for name in symbol.list_auxiliary_states()}
    executor = symbol.bind(library.cpu(), args=given, args_grad=wanted,
                           grad_req={name: "write" if name in wanted else "null" for name in given},
                           aux_states=states)
    outputs = [each.asnumpy() for each in executor.forward(is_train=False)]
    if not gradients:
        return outputs, {}
    ones = [array(np.ones_like(each)) for each in outputs]
    executor.forward(is_train=True)
    executor.backward(ones)
    return outputs, {name: each.asnumpy() for name, each in wanted.items()}


def difference(one, two):
    if one.shape != two.shape:
        return f"shape {one.shape} and {two.shape}"
    one, two = one.astype(np.float64), two.astype(np.float64)
    if not (np.isfinite(one) == np.isfinite(two)).all():
        return "finite in one alone"
    finite = np.isfinite(one)
    size = max(1.0, np.abs(one[finite]).max(initial=0))
    apart = np.abs(one - two)[finite].max(initial=0) / size
    return f"{apart:.1e} apart" if apart > BOUND else None


class Finding(Exception):
    pass


def moved(source, target, symbol, values, inputs, folder):
    """The symbol and the weights after reading by the other library."""
    prefix = os.path.join(folder, "net")
    weights = {name: source.nd.array(value, dtype=value.dtype) for name, value in values.items()
               if name not in inputs}
    states = {name: weights.pop(name) for name in symbol.list_auxiliary_states() if name in weights}
    source.model.save_checkpoint(prefix, 1, symbol, weights, states)
    loaded, arguments, auxiliary = target.model.load_checkpoint(prefix, 1)
    read = {name: value.asnumpy() for name, value in {**arguments, **auxiliary}.items()}
    return loaded, {**read, **inputs}


def compare(source, target, symbol, values, inputs, gradients, folder):
    loaded, read = moved(source, target, symbol, values, inputs, folder)
    names = sorted(loaded.list_arguments() + loaded.list_auxiliary_states())
    if names != sorted(read):
        raise Finding(f"arguments are {names}, the files have {sorted(read)}")
    shapes, _, _ = loaded.infer_shape(**{name: value.shape for name, value in inputs.items()})
    for name, shape in zip(loaded.list_arguments(), shapes):
        if tuple(shape) != read[name].shape:
            raise Finding(f"{name} is inferred as {tuple(shape)}, and has {read[name].shape}")
    before = run(source, symbol, values, inputs, gradients)
    after = run(target, loaded, read, inputs, gradients)
    for number, (one, two) in enumerate(zip(before[0], after[0])):
        if problem := difference(one, two):
            raise Finding(f"output {number}: {problem}")
    if len(before[0]) != len(after[0]):
        raise Finding(f"{len(before[0])} and {len(after[0])} outputs")
    for name in before[1]:
        if problem := difference(before[1][name], after[1][name]):
            raise Finding(f"gradient of {name}: {problem}")


def block(seed):
    """Exports a Gluon block: (its name, the inputs, its outputs), with the files in the folder."""
    draw, rng = random.Random(seed), np.random.default_rng(seed)
    gluon = mxnet.gluon
    units, layers, both = draw.randint(1, 5), draw.randint(1, 3), draw.random() < 0.4
    kind, layout = draw.choice([gluon.rnn.LSTM, gluon.rnn.GRU,
                                gluon.rnn.RNN]), draw.choice(["NTC", "TNC"])
    net = gluon.nn.HybridSequential()
    net.add(kind(units, layers, layout=layout, bidirectional=both, input_size=draw.choice([0, 3]),
                 dropout=draw.choice([0, 0.2])))
    if draw.random() < 0.6:
        net.add(gluon.nn.LayerNorm())
    if draw.random() < 0.5:
        net.add(gluon.nn.BatchNorm(axis=-1, epsilon=0.01))
    if draw.random() < 0.6:
        net.add(gluon.nn.Dense(draw.randint(1, 4), flatten=draw.random() < 0.3,
                               activation=draw.choice([None, "relu", "tanh", "sigmoid"])))
    net.add(gluon.nn.Dropout(0.3))
    log = f"{kind.__name__}({units}, {layers}, both={both}, {layout}) and {len(net) - 1} more"
    net.initialize(mxnet.init.Uniform(0.7))
    net.hybridize()
    x = rng.uniform(-1, 1, (3, 2, 3)).astype(np.float32)
    return net, log, x, net(mxnet.nd.array(x)).asnumpy()


def exported(seed, folder):
    net, log, x, wanted = block(seed)
    net.export(os.path.join(folder, "block"), 0)
    symbol, weights, states = lstmc.model.load_checkpoint(os.path.join(folder, "block"), 0)
    weights.update(states)
    [name] = [each for each in symbol.list_arguments() if each not in weights]
    session = lstmc.Network(symbol).compile({name: x.shape}).session(
        {key: value.asnumpy() for key, value in weights.items()})
    got = [*session.run({name: x}).values()]
    if problem := difference(wanted, got[0]):
        raise Finding(f"{log}: {problem}")


def trained(library, first, data):
    """Parameters and outputs of a Gluon block with BatchNorm after four updates from `first`, of
    which every layer has its part in the order of its parameters."""
    gluon = library.gluon
    net = gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(gluon.nn.Dense(4, flatten=False), gluon.nn.BatchNorm(axis=-1, momentum=0.6),
                gluon.nn.Dense(3))
    net.initialize()
    net(library.nd.array(data))
    for number, parameter in enumerate(net.collect_params().values()):
        if "running" not in parameter.name:
            parameter.set_data(library.nd.array(np.resize(first[number:], parameter.shape)))
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05})
    for number in range(4):
        with library.autograd.record():
            loss = net(library.nd.array(data * (1 + number / 4))).square().sum()
        loss.backward()
        trainer.step(len(data))
    found = {name: parameter.data().asnumpy() for name, parameter in net.collect_params().items()}
    return {**found, "output": net(library.nd.array(data)).asnumpy()}


def of_gluon():
    """[(what, problem)] of the same training in both."""
    draw = np.random.default_rng(11)
    first, data = draw.uniform(-0.7, 0.7, 40).astype("f4"), draw.normal(size=(6, 3, 5)).astype("f4")
    ours, theirs = (trained(library, first, data) for library in (lstmc, mxnet))
    found = [(f"BatchNorm of Gluon: {name}", difference(ours[name], theirs[name]))
             for name in theirs]
    return [(what, problem) for what, problem in found if problem]


def of_checkpoints(folder):
    """Checkpoints of FusedRNNCells, split by gate, in both directions: [(what, problem)]."""
    findings, rng = [], np.random.default_rng(3)
    data = rng.uniform(-1, 1, (2, 3, 4)).astype(np.float32)
    for source, target in ((lstmc, mxnet), (mxnet, lstmc)):
        for mode in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
            for layers, both in ((1, False), (2, True)):
                made = [library.rnn.FusedRNNCell(5, num_layers=layers, mode=mode,
                                                 bidirectional=both, prefix=f"{mode}_")
                        for library in (source, target)]
                net, _ = made[0].unroll(3, source.sym.Variable("data"), layout="NTC",
                                        merge_outputs=True)
                weights = weights_of(net, {"data": data}, rng)
                prefix = os.path.join(folder, "fused")
                try:
                    arrays = {name: source.nd.array(value) for name, value in weights.items()}
                    source.rnn.save_rnn_checkpoint(made[0], prefix, 1, net, arrays, {})
                    loaded, read, _ = target.rnn.load_rnn_checkpoint(made[1], prefix, 1)
                    values = {**{name: value.asnumpy() for name, value in read.items()},
                              "data": data}
                    wanted = (
                        run(source, net, {**weights, "data": data}, {"data": data}, False)[0][0])
                    problem = difference(wanted,
                                         run(target, loaded, values, {"data": data}, False)[0][0])
                except Exception as error:  # noqa: BLE001, whatever either says
                    problem = str(error).strip().splitlines()[-1][:200]
                if problem:
                    findings.append((f"checkpoint of {source.__name__} with FusedRNNCell({mode}, "
                                     f"layers={layers}, both={both})", problem))
    return findings


def of_command(source, symbol, values, inputs, folder):
    """Has MXNet load what `lstmc export` writes of the net: one of lstmc's as a text of the
    language, one of MXNet's as its file."""
    prefix, weights = os.path.join(folder, "made"), os.path.join(folder, "weights.npz")
    np.savez(weights, **{name: value for name, value in values.items() if name not in inputs})
    shapes = {name: value.shape for name, value in inputs.items()}
    if source is lstmc:
        net, words = os.path.join(folder, "net.lnet"), []
        with open(net, "w", encoding="utf-8") as file:
            file.write(symbol.tolnet(**shapes))
    else:
        net = os.path.join(folder, "net-symbol.json")
        words = [word for name, shape in shapes.items()
                 for word in ("--shape", f"{name}:{'x'.join(map(str, shape))}")]
    done = subprocess.run([COMMAND, "export", net, *words, "--params", weights, "-o", prefix,
                           "--to", "mxnet", "-y", "-q"], capture_output=True, text=True)
    if done.returncode:
        raise Finding(f"export: {done.stderr.strip()[:500]}")
    loaded, arguments, auxiliary = mxnet.model.load_checkpoint(prefix, 0)
    read = {name: value.asnumpy() for name, value in {**arguments, **auxiliary}.items()}
    given = {name: value for name, value in inputs.items() if name in loaded.list_arguments()}
    wanted = run(source, symbol, values, inputs, False)[0]
    got = run(mxnet, loaded, {**read, **given}, given, False)[0]
    for number, (one, two) in enumerate(zip(wanted, got)):
        if problem := difference(one, two):
            raise Finding(f"export: output {number}: {problem}")


def of_elsewhere(folder):
    """What the command exports of the networks in shared/data/elsewhere/mxnet, which MXNet made, if
    they are there: [(what, problem)], and their number."""
    nets, findings, count = ROOT.parent / "shared/data/elsewhere/mxnet", [], 0
    for path in sorted(nets.glob("*-symbol.json")):
        name = path.name.removesuffix("-symbol.json")
        stored = np.load(nets / f"{name}-io.npz")
        given = {key[3:]: stored[key] for key in stored.files if key.startswith("in:")}
        shapes = [word for key, value in given.items()
                  for word in ("--shape", f"{key}:{'x'.join(map(str, value.shape))}")]
        prefix = os.path.join(folder, "elsewhere")
        done = subprocess.run([COMMAND, "export", path, *shapes, "--params",
                               nets / f"{name}-0000.params", "-o", prefix, "--to", "mxnet", "-y",
                               "-q"], capture_output=True, text=True)
        if done.returncode:  # an op that there is not, or an input that the file does not list
            continue
        count += 1
        loaded, arguments, auxiliary = mxnet.model.load_checkpoint(prefix, 0)
        read = {key: value.asnumpy() for key, value in {**arguments, **auxiliary}.items()}
        given = {key: value for key, value in given.items() if key in loaded.list_arguments()}
        try:
            got = run(mxnet, loaded, {**read, **given}, given, False)[0]
        except Exception as error:  # noqa: BLE001, whatever MXNet says
            findings.append((f"export of {name}", str(error).strip().splitlines()[-1][:200]))
            continue
        wanted = [stored[key] for key in stored.files if key.startswith("out:")]
        findings += [(f"export of {name}", problem) for one, two in zip(wanted, got)
                     if (problem := difference(one, two))]
    return findings, count


def of_seed(seed, folder):
    if seed % 10 == 5:
        return exported(seed, folder)
    source, target = (lstmc, mxnet) if seed % 2 == 0 else (mxnet, lstmc)
    with source.name.NameManager():
        net = Net(source, seed)
    inputs = {name: value for name, value in net.inputs.items()
              if name in net.symbol.list_arguments()}
    try:
        values = {**weights_of(net.symbol, inputs, net.random), **inputs}
        compare(source, target, net.symbol, values, inputs,
                net.differentiates and not net.is_random, folder)
        of_command(source, net.symbol, values, inputs, folder)
    except Finding as finding:
        raise Finding(f"{', '.join(net.log)}: {finding}") from None


def of_ops(folder):
    """Each op of both, with the inputs and attributes of tests/frontend/python/test_eager.py: [(op,
    problem)]."""
    import test_eager as cases

    findings, count = [], 0
    for record in lstmc._core.operators():
        name = record[0]
        if name in cases.DRAWN or name == "digamma":  # which MXNet lacks
            continue
        inputs, attributes = cases.case_of(record)
        if name != "batch_take":  # whose numbers MXNet wants as integers
            inputs = [value.astype(np.float32) for value in inputs]
        symbol, _ = cases.symbol_of(name, inputs, attributes, gradients=False)
        values = {f"v{number}": value for number, value in enumerate(inputs)}
        given = {key: value for key, value in values.items() if key in symbol.list_arguments()}
        count += 1
        try:
            loaded, _ = moved(lstmc, mxnet, symbol, {}, given, folder)
            wanted = cases.symbolic(name, inputs, attributes)
            got = run(mxnet, loaded, values, given, False)[0]
            for one, two in zip(wanted, got):
                if problem := difference(one, two):
                    findings.append((name, problem))
        except Exception as error:  # noqa: BLE001, whatever MXNet says
            findings.append((name, str(error).strip().splitlines()[-1][:200]))
    return findings, count


def main(first, last):
    failed = 0
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # MXNet prints a line per net there
    with tempfile.TemporaryDirectory() as folder:
        findings, count = of_ops(folder)
        findings += of_checkpoints(folder) + of_gluon()
        exported_findings, exported_count = of_elsewhere(folder)
        findings += exported_findings
        for name, problem in findings:
            print(f"{name}: {problem}")
        print(f"{count} ops to MXNet, 16 checkpoints of fused cells and {exported_count} networks "
              f"of MXNet exported, {len(findings)} findings", flush=True)
        for seed in range(first, last + 1):
            try:
                of_seed(seed, folder)
            except Exception as error:  # noqa: BLE001, whatever either says
                failed += 1
                lines = str(error).strip().splitlines() or [type(error).__name__]
                print(f"seed {seed}: {'; '.join(lines)[:600]}", flush=True)
    print(json.dumps({"seeds": [first, last], "ops": count, "findings": failed + len(findings)}))
    return failed or len(findings)


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]), int(sys.argv[2])) else 0)
