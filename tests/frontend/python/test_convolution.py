"""Convolution, Deconvolution, Pooling, Pad, UpSampling, LRN and normalisations against loops over
NumPy's elements, in float64 and at random; their gradients by differences are tests/e2e/gradients.
`test_convolution.py --seeds A..B` draws more of them."""

import itertools
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import lstmc
from lstmc import sym



def convolved(x, w, b, stride, dilate, pad, groups):
    """The sum over all positions of the kernel and all channels of a filter's group."""
    x = np.pad(x, [(0, 0), (0, 0), *[(p, p) for p in pad]])
    kernel, filters, own = w.shape[2:], w.shape[0], w.shape[1]
    extents = [(e - d * (k - 1) - 1) // s + 1
               for e, k, s, d in zip(x.shape[2:], kernel, stride, dilate)]
    y = np.zeros((x.shape[0], filters, *extents))
    for n, f, *at in np.ndindex(y.shape):
        first = f // (filters // groups) * own
        for c, *k in np.ndindex(w.shape[1:]):
            place = tuple(a * s + i * d for a, s, i, d in zip(at, stride, k, dilate))
            y[(n, f, *at)] += w[(f, c, *k)] * x[(n, first + c, *place)]
    return y + (0 if b is None else b.reshape(1, -1, *[1] * len(kernel)))


def pooled(x, kind, kernel, stride, pad, full, include_pad):
    """MXNet's windows: clipped to data and pad, for the mean without pad to the data."""
    round_ = math.ceil if full else math.floor
    extents = x.shape[2:]
    windows = [round_((e + 2 * p - k) / s) + 1
               for e, k, s, p in zip(extents, kernel, stride, pad)]
    y = np.zeros((*x.shape[:2], *windows))
    for at in np.ndindex(*windows):
        begin = [a * s - p for a, s, p in zip(at, stride, pad)]
        end = [min(b + k, e + p) for b, k, e, p in zip(begin, kernel, extents, pad)]
        inside = tuple(slice(max(b, 0), min(z, e)) for b, z, e in zip(begin, end, extents))
        values = x[(..., *inside)].reshape(*x.shape[:2], -1)
        counted = math.prod((z - b) if include_pad else (s.stop - s.start)
                            for b, z, s in zip(begin, end, inside))
        y[(..., *at)] = (values.max(-1) if kind == "max" else values.sum(-1) if kind == "sum"
                         else values.sum(-1) / counted)
    return y


def spread(x, w, b, stride, dilate, pad, adj, groups):
    """Each element times the kernel, added where the kernel's elements fall."""
    kernel, own = w.shape[2:], w.shape[1]
    whole = [s * (e - 1) + d * (k - 1) + 1 for e, k, s, d in zip(x.shape[2:], kernel, stride,
                                                                 dilate)]
    y = np.zeros((x.shape[0], own * groups, *[e + a for e, a in zip(whole, adj)]))
    for n, c, *at in np.ndindex(x.shape):
        first = c // (x.shape[1] // groups) * own
        for f, *k in np.ndindex(w.shape[1:]):
            place = tuple(a * s + i * d for a, s, i, d in zip(at, stride, k, dilate))
            y[(n, first + f, *place)] += w[(c, f, *k)] * x[(n, c, *at)]
    y = y[(..., *[slice(p, e + a - p) for p, e, a in zip(pad, whole, adj)])]
    return y + (0 if b is None else b.reshape(1, -1, *[1] * len(kernel)))


