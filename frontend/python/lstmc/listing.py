"""Attributes of a symbol's nodes as text, and the Variables that calls make for missing
arguments."""

import json

from . import _core, graph
from .attribute import with_bare_names
from .init import FusedRNN, Unknown, spec_of

RECORDS = {name: record for record in _core.operators() for name in (record[0], *record[1])}


def attributes(node):
    """The attributes of a node as text by name: the op's attributes in the call, and those of
    attribute.py."""
    if node.kind == "variable":
        own = of_variable(node.options)
    elif node.kind == "layer":
        own = {key: str(value)
               for key, value in {**node.options, "num_hidden": node.options["units"]}.items()
               if value is not None and key != "units"}
    else:
        own = {key: str(value) for key, value in node.options["given"]}
    return with_bare_names({**own, **node.attributes})


def of_variable(options):
    """What a Variable says, in the form of files."""
    own = {}
    if options["shape"] is not None:
        shape = (options["shape"] if isinstance(options["shape"], (tuple, list))
                 else (options["shape"],))
        own["__shape__"] = str(tuple(max(int(extent or 0), 0) for extent in shape))
    if options["dtype"] is not None:
        own["__dtype__"] = graph.code_of_dtype(graph.plain(options["dtype"]))
    for key in ("lr_mult", "wd_mult", "layout"):
        if options[key] is not None:
            own[f"__{key}__"] = str(options[key])
    if options["init"] is not None:
        own["__init__"] = (options["init"].dumps()
                           if isinstance(options["init"], (FusedRNN, Unknown))
                           else text_of_init(spec_of(options["init"])))
    return own


def text_of_init(spec):
    """An initialiser in the form of files: `["xavier", {"magnitude": 2.34}]`."""
    return json.dumps([spec[0], dict(spec[1])])


def all_attributes(symbol):
    """{name of the node: its attributes}. A Variable made by a call has the call's attributes,
    without those of the op."""
    found = {name: with_bare_names(node.attributes)
             for name, (node, _, _) in made_by(symbol._outputs).items()}
    found.update((node.name, attributes(node)) for node in graph.reached(symbol._outputs))
    return {name: own for name, own in found.items() if own}


def made_by(outputs):
    """{name: (node, argument, whether it is a parameter)} of all Variables that calls make."""
    nodes = graph.reached(outputs)
    known = {node.name for node in nodes if node.kind == "variable"}
    drawing, values = graph.begin_for_names(outputs)
    drawing.finish_for_names(values)
    names = {*drawing.list_arguments(), *drawing.list_auxiliary_states()} - known
    made = {}
    for node in nodes:
        for argument, is_parameter in _made_for(node):
            name = f"{node.name}_{argument}" if node.kind == "op" else argument
            if name in names:
                made.setdefault(name, (node, argument, is_parameter))
    return made


def _made_for(node):
    """(argument of an op, or name of a layer's parameter; whether it is a parameter) of all
    Variables that the call may make."""
    if node.kind == "layer":
        layers, both = node.options.get("num_layers", 1), node.options.get("bidirectional", False)
        return [(prefix + part, True) for prefix in graph.prefixes(node.name, layers, both)
                for part in ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias")]
    if node.kind == "op":
        return [(argument, left_out == "parameter") for argument, left_out in RECORDS[node.op][2]
                if left_out in ("parameter", "label")]
    return []
