"""Integers compared with Python's over their whole range, to the last bit, wrapping on overflow:
reductions of int64 beyond the precision of floats, operators between tensors and with constants,
and conversions. LSTMC_NUMBERS=A..B draws other numbers for each seed."""
import math
import operator
import os
import random
import struct
import unittest
import zipfile

from command import Case

LOW, HIGH = -2 ** 63, 2 ** 63 - 1
NET = """\
def g(data: int64[4, 3]):
    return (sum(data, axis=0), sum(data), max(data, axis=1), min(data), max(data, axis=0, keepdims=True), min(data, axis=(0,), exclude=True),
            sum(data, axis=1, keepdims=True), max(data, axis=0, exclude=True, keepdims=True),
            prod(data), prod(data, axis=0), prod(data, axis=1, keepdims=True), mean(data, axis=1), mean(data, exclude=True, axis=1), mean(data))
"""


def wrapped(number):
    return (number - LOW) % 2 ** 64 + LOW


def product(numbers):
    return wrapped(math.prod(numbers))


def mean(numbers):
    total = wrapped(sum(numbers))
    return abs(total) // len(numbers) * (1 if total > 0 else -1)


def meaning(rows):
    columns = list(zip(*rows))
    every = sum(rows, [])
    sums = [[wrapped(sum(column)) for column in columns], [wrapped(sum(every))],
            [wrapped(sum(row)) for row in rows]]
    return [sums[0], sums[1], [max(row) for row in rows], [min(every)],
            [max(column) for column in columns], [min(row) for row in rows],
            sums[2], [max(row) for row in rows], [product(every)],
            [product(column) for column in columns], [product(row) for row in rows],
            [mean(row) for row in rows], [mean(column) for column in columns], [mean(every)]]


class Integers(Case):
    def outputs(self, rows, *words):
        header = "{'descr': '<i8', 'fortran_order': False, 'shape': (4, 3), }".ljust(117) + "\n"
        (self.folder / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
                                            + header.encode() + struct.pack("<12q", *sum(rows, [])))
        self.good("run", "g.lnet", "-i", "data=@x.npy", "-o", "y.npz", "-y", *words)
        found = []
        with zipfile.ZipFile(self.folder / "y.npz") as archive:
            for name in archive.namelist():
                data = archive.read(name)
                begin = 10 + struct.unpack("<H", data[8:10])[0]
                self.assertIn(b"'<i8'", data[:begin])
                found.append(list(struct.unpack(f"<{(len(data) - begin) // 8}q", data[begin:])))
        return found

    def test_all_are_exact(self):
        (self.folder / "g.lnet").write_text(NET)
        draw = random.Random(1)
        ranges = [(LOW, HIGH), (2 ** 53 - 3, 2 ** 53 + 9), (LOW, LOW), (HIGH, HIGH), (-5, 5),
                  (-2 ** 32 - 2, -2 ** 32 + 2)]
        for low, high in ranges:
            rows = [[draw.randint(low, high) for _ in range(3)] for _ in range(4)]
            for words in ([], ["-d", "emu"]):
                self.assertEqual(self.outputs(rows, *words), meaning(rows), (low, high, words))


TYPES = {"int8": ("b", 8, True), "uint8": ("B", 8, False), "int32": ("i", 32, True),
         "int64": ("q", 64, True)}
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul,
             "//": lambda a, b: a // b if b else 0, "%": lambda a, b: a % b if b else 0,
             "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
             ">": operator.gt, ">=": operator.ge,
}
FIRST, LAST = map(int, os.environ.get("LSTMC_NUMBERS", "0..0").split(".."))


def limits(bits, signed):
    return (-2 ** (bits - 1), 2 ** (bits - 1) - 1) if signed else (0, 2 ** bits - 1)


def into(number, bits, signed):
    low, _ = limits(bits, signed)
    return (number - low) % 2 ** bits + low


