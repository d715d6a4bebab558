"""Eager arrays: an op on them runs at once, as a network of one op that is compiled at its first
use (programs.py)."""

from __future__ import annotations

import math
import weakref
from typing import TYPE_CHECKING

import numpy

from . import _core, arithmetic, autograd, draws
from .arrays import as_array
from .context import cpu
from .error import usage
from .place import of_caller
from .programs import Program, frozen, kept
from .values import plain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from numpy.typing import ArrayLike
    from typing import Any

    from .context import Context
    from .kinds import DType


class NDArray(arithmetic.Operators):
    """An array on which ops of `lstmc.nd` compute at once. Its memory is never overwritten while
    something else reads it: assignment allocates new memory, indices and `reshape` copy. Threads
    may read one at the same time; a thread that assigns to it or computes its gradient needs
    exclusive use. Each thread has its own tape."""

    __slots__ = ("_data", "_entry", "_grad", "_request", "_context", "_is_fresh", "__weakref__")
    __array_priority__ = 1000.0  # else NumPy's scalars would apply their operators

    def __init__(self, data: ArrayLike, entry: Any = None, context: Context | None = None) -> None:
        self._data = numpy.ascontiguousarray(data) if numpy.ndim(data) else numpy.reshape(data, 1)
        self._entry = entry  # (autograd.Node, number of the output)
        self._grad = None
        self._request = "null"
        self._context = context  # a label: all arrays are computed on the CPU
        self._is_fresh = False  # a gradient that no Trainer has read yet

    # Properties.

    @property
    def shape(self) -> tuple[int, ...]:
        return self._data.shape

    @property
    def size(self) -> int:
        return self._data.size

    @property
    def ndim(self) -> int:
        return self._data.ndim

    @property
    def dtype(self) -> type:
        """The NumPy class of the elements, such as numpy.float32."""
        return self._data.dtype.type

    @property
    def context(self) -> Context:
        return self._context or cpu()

    ctx = context

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self):
        return f"\n{self._data}\n<NDArray {'x'.join(map(str, self.shape))} @{self.context}>"

    __hash__ = object.__hash__

    # Values.

    def asnumpy(self) -> numpy.ndarray:
        """A copy as NumPy's array."""
        return self._data.copy()

    def __array__(self, dtype=None, copy=None):
        return numpy.array(self._data, dtype=dtype)

    def __dlpack__(self, **keywords: Any) -> Any:
        """For `from_dlpack` of other libraries: shares the array's memory without a copy. Writes to
        it are seen by the array, until the array is assigned to, which allocates new memory."""
        return self._data.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self._data.__dlpack_device__()

    def asscalar(self) -> Any:
        """The value of an array of one element."""
        if self.size != 1:
            raise ValueError(f"asscalar is for arrays of one element, this has shape {self.shape}")
        return self._data.reshape(-1)[0]

    def __float__(self):
        return float(self.asscalar())

    def __int__(self):
        return int(self.asscalar())

    def __bool__(self):
        return bool(self.asscalar())

    def copy(self) -> NDArray:
        return invoke("_copy", [(None, self)], {})

    def copyto(self, other: Any) -> NDArray:
        """Writes the values to another array, or returns a copy on a Context."""
        if not isinstance(other, NDArray):
            return self.copy()._on(other)
        other[:] = self
        return other

    def astype(self, dtype: DType, copy: bool = True) -> NDArray:
        return invoke("Cast", [(None, self)], {"dtype": dtype})

    def as_in_context(self, context: Context) -> NDArray:
        """The array if it is on that context, else a copy. All contexts are computed on the CPU."""
        return self if context == self.context else self.copy()._on(context)

    as_in_ctx = as_in_context

    def wait_to_read(self) -> None:
        """Does nothing: ops have finished when they return."""

    # Indices.

    def __getitem__(self, index: Any) -> NDArray:
        if isinstance(index, (NDArray, list, numpy.ndarray)):
            return invoke("take", [(None, self),
                                   (None, index if isinstance(index, NDArray) else array(index))],
                          {"axis": 0})
        return _indexed(self, index if isinstance(index, tuple) else (index,))

    def __setitem__(self, index, value):
        self._check_writable()
        changed = self._data.copy()
        changed[index._data.astype(numpy.int64) if isinstance(index, NDArray)
                else index] = as_array(value)
        self._write(changed)

    def __iter__(self) -> Iterator[NDArray]:
        return (self[i] for i in range(len(self)))

    # Operators; those of two operands are added below.

    def __neg__(self) -> NDArray:
        return invoke("negative", [(None, self)], {})

    def __abs__(self) -> NDArray:
        return invoke("abs", [(None, self)], {})

    def __matmul__(self, other: NDArray) -> NDArray:
        return invoke("dot", [(None, self), (None, other)], {})

    @property
    def T(self) -> NDArray:
        return invoke("transpose", [(None, self)], {})

    def reshape(self, *shape: Any, **keywords: Any) -> NDArray:
        """`reshape(2, -1)`, `reshape((2, -1))`; 0 and the other codes are those of Reshape."""
        if shape:
            keywords["shape"] = (shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list))
                                 else shape)
        return invoke("Reshape", [(None, self)], keywords)

    def transpose(self, *axes: Any) -> NDArray:
        axes = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
        return invoke("transpose", [(None, self)], {"axes": axes})

    # Gradients.

    @property
    def grad(self) -> NDArray | None:
        """The gradient that `backward` wrote; None without `attach_grad`."""
        return self._grad

    def attach_grad(self, grad_req: str = "write", stype: str | None = None) -> None:
        """Requests a gradient in `.grad`: `grad_req` "write", "add" (to the present values), or
        "null"."""
        self._mark(NDArray(numpy.zeros_like(self._data), context=self._context), grad_req)

    def detach(self) -> NDArray:
        """The same values, not recorded on the tape."""
        return NDArray(self._data, context=self._context)

    def backward(self, out_grad: NDArray | None = None, retain_graph: bool = False,
                 train_mode: bool = True) -> None:
        """autograd.backward with this array as the head."""
        autograd.backward([self], None if out_grad is None else [out_grad], retain_graph,
                          train_mode)

    # Used by autograd.

    def _on(self, context):
        self._context = context
        return self

    def _mark(self, gradient, request):
        if request not in ("write", "add", "null"):
            raise usage(f'grad_req is write, add or null, got "{request}"')
        if self._data.dtype.kind != "f":
            raise usage(f"an array of {self._data.dtype} has no gradient")
        self._entry, self._grad, self._request = None, gradient, request

    def _take_gradient(self, gradient):
        if self._request == "add":
            gradient = (
                invoke("elemwise_add", [(None, self._grad), (None, NDArray(gradient))], {})._data)
        self._grad._write(gradient)
        self._grad._is_fresh = True

    def _is_tracked(self):
        return self._entry is not None or self._request != "null"

    def _source(self):
        if self._entry is not None:
            return self._entry
        return autograd.Leaf(self._data, self if self._request != "null" else None)

    def _check_writable(self):
        if autograd.is_recording() and self._is_tracked():
            raise usage("an array on the tape cannot be changed inside autograd.record()")

    def _write(self, data):
        self._data, self._entry = numpy.ascontiguousarray(data), None


