"""MXNet's Executor: a symbol bound to arrays, which the user's loop runs forward and backward."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy

from . import sym
from .arrays import as_array
from .drawing import begin
from .error import usage
from .graph import Group, Symbol, Variable
from .ndarray import NDArray
from .nodes import is_input, reached, variables
from .programs import Program
from .sharing import Turn, one_at_a_time
from .values import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from numpy.typing import ArrayLike
    from typing import Any

    from .context import Context
    from .kinds import DType


class _Late(NDArray):
    """A gradient computed at its first use, for inputs: loops seldom read those."""

    __slots__ = ("_value", "_compute")

    def __init__(self, value):
        self._compute = None
        super().__init__(value)

    @property
    def _data(self):
        if self._compute is not None:
            compute, self._compute = self._compute, None
            self._value = compute()
        return self._value

    @_data.setter
    def _data(self, value):
        self._value, self._compute = value, None

    def wait_for(self, compute):
        """Sets the function that computes the value."""
        self._compute = compute


class Executor:
    """`arg_dict` has the arrays of all arguments (write with `executor.arg_dict["w"][:] = ..`),
    `grad_dict` their gradients, `aux_dict` those of auxiliary states, `outputs` the results of the
    last `forward`. Dropout is active in `backward` only, and so are the batch's statistics of
    BatchNorm, and what renews auxiliary states. Threads may share it: one call runs at a time, and
    `forward` returns its caller's outputs, while `outputs` and the arrays are those of the last
    call, whichever thread made it."""

    def __init__(self, symbol: Symbol, arrays: dict[str, NDArray], gradients: dict[str, NDArray],
                 requests: Mapping[str, str],
                 inputs: Sequence[str], of_inputs: Mapping[str, str] | None = None,
                 states: dict[str, NDArray] | None = None) -> None:
        """`arrays` and `gradients` are NDArrays by name; `requests` is "write" or "add" by name of
        the arguments with a gradient; `inputs` are names of arrays whose first axis is the batch.
        `of_inputs` are the requests for gradients of inputs: a separate program computes them, so
        that the gradients of weights have the same bits with and without them, unless random
        numbers are drawn. `states` are the auxiliary states by name."""
        self._symbol = symbol
        self.arg_dict, self.grad_dict, self.aux_dict = arrays, gradients, states or {}
        self._requests, self._of_inputs = requests, dict(of_inputs or {})
        self.outputs = []
        self._training = False
        self._inputs = {name: arrays[name].shape for name in inputs if name not in requests}
        self._declared = {name: array.shape for name, array in {**arrays, **self.aux_dict}.items()
                          if name not in self._inputs}
        self._elements = sum(array.size for array in arrays.values())
        # programs; those of backward by the heads that have a gradient
        self._forward, self._backward, self._backward_inputs = None, {}, {}
        self._calls = 0
        self._turn = Turn()

    def _held(self):
        return self._turn

    @property
    def arg_arrays(self) -> list[NDArray]:
        return list(self.arg_dict.values())

    @property
    def grad_arrays(self) -> list[NDArray | None]:
        """The gradients in the order of `arg_arrays`; None for an argument without one."""
        return [self.grad_dict.get(name) for name in self.arg_dict]

    @property
    def aux_arrays(self) -> list[NDArray]:
        return list(self.aux_dict.values())

    @property
    def output_dict(self) -> dict[str, NDArray]:
        return dict(zip(self._symbol.list_outputs(), self.outputs))

    @one_at_a_time
    def copy_params_from(self, arg_params: Mapping[str, ArrayLike],
                         aux_params: Mapping[str, ArrayLike] | None = None,
                         allow_extra_params: bool = False) -> None:
        """Copies weights into their arguments."""
        for name, value in {**arg_params, **(aux_params or {})}.items():
            if name in self.arg_dict:
                self.arg_dict[name][:] = value
            elif name in self.aux_dict:
                self.aux_dict[name][:] = value
            elif not allow_extra_params:
                raise usage(f'the symbol has no argument "{name}"')

    @one_at_a_time
    def forward(self, is_train: bool = False, **inputs: ArrayLike) -> list[NDArray]:
        """Writes `inputs` to their arrays, runs the network and returns `outputs`."""
        for name, value in inputs.items():
            if name not in self.arg_dict:
                raise usage(
                    f'the symbol has no argument "{name}"; there are {", ".join(self.arg_dict)}')
            self.arg_dict[name][:] = value
        if self._forward is None:
            self._forward = Program(*self._begun(), "forward", self._elements)
        self._calls += 1
        results = self._forward.run(*self._values(),
                                    random=(0, self._calls) if self._forward.is_random else None)
        self.outputs = [NDArray(results[name]) for name in self._forward.outputs]
        self._training = is_train
        return self.outputs

    @one_at_a_time
    def backward(self, out_grads: Any = None, is_train: bool = True) -> None:
        """Writes the gradients to `grad_dict`; `out_grads` are the gradients of the outputs, ones
        by default. Loss ops ignore them."""
        if not self._training:
            raise usage("backward comes after forward(is_train=True)")
        heads = (out_grads if isinstance(out_grads, (list, tuple))
                 else [out_grads] * len(self.outputs))
        if len(heads) != len(self.outputs):
            raise usage(f"{len(self.outputs)} outputs have {len(heads)} gradients")
        factors = {f"head{number}": as_array(head) for number, head in enumerate(heads)
                   if head is not None}
        if self._of_inputs and self._draws():
            self._take_inputs_along()
        program = self._backward.get(tuple(factors)) or self._backward.setdefault(
            tuple(factors), self._compile_backward(factors, self._inputs, self._declared))
        inputs, parameters = self._values()
        results = program.run({**inputs, **factors}, parameters, random=(0, self._calls),
                              renewed=list(self.aux_dict))
        for name, state in self.aux_dict.items():
            state._write(results[f"renewed:{name}"])
        for name, request in self._requests.items():
            gradient = results.get(f"gradient:{name}", numpy.zeros_like(parameters[name]))
            self.grad_dict[name]._write(gradient + self.grad_dict[name]._data if request == "add"
                                        else gradient)
        if self._of_inputs:  # with the auxiliary states that the batch began with
            self._backward_of_inputs({**inputs, **parameters}, factors)

    def _take_inputs_along(self):
        """Moves gradients of inputs into the program of the other gradients: a network with dropout
        has one program for all of them, because a second one would draw other masks."""
        wanted = [name for name in self._of_inputs if self.arg_dict[name]._data.dtype.kind == "f"]
        if wanted:
            self._forward, self._backward = None, {}
        for name in wanted:
            self._requests = {**self._requests, name: self._of_inputs.pop(name)}
            self._declared = {**self._declared, name: self._inputs.pop(name)}

    def _backward_of_inputs(self, values, factors):
        """Computes the gradients of inputs: now for "add", at the first use for "write"."""
        calls, found = self._calls, []

        def gradient(name):
            if not found:
                found.append(self._gradients_of_inputs(values, factors, calls))
            return found[0].get(f"gradient:{name}", numpy.zeros_like(values[name]))

        for name, request in self._of_inputs.items():
            if request == "add":
                self.grad_dict[name]._write(self.grad_dict[name]._data + gradient(name))
            else:
                self.grad_dict[name].wait_for(lambda name=name: gradient(name))

    @one_at_a_time
    def _gradients_of_inputs(self, values, factors, calls):
        """The gradients of inputs by name; integer inputs have none."""
        wanted = [name for name in self._of_inputs if values[name].dtype.kind == "f"]
        if not wanted:
            return {}
        inputs = {name: values[name] for name in self._inputs if name not in wanted}
        parameters = {name: value for name, value in values.items() if name not in inputs}
        key = tuple(factors)
        if key not in self._backward_inputs:
            self._backward_inputs[key] = self._compile_backward(
                factors, {name: value.shape for name, value in inputs.items()},
                {name: value.shape for name, value in parameters.items()})
        return self._backward_inputs[key].run({**inputs, **factors}, parameters, random=(0, calls))

    def _draws(self):
        """Whether the network draws random numbers."""
        def draws(node):
            if node.kind == "layer" or node.kind == "op" and node.op == "RNN":
                return bool(dict(node.options.get("given", ()), **node.options).get("p"))
            return node.kind == "op" and re.match("dropout|.*(random|sample)", node.op.lower())

        return any(draws(node) for node in reached(self._symbol._outputs))

    def _values(self):
        """(values of inputs, values of parameters) by name."""
        values = {name: array._data for name, array in {**self.arg_dict, **self.aux_dict}.items()}
        return ({name: values[name] for name in self._inputs},
                {name: value for name, value in values.items() if name not in self._inputs})

    def _check_shapes(self):
        """Raises lstmc.Error (E0207) for arrays whose shapes disagree."""
        drawing, outputs = self._begun()
        drawing.finish(outputs)

    def _begun(self):
        """The network for the shapes and types of the arrays."""
        return begin(self._symbol, self._inputs, self._types(), self._declared)

    def _types(self):
        return {name: array._data.dtype.name
                for name, array in {**self.arg_dict, **self.aux_dict}.items()}

    def _compile_backward(self, factors, inputs, declared):
        losses = []
        for number, output in enumerate(self._symbol):
            name = f"head{number}"
            losses.append(sym.MakeLoss(output * Variable(name) if name in factors else output,
                                       name=f"loss{number}"))
        shapes = {**inputs, **{name: value.shape for name, value in factors.items()}}
        types = {**self._types(), **{name: value.dtype.name for name, value in factors.items()}}
        return Program(*begin(Group(losses), shapes, types, declared), "step", self._elements)


def simple_bind(self: Symbol, ctx: Context | None = None,
                grad_req: str | Sequence[str] | Mapping[str, str] = "write",
                type_dict: Mapping[str, DType] | None = None, stype_dict: Any = None,
                group2ctx: Any = None, shared_arg_names: Any = None, shared_exec: Any = None,
                shared_buffer: Any = None, **shapes: Any) -> Executor:
    """An Executor on the CPU with arrays of zeros. `shapes` are those of the inputs. Parameters get
    gradients, and inputs only if `grad_req` (a dict) names them. `group2ctx` and arguments for
    sharing memory are ignored, because they change no value."""
    if stype_dict:
        raise usage("stype_dict: there are no sparse arrays")
    names = self.list_arguments()
    arguments, _, states = self.infer_shape(**shapes)
    requests = _requests_of(grad_req, names, [name for name in names if name not in shapes])
    of_inputs = (_requests_of(grad_req, names, [name for name in names if name in shapes])
                 if isinstance(grad_req, str) else {})
    types = {name: plain(dtype) for name, dtype in (type_dict or {}).items()}
    for name, variable in variables(self).items():
        types.setdefault(name, plain(variable.options["dtype"] or "float32"))
    arrays = {name: NDArray(numpy.zeros(shape, types.get(name, "float32")))
              for name, shape in zip(names, arguments)}
    gradients = {
        name: (_Late if name in of_inputs else NDArray)(numpy.zeros_like(arrays[name]._data))
        for name in names if name in requests or name in of_inputs}
    auxiliary = {name: NDArray(numpy.zeros(shape, types.get(name, "float32")))
                 for name, shape in zip(self.list_auxiliary_states(), states)}
    return Executor(self, arrays, gradients, requests, list(shapes), of_inputs, auxiliary)


def bind(self: Symbol, ctx: Context | None = None, args: Any = None, args_grad: Any = None,
         grad_req: str | Sequence[str] | Mapping[str, str] = "write", aux_states: Any = None,
         group2ctx: Any = None, shared_exec: Any = None) -> Executor:
    """An Executor on the CPU with the user's arrays: `args` and `args_grad` are NDArrays by name,
    or in the order of `list_arguments()`, `aux_states` those of auxiliary states, in the order of
    `list_auxiliary_states()`. Arguments without an array in `args_grad` get no gradient.
    `group2ctx` and `shared_exec` are ignored, because they change no value."""
    names, states = self.list_arguments(), self.list_auxiliary_states()
    arrays, gradients = _named(args, names, "args"), _named(args_grad, names, "args_grad")
    auxiliary = _named(aux_states, states, "aux_states")
    for wanted, given, what in ((names, arrays, "args"), (states, auxiliary, "aux_states")):
        missing = [name for name in wanted if name not in given]
        if missing:
            raise usage(f'{what} has no "{missing[0]}"')
    for name, gradient in gradients.items():
        if gradient.shape != arrays[name].shape:
            raise usage(
                f'"{name}" has shape {arrays[name].shape}, its array in args_grad {gradient.shape}')
    requests = {name: request for name, request in _requests_of(grad_req, names, names).items()
                if name in gradients}
    executor = Executor(self, {name: arrays[name] for name in names}, gradients, requests,
                        [name for name in names if is_input(name)],
                        states={name: auxiliary[name] for name in states})
    executor._check_shapes()
    return executor


# Methods of MXNet's symbols; a symbol itself knows no arrays.
Symbol.simple_bind, Symbol.bind = simple_bind, bind


def _named(arrays, names, what):
    """{name: NDArray} from a dict or a list, whose arrays may be None."""
    given = arrays if isinstance(arrays, dict) else dict(zip(names, arrays or ()))
    if not isinstance(arrays, dict) and arrays and len(arrays) != len(names):
        raise usage(
            f"{what} has {len(arrays)} arrays for {len(names)} arguments: {', '.join(names)}")
    found = {name: array for name, array in given.items() if array is not None and name in names}
    for name, array in found.items():
        if not isinstance(array, NDArray):
            raise TypeError(f'{what} has NDArrays, got {array!r} for "{name}"')
    return found


def _requests_of(grad_req, names, wanted):
    """"write" or "add" by name; a single word applies to all of `wanted`."""
    if isinstance(grad_req, str):
        given = {name: grad_req for name in wanted}
    else:
        given = (dict(zip(names, grad_req)) if isinstance(grad_req, (list, tuple))
                 else dict(grad_req))
    for name, request in given.items():
        if name not in names or request not in ("write", "add", "null"):
            raise usage(f'grad_req "{request}" of "{name}": it is write, add or null, of one of '
                        f'{", ".join(names)}')
    return {name: request for name, request in given.items() if request != "null"}
