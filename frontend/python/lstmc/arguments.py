"""The ops' records, and arguments and docstring of a function generated from one."""

import inspect

from . import _core

#: by every name of the op
RECORDS = {name: record for record in _core.operators() for name in (record[0], *record[1])}


def split(record, args, keywords, tensor):
    """Splits the arguments of a call into (inputs, attributes): [(input's name or None, tensor or
    None)] and {name: value}. Positional arguments are first the inputs, then the attributes in the
    order of the record; an op with any number of inputs takes no positional attributes. `tensor` is
    the class of inputs."""
    _, _, inputs, variadic, attributes, _ = record
    known = {argument for argument, _ in inputs}
    count = len(args) if variadic else min(len(args), len(inputs))
    tensors = [(None, argument) for argument in args[:count]]
    names = [attribute for attribute, *_ in attributes]
    if len(args) - count > len(names):
        raise TypeError(
            f"{record[0]} takes at most {len(inputs) + len(names)} arguments, got {len(args)}")
    values = dict(zip(names, args[count:]))
    for key, value in keywords.items():
        if isinstance(value, tensor) or key in known:
            if value is not None:
                tensors.append((key, value))
        elif key in values:
            raise TypeError(f'{record[0]} got two values for "{key}"')
        else:
            values[key] = value
    return tensors, values


_LEFT_OUT = {
    "required": "",
    "parameter": "; left out, a parameter is made",
    "label": "; left out, an input is made",
    "absent": "; may be left out",
}


def document(spelled, record, kind="symbols"):
    """The docstring of the function. `kind` names its kind of input in the plural, such as
    "symbols"."""
    name, _, inputs, variadic, attributes, summary = record
    lines = [summary[:1].upper() + summary[1:] + ".", ""]
    if spelled != name:
        lines += [f"Another name of {name}.", ""]
    lines += [f"Inputs: any number of {kind}." if variadic else "Inputs:"]
    lines += [f"    {argument}{_LEFT_OUT[left_out] if kind == 'symbols' else ''}"
              for argument, left_out in inputs]
    if attributes:
        lines += ["", "Attributes:"]
    for attribute, wanted, default, other in attributes:
        also = f" (also {', '.join(other)})" if other else ""
        lines.append(f"    {attribute}: {wanted}, "
                     + ("required" if default is None else f"default {default}") + also)
    return "\n".join(lines)


def signature(record, *last):
    """The signature that an editor shows: inputs, attributes, and the keywords in `last`."""
    _, _, inputs, variadic, attributes, _ = record
    Parameter = inspect.Parameter
    kind = Parameter.KEYWORD_ONLY if variadic else Parameter.POSITIONAL_OR_KEYWORD
    parameters = [Parameter("args", Parameter.VAR_POSITIONAL)] if variadic else [
        Parameter(argument, kind, default=None) for argument, _ in inputs]
    parameters += [Parameter(attribute, kind, default=default)
                   for attribute, _, default, _ in attributes if attribute.isidentifier()]
    return inspect.Signature(
        parameters + [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in last])


def of_split(indices_or_sections):
    """The attributes of `_split_v2` for an argument of NumPy's split."""
    if isinstance(indices_or_sections, int):
        return {"indices": (), "sections": indices_or_sections}
    return {"indices": (0, *indices_or_sections)}
