"""MXNet's Module over Network: bind, train, measure and save. `fit` uses the runtime's loop, so its
bits are those of `lstmc train`."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

import numpy

from . import metric as metrics
from .arrays import as_array
from .context import Context, cpu
from .error import usage
from .init import Uniform
from .io import DataDesc, NDArrayIter
from .loop import Loop
from .model import load_checkpoint, save_checkpoint
from .ndarray import NDArray, array
from .nd import save
from .network import Network
from .nodes import variables
from .optimizer import Optimizer
from .params_file import read
from .sharing import Turn, one_at_a_time
from .watch import Watch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from numpy.typing import ArrayLike
    from typing import Any

    from .graph import Symbol
    from .init import Initializer
    from .io import DataBatch
    from .kinds import Path
    from .metric import EvalMetric


class Module:
    """A symbol with its inputs, weights and training. `context` is a Context or a list of them,
    which divide the batch; `group2ctxs` places ctx_groups. Threads may share it: one call runs at a
    time, the others wait, and `get_outputs` returns the results of the calling thread's last
    `forward`. A loop of one's own (`forward(is_train=True)`, `backward`, `update`) belongs to one
    thread, because the module holds its current batch."""

    #: whether the Module evaluates validation data itself, outside of the training loop
    validates = False

    def __init__(self, symbol: Symbol, data_names: Sequence[str] = ("data",),
                 label_names: Sequence[str] | None = ("softmax_label",),
                 logger: Any = logging, context: Context | Sequence[Context] | None = None,
                 work_load_list: Sequence[float] | None = None,
                 fixed_param_names: Sequence[str] | None = None,
                 state_names: Sequence[str] | None = None, group2ctxs: Any = None,
                 compression_params: Any = None) -> None:
        if compression_params is not None or state_names:
            raise usage("a Module has no gradient compression, and no state_names: give the states "
                        "as data, or keep them by carry of Network.fit")
        self.symbol = symbol
        self.logger = logger
        arguments = symbol.list_arguments()
        self.data_names, label_names = list(data_names or ()), list(label_names or ())
        for name in self.data_names:
            if name not in arguments:
                raise usage(f'the symbol has no argument "{name}", which data_names has; there are '
                            f'{", ".join(arguments)}')
        self.label_names = [name for name in label_names if name in arguments]
        self._flags = {"devices": _devices(context), "work_load_list": work_load_list}
        if fixed_param_names:
            self._flags["fixed_params"] = list(fixed_param_names)
        if group2ctxs:
            groups = group2ctxs[0] if isinstance(group2ctxs, list) else group2ctxs
            self._flags["place"] = {name: _first(place).device for name, place in groups.items()}
        self._network = Network(symbol)
        self._shapes, self._types = None, {}
        self._batch = 1  # samples per batch
        self._initializer, self._given = Uniform(0.01), {}
        self._optimizer = {}
        self._sessions = {}  # by shapes, for forward
        self._axes = []  # the batch axis of each output of the last forward
        self._turn, self._of_thread = Turn(), threading.local()
        self._loop = None  # the user's loop, after init_optimizer
        self.binded = self.for_training = self.params_initialized = self.optimizer_initialized = (
            False)

    # Preparation.

    @one_at_a_time
    def bind(self, data_shapes: Sequence[Any], label_shapes: Sequence[Any] | None = None,
             for_training: bool = True, inputs_need_grad: bool = False, force_rebind: bool = False,
             shared_module: Any = None, grad_req: str = "write") -> None:
        """Sets the shapes of a batch: DataDesc, or (name, shape). `grad_req` is "write" for
        training; without training there are no gradients, whatever its value."""
        if inputs_need_grad or (for_training and grad_req == "add"):
            raise usage("a Module gives no gradients to its inputs, and does not add them up: "
                        "lstmc.autograd does both")
        if for_training and grad_req != "write":
            raise usage(f"grad_req={grad_req!r} with for_training=True: without gradients nothing "
                        "is trained; for_training=False binds without them")
        if self.binded and not force_rebind:
            return
        described = [*data_shapes, *(label_shapes or [])]
        declared = variables(self.symbol)
        self._shapes = {name: tuple(shape) for name, shape in (entry[:2] for entry in described)}
        self._batch = _samples(described[0]) if described else 1
        for entry in described:
            if isinstance(entry, DataDesc) and "N" in entry.layout and entry[0] in declared:
                declared[entry[0]].options["layout"] = (declared[entry[0]].options.get("layout")
                                                        or entry.layout)
        self._sessions = {}
        self._end_loop()
        self.binded, self.for_training = True, for_training

    @one_at_a_time
    def init_params(self, initializer: Initializer | str | None = Uniform(0.01),
                    arg_params: Mapping[str, ArrayLike] | None = None,
                    aux_params: Mapping[str, ArrayLike] | None = None, allow_missing: bool = False,
                    force_init: bool = False, allow_extra: bool = False) -> None:
        """Sets the initial weights: those in `arg_params`, and the initializer's for missing ones,
        if `allow_missing`."""
        if self.params_initialized and not force_init:
            return
        self._initializer = initializer
        self._given = self._named(arg_params, aux_params)
        self._check_given(self._given, allow_missing)
        self._end_loop()
        self._network.session = None
        self._sessions = {}
        self.params_initialized = True

    @one_at_a_time
    def init_optimizer(self, kvstore: Any = "local", optimizer: str | Optimizer = "sgd",
                       optimizer_params: Any = (("learning_rate", 0.01),),
                       force_init: bool = False) -> None:
        """Sets the optimizer. One given by name has `rescale_grad` 1/batch by default, whatever the
        loss divides by, as in MXNet. Several processes are started with `lstmc launch`, not with a
        kvstore."""
        if "dist" in str(kvstore):
            raise usage(f'kvstore "{kvstore}": processes are joined by `lstmc launch`, which '
                        'runs .lnet files')
        if not isinstance(optimizer, (str, Optimizer)):
            raise usage("optimizer is a name, with its arguments in optimizer_params, or one of "
                        f"lstmc.optimizer; got {optimizer!r}")
        self._end_loop()
        if isinstance(optimizer, Optimizer):
            self._optimizer = {"optimizer": optimizer.name, **optimizer.arguments}
        else:
            self._optimizer = {"optimizer": optimizer, "rescale_grad": None,
                               **dict(optimizer_params)}
        self.optimizer_initialized = True

    # Training and measuring.

    @one_at_a_time
    def fit(self, train_data: Any, eval_data: Any = None, eval_metric: Any = "acc",
            epoch_end_callback: Any = None, batch_end_callback: Any = None, kvstore: Any = "local",
            optimizer: str | Optimizer = "sgd", optimizer_params: Any = (("learning_rate", 0.01),),
            eval_end_callback: Any = None, eval_batch_end_callback: Any = None,
            initializer: Initializer | str | None = Uniform(0.01),
            arg_params: Mapping[str, ArrayLike] | None = None,
            aux_params: Mapping[str, ArrayLike] | None = None, allow_missing: bool = False,
            force_rebind: bool = False, force_init: bool = False, begin_epoch: int = 0,
            num_epoch: int | None = None, validation_metric: Any = None,
            monitor: Any = None, sparse_row_id_fn: Any = None) -> None:
        """Trains from epoch `begin_epoch` to `num_epoch` - 1. During training, metrics are those of
        the runtime, over the epoch so far; validations compute all."""
        if num_epoch is None:
            raise usage("fit needs num_epoch")
        if monitor is not None:
            raise usage("monitor is not there: `lstmc train --monitor` is")
        self.bind(train_data.provide_data, train_data.provide_label, force_rebind=force_rebind)
        self.init_params(initializer, arg_params, aux_params, allow_missing, force_init)
        self.init_optimizer(kvstore, optimizer, optimizer_params)
        watch = Watch(self, metrics.each(eval_metric),
                      metrics.each(validation_metric or eval_metric), eval_data, begin_epoch,
                      _list(batch_end_callback), _list(epoch_end_callback),
                      _list(eval_end_callback))
        self._train(train_data, eval_data, watch, num_epoch - begin_epoch)
        self._sessions = {}

    def _train(self, train_data, eval_data, watch, epochs, **more):
        self._network.fit(train_data, eval_data, callback=watch, metric=watch.names,
                          initializer=self._initializer, params=self._first_values(),
                          shapes=self._shapes, types=self._types, num_epoch=epochs, disp_every="1e",
                          **more, **self._flags, **self._keys())

    @one_at_a_time
    def score(self, eval_data: Any, eval_metric: Any, num_batch: int | None = None,
              batch_end_callback: Any = None, score_end_callback: Any = None, reset: bool = True,
              epoch: int = 0, sparse_row_id_fn: Any = None) -> list[tuple[str, float]]:
        """[(metric, value)] over the data."""
        self.bind(eval_data.provide_data, eval_data.provide_label)
        found = metrics.each(eval_metric)
        for each in found:
            each.reset()
        names = [each.compiled for each in found if each.compiled and num_batch is None]
        values = self._session().score(eval_data, names) if names else {}
        rest = [each for each in found if each.compiled not in values]
        if rest:
            self.measure(eval_data, rest, num_batch)
        return [(each.name, values[each.compiled]) if each.compiled in values else each.get()
                for each in found]

    def measure(self, eval_data: Any, found: Sequence[EvalMetric],
                num_batch: int | None = None) -> None:
        """Updates the metrics with the outputs for the data."""
        for outputs, batch in self._each(eval_data, num_batch):
            for each in found:
                each.update(batch.label, outputs)

    @one_at_a_time
    def predict(self, eval_data: Any, num_batch: int | None = None, merge_batches: bool = True,
                reset: bool = True,
                always_output_list: bool = False, sparse_row_id_fn: Any = None) -> Any:
        """The outputs for all samples: one NDArray, or a list where there are several."""
        if isinstance(eval_data, (NDArray, numpy.ndarray)):
            eval_data = NDArrayIter(eval_data, batch_size=self._shapes[self.data_names[0]][0],
                                    data_name=self.data_names[0])
        batches = [[_without_pad(output.asnumpy(), axis, batch)
                    for output, axis in zip(outputs, self._axes)]
                   for outputs, batch in self._each(eval_data, num_batch)]
        if not merge_batches:
            return [[NDArray(output) for output in outputs] for outputs in batches]
        joined = [NDArray(numpy.concatenate(outputs, axis=axis or 0))
                  for outputs, axis in zip(zip(*batches), self._axes)]
        return joined if always_output_list or len(joined) > 1 else joined[0]

    def _each(self, data, num_batch):
        data.reset()
        for number, batch in enumerate(data):
            if number == num_batch:
                return
            self.forward(batch, is_train=False)
            yield self.get_outputs(), batch

    @one_at_a_time
    def forward(self, data_batch: DataBatch, is_train: bool | None = None) -> None:
        """Runs the network on a batch; for other shapes than those of `bind` it is compiled again.
        With `is_train` (default: `for_training` of `bind`), the batch is kept for `backward` and
        `update` (loop.py), and other shapes are refused."""
        given = self._arrays(self.data_names, data_batch.data)
        if len(data_batch.data) != len(self.data_names):
            raise usage(f"the batch has {len(data_batch.data)} arrays of data, and data_names are "
                        f"{', '.join(self.data_names)}")
        whole = {**given, **self._arrays(self.label_names, data_batch.label)}
        if is_train is None:
            is_train = (self.for_training and self.optimizer_initialized
                        and {name: value.shape for name, value in whole.items()} == self._shapes)
        if is_train:
            self._training_loop().forward(whole)
            self._outputs = None
            return
        session = self._session({name: value.shape for name, value in given.items()})
        if self._loop is not None:
            self._loop.drop()
        outputs, self._axes = session._forward(whole)
        self._outputs = [NDArray(output) for output in outputs]

    @one_at_a_time
    def backward(self, out_grads: Any = None) -> None:
        """Backward for the batch of the last `forward`. The gradients start at the losses."""
        if out_grads is not None:
            raise usage("a Module has no out_grads: an Executor of simple_bind has")
        self._training_loop().backward()

    def forward_backward(self, data_batch: DataBatch) -> None:
        self.forward(data_batch, is_train=True)
        self.backward()

    @one_at_a_time
    def update(self) -> None:
        """Updates the weights with the gradients of the last `backward`."""
        self._training_loop().update()

    @one_at_a_time
    def update_metric(self, eval_metric: EvalMetric, labels: Sequence[ArrayLike],
                      pre_sliced: bool = False) -> None:
        """Adds the outputs of the last `forward` to the metric."""
        eval_metric.update(labels, self.get_outputs())

    @one_at_a_time
    def get_outputs(self, merge_multi_context: bool = True) -> list[NDArray]:
        """The outputs of the last `forward`, computed with the weights of that time and without
        dropout."""
        return (self._outputs if self._outputs is not None or self._loop is None
                else self._loop.outputs())

    # Weights.

    @one_at_a_time
    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """(arg_params, aux_params)"""
        values = {name: NDArray(value) for name, value in self._session().params().items()}
        auxiliary = set(self.symbol.list_auxiliary_states())
        return ({name: value for name, value in values.items() if name not in auxiliary},
                {name: value for name, value in values.items() if name in auxiliary})

    @one_at_a_time
    def set_params(self, arg_params: Mapping[str, ArrayLike],
                   aux_params: Mapping[str, ArrayLike] | None = None, allow_missing: bool = False,
                   force_init: bool = True, allow_extra: bool = False) -> None:
        """Sets weights. A loop of the user's own continues with the optimizer's states
        unchanged."""
        if self._loop is not None and force_init:
            self._check_given(self._named(arg_params, aux_params), allow_missing)
            self._loop.finish()
            self._network.session.set_params(self._named(arg_params, aux_params))
        else:
            self.init_params(self._initializer, arg_params, aux_params, allow_missing, force_init,
                             allow_extra)

    @one_at_a_time
    def save_params(self, fname: Path) -> None:
        """Writes the weights as MXNet's file of arrays."""
        arg_params, aux_params = self.get_params()
        save(fname, {**{f"arg:{name}": value for name, value in arg_params.items()},
                     **{f"aux:{name}": value for name, value in aux_params.items()}})

    @one_at_a_time
    def load_params(self, fname: Path) -> None:
        self.set_params({name.partition(":")[2] or name: array(value, dtype=value.dtype)
                         for name, value in read(fname).items()})

    @one_at_a_time
    def save_checkpoint(self, prefix: str, epoch: int, save_optimizer_states: bool = False) -> None:
        """PREFIX-symbol.json and PREFIX-0001.params."""
        if save_optimizer_states:
            raise usage("save_optimizer_states: checkpoints of Network.fit(output=..) have the "
                        "optimizer's states, MXNet's files do not")
        save_checkpoint(prefix, epoch, self.symbol, *self.get_params())

    @classmethod
    def load(cls, prefix: str, epoch: int, load_optimizer_states: bool = False,
             **keywords: Any) -> Module:
        """Loads a Module from such files; then bind it, or fit it with `begin_epoch`."""
        symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
        module = cls(symbol, **keywords)
        module.init_params(arg_params=arg_params, aux_params=aux_params, allow_missing=False)
        return module

    # Implementation.

    def _held(self):
        return self._turn

    @property
    def _outputs(self):
        """The outputs of the last `forward` of this thread."""
        return getattr(self._of_thread, "outputs", None)

    @_outputs.setter
    def _outputs(self, outputs):
        self._of_thread.outputs = outputs

    def _arrays(self, names, values):
        return dict(zip(names, map(as_array, values or ())))

    def _named(self, arg_params, aux_params):
        return {name: as_array(value)
                for name, value in {**(arg_params or {}), **(aux_params or {})}.items()}

    def _check_given(self, given, allow_missing):
        missing = ([name for name in self._parameters() if name not in given]
                   if given and not allow_missing else [])
        if missing:
            raise usage(f'"{missing[0]}" is not in arg_params, and allow_missing is not given')

    def _keys(self):
        """The optimizer as keys of fit."""
        keys = {key: str(value) if key == "lr_scheduler" else value
                for key, value in self._optimizer.items()}
        if "rescale_grad" in keys and keys["rescale_grad"] is None:
            keys["rescale_grad"] = 1 / self._batch
        return keys

    def _first_values(self):
        """The weights that were set; None if a training has weights, or the initializer sets them
        all."""
        return None if self._network.session else self._given or None

    def _training_loop(self):
        if self._loop is None:
            if not (self.binded and self.params_initialized and self.optimizer_initialized):
                raise usage("a loop over forward, backward and update comes after bind, "
                            "init_params and init_optimizer")
            package = self._network.compile(self._shapes, self._types,
                                            initializer=self._initializer, **self._flags,
                                            **self._keys())
            weights = (self._network.session.params() if self._network.session
                       else self._first_values())
            self._network.session = package._session(weights, (), {})
            self._loop = Loop(self._network.session)
        return self._loop

    def _end_loop(self):
        """Ends the user's loop; the session keeps the weights."""
        if self._loop is not None:
            self._loop.finish()
            self._loop = None

    def _parameters(self):
        inputs = {*self.data_names, *self.label_names}
        return [name for name in self.symbol.list_arguments() if name not in inputs]

    def _session(self, shapes=None):
        """The session of the last training, or one for these shapes of data with its weights."""
        if self._loop is not None:
            self._loop.finish()
        bound = (self._shapes
                 and all(self._shapes.get(name) == shape for name, shape in (shapes or {}).items()))
        if self._network.session is not None and bound:
            return self._network.session
        if not self.binded:
            raise usage("the module is not bound: bind it, or give data with provide_data")
        key = tuple(sorted(shapes.items())) if shapes and not bound else None
        weights = self._network.session.params() if self._network.session else self._given
        if key in self._sessions and self._loop is not None:
            self._sessions[key].set_params({name: value for name, value in weights.items()
                                            if name in self._sessions[key].package.parameters})
        if key not in self._sessions:
            wanted = self._shapes if key is None else {
                **{name: self._label_shape(name, shapes) for name in self.label_names}, **shapes}
            wanted = {**self._open_labels(wanted), **wanted}
            package = self._network.compile(wanted, self._types, initializer=self._initializer,
                                            devices=self._flags["devices"])
            known = set(package.parameters)
            self._sessions[key] = package._session(
                {name: value for name, value in weights.items() if name in known} or None, (), {})
        return self._sessions[key]

    def _open_labels(self, shapes):
        """{label: shape} of those that are not bound, which a prediction does not read, as the loss
        has them."""
        arguments = self.symbol.list_arguments()
        left = [name for name in self.label_names if name not in shapes and name in arguments]
        if not left:
            return {}
        found, _, _ = self.symbol.infer_shape(**shapes)
        return {name: shape for name, shape in zip(arguments, found) if name in left}

    def _label_shape(self, name, shapes):
        """The shape of a label for a batch with another number of samples."""
        before, batch = self._shapes[self.data_names[0]][0], shapes[self.data_names[0]][0]
        shape = self._shapes.get(name, (before,))
        return (shape[0] * batch // before, *shape[1:])


def _list(value):
    return [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]


def _without_pad(output, axis, batch):
    """The rows of real samples. If the batch axis has no name it is the first one, and a sample may
    have several rows, one per step."""
    if axis:
        return output.take(range(output.shape[axis] - (batch.pad or 0)), axis=axis)
    rows = len(output) // len(batch.data[0])
    return output[: len(output) - rows * (batch.pad or 0)]


def _samples(description):
    """The number of samples of (name, shape) or a DataDesc: the extent of N in its layout, else of
    the first axis."""
    shape, axis = (description[1],
                   (description.layout or "").find("N") if isinstance(description, DataDesc) else 0)
    return shape[axis if 0 <= axis < len(shape) else 0] if shape else 1


def _first(context):
    return context[0] if isinstance(context, (list, tuple)) else context


def _devices(context):
    contexts = _list(context) or [cpu()]
    if not all(isinstance(each, Context) for each in contexts):
        raise usage(f"context is a Context or a list of them, got {context!r}")
    return [each.device for each in contexts]
