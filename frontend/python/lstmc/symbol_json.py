"""Writes MXNet's symbol.json by frontend/importers/mxnet: the format's facts are in docs/mxnet.md
§12."""

import warnings

from . import _core
from .drawing import draw_for_names, made_by
from .init import FusedRNN, Unknown
from .listing import of_variable
from .nodes import reached


def dumps(symbol, vectors=None):
    """The text of a symbol in MXNet's layout. `vectors` are the layers whose parameters are one
    Variable, as in MXNet's FusedRNNCell: {name of the layer: (name of the Variable, its
    __init__)}."""
    marks = {name: node.attributes for name, (node, _, _) in made_by(symbol._outputs).items()}
    for node in reached(symbol._outputs):
        marks[node.name] = {**node.attributes,
                            **(_of_variable(node.options) if node.kind == "variable" else {})}
    text, remarks = _core.symbol_text(
        draw_for_names(symbol), marks,
        {f"{layer}_parameters": described for layer, described in (vectors or {}).items()})
    for remark in remarks:
        warnings.warn(remark, stacklevel=2)
    return text


def _of_variable(options):
    """What a Variable says and its parameter does not know: an initialiser that the compiler has is
    the parameter's."""
    own = of_variable(options)
    if not isinstance(options["init"], (FusedRNN, Unknown)):
        own.pop("__init__", None)
    return own
