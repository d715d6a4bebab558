"""Metrics under MXNet's names. The runtime measures those that it knows (docs/mxnet.md §10); for
others a Module calls `update` after each batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from .arrays import as_array
from .error import usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any


class EvalMetric:
    """The mean over all updates: `sum_metric / num_inst`. `compiled` is the runtime's name of the
    metric, or None. It accumulates, so one thread may use it at a time."""

    compiled = None

    def __init__(self, name: str, output_names: Sequence[str] | None = None,
                 label_names: Sequence[str] | None = None) -> None:
        if output_names or label_names:
            raise usage(
                "a metric is of all outputs and labels: output_names and label_names are not there")
        self.name = name
        self.reset()

    def reset(self) -> None:
        self.num_inst, self.sum_metric = 0, 0.0

    reset_local = reset

    def update(self, labels: Any, preds: Any) -> None:
        """Adds a batch: lists of arrays."""
        labels, preds = _list(labels), _list(preds)
        if len(labels) != len(preds):
            raise usage(f"there are {len(labels)} labels for {len(preds)} predictions")
        for label, pred in zip(labels, preds):
            value, count = self.measure(as_array(label), as_array(pred))
            self.sum_metric += float(value)
            self.num_inst += count

    def measure(self, label: Any, pred: Any) -> tuple[float, int]:
        """(sum, count) of one output."""
        raise NotImplementedError

    def get(self) -> Any:
        """(name, value)"""
        return self.name, self.sum_metric / self.num_inst if self.num_inst else float("nan")

    def get_name_value(self) -> list[tuple[str, float]]:
        return [self.get()]

    def __repr__(self):
        return f"EvalMetric: {dict(self.get_name_value())}"


def _list(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _rows(pred, axis):
    """Probabilities with classes as the last axis, one row per label."""
    moved = numpy.moveaxis(pred, axis, -1)
    return moved.reshape(-1, moved.shape[-1])


class Accuracy(EvalMetric):
    compiled = "accuracy"

    def __init__(self, axis: int = 1, name: str = "accuracy") -> None:
        self._axis = axis
        super().__init__(name)

    def measure(self, label: Any, pred: Any) -> tuple[float, int]:
        classes = numpy.argmax(pred, self._axis) if pred.ndim > label.ndim else pred
        return (classes.ravel().astype("int64") == label.ravel().astype("int64")).sum(), label.size


class TopKAccuracy(EvalMetric):
    def __init__(self, top_k: int = 1, name: str = "top_k_accuracy") -> None:
        self._top = top_k
        self.compiled = f"top_k_accuracy_{top_k}" if top_k <= 10 else None
        super().__init__(f"{name}_{top_k}")

    def measure(self, label: Any, pred: Any) -> tuple[float, int]:
        best = numpy.argsort(-pred, axis=1, kind="stable")[:, : self._top]
        return (best == label.astype("int64").reshape(-1, 1)).any(1).sum(), label.size


class _OfProbabilities(EvalMetric):
    """The sum of -log p over the labels, where p is the label's probability."""

    eps = 1e-12

    def __init__(self, name, ignore_label=None, axis=-1):
        self._ignored, self._axis = ignore_label, axis
        super().__init__(name)
        # the compiled metric counts labels that the network does not ignore
        if ignore_label is not None:
            self.compiled = None

    def measure(self, label, pred):
        label = label.ravel().astype("int64")
        p = _rows(pred, self._axis)[numpy.arange(label.size),
                                    numpy.where(label == self._ignored, 0, label)].astype("float64")
        counted = (label != self._ignored if self._ignored is not None
                   else numpy.full(label.shape, True))
        return -numpy.log(numpy.maximum(p[counted], self.eps)).sum(), int(counted.sum())


class Perplexity(_OfProbabilities):
    compiled = "perplexity"
    eps = 1e-10

    def __init__(self, ignore_label: int | None = None, axis: int = -1,
                 name: str = "perplexity") -> None:
        super().__init__(name, ignore_label, axis)

    def get(self) -> Any:
        return self.name, float(numpy.exp(super().get()[1]))


class CrossEntropy(_OfProbabilities):
    compiled = "cross-entropy"

    def __init__(self, name: str = "cross-entropy") -> None:
        super().__init__(name)


