"""Losses: a number for each sample, as in MXNet's gluon.loss."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..error import usage
from .hybrid import HybridBlock

if TYPE_CHECKING:
    from typing import Any


class Loss(HybridBlock):
    """The base: `weight` multiplies the loss, `batch_axis` is the axis of the samples."""

    def __init__(self, weight: float | None, batch_axis: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._weight, self._batch_axis = weight, batch_axis

    def __repr__(self):
        return f"{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})"

    def _weighed(self, F, loss, sample_weight, half=False):
        if sample_weight is not None:
            loss = F.broadcast_mul(loss, sample_weight)
        weight = self._weight / 2 if half and self._weight is not None else self._weight
        return loss if weight is None else loss * weight

    def _mean(self, F, loss):
        return F.mean(loss, axis=self._batch_axis, exclude=True)


class L2Loss(Loss):
    """`weight` / 2 times the mean square of pred - label."""

    def __init__(self, weight: float = 1.0, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        loss = F.square(F.reshape_like(label, pred) - pred)
        return self._mean(F, self._weighed(F, loss, sample_weight, half=True))


class L1Loss(Loss):
    """The mean of abs(pred - label)."""

    def __init__(self, weight: float | None = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        loss = F.abs(F.reshape_like(label, pred) - pred)
        return self._mean(F, self._weighed(F, loss, sample_weight))


class SigmoidBinaryCrossEntropyLoss(Loss):
    """The cross entropy of labels 0 to 1, and of logits, or with `from_sigmoid` of
    probabilities."""

    def __init__(self, from_sigmoid: bool = False, weight: float | None = None, batch_axis: int = 0,
                 **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_sigmoid = from_sigmoid

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None,
                       pos_weight: Any = None) -> Any:
        label = F.reshape_like(label, pred)
        if self._from_sigmoid:
            eps = 1e-12
            of_ones = F.log(pred + eps) * label
            if pos_weight is not None:
                of_ones = F.broadcast_mul(of_ones, pos_weight)
            loss = -(of_ones + F.log(1.0 - pred + eps) * (1.0 - label))
        else:
            rest = F.Activation(-F.abs(pred), act_type="softrelu")
            if pos_weight is None:
                loss = F.relu(pred) - pred * label + rest
            else:
                factor = 1.0 + F.broadcast_mul(pos_weight - 1.0, label)
                loss = pred - pred * label + factor * (rest + F.relu(-pred))
        return self._mean(F, self._weighed(F, loss, sample_weight))


SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss


class SoftmaxCrossEntropyLoss(Loss):
    """The cross entropy of classes, or with `sparse_label=False` of distributions; `from_logits`
    takes logarithms of probabilities."""

    def __init__(self, axis: int = -1, sparse_label: bool = True, from_logits: bool = False,
                 weight: float | None = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._axis, self._sparse, self._from_logits = axis, sparse_label, from_logits

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        if not self._from_logits:
            pred = F.log_softmax(pred, axis=self._axis)
        if self._sparse:
            loss = -F.pick(pred, label, axis=self._axis, keepdims=True)
        else:
            loss = -F.sum(pred * F.reshape_like(label, pred), axis=self._axis, keepdims=True)
        return self._mean(F, self._weighed(F, loss, sample_weight))


SoftmaxCELoss = SoftmaxCrossEntropyLoss


class KLDivLoss(Loss):
    """The Kullback-Leibler divergence of `label` from `pred`, logarithms of probabilities by
    default."""

    def __init__(self, from_logits: bool = True, axis: int = -1, weight: float | None = None,
                 batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits, self._axis = from_logits, axis

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        if not self._from_logits:
            pred = F.log_softmax(pred, axis=self._axis)
        loss = label * (F.log(label + 1e-12) - pred)
        return self._mean(F, self._weighed(F, loss, sample_weight))


class HuberLoss(Loss):
    """The square near 0, and linear from `rho` on."""

    def __init__(self, rho: float = 1.0, weight: float | None = None, batch_axis: int = 0,
                 **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._rho = rho

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        loss = F.abs(F.reshape_like(label, pred) - pred)
        loss = F.where(loss > self._rho, loss - 0.5 * self._rho,
                       (0.5 / self._rho) * F.square(loss))
        return self._mean(F, self._weighed(F, loss, sample_weight))


class HingeLoss(Loss):
    """max(0, margin - pred label), of labels -1 and 1."""

    def __init__(self, margin: float = 1.0, weight: float | None = None, batch_axis: int = 0,
                 **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def _loss(self, F, loss):
        return loss

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        loss = F.relu(self._margin - pred * F.reshape_like(label, pred))
        return self._mean(F, self._weighed(F, self._loss(F, loss), sample_weight))


class SquaredHingeLoss(HingeLoss):
    """The square of HingeLoss."""

    def _loss(self, F, loss):
        return F.square(loss)


class LogisticLoss(Loss):
    """The logistic loss of labels -1 and 1 (`label_format="signed"`), or 0 and 1 ("binary")."""

    def __init__(self, weight: float | None = None, batch_axis: int = 0,
                 label_format: str = "signed", **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        if label_format not in ("signed", "binary"):
            raise usage(f"label_format is signed or binary, got {label_format!r}")
        self._format = label_format

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        label = F.reshape_like(label, pred)
        if self._format == "signed":
            label = (label + 1.0) / 2.0
        loss = (F.relu(pred) - pred * label
                + F.Activation(-F.abs(pred), act_type="softrelu"))
        return self._mean(F, self._weighed(F, loss, sample_weight))


class TripletLoss(Loss):
    """max(0, abs(positive - pred)^2 - abs(negative - pred)^2 + margin), summed over a sample."""

    def __init__(self, margin: float = 1.0, weight: float | None = None, batch_axis: int = 0,
                 **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, pred: Any, positive: Any, negative: Any,
                       sample_weight: Any = None) -> Any:
        positive, negative = F.reshape_like(positive, pred), F.reshape_like(negative, pred)
        loss = F.sum(F.square(positive - pred) - F.square(negative - pred), axis=self._batch_axis,
                     exclude=True)
        return self._weighed(F, F.relu(loss + self._margin), sample_weight)


class PoissonNLLLoss(Loss):
    """The negative logarithm of a Poisson probability; `compute_full` adds Stirling's formula.
    One number, the mean, as in MXNet."""

    def __init__(self, weight: float | None = None, from_logits: bool = True, batch_axis: int = 0,
                 compute_full: bool = False, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits, self._full = from_logits, compute_full

    def hybrid_forward(self, F: Any, pred: Any, target: Any, sample_weight: Any = None,
                       epsilon: float = 1e-08) -> Any:
        target = F.reshape_like(target, pred)
        if self._from_logits:
            loss = F.exp(pred) - target * pred
        else:
            loss = pred - target * F.log(pred + epsilon)
        if self._full:
            stirling = (target * F.log(target) - target
                        + 0.5 * F.log(2 * target * math.pi))
            loss = loss + stirling * (target > 1.0)
        return F.mean(self._weighed(F, loss, sample_weight))


class CosineEmbeddingLoss(Loss):
    """1 - cos of two vectors where the label is 1, max(0, cos - margin) where it is -1."""

    def __init__(self, weight: float | None = None, batch_axis: int = 0, margin: float = 0.0,
                 **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, input1: Any, input2: Any, label: Any,
                       sample_weight: Any = None) -> Any:
        input1 = F.reshape_like(input1, input2)
        products = F.sum(input1 * input2, axis=-1)
        norms = F.norm(input1, axis=-1) * F.norm(input2, axis=-1)
        cosine = products / F.broadcast_maximum(norms, F.ones_like(norms) * 1e-12)
        cosine, label = F.reshape(cosine, shape=(-1, 1)), F.reshape(label, shape=(-1, 1))
        apart = F.relu(cosine - self._margin)
        loss = F.where(label == 1, 1.0 - cosine, apart)
        return self._weighed(F, loss, sample_weight)
