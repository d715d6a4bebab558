"""Trained modules of PyTorch as networks: `from_torch`."""

from __future__ import annotations

import operator
import os
import re
import warnings
from typing import TYPE_CHECKING

import numpy

from . import aten, filled, sym
from .aten import Unsupported, dtype_of, shape_of
from .error import Error, usage
from .filled import Filled
from .graph import Group, Variable
from .network import Network
from .nodes import batch_axis, variables
from .packed import filled_up
from .training import prepare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .init import Initializer
    from .kinds import DType, Path
    from .picture import Picture
    from .session import Package, Session

_RECURRENT = {"lstm": ("LSTM", 4), "gru": ("GRU", 3), "rnn_tanh": ("RNNLayer", 1),
              "rnn_relu": ("RNNLayer", 1)}


def from_torch(module: Any, example: Any, name: str = "net",
               loss: str | None = None) -> TorchNetwork:
    """Makes a TorchNetwork that computes the same as `module` (an instance of torch.nn.Module): its
    program as exported by torch.export, with its weights.

    `example` is an input, or a tuple of inputs; their shapes are the defaults for compilation. For
    other shapes the module is exported again. The module's mode is kept: call `module.eval()`
    before, or its Dropouts are active in training. `loss` is what `fit` minimises, of the module's
    output and an input "label": "softmax" (cross entropy over the last axis; labels of -100 are
    ignored), "mse", "l1" or "logistic" (binary cross entropy of logits), each the mean over all
    labels. It is omitted for a module that returns its loss, a tensor without axes. Raises
    lstmc.Error: E0215 with the operator that has no counterpart and its line in the module, E0613
    for types other than float32 and float64.

    Source of the operators' meaning: the documentation of torch.nn and torch.nn.functional.
    """
    if loss is not None and loss not in _LOSSES:
        raise usage(f'loss is one of {", ".join(_LOSSES)}, got {loss!r}')
    return TorchNetwork(module, example if isinstance(example, tuple) else (example,), name, loss)


# PyTorch's means: fit divides the gradients by the batch unless a head does.
_LOSSES = {
    "softmax": lambda x, label: sym.SoftmaxOutput(x, label, preserve_shape=True, use_ignore=True,
                                                  ignore_label=-100.0, normalization="valid",
                                                  name="loss"),
    "mse": lambda x, label: sym.LinearRegressionOutput(x, label, grad_scale=2.0, name="loss"),
    "l1": lambda x, label: sym.MAERegressionOutput(x, label, name="loss"),
    "logistic": lambda x, label: sym.LogisticRegressionOutput(x, label, name="loss"),
}


