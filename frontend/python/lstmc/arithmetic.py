"""MXNet's functions of two operands, each a tensor or a number: add, maximum, lesser and so on. For
symbols they use the ops for equal shapes, as MXNet does; for arrays those that broadcast."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from . import _core

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


# The functions whose op has another name.
_NAMES = {"plus": "add", "minus": "subtract", "mul": "multiply", "div": "divide", "mod": "modulo"}


def _table():
    """{function: (op, broadcasting op, op with a number on the right, op with a number on the
    left)}"""
    found = {}
    for _, stretching, number, number_first in _core.operand_forms():
        stem = number.removeprefix("_").removesuffix("_scalar")
        found[_NAMES.get(stem, stem)] = (f"_{stem}", stretching, number, number_first)
    return found


TABLE = _table()
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
