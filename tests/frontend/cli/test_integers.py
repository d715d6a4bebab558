"""Reductions of int64, which no float holds: exact, to the last bit, and wrapping where a sum or a product leaves it."""
import math
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
    sums = [[wrapped(sum(column)) for column in columns], [wrapped(sum(every))], [wrapped(sum(row)) for row in rows]]
    return [sums[0], sums[1], [max(row) for row in rows], [min(every)], [max(column) for column in columns], [min(row) for row in rows],
            sums[2], [max(row) for row in rows],
            [product(every)], [product(column) for column in columns], [product(row) for row in rows],
            [mean(row) for row in rows], [mean(column) for column in columns], [mean(every)]]


class Integers(Case):
    def outputs(self, rows, *words):
        header = "{'descr': '<i8', 'fortran_order': False, 'shape': (4, 3), }".ljust(117) + "\n"
        (self.folder / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<12q", *sum(rows, [])))
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
        ranges = [(LOW, HIGH), (2 ** 53 - 3, 2 ** 53 + 9), (LOW, LOW), (HIGH, HIGH), (-5, 5), (-2 ** 32 - 2, -2 ** 32 + 2)]
        for low, high in ranges:
            rows = [[draw.randint(low, high) for _ in range(3)] for _ in range(4)]
            for words in ([], ["-d", "emu"]):
                self.assertEqual(self.outputs(rows, *words), meaning(rows), (low, high, words))


if __name__ == "__main__":
    unittest.main()
