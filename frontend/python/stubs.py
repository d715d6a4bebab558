"""stubs.py FOLDER: writes sym.pyi and nd.pyi, the functions of the ops with their arguments, and
keyword_types.pyi, the keywords of calls, beside the package's files in FOLDER. Reads the records
from the extension module in FOLDER."""

import keyword
import pathlib
import sys
import textwrap

KINDS = {"an integer": "int", "a number": "float", "a bool": "bool", "a string": "str",
         "a tuple of integers": "Sequence[int | None] | int"}

HEAD = '''# Made from the records of the ops.
from collections.abc import Sequence
from typing import Any

from .graph import Group as Group, Symbol as Symbol, Variable as Variable, dim as dim
from .kinds import DType, Path, Shape

var = Variable

def load(path: Path) -> Symbol: ...
def load_json(json_str: str) -> Symbol: ...
def LSTM(x: Symbol, num_hidden: int, num_layers: int = 1, bidirectional: bool = False,
         p: float = 0.0, h: Symbol | None = None, c: Symbol | None = None,
         length: Symbol | None = None, layout: str = "TNC", name: str | None = None,
         forget_bias: float | None = None) -> Symbol: ...
def GRU(x: Symbol, num_hidden: int, num_layers: int = 1, bidirectional: bool = False,
        p: float = 0.0, h: Symbol | None = None, length: Symbol | None = None, layout: str = "TNC",
        name: str | None = None) -> Symbol: ...
def RNNLayer(x: Symbol, num_hidden: int, num_layers: int = 1, activation: str = "tanh",
             bidirectional: bool = False, p: float = 0.0, h: Symbol | None = None,
             length: Symbol | None = None, layout: str = "TNC",
             name: str | None = None) -> Symbol: ...
def split_v2(ary: Symbol, indices_or_sections: int | Sequence[int], axis: int = 0,
             squeeze_axis: bool = False, name: str | None = None) -> Symbol: ...
'''

ARRAYS = '''# Made from the records of the ops.
from collections.abc import Sequence
from typing import Any

from . import random as random
from .kinds import DType, Path, Shape
from .ndarray import NDArray as NDArray, array as array

def zeros(shape: Shape, ctx: Any = None, dtype: DType = "float32") -> NDArray: ...
def ones(shape: Shape, ctx: Any = None, dtype: DType = "float32") -> NDArray: ...
def empty(shape: Shape, ctx: Any = None, dtype: DType = "float32") -> NDArray: ...
def full(shape: Shape, val: float, ctx: Any = None, dtype: DType = "float32") -> NDArray: ...
def arange(start: float, stop: float | None = None, step: float = 1.0, repeat: int = 1,
           ctx: Any = None, dtype: DType = "float32") -> NDArray: ...
def concatenate(arrays: Sequence[NDArray], axis: int = 0) -> NDArray: ...
def split_v2(ary: NDArray, indices_or_sections: int | Sequence[int], axis: int = 0,
             squeeze_axis: bool = False) -> Any: ...
def waitall() -> None: ...
def save(fname: Path, data: NDArray | Sequence[NDArray] | dict[str, NDArray]) -> None: ...
def load(fname: Path) -> Any: ...
'''


def stub(spelled, record, tensor, result, last):
    _, _, inputs, variadic, attributes, _ = record
    given = ([f"*args: {tensor}"] if variadic
             else [f"{name}: {tensor} | None = ..." for name, _ in inputs])
    for name, wanted, default, _ in attributes:
        if name.isidentifier() and not keyword.iskeyword(name):
            given.append(f"{name}: {KINDS.get(wanted, 'Any')}"
                         + (" = ..." if default is None else " | None = ..."))
    given += [last] if variadic else ["*", last]
    return f"def {spelled}({', '.join(given)}) -> {result}: ...\n"


def stubs(head, records, tensor, result, last):
    """The stubs of all ops and of the functions of two operands, after those in `head`."""
    from lstmc import arithmetic

    binary = [*arithmetic.TABLE, "pow"]
    lines = [f"def {name}(lhs: {tensor} | float, rhs: {tensor} | float, name: str | None = ...) -> "
             f"{tensor}: ...\n" for name in binary]
    lines += [stub(name, record, tensor, result, last) for record in records
              for name in (record[0], *record[1])
              if name not in binary and f"def {name}(" not in head]
    return head + "".join(lines)


KEYWORDS = '''# Made from the records of frontend/driver/request.def.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict
'''


def keyword_stubs():
    """A TypedDict for the keywords of each call."""
    from lstmc import keyword_types

    lines = [KEYWORDS]
    for name in keyword_types.OWN:
        lines.append(f"\nclass {name}(TypedDict, total=False):\n")
        for key, (kind, text) in keyword_types.described(name).items():
            shown = "\n    ".join(textwrap.wrap(text, 90))
            lines.append(f'    {key}: {kind} | None\n    """{shown}"""\n')
    return "".join(lines)


def main(folder):
    sys.path.insert(0, str(folder.parent))
    from lstmc import _core

    records = _core.operators()
    (folder / "sym.pyi").write_text(
        stubs(HEAD, records, "Symbol",
              "Symbol", "name: str | None = ..., attr: dict[str, str] | None = ..."))
    (folder / "nd.pyi").write_text(stubs(
        ARRAYS, records, "NDArray", "Any", "out: NDArray | None = ..., name: str | None = ..."))
    (folder / "keyword_types.pyi").write_text(keyword_stubs())


main(pathlib.Path(sys.argv[1]).resolve())
