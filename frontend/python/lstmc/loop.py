"""A training loop of the user's over a Module: `forward`, `backward` and `update` of a batch are
one compiled step, as in `fit`."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from . import _core
from .error import usage
from .ndarray import NDArray

if TYPE_CHECKING:
    from collections.abc import Mapping
    from numpy.typing import ArrayLike

    from .session import Session


class Loop:
    """The state of the loop: the current batch and its progress. A step returns no outputs, and
    those of a batch belong to the weights before its update, so the step is deferred: until the
    next batch, or until the weights are read (`finish`). Reading outputs costs one run of
    `forward`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._updates = _core.Updates(session._core, session.package._compiled)
        self._inputs, self._outputs = None, None
        # state of this batch: backward was called; a step is due
        self._backward, self._due = False, False

    def forward(self, inputs: Mapping[str, ArrayLike]) -> None:
        self._run_step()
        for name, (_, shape) in self._session.package.inputs("step").items():
            if name not in inputs:
                raise usage(f'the batch has no "{name}"; a step needs '
                            f'{", ".join(self._session.package.inputs("step"))}')
            if tuple(inputs[name].shape) != shape:
                raise usage(f'"{name}" has shape {tuple(inputs[name].shape)}, and {shape} was '
                            'bound: a loop is for equal shapes')
        self._inputs, self._outputs = inputs, None
        self._backward = False

    def backward(self) -> None:
        if self._inputs is None:
            raise usage("backward comes after forward(is_train=True)")
        self._backward = True

    def update(self) -> None:
        if not self._backward:
            raise usage("update comes after backward")
        self._backward, self._due = False, True

    def outputs(self) -> list[NDArray]:
        if self._outputs is None:
            if self._inputs is None:
                raise usage("there are outputs after forward")
            needed = self._session.package.inputs("forward")
            ran = self._session.run({name: value for name, value in self._inputs.items()
                                     if name in needed})
            self._outputs = [NDArray(output) for output in ran.values()]
        return self._outputs

    def finish(self) -> None:
        """Runs the deferred step. Outputs of its batch stay readable."""
        if self._due:
            self.outputs()
            self._run_step()

    def drop(self) -> None:
        """Forgets the batch, because another one follows that is not trained on."""
        self._inputs, self._outputs, self._backward = None, None, False

    def _run_step(self):
        if not self._due:
            return
        self._due = False
        for name in self._session.package.inputs("step"):
            self._session.set_input(name, self._inputs[name], "step")
        self._updates.run(threading.current_thread() is threading.main_thread())
