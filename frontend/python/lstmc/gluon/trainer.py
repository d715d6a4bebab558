"""Gluon's Trainer: updates parameters by the optimizers of the compiler, with the bits of fit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy

from .. import _core, params_file
from ..error import usage, warn
from ..lr_scheduler import LRScheduler
from ..optimizer import Optimizer, create
from .parameter import Parameter, ParameterDict
from .updates import Rule, Update

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..kinds import Path

_STORES = (None, "local", "device", "nccl")


class Trainer:
    """Updates `params` (a ParameterDict, or a list or dict of Parameters) by an optimizer. As in
    MXNet, gradients are multiplied by `rescale_grad` / batch_size. Keys of the optimizer are those
    of fit(..). Belongs to one thread, like its parameters."""

    def __init__(self, params: ParameterDict | Mapping[str, Parameter] | Sequence[Parameter],
                 optimizer: str | Optimizer, optimizer_params: Mapping[str, Any] | None = None,
                 kvstore: Any = "device", compression_params: Any = None,
                 update_on_kvstore: bool | None = None) -> None:
        if hasattr(params, "values"):
            params = list(params.values())
        if not isinstance(params, (list, tuple)) or not all(
                isinstance(each, Parameter) for each in params):
            raise usage("a Trainer takes a ParameterDict, or Parameters in a dict or a list; got "
                        f"{params!r}")
        if kvstore not in _STORES:
            raise usage(f"kvstore {kvstore!r}: a Trainer has the arrays of one process (local, "
                        "device or None); processes are joined by `lstmc launch`")
        if compression_params is not None:
            raise usage("a Trainer has no gradient compression")
        self._params = list(dict.fromkeys(params))
        self._on_store = bool(update_on_kvstore)
        if isinstance(optimizer, Optimizer):
            if optimizer_params:
                raise usage("optimizer_params are for an optimizer given by name")
            self.optimizer = optimizer
        else:
            self.optimizer = create(optimizer, **(optimizer_params or {}))
        self._keys = dict(self.optimizer.arguments)
        self._scale = float(self._keys.pop("rescale_grad", 1.0))
        if self._keys.pop("multi_precision", False) and any(
                each.dtype != "float32" for each in self._params):
            raise usage("multi_precision: a Trainer updates weights in their own type")
        self._schedule = self._keys.pop("lr_scheduler", None)
        self._set_rate(self._keys.pop("learning_rate", None))
        self._counts = {}  # updates by name of parameter
        self._slots = {}  # values by (parameter, slot) that no program holds
        self._programs, self._current = {}, None

    def _set_rate(self, given):
        base = getattr(self._schedule, "base_lr", None)
        if given is None:
            given = base if base is not None else _core.default_rate(self.optimizer.name)
        self._rate = float(given)

    # The rate.

    @property
    def learning_rate(self) -> float:
        """The rate: that of the last update, if there is a schedule."""
        return self._rate_of(max(self._counts.values(), default=0) or 1)

    def set_learning_rate(self, lr: float) -> None:
        """Sets the rate of the next updates; a schedule excludes it."""
        if self._schedule is not None:
            raise UserWarning("the Trainer has an lr_scheduler, which sets the rate")
        self._rate = float(lr)

    def _rate_of(self, number):
        if self._schedule is None:
            return self._rate
        if isinstance(self._schedule, (LRScheduler, str)):
            return _core.scheduled_rate(str(self._schedule), self._rate, number)
        return float(self._schedule(number))

    # Updates.

    def step(self, batch_size: int, ignore_stale_grad: bool = False) -> None:
        """`allreduce_grads` and `update`."""
        self.allreduce_grads(_of_step=True)
        self._update(batch_size, ignore_stale_grad)

    def allreduce_grads(self, _of_step: bool = False) -> None:
        """Adds up the gradients of all contexts, in their order, and gives the sum to each."""
        if self._on_store and not _of_step:
            raise usage("allreduce_grads() and update() are for update_on_kvstore=False: step() "
                        "does both")
        for parameter in self._params:
            if parameter.grad_req == "null" or len(parameter.list_ctx()) == 1:
                continue
            gradients = parameter.list_grad()
            total = sum((gradient for gradient in gradients[1:]), start=gradients[0])
            for gradient in gradients:
                gradient._write(total._data.copy())

    def update(self, batch_size: int, ignore_stale_grad: bool = False) -> None:
        """The update alone, after `allreduce_grads`: between the two, gradients may be changed."""
        if self._on_store:
            raise usage("update() is for update_on_kvstore=False: step() does it too")
        self._update(batch_size, ignore_stale_grad)

    def _update(self, batch_size, ignore_stale_grad):
        taken = [parameter for parameter in self._params
                 if parameter.grad_req != "null" and self._is_fresh(parameter, ignore_stale_grad)]
        by_count = {}  # parameters that were not always updated count for themselves
        for parameter in taken:
            number = self._counts.get(parameter.name, 0) + 1
            by_count.setdefault(number, []).append(parameter)
        for number, parameters in sorted(by_count.items()):
            self._update_some(parameters, number, self._scale / batch_size)

    def _is_fresh(self, parameter, ignore_stale):
        stale = [gradient for gradient in parameter.list_grad() if not gradient._is_fresh]
        if stale and not ignore_stale:
            raise UserWarning(
                f'the gradient of parameter "{parameter.name}" on {stale[0].context} was not '
                "computed by backward since the last step: a block that is not used, or used "
                "outside of record(); step(.., ignore_stale_grad=True) leaves such parameters as "
                "they are")
        return not stale

    def _update_some(self, parameters, number, scale):
        values = {each.name: each.list_data()[0]._data for each in parameters}
        gradients = {each.name: each.list_grad()[0]._data for each in parameters}
        rules = [Rule(each, values[each.name]) for each in parameters]
        program = self._program(rules, scale)
        new = program.run(values, gradients, self._rate_of(number), number)
        for parameter in parameters:
            copies = parameter.list_data()
            for copy in copies:
                copy._write(new[parameter.name] if copy is copies[0]
                            else new[parameter.name].copy())
            for gradient in parameter.list_grad():
                gradient._is_fresh = False
            self._counts[parameter.name] = number

    def _program(self, rules, scale):
        """The program for these parameters, with the slots of the one that ran before."""
        key = (scale, tuple(rule.key() for rule in rules))
        if self._current == key:
            return self._programs[key]
        self._collect()
        if key not in self._programs:
            if len(self._programs) == _MOST:
                self._programs.pop(next(iter(self._programs)))
            self._programs[key] = Update(rules, self.optimizer.name,
                                         {**self._keys, "rescale_grad": scale})
        self._programs[key].set_slots(self._slots)
        self._current = key
        return self._programs[key]

    def _collect(self):
        """Takes the slots out of the program that holds them."""
        if self._current is not None:
            self._slots.update(self._programs[self._current].slots())
            self._current = None

    # States.

    def save_states(self, fname: Path) -> None:
        """Writes the optimizer's states and counts of updates, by the parameters' names, as a file
        of arrays."""
        self._collect()
        arrays = {f"{parameter}/{slot}": value
                  for (parameter, slot), value in self._slots.items()}
        for name, count in self._counts.items():
            arrays[f"{name}/{_COUNT}"] = numpy.array([count], "int64")
        about = json.dumps({"optimizer": self.optimizer.name}).encode()
        arrays[_ABOUT] = numpy.frombuffer(about, "uint8")
        params_file.write(fname, arrays)

    def load_states(self, fname: Path) -> None:
        """Reads such a file, of the same optimizer: the next update continues from there."""
        arrays = params_file.read(fname)
        if not isinstance(arrays, dict) or _ABOUT not in arrays:
            raise usage(f"{fname} was not written by save_states")
        about = json.loads(arrays.pop(_ABOUT).tobytes())
        if about["optimizer"] != self.optimizer.name:
            raise usage(f'{fname} has the states of "{about["optimizer"]}", the Trainer has '
                        f'"{self.optimizer.name}"')
        known = {parameter.name for parameter in self._params}
        slots, counts = {}, {}
        for key, value in arrays.items():
            name, kind = key.rsplit("/", 1)
            if name not in known:
                warn(f'{fname} has states of "{name}", which the Trainer does not have')
            elif kind == _COUNT:
                counts[name] = int(value[0])
            else:
                slots[name, kind] = value
        self._slots, self._counts, self._current = slots, counts, None


_MOST = 8  # programs of one Trainer
_COUNT, _ABOUT = "updates", "trainer"
