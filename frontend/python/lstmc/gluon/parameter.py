"""Parameters of Gluon's blocks: an array with a gradient on each context, made when its shape is
known."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy

from .. import graph, params_file
from .. import init as initializers
from ..arrays import as_array
from ..context import Context, current_context
from ..error import did_you_mean, usage, warn
from ..name import NameManager
from ..ndarray import NDArray
from ..values import plain
from . import first_values, tracing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from numpy.typing import ArrayLike
    from typing import Any

    from ..graph import Symbol
    from ..init import Initializer
    from ..kinds import DType, Path, Shape


class DeferredInitializationError(Exception):
    """The shape of a parameter is not known yet: the first forward will infer it."""


class Parameter:
    """A weight of blocks. `grad_req` is "write", "add" or "null"; extents of `shape` that are 0 are
    inferred by the first forward. `lr_mult` and `wd_mult` are the Trainer's: as in Gluon, decay
    applies to biases too unless their `wd_mult` is 0. Threads may read its arrays; initialising and
    assigning need exclusive use."""

    def __init__(self, name: str, grad_req: str = "write", shape: Shape | None = None,
                 dtype: DType = "float32", lr_mult: float = 1.0, wd_mult: float = 1.0,
                 init: Initializer | str | None = None, allow_deferred_init: bool = False,
                 differentiable: bool = True, stype: str = "default",
                 grad_stype: str = "default") -> None:
        if (stype, grad_stype) != ("default", "default"):
            raise usage(f'parameter "{name}": there are no sparse arrays')
        self.name = name
        self.lr_mult, self.wd_mult = lr_mult, wd_mult
        self.init = init
        self.dtype = plain(dtype)
        self._differentiable = differentiable
        self._shape = (shape,) if isinstance(shape, int) else shape and tuple(shape)
        self._allow_deferred = allow_deferred_init
        self._copies = {}  # by context
        self._waiting = None  # (initializer, its default, contexts), until the shape is known
        self._var = None
        self.grad_req = grad_req

    def __repr__(self):
        return f"Parameter {self.name} (shape={self.shape}, dtype={self.dtype})"

    @property
    def grad_req(self) -> str:
        return self._grad_req

    @grad_req.setter
    def grad_req(self, request: str) -> None:
        if request not in ("write", "add", "null"):
            raise usage(f'grad_req is write, add or null, got "{request}"')
        self._grad_req = request if self._differentiable else "null"
        for copy in self._copies.values():
            self._attach(copy)

    @property
    def shape(self) -> tuple[int, ...] | None:
        return self._shape

    @shape.setter
    def shape(self, shape: Shape) -> None:
        found = tuple(int(extent) for extent in shape)
        if self._shape is not None and not (
                len(self._shape) == len(found)
                and all(have in (0, -1, new) for have, new in zip(self._shape, found))):
            raise usage(f'parameter "{self.name}" has shape {self._shape}, found {found}')
        self._shape = found

    @property
    def is_known(self) -> bool:
        """Whether all extents are known."""
        return self._shape is not None and all(extent > 0 for extent in self._shape)

    # First values.

    def initialize(self, init: Initializer | str | None = None,
                   ctx: Context | Sequence[Context] | None = None,
                   default_init: Initializer | str | None = None,
                   force_reinit: bool = False) -> None:
        """Makes the arrays, at once or in the first forward. `init` comes before the parameter's
        own initializer, `default_init` after it."""
        if self._copies and not force_reinit:
            warn(f'parameter "{self.name}" is already initialized: force_reinit=True does '
                          "it again")
            return
        self._copies = {}
        contexts = [ctx] if isinstance(ctx, Context) else list(ctx or [current_context()])
        self._waiting = (init or self.init, default_init or initializers.Uniform(), contexts)
        if self.is_known:
            first_values.make([self])
        elif not self._allow_deferred:
            self._waiting = None
            raise usage(f'parameter "{self.name}" cannot be initialized: its shape is '
                        f"{self._shape}, and it has no allow_deferred_init")

    def _take_first(self, values):
        """Ends the wait for first values."""
        _, _, contexts = self._waiting
        self._waiting = None
        self._make(values, contexts)

    def _make(self, values, contexts):
        values = numpy.ascontiguousarray(values, dtype=self.dtype)
        self._copies = {context: NDArray(values.copy(), context=context) for context in contexts}
        for copy in self._copies.values():
            self._attach(copy)

    def _attach(self, copy):
        copy.attach_grad(self._grad_req)

    def _finish_deferred(self):
        if self._waiting is not None:
            if not self.is_known:
                raise DeferredInitializationError(
                    f'parameter "{self.name}" has no array yet: its shape {self._shape} is known '
                    "after the first forward")
            first_values.make([self])

    # Arrays.

    def data(self, ctx: Context | None = None) -> NDArray:
        """The array on a context; the only one by default."""
        return self._on(ctx)

    def list_data(self) -> list[NDArray]:
        self._check_made()
        return list(self._copies.values())

    def grad(self, ctx: Context | None = None) -> NDArray:
        """The gradient that `backward` wrote."""
        copy = self._on(ctx)
        if self._grad_req == "null":
            raise usage(f'parameter "{self.name}" has no gradient: its grad_req is null')
        return copy.grad

    def list_grad(self) -> list[NDArray]:
        return [self.grad(context) for context in self.list_ctx()]

    def list_ctx(self) -> list[Context]:
        if self._waiting is not None:
            return self._waiting[2]
        self._check_made()
        return list(self._copies)

    def zero_grad(self) -> None:
        """Sets the gradients to zero."""
        if self._grad_req != "null":
            for copy in self._copies.values():
                copy.grad._write(numpy.zeros_like(copy.grad._data))

    def set_data(self, data: ArrayLike) -> None:
        """Writes the values to all contexts."""
        values = as_array(data)
        self.shape = values.shape
        if self._waiting is not None and not self._copies:
            self._take_first(values)
            return
        self._check_made()
        for copy in self._copies.values():
            copy._write(values.astype(self.dtype))

    def reset_ctx(self, ctx: Context | Sequence[Context]) -> None:
        """Moves the array to other contexts."""
        contexts = [ctx] if isinstance(ctx, Context) else list(ctx)
        if self._waiting is not None:
            self._waiting = (*self._waiting[:2], contexts)
        elif self._copies:
            self._make(self.list_data()[0]._data, contexts)
        else:
            raise usage(f'parameter "{self.name}" has not been initialized')

    def cast(self, dtype: DType) -> None:
        """Converts array and gradient to another type."""
        self.dtype = plain(dtype)
        if self._copies:
            self._make(self.list_data()[0]._data, list(self._copies))

    def var(self) -> Symbol:
        """The parameter as a Variable of symbols."""
        trace = tracing.current()
        if trace is not None:
            return trace.variable(self)
        if self._var is None:
            self._var = self._variable()
        return self._var

    def _variable(self):
        with NameManager():  # a name scope has given the name its prefix
            return graph.Variable(self.name, shape=self._shape, dtype=self.dtype,
                                  lr_mult=_unless_one(self.lr_mult),
                                  wd_mult=_unless_one(self.wd_mult))

    def _on(self, ctx):
        self._check_made()
        if ctx is None and len(self._copies) == 1:
            return next(iter(self._copies.values()))
        ctx = ctx or current_context()
        if ctx not in self._copies:
            raise usage(f'parameter "{self.name}" is not on {ctx}, it is on '
                        f'{", ".join(map(str, self._copies))}: initialize(ctx=..) or reset_ctx(..)')
        return self._copies[ctx]

    def _check_made(self):
        if self._copies:
            return
        self._finish_deferred()
        if not self._copies:
            raise usage(f'parameter "{self.name}" has not been initialized: '
                        "collect_params().initialize() makes its array")


def _unless_one(multiplier):
    return None if multiplier == 1 else multiplier


class Constant(Parameter):
    """A parameter that is not trained, with these values."""

    def __init__(self, name: str, value: ArrayLike) -> None:
        self.value = as_array(value)
        if self.value.dtype.kind != "f":
            self.value = self.value.astype("float32")
        super().__init__(name, grad_req="null", shape=self.value.shape,
                         dtype=self.value.dtype.name, differentiable=False,
                         init=None)

    def __repr__(self):
        return f"Constant {self.name} (shape={self.shape}, dtype={self.dtype})"

    def initialize(self, init: Any = None, ctx: Any = None, default_init: Any = None,
                   force_reinit: bool = False) -> None:
        if self._copies and not force_reinit:
            return
        contexts = [ctx] if isinstance(ctx, Context) else list(ctx or [current_context()])
        self._make(self.value, contexts)


class ParameterDict:
    """Parameters by name, in the order in which they were made. Names that `get` makes begin with
    `prefix`; `shared` is a dict in which they are looked up first."""

    def __init__(self, prefix: str = "", shared: ParameterDict | None = None) -> None:
        self._prefix, self._shared = prefix, shared
        self._params = {}

    @property
    def prefix(self) -> str:
        return self._prefix

    def __repr__(self):
        lines = "".join(f"  {parameter}\n" for parameter in self.values())
        return f"{self._prefix + ' ' if self._prefix else ''}(\n{lines})"

    def __len__(self) -> int:
        return len(self._params)

    def __iter__(self) -> Iterator[str]:
        return iter(self._params)

    def __contains__(self, name: str) -> bool:
        return name in self._params

    def __getitem__(self, name: str) -> Parameter:
        if name not in self._params:
            raise KeyError(f'no parameter is named "{name}"{did_you_mean(name, self._params)}')
        return self._params[name]

    def items(self) -> Iterable[tuple[str, Parameter]]:
        return self._params.items()

    def keys(self) -> Iterable[str]:
        return self._params.keys()

    def values(self) -> Iterable[Parameter]:
        return self._params.values()

    def _find(self, name):
        if name not in self._params and self._shared is not None and name in self._shared:
            self._params[name] = self._shared[name]
        return self._params.get(name)

    def get(self, name: str, **options: Any) -> Parameter:
        """The parameter `prefix + name`, made with these options unless it is there; then the
        options must agree with it."""
        name = self._prefix + name
        found = self._find(name)
        if found is None:
            found = self._params[name] = Parameter(name, **options)
            return found
        for option, value in options.items():
            if option == "shape" and value is not None:
                shape = (value,) if isinstance(value, int) else tuple(value)
                if found.shape is None or len(shape) != len(found.shape):
                    found.shape = shape
                else:
                    found.shape = [have if new in (0, -1) else new
                                   for have, new in zip(found.shape, shape)]
            elif option == "dtype" and plain(value) != found.dtype:
                raise usage(f'parameter "{name}" has type {found.dtype}, wanted {value}')
        return found

    def get_constant(self, name: str, value: ArrayLike | None = None) -> Constant:
        """The Constant `prefix + name`, made of `value` unless it is there."""
        name = self._prefix + name
        found = self._find(name)
        if found is not None:
            if not isinstance(found, Constant):
                raise usage(f'parameter "{name}" is no Constant')
            return found
        if value is None:
            raise usage(f'there is no Constant "{name}", and no value to make it')
        found = self._params[name] = Constant(name, value)
        return found

    def update(self, other: ParameterDict | Mapping[str, Parameter]) -> None:
        """Adds the parameters of another dict; one name must mean one parameter."""
        for name, parameter in other.items():
            if self._params.setdefault(name, parameter) is not parameter:
                raise usage(f'two parameters are named "{name}"')

    def matching(self, pattern: str | None) -> ParameterDict:
        """Those whose name matches a regular expression from its beginning."""
        found = ParameterDict(self._prefix)
        found._params = {name: parameter for name, parameter in self.items()
                         if pattern is None or re.match(pattern, name)}
        return found

    def initialize(self, init: Initializer | str | None = None,
                   ctx: Context | Sequence[Context] | None = None, verbose: bool = False,
                   force_reinit: bool = False) -> None:
        """Initializes all; `init` is for those without an initializer of their own."""
        with first_values.together():
            for parameter in self.values():
                parameter.initialize(None, ctx, init, force_reinit)

    def zero_grad(self) -> None:
        for parameter in self.values():
            parameter.zero_grad()

    def reset_ctx(self, ctx: Context | Sequence[Context]) -> None:
        for parameter in self.values():
            parameter.reset_ctx(ctx)

    def list_ctx(self) -> list[Context]:
        return list(dict.fromkeys(context for parameter in self.values()
                                  for context in parameter.list_ctx()))

    def setattr(self, name: str, value: Any) -> None:
        """Sets an attribute of all: `setattr("grad_req", "null")`."""
        for parameter in self.values():
            setattr(parameter, name, value)

    def save(self, filename: Path, strip_prefix: str = "") -> None:
        """Writes MXNet's file of arrays; `strip_prefix` is taken off the names."""
        arrays = {}
        for name, parameter in self.items():
            if not name.startswith(strip_prefix):
                raise usage(f'the name "{name}" does not begin with "{strip_prefix}"')
            arrays[name[len(strip_prefix):]] = parameter.list_data()[0]._data
        params_file.write(filename, arrays)

    def load(self, filename: Path, ctx: Context | Sequence[Context] | None = None,
             allow_missing: bool = False, ignore_extra: bool = False, restore_prefix: str = "",
             cast_dtype: bool = False, dtype_source: str = "current") -> None:
        """Reads such a file; `restore_prefix` is put before the names."""
        arrays = {restore_prefix + name: value for name, value in named_arrays(filename).items()}
        load_into(self._params, arrays, filename, ctx, allow_missing, ignore_extra, cast_dtype,
                  dtype_source)


