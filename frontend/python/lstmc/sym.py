"""The Symbol API: a function per op, under MXNet's names, and recurrent layers. Functions and their documentation are made from the
records of the ops (ir/sym)."""

import inspect as _inspect

from . import _core
from . import graph as _graph
from .error import usage as _usage
from .graph import Group, Symbol, Variable, dim

var = Variable


def LSTM(x, num_hidden, num_layers=1, bidirectional=False, p=0.0, h=None, c=None, length=None, layout="TNC", name=None,
         forget_bias=None):
    """A stack of LSTM layers: (output, last h, last c). `x` is [T, N, inputs], with layout "NTC" [N, T, inputs]; `p` drops out
    between layers in training; `h` and `c` are the first states [layers * directions, N, num_hidden], zero unless given; `length`
    [N] says how many steps of each sequence are real. Parameters are NAME_i2h_weight, NAME_h2h_weight, NAME_i2h_bias, NAME_h2h_bias,
    and NAME_l1_... above the first layer. `forget_bias` is what the forget gate's bias begins with."""
    _check_layout(layout)
    return _graph.layer("LSTM", x, num_hidden, 3, name, num_layers=num_layers, bidirectional=bidirectional, p=float(p), h=h, c=c,
                        length=length, layout=layout, forget_bias=forget_bias)


def GRU(x, num_hidden, num_layers=1, bidirectional=False, p=0.0, h=None, length=None, layout="TNC", name=None):
    """A stack of GRU layers: (output, last h). As LSTM."""
    _check_layout(layout)
    return _graph.layer("GRU", x, num_hidden, 2, name, num_layers=num_layers, bidirectional=bidirectional, p=float(p), h=h,
                        length=length, layout=layout)


def RNNLayer(x, num_hidden, num_layers=1, activation="tanh", bidirectional=False, p=0.0, h=None, length=None, layout="TNC",
             name=None):
    """A stack of plain recurrent layers, `activation` "tanh" or "relu": (output, last h). As LSTM."""
    _check_layout(layout)
    if activation not in ("tanh", "relu"):
        raise _usage(f'activation is tanh or relu, got "{activation}"')
    return _graph.layer("RNNLayer", x, num_hidden, 2, name or None, num_layers=num_layers, activation=activation,
                        bidirectional=bidirectional, p=float(p), h=h, length=length, layout=layout)


def _check_layout(layout):
    if layout not in ("TNC", "NTC"):
        raise _usage(f'layout is TNC or NTC, got "{layout}"')


def _function(spelled, record):
    name, _, inputs, variadic, _, _ = record
    known = {argument for argument, _ in inputs}

    def call(*args, name=None, **keywords):
        arguments = [(None, symbol) for symbol in args]
        attributes = {}
        for key, value in keywords.items():
            if isinstance(value, Symbol) or key in known:
                if value is not None:
                    arguments.append((key, value))
            else:
                attributes[key] = value
        return _graph.apply(spelled, arguments, attributes, name)

    call.__name__ = call.__qualname__ = spelled
    call.__module__ = __name__
    call.__doc__ = _document(spelled, record)
    call.__signature__ = _signature(record)
    return call


_LEFT_OUT = {
    "required": "",
    "parameter": "; left out, a parameter is made",
    "label": "; left out, an input is made",
    "absent": "; may be left out",
}


def _document(spelled, record):
    name, aliases, inputs, variadic, attributes, summary = record
    lines = [summary[:1].upper() + summary[1:] + ".", ""]
    if spelled != name:
        lines += [f"Another name of {name}.", ""]
    lines += ["Inputs: any number of symbols." if variadic else "Inputs:"]
    lines += [f"    {argument}{_LEFT_OUT[left_out]}" for argument, left_out in inputs]
    if attributes:
        lines += ["", "Attributes:"]
    for attribute, wanted, default, other in attributes:
        also = f" (also {', '.join(other)})" if other else ""
        lines.append(f"    {attribute}: {wanted}, " + ("required" if default is None else f"default {default}") + also)
    return "\n".join(lines)


def _signature(record):
    _, _, inputs, variadic, attributes, _ = record
    Parameter = _inspect.Parameter
    parameters = [Parameter("args", Parameter.VAR_POSITIONAL)] if variadic else [
        Parameter(argument, Parameter.POSITIONAL_OR_KEYWORD, default=None) for argument, _ in inputs]
    parameters += [Parameter(attribute, Parameter.KEYWORD_ONLY, default=default)
                   for attribute, _, default, _ in attributes if attribute.isidentifier()]
    return _inspect.Signature(parameters + [Parameter("name", Parameter.KEYWORD_ONLY, default=None)])


for _record in _core.operators():
    for _name in (_record[0], *_record[1]):
        globals().setdefault(_name, _function(_name, _record))
