"""Sentences for a BucketingModule."""

from __future__ import annotations

import bisect
import logging
import random
from typing import TYPE_CHECKING

import numpy

from .error import usage
from .io import DataBatch, DataDesc, DataIter
from .ndarray import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .kinds import DType


def encode_sentences(sentences: Iterable[Sequence[Any]], vocab: dict[Any, int] | None = None,
                     invalid_label: int = -1, invalid_key: Any = "\n", start_label: int = 0,
                     unknown_token: Any = None) -> tuple[list[list[int]], dict[Any, int]]:
    """Converts lists of words to (lists of numbers, {word: number}). Without `vocab`, words are
    numbered from `start_label` in order of appearance, skipping `invalid_label`; with it, an
    unknown word is an error, or becomes `unknown_token`, which is added to the vocabulary."""
    grows = vocab is None
    number = start_label if grows else max(vocab.values(), default=-1) + 1
    vocab = {invalid_key: invalid_label} if grows else vocab
    encoded = []
    for sentence in sentences:
        codes = []
        for word in sentence:
            if word not in vocab:
                if not grows and unknown_token is None:
                    raise usage(f"the vocabulary has no {word!r}, and no unknown_token is given")
                word = word if grows else unknown_token
            if word not in vocab:
                number += number == invalid_label
                vocab[word] = number
                number += 1
            codes.append(vocab[word])
        encoded.append(codes)
    return encoded, vocab


class BucketSentenceIter(DataIter):
    """Batches of sentences of similar length, padded with `invalid_label` to the length of their
    bucket, which is the batch's `bucket_key`; labels are the next words. Incomplete batches are
    dropped. `buckets` are lengths; the default is every length of which there are enough sentences
    for a batch. One thread may use it at a time."""

    continues = False  #: each sentence starts with new states

    def __init__(self, sentences: Iterable[Sequence[Any]], batch_size: int,
                 buckets: Sequence[int] | None = None, invalid_label: int = -1,
                 data_name: str = "data", label_name: str = "softmax_label",
                 dtype: DType = "float32", layout: str = "NT") -> None:
        super().__init__(batch_size)
        if layout not in ("NT", "TN"):
            raise usage(f'layout is NT or TN, got "{layout}"')
        if not buckets:
            counts = numpy.bincount([len(sentence) for sentence in sentences])
            buckets = [length for length, count in enumerate(counts) if count >= batch_size]
        if not buckets:
            raise usage(f"no length has {batch_size} sentences, which fill a batch: give buckets")
        self.buckets = sorted(buckets)
        self.data_name, self.label_name = data_name, label_name
        self.dtype, self.layout, self.invalid_label = dtype, layout, invalid_label
        self.default_bucket_key = self.buckets[-1]
        self.data = self._padded(sentences)
        self._places = [(bucket, at) for bucket, rows in enumerate(self.data)
                        for at in range(0, len(rows) - batch_size + 1, batch_size)]
        self.reset()

    def _padded(self, sentences):
        """[sentences, length] for each bucket."""
        rows, longer = [[] for _ in self.buckets], 0
        for sentence in sentences:
            bucket = bisect.bisect_left(self.buckets, len(sentence))
            if bucket == len(self.buckets):
                longer += 1
                continue
            row = numpy.full(self.buckets[bucket], self.invalid_label, self.dtype)
            row[: len(sentence)] = sentence
            rows[bucket].append(row)
        if longer:
            logging.warning("%d sentences are longer than the largest bucket, and are left out",
                            longer)
        return [numpy.array(each, self.dtype).reshape(-1, length)
                for each, length in zip(rows, self.buckets)]

    @property
    def provide_data(self) -> list[DataDesc]:
        return self._described(self.data_name, self.default_bucket_key)

    @property
    def provide_label(self) -> list[DataDesc]:
        return self._described(self.label_name, self.default_bucket_key)

    def _described(self, name, length):
        shape = (self.batch_size, length) if self.layout == "NT" else (length, self.batch_size)
        return [DataDesc(name, shape, self.dtype, self.layout)]

    def __len__(self) -> int:
        """The number of batches in an epoch."""
        return len(self._places)

    def reset(self) -> None:
        """Starts an epoch, with the batches and the sentences of each bucket shuffled."""
        self._next = 0
        random.shuffle(self._places)
        for rows in self.data:
            numpy.random.shuffle(rows)

    def next(self) -> DataBatch:
        if self._next == len(self._places):
            raise StopIteration
        bucket, at = self._places[self._next]
        self._next += 1
        data = self.data[bucket][at : at + self.batch_size]
        label = numpy.full_like(data, self.invalid_label)
        label[:, :-1] = data[:, 1:]
        if self.layout == "TN":
            data, label = data.T, label.T
        length = self.buckets[bucket]
        return DataBatch([NDArray(data)], [NDArray(label)], pad=0, bucket_key=length,
                         provide_data=self._described(self.data_name, length),
                         provide_label=self._described(self.label_name, length))
