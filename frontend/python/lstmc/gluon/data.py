"""Datasets, samplers and loaders: gluon.data."""

from .datasets import ArrayDataset, Dataset, SimpleDataset
from .loader import DataLoader, default_batchify_fn
from .samplers import (BatchSampler, FilterSampler, IntervalSampler, RandomSampler, Sampler,
                       SequentialSampler)
