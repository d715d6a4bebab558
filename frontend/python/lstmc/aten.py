"""What operators of PyTorch's ATen are here: a function (arguments, keywords, node) -> symbol for each, by its name in torch.export."""

from . import sym
from .graph import Symbol

OPERATORS = {}
_HUGE = 2**62  # an end that PyTorch writes for "to the last"


class Unsupported(Exception):
    """What an operator is asked to do and this library does not have."""


def _operator(*names):
    def add(function):
        for name in names:
            OPERATORS["aten." + name] = function
        return function

    return add


def shape_of(node):
    """The shape of a value of the exported graph."""
    return tuple(int(extent) for extent in node.meta["val"].shape)


def dtype_of(source):
    """The type in which a value of the exported graph is here, by name: whole numbers are int32, truths are float32."""
    name = str(source.meta["val"].dtype).removeprefix("torch.")
    return {"int64": "int32", "bool": "float32"}.get(name, name)


def _as(symbol, source, dtype):
    """Converted, unless it has the type already. `source` is what the exported graph has for it."""
    return symbol if not isinstance(symbol, Symbol) or dtype_of(source) == dtype else sym.Cast(symbol, dtype=dtype)


def _elementwise(function, *names):
    _operator(*names)(lambda args, keywords, node: function(args[0]))


for _name in ("relu sigmoid tanh exp log log2 log10 log1p expm1 sqrt rsqrt abs neg erf sin cos tan sinh cosh floor ceil round trunc sign "
              "reciprocal square silu mish softsign log_sigmoid").split():
    _elementwise(getattr(sym, "negative" if _name == "neg" else "rint" if _name == "round" else _name), _name + ".default",
                 _name + "_.default")
_elementwise(lambda x: x, "contiguous.default", "clone.default", "detach.default", "detach_.default", "alias.default",
             "lift_fresh_copy.default")


@_operator("gelu.default")
def _gelu(args, keywords, node):
    if keywords.get("approximate", "none") != "none":
        raise Unsupported('gelu(approximate="tanh")')
    return sym.gelu(args[0])


@_operator("softplus.default")
def _softplus(args, keywords, node):
    if list(args[1:]) not in ([], [1], [1, 20], [1.0, 20.0]):
        raise Unsupported("softplus with beta or threshold")
    return sym.softplus(args[0])


@_operator("leaky_relu.default", "leaky_relu_.default")
def _leaky_relu(args, keywords, node):
    return sym.LeakyReLU(args[0], act_type="leaky", slope=float(args[1]) if len(args) > 1 else 0.01)


@_operator("elu.default", "elu_.default")
def _elu(args, keywords, node):
    if len(args) > 2:
        raise Unsupported("elu with scales")
    return sym.LeakyReLU(args[0], act_type="elu", slope=float(args[1]) if len(args) > 1 else 1.0)


@_operator("clamp.default", "hardtanh.default")
def _clamp(args, keywords, node):
    low, high = (list(args[1:]) + [-1.0, 1.0])[:2] if "hardtanh" in str(node.target) else (list(args[1:]) + [None, None])[:2]
    low, high = keywords.get("min", low), keywords.get("max", high)
    return sym.clip(args[0], a_min=-3.4e38 if low is None else float(low), a_max=3.4e38 if high is None else float(high))


@_operator("dropout.default", "dropout_.default")
def _dropout(args, keywords, node):
    return sym.Dropout(args[0], p=float(args[1])) if args[2] else args[0]


@_operator("softmax.int", "_softmax.default")
def _softmax(args, keywords, node):
    return sym.softmax(args[0], axis=args[1])


@_operator("log_softmax.int", "_log_softmax.default")
def _log_softmax(args, keywords, node):
    return sym.log_softmax(args[0], axis=args[1])


# Two operands.


def _two(symbols, with_number, reversed_number, *names, turned=False):
    def function(args, keywords, node):
        args, sources = (pair[1::-1] if turned else pair[:2] for pair in (args, node.args))
        dtype = dtype_of(node) if node.meta["val"].dtype.is_floating_point else _common_type(sources)
        left, right = (_as(value, source, dtype) for value, source in zip(args, sources))
        if keywords.get("alpha", 1) != 1:
            right = right * keywords["alpha"]
        if not isinstance(left, Symbol):
            return reversed_number(right, float(left))
        if not isinstance(right, Symbol):
            return with_number(left, float(right))
        rank = len(shape_of(node))
        return symbols(_with_axes(left, sources[0], rank), _with_axes(right, sources[1], rank))

    _operator(*names)(function)