class Late(NDArray):
    """An output of a node on the tape that is computed at its first use, or by `backward`: the
    usual loop then computes forward and backward in one program."""

    __slots__ = ("_value", "_form")

    def __init__(self, form: tuple[tuple[int, ...], str], entry: Any,
                 context: Context | None) -> None:
        self._value, self._form = None, form  # (shape, dtype)
        super().__init__(None, entry, context)
        self._value = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self._form[0]

    @property
    def size(self) -> int:
        return math.prod(self._form[0])

    @property
    def ndim(self) -> int:
        return len(self._form[0])

    @property
    def dtype(self) -> type:
        return numpy.dtype(self._form[1]).type

    @property
    def is_late(self) -> bool:
        """Whether it is still to be computed."""
        return self._value is None

    def compute(self, value: numpy.ndarray) -> None:
        """Sets the computed value."""
        self._value = value

    @property
    def _data(self):
        if self._value is None:
            node = self._entry[0]
            found = autograd._outputs_of(node, len(node.outputs))
            for reference, value in zip(node.outputs, found):
                array = reference()
                if array is not None and array.is_late:
                    array.compute(value)
        return self._value

    @_data.setter
    def _data(self, value):
        self._value = value


def late_outputs(node, forms, context):
    """The outputs of a node, of these (shapes, dtypes), to be computed late."""
    outputs = [Late(form, (node, number), context) for number, form in enumerate(forms)]
    node.outputs = [weakref.ref(output) for output in outputs]
    return outputs


