"""PyTorch's ATen operators, each as a function (arguments, keywords, node) -> symbol under its name
in torch.export."""

import math

from . import sym
from .graph import Symbol

OPERATORS = {}
WITH_NUMBERS = set()  # functions whose tensor arguments may be numbers
_HUGE = 2**62  # PyTorch's slice end for "to the last element"


class Unsupported(Exception):
    """An operator is called in a way that lstmc does not support."""


def _operator(*names):
    def add(function):
        for name in names:
            OPERATORS["aten." + name] = function
        return function

    return add


def _with_numbers(function):
    WITH_NUMBERS.add(function)
    return function


def shape_of(node):
    """The shape of a node of the exported graph."""
    return tuple(int(extent) for extent in node.meta["val"].shape)


def dtype_of(source):
    """The name of lstmc's type for a node of the exported graph: int32 for integers, float32 for
    booleans."""
    name = str(source.meta["val"].dtype).removeprefix("torch.")
    return {"int64": "int32", "bool": "float32"}.get(name, name)


def _as(symbol, source, dtype):
    """Casts the symbol to the type, if it differs. `source` is its node in the exported graph."""
    return (symbol if not isinstance(symbol, Symbol) or dtype_of(source) == dtype
            else sym.Cast(symbol, dtype=dtype))


def _elementwise(function, *names):
    _operator(*names)(lambda args, keywords, node: function(args[0]))


_OTHER_NAMES = {"neg": "negative", "round": "rint", "asin": "arcsin", "acos": "arccos",
                "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
                "atanh": "arctanh", "lgamma": "gammaln"}
for _name in ("relu sigmoid tanh exp log log2 log10 log1p expm1 sqrt rsqrt abs neg erf erfinv sin "
              "cos tan sinh cosh asin acos atan asinh acosh atanh lgamma floor ceil round trunc "
              "sign reciprocal square silu mish softsign log_sigmoid").split():
    _elementwise(getattr(sym, _OTHER_NAMES.get(_name, _name)), _name + ".default",
                 _name + "_.default")
_elementwise(lambda x: x, "contiguous.default", "clone.default", "detach.default",
             "detach_.default", "alias.default", "lift_fresh_copy.default")


