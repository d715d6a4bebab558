"""Element-wise functions: within 4 ULP over all floats, tested with values of every exponent, and
the same bits at every CPU level and on an emulated GPU.

LSTMC_NUMBERS=A..B draws other numbers for each seed.
"""
import decimal
import math
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np

L = np.longdouble
D = decimal.Decimal
FIRST, LAST = map(int, os.environ.get("LSTMC_NUMBERS", "0..0").split(".."))


def softplus(x):
    return np.where(x > 0, x, 0) + np.log1p(np.exp(-np.abs(x)))


def mish(x):
    """x tanh(log(1 + e^x)); tanh(log(1 + w)) = (w^2 + 2 w) / (w^2 + 2 w + 2)."""
    w = np.exp(np.minimum(x, 100))
    return np.where(x > 50, x, x * (w * (w + 2) / (w * (w + 2) + 2)))


def normal_tail(a):
    """erfc(a / sqrt(2)) / 2, by its series up to 4 and by its continued fraction beyond."""
    with decimal.localcontext() as context:
        context.prec = 60
        density = (
            (-a * a / 2).exp()
            / D("6.283185307179586476925286766559005768394338798750211641949889184615632812572418")
            .sqrt())
        if a < 4:
            term = total = a
            for n in range(1, 200):
                term *= a * a / (2 * n + 1)
                total += term
            return D("0.5") - density * total
        fraction = a
        for n in range(300, 0, -1):
            fraction = a + n / fraction
        return density / fraction


def gelu(values):
    """With 60 digits, rounded to the sum of two long doubles."""
    found = np.zeros(len(values), L)
    for i, value in enumerate(values):
        if not math.isfinite(value) or abs(value) > 60:
            found[i] = value if value > 0 or math.isnan(value) else -0.0
            continue
        a = D(abs(float(value)))
        exact = (normal_tail(a) if value < 0 else 1 - normal_tail(a)) * D(float(value))
        high = float(exact)
        found[i] = L(high) + L(float(exact - D(high)))
    return found


FUNCTIONS = {"gelu": gelu, "silu": lambda x: x / (1 + np.exp(-x)), "mish": mish,
             "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "softplus": softplus,
             "log_sigmoid": lambda x: -softplus(-x), "softsign": lambda x: x / (1 + np.abs(x)),
             "tanh": np.tanh, "exp": np.exp, "expm1": np.expm1, "log": np.log,
             "log1p": np.log1p, "log2": np.log2, "log10": np.log10, "sin": np.sin, "cos": np.cos,
             "tan": np.tan, "arcsin": np.arcsin, "arccos": np.arccos, "arctan": np.arctan,
             "sinh": np.sinh, "cosh": np.cosh, "arcsinh": np.arcsinh, "arccosh": np.arccosh,
             "arctanh": np.arctanh, "cbrt": np.cbrt, "rcbrt": lambda x: 1 / np.cbrt(x),
             "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "reciprocal": lambda x: 1 / x,
             "square": lambda x: x * x, "degrees": lambda x: x * (180 / np.arccos(L(-1))),
             "radians": lambda x: x * (np.arccos(L(-1)) / 180),
}


def every_exponent(dtype, draw):
    """Numbers of every exponent and both signs, some from the range where most functions vary, and
    special values."""
    bits, fraction = (np.uint32, 23) if dtype == np.float32 else (np.uint64, 52)
    exponents = 254 if dtype == np.float32 else 2046
    each = 16 if dtype == np.float32 else 2
    magnitudes = ((np.repeat(np.arange(1, exponents + 1, dtype=bits), each) << bits(fraction))
                  | draw.integers(0, 2 ** fraction, exponents * each, dtype=bits))
    walked = magnitudes.view(dtype)
    near = np.concatenate([draw.uniform(-16, 10, 4000), draw.uniform(-105, 40, 2000)]
                          if dtype == np.float32
                          else [draw.uniform(-16, 10, 1500), draw.uniform(-40, 40, 500),
                                draw.uniform(-745, 40, 500)]).astype(dtype)
    return np.concatenate([walked, -walked, near,
                           np.array([0, -0.0, np.inf, -np.inf, np.nan], dtype)])


def ulps(found, exact, dtype):
    """The distance in units of the last place. Denormals count as 0; a value that rounds to
    infinity counts as infinity."""
    info = np.finfo(dtype)
    exact = exact.astype(L)
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(exact)
        unit = np.ldexp(L(1), exponent - info.nmant - 1)
        distance = np.abs(found.astype(L) - exact) / unit
    tiny = np.abs(exact) < L(info.tiny) * (1 + 8 * L(info.eps))
    distance = np.where(tiny, np.where(np.abs(found) <= info.tiny * (1 + 8 * info.eps), 0, np.inf),
                        distance)
    large = np.abs(exact) > L(info.max) * (1 - 4 * L(info.eps))
    distance = np.where(large, np.where((np.abs(found) > info.max * (1 - 8 * info.eps))
                                        & (np.signbit(found) == np.signbit(exact)), 0, np.inf),
                        distance)
    return np.where(np.isnan(exact) | np.isnan(found),
                    np.where(np.isnan(exact) & np.isnan(found), 0, np.inf), distance).astype(float)


