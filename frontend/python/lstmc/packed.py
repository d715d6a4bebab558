"""Packed sequences of PyTorch during export. torch.export cannot follow them, because the extents
of packed data depend on the lengths. Here they remain padded, and a recurrent module reads them
through a custom operator that has their lengths."""

import contextlib
import sys
import types

# the operator library; PyTorch keeps its operators as long as this reference exists
_OPERATORS = []


class _Packed:
    """The result of pack_padded_sequence during export: padded sequences and their lengths."""

    def __init__(self, data, lengths, batch_first):
        self.data, self.lengths, self.batch_first = data, lengths, batch_first


def _define(torch):
    """Defines the custom operators. `lstmc::with_lengths`: the first argument, of which a recurrent
    module reads as many steps as the lengths have; `lstmc::padded`: steps after each length become
    a number; `lstmc::filled_up`: the first argument, of which PyTorch has as many steps as the
    longest sequence."""
    if _OPERATORS:
        return
    library = torch.library.Library("lstmc", "DEF")
    library.define("with_lengths(Tensor data, Tensor lengths) -> Tensor")
    library.define("padded(Tensor data, Tensor lengths, int axis, float value) -> Tensor")
    library.define("filled_up(Tensor data, Tensor lengths, int axis) -> Tensor")
    for name in ("with_lengths", "padded", "filled_up"):
        library.impl(name, lambda data, *_: torch.empty_like(data), "CompositeExplicitAutograd")
    _OPERATORS.append(library)


@contextlib.contextmanager
def filled_up(torch, module):
    """A context in which the functions of torch.nn.utils.rnn pad instead of pack, under every name
    by which the module's classes call them."""
    _define(torch)
    functions, ops = torch.nn.utils.rnn, torch.ops.lstmc

    def pack(input, lengths, batch_first=False, enforce_sorted=True):
        return _Packed(input, torch.as_tensor(lengths), batch_first)

    def pad(sequence, batch_first=False, padding_value=0.0, total_length=None):
        data = (sequence.data if batch_first == sequence.batch_first
                else sequence.data.transpose(0, 1))
        steps = data.shape[1 if batch_first else 0]
        if total_length not in (None, steps):
            raise ValueError(f"total_length is {total_length}, the sequences have {steps} steps")
        if padding_value:
            data = ops.padded(data, sequence.lengths, 1 if batch_first else 0, float(padding_value))
        if total_length is None:
            data = ops.filled_up(data, sequence.lengths, 1 if batch_first else 0)
        return data, sequence.lengths

    def reading(forward):
        def call(self, input, hx=None):
            if not isinstance(input, _Packed):
                return forward(self, input, hx)
            data = (input.data if input.batch_first == self.batch_first
                    else input.data.transpose(0, 1))
            output, states = forward(self, ops.with_lengths(data, input.lengths), hx)
            return _Packed(output, input.lengths, self.batch_first), states

        return call

    instead = {functions.pack_padded_sequence: pack, functions.pad_packed_sequence: pad}
    changes = [(each, "forward", reading(each.forward))
               for each in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN)]
    places = {
        id(functions): functions,
        **{id(m): m
           for m in (sys.modules.get(type(each).__module__) for each in module.modules()) if m}}
    changes += [(place, name, instead[value]) for place in places.values()
                for name, value in vars(place).copy().items()
                if isinstance(value, types.FunctionType) and value in instead]
    before = [(place, name, getattr(place, name)) for place, name, _ in changes]
    for place, name, value in changes:
        setattr(place, name, value)
    try:
        yield
    finally:
        for place, name, value in before:
            setattr(place, name, value)
