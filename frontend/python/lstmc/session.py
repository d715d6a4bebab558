"""Packages, and the sessions that run them."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

import numpy

from . import _core, training, updates
from .arrays import converted, fill, numbers
from .error import did_you_mean, of_file, usage
from .keywords import as_fields, check_taken, takes
from .picture import Picture
from .sharing import Turn, one_at_a_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from numpy.typing import ArrayLike
    from typing import Any
    from typing_extensions import Unpack

    from .keyword_types import SessionFitKeywords, SessionKeywords
    from .kinds import Path


class Package:
    """A compiled network: its memory plan and its programs, without weights (unless it is from a
    checkpoint). Immutable, so any number of threads may read it and make sessions of it at the same
    time."""

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled
        self._entries = compiled.entries()

    @property
    def entries(self) -> list[str]:
        """Names of the entries that can be run: "forward", "evaluate", "step" and those that
        prepare them."""
        return [name for name, _, _ in self._entries]

    def __repr__(self):
        def said(values):
            return ", ".join(f"{name}: {dtype}{list(shape)}"
                             for name, (dtype, shape) in values.items())
        runs = [f"{entry}({said(self.inputs(entry))}) -> {said(self.outputs(entry))}"
                for entry in self.entries if ":" not in entry]
        return f"<Package on {','.join(self.devices)}: {'; '.join(runs)}>"

    def inputs(self, entry: str = "forward") -> dict[str, tuple[str, tuple[int, ...]]]:
        """{name: (dtype, shape)} of an entry's data and labels."""
        return {name: (dtype, shape) for name, role, dtype, shape, _ in self._entry(entry)[0]
                if role != "scalar"}

    def outputs(self, entry: str = "forward") -> dict[str, tuple[str, tuple[int, ...]]]:
        """{name: (dtype, shape)}"""
        return {name: (dtype, shape) for name, _, dtype, shape, _ in self._entry(entry)[1]}

    @property
    def parameters(self) -> list[str]:
        """Names of the parameters, in the order of the network."""
        return self._compiled.parameters()

    @property
    def states(self) -> list[str]:
        """Names of the values kept between runs."""
        return self._compiled.states()

    @property
    def rolled(self) -> list[dict[str, Any]]:
        """The recurrent layers that the network spells out step by step, as `lstmc inspect` lists
        them: name, mode, cells, the steps of the loop that replaced them, the reason if none did,
        and `rounding`: which gradients the loop adds in another order. Empty for a loaded
        package."""
        return [{"name": name, "mode": mode, "cells": cells, "steps": 0 if reason else cells,
                 "reason": reason, "rounding": rounding}
                for name, mode, cells, reason, rounding in self._compiled.rolled()]

    @property
    def devices(self) -> list[str]:
        return self._compiled.devices().split(",")

    def plan(self) -> str:
        """The memory plan, as the command prints it."""
        return self._compiled.plan()

    def save(self, path: Path, force: bool = False) -> None:
        """Writes the package to a file; E0608 if the file exists, unless `force`."""
        self._compiled.save(str(path), force)

    def __bytes__(self):
        return self._compiled.bytes()

    def plot(self, what: str = "memory") -> Picture:
        """A picture of the memory plan, or of the "schedule" of its launches."""
        draw = {"memory": _core.plot_memory, "schedule": _core.plot_schedule}
        if what not in draw:
            raise usage(f'a package is plotted as memory or schedule, not as "{what}"')
        return Picture(draw[what](self._compiled).encode(), "svg")

    @takes("session")
    def session(self, params: Any = None, _neighbours: Sequence[Any] = (),
                **keywords: Unpack[SessionKeywords]) -> Session:
        """Makes a session with memory, threads and weights. `params` are all weights by name, or a
        path (safetensors, npz, MXNet's .params, a checkpoint). By default the weights are a
        checkpoint's own, those beside the package's file, or initial values by `seed`; `set_params`
        overwrites single ones."""
        check_taken("session", keywords)
        if isinstance(params, dict):
            missing = [name for name in self.parameters if name not in params]
            if missing:
                raise of_file("E0610", f"params: found none of {', '.join(missing)}, want all "
                                       "weights; session() and set_params(..) set some")
        return self._session(params, _neighbours, keywords)

    def _session(self, params, neighbours, keywords):
        """As session(); parameters that a dict of `params` lacks get initial values."""
        keywords = dict(keywords)
        for name, text in self._compiled.unknown:
            if params is None or (isinstance(params, dict) and name not in params):
                raise of_file("E0613", f'parameter "{name}" begins with "{text}", which lstmc does '
                                       "not know: params= brings weights, initializer= another "
                                       "beginning")
        if params is not None and not isinstance(params, dict):
            keywords["params"] = str(params)
        session = Session(self, _core.Session(self._compiled, as_fields(keywords),
                                              [package._compiled for package in neighbours]))
        if isinstance(params, dict):
            session.set_params(params)
        elif params is not None:
            session._learned = _core.learned_at(str(params))
        return session

    def _entry(self, entry):
        for name, inputs, outputs in self._entries:
            if name == entry:
                return inputs, outputs
        raise usage(f'the package has no entry "{entry}"; there are {", ".join(self.entries)}')