class TorchNetwork(Network):
    """A network with weights: `weights` by name, and `shapes` of its inputs, from the example.
    Threads may share it as a Network."""

    def __init__(self, module: Any, example: tuple[Any, ...], name: str, loss: str | None = None,
                 _is_trained: bool = False) -> None:
        reader = _exported(module, example)
        self.symbol = reader.outputs
        self.shapes = reader.shapes  #: by input
        #: NumPy arrays by parameter; after a fit, the trained ones
        self.weights = reader.weights
        self._stored, self._notes = reader.stored, reader.notes
        self._module, self._example, self._inputs, self._loss = module, example, reader.inputs, loss
        self._is_loss, self._is_trained, self._output_shape = (reader.is_loss, _is_trained,
                                                               reader.output_shape)
        super().__init__(self._with_loss() if _is_trained else reader.outputs, name)
        self._others = {}  # networks for other shapes
        self._trained = None  # the network of the last `fit`

    def compile(self, shapes: Mapping[str, Sequence[int]] | None = None,
                types: Mapping[str, DType] | None = None, entries: Sequence[str] = (),
                initializer: Initializer | str | None = None, **flags: Any) -> Package:
        return super().compile({**self.shapes, **(shapes or {})}, types, entries, initializer,
                               **flags)

    def _compile(self, command, flags, entries, shapes=None, *rest):
        return super(TorchNetwork, self._at(shapes))._compile(command, flags, entries,
                                                              shapes, *rest)

    def _at(self, shapes):
        """The network that PyTorch exports for these shapes, because a program may depend on its
        example's extents."""
        wanted = {**self.shapes, **{name: tuple(extents) for name, extents in (shapes or {}).items()
                                    if name in self.shapes}}
        if wanted == self.shapes:
            return self
        key = tuple(wanted.values())
        if key not in self._others:
            example = _resized(self._example, [wanted.get(name) for name in self._inputs])
            try:
                self._others[key] = TorchNetwork(self._module, example, self._name, self._loss,
                                                 self._is_trained)
            except (IndexError, RuntimeError, ValueError) as error:
                # PyTorch's error for shapes that the module cannot process
                shown = ", ".join(f"{name} {list(extents)}" for name, extents in wanted.items())
                raise Error(f"error[E0207]: the module refuses inputs of {shown}: {error}", "E0207",
                            str(error), exit=3) from error
        return self._others[key]

    def bind(self, shapes: Mapping[str, Sequence[int]] | None = None, **flags: Any) -> Session:
        """Makes a Session of the compiled network with its weights; flags are those of `lstmc
        run`."""
        there = self._at(shapes)
        trained = {name: array for name, array in self.weights.items() if name in there._stored}
        return self.compile(shapes).session({**there.weights, **trained}, **flags)

    def fit(self, data: Any, *args: Any, params: Mapping[str, Any] | None = None,
            **keys: Any) -> dict[str, Any]:
        """Network.fit with the module's loss, or with the one of `from_torch(.., loss=)`. It starts
        from the weights of an earlier fit, else from the module's, unless other `params` are given.
        Parameters with `requires_grad=False`, buffers, and the row of an Embedding's `padding_idx`
        get no gradient. Afterwards `predict`, `save`, `weights` and `state_dict` use the trained
        weights."""
        for note in [*self._left_out(), *self._notes]:
            warnings.warn(note, stacklevel=2)
        trained = self._for_training()
        result = trained._fit_network(
            data, *args, params=self._weights_of(trained) if params is None else params, **keys)
        self.weights = {**self.weights,
                        **{name: array for name, array in trained.session.params().items()
                           if name in self._stored}}
        self.session = self.bind()
        return result

    def _weights_of(self, other):
        """The weights that another network of the module reads, since a loss may not read all."""
        names = set(other.list_arguments())
        return {name: array for name, array in self.weights.items() if name in names}

    def _fit_network(self, *args: Any, **keys: Any) -> dict[str, Any]:
        return super().fit(*args, **keys)

    def score(self, data: Any, metric: Any = None) -> dict[str, float]:
        """Network.score with the loss that `fit` minimises."""
        trained = self._for_training()
        if trained.session is None:
            batches = [extents[trained._axes()[name]] for name, extents in self.shapes.items()]
            source = prepare(data, batches[0], trained._axes(), (None, [], {}))
            shapes, types = trained._shapes_of(source, None, None)
            trained.session = trained.compile(shapes, types).session(self._weights_of(trained))
            data = source
        return trained.session.score(data, metric)

    def _fitted(self):
        if self.session is None:
            self.session = self.bind()
        return self.session

    def state_dict(self) -> dict[str, Any]:
        """The weights as tensors, under the module's names:
        `module.load_state_dict(net.state_dict(), strict=False)`. Tensors that the network does not
        read are missing; a tensor with two names has an entry for each."""
        import torch

        own = self._module.state_dict(keep_vars=True)
        names = {stored: name for name, stored in self._stored.items()}
        same = {id(own[stored]): name for stored, name in names.items() if stored in own}
        found = {**names, **{stored: same[id(tensor)] for stored, tensor in own.items()
                             if id(tensor) in same}}
        return {stored: torch.from_numpy(self.weights[name].copy())
                for stored, name in found.items()}

    def plot(self, format: str = "svg", shapes: bool = True, memory: bool = False,
             unfold: Sequence[str] = (), **inputs: Any) -> Picture:
        """Network.plot, by default for the example's shapes."""
        return super(TorchNetwork, self._at(inputs)).plot(format, shapes, memory, unfold,
                                                          **{**self.shapes, **inputs})

    def _for_training(self):
        if self._trained is None:
            self._trained = TorchNetwork(self._module, self._example, self._name, self._loss, True)
        return self._trained

    def _with_loss(self):
        """The symbol that fit trains: the module's loss, or a loss of its output and a label."""
        if self._loss is None:
            numbers = [symbol for symbol, is_loss in zip(self.symbol, self._is_loss) if is_loss]
            if len(numbers) != 1:
                raise usage(f'the module returns {len(numbers) or "no"} losses (tensors of one '
                            'number), want one: give from_torch(.., loss="softmax") or one of '
                            f'{", ".join(_LOSSES)}, or a module that returns its loss')
            return sym.MakeLoss(numbers[0], name="loss")
        if len(self.symbol) != 1 or self._is_loss[0]:
            raise usage(f'loss="{self._loss}" is of one output that has axes; the module returns '
                        f'{len(self.symbol)} tensors'
                        + (", of which the first has none" if self._is_loss[0] else ""))
        axis = self._batch_axis()
        label = Variable("label", dtype="int32" if self._loss == "softmax" else None,
                         layout="TN" if axis == 1 else None)
        if axis == 0:
            return _LOSSES[self._loss](self.symbol, label)
        # loss heads need the samples as first axis
        return _LOSSES[self._loss](
            *[sym.SwapAxis(each, dim1=0, dim2=1) for each in (self.symbol, label)])

    def _batch_axis(self):
        """The batch axis of the output. For inputs with time first, it is the axis that grows with
        the batch."""
        axes = {name: batch_axis(node) for name, node in variables(self.symbol).items()
                if name in self.shapes}
        if not any(axes.values()):
            return 0
        grown = [[extent + (at == min(axes[name], len(self.shapes[name]) - 1))
                  for at, extent in enumerate(self.shapes[name])]
                 if name in axes else None for name in self._inputs]
        other = _exported(self._module, _resized(self._example, grown)).output_shape
        return next(
            (at for at, (one, two) in enumerate(zip(self._output_shape, other)) if one != two), 0)

    def _left_out(self):
        """A note about a module in eval mode, whose Dropouts are inactive."""
        def share(each):
            return (0 if each.training else getattr(each, "p", 0)
                    if "Dropout" in type(each).__name__ else getattr(each, "dropout", 0))

        found = [path or type(each).__name__ for path, each in self._module.named_modules()
                 if isinstance(share(each), float) and share(each) > 0]
        return ([f"the module is in eval mode, so nothing is dropped out by {', '.join(found)}: "
                 "from_torch(module.train(), ..) keeps dropout in training"] if found else [])

    def save(self, path: Path, force: bool = False) -> None:
        """Writes F.lnet (the network as text), F.weights.safetensors and, for `path` F.lstmc, the
        package."""
        base, suffix = os.path.splitext(os.fspath(path))
        if suffix not in (".lnet", ".lstmc"):
            raise Error(f"error[E0001]: save writes F.lnet or F.lstmc, got {path}", "E0001")
        if not force and os.path.exists(base + ".lnet"):
            raise Error(f"error[E0608]: {base}.lnet is there already; force=True overwrites it",
                        "E0608", exit=6)
        package = self.compile()
        package.session(self.weights).save_params(base + ".weights.safetensors", force)
        with open(base + ".lnet", "w", encoding="utf-8") as file:
            file.writelines(f"# {note}\n" for note in [*self._left_out(), *self._notes])
            file.write(self.symbol.tolnet(**self.shapes))
        if suffix == ".lstmc":
            package.save(path, force)


