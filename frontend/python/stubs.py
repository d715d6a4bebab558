"""stubs.py FOLDER: writes sym.pyi, the functions of the ops with their arguments, beside the package's files in FOLDER. The records are asked
from the extension that lies there."""

import keyword
import pathlib
import sys

KINDS = {"an integer": "int", "a number": "float", "a bool": "bool", "a string": "str", "a tuple of integers": "Sequence[int | None] | int"}

HEAD = '''# Made from the records of the ops.
from collections.abc import Sequence
from typing import Any

from .graph import Group as Group, Symbol as Symbol, Variable as Variable, dim as dim

var = Variable

def LSTM(x: Symbol, num_hidden: int, num_layers: int = 1, bidirectional: bool = False, p: float = 0.0, h: Symbol | None = None,
         c: Symbol | None = None, length: Symbol | None = None, layout: str = "TNC", name: str | None = None,
         forget_bias: float | None = None) -> Symbol: ...
def GRU(x: Symbol, num_hidden: int, num_layers: int = 1, bidirectional: bool = False, p: float = 0.0, h: Symbol | None = None,
        length: Symbol | None = None, layout: str = "TNC", name: str | None = None) -> Symbol: ...
def RNNLayer(x: Symbol, num_hidden: int, num_layers: int = 1, activation: str = "tanh", bidirectional: bool = False, p: float = 0.0,
             h: Symbol | None = None, length: Symbol | None = None, layout: str = "TNC", name: str | None = None) -> Symbol: ...
'''


def stub(spelled, record):
    _, _, inputs, variadic, attributes, _ = record
    given = ["*args: Symbol"] if variadic else [f"{name}: Symbol | None = ..." for name, _ in inputs] + ["*"]
    for name, wanted, default, _ in attributes:
        if name.isidentifier() and not keyword.iskeyword(name):
            given.append(f"{name}: {KINDS.get(wanted, 'Any')}" + ("" if default is None else " | None = ..."))
    return f"def {spelled}({', '.join(given + ['name: str | None = ...'])}) -> Symbol: ...\n"


def main(folder):
    sys.path.insert(0, str(folder.parent))
    from lstmc import _core

    lines = [stub(name, record) for record in _core.operators() for name in (record[0], *record[1])
             if name not in ("LSTM", "GRU", "RNNLayer")]
    (folder / "sym.pyi").write_text(HEAD + "".join(lines))


main(pathlib.Path(sys.argv[1]).resolve())
