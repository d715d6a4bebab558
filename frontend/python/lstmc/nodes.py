"""Nodes of a network: each call with its inputs, and where it was made. Nothing here asks the
compiler."""

import itertools

from .attribute import AttrScope
from .place import of_caller

_numbers = itertools.count()


class dim(int):
    """A named extent, which messages show and devices divide: `dim("batch", 32)`. An immutable
    number, which threads may share."""

    def __new__(cls, name, extent):
        self = super().__new__(cls, extent)
        self.name = name
        return self


class Node:
    """A variable, a call of an op, or a layer."""

    __slots__ = ("kind", "name", "inputs", "options", "outputs", "number", "place", "attributes",
                 "dtype", "op", "is_copy")

    def __init__(self, kind, name, inputs=(), outputs=1, op=None, attr=None, **options):
        self.kind = kind
        self.name = name
        self.inputs = inputs  # (input's name or None, Symbol of one output or None)
        self.options = options
        self.outputs = outputs
        self.op = op
        self.number = next(_numbers)  # nodes are drawn in the order in which they were made
        self.place = of_caller()
        attributes, self.dtype = AttrScope.current()  # dtype: the type of computation
        self.attributes = {**attributes, **(attr or {})}  # those of attribute.py
        self.is_copy = False  # whether another node may have made its parameters

    def reading(self, inputs):
        """A copy of the call with other inputs."""
        copy = Node.__new__(Node)
        for slot in self.__slots__:
            setattr(copy, slot, getattr(self, slot))
        copy.inputs, copy.number, copy.is_copy = inputs, next(_numbers), True
        return copy


def reached(outputs):
    """All nodes that these outputs depend on, in the order in which they were made."""
    seen, work = set(), [node for node, _ in outputs]
    while work:
        node = work.pop()
        if node not in seen:
            seen.add(node)
            work.extend(source for _, symbol in node.inputs if symbol is not None
                        for source, _ in symbol._outputs)
    return sorted(seen, key=lambda node: node.number)


def variables(symbol):
    """The Variables of a network by name."""
    return {node.name: node for node in reached(symbol._outputs) if node.kind == "variable"}


def is_input(name):
    """Whether a Variable is an input by its name alone, as in MXNet's FeedForward."""
    return name.endswith("data") or name.endswith("label")


def batch_axis(node_or_layout):
    layout = (node_or_layout if isinstance(node_or_layout, str)
              else node_or_layout.options.get("layout"))
    return max(layout.find("N"), 0) if layout else 0


def prefixes(name, layers, bidirectional):
    for k in range(layers):
        yield f"{name}_" if k == 0 else f"{name}_l{k}_"
        if bidirectional:
            yield f"{name}_r{k}_"