class Session:
    """A package with memory, weights and states. Threads may share it: each call runs as a whole
    (writing inputs, the run, reading outputs) while other threads wait; none holds the GIL while it
    waits or runs. The states belong to the session and not to a thread: each run continues from the
    states of the previous run of any thread. `with session.alone():` makes several calls atomic,
    such as writing to `input(..)`, a run, and reading the views of `copy=False`. A callback may use
    the session that calls it, in the same thread."""

    def __init__(self, package: Package, core: Any, _turn: Any = None) -> None:
        self.package = package
        self._core = core
        self._viewed = set()  # (entry, input) whose memory the user holds a view of, and writes
        self._set = set()  # (entry, input) that remain set until another entry runs
        self._turn = _turn or Turn()  # shared with sessions beside() this one
        self._learned = None  # of the data of a SPEC that trained it, or of its weights' checkpoint

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Excludes other threads from the session for the block."""
        with self._held():
            yield

    def _held(self):
        self._core.check_process()  # in a forked process no thread would release the lock
        return self._turn

    @one_at_a_time
    def run(self, inputs: Mapping[str, ArrayLike] | None = None, entry: str = "forward",
            copy: bool = True) -> dict[str, numpy.ndarray]:
        """Runs an entry and returns its outputs by name. `inputs` are written to the session's
        memory for this run; all others must have been written before, by `set_input` or to
        `input(..)`. Without `inputs` it runs on the present values. With `copy=False` outputs are
        views of the session's memory, which the next run of any thread overwrites.

        The entry "step" is one update of the weights, as in `fit`. Its inputs are data, labels,
        `learning_rate`, `update` (from 1) and, if masks are drawn, `seed` (default: the session's);
        each update needs them anew. It returns "loss", the sums of each loss head
        (`updates.Measure`), and "gradient_norm" if it is computed.
        """
        described, results = self.package._entry(entry)
        trains = updates.trains(described)
        if inputs is not None or trains:
            self._check_given(inputs or {}, entry)
        for name, value in (inputs or {}).items():
            self._write(name, value, entry)
        self._set = {(of, name) for of, name in self._set
                     if of == entry and not trains and name not in (inputs or ())}
        outputs = self._run(entry, copy)
        return updates.measured(outputs, results) if trains else outputs

    def _check_given(self, inputs, entry):
        described = self.package._entry(entry)[0]
        known = [name for name, *_ in described if not name.startswith("optimizer.")]
        for name in inputs:
            # the session's message about these is more precise
            if name not in known and not name.startswith("optimizer."):
                raise usage(f'{entry} has no input "{name}"{did_you_mean(name, known)}; its inputs '
                            f'are {", ".join(known) or "none"}')
        there = self._viewed | self._set
        missing = [name for name, role, *_ in described
                   if (role != "scalar" or name in ("learning_rate", "update"))
                   and name not in inputs and (entry, name) not in there]
        if missing:
            raise usage(f"{entry} needs {', '.join(missing)}, which "
                        f"{'was' if len(missing) == 1 else 'were'} not given; set_input gives one "
                        "that holds until another entry runs")

    def _run(self, entry, copy):
        self._core.run(entry, threading.current_thread() is threading.main_thread())
        outputs = {name: self._core.output(entry, name) for name in self.package.outputs(entry)}
        return {name: output.copy() for name, output in outputs.items()} if copy else outputs

    @one_at_a_time
    def set_input(self, name: str, value: ArrayLike, entry: str = "forward") -> None:
        """Sets an input: an array of its shape, or a number for a scalar. It holds until another
        entry runs or the input is set again; for "step", for one run."""
        self._write(name, value, entry)
        self._set.add((entry, name))

    def _write(self, name, value, entry):
        if updates.is_scalar(name, self.package._entry(entry)[0]):
            self._core.set_scalar(name, updates.scalar(name, value, entry))
        else:
            fill(self._core.input(entry, name), value, name)
            self._core.check_range(entry, name)

    @one_at_a_time
    def input(self, name: str, entry: str = "forward") -> numpy.ndarray:
        """A view of an input's memory, to be written to before a run. Values are not checked."""
        view = self._core.input(entry, name)
        self._viewed.add((entry, name))
        return view

    def _forward(self, values):
        """The outputs of `forward` that depend on no label missing from `values`, and the batch
        axis of each; None if it has no name."""
        lacking = [name for name, role, *_ in self.package._entry("forward")[0]
                   if role == "label" and name not in values]
        values = {name: values[name] for name in self.package.inputs("forward") if name in values}
        for name in lacking:
            self._core.set_missing("forward", name)
        unknown = set(self._core.dependents("forward", lacking)) if lacking else ()
        axes = {name: dims.index("batch") if "batch" in dims else None
                for name, *_, dims in self.package._entry("forward")[1]}
        absent = {("forward", name) for name in lacking}
        self._set |= absent
        try:
            outputs = self.run(values)
        finally:
            self._set -= absent
        outputs = {name: output for name, output in outputs.items() if name not in unknown}
        return list(outputs.values()), [axes[name] for name in outputs]

    def _known(self):
        """What the data of its weights have taught it: a vocabulary, or how a table is read."""
        return self._learned or self.package._compiled.learned()

    def _forget_inputs(self):
        """Forgets which inputs are set, because a run of another entry overwrites their memory."""
        self._set = set()

    @one_at_a_time
    def output(self, name: str, entry: str = "forward") -> numpy.ndarray:
        """A view of an output of the last run."""
        return self._core.output(entry, name)

    @one_at_a_time
    def params(self) -> dict[str, numpy.ndarray]:
        """Copies of all weights by name."""
        return {name: self._core.parameter(name).copy() for name in self.package.parameters}

    @one_at_a_time
    def set_params(self, params: Mapping[str, ArrayLike]) -> None:
        """Sets weights by name: arrays, or callables that take name and shape and return an array.
        Other weights stay."""
        for name, value in params.items():
            have = self._core.parameter(name)
            array = numbers(value(name, have.shape) if callable(value) else value, name)
            self._core.set_parameter(name,
                                     numpy.ascontiguousarray(converted(array, have.dtype, name)))

    @one_at_a_time
    def save_params(self, path: Path, force: bool = False) -> None:
        """Writes all weights as safetensors."""
        self._core.save_parameters(str(path), force)

    @one_at_a_time
    def states(self) -> dict[str, numpy.ndarray]:
        """Copies of the values kept between runs."""
        return {name: self._core.state(name).copy() for name in self.package.states}

    @one_at_a_time
    def set_states(self, states: Mapping[str, ArrayLike]) -> None:
        for name, value in states.items():
            have = self._core.state(name)
            self._core.set_state(
                name, numpy.ascontiguousarray(converted(numbers(value, name), have.dtype, name)))

    @one_at_a_time
    def reset_states(self) -> None:
        """Sets all states to zero."""
        self._core.reset_states()

    @property
    @one_at_a_time
    def weights_hash(self) -> str:
        """The hash that `lstmc train` prints as `weights`."""
        return self._core.weights_hash()

    @one_at_a_time
    @takes("Session.fit")
    def fit(self, data: Any, valid: Any = None,
            callback: Callable[[dict[str, Any]], Any] | None = None, metric: Any = None,
            **keywords: Unpack[SessionFitKeywords]) -> dict[str, Any]:
        """Trains; see Network.fit. Keywords are those of the loop; compiled-in settings, such as
        the optimizer, stay."""
        check_taken("Session.fit", keywords)
        return training.fit(self, data, valid, callback, metric, keywords)

    @one_at_a_time
    def score(self, data: Any, metric: Any = None) -> dict[str, float]:
        """Metrics of the network on data, by name; see Network.score."""
        return training.score(self, data, metric)

    @one_at_a_time
    def predict(self, data: Any) -> Any:
        """Outputs for all samples; see Network.predict."""
        return training.predict(self, data)

    @one_at_a_time
    @takes("session")
    def beside(self, package: Package, **keywords: Unpack[SessionKeywords]) -> Session:
        """A session of a package that was compiled to share this one's memory; one of the two runs
        at a time."""
        check_taken("session", keywords)
        core = self._core.beside(package._compiled, as_fields(keywords))
        return Session(package, core, self._turn)

    @contextlib.contextmanager
    def fresh_states(self) -> Iterator[None]:
        """Runs the block with states of zero and restores the previous states. Other threads wait
        meanwhile."""
        with self.alone():
            before = self.states()
            self.reset_states()
            try:
                yield
            finally:
                self.set_states(before)
