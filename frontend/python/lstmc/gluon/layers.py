"""Layers without state: products, normalisation, dropout, activations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import init, nd, sym
from ..error import usage
from .block import Block
from .hybrid import HybridBlock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..init import Initializer
    from ..kinds import DType


class Activation(HybridBlock):
    """`activation`: relu, sigmoid, tanh, softrelu, softsign, and others of the op."""

    def __init__(self, activation: str, **kwargs: Any) -> None:
        self._kind = activation
        super().__init__(**kwargs)

    def _alias(self):
        return self._kind

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.Activation(x, act_type=self._kind, name="fwd") if F is sym else F.Activation(
            x, act_type=self._kind)

    def __repr__(self):
        return f"Activation({self._kind})"


class Dense(HybridBlock):
    """`activation(x W^T + b)`, of all axes but the first, or with `flatten=False` of the last."""

    def __init__(self, units: int, activation: str | None = None, use_bias: bool = True,
                 flatten: bool = True, dtype: DType = "float32",
                 weight_initializer: Initializer | str | None = None,
                 bias_initializer: Initializer | str | None = "zeros", in_units: int = 0,
                 **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._units, self._flatten = units, flatten
        with self.name_scope():
            self.weight = self.params.get("weight", shape=(units, in_units), dtype=dtype,
                                          init=weight_initializer, allow_deferred_init=True)
            if use_bias:
                self.bias = self.params.get("bias", shape=(units,), dtype=dtype,
                                            init=bias_initializer, allow_deferred_init=True)
            else:
                self.bias = None
            self.act = (Activation(activation, prefix=activation + "_") if activation is not None
                        else None)

    def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any = None) -> Any:
        named = {"name": "fwd"} if F is sym else {}
        inputs = [x, weight] if bias is None else [x, weight, bias]
        x = F.FullyConnected(*inputs, no_bias=bias is None, num_hidden=self._units,
                             flatten=self._flatten, **named)
        return x if self.act is None else self.act(x)

    def __repr__(self):
        units, inputs = self.weight.shape
        return f"Dense({inputs or None} -> {units}, {self.act._kind if self.act else 'linear'})"


class Dropout(HybridBlock):
    """Sets a share `rate` of the elements to 0 in training."""

    def __init__(self, rate: float, axes: Sequence[int] = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._rate, self._axes = rate, tuple(axes)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        if self._rate <= 0:
            return F.identity(x)
        named = {"name": "fwd"} if F is sym else {}
        return F.Dropout(x, p=self._rate, axes=self._axes, **named)

    def __repr__(self):
        return f"Dropout(p = {self._rate}, axes={self._axes})"


class Embedding(HybridBlock):
    """The rows of a table [input_dim, output_dim] at the ids of the input."""

    def __init__(self, input_dim: int, output_dim: int, dtype: DType = "float32",
                 weight_initializer: Initializer | str | None = None, sparse_grad: bool = False,
                 **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if sparse_grad:
            raise usage("Embedding: sparse_grad is not there, gradients are dense")
        self._sizes = {"input_dim": input_dim, "output_dim": output_dim}
        with self.name_scope():
            self.weight = self.params.get("weight", shape=(input_dim, output_dim), dtype=dtype,
                                          init=weight_initializer, allow_deferred_init=True)

    def hybrid_forward(self, F: Any, x: Any, weight: Any) -> Any:
        named = {"name": "fwd"} if F is sym else {}
        return F.Embedding(x, weight, **self._sizes, **named)

    def __repr__(self):
        return "Embedding({input_dim} -> {output_dim})".format(**self._sizes)


class LayerNorm(HybridBlock):
    """Normalises along an axis, then multiplies by gamma and adds beta."""

    def __init__(self, axis: int = -1, epsilon: float = 1e-5, center: bool = True,
                 scale: bool = True, beta_initializer: Initializer | str = "zeros",
                 gamma_initializer: Initializer | str = "ones", in_channels: int = 0,
                 prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix, params)
        self._options = {"axis": axis, "eps": epsilon}
        self.gamma = self.params.get("gamma", grad_req="write" if scale else "null",
                                     shape=(in_channels,), init=gamma_initializer,
                                     allow_deferred_init=True)
        self.beta = self.params.get("beta", grad_req="write" if center else "null",
                                    shape=(in_channels,), init=beta_initializer,
                                    allow_deferred_init=True)

    def hybrid_forward(self, F: Any, x: Any, gamma: Any, beta: Any) -> Any:
        return F.LayerNorm(x, gamma, beta, **self._options)


class BatchNorm(HybridBlock):
    """Normalises each index of `axis` over the batch: in training by the batch's own statistics,
    which renew `running_mean` and `running_var`, else by these. In training it is computed op by
    op, also after `hybridize()`."""

    def __init__(self, axis: int = 1, momentum: float = 0.9, epsilon: float = 1e-5,
                 center: bool = True, scale: bool = True, use_global_stats: bool = False,
                 beta_initializer: Initializer | str = "zeros",
                 gamma_initializer: Initializer | str = "ones",
                 running_mean_initializer: Initializer | str = "zeros",
                 running_variance_initializer: Initializer | str = "ones", in_channels: int = 0,
                 **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._options = {"axis": axis, "eps": epsilon, "momentum": momentum,
                         "fix_gamma": not scale, "use_global_stats": use_global_stats}
        for name, init_by, learns in (("gamma", gamma_initializer, scale),
                                      ("beta", beta_initializer, center),
                                      ("running_mean", running_mean_initializer, False),
                                      ("running_var", running_variance_initializer, False)):
            setattr(self, name, self.params.get(
                name, grad_req="write" if learns else "null", shape=(in_channels,), init=init_by,
                allow_deferred_init=True, differentiable=learns))

    def hybrid_forward(self, F: Any, x: Any, gamma: Any, beta: Any, running_mean: Any,
                       running_var: Any) -> Any:
        named = {"name": "fwd"} if F is sym else {}
        return F.BatchNorm(x, gamma, beta, running_mean, running_var, **self._options, **named)

    def __repr__(self):
        options = ", ".join(f"{key}={value}" for key, value in self._options.items())
        return f"BatchNorm({options}, in_channels={self.gamma.shape[0] or None})"


class Flatten(HybridBlock):
    """[N, everything else]"""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.Flatten(x)


class _OfOp(HybridBlock):
    """An activation that is LeakyReLU with these attributes."""

    _attributes: dict[str, Any] = {}

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.LeakyReLU(x, **self._attributes)


class LeakyReLU(_OfOp):
    """x, or `alpha` x where x is negative."""

    def __init__(self, alpha: float, **kwargs: Any) -> None:
        if alpha < 0:
            raise usage(f"LeakyReLU takes an alpha from 0, got {alpha}")
        super().__init__(**kwargs)
        self._attributes = {"act_type": "leaky", "slope": alpha}


class ELU(_OfOp):
    """x, or `alpha` (exp(x) - 1) where x is negative."""

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._attributes = {"act_type": "elu", "slope": alpha}


class SELU(_OfOp):
    """The scaled ELU."""

    _attributes = {"act_type": "selu"}


class GELU(_OfOp):
    """x times the normal distribution's function of x."""

    _attributes = {"act_type": "gelu"}