def edges(draw, bits, signed, count):
    """The ends of the range, powers of two and their neighbours, and numbers of every magnitude."""
    low, high = limits(bits, signed)
    found = {low, low + 1, low + 2, high - 2, high - 1, high, 0, 1, 2, 3, 7}
    while len(found) < count:
        size = draw.randrange(bits)
        number = (2 ** size + draw.choice((-1, 0, 1)) if draw.random() < 0.4
                  else draw.getrandbits(size + 1))
        found.add(draw.choice((1, -1)) * number)
        found = {number for number in found if low <= number <= high}
    return draw.sample(sorted(found), len(found))


def array(numbers, code, shape):
    header = (
        f"{{'descr': "
        f"'{'|' if code in 'bB' else '<'}{dict(b='i1', B='u1', i='i4', q='i8', d='f8')[code]}', "
        f"'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n")
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
            + struct.pack(f"<{len(numbers)}{code}", *numbers))


class Operators(Case):
    WAYS = (["-d", "cpu"], ["-d", "emu"])

    def outputs(self, text, inputs, *words):
        """The results of a net, each a list of numbers; `inputs` are (array code, shape)."""
        (self.folder / "g.lnet").write_text(text)
        arguments = []
        for name, (numbers, code, shape) in inputs.items():
            (self.folder / f"{name}.npy").write_bytes(array(numbers, code, shape))
            arguments += ["-i", f"{name}=@{name}.npy"]
        self.good("run", "g.lnet", *arguments, "-o", "y.npz", "-y", *words)
        found = []
        with zipfile.ZipFile(self.folder / "y.npz") as archive:
            for name in archive.namelist():
                data = archive.read(name)
                begin = 10 + struct.unpack("<H", data[8:10])[0]
                code = {"i1": "b", "u1": "B", "i4": "i", "i8": "q", "f4": "f",
                        "f8": "d"}[data[:begin].split(b"'descr': '")[1][1:3].decode()]
                found.append(list(struct.unpack(
                    f"<{(len(data) - begin) // struct.calcsize('<' + code)}{code}", data[begin:])))
        return found

    def compare(self, what, found, wanted):
        self.assertEqual(len(found), len(wanted))
        for (text, results), mine in zip(wanted, found):
            wrong = [(index, got, want) for index, (got, want) in enumerate(zip(mine, results))
                     if got != want]
            self.assertFalse(wrong[:3], f"{what}: {text}, {len(wrong)} of {len(results)} differ")

    def test_operators_of_tensors(self):
        for number in range(FIRST, LAST + 1):
            for dtype, (code, bits, signed) in TYPES.items():
                draw = random.Random(1000 * number + bits + signed)
                a, b = edges(draw, bits, signed, 26), edges(draw, bits, signed, 26)
                expressions = [f"a {sign} b" for sign in OPERATORS] + [
                    "maximum(a, b)", "minimum(a, b)", "-a + 0 * b", "abs(a) + 0 * b",
                    "square(a) + 0 * b", "sign(a) + 0 * b"]
                wanted = [
                    (f"a {sign} b", [into(int(call(x, y)), bits, signed) for x in a for y in b])
                    for sign, call in OPERATORS.items()]
                for name, call in (("max", max), ("min", min), ("-", lambda x, y: -x),
                                   ("abs", lambda x, y: abs(x)), ("square", lambda x, y: x * x),
                                   ("sign", lambda x, y: (x > 0) - (x < 0))):
                    wanted.append((name, [into(call(x, y), bits, signed) for x in a for y in b]))
                text = (f"def g(a: {dtype}[{len(a)}, 1], b: {dtype}[1, {len(b)}]):\n    return "
                        + ", ".join(f"cast({e}, dtype=\"{dtype}\")" for e in expressions) + "\n")
                for words in self.WAYS:
                    self.compare((dtype, words),
                                 self.outputs(text, {"a": (a, code, (len(a), 1)),
                                                     "b": (b, code, (1, len(b)))}, *words), wanted)

    def test_operators_with_constants(self):
        for number in range(FIRST, LAST + 1):
            for dtype, (code, bits, signed) in TYPES.items():
                draw = random.Random(1000 * number + bits + signed + 77)
                a = edges(draw, bits, signed, 40)
                low, high = limits(bits, signed)
                constants = ([low, low + 1, high, high - 1, 0]
                             + draw.sample(edges(draw, bits, signed, 40), 4))
                if bits == 64:
                    constants += [2 ** 53 + 1, -2 ** 53 - 1, 2 ** 62 + 1,
                                  draw.randint(2 ** 60, 2 ** 61) | 1]
                wanted, expressions = [], []
                for c in constants:
                    said = f"({c})"
                    for sign, call in OPERATORS.items():
                        expressions += [f"a {sign} {said}", f"{said} {sign} a"]
                        wanted.append((expressions[-2],
                                       [into(int(call(x, c)), bits, signed) for x in a]))
                        wanted.append((expressions[-1],
                                       [into(int(call(c, x)), bits, signed) for x in a]))
                    expressions += [f"maximum(a, {said})", f"where(a > 0, a, {said})"]
                    wanted += [(expressions[-2], [max(x, c) for x in a]),
                               (expressions[-1], [x if x > 0 else c for x in a])]
                text = (f"def g(a: {dtype}[{len(a)}]):\n    return "
                        + ",\\\n        ".join(f"cast({e}, dtype=\"{dtype}\")" for e in expressions)
                        + "\n")
                for words in self.WAYS:
                    self.compare((dtype, words),
                                 self.outputs(text, {"a": (a, code, (len(a),))}, *words), wanted)

    def test_conversions(self):
        draw = random.Random(5)
        for dtype, (code, bits, signed) in TYPES.items():
            a = edges(draw, bits, signed, 40)
            text = (f"def g(a: {dtype}[{len(a)}]):\n    return "
                    + ", ".join(f"cast(a, dtype=\"{to}\")" for to in (*TYPES, "float64")) + "\n")
            wanted = ([(to, [into(x, to_bits, to_signed) for x in a])
                       for to, (_, to_bits, to_signed) in TYPES.items()]
                      + [("float64", [float(x) for x in a])])
            for words in self.WAYS:
                self.compare((dtype, words),
                             self.outputs(text, {"a": (a, code, (len(a),))}, *words), wanted)
        numbers = [0.0, -0.5, 1.9, -1.9, 2.0 ** 31, 2.0 ** 31 - 1, -2.0 ** 31, -2.0 ** 31 - 1,
                   2.0 ** 63, 2.0 ** 63 - 1024, -2.0 ** 63, -2.0 ** 64, 1e300, -1e300,
                   math.inf, -math.inf, 300.7, -300.7]
        saturated = lambda x, low, high: (int(min(max(x, low), high)) if abs(x) < 2 ** 70 else high
                                          if x > 0 else low)
        wanted = [(dtype, [min(max(saturated(x, *limits(bits, True)), limits(bits, True)[0]),
                               limits(bits, True)[1]) for x in numbers])
                  for dtype, bits in (("int32", 32), ("int64", 64))]
        text = (f"def g(a: float64[{len(numbers)}]):\n    return cast(a, dtype=\"int32\"), cast(a, "
                "dtype=\"int64\")\n")
        for words in self.WAYS:
            self.compare(words,
                         self.outputs(text, {"a": (numbers, "d", (len(numbers),))}, *words), wanted)

    def test_constants_that_do_not_fit(self):
        for dtype, expression, found in (
                ("int32", "a + 2147483648", "scalar is a number that int32 holds, got 2147483648"),
                ("uint8", "a == -1", "scalar is a number that uint8 holds, got -1"),
                ("int64", "a * 9223372036854775808.0",
                 "scalar is a number that int64 holds, got 9.223372036854776e+18"),
                ("int64", "clip(a, a_min=0, a_max=9007199254740993)",
                 "a_max is a number that a double holds, got 9007199254740993"),
                ("int64", "a + full(shape=(2,), value=9007199254740993, dtype=\"int64\")",
                 "value is a number that a double holds, got 9007199254740993")):
            (self.folder / "g.lnet").write_text(f"def g(a: {dtype}[2]):\n    return {expression}\n")
            done = self.run_here("inspect", "g.lnet")
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(found, done.stderr)


if __name__ == "__main__":
    unittest.main()
