"""Schedules of the learning rate under MXNet's names, for `fit(lr_scheduler=..)`; the compiler
implements them (docs/mxnet.md §9)."""

from __future__ import annotations

from typing import TYPE_CHECKING


if TYPE_CHECKING:
    from typing import Any


class LRScheduler:
    """A schedule in the form of the language's fit(..). Immutable: threads may share it."""

    def __init__(self, **arguments: Any) -> None:
        self._arguments = {key: value for key, value in arguments.items() if value is not None}

    def __str__(self):
        given = ", ".join(f"{key}={self._text(value)}" for key, value in self._arguments.items())
        return f"{type(self).__name__}({given})"

    @staticmethod
    def _text(value):
        return ("[" + ",".join(map(str, value)) + "]" if isinstance(value, (list, tuple))
                else str(value))


def _class(name, positional, summary):
    def __init__(self, *args, base_lr=None, **arguments):
        if len(args) > len(positional):
            raise TypeError(f"{name} takes {', '.join(positional)}")
        super(made, self).__init__(**dict(zip(positional, args)), **arguments)
        self.base_lr = base_lr

    made = type(name, (LRScheduler,),
                {"__init__": __init__,
                 "__doc__": summary + " `base_lr` gives way to the optimizer's rate."})
    return made


FactorScheduler = _class(
    "FactorScheduler",
    ("step", "factor", "stop_factor_lr"), "The rate times `factor` every `step` updates.")
MultiFactorScheduler = _class(
    "MultiFactorScheduler",
    ("step", "factor"), "The rate times `factor` after each update of the list `step`.")
PolyScheduler = _class("PolyScheduler",
                       ("max_update",), "A power of what is left of `max_update` updates.")
CosineScheduler = _class("CosineScheduler",
                         ("max_update",), "Half a cosine over `max_update` updates.")