class Convolution(unittest.TestCase):
    def output(self, symbol, **values):
        package = lstmc.Network(symbol).compile({"data": values["data"].shape}, dtype="f64",
                                                types={"data": "float64"})
        params = {name: value for name, value in values.items() if name != "data"}
        [found] = package.session(params).run({"data": values["data"]}).values()
        return found

    def close(self, found, wanted, of):
        self.assertEqual(found.shape, wanted.shape, of)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12, err_msg=str(of))

    def drawn_convolution(self, seed):
        draw = np.random.default_rng(seed)
        number = lambda least, most: int(draw.integers(least, most + 1))
        count, groups = number(1, 3), number(1, 3)
        kernel = [number(1, 3) for _ in range(count)]
        stride, dilate, pad = ([number(*limits) for _ in range(count)]
                               for limits in ((1, 3), (1, 2), (0, 2)))
        extents = [d * (k - 1) + 1 + number(0, 4) for k, d in zip(kernel, dilate)]
        channels, filters = groups * number(1, 2), groups * number(1, 3)
        x = draw.normal(size=(number(1, 3), channels, *extents))
        w = draw.normal(size=(filters, channels // groups, *kernel))
        b = draw.normal(size=filters) if draw.random() < 0.7 else None
        y = sym.Convolution(sym.Variable("data"), kernel=kernel, stride=stride, dilate=dilate,
                            pad=pad, num_filter=filters, num_group=groups, no_bias=b is None,
                            name="conv")
        values = {"conv_weight": w, **({} if b is None else {"conv_bias": b})}
        self.close(self.output(y, data=x, **values),
                   convolved(x, w, b, stride, dilate, pad, groups), seed)

    def drawn_deconvolution(self, seed):
        draw = np.random.default_rng(seed)
        number = lambda least, most: int(draw.integers(least, most + 1))
        count, groups = number(1, 3), number(1, 2)
        kernel, stride, dilate = ([number(1, most) for _ in range(count)] for most in (3, 3, 2))
        adj = [number(0, s - 1) for s in stride]
        extents = [number(1, 4) for _ in range(count)]
        whole = [s * (e - 1) + d * (k - 1) + 1 for e, k, s, d in zip(extents, kernel, stride,
                                                                     dilate)]
        pad = [number(0, min(2, (e - 1) // 2)) for e in whole]
        channels, filters = groups * number(1, 2), groups * number(1, 3)
        x = draw.normal(size=(number(1, 3), channels, *extents))
        w = draw.normal(size=(channels, filters // groups, *kernel))
        b = draw.normal(size=filters) if draw.random() < 0.7 else None
        options = {"pad": pad, "adj": adj}
        if draw.random() < 0.3:  # from which pad and adj follow
            target = [number(1, e) for e in whole]
            rest = [e - t for e, t in zip(whole, target)]
            options, pad, adj = ({"target_shape": target}, [(r + 1) // 2 for r in rest],
                                 [r % 2 for r in rest])
        y = sym.Deconvolution(sym.Variable("data"), kernel=kernel, stride=stride, dilate=dilate,
                              num_filter=filters, num_group=groups, no_bias=b is None,
                              name="conv", **options)
        values = {"conv_weight": w, **({} if b is None else {"conv_bias": b})}
        self.close(self.output(y, data=x, **values),
                   spread(x, w, b, stride, dilate, pad, adj, groups), seed)

    def drawn_pooling(self, seed):
        draw = np.random.default_rng(seed)
        number = lambda least, most: int(draw.integers(least, most + 1))
        count, kind = number(1, 3), draw.choice(["max", "avg", "sum"]).item()
        kernel = [number(1, 3) for _ in range(count)]
        stride = [number(1, 3) for _ in range(count)]
        pad = [number(0, k - 1) for k in kernel]
        x = draw.normal(size=(number(1, 3), number(1, 3), *[k + number(0, 5) for k in kernel]))
        full, include = bool(number(0, 1)), bool(number(0, 1))
        if any(math.ceil((e + 2 * p - k) / s) * s >= e + p
               for e, k, s, p in zip(x.shape[2:], kernel, stride, pad)):
            full = False  # the last window would have no element of the data
        y = sym.Pooling(sym.Variable("data"), kernel=kernel, stride=stride, pad=pad, pool_type=kind,
                        pooling_convention="full" if full else "valid", count_include_pad=include)
        self.close(self.output(y, data=x),
                   pooled(x, kind, kernel, stride, pad, full, include), seed)

    def drawn_pad(self, seed):
        draw = np.random.default_rng(seed)
        mode = draw.choice(["constant", "edge", "reflect"]).item()
        x = draw.normal(size=draw.integers(3, 6, size=int(draw.integers(3, 6))))
        widths = draw.integers(0, 3, size=(x.ndim, 2))
        widths[:2] = 0
        y = sym.Pad(sym.Variable("data"), mode=mode, pad_width=widths.ravel().tolist(),
                    constant_value=0.25 if mode == "constant" else 0.0)
        more = {"constant_values": 0.25} if mode == "constant" else {}
        wanted = np.pad(x, widths, mode, **more)
        self.close(self.output(y, data=x), wanted, seed)

    def test_drawn(self):
        for seed in range(1, 31):
            for judge in (self.drawn_convolution, self.drawn_deconvolution, self.drawn_pooling,
                          self.drawn_pad):
                with self.subTest(seed=seed, judge=judge.__name__):
                    judge(seed)

    def test_the_whole(self):
        x = np.random.default_rng(3).normal(size=(2, 3, 4, 5))
        for kind, wanted in (("max", x.max((2, 3))), ("avg", x.mean((2, 3))),
                             ("sum", x.sum((2, 3)))):
            y = sym.Pooling(sym.Variable("data"), global_pool=True, pool_type=kind)
            self.close(self.output(y, data=x), wanted[:, :, None, None], kind)

    def test_instance_norm(self):
        draw = np.random.default_rng(4)
        x, gamma, beta = (draw.normal(size=size) for size in ((2, 3, 4, 5), 3, 3))
        y = sym.InstanceNorm(sym.Variable("data"), name="norm")
        mean, variance = (f(x, axis=(2, 3), keepdims=True) for f in (np.mean, np.var))
        wanted = (x - mean) / np.sqrt(variance + 1e-3) * gamma[:, None, None] + beta[:, None, None]
        self.close(self.output(y, data=x, norm_gamma=gamma, norm_beta=beta), wanted, "norm")

    def test_group_norm(self):
        draw = np.random.default_rng(6)
        x, gamma, beta = (draw.normal(size=size) for size in ((2, 6, 4, 5), 3, 3))
        rows = x.reshape(2, 3, -1)
        mean, deviation = rows.mean(-1), np.sqrt(rows.var(-1) + 1e-3)
        wanted = ((rows - mean[..., None]) / deviation[..., None] * gamma[:, None]
                  + beta[:, None]).reshape(x.shape)
        y = sym.GroupNorm(sym.Variable("data"), num_groups=3, eps=1e-3, output_mean_var=True,
                          name="norm")
        values = {"norm_gamma": gamma, "norm_beta": beta}
        for number, each in enumerate((wanted, mean, deviation)):
            self.close(self.output(y[number], data=x,
                                   **{name: value for name, value in values.items()
                                      if name in y[number].list_arguments()}), each, number)

    def test_lrn(self):
        x = np.random.default_rng(7).normal(size=(2, 5, 3, 2))
        for size in (1, 3, 7):
            wanted = np.zeros_like(x)
            for c in range(5):
                beside = x[:, max(0, c - size // 2) : c + size // 2 + 1]
                wanted[:, c] = x[:, c] * (1.5 + 0.3 / size * (beside ** 2).sum(1)) ** -0.6
            y = sym.LRN(sym.Variable("data"), nsize=size, alpha=0.3, beta=0.6, knorm=1.5)
            self.close(self.output(y, data=x), wanted, size)

    def test_up_sampling(self):
        x = np.random.default_rng(8).normal(size=(2, 3, 2, 3))
        big = x.repeat(2, 2).repeat(2, 3)
        data = sym.Variable("data")
        options = {"scale": 2, "sample_type": "nearest"}
        self.close(self.output(sym.UpSampling(data, **options), data=x), big, "one")
        twice = sym.UpSampling(data, sym.UpSampling(data, **options), **options)
        self.close(self.output(twice, data=x), np.concatenate([big, big], 1), "concat")
        twice = sym.UpSampling(data, sym.UpSampling(data, **options), multi_input_mode="sum",
                               **options)
        self.close(self.output(twice, data=x), 2 * big, "sum")

    def test_split_v2(self):
        x = np.random.default_rng(9).normal(size=(3, 6))
        data = sym.Variable("data")
        for at, axis in (((1, 3), 1), (3, 1), (3, 0), ((2,), -1)):
            parts = sym.split_v2(data, at, axis=axis)
            for number, wanted in enumerate(np.split(x, at, axis)):
                self.close(self.output(parts[number], data=x), wanted, (at, axis, number))
            eager = lstmc.nd.split_v2(lstmc.nd.array(x, dtype="float64"), at, axis=axis)
            for one, two in zip(eager, np.split(x, at, axis)):
                np.testing.assert_array_equal(one.asnumpy(), two)
        rows = sym.split_v2(data, 3, axis=0, squeeze_axis=True)
        self.close(self.output(rows[1], data=x), x[1], "squeezed")

    def test_small_ops(self):
        x = np.random.default_rng(5).normal(size=(4, 3, 5))
        data = sym.Variable("data")
        for symbol, wanted in (
                (sym.argmax_channel(data), x.argmax(1).astype(float)),
                (getattr(sym, "_contrib_div_sqrt_dim")(data), x / np.sqrt(5)),
                (sym.amp_cast(data, dtype="float16"), x),
                (sym.batch_take(sym.reshape(data, shape=(12, 5)),
                                sym.Cast(sym.argmax(sym.reshape(data, shape=(12, 5)), axis=1),
                                         dtype="int32")), x.reshape(12, 5).max(1))):
            self.close(self.output(symbol, data=x), wanted, symbol.name)

    def test_of_equal_maxima_the_first_gets_the_gradient(self):
        data = sym.Variable("data")
        loss = sym.MakeLoss(sym.sum(sym.Pooling(data, kernel=(2, 2), stride=(2, 2))))
        executor = loss.simple_bind(lstmc.cpu(), data=(1, 1, 2, 4), grad_req="write")
        executor.forward(is_train=True, data=lstmc.nd.array(np.zeros((1, 1, 2, 4), "float32")))
        executor.backward()
        np.testing.assert_array_equal(executor.grad_dict["data"].asnumpy().ravel(),
                                      [1, 0, 1, 0, 0, 0, 0, 0])


LENET = """\
N = dim("batch", 8)

def lenet(data: float32[N, 1, 12, 12], label: float32[N]):
    x = Activation(Convolution(data, kernel=(3, 3), num_filter=4, name="conv1"), act_type="tanh")
    x = Pooling(x, kernel=(2, 2), stride=(2, 2))
    x = Convolution(x, kernel=(3, 3), num_filter=6, pad=(1, 1), num_group=2, name="conv2")
    x = Pooling(Activation(x, act_type="relu"), kernel=(3, 3), stride=(2, 2), pad=(1, 1),
                pool_type="avg", pooling_convention="full")
    return SoftmaxOutput(FullyConnected(x, num_hidden=5, name="fc"), label, name="softmax")

fit(lenet, optimizer="sgd", learning_rate=0.05, momentum=0.9, initializer=Xavier())
"""


class Devices(unittest.TestCase):
    def test_the_same_weights_on_any_devices(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "n.lnet").write_text(LENET)
            ends = {}
            for number, way in enumerate(([], ["-d", "2xcpu"], ["-d", "4xcpu"], ["-d", "emu"],
                                          ["-d", "2xemu"], ["--accumulate", "2"], ["-t", "1"],
                                          ["-d", "2xcpu", "--place", "auto=2"],
                                          ["--recompute", "conv1"])):
                done = subprocess.run(
                    [os.environ["LSTMC"], "train", "n.lnet", "--data", "random:1,classes=5",
                     "--after", "6u", "-o", f"ck{number}", *way], cwd=folder, capture_output=True,
                    text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                ends[" ".join(way)] = done.stdout.split("weights ")[-1].split()[0]
            self.assertEqual(len(set(ends.values())), 1, ends)


def at_random(first, last):
    found, case = 0, Convolution()
    judges = (case.drawn_convolution, case.drawn_deconvolution, case.drawn_pooling,
              case.drawn_pad)
    for seed, judge in itertools.product(range(first, last + 1), judges):
        try:
            judge(seed)
        except Exception as error:
            found += 1
            print(judge.__name__, seed, error, flush=True)
    print(f"{len(judges) * (last - first + 1)} calls drawn, {found} not NumPy's")
    return found


if __name__ == "__main__":
    if "--seeds" in sys.argv:
        given = sys.argv[sys.argv.index("--seeds") + 1].split("..")
        sys.exit(1 if at_random(int(given[0]), int(given[-1])) else 0)
    unittest.main()
