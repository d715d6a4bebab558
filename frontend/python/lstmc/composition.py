"""Composition: a network with some of its Variables replaced by symbols, `net(data=hidden)`."""

from .drawing import made_by
from .error import usage
from .nodes import reached, variables


def composed(symbol, given):
    """Copies the nodes that depend on the Variables of these names; all other nodes are shared.
    Such a Variable may be one that a call made for a missing argument."""
    symbol_of = type(symbol)
    for name, value in given.items():
        if not isinstance(value, symbol_of) or len(value) != 1:
            raise usage(f'composing takes symbols of one tensor, got {value!r} for "{name}"')
    known = variables(symbol)
    made = made_by(symbol._outputs) if given.keys() - known.keys() else {}
    arguments = {}  # node: [(argument, symbol)]
    for name in sorted(given.keys() - known.keys()):
        node, argument = _maker(symbol, name, made)
        arguments.setdefault(node, []).append((argument, given[name]))
    replaced = {(known[name], 0): value for name, value in given.items() if name in known}
    for node in reached(symbol._outputs):
        inputs = [(argument, _replaced(source, replaced)) for argument, source in node.inputs]
        if (node in arguments
            or any(new is not old for (_, new), (_, old) in zip(inputs, node.inputs))):
            copy = node.reading([*inputs, *arguments.get(node, ())])
            replaced.update(((node, i), symbol_of([(copy, i)])) for i in range(node.outputs))
    return symbol_of([new for output in symbol._outputs
                      for new in (replaced[output]._outputs if output in replaced else [output])])


def _maker(symbol, name, made):
    if name not in made:
        raise usage(
            f'the symbol has no argument "{name}"; there are {", ".join(symbol.list_arguments())}')
    node, argument, _ = made[name]
    if node.kind == "layer":
        raise usage(f'"{name}" is made by the layer "{node.name}", which takes no symbol for it')
    return node, argument


def _replaced(source, replaced):
    return source if source is None else replaced.get(source._outputs[0], source)