def _exported(module, example):
    """Exports the module for an example and reads the program into a _Reader."""
    import torch

    with torch.no_grad(), filled_up(torch, module), warnings.catch_warnings():
        # a warning of nn.LSTM itself
        warnings.filterwarnings("ignore", "The tensor attributes .*_flat_weights")
        return _read(torch.export.export(module, example), torch)


def _resized(example, shapes):
    """The example with its tensors resized to other shapes by repeating elements; None keeps a
    shape."""
    import torch
    from torch.utils import _pytree

    leaves, tree = _pytree.tree_flatten(example)
    shapes = iter(shapes)

    def resized(tensor, shape):
        for axis, extent in enumerate(shape or ()):
            tensor = tensor.index_select(axis, torch.arange(extent) % tensor.shape[axis])
        return tensor

    return _pytree.tree_unflatten([resized(leaf, next(shapes))
                                   if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves],
                                  tree)


def _read(program, torch):
    """Reads the program into a _Reader. Operators without a counterpart are decomposed, as PyTorch
    defines them."""
    first, apart, before = program, {}, None
    while True:
        try:
            return _Reader(program, torch)
        except _Refused as refused:
            target = refused.node.target
            if before and all(node.target != target for node in first.graph.nodes):
                refused = before  # the operator in the user's module
            if target in apart or _kind(refused.node) in _RECURRENT:
                raise refused.error from None
            table = torch.export.default_decompositions()
            before, apart[target] = refused, table[target] if target in table else None
            program = first.run_decompositions({target: others for target, others in apart.items()
                                                if others})


