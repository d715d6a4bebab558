"""A training by a loop of the user's own over a Module: `forward`, `backward` and `update` of a
batch are one compiled step, as in `fit`."""

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
    """The batch that the loop is at, and how far it has come. A step gives no outputs, and those of
    a batch are of the weights before it. So the step runs as late as can be: for the next batch, or
    when somebody wants the weights (`finish`). Outputs that somebody asks for cost a `forward`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._updates = _core.Updates(session._core, session.package._compiled)
        self._inputs, self._outputs = None, None
        # of this batch: backward has been called; update too
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
        """Runs the step that is due. Outputs of its batch may still be asked for."""
        if self._due:
            self.outputs()
            self._run_step()

    def drop(self) -> None:
        """There is another batch, which is not trained on."""
        self._inputs, self._outputs, self._backward = None, None, False

    def _run_step(self):
        if not self._due:
            return
        self._due = False
        for name in self._session.package.inputs("step"):
            self._session.set_input(name, self._inputs[name], "step")
        self._updates.run(threading.current_thread() is threading.main_thread())
