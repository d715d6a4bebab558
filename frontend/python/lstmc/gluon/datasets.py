"""Samples by number: gluon.data's datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..error import usage
from ..ndarray import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


class Dataset:
    """Samples: a dataset of one's own has `__getitem__` and `__len__`. Threads may read one if its
    `__getitem__` allows it."""

    def __getitem__(self, idx: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has no __len__")

    def transform(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """The samples after a function, which is called at each access, or now if not `lazy`. A
        sample that is a tuple is its arguments."""
        made = _Transformed(self, fn)
        return made if lazy else SimpleDataset([made[i] for i in range(len(made))])

    def transform_first(self, fn: Callable[[Any], Any], lazy: bool = True) -> Dataset:
        """transform() of the first element of each sample."""
        def first(x, *rest):
            return (fn(x), *rest) if rest else fn(x)

        return self.transform(first, lazy)

    def filter(self, fn: Callable[[Any], bool]) -> Dataset:
        """The samples for which the function is true."""
        return SimpleDataset([self[i] for i in range(len(self)) if fn(self[i])])

    def take(self, count: int | None) -> Dataset:
        """The first `count` samples."""
        return _Chosen(self, range(len(self) if count is None else min(count, len(self))))

    def shard(self, num_shards: int, index: int) -> Dataset:
        """Part `index` of `num_shards` parts that differ by at most one sample."""
        if not 0 <= index < num_shards:
            raise usage(f"shard {index} of {num_shards}: it is a number from 0 below the second")
        size, rest = divmod(len(self), num_shards)
        begin = size * index + min(index, rest)
        return _Chosen(self, range(begin, begin + size + (index < rest)))


class _Transformed(Dataset):
    def __init__(self, data, fn):
        self._data, self._fn = data, fn

    def __len__(self):
        return len(self._data)

    def __getitem__(self, idx):
        sample = self._data[idx]
        return self._fn(*sample) if isinstance(sample, tuple) else self._fn(sample)


class _Chosen(Dataset):
    def __init__(self, data, chosen):
        self._data, self._chosen = data, chosen

    def __len__(self):
        return len(self._chosen)

    def __getitem__(self, idx):
        return self._data[self._chosen[idx]]


class SimpleDataset(Dataset):
    """The elements of a list."""

    def __init__(self, data: Sequence[Any]) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: int) -> Any:
        return self._data[idx]


class ArrayDataset(Dataset):
    """Samples from arrays or lists of the same length: tuples if there are several."""

    def __init__(self, *args: Any) -> None:
        if not args:
            raise usage("ArrayDataset takes at least one array")
        for number, each in enumerate(args):
            if len(each) != len(args[0]):
                raise usage(f"array {number} of an ArrayDataset has {len(each)} samples, the first "
                            f"one {len(args[0])}")
        # rows of vectors are numbers, and rows of NumPy's arrays cost no op
        self._data = [each.asnumpy() if isinstance(each, NDArray) else each for each in args]

    def __len__(self) -> int:
        return len(self._data[0])

    def __getitem__(self, idx: int) -> Any:
        sample = tuple(each[idx] for each in self._data)
        return sample if len(sample) > 1 else sample[0]
