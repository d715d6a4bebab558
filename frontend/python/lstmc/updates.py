"""Inputs of the entry "step" besides data and labels, and its results."""

from __future__ import annotations

import numpy

from .arrays import as_array
from .error import usage


class Measure(numpy.ndarray):
    """Sums over the batch that a loss head measured in an update: `loss`, the `weight` that divides
    it, and the number of `labels` counted. Indexing gives the numbers of the metric kernels, which
    begin with these three."""

    @property
    def loss(self) -> float:
        return float(self[0])

    @property
    def weight(self) -> float:
        return float(self[1])

    @property
    def labels(self) -> float:
        return float(self[2])


def trains(inputs):
    """Whether an entry with these inputs is an update of the weights."""
    return any(name == "learning_rate" for name, *_ in inputs)


def is_scalar(name, inputs):
    """Whether an input is a scalar from the caller, and not one that the optimizer computes."""
    return (not name.startswith("optimizer.")
            and any(name == other and role == "scalar" for other, role, *_ in inputs))


def scalar(name, value, entry):
    """The number for a scalar input, at full precision."""
    value = as_array(value)
    if value.size != 1 or value.dtype.kind not in "iufb":
        raise usage(
            f'input "{name}" of {entry} is one number, got {value.dtype.name}{list(value.shape)}')
    number = value.reshape(()).item()
    if name == "learning_rate":
        return float(number)
    if number != number or number != int(number):
        raise usage(f'input "{name}" of {entry} is a whole number, got {number}')
    return int(number)


def measured(outputs, described):
    """The result of an update, including "loss": the minimised sum over heads of loss / weight."""
    heads = {name: outputs[name].view(Measure) for name, role, *_ in described if role == "metric"}
    loss = sum(head.loss / head.weight for head in heads.values() if head.weight)
    return {**({} if "loss" in outputs else {"loss": loss}), **outputs, **heads}