def _common_type(sources):
    """That of two operands, of which one may be a number."""
    types = [dtype_of(source) if hasattr(source, "meta") else "float32" if isinstance(source, float) else "" for source in sources]
    return max(types, key=["", "int32", "float32", "float64"].index)


def _with_axes(symbol, source, rank):
    """With leading axes of 1, as PyTorch broadcasts and MXNet does not."""
    for _ in range(rank - len(shape_of(source))):
        symbol = sym.expand_dims(symbol, axis=0)
    return symbol


_two(sym.broadcast_add, lambda x, n: x + n, lambda x, n: n + x, "add.Tensor", "add.Scalar", "add_.Tensor")
_two(sym.broadcast_sub, lambda x, n: x - n, lambda x, n: n - x, "sub.Tensor", "sub.Scalar", "sub_.Tensor")
_two(sym.broadcast_sub, lambda x, n: x - n, lambda x, n: n - x, "rsub.Scalar", "rsub.Tensor", turned=True)
_two(sym.broadcast_mul, lambda x, n: x * n, lambda x, n: n * x, "mul.Tensor", "mul.Scalar", "mul_.Tensor")
_two(sym.broadcast_div, lambda x, n: x / n, lambda x, n: n / x, "div.Tensor", "div.Scalar", "div_.Tensor")
_two(sym.broadcast_power, lambda x, n: x**n, lambda x, n: n**x, "pow.Tensor_Tensor", "pow.Tensor_Scalar", "pow.Scalar")
_two(sym.broadcast_maximum, None, None, "maximum.default", "max.other")
_two(sym.broadcast_minimum, None, None, "minimum.default", "min.other")


def _comparison(name, op):
    """Of two tensors, or of one and a number; truths are 1 and 0 of float32."""

    def compare(args, keywords, node):
        dtype = _common_type(node.args)
        left, right = (_as(value, source, dtype) for value, source in zip(args, node.args))
        if isinstance(right, Symbol):
            rank = len(shape_of(node))
            truth = getattr(sym, f"broadcast_{op}")(_with_axes(left, node.args[0], rank), _with_axes(right, node.args[1], rank))
        else:
            truth = getattr(sym, op)(left, float(right))
        return truth if dtype == "float32" else sym.Cast(truth, dtype="float32")

    _operator(name + ".Tensor", name + ".Scalar")(compare)


for _name, _op in {"gt": "greater", "ge": "greater_equal", "lt": "lesser", "le": "lesser_equal", "eq": "equal", "ne": "not_equal"}.items():
    _comparison(_name, _op)

_two(sym.broadcast_logical_and, None, None, "logical_and.default", "bitwise_and.Tensor", "__and__.Tensor")
_two(sym.broadcast_logical_or, None, None, "logical_or.default", "bitwise_or.Tensor", "__or__.Tensor")


@_operator("logical_not.default", "bitwise_not.default")
def _not(args, keywords, node):
    if dtype_of(node.args[0]) != "float32" or str(node.meta["val"].dtype) != "torch.bool":
        raise Unsupported("the bits of a number")
    return sym.logical_not(args[0])


@_operator("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar")
def _where(args, keywords, node):
    return _chosen(node, *zip(args, node.args))


@_operator("masked_fill.Scalar", "masked_fill_.Scalar", "masked_fill.Tensor")
def _masked_fill(args, keywords, node):
    (x, mask, value), sources = args, node.args
    return _chosen(node, (mask, sources[1]), (value, sources[2]), (x, sources[0]))


def _chosen(node, condition, new, old):
    """`new` where the condition holds; each is (symbol or number, what the exported graph has for it)."""
    shape, dtype = shape_of(node), dtype_of(node)
    pairs = [condition, *((_as(value, source, dtype), source) for value, source in (new, old))]
    full = next((_as(value, condition[1], dtype) if value is condition[0] else value for value, source in (*pairs[1:], condition)
                 if isinstance(value, Symbol) and shape_of(source) == shape), None)
    return sym.where(*[_stretched(value, source, shape, full, dtype) for value, source in pairs])


