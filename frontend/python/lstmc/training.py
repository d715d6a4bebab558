"""Data for training, and the implementation of fit, score and predict of a session."""

import operator
import threading
from numbers import Real

import numpy

from . import _core
from .arrays import as_array, fill, input_dtype, numbers
from .error import did_you_mean, usage, warn
from .keywords import as_fields


_OF_VALIDATIONS = {"valid_every", "early_stop"}  # flags that only validations read


class Arrays:
    """Arrays by input. Samples lie along the input's batch axis, by default the first."""

    def __init__(self, arrays, batch=None, axes=None, shuffle=True, valid=0.0):
        self.arrays = {name: numbers(value, name) for name, value in arrays.items()}
        self._batch = batch or 32
        self._axes = axes or {}
        self._shuffle = shuffle
        self._valid = valid

    def share(self, valid):
        return Arrays(self.arrays, self._batch, self._axes, self._shuffle, valid)

    def kept(self, session):
        """The share of the data held out for validation, split as the runtime does; None without
        one."""
        if not self._valid:
            return None
        inputs, _ = session.package._entry("evaluate")
        axes = {name: dims.index("batch") if "batch" in dims else 0
                for name, _, _, _, dims in inputs}
        parts = {}
        for name, array in self.arrays.items():
            count = array.shape[axes.get(name, 0)]
            parts[name] = numpy.take(array, range(_core.split_point(count, self._valid), count),
                                     axis=axes.get(name, 0))
        return Arrays(parts, self._batch, self._axes, False)

    def shapes(self):
        """The shapes of a batch."""
        shapes = {}
        for name, array in self.arrays.items():
            rest = list(array.shape)
            axis = self._axes.get(name, 0)
            rest[axis if axis < len(rest) else 0] = self._batch
            shapes[name] = tuple(rest)
        return shapes

    def types(self):
        return {name: input_dtype(array) for name, array in self.arrays.items()}

    def vocabulary(self):
        return None

    def core(self, _):
        return _core.data_of_arrays(
            {name: numpy.ascontiguousarray(a) for name, a in self.arrays.items()}, self._valid,
            self._shuffle)


class Spec:
    """A SPEC of the command, whose files are read when they are first asked for. `learned` is of
    the data that the weights are of: their vocabulary, or how their table is scaled and read."""

    def __init__(self, text, path, keys, flags, learned=None, job="train"):
        self.text = text
        self._place = path or "", keys
        self._flags = {key: flags[key] for key in ("allow_data", "limit", "valid") if key in flags}
        self._known = learned
        self._job = job
        self._read = None

    def share(self, valid):
        """The same with validation data: a share of these, or another SPEC."""
        return Spec(self.text, *self._place, {**self._flags, "valid": valid}, self._known)

    def learned(self):
        return self._data.learned()

    def remark(self):
        """That the data are read by a vocabulary or scaling of their own; mostly empty."""
        return self._data.remark()

    def buckets(self):
        """The numbers of steps for which a network is compiled, ascending; mostly none."""
        return self._data.buckets()

    @property
    def _data(self):
        if self._read is None:
            path, keys = self._place
            given = as_fields({"data": self.text, **self._flags})
            self._read = _core.data_of_spec(path, self._job, given, keys, self._known)
        return self._read

    def shapes(self):
        return {}

    def types(self):
        return {}

    def vocabulary(self):
        return self._data.vocabulary_size()

    def core(self, _):
        return self._data


class Batches:
    """The user's iterator. An epoch ends with the iterator; for the next one it is reset, or
    iterated anew. Where states are carried, row i of a batch continues row i of the previous batch,
    unless the iterator's attribute `continues` is False."""

    def __init__(self, iterator):
        self._iterator = iterator
        if type(iterator).__module__ in ("builtins", "itertools") and iter(iterator) is iterator:
            raise usage(f"{type(iterator).__name__} gives its batches once, and a training reads "
                        "them anew for each epoch: give a list of them, or an object whose "
                        "__iter__ or reset() begins again")
        self._running = None
        self._next = None  # (epoch, batch) that _running returns next
        self._first = self._as_dict(next(self._begin(), None) or {}, None)
        if not self._first:
            raise usage("the iterator gave no batch")
        self._length = None

    def shapes(self):
        return {name: as_array(value).shape for name, value in self._first.items()}

    def types(self):
        return {name: input_dtype(as_array(value)) for name, value in self._first.items()}

    def vocabulary(self):
        return None

    def core(self, _):
        if self._length is None:
            self._length = (len(self._iterator) if hasattr(self._iterator, "__len__")
                            else sum(1 for _ in self._begin()))
            self._next = None
        return _core.data_of_batches(self, self._length,
                                     bool(getattr(self._iterator, "continues", True)))

    def fill(self, epoch, batch, views):
        """The loop calls this for each batch, in order."""
        self._write(self._take(epoch, batch), views)

    def _take(self, epoch, batch):
        """Takes the batch of this epoch and number from the iterator."""
        if self._next != (epoch, batch):
            self._running = self._begin()
            for _ in range(batch):  # a resumed run starts within an epoch
                next(self._running)
        given = next(self._running, None)
        if given is None:
            raise usage(f"the iterator ended after {batch} batches of epoch {epoch}, the first "
                        f"epoch had {self._length}")
        self._next = (epoch, batch + 1) if batch + 1 < self._length else None
        return given

    def _write(self, given, views):
        arrays = self._as_dict(given, list(views))
        for name, view in views.items():
            if name not in arrays:
                raise usage(f'the iterator gave no "{name}"; there are {", ".join(arrays)}')
            fill(view, arrays[name], name)

    def _begin(self):
        if hasattr(self._iterator, "reset"):
            self._iterator.reset()
        return iter(self._iterator)

    def _as_dict(self, batch, _):
        if isinstance(batch, dict):
            return batch
        if not hasattr(batch, "data"):
            raise usage("batches are dicts of arrays by input, or MXNet's, with .data and .label; "
                        f"the iterator gave {type(batch).__name__}: "
                        '{"data": x, "label": y} for x, y in ..')
        names = [entry[0] for entry in described(batch, self._iterator)]
        return dict(zip(names, (*batch.data, *(batch.label or ()))))


