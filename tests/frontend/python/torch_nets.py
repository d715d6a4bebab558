#!/usr/bin/env python3
"""Modules of PyTorch made at random, through from_torch: `torch_nets.py A B` for the seeds A to B.
A module computes with the weights and inputs of PyTorch itself, whose results are the judge of
four: outputs, outputs of another batch, gradients of the weights, and the text that `save` writes.
What a module calls and from_torch does not have is refused (E0215), which is no finding; all else
is."""

import collections
import math
import os
import random
import sys
import tempfile
import warnings

import numpy
import torch
import torch.nn as nn
import torch.nn.functional as F

import lstmc

# Not a proven bound, which is impossible for an unknown module: roundings of double precision,
# 1e-16, may grow by 10^9 on their way through a module, and a wrong axis, gate or gradient differs
# by far more. Relative to the largest number.
BOUND = 1e-7

POINTWISE = [torch.relu, torch.sigmoid, torch.tanh, torch.exp, torch.abs, torch.square, torch.sin,
             torch.atan, torch.erf, torch.floor, torch.round, torch.sign, torch.expm1, torch.neg,
             F.gelu, F.silu, F.softplus, F.elu, F.selu, F.celu, F.leaky_relu, F.mish, F.hardtanh,
             F.relu6, F.hardswish, F.hardsigmoid, F.softsign, F.logsigmoid, F.tanhshrink,
             lambda x: F.gelu(x, approximate="tanh"), lambda x: F.threshold(x, 0.1, 0.7),
             lambda x: x.clamp(min=0.1), lambda x: x.clamp(max=0.3), lambda x: x.clamp(-0.2, 0.4),
             lambda x: torch.log(x.abs() + 1), lambda x: torch.rsqrt(x * x + 1), lambda x: x**2,
             lambda x: 2**x, lambda x: 1 / (x.abs() + 1), lambda x: x / 3, lambda x: 1 - x,
             lambda x: torch.add(x, x, alpha=3), torch.nan_to_num,
             lambda x: x.masked_fill(x > 0, 0.5), lambda x: torch.where(x > 0, x, x * 0.1),
             lambda x: (x > 0).to(x.dtype) * x, lambda x: torch.lerp(x, -x, 0.3),
             lambda x: torch.ones_like(x) - x, lambda x: (x * 3).long().to(x.dtype) + x,
             lambda x: x + torch.tensor([1.0, 2.0], dtype=x.dtype)[0],
             lambda x: torch.maximum(x, -x), lambda x: x * torch.arange(x.shape[-1]).to(x.dtype)]
ALONG = [  # along an axis that stays
         lambda x, d: F.softmax(x, d), lambda x, d: F.log_softmax(x, d),
         lambda x, d: F.softmin(x, d), lambda x, d: x.flip(d), lambda x, d: torch.roll(x, 1, d),
         lambda x, d: x.cumsum(d), lambda x, d: F.normalize(x, dim=d),
         lambda x, d: x - x.logsumexp(d, keepdim=True), lambda x, d: x.sort(d)[0],
         lambda x, d: x - x.mean(), lambda x, d: x / (x.std(d, unbiased=False, keepdim=True) + 1),
         lambda x, d: torch.cat(x.chunk(2, d)[::-1], d)]
REDUCTIONS = [lambda x, d, keep: x.sum(d, keep), lambda x, d, keep: x.mean(d, keep),
              lambda x, d, keep: x.max(d, keep)[0], lambda x, d, keep: x.min(d, keep)[0],
              lambda x, d, keep: x.var(d, unbiased=False, keepdim=keep),
              lambda x, d, keep: x.norm(dim=d, keepdim=keep), lambda x, d, keep: x.prod(d, keep),
              lambda x, d, keep: x.logsumexp(d, keep),
              lambda x, d, keep: (x > 0).any(d, keep).to(x.dtype),
              lambda x, d, keep: (x > 0).all(d, keep).to(x.dtype),
              lambda x, d, keep: x.std(d, unbiased=False, keepdim=keep),
              lambda x, d, keep: x.norm(1, d, keep), lambda x, d, keep: x.norm(3, d, keep),
              lambda x, d, keep: x.norm(math.inf, d, keep), lambda x, d, keep: x.norm(0, d, keep),
              lambda x, d, keep: x.argmax(d, keep).to(x.dtype),
              lambda x, d, keep: (x > 0).sum(d, keep) / 2, lambda x, d, keep: x.topk(1, d)[0]]
