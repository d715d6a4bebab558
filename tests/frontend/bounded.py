"""The equations of recurrent layers in double precision, each vector with a bound of how far single
precision may be from it.

A Vector has the values of the equations, and `error`, an upper bound of the 2-norm of (result in
f32 - these values), for inputs and weights that f32 represents exactly. The bound follows from the
equations only, not from the tested program, layer by layer and step by step, by these rules. u =
2^-24 is the relative error of rounding to f32, and g(k) = k u / (1 - k u) that of k roundings, in
any order:

  product   W x + b: each of the n products and b is rounded n + 1 times at most, so the error is
            |W| e(x) + g(n + 1) || |W| |x| + |b| ||, where |W| of a number is the spectral norm (or
            Frobenius', which is larger), and || || the 2-norm of the vector
  a + b     e(a) + e(b), and a rounding of the result
  a * b     max|a| e(b) + max|b| e(a) + e(a) e(b), and a rounding of the result
  function  the error times the largest slope (1/4 of a sigmoid, 1 of tanh and relu), and 4 ULP,
            which are 8 u of the result (docs/numerics.md)

Neither the order of sums nor fused multiply-adds matter, so the bound holds for lstmc and for
PyTorch. A 2-norm is used because it does not grow from step to step: bounds of each element by
itself would be multiplied by the sum of a row of weights each time. Double precision adds 2^-29 of
all this, for which u is taken a little larger.
"""
import math

try:
    import numpy
except ImportError:  # its plain loops suffice for small layers
    numpy = None

U = 2**-24 * (1 + 2**-20)


def g(roundings):
    return roundings * U / (1 - roundings * U)


def norm(values):
    return math.sqrt(sum(v * v for v in values))


class Vector:
    def __init__(self, values, error=0.0):
        self.values = [float(v) for v in values]
        self.error = error

    def _rounded(self, error):
        """Adds the rounding of each element to the bound."""
        self.error = error + U * (norm(self.values) + error)
        return self

    def largest(self):
        return max(map(abs, self.values))

    def __add__(self, other):
        return Vector([a + b for a, b in zip(self.values, other.values)])._rounded(
            self.error + other.error)

    def __mul__(self, other):
        product = Vector([a * b for a, b in zip(self.values, other.values)])
        return product._rounded(self.largest() * other.error + other.largest() * self.error
                                + self.error * other.error)

    def through(self, function, slope):
        result = Vector(map(function, self.values))
        moved = slope * self.error
        result.error = moved + 8 * U * (norm(result.values) + moved)
        return result

    def part(self, number, size):
        """A slice; the bound of the whole vector holds for it too."""
        return Vector(self.values[number * size:(number + 1) * size], self.error)


class Matrix:
    """Rows of weights, with the norms that products need."""

    def __init__(self, rows):
        self.rows = (numpy.array(rows, dtype=float) if numpy
                     else [[float(v) for v in row] for row in rows])
        self.frobenius = norm([v for row in self.rows for v in row])
        self.norm = float(numpy.linalg.norm(self.rows, 2)) * (1 + 1e-9) if numpy else self.frobenius

    def times(self, values, absolute=False):
        if numpy:
            return ((abs(self.rows) if absolute else self.rows) @ numpy.array(values)).tolist()
        size = abs if absolute else float
        return [sum(size(w) * v for w, v in zip(row, values)) for row in self.rows]


def product(matrix, x, bias=None):
    bias = [0.0] * len(matrix.rows) if bias is None else [float(b) for b in bias]
    result = Vector(a + b for a, b in zip(matrix.times(x.values), bias))
    sizes = matrix.times([abs(v) for v in x.values], absolute=True)
    most = norm([a + abs(b) for a, b in zip(sizes, bias)]) + matrix.frobenius * x.error
    result.error = matrix.norm * x.error + g(len(x.values) + 1) * most
    return result


def joined(vectors):
    return Vector(sum((v.values for v in vectors), []), norm([v.error for v in vectors]))


def sigmoid(x):
    return x.through(lambda v: 1 / (1 + math.exp(-v)), 0.25)


def tanh(x):
    return x.through(math.tanh, 1)


def relu(x):
    return Vector([max(v, 0) for v in x.values], x.error)


