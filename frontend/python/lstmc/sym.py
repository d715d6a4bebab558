"""The Symbol API: a function per op, under MXNet's names, and recurrent layers. Functions and their documentation are made from the
records of the ops (ir/sym)."""

from . import _core
from . import arguments as _arguments
from . import graph as _graph
from . import symbol_json as _symbol_json
from .error import usage as _usage
from .graph import Group, Symbol, Variable, dim

var = Variable


def load(path):
    """The symbol of a file of MXNet's (symbol.json), of any version from 0.7 on."""
    with open(path, encoding="utf-8") as file:
        return _symbol_json.loads(file.read(), path)


def load_json(json_str):
    """The symbol of such a file's text."""
    return _symbol_json.loads(json_str)


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
    def call(*args, name=None, **keywords):
        return _graph.apply(spelled, *_arguments.split(record, args, keywords, Symbol), name)

    call.__name__ = call.__qualname__ = spelled
    call.__module__ = __name__
    call.__doc__ = _arguments.document(spelled, record)
    call.__signature__ = _arguments.signature(record, "name")
    return call


globals().update(_graph.binary)
for _record in _core.operators():
    for _name in (_record[0], *_record[1]):
        globals().setdefault(_name, _function(_name, _record))
