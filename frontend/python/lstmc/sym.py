"""The Symbol API: a function per op under MXNet's names, and recurrent layers. The functions and
their docstrings are made from the op records (ir/sym)."""

from . import _core
from . import arguments as _arguments
from . import graph as _graph
from . import symbol_reader as _symbol_reader
from .attribute import attributes_of as _attributes_of
from .attribute import is_attribute as _is_attribute
from .error import usage as _usage
from .graph import Group, Symbol, Variable
from .nodes import dim

var = Variable


def load(path):
    """Loads the symbol of an MXNet file (symbol.json), of any version from 0.7 on."""
    with open(path, "rb") as file:
        return _symbol_reader.loads(file.read(), path)


def load_json(json_str):
    """Parses the text of such a file."""
    return _symbol_reader.loads(json_str)


def LSTM(x, num_hidden, num_layers=1, bidirectional=False, p=0.0, h=None, c=None, length=None,
         layout="TNC", name=None, forget_bias=None):
    """A stack of LSTM layers: (output, last h, last c). `x` is [T, N, inputs], or [N, T, inputs]
    with layout "NTC"; `p` is the dropout between layers in training; `h` and `c` are the initial
    states [layers * directions, N, num_hidden], by default zero; `length` [N] is the number of real
    steps of each sequence. Parameters are NAME_i2h_weight, NAME_h2h_weight, NAME_i2h_bias,
    NAME_h2h_bias, and NAME_l1_... from the second layer on. `forget_bias` is the initial bias of
    the forget gate."""
    _check_layout(layout)
    return _graph.layer("LSTM", x, num_hidden, 3, name, num_layers=num_layers,
                        bidirectional=bidirectional, p=float(p), h=h, c=c,
                        length=length, layout=layout, forget_bias=forget_bias)


def GRU(x, num_hidden, num_layers=1, bidirectional=False, p=0.0, h=None, length=None, layout="TNC",
        name=None):
    """A stack of GRU layers: (output, last h). Arguments as for LSTM."""
    _check_layout(layout)
    return _graph.layer("GRU", x, num_hidden, 2, name, num_layers=num_layers,
                        bidirectional=bidirectional, p=float(p), h=h, length=length, layout=layout)


def RNNLayer(x, num_hidden, num_layers=1, activation="tanh", bidirectional=False, p=0.0, h=None,
             length=None, layout="TNC", name=None):
    """A stack of plain recurrent layers, `activation` "tanh" or "relu": (output, last h). Arguments
    as for LSTM."""
    _check_layout(layout)
    if activation not in ("tanh", "relu"):
        raise _usage(f'activation is tanh or relu, got "{activation}"')
    return _graph.layer("RNNLayer", x, num_hidden, 2, name or None, num_layers=num_layers,
                        activation=activation,
                        bidirectional=bidirectional, p=float(p), h=h, length=length, layout=layout)


def _check_layout(layout):
    if layout not in ("TNC", "NTC"):
        raise _usage(f'layout is TNC or NTC, got "{layout}"')


def _function(spelled, record):
    def call(*args, name=None, attr=None, **keywords):
        marks = {key: keywords.pop(key) for key in [*keywords] if _is_attribute(key)}
        return _graph.apply(spelled, *_arguments.split(record, args, keywords, Symbol), name,
                            _attributes_of({**(attr or {}), **marks}, spelled))

    call.__name__ = call.__qualname__ = spelled
    call.__module__ = __name__
    call.__doc__ = _arguments.document(spelled, record)
    call.__signature__ = _arguments.signature(record, "name", "attr")
    return call


globals().update(_graph.binary)
for _record in _core.operators():
    for _name in (_record[0], *_record[1]):
        globals().setdefault(_name, _function(_name, _record))


def split_v2(ary, indices_or_sections, axis=0, squeeze_axis=False, name=None):
    """Parts of an axis, as NumPy's split: a number of equal ones, or those that begin at 0 and at
    each index."""
    return globals()["_split_v2"](ary, **_arguments.of_split(indices_or_sections), axis=axis,
                                  squeeze_axis=squeeze_axis, name=name)


def _method(spelled):
    function = globals()[spelled]

    def call(self, *args, **keywords):
        return function(self, *args, **keywords)

    call.__name__ = spelled
    call.__doc__ = f"`sym.{spelled}` of this symbol."
    return call


# Methods of MXNet's symbols.
for _name in ("abs argmax argmin argsort broadcast_axes broadcast_like broadcast_to ceil clip cos "
              "cosh diag exp expand_dims expm1 fix flatten flip floor log log10 log1p log2 "
              "log_softmax max mean min norm one_hot ones_like pick prod reciprocal relu repeat "
              "reshape_like rint round rsqrt sigmoid sign sin sinh slice slice_axis slice_like "
              "softmax softmin sort split sqrt square squeeze sum swapaxes take tan tanh tile topk "
              "trunc zeros_like").split():
    setattr(Symbol, _name, _method(_name))


def _reshape(self, *shape, **keywords):
    """`sym.reshape` of this symbol: `reshape((0, -1))` or `reshape(0, -1)`."""
    if shape:
        keywords["shape"] = (shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list))
                             else shape)
    return globals()["reshape"](self, **keywords)


def _transpose(self, *axes, **keywords):
    """`sym.transpose` of this symbol: `transpose((1, 0))` or `transpose(1, 0)`."""
    if axes:
        keywords["axes"] = (axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list))
                            else axes)
    return globals()["transpose"](self, **keywords)


def _astype(self, dtype, name=None):
    """`sym.Cast` of this symbol."""
    return globals()["Cast"](self, dtype=dtype, name=name)


Symbol.reshape, Symbol.transpose, Symbol.astype = _reshape, _transpose, _astype
