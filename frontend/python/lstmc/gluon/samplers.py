"""The order of samples: gluon.data's samplers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from .. import draws
from ..error import usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


class Sampler:
    """Numbers of samples, anew for each iteration: a sampler of one's own has `__iter__` and
    `__len__`."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} has no __iter__")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has no __len__")


class SequentialSampler(Sampler):
    """`length` numbers from `start` on."""

    def __init__(self, length: int, start: int = 0) -> None:
        self._length, self._start = length, start

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._start, self._start + self._length))

    def __len__(self) -> int:
        return self._length


class RandomSampler(Sampler):
    """`length` numbers in an order that `random.seed` and the number of the call decide."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __iter__(self) -> Iterator[int]:
        order = numpy.random.default_rng(draws.next_call()).permutation(self._length)
        return iter(order.tolist())

    def __len__(self) -> int:
        return self._length


class FilterSampler(Sampler):
    """The numbers of the samples for which a function is true."""

    def __init__(self, fn: Callable[[Any], bool], dataset: Any) -> None:
        self._chosen = [i for i in range(len(dataset)) if fn(dataset[i])]

    def __iter__(self) -> Iterator[int]:
        return iter(self._chosen)

    def __len__(self) -> int:
        return len(self._chosen)


class IntervalSampler(Sampler):
    """0, interval, 2 interval, ..; with `rollover` then 1, interval + 1, .., until all were
    there."""

    def __init__(self, length: int, interval: int, rollover: bool = True) -> None:
        if not 0 < interval <= length:
            raise usage(f"interval is a number from 1 to the length {length}, got {interval}")
        begins = range(interval if rollover else 1)
        self._order = [i for begin in begins for i in range(begin, length, interval)]

    def __iter__(self) -> Iterator[int]:
        return iter(self._order)

    def __len__(self) -> int:
        return len(self._order)


class BatchSampler(Sampler):
    """Lists of `batch_size` numbers. `last_batch`, if it is incomplete: "keep", "discard", or
    "rollover" into the next iteration."""

    def __init__(self, sampler: Sampler, batch_size: int, last_batch: str = "keep") -> None:
        if last_batch not in ("keep", "discard", "rollover"):
            raise usage(f"last_batch is keep, discard or rollover, got {last_batch!r}")
        self._sampler, self._size, self._last = sampler, batch_size, last_batch
        self._before = []

    def __iter__(self) -> Iterator[list[int]]:
        batch, self._before = self._before, []
        for number in self._sampler:
            batch.append(number)
            if len(batch) == self._size:
                yield batch
                batch = []
        if batch and self._last == "keep":
            yield batch
        elif self._last == "rollover":
            self._before = batch

    def __len__(self) -> int:
        whole, rest = divmod(len(self._sampler) + len(self._before), self._size)
        return whole + (rest > 0 and self._last == "keep")
