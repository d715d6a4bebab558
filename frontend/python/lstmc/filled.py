"""Padded steps of pad_packed_sequence. PyTorch returns as many steps as the longest sequence of the
batch has, which is known at run time; lstmc returns as many as were packed. An op that reads the
additional steps along their axis gets a neutral value in their place, or is refused."""

import math
import operator

from . import sym
from .aten import dtype_of, shape_of

_LIKE_POINTWISE = {"contiguous", "clone", "detach", "alias", "lift_fresh_copy", "dropout", "to",
                   "_to_copy", "type_as", "masked_fill", "zeros_like", "ones_like",
                   "full_like", "where"}
_RESHAPES = {"view", "reshape", "_unsafe_view", "flatten", "unflatten"}
_FILLS = {"sum": 0.0, "mean": 0.0, "amax": -math.inf, "max": -math.inf, "argmax": -math.inf,
          "amin": math.inf, "min": math.inf, "argmin": math.inf,
          "any": 0.0, "all": 1.0, "prod": 1.0, "linalg_vector_norm": 0.0}
_REMEDY = ("It has as many steps there as the longest sequence: give pad_packed_sequence "
           "total_length=, the steps of what is packed, for as many in both")


class Refused(Exception):
    """An operator whose result on padded steps cannot be made equal to PyTorch's."""


class _Real:
    """A mask over an axis, as a symbol: 1 where PyTorch has an element, else 0. Equal masks have
    equal `key`; `parts` are (extents, {axis: _Real}) of the axes that were joined into this one;
    `steps` is the number of PyTorch's elements along the axis."""

    def __init__(self, symbol, key, parts=None, steps=None, lengths=None):
        self.symbol, self.key, self.parts, self.steps, self.lengths = (
            symbol, key, parts, steps, lengths)


def of_lengths(lengths, key, dtype, steps):
    longest = sym.max(lengths)
    counted = sym._arange(start=0.0, stop=float(steps), step=1.0, dtype=dtype)
    return _Real(_truth(sym.broadcast_lesser(counted, longest), dtype), (key,), steps=longest,
                 lengths=lengths)


def _truth(compared, dtype):
    return compared if dtype == "float32" else sym.Cast(compared, dtype="float32")


def _along(real, axis, rank):
    return sym.reshape(real.symbol, shape=(1,) * axis + (-1,) + (1,) * (rank - axis - 1))


def with_fill(x, reals, shape, dtype, number):
    """Replaces all elements that PyTorch does not have by `number`."""
    mask = None
    for axis, real in reals.items():
        one = _along(real, axis, len(shape))
        mask = one if mask is None else sym.broadcast_mul(mask, one)
    return sym.where(sym.broadcast_like(mask, x), x,
                     sym._full(shape=shape, value=number, dtype=dtype))


