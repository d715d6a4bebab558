"""Batches of samples: gluon.data.DataLoader."""

from __future__ import annotations

import collections
import concurrent.futures
from typing import TYPE_CHECKING

import numpy

from ..error import usage
from ..ndarray import NDArray, array
from .samplers import BatchSampler, RandomSampler, SequentialSampler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .datasets import Dataset
    from .samplers import Sampler


def default_batchify_fn(data: list[Any]) -> Any:
    """Stacks samples: arrays and numbers to an NDArray of their type, tuples element by
    element."""
    if isinstance(data[0], tuple):
        return [default_batchify_fn(list(part)) for part in zip(*data)]
    values = numpy.stack([each.asnumpy() if isinstance(each, NDArray) else numpy.asarray(each)
                          for each in data])
    return array(values, dtype=values.dtype)


class DataLoader:
    """Batches of a Dataset, anew for each iteration. `num_workers` threads load and stack up to
    `prefetch` batches ahead (2 for each by default), in the same order. `last_batch` is keep,
    discard or rollover. Each iteration belongs to one thread."""

    def __init__(self, dataset: Dataset, batch_size: int | None = None, shuffle: bool = False,
                 sampler: Sampler | None = None, last_batch: str | None = None,
                 batch_sampler: Sampler | None = None,
                 batchify_fn: Callable[[list[Any]], Any] | None = None, num_workers: int = 0,
                 pin_memory: bool = False, pin_device_id: int = 0, prefetch: int | None = None,
                 thread_pool: bool = True, timeout: float = 120) -> None:
        if batch_sampler is None:
            if batch_size is None:
                raise usage("a DataLoader takes batch_size, or a batch_sampler")
            if sampler is not None and shuffle:
                raise usage("shuffle=True makes a sampler, and sampler= is one: give one of them")
            if sampler is None:
                sampler = (RandomSampler if shuffle else SequentialSampler)(len(dataset))
            batch_sampler = BatchSampler(sampler, batch_size, last_batch or "keep")
        elif batch_size is not None or shuffle or sampler is not None or last_batch is not None:
            raise usage("a batch_sampler decides batch_size, shuffle, sampler and last_batch: "
                        "leave them out")
        self._dataset, self._batches = dataset, batch_sampler
        self._batchify = batchify_fn or default_batchify_fn
        self._workers, self._timeout = num_workers, timeout
        self._ahead = max(1, prefetch if prefetch is not None else 2 * num_workers)

    def _load(self, numbers):
        return self._batchify([self._dataset[number] for number in numbers])

    def __iter__(self) -> Iterator[Any]:
        if self._workers == 0:
            yield from map(self._load, self._batches)
            return
        pool = concurrent.futures.ThreadPoolExecutor(self._workers)
        try:
            waiting = collections.deque()
            for numbers in self._batches:
                waiting.append(pool.submit(self._load, list(numbers)))
                if len(waiting) > self._ahead:
                    yield waiting.popleft().result(self._timeout)
            while waiting:
                yield waiting.popleft().result(self._timeout)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def __len__(self) -> int:
        return len(self._batches)