SHAPES = [lambda x, d: x.transpose(d, 0), lambda x, d: x.transpose(d, -1),
          lambda x, d: x.permute(*range(x.dim() - 1, -1, -1)), lambda x, d: x.flatten(d),
          lambda x, d: x.unsqueeze(d),
          lambda x, d: x.unsqueeze(d).expand(*x.shape[:d], 2, *x.shape[d:]),
          lambda x, d: x.repeat(*[2 if i == d else 1 for i in range(x.dim())]),
          lambda x, d: x.reshape(x.shape[0], -1), lambda x, d: torch.stack([x, x * 2], d),
          lambda x, d: x.movedim(d, 0), lambda x, d: x.unflatten(d, (1, -1)),
          lambda x, d: x.select(d, -1), lambda x, d: x.narrow(d, 0, (x.shape[d] + 1) // 2),
          lambda x, d: x.unbind(d)[0], lambda x, d: torch.cat([x, x * x], d),
          lambda x, d: x[..., ::2], lambda x, d: x[..., -2:], lambda x, d: x[..., :99],
          lambda x, d: x[..., [0, -1]], lambda x, d: F.pad(x, (1, 2))]
PRODUCTS = [
    lambda x: x @ x.mT, lambda x: torch.softmax(x @ x.mT, -1) @ x,
    lambda x: torch.einsum("...i,...j->...ij", x, x), lambda x: x.unsqueeze(-1) * x.unsqueeze(-2),
    lambda x: x.gather(-1, x.argmax(-1, keepdim=True)),
    lambda x: F.one_hot(x.argmax(-1), x.shape[-1]).to(x.dtype)]
PAIRS = [
    torch.add, torch.sub, torch.mul, torch.maximum, torch.hypot, lambda x, y: x / (y.abs() + 1),
    lambda x, y: torch.where(x > y, x, y), lambda x, y: x * (x > y),
    lambda x, y: torch.pow(x.abs() + 0.1, y), lambda x, y: torch.addcmul(x, x, y, value=0.5),
    lambda x, y: x - y.mean(0)]


class RandomModule(nn.Module):
    """A chain of steps over earlier values; `log` describes each, `shape` is that of the input."""

    def __init__(self, seed):
        super().__init__()
        self.draw = random.Random(seed)
        torch.manual_seed(seed)
        draw = self.draw
        self.parts, self.steps, self.log = nn.ModuleList(), [], []
        self.batch_first, self.words = draw.random() < 0.6, draw.choice([0, 0, 5])
        rows, steps = draw.choice([1, 2, 3]), draw.choice([1, 2, 5])
        self.shape = (rows, steps) if self.batch_first else (steps, rows)
        if self.words:
            embedding = self._part(nn.Embedding(self.words, draw.randint(1, 6)))
            self._add("embedding", lambda values, x: embedding(x), 0)
        else:
            self.shape += (draw.randint(1, 6),)
            self._add("input", lambda values, x: x, 0)
        for _ in range(draw.randint(1, 7)):
            at = draw.randrange(len(self.steps)) if draw.random() < 0.3 else len(self.steps) - 1
            self._step(at, self._values()[at])

    def forward(self, x):
        values = []
        for step in self.steps:
            values.append(step(values, x))
        return values[-1]

    def example(self, rows=None):
        shape = list(self.shape)
        if rows:
            shape[0 if self.batch_first else 1] = rows
        return (torch.randint(0, self.words, shape) if self.words
                else torch.randn(shape, dtype=torch.float64))

    def _values(self):
        values, x = [], self.example()
        with torch.no_grad():
            for step in self.steps:
                values.append(step(values, x))
        return values

    def _part(self, module):
        self.parts.append(module.eval().double())
        return module

    def _add(self, name, step, at):
        self.log.append(f"{len(self.log)}: {name} of {at}")
        self.steps.append(step)

    def _step(self, at, value):
        draw = self.draw
        axes = value.dim()
        sequence = axes == 3 and tuple(value.shape[:2]) == tuple(self.shape[:2])
        kinds = ["pointwise", "pair", "pair"] + ["linear", "linear", "norm", "along", "reduction",
                                                 "shape", "shape"] * (axes > 0)
        kinds += (["product"] * (axes > 1) + ["batch norm"] * (axes == 2)
                  + (["rnn"] * 5 + ["given state"]) * sequence
                  + ["masked"] * 4 * (sequence and self.words > 0))
        kind, axis, keep = draw.choice(kinds), draw.randrange(max(1, axes)), draw.random() < 0.5

        def of(table, *args):
            index = draw.randrange(len(table))
            self._add(f"{kind} {index} {args}",
                      lambda values, x: table[index](values[at], *args), at)

        def by(part, name=""):
            self._part(part)
            self._add(name or type(part).__name__, lambda values, x: part(values[at]), at)

        if kind == "pointwise":
            of(POINTWISE)
        elif kind == "along":
            of(ALONG, axis)
        elif kind == "reduction":
            of(REDUCTIONS, axis - axes * keep, keep)
        elif kind == "shape":
            of(SHAPES, axis)
        elif kind == "product":
            of(PRODUCTS)
        elif kind == "linear":
            by(nn.Linear(value.shape[-1], draw.randint(1, 6), bias=keep))
        elif kind == "norm":
            by(draw.choice([nn.LayerNorm, nn.RMSNorm])(value.shape[-1]))
        elif kind == "batch norm":
            norm = nn.BatchNorm1d(value.shape[-1])
            norm.running_mean.normal_()
            norm.running_var.uniform_(0.5, 2)
            by(norm)
        elif kind == "pair":
            index, others = draw.randrange(len(PAIRS)), [i for i, other in enumerate(self._values())
                                                         if other.shape == value.shape]
            other = draw.choice(others)
            if axes or index < len(PAIRS) - 1:
                self._add(f"pair {index} with {other}",
                          lambda values, x: PAIRS[index](values[at], values[other]), at)
        elif kind == "rnn":
            self._recurrent(at, value.shape[-1],
                            draw.choice(["output", "output", "states", "last"]))
        elif kind == "given state":
            units = draw.randint(1, 6)
            cell = draw.choice([nn.LSTM, nn.GRU, nn.RNN])
            rnn, start = (self._part(cell(value.shape[-1], units, batch_first=self.batch_first)),
                          self._part(nn.Linear(value.shape[-1], units)))

            def given(values, x):
                h = start(values[at].mean(1 if self.batch_first else 0))[None]
                return rnn(values[at], (h, h * 2) if cell is nn.LSTM else h)[0]

            self._add(f"{cell.__name__} from a state", given, at)
        else:
            self._masked(at, value.shape[-1])

    def _recurrent(self, at, width, what):
        draw, cell = self.draw, self.draw.choice([nn.LSTM, nn.GRU, nn.RNN])
        flags = {"num_layers": draw.choice([1, 1, 2, 3]), "bidirectional": draw.random() < 0.3,
                 "bias": draw.random() < 0.8, "batch_first": self.batch_first}
        if cell is nn.RNN:
            flags["nonlinearity"] = draw.choice(["tanh", "relu"])
        rnn = self._part(cell(width, draw.randint(1, 8), **flags))

        def run(values, x):
            y, states = rnn(values[at])
            h = states[0] if cell is nn.LSTM else states
            return y if what == "output" else h if what == "states" else h[-1]

        self._add(f"{what} of {cell.__name__} {flags}", run, at)

    def _masked(self, at, width):
        """An operation on sequences that are padded with the word 0."""
        along = 1 if self.batch_first else 0
        real = lambda x: x != 0  # noqa: E731
        lengths = lambda x: real(x).sum(along).clamp(min=1)  # noqa: E731
        cell = self.draw.choice([nn.LSTM, nn.GRU])
        rnn = self._part(cell(width, 3, self.draw.choice([1, 2]),
                              bidirectional=self.draw.random() < 0.4, batch_first=self.batch_first))

        def last(values, x):
            y = values[at] if self.batch_first else values[at].transpose(0, 1)
            return y[torch.arange(y.shape[0]), lengths(x) - 1]

        def packed(values, x):
            reading = nn.utils.rnn.pack_padded_sequence(
                values[at], lengths(x), batch_first=self.batch_first, enforce_sorted=False)
            y = rnn(reading)[0]
            return nn.utils.rnn.pad_packed_sequence(y, batch_first=self.batch_first,
                                                    total_length=x.shape[along])[0]

        ways = {"product": lambda values, x: values[at] * real(x).unsqueeze(-1),
                "mean": lambda values, x: (values[at] * real(x).unsqueeze(-1)).sum(along)
                / lengths(x).unsqueeze(-1), "largest": lambda values, x: values[at].masked_fill(
                    ~real(x).unsqueeze(-1), -math.inf).max(along)[0].clamp(min=-9),
                "attention": lambda values, x: (torch.softmax(
                    values[at].sum(-1, keepdim=True).masked_fill(~real(x).unsqueeze(-1), -1e9),
                    along) * values[at]).sum(along),
                "count": lambda values, x: values[at] + real(x).cumsum(along).unsqueeze(-1) * 0.1,
                "last": last, "packed": packed}
        way = self.draw.choice(sorted(ways))
        self._add(f"masked {way}", ways[way], at)


def near(found, want):
    """Whether an output has PyTorch's shape and numbers; a scalar tensor has shape (1,) here."""
    found, want = numpy.asarray(found, "float64"), numpy.asarray(want, "float64")
    if found.shape != (want.shape or (1,)) and found.shape != want.shape:
        return False
    found, finite = found.reshape(want.shape), want[numpy.isfinite(want)]
    bound = BOUND * (1 + numpy.abs(finite).max(initial=0))
    with numpy.errstate(invalid="ignore"):
        return bool(((numpy.abs(found - want) <= bound) | (found == want)
                     | (numpy.isnan(found) & numpy.isnan(want))).all())


def judge(seed):
    """"" for a module whose judges agree, else a description, in parentheses if it is no
    finding."""
    try:
        module = RandomModule(seed).eval()
        x = module.example()
        with torch.no_grad():
            want = module(x).numpy()
    except (RuntimeError, IndexError, ValueError) as error:
        return f"(no module: {str(error)[:60]})"
    feed = lambda x: x.numpy().astype("int32") if module.words else x.numpy()  # noqa: E731
    try:
        net = lstmc.from_torch(module, x)
    except lstmc.Error as error:
        return f"({error.message})" if error.code == "E0215" else str(error)
    if not net.shapes:
        return "(no input)"
    name = next(iter(net.shapes))
    [found] = [first] = net.bind().run({name: feed(x)}).values()
    if not near(found, want):
        return (f"outputs: found {found.ravel()[:4]} {found.shape}, want "
                f"{want.ravel()[:4]} {want.shape}")
    more = module.example(x.shape[0 if module.batch_first else 1] + 2)
    try:
        with torch.no_grad():
            want = module(more).numpy()
    except (RuntimeError, IndexError):
        want = None
    if want is not None:
        [found] = net.bind({name: more.shape}).run({name: feed(more)}).values()
        if not near(found, want):
            return (f"another batch: found {found.ravel()[:4]} {found.shape}, want "
                    f"{want.ravel()[:4]} {want.shape}")
    return gradients(module, net, x, name, feed) or text(net, {name: feed(x)}, first)


def gradients(module, net, x, name, feed):
    y = module(x)
    if not y.requires_grad:
        return ""
    (y * y).sum().backward()
    loss = lstmc.sym.MakeLoss(lstmc.sym.sum(lstmc.sym.square(net.symbol)))
    executor = loss.simple_bind(
        grad_req="write", type_dict={key: str(value.dtype) for key, value in net.weights.items()},
        **net.shapes)
    for key, value in {**net.weights, name: feed(x)}.items():
        executor.arg_dict[key][:] = value
    executor.forward(is_train=True)
    executor.backward()
    for path, parameter in module.named_parameters():
        key = path.replace(".", "_")
        if (parameter.grad is not None and key in executor.grad_dict
            and not near(executor.grad_dict[key].asnumpy(), parameter.grad.numpy())):
            return (f"the gradient of {key}: found "
                    f"{executor.grad_dict[key].asnumpy().ravel()[:4]}, want "
                    f"{parameter.grad.numpy().ravel()[:4]}")
    return ""


def text(net, inputs, want):
    """Checks that the network as text has the same bits."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.lnet")
        net.save(path)
        session = lstmc.load(path).compile().session(path[:-5] + ".weights.safetensors"
                                                     if net.weights else None)
        [found] = session.run(inputs).values()
    return ("" if numpy.array_equal(found, want, equal_nan=True)
            else f"the text: found {found.ravel()[:4]}, want {want.ravel()[:4]}")


def main(first, last):
    warnings.filterwarnings("ignore", module="torch|contextlib")
    torch.set_num_threads(1)
    seen, wrong = collections.Counter(), 0
    for seed in range(first, last + 1):
        try:
            said = judge(seed)
        except Exception as error:  # whatever it is, the module is the reproducer
            said = f"{type(error).__name__}: {error}"
        seen[said if said.startswith("(") else "" if not said else "found"] += 1
        if said and not said.startswith("("):
            wrong += 1
            print(f"seed {seed}: {said}", *RandomModule(seed).log, sep="\n    ", flush=True)
    for said, count in seen.most_common():
        print(f"{count:6} {said or 'equal'}")
    return wrong


if __name__ == "__main__":
    sys.exit(1 if main(*map(int, sys.argv[1:3])) else 0)
