"""Optimizers under MXNet's names, for `Module` in place of a name and `optimizer_params`. The
compiler implements them (docs/mxnet.md §10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


class Optimizer:
    """A name and keys of fit(..). As in MXNet, `rescale_grad` is 1 by default; for an optimizer
    that a Module gets by name it is 1/batch. It has keys and no states: threads may share it."""

    name = ""

    def __init__(self, rescale_grad: float = 1.0, **arguments: Any) -> None:
        self.arguments = {"rescale_grad": rescale_grad,
                          **{key: value for key, value in arguments.items() if value is not None}}

    def __repr__(self):
        given = ", ".join(f"{key}={value}" for key, value in self.arguments.items())
        return f"{type(self).__name__}({given})"


def _class(label):
    return type(label, (Optimizer,),
                {"name": label.lower(), "__doc__": f"The optimizer \"{label.lower()}\"."})


SGD, NAG, Signum, AdaGrad, RMSProp, AdaDelta, Ftrl, Adam, AdamW, Adamax, FTML, Nadam, LAMB = map(
    _class, ("SGD", "NAG", "Signum", "AdaGrad", "RMSProp", "AdaDelta", "Ftrl", "Adam", "AdamW",
             "Adamax", "FTML", "Nadam", "LAMB"))


def create(name: str, **arguments: Any) -> Optimizer:
    """Makes an optimizer by its name, in lower or upper case."""
    return _class(name)(**arguments)