def _stretched(value, source, shape, full, dtype):
    """With all axes of the shape; `full` is a symbol that has them and the type, or None."""
    if not isinstance(value, Symbol):
        return sym.zeros_like(full) + float(value) if full is not None and abs(value) < float("inf") else sym._full(shape=shape, value=float(value), dtype=dtype)
    if shape_of(source) == shape:
        return value
    value = _with_axes(value, source, len(shape))
    return sym.broadcast_to(value, shape=shape) if full is None else sym.broadcast_like(value, full)


@_operator("matmul.default", "mm.default", "bmm.default")
def _matmul(args, keywords, node):
    ranks = [len(shape_of(source)) for source in node.args[:2]]
    if ranks == [2, 2]:
        return sym.dot(args[0], args[1])
    if ranks == [3, 3]:
        return sym.batch_dot(args[0], args[1])
    raise Unsupported(f"a product of {ranks[0]} by {ranks[1]} axes")


# Shapes.


@_operator("view.default", "reshape.default", "_unsafe_view.default", "flatten.using_ints", "unflatten.int")
def _reshape(args, keywords, node):
    return sym.reshape(args[0], shape=reshape_codes(shape_of(node.args[0]), shape_of(node)))


def reshape_codes(before, after):
    """The argument of MXNet's Reshape that turns the one shape into the other and keeps to it when other axes, the batch above all, have
    other extents: 0 takes an axis over, -3 joins two, -4 a b divides one."""
    codes, i, j = [], 0, 0
    while j < len(after):
        if i < len(before) and before[i] == after[j]:
            codes.append(0)
            i, j = i + 1, j + 1
        elif i + 1 < len(before) and before[i] * before[i + 1] == after[j]:
            codes.append(-3)
            i, j = i + 2, j + 1
        elif i < len(before) and j + 1 < len(after) and after[j] * after[j + 1] == before[i]:
            codes += [-4, -1, after[j + 1]]
            i, j = i + 1, j + 2
        else:
            return after
    return tuple(codes) if i == len(before) else after


@_operator("unsqueeze.default")
def _unsqueeze(args, keywords, node):
    return sym.expand_dims(args[0], axis=args[1])


@_operator("squeeze.dim", "squeeze.dims")
def _squeeze(args, keywords, node):
    axes = [args[1]] if isinstance(args[1], int) else list(args[1])
    before = shape_of(node.args[0])
    axes = tuple(axis for axis in axes if before[axis] == 1)
    return sym.squeeze(args[0], axis=axes) if axes else args[0]


@_operator("transpose.int")
def _transpose(args, keywords, node):
    rank = len(shape_of(node))
    return sym.SwapAxis(args[0], dim1=args[1] % rank, dim2=args[2] % rank)


@_operator("t.default", "numpy_T.default", "mT.default")
def _t(args, keywords, node):
    rank = len(shape_of(node))
    return sym.SwapAxis(args[0], dim1=rank - 2, dim2=rank - 1)


@_operator("permute.default")
def _permute(args, keywords, node):
    rank = len(shape_of(node))
    return sym.transpose(args[0], axes=tuple(axis % rank for axis in args[1]))


@_operator("select.int")
def _select(args, keywords, node):
    axis, index = args[1] % len(shape_of(node.args[0])), args[2]
    part = sym.slice_axis(args[0], axis=axis, begin=index, end=None if index == -1 else index + 1)
    return sym.squeeze(part, axis=(axis,))


@_operator("slice.Tensor")
def _slice(args, keywords, node):
    axis, begin, end, step = (list(args[1:]) + [0, None, None, 1][len(args) - 1:])[:4]
    begin, end = begin or 0, None if end is None or end > _HUGE else end
    if step != 1:
        raise Unsupported(f"a slice with step {step}")
    if begin == 0 and end is None:
        return args[0]
    return sym.slice_axis(args[0], axis=axis % len(shape_of(node)), begin=begin, end=end)


@_operator("cat.default")
def _cat(args, keywords, node):
    return sym.Concat(*args[0], dim=(args[1] if len(args) > 1 else 0) % len(shape_of(node)))


