"""Weights of a cell split by gate, as in MXNet: `lstm_i2h_f_weight` is a range of rows of
`lstm_i2h_weight`."""

import numpy

from .arrays import as_array
from .error import usage
from .ndarray import NDArray


def take(args, name):
    """Removes a weight from a dict and returns it."""
    if name not in args:
        raise usage(f'the weights have no "{name}"; there are {", ".join(sorted(args))}')
    return as_array(args.pop(name))


def unpack(args, prefix, gates, target=None):
    """Splits PREFIXi2h_weight and so on by rows into TARGETi2h_GATE_weight; `target` defaults to
    `prefix`."""
    args, target = dict(args), prefix if target is None else target
    for product in ("i2h", "h2h"):
        for kind in ("weight", "bias"):
            whole = take(args, f"{prefix}{product}_{kind}")
            if len(whole) % len(gates):
                raise usage(f'"{prefix}{product}_{kind}" has {len(whole)} rows, which {len(gates)} '
                            'gates do not share')
            for gate, rows in zip(gates, numpy.split(whole, len(gates))):
                args[f"{target}{product}{gate}_{kind}"] = NDArray(rows.copy())
    return args


def pack(args, prefix, gates, source=None):
    """The reverse of `unpack`; names of gates begin with `source`."""
    args, source = dict(args), prefix if source is None else source
    for product in ("i2h", "h2h"):
        for kind in ("weight", "bias"):
            parts = [take(args, f"{source}{product}{gate}_{kind}") for gate in gates]
            args[f"{prefix}{product}_{kind}"] = NDArray(numpy.concatenate(parts))
    return args


def unpack_vector(args, name, units, layers, directions, gates):
    """Splits MXNet's vector of all weights into those of each direction of each layer, [(layer,
    direction, {part: array})]; in the vector all matrices come before all biases. Returns (the
    other weights, these)."""
    args = dict(args)
    vector = take(args, name).ravel()
    rows = units * len(gates)
    # the length without the input matrices of the first layer
    known = ((layers - 1) * directions * rows * (directions * units)
             + layers * directions * rows * (units + 2))
    inputs, rest = divmod(vector.size - known, directions * rows)
    if rest or inputs <= 0:
        raise usage(f'"{name}" has {vector.size} numbers, which is no size of {layers} layers '
                    f'of {units} units')
    places = [(layer, direction) for layer in range(layers) for direction in range(directions)]
    parts, at = {place: {} for place in places}, 0
    for kinds, columns in ((("i2h_weight", "h2h_weight"), True), (("i2h_bias", "h2h_bias"), False)):
        for layer, direction in places:
            for kind in kinds:
                width = (1 if not columns else units if kind[0] == "h" else inputs if layer == 0
                         else directions * units)
                taken = vector[at : at + rows * width]
                parts[layer, direction][kind] = taken.reshape(rows, width) if columns else taken
                at += rows * width
    return args, parts