class Buckets(Batches):
    """An iterator whose batches have a `bucket_key`. `keys` maps each key to the number of its
    session."""

    def __init__(self, iterator, keys):
        super().__init__(iterator)
        self._keys = keys
        self._held = None

    def bucket(self, epoch, batch):
        """The loop calls this before `fill`."""
        self._held = self._take(epoch, batch)
        if self._held.bucket_key not in self._keys:
            raise usage(f"batch {batch} of epoch {epoch} has the bucket_key "
                        f"{self._held.bucket_key!r}, which the first epoch did not have")
        return self._keys[self._held.bucket_key]

    def fill(self, epoch, batch, views):
        if self._held is None:  # with one bucket the loop does not call `bucket`
            self.bucket(epoch, batch)
        self._write(self._held, views)
        self._held = None


def described(batch, iterator):
    """Names and shapes of a batch's arrays, from the batch or its iterator."""
    data, label = getattr(batch, "provide_data", None), getattr(batch, "provide_label", None)
    return (*(data or iterator.provide_data), *(label or iterator.provide_label or ()))


def prepare(data, batch, axes, place, shuffle=None):
    """Wraps `data` in one of these classes. `shuffle` applies to arrays."""
    if not isinstance(shuffle, (bool, numpy.bool_, type(None))):
        raise usage(f"shuffle= is True or False, got {shuffle!r}")
    if isinstance(data, dict):
        return Arrays(data, batch, axes, shuffle is None or bool(shuffle))
    if shuffle is not None:
        raise usage("shuffle= is of arrays; of a SPEC it is a key (npz:d.npz,shuffle=no), and an "
                    "iterator has its own order")
    if isinstance(data, (Arrays, Spec, Batches)):
        return data
    if isinstance(data, str):
        return Spec(data, *place)
    if not hasattr(data, "__iter__"):
        raise usage(f"data are a dict of arrays, a SPEC or an iterator over batches, got {data!r}")
    return Batches(data)


def batch_size(batch):
    """The number of samples in a batch, or None."""
    if batch is None:
        return None
    count = 0 if isinstance(batch, (bool, numpy.bool_)) else batch
    try:
        count = operator.index(count)
    except TypeError:
        count = 0
    if count < 1:
        raise usage(f"batch= is a count from 1, got {batch!r}")
    return count


def with_valid(source, valid):
    """The data, and what validates beside them: a share at their end is one of the data, and so is
    a SPEC beside a SPEC, which is read by the same vocabulary and scaling."""
    if isinstance(valid, Real) and not isinstance(valid, bool):
        return with_share(source, float(valid)), None
    if isinstance(valid, str) and isinstance(source, Spec):
        return source.share(valid), None
    if valid is not None and isinstance(source, Spec):
        source = source.share(0)  # in place of that of data(..)
    return source, valid


def with_share(source, share):
    """The same data with a share at the end kept for validation."""
    if not isinstance(source, (Arrays, Spec)):
        raise usage("a share for validation is for arrays and a SPEC; an iterator needs another "
                    "one")
    return source.share(share)


def metric_names(metric):
    """The names of lstmc's metrics, without the user's functions."""
    return _split(metric)[0]


def _split(metric):
    """Splits metrics into (names, functions)."""
    metrics = metric if isinstance(metric, (list, tuple)) else [] if metric is None else [metric]
    for each in metrics:
        if not callable(each) and not isinstance(each, str):
            raise usage(f"metric= has names of metrics and functions of (label, prediction), got "
                        f"{each!r}")
    return [m for m in metrics if not callable(m)], [m for m in metrics if callable(m)]


def with_functions(keys, metric):
    """Moves functions in `eval_metric`, the key of fit(..), to the metrics of `metric`."""
    names, functions = _split(keys.get("eval_metric"))
    if not functions:
        return dict(keys), metric
    keys = {key: value for key, value in keys.items() if key != "eval_metric"}
    if names:
        keys["eval_metric"] = names
    return keys, [*sum(_split(metric), []), *functions]