class Filled:
    """Propagates the masks through a program: `reals[node]` is {axis: _Real}, or a list of those
    for a node with several values."""

    def __init__(self, reader, torch):
        self._reader, self._torch = reader, torch
        self.reals = {}

    def mark(self, node):
        """Starts a mask at the operator that stands for pad_packed_sequence in the exported
        graph."""
        data, lengths, axis = node.args
        steps = shape_of(node)[axis]
        known = self._reader._values[lengths]
        if steps > 1 and not (isinstance(known, self._torch.Tensor) and int(known.max()) == steps):
            self.reals[node] = {**self.reals.get(data, {}),
                                axis: of_lengths(self._reader._symbol(lengths), lengths,
                                                 dtype_of(lengths), steps)}

    def reads(self, node):
        return any(self.reals.get(each) for each in node.all_input_nodes)

    def call(self, node, kind):
        """Translates the operator with its padded inputs filled so that the result equals
        PyTorch's."""
        if node.target is operator.getitem:
            given = self.reals[node.args[0]]
            self.reals[node] = given[node.args[1]] if isinstance(given, list) else {}
            return self._reader._call(node)
        tags = getattr(node.target, "tags", ())
        kind = kind.rstrip("_")
        rule = ("pointwise" if kind in _LIKE_POINTWISE or self._torch.Tag.pointwise in tags
                else "reshape" if kind in _RESHAPES
                else "reduce" if kind in _FILLS else kind.strip("_"))
        rule = getattr(self, f"_{rule}", None) or self._unknown
        return rule(node)

    # Rules: each returns the symbol and records the masks of the result.

    def _of(self, node):
        return self.reals.get(node, {}) if isinstance(node, self._torch.fx.Node) else {}

    def _made(self, node, reals):
        self.reals[node] = reals
        return self._reader._call(node)

    def _with(self, node, filled):
        """Translates the operator with other symbols for some of its inputs."""
        before = {each: self._reader._values[each] for each in filled}
        self._reader._values.update(filled)
        try:
            return self._reader._call(node)
        finally:
            self._reader._values.update(before)

    def _filled(self, source, axes, number):
        reals = {axis: real for axis, real in self._of(source).items() if axis in axes}
        return with_fill(self._reader._symbol(source), reals, shape_of(source),
                         dtype_of(source), number)

    def _unknown(self, node):
        raise Refused("this")

    def _pointwise(self, node):
        rank, found = len(shape_of(node)), {}
        for source in node.all_input_nodes:
            for axis, real in self._of(source).items():
                axis += rank - len(shape_of(source))
                if found.setdefault(axis, real).key != real.key:
                    raise Refused("sequences of several lengths, together")
        return self._made(node, found)

    def _reduce(self, node):
        source, kind = node.args[0], str(node.target).split(".")[1]
        first = 2 if kind == "linalg_vector_norm" else 1
        rank, reals = len(shape_of(source)), self._of(source)
        if kind in ("max", "min") and str(node.target).endswith(".other"):
            return self._pointwise(node)
        axes = (node.args[first]
                if len(node.args) > first and not isinstance(node.args[first], bool) else None)
        axes = (range(rank) if axes is None or axes == []
                else [axis % rank for axis in ([axes] if isinstance(axes, int) else axes)])
        keep = (node.args[first + 1] if len(node.args) > first + 1
                else node.kwargs.get("keepdim", False))
        over = [axis for axis in reals if axis in axes]
        kept = {axis if keep else axis - sum(each < axis for each in axes): real
                for axis, real in reals.items() if axis not in axes}
        several = isinstance(node.meta["val"], (tuple, list))
        self.reals[node] = [kept] * len(node.meta["val"]) if several else kept
        if not over:
            return self._reader._call(node)
        if kind == "linalg_vector_norm" and len(node.args) > 1 and node.args[1] <= 0:
            raise Refused("a norm of order 0 or less")
        number = _FILLS[kind]
        if math.isinf(number) and not source.meta["val"].dtype.is_floating_point:
            raise Refused("an extreme of whole numbers")
        filled = self._filled(source, over, number)
        if kind != "mean":
            return self._with(node, {source: filled})
        total = sym.sum(filled, axis=tuple(axes), keepdims=bool(keep))
        count = None
        for axis in over:
            real = sym.Cast(sym.sum(reals[axis].symbol), dtype=dtype_of(node))
            count = real if count is None else count * real
        others = math.prod(shape_of(source)[axis] for axis in axes if axis not in over)
        return sym.broadcast_div(
            total, sym.reshape(count * float(others), shape=(1,) * max(1, len(shape_of(node)))))

    def _softmax(self, node):
        source = node.args[0]
        axis = node.args[1] % len(shape_of(source))
        self.reals[node] = dict(self._of(source))
        return (self._with(node, {source: self._filled(source, [axis], -math.inf)})
                if axis in self._of(source) else self._reader._call(node))

    _log_softmax = _softmax

    def _linear(self, node):
        reals, last = self._of(node.args[0]), len(shape_of(node.args[0])) - 1
        if last in reals or self._of(node.args[1]):
            raise Refused("a product")
        return self._made(node, dict(reals))

    def _layer_norm(self, node):
        rank = len(shape_of(node.args[0]))
        if any(axis >= rank - len(node.args[1]) for axis in self._of(node.args[0])):
            raise Refused("this")
        return self._made(node, dict(self._of(node.args[0])))

    def _embedding(self, node):
        return self._made(node, dict(self._of(node.args[1])))

    def _matmul(self, node):
        left, right = node.args[:2]
        ranks = [len(shape_of(each)) for each in (left, right)]
        if ranks not in ([2, 2], [3, 3]):
            raise Refused("a product")
        rank = ranks[0]
        a, b = self._of(left), self._of(right)
        filled = {each: self._filled(each, [axis], 0.0)
                  for each, reals, axis in ((left, a, rank - 1), (right, b, rank - 2))
                  if axis in reals}
        if left is right and len(filled):
            raise Refused("a product")
        outside = {axis: real for axis, real in (*a.items(), *b.items()) if axis < rank - 2}
        self.reals[node] = {**outside,
                            **{axis: real for axis, real in a.items() if axis == rank - 2},
                            **{axis: real for axis, real in b.items() if axis == rank - 1}}
        return self._with(node, filled)

    _bmm = _mm = _matmul

    def _cumsum(self, node):
        # a later step is not part of an earlier prefix
        return self._made(node, dict(self._of(node.args[0])))

    # Shapes.

    def _moved(self, node, order):
        """Permutes masks: `order` has the axes of the input in their order in the result; None is a
        new axis."""
        reals = self._of(node.args[0])
        return self._made(node, {at: reals[axis] for at, axis in enumerate(order) if axis in reals})

    def _transpose(self, node):
        order = [*range(len(shape_of(node)))]
        one, two = (axis % len(order) for axis in node.args[1:3])
        order[one], order[two] = order[two], order[one]
        return self._moved(node, order)

    def _t(self, node):
        order = [*range(len(shape_of(node)))]
        return self._moved(node, [*order[:-2], *order[:-3:-1]])

    _mT = _numpy_T = _t

    def _permute(self, node):
        return self._moved(node, [axis % len(shape_of(node)) for axis in node.args[1]])

    def _unsqueeze(self, node):
        order = [*range(len(shape_of(node.args[0])))]
        order.insert(node.args[1] % len(shape_of(node)), None)
        return self._moved(node, order)

    def _squeeze(self, node):
        before = shape_of(node.args[0])
        axes = [node.args[1]] if isinstance(node.args[1], int) else node.args[1]
        gone = {axis % len(before) for axis in axes if before[axis] == 1}
        return self._moved(node, [axis for axis in range(len(before)) if axis not in gone])

    def _expand(self, node):
        new = len(shape_of(node)) - len(shape_of(node.args[0]))
        return self._moved(node, [None] * new + [*range(len(shape_of(node.args[0])))])

    _expand_as = _expand

    def _repeat(self, node):
        new = len(shape_of(node)) - len(shape_of(node.args[0]))
        if any(node.args[1][new + axis] != 1 for axis in self._of(node.args[0])):
            raise Refused("this")
        return self._expand(node)

    def _flip(self, node):
        rank = len(shape_of(node))
        if any(axis % rank in self._of(node.args[0]) for axis in node.args[1]):
            raise Refused("the last step as the first")
        return self._made(node, dict(self._of(node.args[0])))

    def _select(self, node):
        source, axis, index = node.args
        axis %= len(shape_of(source))
        real = self._of(source).get(axis)
        order = [each for each in range(len(shape_of(source))) if each != axis]
        if real is None or index >= 0:
            return self._moved(node, order)
        if real.steps is None:
            raise Refused("a step from the end")
        # the step from which on -index real steps remain
        extent, dtype = shape_of(source)[axis], "float32"
        counted = sym._arange(start=0.0, stop=float(extent), step=1.0, dtype=dtype)
        here = _Real(sym.broadcast_equal(counted, sym.Cast(real.steps, dtype=dtype) + float(index)),
                     None)
        self.reals[node] = {at: self._of(source)[each] for at, each in enumerate(order)
                            if each in self._of(source)}
        return sym.sum(with_fill(self._reader._symbol(source), {axis: here}, shape_of(source),
                                 dtype_of(source), 0.0),
                       axis=axis)

    def _slice(self, node):
        source, axis, begin, end, step = (
            (list(node.args) + [0, None, None, 1][len(node.args) - 1:])[:5])
        axis %= len(shape_of(source))
        reals = dict(self._of(source))
        if axis in reals and shape_of(source)[axis] != shape_of(node)[axis]:
            if (begin or 0) < 0 or (end is not None and end < 0):
                raise Refused("steps from the end")
            cut = sym.slice(reals[axis].symbol, begin=(begin or 0,),
                            end=(None if end is None or end > 2**62 else end,), step=(step,))
            reals[axis] = _Real(cut, (*reals[axis].key, begin, end, step))
        return self._made(node, reals)

    def _cat(self, node):
        parts, rank = node.args[0], len(shape_of(node))
        axis = (node.args[1] if len(node.args) > 1 else 0) % rank
        found = {}
        for part in parts:
            for at, real in self._of(part).items():
                if at == axis or found.setdefault(at, real).key != real.key:
                    raise Refused("sequences one after the other")
        return self._made(node, found)

    def _stack(self, node):
        axis = (node.args[1] if len(node.args) > 1 else 0) % len(shape_of(node))
        found = {}
        for part in node.args[0]:
            for at, real in self._of(part).items():
                if found.setdefault(at + (at >= axis), real).key != real.key:
                    raise Refused("sequences of several lengths")
        return self._made(node, found)

    def _chunk(self, node):
        axis = (node.args[2] if len(node.args) > 2 else node.kwargs.get("dim", 0)) % len(
            shape_of(node.args[0]))
        if axis in self._of(node.args[0]):
            raise Refused("parts of them")
        self.reals[node] = [dict(self._of(node.args[0]))] * len(node.meta["val"])
        return self._reader._call(node)

    _split = _split_with_sizes = _chunk

    def _unbind(self, node):
        axis = (node.args[1] if len(node.args) > 1 else 0) % len(shape_of(node.args[0]))
        if axis in self._of(node.args[0]):
            raise Refused("a loop")
        left = {at - (at > axis): real for at, real in self._of(node.args[0]).items()}
        self.reals[node] = [left] * len(node.meta["val"])
        return self._reader._call(node)

    def _reshape(self, node):
        before, after, found = shape_of(node.args[0]), shape_of(node), {}
        for axis, real in self._of(node.args[0]).items():
            found.update(self._reshaped(axis, real, before, after, self._of(node.args[0])))
        return self._made(node, found)

    def _reshaped(self, axis, real, before, after, reals):
        """{axis of the result: _Real}"""
        ahead = math.prod(before[:axis])
        for at, extent in enumerate(after):
            product = math.prod(after[:at])
            if product == ahead and extent == before[axis]:
                return {at: real}
            if (product == ahead and real.parts
                and after[at:at + len(real.parts[0])] == real.parts[0]):
                return {at + each: part for each, part in real.parts[1].items()}
        for at, extent in enumerate(after):
            for begin in range(axis + 1):
                for end in range(axis + 1, len(before) + 1):
                    if (math.prod(after[:at]) == math.prod(before[:begin])
                        and extent == math.prod(before[begin:end])):
                        group = before[begin:end]
                        parts = {each - begin: part for each, part in reals.items()
                                 if begin <= each < end}
                        ones = sym._full(shape=group, value=1.0, dtype="float32")
                        for each, part in parts.items():
                            ones = sym.broadcast_mul(ones, _along(part, each, len(group)))
                        key = (group, *((each, part.key) for each, part in sorted(parts.items())))
                        return {at: _Real(sym.reshape(ones, shape=(-1,)), key, (group, parts))}
        raise Refused("another shape")

    # Elements by index that PyTorch has.

    def _gather(self, node):
        axis = node.args[1] % len(shape_of(node.args[0]))
        left = {at: real for at, real in self._of(node.args[0]).items() if at != axis}
        return self._made(node, {**left, **self._of(node.args[2])})

    def _index_select(self, node):
        axis = node.args[1] % len(shape_of(node.args[0]))
        return self._made(node,
                          {at: real for at, real in self._of(node.args[0]).items() if at != axis})

    def _index(self, node):
        given = [axis for axis, index in enumerate(node.args[1]) if index is not None]
        reals = self._of(node.args[0])
        if (any(axis not in given for axis in reals)
            or any(self._of(index) for index in node.args[1] if index is not None)):
            raise Refused("an index of other axes")
        return self._made(node, {})

    # Recurrent modules.

    def _lstm(self, node):
        batch_first = node.args[-1]
        steps, reals = 1 if batch_first else 0, self._of(node.args[0])
        if (any(self._of(each) for each in node.all_input_nodes if each is not node.args[0])
            or [*reals] != [steps] or reals[steps].lengths is None):
            raise Refused("a recurrent module")
        self.reals[node] = [{steps: reals[steps]}, *[{}] * (len(node.meta["val"]) - 1)]
        return self._reader._call(node)

    _gru = _rnn_tanh = _rnn_relu = _lstm

    def length_for(self, source):
        """The length argument of a recurrent module that reads padded steps: the longest length,
        for all sequences."""
        for real in self._of(source).values():
            return sym.broadcast_add(real.lengths * 0, real.steps)
        return None

    def error(self, node, refused):
        return (f"{str(node.target).removeprefix('torch.ops.')} of what pad_packed_sequence filled "
                f"up ({refused}) cannot be PyTorch's. {_REMEDY}")