@_operator("stack.default")
def _stack(args, keywords, node):
    return sym.stack(*args[0], axis=(args[1] if len(args) > 1 else 0) % len(shape_of(node)))


def _lengths(node):
    """Extents along the axis, and the axis, of an operator that cuts its first argument."""
    axis = (node.args[2] if len(node.args) > 2 else node.kwargs.get("dim", 0)) % len(shape_of(node.args[0]))
    return axis, [int(part.shape[axis]) for part in node.meta["val"]]


@_operator("chunk.default", "split.Tensor", "split_with_sizes.default", "split.sizes")
def _split(args, keywords, node):
    axis, extents = _lengths(node)
    begins = [sum(extents[:i]) for i in range(len(extents))]
    return [sym.slice_axis(args[0], axis=axis, begin=begin, end=begin + extent) for begin, extent in zip(begins, extents)]


@_operator("unbind.int")
def _unbind(args, keywords, node):
    axis = (args[1] if len(args) > 1 else 0) % len(shape_of(node.args[0]))
    return list(sym.SliceChannel(args[0], num_outputs=shape_of(node.args[0])[axis], axis=axis, squeeze_axis=True))


@_operator("expand.default", "expand_as.default")
def _expand(args, keywords, node):
    before, after = shape_of(node.args[0]), shape_of(node)
    x = _with_axes(args[0], node.args[0], len(after))
    before = (1,) * (len(after) - len(before)) + before
    axes = tuple(axis for axis in range(len(after)) if before[axis] != after[axis])
    return sym.broadcast_axis(x, axis=axes, size=tuple(after[axis] for axis in axes)) if axes else x


@_operator("repeat.default")
def _repeat(args, keywords, node):
    return sym.tile(_with_axes(args[0], node.args[0], len(args[1])), reps=tuple(args[1]))


@_operator("gather.default")
def _gather(args, keywords, node):
    before, after = shape_of(node.args[0]), shape_of(node)
    axis = args[1] % len(before)
    if after != (*before[:axis], 1, *before[axis + 1:]):
        raise Unsupported("gather of more than one element along an axis")
    return sym.pick(args[0], sym.squeeze(args[2], axis=(axis,)), axis=axis, keepdims=True)


@_operator("flip.default")
def _flip(args, keywords, node):
    rank = len(shape_of(node))
    return sym.reverse(args[0], axis=tuple(axis % rank for axis in args[1]))


# Sums.


def _reduction(function, *names):
    def reduce(args, keywords, node):
        rank = len(shape_of(node.args[0]))
        axes = args[1] if len(args) > 1 and args[1] is not None else ()
        axes = (axes,) if isinstance(axes, int) else tuple(axes)
        keep = args[2] if len(args) > 2 else keywords.get("keepdim", False)
        return function(args[0], axis=tuple(axis % rank for axis in axes) or tuple(range(rank)), keepdims=bool(keep))

    _operator(*names)(reduce)


_reduction(sym.mean, "mean.dim", "mean.default")
_reduction(sym.sum, "sum.dim_IntList", "sum.default")
_reduction(sym.max, "amax.default")
_reduction(sym.min, "amin.default")


def _place(symbol, function, args, node):
    """The index of an extreme along an axis, or in the whole, where a number is a tensor of one element here."""
    if len(args) < 2 or args[1] is None:
        return sym.Cast(function(sym.reshape(symbol, shape=(1, -1)), axis=1), dtype="int32")
    axis = args[1] % len(shape_of(node.args[0]))
    return sym.Cast(function(symbol, axis=axis, keepdims=bool(args[2]) if len(args) > 2 else False), dtype="int32")


def _extreme(function, place, name):
    _operator(f"arg{name}.default")(lambda args, keywords, node: _place(args[0], place, args, node))

    def both(args, keywords, node):
        axis = args[1] % len(shape_of(node.args[0]))
        return [function(args[0], axis=(axis,), keepdims=bool(args[2]) if len(args) > 2 else False), _place(args[0], place, args, node)]

    _operator(f"{name}.dim")(both)


_extreme(sym.max, sym.argmax, "max")
_extreme(sym.min, sym.argmin, "min")


@_operator("cumsum.default")
def _cumsum(args, keywords, node):
    return sym.cumsum(args[0], axis=args[1] % len(shape_of(node)))
