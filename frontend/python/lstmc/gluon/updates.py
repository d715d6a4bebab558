"""Updates of arrays by the product's own optimizers: a network whose gradients are its inputs."""

from __future__ import annotations

import threading

from .. import _core
from ..autograd import draw
from ..keywords import as_fields
from ..session import Package

_ENTRY = "step"


class Rule:
    """What an update of one parameter depends on, besides the values: equal rules share a
    program."""

    def __init__(self, parameter, values):
        self.name = parameter.name
        self.shape, self.dtype = values.shape, values.dtype.name
        self.multipliers = (float(parameter.lr_mult), float(parameter.wd_mult))

    def key(self):
        return (self.name, self.shape, self.dtype, self.multipliers)


class Update:
    """The entry `step` of a network that has these parameters, and whose loss has the gradients
    that its inputs give: their sum of products."""

    def __init__(self, rules, optimizer, keys):
        drawing = _core.Drawing("update")
        losses = []
        for rule in rules:
            shape = list(rule.shape)
            lr_mult, wd_mult = rule.multipliers
            weight = drawing.variable(rule.name, {"shape": shape, "dtype": rule.dtype,
                                                  "lr_mult": lr_mult, "wd_mult": wd_mult}, None)
            gradient = drawing.input(_input(rule.name), rule.dtype, shape, False, None)
            product = draw(drawing, "elemwise_mul", [(None, weight), (None, gradient)], [],
                           f"product:{rule.name}", None)
            losses += draw(drawing, "MakeLoss", [(None, product[0])], [], f"loss:{rule.name}", None)
        drawing.finish(losses)
        fields = as_fields({"optimizer": optimizer, "fit": {
            key: value for key, value in keys.items() if value is not None}})
        package = Package(_core.compile_drawing(drawing, "compile", fields, [_ENTRY], None))
        self._session = package.session(seed=0)
        self._core = self._session._core
        self._names = [rule.name for rule in rules]

    def run(self, weights, gradients, rate, number):
        """{name: new weight} of update `number`, at the rate of the schedule."""
        for name in self._names:
            self._core.set_parameter(name, weights[name])
            self._core.input(_ENTRY, _input(name))[...] = gradients[name]
        self._core.set_scalar("learning_rate", float(rate))
        self._core.set_scalar("update", int(number))
        self._core.run(_ENTRY, threading.current_thread() is threading.main_thread())
        return {name: self._core.parameter(name).copy() for name in self._names}

    def slots(self):
        """{(parameter, slot): its value}"""
        return {key: self._core.slot(*key).copy() for key in self._core.slots()}

    def set_slots(self, values):
        """Sets those that are there; others become 0, as before the first update."""
        for key in self._core.slots():
            have = self._core.slot(*key)
            value = values.get(key)
            self._core.set_slot(*key, value if value is not None else have * 0)


def _input(name):
    return f"gradient:{name}"
