"""MXNet's BucketingModule: one symbol per bucket key of a batch, usually the length of its
sequences, with shared weights. Training works as with `data(buckets=..)` of the language: one plan
per key, all in the memory of the largest."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from . import metric as metrics
from . import training
from .arrays import as_array, input_dtype
from .error import usage
from .module import Module
from .ndarray import NDArray
from .network import Network
from .nodes import variables
from .sharing import one_at_a_time

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence
    from typing import Any

    from .context import Context
    from .graph import Symbol
    from .io import DataBatch


class BucketingModule(Module):
    """`sym_gen(key)` returns (symbol, data_names, label_names). Batches have a `bucket_key`. The
    symbol of `default_bucket_key` represents the module; all others must have the same weights.
    Otherwise as Module."""

    validates = True

    def __init__(self, sym_gen: Callable[[Any], tuple[Symbol, Sequence[str], Sequence[str]]],
                 default_bucket_key: Hashable = None,
                 logger: Any = logging, context: Context | Sequence[Context] | None = None,
                 work_load_list: Sequence[float] | None = None,
                 fixed_param_names: Sequence[str] | None = None,
                 state_names: Sequence[str] | None = None, group2ctxs: Any = None,
                 compression_params: Any = None) -> None:
        if default_bucket_key is None:
            raise usage("BucketingModule needs default_bucket_key")
        self.default_bucket_key = default_bucket_key
        self._sym_gen = sym_gen
        self._symbols = {}
        self._forward = {}  # (key, shapes): a session, and the weights that it holds
        self._trained = 0
        symbol, data_names, label_names = self._symbol(default_bucket_key)
        super().__init__(symbol, data_names, label_names, logger, context, work_load_list,
                         fixed_param_names, state_names, group2ctxs, compression_params)

    @one_at_a_time
    def switch_bucket(self, bucket_key: Hashable, data_shapes: Sequence[Any],
                      label_shapes: Sequence[Any] | None = None) -> None:
        """Compiles the symbol of the key for these shapes, unless it is compiled already, for
        `forward`."""
        shapes = {name: tuple(shape)
                  for name, shape in (entry[:2] for entry in (*data_shapes, *(label_shapes or ())))}
        self._session_of(bucket_key, shapes)

    @one_at_a_time
    def init_params(self, *arguments: Any, **keywords: Any) -> None:
        super().init_params(*arguments, **keywords)
        self._trained += 1

    @one_at_a_time
    def forward(self, data_batch: DataBatch, is_train: bool | None = None) -> None:
        """Runs the symbol of the batch's `bucket_key`, or of the default key if it has none."""
        if is_train:
            self._training_loop()
        key = self.default_bucket_key if data_batch.bucket_key is None else data_batch.bucket_key
        _, data_names, label_names = self._symbol(key)
        given = dict(zip(data_names, map(as_array, data_batch.data)))
        labels = dict(zip(label_names or (), map(as_array, data_batch.label or ())))
        session = self._session_of(
            key, {name: value.shape for name, value in {**given, **labels}.items()})
        outputs, self._axes = session._forward({**given, **labels})
        self._outputs = [NDArray(output) for output in outputs]

    @one_at_a_time
    def score(self, eval_data: Any, eval_metric: Any, num_batch: int | None = None,
              batch_end_callback: Any = None, score_end_callback: Any = None, reset: bool = True,
              epoch: int = 0, sparse_row_id_fn: Any = None) -> list[tuple[str, float]]:
        """[(metric, value)] over the data of all buckets."""
        found = metrics.each(eval_metric)
        for each in found:
            each.reset()
        self.measure(eval_data, found, num_batch)
        return [each.get() for each in found]

    def _train(self, train_data, eval_data, watch, epochs, **more):
        shapes, types = _seen(train_data)
        for key in shapes:
            self._check(key)
        if self.default_bucket_key not in shapes:
            shapes[self.default_bucket_key], types[self.default_bucket_key] = (
                self._shapes, self._types)
        others = [key for key in shapes if key != self.default_bucket_key]
        buckets = [(Network(self._symbol(key)[0]), self._known(key, shapes[key]),
                    self._known(key, types[key]))
                   for key in others]
        numbers = {key: number for number, key in enumerate([*others, self.default_bucket_key])}

        def observe(event):
            self._trained += event["event"] == "update"
            watch(event)

        observe.names = watch.names
        super()._train(training.Buckets(train_data, numbers), None, observe, epochs,
                       _buckets=buckets, **more)
        self._trained += 1

    def _training_loop(self):
        raise usage("a BucketingModule trains by fit; a Module has forward(is_train=True), "
                    "backward and update")

    def _symbol(self, key):
        if key not in self._symbols:
            self._symbols[key] = self._sym_gen(key)
        return self._symbols[key]

    def _check(self, key):
        """Refuses a symbol whose weights differ from the default one's."""
        symbol, data_names, label_names = self._symbol(key)
        weights = [name for name in symbol.list_arguments()
                   if name not in {*data_names, *(label_names or ())}]
        for name in sorted({*weights} ^ {*self._parameters()}):
            raise usage(f'the symbols of the buckets {self.default_bucket_key!r} and {key!r} do '
                        f'not both have the weight "{name}"')

    def _known(self, key, found):
        """The entries of the dict that the symbol of the key reads."""
        names = {*variables(self._symbol(key)[0]), *self._symbol(key)[0].list_arguments()}
        return {name: value for name, value in found.items() if name in names}

    def _session_of(self, key, shapes):
        """A session for batches of these shapes, with the current weights."""
        symbol = self._symbol(key)[0]
        place = (key, tuple(sorted(shapes.items())))
        if place not in self._forward:
            package = Network(symbol).compile(self._known(key, shapes), entries=["forward"],
                                              initializer=self._initializer,
                                              devices=self._flags["devices"])
            self._forward[place] = [package.session(), None]
        session, trained = self._forward[place]
        if trained != self._trained:
            weights = (self._network.session.params() if self._network.session
                       else super()._session().params())
            session.set_params(weights)
            self._forward[place][1] = self._trained
        return session


def _seen(data):
    """The shapes and types of the inputs by bucket, from the batches of an epoch."""
    shapes, types = {}, {}
    data.reset()
    for batch in data:
        names = [entry[0] for entry in training.described(batch, data)]
        arrays = dict(zip(names, map(as_array, (*batch.data, *(batch.label or ())))))
        found = {name: array.shape for name, array in arrays.items()}
        if shapes.setdefault(batch.bucket_key, found) != found:
            raise usage(f"batches of the bucket {batch.bucket_key!r} have the shapes "
                        f"{shapes[batch.bucket_key]} and {found}")
        types.setdefault(batch.bucket_key,
                         {name: input_dtype(array) for name, array in arrays.items()})
    data.reset()
    return shapes, types