class _Refused(Exception):
    """A node without a counterpart, and the user's error."""

    def __init__(self, node, error):
        super().__init__(str(error))
        self.node, self.error = node, error


class _Reader:
    """Reads an exported program node by node."""

    def __init__(self, program, torch):
        self.torch = torch
        self.program = program
        self.weights, self.shapes = {}, {}  #: weights and inputs that the outputs read
        self.notes = []  #: differences of training from PyTorch
        self.inputs = []  #: names of all inputs, in order
        self.stored = {}  #: parameter: its name in the state_dict
        self.is_loss = []  #: for each output, whether it is a scalar
        self.output_shape = ()  #: of the first output
        self._parameters = {}  # name in the state_dict -> symbol
        self._values = {}  # node -> symbol, list of symbols, or constant tensor
        self._names = set()  # names of layers
        self._recurrent_calls = {}  # first weight -> nodes that read it
        self._filled = Filled(self, torch)
        signature = program.graph_signature
        self._stored = {**signature.inputs_to_parameters, **signature.inputs_to_buffers,
                        **getattr(signature, "inputs_to_lifted_tensor_constants", {})}
        self.outputs = self._read()
        names = set(self.outputs.list_arguments())
        for read in self.weights, self.shapes, self.stored:
            for name in [name for name in read if name not in names]:
                del read[name]

    def _read(self):
        for node in self.program.graph.nodes:
            if node.op == "placeholder":
                self._values[node] = self._placeholder(node)
            elif node.op == "call_function" and not _kind(node).startswith("_assert"):
                # assertions about the example
                try:
                    follows = self._filled.reads(node) and self._has(node)
                    self._values[node] = (self._filled.call(node, _kind(node)) if follows
                                          else self._call(node))
                except Unsupported as error:
                    raise _Refused(node, self._refused(node, str(error))) from None
                except filled.Refused as refused:
                    raise self._refused(node, self._filled.error(node, refused)) from None
            elif node.op == "output":
                outputs = [self._symbol(value) for value in node.args[0]]
                self.is_loss = [self._is_number(value) for value in node.args[0]]
                first = node.args[0][0]
                self.output_shape = shape_of(first) if isinstance(first, self.torch.fx.Node) else ()
        return outputs[0] if len(outputs) == 1 else Group(outputs)

    def _is_number(self, value):
        value = value.meta.get("val") if isinstance(value, self.torch.fx.Node) else None
        return (isinstance(value, self.torch.Tensor) and value.dim() == 0
                and value.is_floating_point())

    # Inputs and weights.

    def _placeholder(self, node):
        if node.name in self._stored:
            return self._stored_value(self._stored[node.name])
        self.inputs.append(node.name)
        self.shapes[node.name] = shape_of(node)
        truths = str(node.meta["val"].dtype) == "torch.bool"
        variable = Variable(node.name, dtype="bool" if truths else dtype_of(node),
                            layout="TN" if self._steps_first() else None)
        return sym.Cast(variable, dtype="float32") if truths else variable

    def _stored_value(self, stored):
        """The value of a stored tensor: its name if it becomes a weight at its use; the tensor
        itself for integers and constants."""
        tensor = self.program.state_dict.get(stored, self.program.constants.get(stored))
        weighs = (stored in self.program.graph_signature.parameters
                  or (stored in self.program.state_dict and tensor.is_floating_point()))
        return stored if weighs else tensor

    def _steps_first(self):
        """Whether the first recurrent layer reads [T, N, inputs]."""
        for node in self.program.graph.nodes:
            if _kind(node) in _RECURRENT:
                return not node.args[-1]
        return False

    def _tensor(self, stored):
        """A weight as a NumPy array."""
        tensor = self.program.state_dict.get(stored, self.program.constants.get(stored))
        if tensor.dtype not in (self.torch.float32, self.torch.float64):
            raise Error(f"error[E0613]: {stored}: found {tensor.dtype}, want float32: "
                        "from_torch(module.float(), ..)", "E0613", exit=6)
        return tensor.detach().cpu().numpy()

    def _parameter(self, stored):
        """The parameter for a name in the state_dict, the same one at each use."""
        if stored not in self._parameters:
            name = _identifier(stored)
            self.stored[name] = stored
            self._parameters[stored] = self._weight(name, self._tensor(stored),
                                                    self._trains(stored))
        return self._parameters[stored]

    def _trains(self, stored):
        """Whether a tensor of the state_dict is a parameter with requires_grad."""
        return (stored in self.program.graph_signature.parameters
                and self.program.state_dict[stored].requires_grad)

    def _weight(self, name, array, trains):
        """Makes a weight. One that does not train gets no gradient, because some optimizers would
        change it even at a rate of 0."""
        self.weights[name] = array
        if trains:
            return Variable(name, shape=array.shape, dtype=str(array.dtype))
        return sym.BlockGrad(
            Variable(name, shape=array.shape, dtype=str(array.dtype), lr_mult=0.0, wd_mult=0.0))

    def _constant(self, tensor):
        """A tensor of numbers that is independent of the inputs: an op if one can make it, else a
        weight that does not train."""
        dtype = {"torch.int64": "int32", "torch.bool": "float32"}.get(
            str(tensor.dtype), str(tensor.dtype).removeprefix("torch."))
        flat = tensor.flatten().tolist()
        step = flat[1] - flat[0] if len(flat) > 1 else 0
        if not flat:
            raise Unsupported("a tensor without elements")
        if all(number == flat[0] + i * step for i, number in enumerate(flat)):
            if step == 0:
                return sym._full(shape=tuple(tensor.shape) or (1,), value=float(flat[0]),
                                 dtype=dtype)
            counted = sym._arange(start=float(flat[0]), stop=float(flat[0] + len(flat) * step),
                                  step=float(step), dtype=dtype)
            return counted if tensor.dim() == 1 else sym.reshape(counted, shape=tuple(tensor.shape))
        kind = dtype if dtype in ("float32", "float64") else "float32"
        weight = self._weight(f"constant{len(self.weights)}", tensor.numpy().astype(kind),
                              trains=False)
        return weight if kind == dtype else sym.Cast(weight, dtype=dtype)

    # Values.

    def _symbol(self, value, numbers=False):
        """Converts an argument for an operator: tensors become symbols (with `numbers`, scalars
        that are known become numbers), other values stay."""
        if isinstance(value, (list, tuple)):
            return [self._symbol(each, numbers) for each in value]
        if not isinstance(value, self.torch.fx.Node):
            return value
        value = self._values[value]
        if isinstance(value, str):
            return self._parameter(value)
        if isinstance(value, self.torch.Tensor):
            return value.item() if numbers and value.dim() == 0 else self._constant(value)
        return value

    def _call(self, node):
        if node.target is operator.getitem:
            return self._values[node.args[0]][node.args[1]]
        kind = _kind(node)
        if kind in _RECURRENT:
            return self._recurrent(node, *_RECURRENT[kind])
        if kind in ("linear", "embedding", "layer_norm"):
            return getattr(self, "_" + kind)(node)
        if kind == "index" and not self._is_known(node):
            return self._index(node)
        if self._is_known(node):
            return node.target(*[self._values.get(a, a) if isinstance(a, self.torch.fx.Node) else a
                                 for a in node.args],
                               **node.kwargs)
        if _target(node).startswith("lstmc."):
            return self._of_lengths(node)
        function = aten.OPERATORS.get(_target(node))
        if function is None and kind in ("to", "_to_copy", "type_as"):
            function = self._cast
        if function is None:
            raise Unsupported("")
        numbers = function in aten.WITH_NUMBERS
        return function(self._symbol(node.args, numbers),
                        {key: self._symbol(value, numbers) for key, value in node.kwargs.items()},
                        node)

    def _has(self, node):
        """Whether the operator has a counterpart; others are decomposed. A loss over padded steps
        is refused, because its decomposition hides how many labels count."""
        kind = _kind(node)
        if kind in ("cross_entropy_loss", "nll_loss", "nll_loss_nd", "nll_loss_forward"):
            raise filled.Refused("the mean of a loss")
        return kind != "" and (_target(node) in aten.OPERATORS or hasattr(self, f"_{kind}")
                               or kind in _RECURRENT or kind in ("to", "_to_copy", "type_as")
                               ) or node.target is operator.getitem

    def _is_known(self, node):
        """Whether the operator can be evaluated now, because it makes a tensor of constants."""
        nodes = node.all_input_nodes
        return all(isinstance(self._values[each], self.torch.Tensor) for each in nodes) and (
            bool(nodes) or _kind(node) in ("zeros", "ones", "full", "new_zeros", "zeros_like",
                                           "empty", "arange", "scalar_tensor"))

    def _cast(self, args, keywords, node):
        before, after = dtype_of(node.args[0]), dtype_of(node)
        return args[0] if before == after else sym.Cast(args[0], dtype=after)

    # Modules.

    def _name(self, node):
        """The name of the node's module; None if it has none, or the name is taken."""
        path = [path for path, _ in (node.meta.get("nn_module_stack") or {}).values()]
        name = (_identifier(path[-1].removeprefix("L['self'].").removeprefix("L__self__")) if path
                else "")
        if not name or name in self._names:
            return None
        self._names.add(name)
        return name

    def _linear(self, node):
        weight, bias = node.args[1], node.args[2] if len(node.args) > 2 else None
        return sym.FullyConnected(self._symbol(node.args[0]), weight=self._symbol(weight),
                                  num_hidden=shape_of(weight)[0], flatten=False,
                                  no_bias=bias is None, name=self._name(node),
                                  **({} if bias is None else {"bias": self._symbol(bias)}))

    def _embedding(self, node):
        rows, columns = shape_of(node.args[0])
        weight, ids = node.args[:2]
        padding, by_frequency = (*node.args[2:4], *(-1, False)[len(node.args[2:4]):])
        if by_frequency:
            self.notes.append("gradients of an Embedding are not divided by how often an id occurs "
                              "(scale_grad_by_freq)")
        ids = self._symbol(ids)
        y = sym.Embedding(ids, weight=self._symbol(weight), input_dim=rows, output_dim=columns,
                          name=self._name(node))
        table = self._values[weight]
        if (padding < 0 or isinstance(table, self.torch.Tensor)
            or (isinstance(table, str) and not self._trains(table))):
            return y
        # the row of padding_idx gets no gradient
        real = sym.broadcast_like(sym.expand_dims(ids != float(padding), axis=-1), y)
        return sym.where(real, y, sym.BlockGrad(y))

    def _layer_norm(self, node):
        x, axes, gamma, beta, eps = (list(node.args) + [None, None, 1e-5][len(node.args) - 2:])[:5]
        if len(axes) != 1:
            raise Unsupported(f"layer_norm over {len(axes)} axes")
        extent = {"shape": tuple(axes), "dtype": dtype_of(node)}
        return sym.LayerNorm(self._symbol(x),
                             gamma=sym.ones(**extent) if gamma is None else self._symbol(gamma),
                             beta=sym.zeros(**extent) if beta is None else self._symbol(beta),
                             axis=-1, eps=float(eps), name=self._name(node))

    def _index(self, node):
        """Indexing as x[:, idx], or x[arange(N), idx], which selects an element of each
        sequence."""
        x = self._symbol(node.args[0])
        given = [(axis, index) for axis, index in enumerate(node.args[1]) if index is not None]
        known = {axis: self._values[index] for axis, index in given
                 if isinstance(self._values[index], self.torch.Tensor)}
        if any(index.meta["val"].dtype == self.torch.bool for _, index in given):
            raise Unsupported("an index of truths")
        if len(given) == 1:
            [(axis, index)] = given
            return sym.take(x, self._symbol(index), axis=axis, mode="wrap")
        [(first, _), (second, _)] = given if len(given) == 2 else [(None, None)] * 2
        if (first, second) == (0, 1) and len(known) == 1:
            [(counted, numbers)] = known.items()
            steps = 1 - counted
            if numbers.tolist() == list(range(shape_of(node.args[0])[counted])):
                return sym.SequenceLast(x, self._symbol(node.args[1][steps]) + 1,
                                        use_sequence_length=True, axis=steps)
        raise Unsupported("an index of several tensors that is not x[arange(N), steps]")

    def _of_lengths(self, node):
        """The operators of packed.py. A recurrent module looks up its input's lengths by itself."""
        if _target(node) == "lstmc.with_lengths.default":
            return self._symbol(node.args[0])
        if _target(node) == "lstmc.filled_up.default":
            self._filled.mark(node)
            return self._symbol(node.args[0])
        data, lengths, axis, value = node.args
        return sym.SequenceMask(self._symbol(data), self._symbol(lengths), use_sequence_length=True,
                                axis=axis, value=value)

    def _recurrent(self, node, layer, gates):
        x, states, stored, biased, layers, p, training, bidirectional, batch_first = node.args
        if not isinstance(x, self.torch.fx.Node) or isinstance(states, bool):
            raise Unsupported("a PackedSequence that pack_padded_sequence has not made")
        directions, each = 2 if bidirectional else 1, 4 if biased else 2
        if len(stored) != layers * directions * each:
            raise Unsupported("projections (proj_size)")
        names = [self._values[weight] for weight in stored]
        name = _identifier(names[0].rpartition(".")[0]) or "rnn"
        calls = self._recurrent_calls.setdefault(names[0], [])
        if not calls and name in self._names:
            raise Unsupported(f"a recurrent module of another module's name ({name})")
        calls.append(node)
        self._names.add(name)
        units = shape_of(stored[1])[1]
        mode = _kind(node)
        h, c = ([self._state(state) for state in (states if isinstance(states, (list, tuple))
                                                  else [states])] + [None])[:2]
        length = (self._symbol(x.args[1]) if _target(x) == "lstmc.with_lengths.default"
                  else self._filled.length_for(x))
        parts = [self._direction(_prefix(name, at // directions, at % directions),
                                 names[at * each:(at + 1) * each], gates * units)
                 for at in range(layers * directions)]
        options = {"num_layers": layers, "bidirectional": bidirectional,
                   "p": float(p) if training else 0.0}
        x = self._symbol(x)
        if len(calls) == 1 and all(trains for direction in parts for *_, trains in direction):
            flags = {"h": h, **({"c": c} if gates == 4 else {}),
                     **({"activation": "relu"} if mode == "rnn_relu" else {})}
            return list(
                getattr(sym, layer)(x, num_hidden=units, layout="NTC" if batch_first else "TNC",
                                    name=name, length=length, **options, **flags))
        # Some parameters are frozen or belong to an earlier call, so each is a Variable.
        weights = [[self._weight(*described) for described in direction] for direction in parts]
        packed = [part for kinds in (slice(0, 2), slice(2, 4)) for direction in weights
                  for part in direction[kinds]]
        name += f"_{len(calls)}" if len(calls) > 1 else ""
        swapped = (
            (lambda symbol, end: sym.SwapAxis(symbol, dim1=0, dim2=1, name=f"{name}_swap_{end}"))
            if batch_first else lambda symbol, _: symbol)
        inputs = {"state": h, "state_cell": c, "sequence_length": length}
        made = sym.RNN(
            swapped(x, "in"), sym._rnn_param_concat(*packed, dim=0, name=name + "_parameters"),
            state_size=units, mode=mode, state_outputs=True, use_sequence_length=length is not None,
            name=name, **options, **{key: each for key, each in inputs.items() if each is not None})
        return [swapped(made[0], "out"), *list(made)[1:]]

    def _state(self, state):
        """An initial state; None for zeros."""
        known = self._values[state]
        return (None if isinstance(known, self.torch.Tensor) and not known.any()
                else self._symbol(state))

    def _direction(self, prefix, names, rows):
        """[(parameter, its array, whether it trains)] of a direction; missing biases are frozen
        zeros."""
        found = []
        for number, part in enumerate(("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias")):
            if number < len(names):
                self.stored[prefix + part] = names[number]
                found.append((prefix + part, self._tensor(names[number]),
                              self._trains(names[number])))
            else:
                found.append((prefix + part, numpy.zeros(rows, found[0][1].dtype), False))
            self.weights[prefix + part] = found[-1][1]
        return found

    def _refused(self, node, what):
        """The error about an operator, at its line in the user's module."""
        own = os.path.dirname(self.torch.__file__)
        calls = re.findall(r'File "(.*)", line (\d+)', node.meta.get("stack_trace") or "")
        file, line = next((call for call in reversed(calls) if not call[0].startswith(own)),
                          ("", 0))
        module = [path for path, _ in (node.meta.get("nn_module_stack") or {}).values()]
        message = (what if what.endswith(".") or "pad_packed_sequence" in what
                   else (what or f"the operator {_target(node)}") + " has no counterpart here")
        if module and module[-1]:
            message = f"module {module[-1]}: {message}"
        place = f"{file}:{line}: " if file else ""
        return Error(f"{place}error[E0215]: {message}", "E0215", message, file=file,
                     line=int(line), exit=3)


def _identifier(text):
    return "".join(c if c.isalnum() else "_" for c in text)


def _target(node):
    return str(node.target).removeprefix("torch.ops.")


def _kind(node):
    """"lstm" for aten.lstm.input; "" if the target is no operator."""
    parts = _target(node).split(".")
    return parts[1] if node.op == "call_function" and parts[0] == "aten" else ""


def _prefix(name, layer, direction):
    """The prefix of the names of a layer's parameters."""
    return f"{name}_r{layer}_" if direction else f"{name}_" if layer == 0 else f"{name}_l{layer}_"
