"""Networks before they are compiled, and `load`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from . import _core, drawing, training
from .error import usage
from .graph import Symbol
from .init import spec_of
from .keywords import LOOP, SESSION, as_fields, check_taken, takes, with_fit_keys
from .nodes import batch_axis, variables
from .picture import Picture
from .session import Package
from .sharing import Turn, one_at_a_time

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any
    from typing_extensions import Unpack

    from .init import Initializer
    from .keyword_types import CompileKeywords, FitKeywords, NetworkKeywords
    from .kinds import DType, Path

# keywords for the open values of a text
_OF_FILES = ("batch", "batch_size", "layout", "net", "set", "shape")


@takes("Network")
def load(path: Path, **keywords: Unpack[NetworkKeywords]) -> Network | Package:
    """Loads a `.lnet` file as a Network, or a package (`.lstmc`) or a checkpoint's folder as a
    Package, which takes limit and quiet alone."""
    path = os.fspath(path)
    if path.endswith(".lnet"):
        return Network(path, **keywords)
    check_taken("load", keywords)
    return Package(_core.compile_file(path, "run", as_fields(keywords), [], None, None))


class Network:
    """A network before compilation, from a symbol or a `.lnet` file. Threads may share it: they
    compile in parallel; fit, score and predict run one at a time, in the session of the last
    fit."""

    @takes("Network")
    def __init__(self, source: Symbol | Path, name: str = "net",
                 **keywords: Unpack[NetworkKeywords]) -> None:
        """The keywords hold for all that is compiled of it, under those of the call."""
        check_taken("Network", keywords)
        self._source = source
        self._keywords = keywords
        self._turn = Turn()
        self._name = name
        self.session = None  #: of the last fit, score or predict
        if not isinstance(source, Symbol):
            self._source = os.fspath(source)
            self._name, _, self._data, *self._lists = _core.read_source(
                self._source, "run", as_fields(keywords))

    def __repr__(self):
        return (f"<Network {self._name}: {', '.join(self.list_arguments())} -> "
                f"{', '.join(self.list_outputs())}>")

    @property
    def name(self) -> str:
        return self._name

    def list_arguments(self) -> list[str]:
        return self._source.list_arguments() if self._drawn else self._lists[0]

    def list_outputs(self) -> list[str]:
        return self._source.list_outputs() if self._drawn else self._lists[1]

    @takes("compile")
    def compile(self, shapes: Mapping[str, Sequence[int]] | None = None,
                types: Mapping[str, DType] | None = None, entries: Sequence[str] = (),
                initializer: Initializer | str | None = None,
                **keywords: Unpack[CompileKeywords]) -> Package:
        """Compiles a Package for these shapes of inputs. They are required for a symbol; a file has
        its own, which `shape=` overrides, and also the keywords batch, net and set. Keys of
        fit(..) are keywords too."""
        check_taken("compile", keywords)
        if not self._drawn and shapes:
            keywords["shape"] = shapes
        return Package(self._compile("compile", {**self._keywords, **keywords}, list(entries),
                                     shapes, types, initializer))

    @takes("fit")
    def fit(self, data: Any, valid: Any = None, batch: int | None = None,
            callback: Callable[[dict[str, Any]], Any] | None = None, metric: Any = None,
            initializer: Initializer | str | None = None, params: Mapping[str, Any] | None = None,
            shapes: Mapping[str, Sequence[int]] | None = None,
            types: Mapping[str, DType] | None = None, shuffle: bool | None = None,
            _buckets: Sequence[Any] = (), **keywords: Unpack[FitKeywords]) -> dict[str, Any]:
        """Trains as `lstmc train` does, with the same bits, and returns the final reason, update,
        loss, best_loss, weights (the hash) and checkpoint.

        `data` is a dict of arrays by input, a SPEC as for `--data`, or an iterator over batches
        (dicts of arrays, or MXNet's batches with .data and .label) with `reset()` or iterable anew
        for every epoch. `valid` is validation data in the same forms, or the share of `data` to
        hold out. `batch` is the number of samples in a batch. `shuffle` reorders arrays in each
        epoch (the default); it cannot be combined with `carry`.

        `callback` is called after every update with a dict (`event` "update", "valid", "save",
        "start"); an exception in it ends the training, and it may not call fit. `metric` names the
        metrics of validations, or is a function of (label, prediction), or a list of both.

        `initializer` is from lstmc.init. `params` are initial weights by name (arrays, or functions
        of (name, shape)), or a path. `init_params` is the path of weights of which those with
        matching names and shapes are taken. Without both, training continues from the weights of an
        earlier fit.

        Other keywords are those of `lstmc train` (after, output, devices, threads, ...) and keys of
        fit(..) (optimizer, learning_rate, num_epoch, carry, ...); flags about what the command
        prints are refused.
        """
        _core.check_no_training()
        check_taken("fit", keywords)
        with self._held():
            return self._fit(data, valid, batch, callback, metric, initializer, params, shapes,
                             types, shuffle, _buckets, keywords)

    def _fit(self, data, valid, batch, callback, metric, initializer, params, shapes, types,
             shuffle, _buckets, keys):
        keys, metric = training.with_functions(keys, metric)
        init_params = keys.pop("init_params", None)
        if init_params is not None and (params is not None or keys.get("resume")):
            raise usage(
                'init_params= begins a training, and '
                f'{"params=" if params is not None else "resume="} does too: give one of them')
        loop = {key: keys.pop(key) for key in LOOP & keys.keys()}
        for_session = {key: keys[key] for key in SESSION & keys.keys()}
        batch = training.batch_size(batch)
        goes_on = self.session is not None and params is None and init_params is None
        known = self.session._known() if goes_on else None
        place = *self._path_and_keys(keys), known
        source, valid = training.with_valid(
            training.prepare(data, batch, self._axes(), place, shuffle), valid)
        keywords = {**self._keywords, **keys}
        steps = source.buckets() if isinstance(source, training.Spec) and not self._drawn else []
        if steps:
            keywords["data"] = source.text
        if batch is not None and not self._drawn:
            keywords["batch"] = batch
        if not self._drawn and shapes:
            keywords["shape"] = shapes
        names = training.metric_names(metric)
        if names:  # auc needs to be compiled in
            keywords["metric"] = names
        shapes, types = self._shapes_of(source, shapes, types)
        compiled = self._compile("train", keywords, [], shapes, types, initializer,
                                 source.vocabulary(), *steps[-1:])
        # Networks for other shapes (with these shapes and their types) that train the same weights.
        buckets = [Package(other._compile("train", keywords, ["step"], *described, initializer))
                   for other, *described in _buckets]
        buckets += [Package(self._compile("train", keywords, ["step"], shapes, types, initializer,
                                          source.vocabulary(), length)) for length in steps[:-1]]
        if isinstance(params, dict) and not params:
            raise usage("params= has no weights: leave it out, or give some by name")
        first = self.session.params() if goes_on else params
        if init_params is not None:
            compiled.unknown = []
        self.session = Package(compiled)._session(first, buckets, for_session)
        self.session._learned = self.session._learned or known
        sessions = [self.session.beside(package, **for_session) for package in buckets]
        seed = {k: v for k, v in {**for_session, "init_params": init_params}.items()
                if k in ("seed", "limit", "init_params")}
        with self.session.alone():
            return training.fit(self.session, source, valid, callback, metric, {**loop, **seed},
                                sessions)

    @one_at_a_time
    def score(self, data: Any, metric: Any = None) -> dict[str, float]:
        """{metric: value} over all data: arrays by input, a SPEC, or an iterator. `metric` is as in
        fit."""
        return self._fitted().score(data, metric)

    @one_at_a_time
    def predict(self, data: Any) -> Any:
        """The outputs for all samples: one array, or a dict if the network has several outputs.
        `data` are arrays by input, or one array for a single input."""
        return self._fitted().predict(data)

    def plot(self, format: str = "svg", shapes: bool = True, memory: bool = False,
             unfold: Sequence[str] = (), **inputs: Any) -> Picture:
        """A picture of the network, which notebooks show. For a symbol, `inputs` are the shapes of
        its inputs; `unfold` may have "layer" (a box per op) and "time" (a box per step)."""
        options = (format, shapes, memory, "layer" in unfold, "time" in unfold)
        if self._drawn:
            picture = _core.plot_drawing(drawing.draw(self._source, self._name, inputs), *options)
        else:
            check_taken("plot", inputs)
            fields = as_fields({**self._keywords, **inputs})
            picture = _core.plot_file(self._source, fields, *options)
        return Picture(picture, format)

    @property
    def _drawn(self):
        return isinstance(self._source, Symbol)

    def _held(self):
        return self._turn

    def _fitted(self):
        if self.session is None:
            raise usage(
                "the network has no weights yet: fit it, or take compile(..).session(params=..)")
        return self.session

    def _compile(self, job, keywords, entries, shapes=None, types=None, initializer=None,
                 vocabulary=None, bucket=None):
        if not self._drawn:
            if initializer is not None:
                keywords = {**keywords, "initializer": initializer}
            if types:
                raise usage("types= is for networks of symbols: a .lnet file has the types of its "
                            "inputs")
            fields = as_fields(with_fit_keys(keywords, job))
            return _core.compile_file(self._source, job, fields, entries, vocabulary, bucket)
        for name in _OF_FILES:
            if name in keywords:
                raise usage(f"{name}= is for .lnet files; a network of symbols has the shapes of "
                            "its inputs that compile(shapes) is given")
        drawn = drawing.draw(self._source, self._name, shapes, types)
        fields = as_fields(with_fit_keys(keywords, job))
        compiled = _core.compile_drawing(drawn, job, fields, entries, spec_of(initializer))
        if initializer is None:
            compiled.unknown = drawing.unknown_initialisers(self._source)
        return compiled

    def _axes(self):
        """The batch axis of each input."""
        if not self._drawn:
            return {}
        return {name: batch_axis(node) for name, node in variables(self._source).items()}

    def _shapes_of(self, source, shapes, types):
        """The shapes of a symbol's inputs: those of the data, overridden by the user's."""
        if not self._drawn:
            return None, types
        known = variables(self._source)
        found, dtypes = source.shapes(), source.types()
        names = [name for name in found if name in known or name in self.list_arguments()]
        merged = {name: found[name] for name in names}
        for name, shape in (shapes or {}).items():
            merged[name] = shape
        dtypes = {name: dtypes[name] for name in names
                  if not (name in known and known[name].options["dtype"])}
        return merged, {**dtypes, **(types or {})}

    def _path_and_keys(self, keywords):
        return (None, [], keywords) if self._drawn else (self._source, self._data, keywords)


