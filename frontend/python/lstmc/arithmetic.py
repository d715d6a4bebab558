"""MXNet's functions of two operands, each a tensor or a number: add, maximum, lesser and so on. For
symbols they use the ops for equal shapes, as MXNet does; for arrays those that broadcast."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self

    class Operators:
        """The methods that `add_operators` adds to a class of tensors."""

        def __add__(self, other: Self | float) -> Self: ...
        def __radd__(self, other: float) -> Self: ...
        def __sub__(self, other: Self | float) -> Self: ...
        def __rsub__(self, other: float) -> Self: ...
        def __mul__(self, other: Self | float) -> Self: ...
        def __rmul__(self, other: float) -> Self: ...
        def __truediv__(self, other: Self | float) -> Self: ...
        def __rtruediv__(self, other: float) -> Self: ...
        def __mod__(self, other: Self | float) -> Self: ...
        def __rmod__(self, other: float) -> Self: ...
        def __pow__(self, other: Self | float) -> Self: ...
        def __rpow__(self, other: float) -> Self: ...
        def __lt__(self, other: Self | float) -> Self: ...
        def __le__(self, other: Self | float) -> Self: ...
        def __gt__(self, other: Self | float) -> Self: ...
        def __ge__(self, other: Self | float) -> Self: ...
        def __eq__(self, other: object) -> Self: ...  # type: ignore[override]
        def __ne__(self, other: object) -> Self: ...  # type: ignore[override]

else:

    class Operators:
        __slots__ = ()


# function: (op, broadcasting op, op with a number on the right, op with a number on the left)
TABLE = {
    "add": ("_plus", "broadcast_add", "_plus_scalar", "_plus_scalar"),
    "subtract": ("_minus", "broadcast_sub", "_minus_scalar", "_rminus_scalar"),
    "multiply": ("_mul", "broadcast_mul", "_mul_scalar", "_mul_scalar"),
    "divide": ("_div", "broadcast_div", "_div_scalar", "_rdiv_scalar"),
    "modulo": ("_mod", "broadcast_mod", "_mod_scalar", "_rmod_scalar"),
    "power": ("_power", "broadcast_power", "_power_scalar", "_rpower_scalar"),
    "maximum": ("_maximum", "broadcast_maximum", "_maximum_scalar", "_maximum_scalar"),
    "minimum": ("_minimum", "broadcast_minimum", "_minimum_scalar", "_minimum_scalar"),
    "hypot": ("_hypot", "broadcast_hypot", "_hypot_scalar", "_hypot_scalar"),
    "equal": ("_equal", "broadcast_equal", "_equal_scalar", "_equal_scalar"),
    "not_equal": ("_not_equal", "broadcast_not_equal", "_not_equal_scalar", "_not_equal_scalar"),
    "greater": ("_greater", "broadcast_greater", "_greater_scalar", "_lesser_scalar"),
    "greater_equal": ("_greater_equal", "broadcast_greater_equal", "_greater_equal_scalar",
                      "_lesser_equal_scalar"),
    "lesser": ("_lesser", "broadcast_lesser", "_lesser_scalar", "_greater_scalar"),
    "lesser_equal": ("_lesser_equal", "broadcast_lesser_equal", "_lesser_equal_scalar",
                     "_greater_equal_scalar"),
    "logical_and": ("_logical_and", "broadcast_logical_and", "_logical_and_scalar",
                    "_logical_and_scalar"),
    "logical_or": ("_logical_or", "broadcast_logical_or", "_logical_or_scalar",
                   "_logical_or_scalar"),
    "logical_xor": ("_logical_xor", "broadcast_logical_xor", "_logical_xor_scalar",
                    "_logical_xor_scalar"),
}

_OPERATORS = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide",
              "mod": "modulo", "pow": "power"}
_COMPARISONS = {"eq": "equal", "ne": "not_equal", "lt": "lesser", "le": "lesser_equal",
                "gt": "greater", "ge": "greater_equal"}


def is_number(value):
    return (isinstance(value, (int, float))
            or (hasattr(value, "__float__") and getattr(value, "ndim", 0) == 0))


def _is_rounded(number):
    """Whether the number is a 64-bit integer that no float represents exactly."""
    return (hasattr(number, "__index__") and -2 ** 63 <= (whole := operator.index(number)) < 2 ** 63
            and int(float(whole)) != whole)


def functions(tensor, apply, stretch):
    """{name: function} for a class of tensors. `apply(op, [(None, tensor)], attributes, name)`
    makes a node; `stretch` selects the broadcasting ops for two tensors."""

    def make(spelled, ops):
        same, stretching, on_right, on_left = ops

        def constant(like, number):
            """An integer that no float represents, as a tensor of the shape of `like`: the sum of
            two floats."""
            whole = operator.index(number)
            low = whole % 2 ** 11
            high = apply("_plus_scalar", [(None, apply("zeros_like", [(None, like)], {}, None))],
                         {"scalar": float(whole - low)}, None)
            return apply("_plus_scalar", [(None, high)], {"scalar": float(low)}, None)

        def call(lhs, rhs, name=None):
            if isinstance(lhs, tensor) and is_number(rhs) and _is_rounded(rhs):
                return apply(same, [(None, lhs), (None, constant(lhs, rhs))], {}, name)
            if isinstance(rhs, tensor) and is_number(lhs) and _is_rounded(lhs):
                return apply(same, [(None, constant(rhs, lhs)), (None, rhs)], {}, name)
            if isinstance(lhs, tensor) and isinstance(rhs, tensor):
                return apply(stretching if stretch else same, [(None, lhs), (None, rhs)], {}, name)
            if isinstance(lhs, tensor) and is_number(rhs):
                return apply(on_right, [(None, lhs)], {"scalar": float(rhs)}, name)
            if isinstance(rhs, tensor) and is_number(lhs):
                return apply(on_left, [(None, rhs)], {"scalar": float(lhs)}, name)
            raise TypeError(f"{spelled} takes two operands, of which one at least is a "
                            f"{tensor.__name__}, got {lhs!r} and {rhs!r}")

        call.__name__ = call.__qualname__ = spelled
        call.__doc__ = f"`{spelled}(lhs, rhs)` of two tensors, or of a tensor and a number."
        return call

    made = {spelled: make(spelled, ops) for spelled, ops in TABLE.items()}
    made["pow"] = made["power"]
    return made


def add_operators(tensor, made):
    """Adds Python's operators to the class, implemented by the functions of `functions`."""

    def known(other):
        return isinstance(other, tensor) or is_number(other)

    def add(method, name, reflected):
        def method_of(self, other):
            if not known(other):
                return NotImplemented
            return made[name](other, self) if reflected else made[name](self, other)

        method_of.__name__ = method
        setattr(tensor, method, method_of)

    for python, name in {**_OPERATORS, **_COMPARISONS}.items():
        add(f"__{python}__", name, reflected=False)
    for python, name in _OPERATORS.items():
        add(f"__r{python}__", name, reflected=True)