class Accuracy(unittest.TestCase):
    WAYS = {"scalar": ({"LSTMC_CPU_LEVEL": "scalar"}, "cpu"),
            "avx2": ({"LSTMC_CPU_LEVEL": "avx2"}, "cpu"), "best": ({}, "cpu"), "emu": ({}, "emu")}

    def results(self, names, x, way):
        environment, device = self.WAYS[way]
        dtype = str(x.dtype)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "net.lnet").write_text(f"def f(x: {dtype}[{len(x)}]):\n    return "
                                             f"{', '.join(f'{name}(x)' for name in names)}\n")
            np.save(folder / "x.npy", x)
            done = subprocess.run([os.environ["LSTMC"], "run", "net.lnet", "-i", "x=@x.npy",
                                   "-o", "y.npz", "-d", device],
                                  cwd=folder, capture_output=True,
                                  text=True, env={**os.environ, **environment})
            # 7: some results are not finite, as expected
            self.assertIn(done.returncode, (0, 7), done.stderr)
            with np.load(folder / "y.npz") as results:
                return [results[name] for name in results.files]

    def check(self, dtype, names, ways):
        for number in range(FIRST, LAST + 1):
            draw = np.random.default_rng(number)
            x = every_exponent(dtype, draw)
            counted = np.where(np.abs(x) < np.finfo(dtype).tiny, 0 * x, x).astype(L)
            found = {way: self.results(names, x, way) for way in ways}
            for i, name in enumerate(names):
                with self.subTest(name, dtype=dtype.__name__), np.errstate(all="ignore"):
                    mine = found[ways[0]][i]
                    distance = ulps(mine, FUNCTIONS[name](counted), dtype)
                    # limits, for which the formula is infinity times 0
                    if name in ("silu", "mish", "gelu"):
                        distance = np.where(x == -np.inf, mine, distance)
                    worst = int(np.argmax(distance))
                    self.assertLessEqual(distance[worst],
                                         4, f"{name}({x[worst]!r}) is {mine[worst]!r}")
                    for way in ways[1:]:
                        np.testing.assert_array_equal(mine.view(np.uint8),
                                                      found[way][i].view(np.uint8),
                                                      err_msg=f"{name}: {way}")

    def test_float32(self):
        self.check(np.float32, [name for name in FUNCTIONS if name != "gelu"] + ["gelu"],
                   list(self.WAYS))

    def test_float64(self):
        self.check(np.float64,
                   ["gelu", "silu", "mish", "sigmoid", "softplus", "log_sigmoid", "softsign"],
                   ["best", "scalar", "emu"])

    def test_constants_of_float64(self):
        """A constant keeps all digits of a double on its way to the kernel."""
        x = np.random.default_rng(11).normal(size=97)
        wanted = {
            "x + 0.1": x + 0.1, "0.1 - x": 0.1 - x, "x * 0.1": x * 0.1, "x / 0.3": x / 0.3,
            "0.1 / x": 0.1 / x, "maximum(x, 0.1)": np.maximum(x, 0.1),
            "minimum(x, 0.7)": np.minimum(x, 0.7), "where(x > 0.1, x, 0.3)":
            np.where(x > 0.1, x, 0.3), "clip(x, a_min=-0.1, a_max=0.7)": np.clip(x, -0.1, 0.7),
            'LeakyReLU(x, act_type="leaky", slope=0.1)': np.where(x > 0, x, 0.1 * x),
            'x + full(shape=(97,), value=0.1, dtype="float64")': x + 0.1,
            "(x + 0.1) * 0.3 - 0.7": (x + 0.1) * 0.3 - 0.7}
        for environment, device in self.WAYS.values():
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                (folder / "net.lnet").write_text(
                    f"def f(x: float64[97]):\n    return {', '.join(wanted)}\n")
                np.save(folder / "x.npy", x)
                subprocess.run([os.environ["LSTMC"], "run", "net.lnet", "-i", "x=@x.npy", "-o",
                                "y.npz", "-d", device], cwd=folder, check=True,
                               capture_output=True, env={**os.environ, **environment})
                with np.load(folder / "y.npz") as results:
                    for name, text in zip(results.files, wanted, strict=True):
                        np.testing.assert_array_equal(results[name], wanted[text], err_msg=text)

    def test_activations_of_mxnet(self):
        """Activation and LeakyReLU have the bits of the single functions."""
        x = every_exponent(np.float32, np.random.default_rng(9))[:-5]
        FUNCTIONS_OF = ['Activation(x, act_type="mish")',
                        "mish(x)", 'LeakyReLU(x, act_type="gelu")', "gelu(x)"]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "net.lnet").write_text(
                f"def f(x: float32[{len(x)}, 1]):\n    return {', '.join(FUNCTIONS_OF)}\n")
            np.save(folder / "x.npy", x[:, None])
            subprocess.run(
                [os.environ["LSTMC"], "run", "net.lnet", "-i", "x=@x.npy", "-o", "y.npz"],
                cwd=folder, check=True, capture_output=True)
            with np.load(folder / "y.npz") as results:
                a, b, c, d = (results[name].view(np.uint32) for name in results.files)
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(c, d)


if __name__ == "__main__":
    unittest.main()