def named_arrays(filename):
    """{name: array} of a file, without `arg:` and `aux:`."""
    arrays = params_file.read(filename)
    if not isinstance(arrays, dict):
        raise usage(f"{filename}: the arrays have no names")
    return {name.split(":", 1)[1] if name.startswith(("arg:", "aux:")) else name: value
            for name, value in arrays.items()}


def load_into(parameters, arrays, filename, ctx, allow_missing, ignore_extra, cast_dtype=False,
              dtype_source="current"):
    """Gives arrays to the parameters of the same names."""
    missing = [name for name in parameters if name not in arrays]
    if missing and not allow_missing:
        raise usage(f"{filename} has no {', '.join(missing)}; it has "
                    f"{', '.join(arrays)}. allow_missing=True leaves them as they are")
    extra = [name for name in arrays if name not in parameters]
    if extra and not ignore_extra:
        raise usage(f"{filename} has {', '.join(extra)}, which the block does not have; "
                    "ignore_extra=True skips them")
    for name, parameter in parameters.items():
        if name in arrays:
            load_one(parameter, arrays[name], ctx, cast_dtype and dtype_source == "saved",
                     cast_dtype)


def load_one(parameter, values, ctx, take_type, convert):
    if take_type:
        parameter.dtype = values.dtype.name
    elif values.dtype.name != parameter.dtype and not convert:
        raise usage(f'parameter "{parameter.name}" has type {parameter.dtype}, the file '
                    f"{values.dtype.name}: cast_dtype=True converts")
    parameter.shape = values.shape
    if ctx is not None:
        contexts = [ctx] if isinstance(ctx, Context) else list(ctx)
    else:
        contexts = (parameter.list_ctx() if parameter._copies or parameter._waiting
                    else [current_context()])
    parameter._waiting = None
    parameter._make(values, contexts)