@_operator("gelu.default")
def _gelu(args, keywords, node):
    x = args[0]
    if keywords.get("approximate", "none") == "none":
        return sym.gelu(x)
    # sqrt(2 / pi)
    return 0.5 * x * (1.0 + sym.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


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
    alpha, scale, input_scale = (float(number) for number in (*args[1:], *[1] * (4 - len(args))))
    x = args[0]
    if input_scale != 1:
        return scale * sym.where(x > 0.0, x, alpha * sym.expm1(input_scale * x))
    y = sym.LeakyReLU(x, act_type="elu", slope=alpha)
    return y if scale == 1 else scale * y


@_operator("clamp.default", "clamp.Tensor", "hardtanh.default", "hardtanh_.default")
@_with_numbers
def _clamp(args, keywords, node):
    ends = [-1.0, 1.0] if "hardtanh" in str(node.target) else [None, None]
    low, high = (*args[1:], *ends[len(args) - 1:])
    low, high = keywords.get("min", low), keywords.get("max", high)
    x = args[0]
    if isinstance(low, Symbol) or isinstance(high, Symbol):
        raise Unsupported("clamp between tensors")
    x = x if low is None else sym.maximum(x, float(low))
    return x if high is None else sym.minimum(x, float(high))


@_operator("_native_batch_norm_legit_no_training.default")
def _batch_norm(args, keywords, node):
    x, gamma, beta, mean, variance, _, eps = args
    axes = len(shape_of(node.args[0])) - 2  # the axes after the channels'

    def by_channel(vector):
        for _ in range(axes):
            vector = sym.expand_dims(vector, axis=-1)
        return sym.expand_dims(vector, axis=0)

    scale = sym.rsqrt(variance + float(eps))
    y = sym.broadcast_mul(sym.broadcast_sub(x, by_channel(mean)),
                          by_channel(scale if gamma is None else scale * gamma))
    return [y if beta is None else sym.broadcast_add(y, by_channel(beta))]


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
    @_with_numbers
    def function(args, keywords, node):
        args, sources = (pair[1::-1] if turned else pair[:2] for pair in (args, node.args))
        dtype = (dtype_of(node) if node.meta["val"].dtype.is_floating_point
                 else _common_type(sources))
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
    """The common type of two operands, of which one may be a number."""
    types = [dtype_of(source) if hasattr(source, "meta") else "float32"
             if isinstance(source, float) else "" for source in sources]
    return max(types, key=["", "int32", "float32", "float64"].index)


def _with_axes(symbol, source, rank):
    """Adds leading axes of 1, because PyTorch broadcasts ranks and MXNet does not. A scalar tensor
    has shape (1,) here."""
    for _ in range(rank - max(1, len(shape_of(source)))):
        symbol = sym.expand_dims(symbol, axis=0)
    return symbol


_two(sym.broadcast_add, lambda x, n: x + n, lambda x, n: n + x, "add.Tensor", "add.Scalar",
     "add_.Tensor")
_two(sym.broadcast_sub, lambda x, n: x - n, lambda x, n: n - x, "sub.Tensor", "sub.Scalar",
     "sub_.Tensor")
_two(sym.broadcast_sub, lambda x, n: x - n, lambda x, n: n - x, "rsub.Scalar", "rsub.Tensor",
     turned=True)
_two(sym.broadcast_mul, lambda x, n: x * n, lambda x, n: n * x, "mul.Tensor", "mul.Scalar",
     "mul_.Tensor")
_two(sym.broadcast_div, lambda x, n: x / n, lambda x, n: n / x, "div.Tensor", "div.Scalar",
     "div_.Tensor")
_two(sym.broadcast_power, lambda x, n: x**n, lambda x, n: n**x, "pow.Tensor_Tensor",
     "pow.Tensor_Scalar", "pow.Scalar")
_two(sym.broadcast_hypot, sym.hypot, sym.hypot, "hypot.default")
_two(sym.broadcast_maximum, sym.maximum, sym.maximum, "maximum.default", "max.other")
_two(sym.broadcast_minimum, sym.minimum, sym.minimum, "minimum.default", "min.other")

_TURNED = {"greater": "lesser", "greater_equal": "lesser_equal", "lesser": "greater",
           "lesser_equal": "greater_equal"}


def _comparison(name, op):
    """Compares two tensors, or a tensor and a number; the result is 1 or 0 in float32."""

    @_with_numbers
    def compare(args, keywords, node):
        dtype = _common_type(node.args)
        left, right = (_as(value, source, dtype) for value, source in zip(args, node.args))
        if not isinstance(left, Symbol):
            return _truths(getattr(sym, _TURNED.get(op, op))(right, float(left)), dtype)
        if isinstance(right, Symbol):
            rank = len(shape_of(node))
            truth = getattr(sym, f"broadcast_{op}")(_with_axes(left, node.args[0], rank),
                                                    _with_axes(right, node.args[1], rank))
        else:
            truth = getattr(sym, op)(left, float(right))
        return _truths(truth, dtype)

    _operator(name + ".Tensor", name + ".Scalar")(compare)


def _truths(compared, dtype):
    return compared if dtype == "float32" else sym.Cast(compared, dtype="float32")


for _name, _op in {"gt": "greater", "ge": "greater_equal", "lt": "lesser", "le": "lesser_equal",
                   "eq": "equal", "ne": "not_equal"}.items():
    _comparison(_name, _op)

_two(sym.broadcast_logical_and, None, None, "logical_and.default", "bitwise_and.Tensor",
     "__and__.Tensor")
_two(sym.broadcast_logical_or, None, None, "logical_or.default", "bitwise_or.Tensor",
     "__or__.Tensor")


@_operator("logical_not.default", "bitwise_not.default")
def _not(args, keywords, node):
    if dtype_of(node.args[0]) != "float32" or str(node.meta["val"].dtype) != "torch.bool":
        raise Unsupported("the bits of a number")
    return sym.logical_not(args[0])


@_operator("logical_xor.default", "bitwise_xor.Tensor", "__xor__.Tensor")
def _xor(args, keywords, node):
    if str(node.meta["val"].dtype) != "torch.bool":
        raise Unsupported("the bits of a number")
    rank = len(shape_of(node))
    return sym.broadcast_logical_xor(
        *[_with_axes(value, source, rank) for value, source in zip(args, node.args)])


@_operator("isnan.default")
def _isnan(args, keywords, node):
    return _truths(sym.broadcast_not_equal(args[0], args[0]), dtype_of(node.args[0]))


@_operator("div.Tensor_mode", "floor_divide.default")
@_with_numbers
def _div_mode(args, keywords, node):
    if not node.meta["val"].dtype.is_floating_point:
        raise Unsupported("a quotient of whole numbers that is rounded")
    mode = keywords.get("rounding_mode", "floor")
    quotient = OPERATORS["aten.div.Tensor"](args, {}, node)
    return (sym.floor(quotient) if mode == "floor" else sym.trunc(quotient) if mode == "trunc"
            else quotient)


@_operator("full_like.default", "zeros_like.default", "ones_like.default")
def _full_like(args, keywords, node):
    number = {"zeros_like": 0, "ones_like": 1}.get(str(node.target).split(".")[1], args[-1])
    x = _as(args[0], node.args[0], dtype_of(node))
    return sym.zeros_like(x) + float(number)


@_operator("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar")
@_with_numbers
def _where(args, keywords, node):
    return _chosen(node, *zip(args, node.args))


@_operator("masked_fill.Scalar", "masked_fill_.Scalar", "masked_fill.Tensor")
@_with_numbers
def _masked_fill(args, keywords, node):
    (x, mask, value), sources = args, node.args
    return _chosen(node, (mask, sources[1]), (value, sources[2]), (x, sources[0]))


def _chosen(node, condition, new, old):
    """Selects `new` where the condition holds. Both operands are (symbol or number, its node or
    value in the exported graph)."""
    shape, dtype = shape_of(node), dtype_of(node)
    pairs = [condition, *((_as(value, source, dtype), source) for value, source in (new, old))]
    full = next((_as(value, condition[1], dtype) if value is condition[0] else value
                 for value, source in (*pairs[1:], condition)
                 if isinstance(value, Symbol) and shape_of(source) == shape),
                None)
    return sym.where(*[_stretched(value, source, shape, full, dtype) for value, source in pairs])


def _stretched(value, source, shape, full, dtype):
    """Broadcasts to the shape; `full` is a symbol of that shape and type, or None."""
    if not isinstance(value, Symbol):
        return (sym.zeros_like(full) + float(value)
                if full is not None and abs(value) < float("inf")
                else sym._full(shape=shape, value=float(value), dtype=dtype))
    if shape_of(source) == shape:
        return value
    value = _with_axes(value, source, len(shape))
    return sym.broadcast_to(value, shape=shape) if full is None else sym.broadcast_like(value, full)


@_operator("addmm.default")
def _addmm(args, keywords, node):
    c, a, b = args
    beta, alpha = keywords.get("beta", 1), keywords.get("alpha", 1)
    product = sym.dot(a, b) if alpha == 1 else sym.dot(a, b) * float(alpha)
    return product if beta == 0 else sym.broadcast_add(
        product, _with_axes(c if beta == 1 else c * float(beta), node.args[0], 2))


@_operator("matmul.default", "mm.default", "bmm.default")
def _matmul(args, keywords, node):
    ranks = [len(shape_of(source)) for source in node.args[:2]]
    if ranks == [2, 2]:
        return sym.dot(args[0], args[1])
    if ranks == [3, 3]:
        return sym.batch_dot(args[0], args[1])
    raise Unsupported(f"a product of {ranks[0]} by {ranks[1]} axes")


# Shapes.


@_operator("view.default", "reshape.default", "_unsafe_view.default", "flatten.using_ints",
           "unflatten.int")
def _reshape(args, keywords, node):
    return sym.reshape(args[0], shape=reshape_codes(shape_of(node.args[0]), shape_of(node)))


def reshape_codes(before, after):
    """The `shape` argument of MXNet's Reshape that maps one shape to the other and stays valid for
    other extents of the axes, above all the batch: 0 copies an axis, -3 joins two, -4 a b splits
    one."""
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
    axis %= len(shape_of(node))
    begin = 0 if begin < -shape_of(node.args[0])[axis] else begin
    if begin == 0 and end is None and step == 1:
        return args[0]
    if step == 1:
        return sym.slice_axis(args[0], axis=axis, begin=begin, end=end)
    before = (None,) * axis
    return sym.slice(args[0], begin=(*before, begin), end=(*before, end), step=(*before, step))


@_operator("constant_pad_nd.default")
def _pad(args, keywords, node):
    x, pads, number = args[0], args[1], float(args[2]) if len(args) > 2 else 0.0
    rank = len(shape_of(node))
    for i in range(len(pads) // 2):  # pads begin with the last axis
        axis, before, after = rank - 1 - i, *pads[2 * i:2 * i + 2]
        if before < 0 or after < 0:
            x = sym.slice_axis(x, axis=axis, begin=max(0, -before),
                               end=None if after >= 0 else after)
        one = sym.zeros_like(sym.slice_axis(x, axis=axis, begin=0, end=1)) + number
        parts = [sym.broadcast_axis(one, axis=axis, size=extent) if extent > 0 else None
                 for extent in (before, after)]
        parts = [part for part in (parts[0], x, parts[1]) if part is not None]
        x = sym.Concat(*parts, dim=axis) if len(parts) > 1 else x
    return x


@_operator("index_select.default")
def _index_select(args, keywords, node):
    return sym.take(args[0], args[2], axis=args[1] % len(shape_of(node)), mode="wrap")


@_operator("cat.default")
def _cat(args, keywords, node):
    return sym.Concat(*args[0], dim=(args[1] if len(args) > 1 else 0) % len(shape_of(node)))


@_operator("stack.default")
def _stack(args, keywords, node):
    return sym.stack(*args[0], axis=(args[1] if len(args) > 1 else 0) % len(shape_of(node)))


def _lengths(node):
    """The extents of the pieces and the axis, for an operator that splits its first argument."""
    axis = (node.args[2] if len(node.args) > 2 else node.kwargs.get("dim", 0)) % len(
        shape_of(node.args[0]))
    return axis, [int(part.shape[axis]) for part in node.meta["val"]]


@_operator("chunk.default", "split.Tensor", "split_with_sizes.default", "split.sizes")
def _split(args, keywords, node):
    axis, extents = _lengths(node)
    begins = [sum(extents[:i]) for i in range(len(extents))]
    return [sym.slice_axis(args[0], axis=axis, begin=begin, end=begin + extent)
            for begin, extent in zip(begins, extents)]


@_operator("unbind.int")
def _unbind(args, keywords, node):
    axis = (args[1] if len(args) > 1 else 0) % len(shape_of(node.args[0]))
    return list(sym.SliceChannel(args[0], num_outputs=shape_of(node.args[0])[axis], axis=axis,
                                 squeeze_axis=True))


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


@_operator("roll.default")
def _roll(args, keywords, node):
    x, shape = args[0], shape_of(node)
    if len(args) < 3 or not args[2]:
        raise Unsupported("roll without axes")
    for shift, axis in zip(args[1], args[2]):
        cut = -(shift % shape[axis])
        axis %= len(shape)
        x = x if cut == 0 else sym.Concat(sym.slice_axis(x, axis=axis, begin=cut, end=None),
                                          sym.slice_axis(x, axis=axis, begin=0, end=cut), dim=axis)
    return x


@_operator("flip.default")
def _flip(args, keywords, node):
    rank = len(shape_of(node))
    return sym.reverse(args[0], axis=tuple(axis % rank for axis in args[1]))


# Reductions.


def _reduced(args, keywords, node, first=1):
    """The operand and the attributes of a reduction. The axes and keepdim are the arguments from
    `first` on."""
    rank = len(shape_of(node.args[0]))
    axes = args[first] if len(args) > first and args[first] is not None else ()
    axes = (axes,) if isinstance(axes, int) else tuple(axes)
    keep = args[first + 1] if len(args) > first + 1 else keywords.get("keepdim", False)
    return _as(args[0], node.args[0], dtype_of(node)), {
        "axis": tuple(axis % rank for axis in axes) or tuple(range(rank)), "keepdims": bool(keep)}


def _reduction(function, *names):
    def reduce(args, keywords, node):
        x, flags = _reduced(args, keywords, node)
        return function(x, **flags)

    _operator(*names)(reduce)


def _largest(function, x, axis, keepdims, dtype):
    """The largest or smallest element. Equal extremes share the gradient evenly, as in PyTorch."""
    most = function(x, axis=axis, keepdims=keepdims)
    if not dtype.startswith("float"):
        return most
    equal = sym.BlockGrad(sym.broadcast_equal(x, function(x, axis=axis, keepdims=True)))
    mean = sym.sum(sym.where(equal, x, sym.zeros_like(x)), axis=axis, keepdims=keepdims) / sym.sum(
        equal, axis=axis, keepdims=keepdims)
    # the second term makes the value exact
    return mean + sym.BlockGrad(sym.where(mean == most, sym.zeros_like(most), most - mean))


def _extremes(function, *names):
    def reduce(args, keywords, node):
        x, flags = _reduced(args, keywords, node)
        return _largest(function, x, dtype=dtype_of(node), **flags)

    _operator(*names)(reduce)


_reduction(sym.mean, "mean.dim", "mean.default")
_reduction(sym.sum, "sum.dim_IntList", "sum.default")
_reduction(sym.prod, "prod.dim_int", "prod.default")
_extremes(sym.max, "amax.default", "max.default")
_extremes(sym.min, "amin.default", "min.default")
_reduction(lambda x, **flags: sym.max(x != 0.0, **flags), "any.default", "any.dim", "any.dims")
_reduction(lambda x, **flags: sym.min(x != 0.0, **flags), "all.default", "all.dim", "all.dims")


@_operator("var.correction")
def _var(args, keywords, node):
    extents, correction = shape_of(node.args[0]), keywords.get("correction", 1)
    axes = args[1] if len(args) > 1 and args[1] is not None else range(len(extents))
    axes = tuple(axis % len(extents) for axis in axes)
    count = math.prod(extents[axis] for axis in axes) - (1 if correction is None else correction)
    if count <= 0:
        raise Unsupported("the variance of too few elements")
    centred = sym.broadcast_sub(args[0], sym.mean(args[0], axis=axes, keepdims=True))
    return sym.sum(sym.square(centred), axis=axes,
                   keepdims=keywords.get("keepdim", False)) / float(count)


def _root(x, order=2.0):
    """The root with a gradient of 0 at 0, as in PyTorch's std and norm."""
    positive = x > 0.0
    base = sym.where(positive, x, sym.ones_like(x))
    return sym.where(positive, sym.sqrt(base) if order == 2 else base ** (1 / order),
                     sym.zeros_like(x))


@_operator("std.correction")
def _std(args, keywords, node):
    return _root(_var(args, keywords, node))


@_operator("linalg_vector_norm.default")
def _norm(args, keywords, node):
    order = float(args[1]) if len(args) > 1 else 2.0
    x, flags = _reduced(args, keywords, node, first=2)
    if order == 2:
        return _root(sym.sum(sym.square(x), **flags))
    if order == 0:
        return sym.sum(sym.Cast(x != 0.0, dtype=dtype_of(node)), **flags)
    if math.isinf(order):
        return _largest(sym.max if order > 0 else sym.min, sym.abs(x), dtype=dtype_of(node),
                        **flags)
    return (sym.sum(sym.abs(x), **flags) if order == 1
            else _root(sym.sum(sym.abs(x) ** order, **flags), order))


@_operator("sort.default", "sort.stable")
def _sort(args, keywords, node):
    rest = list(args[1:])
    axis = keywords.get("dim", rest[0] if rest else -1) % len(shape_of(node.args[0]))
    ascending = not keywords.get("descending", rest[1] if len(rest) > 1 else False)
    return [sym.sort(args[0], axis=axis, is_ascend=ascending),
            sym.argsort(args[0], axis=axis, is_ascend=ascending, dtype="int32")]


@_operator("topk.default")
def _topk(args, keywords, node):
    x, k, axis, largest = (list(args) + [-1, True][len(args) - 2:])[:4]
    return list(sym.topk(x, k=k, axis=axis % len(shape_of(node.args[0])), ret_typ="both",
                         is_ascend=not largest, dtype="int32"))


def _place(symbol, function, args, node):
    """The index of an extreme along an axis or in the whole tensor; the latter has shape (1,)
    here."""
    if len(args) < 2 or args[1] is None:
        return sym.Cast(function(sym.reshape(symbol, shape=(1, -1)), axis=1), dtype="int32")
    axis = args[1] % len(shape_of(node.args[0]))
    return sym.Cast(function(symbol, axis=axis, keepdims=bool(args[2]) if len(args) > 2 else False),
                    dtype="int32")


def _extreme(place, name):
    """The extreme and its index. The first of several equal extremes gets the gradient, as in
    PyTorch."""
    _operator(f"arg{name}.default")(lambda args, keywords, node: _place(args[0], place, args, node))

    def both(args, keywords, node):
        at = _place(args[0], place, args, node)
        keep = bool(args[2]) if len(args) > 2 else False
        return [sym.pick(args[0], at, axis=args[1] % len(shape_of(node.args[0])), keepdims=keep),
                at]

    _operator(f"{name}.dim")(both)


_extreme(sym.argmax, "max")
_extreme(sym.argmin, "min")


@_operator("cumsum.default")
def _cumsum(args, keywords, node):
    return sym.cumsum(_as(args[0], node.args[0], dtype_of(node)),
                      axis=args[1] % len(shape_of(node)))
