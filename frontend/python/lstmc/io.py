"""Data iterators under MXNet's names."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

import numpy

from .arrays import as_array
from .error import usage
from .ndarray import NDArray

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence
    from typing import Any

    from .kinds import DType


class DataDesc(collections.namedtuple("DataDesc", ["name", "shape"])):
    """Name and shape of an input of a batch, with `dtype` and `layout`; N in the layout is the axis
    of the samples. Threads may share it."""

    dtype: Any
    layout: str

    def __new__(cls, name: str, shape: Sequence[int], dtype: DType = "float32",
                layout: str = "NCHW") -> DataDesc:
        self = super().__new__(cls, name, tuple(shape))
        self.dtype = dtype
        self.layout = layout
        return self


class DataBatch:
    """Arrays of a batch; the last `pad` samples only fill it up. It is never written to: threads
    may share it."""

    def __init__(self, data: Sequence[Any], label: Sequence[Any] | None = None, pad: int = 0,
                 index: Any = None,
                 bucket_key: Hashable = None, provide_data: Sequence[DataDesc] | None = None,
                 provide_label: Sequence[DataDesc] | None = None) -> None:
        self.data = data
        self.label = label
        self.pad = pad
        self.index = index
        self.bucket_key = bucket_key
        self.provide_data = provide_data
        self.provide_label = provide_label


class DataIter:
    """A source of batches: `next()` until StopIteration, `reset()` before the next epoch,
    `provide_data` and `provide_label`. It holds one position in one epoch, so each thread needs its
    own."""

    def __init__(self, batch_size: int = 0) -> None:
        self.batch_size = batch_size

    def __iter__(self) -> DataIter:
        return self

    def __next__(self):
        return self.next()

    def reset(self) -> None:
        """Restarts from the first batch."""

    def next(self) -> DataBatch:
        raise StopIteration


class NDArrayIter(DataIter):
    """Batches of arrays in memory. `last_batch_handle` for an incomplete last batch: "pad" fills it
    up with the first samples, "discard" drops it. One thread may use it at a time."""

    def __init__(self, data: Any, label: Any = None, batch_size: int = 1, shuffle: bool = False,
                 last_batch_handle: str = "pad",
                 data_name: str = "data", label_name: str = "softmax_label") -> None:
        super().__init__(batch_size)
        self.data = _named(data, data_name)
        self.label = _named(label, label_name)
        self.num_data = len(next(iter(self.data.values())))
        for name, array in {**self.data, **self.label}.items():
            if len(array) != self.num_data:
                raise usage(f'"{name}" has {len(array)} samples, others have {self.num_data}')
        if last_batch_handle not in ("pad", "discard"):
            raise usage(f'last_batch_handle is pad or discard, got "{last_batch_handle}"')
        if batch_size > self.num_data:
            raise usage(f"a batch has {batch_size} samples, the data have {self.num_data}")
        self._shuffle = shuffle
        self._pads = last_batch_handle == "pad"
        self._order = numpy.arange(self.num_data)
        self.reset()

    @property
    def continues(self) -> bool:
        """Whether the rows of a batch continue those of the previous batch, as carried states
        require."""
        return not self._shuffle

    @property
    def provide_data(self) -> list[DataDesc]:
        return self._described(self.data)

    @property
    def provide_label(self) -> list[DataDesc]:
        return self._described(self.label)

    def _described(self, arrays):
        return [DataDesc(name, (self.batch_size, *array.shape[1:]), array.dtype)
                for name, array in arrays.items()]

    def __len__(self) -> int:
        """The number of batches in an epoch."""
        return (-(-self.num_data // self.batch_size) if self._pads
                else self.num_data // self.batch_size)

    def reset(self) -> None:
        self._cursor = 0
        if self._shuffle:
            numpy.random.shuffle(self._order)

    def next(self) -> DataBatch:
        left = self.num_data - self._cursor
        if left <= 0 or (left < self.batch_size and not self._pads):
            raise StopIteration
        rows = numpy.take(self._order, range(self._cursor, self._cursor + self.batch_size),
                          mode="wrap")
        self._cursor += self.batch_size
        return DataBatch([NDArray(array[rows]) for array in self.data.values()],
                         [NDArray(array[rows]) for array in self.label.values()],
                         max(self.batch_size - left, 0), rows, None, self.provide_data,
                         self.provide_label)


def _named(data, name):
    """{name: array} from an array, a list of arrays, or a dict of them."""
    if data is None:
        return {}
    if isinstance(data, (list, tuple)):
        data = ({name: data[0]} if len(data) == 1
                else {f"_{i}_{name}": each for i, each in enumerate(data)})
    if not isinstance(data, dict):
        data = {name: data}
    return {key: _single(as_array(value)) for key, value in data.items()}


def _single(array):
    """Converts float64 to float32, in which networks compute."""
    return array.astype(numpy.float32) if array.dtype == numpy.float64 else array
