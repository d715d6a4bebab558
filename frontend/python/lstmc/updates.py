"""What `run` of the entry "step" is given beside data and labels, and what it returns."""

from __future__ import annotations

import numpy

from .arrays import as_array
from .error import usage


class Measure(numpy.ndarray):
    """What a loss head measured in an update, sums over the batch: `loss`, the `weight` that it is
    divided by, and how many `labels` counted. By index the numbers of the metric kernels, whose
    first three these are."""

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
    """Whether an input is a scalar that the caller gives, and not one that is computed for the
    optimizer."""
    return (not name.startswith("optimizer.")
            and any(name == other and role == "scalar" for other, role, *_ in inputs))


def scalar(name, value, entry):
    """The number that is given for a scalar input, with all its digits."""
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
    """What an update returns: with "loss", which it minimises, the sum over heads of the loss of
    each over its weight."""
    heads = {name: outputs[name].view(Measure) for name, role, *_ in described if role == "metric"}
    loss = sum(head.loss / head.weight for head in heads.values() if head.weight)
    return {**({} if "loss" in outputs else {"loss": loss}), **outputs, **heads}