class PReLU(HybridBlock):
    """LeakyReLU whose slope is a parameter."""

    def __init__(self, alpha_initializer: Initializer | str | None = None, in_channels: int = 1,
                 **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.alpha = self.params.get("alpha", shape=(in_channels,),
                                         init=alpha_initializer or init.Constant(0.25))

    def hybrid_forward(self, F: Any, x: Any, alpha: Any) -> Any:
        return F.LeakyReLU(x, gamma=alpha, act_type="prelu")


class Swish(HybridBlock):
    """x sigmoid(`beta` x)"""

    def __init__(self, beta: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._beta = beta

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return x * F.sigmoid(self._beta * x)


class Lambda(Block):
    """A function of arrays, or the name of one of lstmc.nd."""

    def __init__(self, function: str | Callable[..., Any], prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        if not callable(function) and not hasattr(nd, str(function)):
            raise usage(f"Lambda takes a function or the name of one of nd, got {function!r}")
        self._function = function if callable(function) else getattr(nd, function)

    def forward(self, *args: Any) -> Any:
        return self._function(*args)


class HybridLambda(HybridBlock):
    """A function of (F, inputs), or the name of one that nd and sym have."""

    def __init__(self, function: str | Callable[..., Any], prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        if not callable(function) and not (hasattr(nd, str(function))
                                           and hasattr(sym, str(function))):
            raise usage("HybridLambda takes a function or the name of one of nd and sym, got "
                        f"{function!r}")
        self._function = (function if callable(function)
                          else lambda F, *args: getattr(F, function)(*args))

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:
        return self._function(F, x, *args)
