"""Attributes of a symbol's nodes as text."""

import json

from .attribute import with_bare_names
from .drawing import made_by
from .init import FusedRNN, Unknown, spec_of
from .nodes import reached
from .values import code_of_dtype, plain


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
        own["__dtype__"] = code_of_dtype(plain(options["dtype"]))
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
    found.update((node.name, attributes(node)) for node in reached(symbol._outputs))
    return {name: own for name, own in found.items() if own}