def mixed(share, new, old):
    """(1 - share) new + share old, or new + share (old - new): four roundings of |new| + |old|, for
    shares from 0 to 1."""
    values = [(1 - s) * n + s * o for s, n, o in zip(share.values, new.values, old.values)]
    apart = max(abs(n - o) for n, o in zip(new.values, old.values)) + new.error + old.error
    error = (max(1 - s for s in share.values) * new.error + max(share.values) * old.error
             + share.error * apart)
    return Vector(values,
                  error + g(4) * (norm(new.values) + norm(old.values) + new.error + old.error))


def layer_norm(x, gamma, beta, eps):
    """(x - mean) / s * gamma + beta with s = sqrt(variance + eps). The quotient moves by e(x) / s,
    for the least s on the way, since its derivative is a projection divided by s; s itself moves by
    e(x) / sqrt(n) at most. A mean of n numbers is off by g(n + 1) of that of their sizes, the
    variance by g(n + 4) of the mean of (|x| + |mean|)^2, by whichever formula; five roundings
    remain."""
    n = len(x.values)
    mean = sum(x.values) / n
    variance = sum((v - mean)**2 for v in x.values) / n
    least = math.sqrt(max(math.sqrt(variance) - x.error / math.sqrt(n), 0)**2 + eps)
    quotient = Vector((v - mean) / math.sqrt(variance + eps) for v in x.values)
    moved = math.sqrt(n) * g(n + 1) * (sum(map(abs, x.values)) / n + x.error)
    scaled = g(n + 4) * sum((abs(v) + abs(mean) + 2 * x.error)**2
                            for v in x.values) / n / (2 * least**2) + g(5)
    quotient.error = (x.error + moved) / least + scaled * (math.sqrt(n) + x.error / least)
    return quotient * Vector(gamma) + Vector(beta)


def step(kind, w, suffix, x, h, c):
    """One step by the equations in the documentation of torch.nn.LSTM, GRU and RNN. `w` has Matrix
    and lists of biases under the names used there."""
    n = len(h.values)
    gates = len(w["weight_hh" + suffix].rows) // n
    z, r = ([_gate(w, f"weight_{side}{suffix}", f"bias_{side}{suffix}", k, n, given)
             for k in range(gates)]
            for side, given in (("ih", x), ("hh", h)))
    if kind == "lstm":
        i, f, g_, o = (a + b for a, b in zip(z, r))
        c = sigmoid(f) * c + sigmoid(i) * tanh(g_)
        return sigmoid(o) * tanh(c), c
    if kind == "gru":
        reset, update = sigmoid(z[0] + r[0]), sigmoid(z[1] + r[1])
        return mixed(update, tanh(z[2] + reset * r[2]), h), c
    return (tanh if kind == "rnn_tanh" else relu)(z[0] + r[0]), c


def _gate(w, weight, bias, k, n, given):
    """The product with one gate's rows, whose norm is smaller than that of all rows."""
    key = (weight, k, n)
    if key not in w:
        w[key] = Matrix(w[weight].rows[k * n:(k + 1) * n])
    return product(w[key], given, w[bias][k * n:(k + 1) * n] if bias in w else None)


def recurrent(kind, w, xs, units, layers, directions):
    """The outputs of all steps of a stack with initial states of zero; `xs` are the inputs of all
    steps."""
    for l in range(layers):
        sides = []
        for suffix in [f"_l{l}", f"_l{l}_reverse"][:directions]:
            h, c, ys = Vector([0.0] * units), Vector([0.0] * units), []
            for x in reversed(xs) if "reverse" in suffix else xs:
                h, c = step(kind, w, suffix, x, h, c)
                ys.append(h)
            sides.append(ys[::-1] if "reverse" in suffix else ys)
        xs = [joined(parts) for parts in zip(*sides)]
    return xs


def check(test, got, want):
    """Checks that a computed vector is within the bound of a Vector, and that the bound is useful:
    far below the effect of a wrong gate."""
    test.assertEqual(len(got), len(want.values))
    test.assertLess(want.error, 0.01 * max(norm(want.values), 1))
    test.assertLessEqual(norm([a - b for a, b in zip(got, want.values)]), want.error)