def invoke(op, inputs, attributes, name=None):
    """Runs an op on [(input's name or None, NDArray)] and returns an NDArray, or a list for several
    outputs."""
    for argument, given in inputs:
        if not isinstance(given, NDArray):
            raise TypeError(f"{op} takes NDArrays as inputs, got {given!r}"
                            + (f" for {argument}" if argument else ""))
    attributes = [(key, plain(value)) for key, value in attributes.items() if key != "ctx"]
    key = (op, tuple((name, frozen(value)) for name, value in attributes),
           tuple((argument, given.shape, numpy.dtype(given.dtype).str)
                 for argument, given in inputs))
    program = kept(key, lambda: _compile(op, inputs, attributes))
    context = next((given._context for _, given in inputs if given._context is not None), None)
    is_taped = (autograd.is_recording() and not program.is_random
                and any(given._is_tracked() for _, given in inputs))
    if is_taped and any(isinstance(given, Late) and given.is_late for _, given in inputs):
        outputs = late_outputs(autograd.Node(op, _sources(inputs), attributes, of_caller()),
                               program.forms, context)
        return outputs if len(outputs) > 1 else outputs[0]
    results = program.run({f"x{number}": given._data for number, (_, given) in enumerate(inputs)},
                          random=draws.next_call() if program.is_random else None)
    node = (autograd.Node(op, _sources(inputs), attributes, of_caller()) if is_taped else None)
    outputs = [NDArray(results[output], node and (node, number), context)
               for number, output in enumerate(program.outputs)]
    return outputs if len(outputs) > 1 else outputs[0]


def _sources(inputs):
    return [(argument, given._source()) for argument, given in inputs]


def _compile(op, inputs, attributes):
    drawing = _core.Drawing("op")
    values = [(argument,
               drawing.input(f"x{number}", numpy.dtype(given.dtype).name, list(given.shape), False,
                             None))
              for number, (argument, given) in enumerate(inputs)]
    outputs = autograd.draw(drawing, op, values, attributes, op.lower().strip("_"), of_caller())
    return Program(drawing, outputs, "forward", sum(given.size for _, given in inputs))


def _indexed(data, index):
    """Basic indexing, as slice and reshape."""
    given = sum(item is not None and item is not Ellipsis for item in index)
    if given > data.ndim:
        raise IndexError(f"{given} indices for an array of shape {data.shape}")
    if not any(item is Ellipsis for item in index):
        index = (*index, Ellipsis)
    at = next(i for i, item in enumerate(index) if item is Ellipsis)
    index = (*index[:at], *[slice(None)] * (data.ndim - given), *index[at + 1 :])
    begin, end, step, shape, axis = [], [], [], [], 0
    for item in index:
        if item is None:
            shape.append(1)
            continue
        extent = data.shape[axis]
        axis += 1
        if isinstance(item, slice):
            taken = range(*item.indices(extent))
            if not taken:
                raise IndexError(f"axis {axis - 1} of extent {extent}: {item} selects nothing")
            shape.append(len(taken))
            begin, step = [*begin, item.start], [*step, item.step]
            end.append(item.stop)
            continue
        number = int(item)
        if not -extent <= number < extent:
            raise IndexError(f"index {number} is outside of axis {axis - 1} of extent {extent}")
        number %= extent
        begin, end, step = [*begin, number], [*end, number + 1], [*step, None]
    if any(bound is not None for bound in (*begin, *end, *step)):
        data = invoke("slice", [(None, data)], {"begin": begin, "end": end, "step": step})
    shape = tuple(shape) or (1,)
    return data if data.shape == shape else invoke("Reshape", [(None, data)], {"shape": shape})


def array(source: Any, ctx: Context | None = None, dtype: DType | None = None) -> NDArray:
    """Makes an array from numbers, a NumPy array or another NDArray; the default type is float32,
    or that of the NDArray."""
    if dtype is None:
        dtype = source.dtype if isinstance(source, NDArray) else numpy.float32
    return NDArray(numpy.array(as_array(source), dtype=plain(dtype)), context=ctx)


binary = arithmetic.functions(NDArray, invoke, stretch=True)
arithmetic.add_operators(NDArray, binary)


def _add_in_place(method):
    reading = getattr(NDArray, f"__{method}__")

    def operator(self, other):
        self._check_writable()
        result = reading(self, other)
        if result is NotImplemented or result.shape != self.shape:
            raise TypeError(f"{other!r} cannot be added in place to an array of shape {self.shape}")
        self._write(result._data)
        return self

    operator.__name__ = f"__i{method}__"
    setattr(NDArray, operator.__name__, operator)


for _method in ("add", "sub", "mul", "truediv", "mod", "pow"):
    _add_in_place(_method)