class NegativeLogLikelihood(_OfProbabilities):
    compiled = "nll-loss"

    def __init__(self, name: str = "nll-loss") -> None:
        super().__init__(name)


class _OfDifferences(EvalMetric):
    def measure(self, label, pred):
        return self.size(label.reshape(pred.shape).astype("float64") - pred).sum(), pred.size


class MAE(_OfDifferences):
    compiled = "mae"
    size = staticmethod(numpy.abs)

    def __init__(self, name: str = "mae") -> None:
        super().__init__(name)


class MSE(_OfDifferences):
    compiled = "mse"
    size = staticmethod(numpy.square)

    def __init__(self, name: str = "mse") -> None:
        super().__init__(name)


class RMSE(MSE):
    compiled = "rmse"

    def __init__(self, name: str = "rmse") -> None:
        super().__init__(name)

    def get(self) -> Any:
        return self.name, super().get()[1] ** 0.5


class Compiled(EvalMetric):
    """A metric that only the runtime computes: f1, mcc, pearsonr, auc, .."""

    def __init__(self, name: str) -> None:
        self.compiled = name
        super().__init__(name)

    def measure(self, label: Any, pred: Any) -> tuple[float, int]:
        raise usage(f"{self.name} is measured by fit and score; it has no update")


class Loss(Compiled):
    """The loss that training minimises."""

    def __init__(self, name: str = "loss") -> None:
        super().__init__("loss")


class CustomMetric(EvalMetric):
    """The mean over batches of a function of (label, prediction) that returns a number or (sum,
    count)."""

    def __init__(self, feval: Callable[..., Any], name: str | None = None,
                 allow_extra_outputs: bool = False) -> None:
        self._function = feval
        super().__init__(name or getattr(feval, "__name__", "custom"))

    def measure(self, label: Any, pred: Any) -> tuple[float, int]:
        value = self._function(label, pred)
        return value if isinstance(value, tuple) else (value, 1)


def np(numpy_feval: Callable[..., Any], name: str | None = None,
       allow_extra_outputs: bool = False) -> CustomMetric:
    """Makes a metric of a function of NumPy arrays (label, prediction)."""
    return CustomMetric(numpy_feval, name, allow_extra_outputs)


class CompositeEvalMetric(EvalMetric):
    """Several metrics."""

    def __init__(self, metrics: Iterable[Any] = (), name: str = "composite") -> None:
        self.metrics = [create(metric) for metric in metrics]
        super().__init__(name)

    def add(self, metric: Any) -> None:
        self.metrics.append(create(metric))

    def reset(self) -> None:
        for metric in self.metrics:
            metric.reset()

    def update(self, labels: Any, preds: Any) -> None:
        for metric in self.metrics:
            metric.update(labels, preds)

    def get(self) -> Any:
        return [metric.name for metric in self.metrics], [metric.get()[1]
                                                          for metric in self.metrics]

    def get_name_value(self) -> list[tuple[str, float]]:
        return [metric.get() for metric in self.metrics]


_NAMES = {"acc": Accuracy, "accuracy": Accuracy, "perplexity": Perplexity, "ce": CrossEntropy,
          "cross-entropy": CrossEntropy, "nll_loss": NegativeLogLikelihood,
          "nll-loss": NegativeLogLikelihood, "mae": MAE, "mse": MSE, "rmse": RMSE, "loss": Loss,
          "top_k_accuracy": TopKAccuracy, "top_k_acc": TopKAccuracy}


def register(klass: type) -> type:
    """A decorator that registers a class of metrics for `create` and `eval_metric` under its name
    in lower case."""
    _NAMES[klass.__name__.lower()] = klass
    return klass


def create(metric: Any, **arguments: Any) -> EvalMetric:
    """Makes a metric from a name, a function of (label, prediction), a list of metrics, or a
    metric."""
    if isinstance(metric, EvalMetric):
        return metric
    if isinstance(metric, (list, tuple)):
        return CompositeEvalMetric(metric)
    if callable(metric):
        return CustomMetric(metric)
    return _NAMES[metric.lower()](**arguments) if metric.lower() in _NAMES else Compiled(metric)


def each(metric: Any) -> list[EvalMetric]:
    """The metrics inside a metric, which may be composite."""
    metric = create(metric)
    return metric.metrics if isinstance(metric, CompositeEvalMetric) else [metric]