def _names_of(functions):
    """A name for the value of each function, all different."""
    names = []
    for function in functions:
        name = getattr(function, "__name__", None) or type(function).__name__
        names.append(name if name not in names else f"{name}_{len(names)}")
    return names


def _check_functions(functions, validated, measured):
    """Refuses metric functions where nothing would call them."""
    if functions and not validated:
        raise usage(f'the metric {_names_of(functions)[0]} is a function, which validations call, '
                    'and there are no data to validate on: valid=0.1 keeps a tenth of them')
    if functions and not isinstance(measured, Arrays):
        raise usage("a metric that is a function needs arrays to measure on")


def _measure(session, functions, data):
    """Evaluates the metric functions on arrays."""
    if not functions:
        return {}
    _check_functions(functions, True, data)
    entry = session.package.inputs("forward")
    labels = [array for name, array in data.arrays.items()
              if name not in entry or name.endswith("label")]
    predicted = predict(session, data)
    label = labels[0] if len(labels) == 1 else labels
    return {name: function(label, predicted)
            for name, function in zip(_names_of(functions), functions)}


def _set_first(session, path, flags, data):
    """Sets the weights of a file whose names and shapes match."""
    limits = {key: value for key, value in flags.items() if key == "limit"}
    found, wanted, others = _core.init_params(session._core, str(path), as_fields(limits), data)
    if others:
        warn(f"warning: init_params: {found} of {wanted} parameters from {path}; "
             f"{'; '.join(others)}")


def fit(session, data, valid, callback, metric, flags, buckets=()):
    _core.check_no_training()
    place = None, [], {}, session._known()
    source, valid = with_valid(prepare(data, None, None, place), valid)
    check = prepare(valid, None, None, place) if valid is not None else None
    if isinstance(source, Spec) and len(source.buckets()) > len(buckets) + 1:
        raise usage("buckets= of the data compile the network for each length, which fit of a "
                    "Network of a .lnet file does; BucketingModule takes symbols")
    names, functions = _split(metric)
    core = source.core(None)
    measured = check or (source.kept(session) if isinstance(source, Arrays) else None)
    _check_functions(functions, check is not None or core.validates(), measured)
    unseen = ([] if check is not None or core.validates()
              else _core.validations_measure(session.package._compiled, list(names)))
    for name in unseen:
        warn(f"warning: {name} is measured in validations only, and there are none: valid=0.1 "
             "keeps a tenth of the data for them")
    if check is None and not core.validates():
        for key in sorted(_OF_VALIDATIONS & flags.keys()):
            warn(f"warning: {key}= has no effect: there are no data to validate on; valid=0.1 "
                 "keeps a tenth of them")
    flags = dict(flags)
    path = flags.pop("init_params", None)
    if path is not None:
        if flags.get("resume"):
            raise usage("init_params= begins a training, and resume= does too: give one of them")
        _set_first(session, path, flags, core)

    def observe(event):
        if event["event"] == "valid":
            event.update(_measure(session, functions, measured))
        if callback is not None:
            callback(event)

    listener = observe if callback is not None or functions else None
    session._forget_inputs()
    if isinstance(source, Spec):
        session._learned = source.learned()
    return _core.fit(session._core, session.package._compiled,
                     as_fields({**flags, "metric": names or None}), core,
                     check.core(None) if check else None, listener,
                     [bucket._core for bucket in buckets])


def _in_main_thread():
    """Whether this is the main thread, which alone receives signals."""
    return threading.current_thread() is threading.main_thread()


def score(session, data, metric):
    source = prepare(data, None, None, (None, [], {}, session._known(), "eval"))
    if isinstance(source, Arrays):
        source._shuffle = False
    if isinstance(source, Spec) and source.remark():
        warn(source.remark())
    names, functions = _split(metric)
    if functions:
        _check_functions(functions, True, source)
    session._forget_inputs()
    values = _core.score(session._core, session.package._compiled, names, source.core(None),
                         _in_main_thread())
    values.update(_measure(session, functions, source))
    return values


def predict(session, data):
    """The rows of the data in order, for each output that has rows, as `lstmc predict`."""
    entry = session.package.inputs("forward")
    if (isinstance(data, (str, Batches, Spec)) or hasattr(data, "provide_data")
        or hasattr(data, "__next__")):
        raise usage("predict takes arrays by input; Module.predict takes iterators, and `lstmc "
                    "predict` a SPEC")
    arrays = (data.arrays if isinstance(data, Arrays) else data if isinstance(data, dict)
              else {next(iter(entry), "data"): data})
    known = list(dict.fromkeys(name for of in session.package.entries
                               for name in session.package.inputs(of)))
    for name in arrays:
        if name not in known:
            raise usage(f'the network has no input "{name}"{did_you_mean(name, known)}; its inputs '
                        f'are {", ".join(known)}')
    session._forget_inputs()
    with session.fresh_states():
        joined = _core.predict(session._core, session.package._compiled,
                               Arrays(arrays, shuffle=False).core(None), _in_main_thread())
    return next(iter(joined.values())) if len(joined) == 1 else joined
