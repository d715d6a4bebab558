"""MXNet's `mx.viz`: pictures and tables of symbols."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

from . import _core, drawing, graph
from .drawing import made_by
from .error import usage
from .nodes import is_input, reached
from .picture import Picture

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .graph import Symbol
    from .kinds import DType


def plot_network(symbol: Symbol, title: str = "plot", save_format: str = "pdf",
                 shape: Mapping[str, Sequence[int]] | None = None,
                 dtype: Mapping[str, DType] | None = None,
                 node_attrs: Mapping[str, str] | None = None, hide_weights: bool = True) -> Plot:
    """A Plot of the symbol, which notebooks show and `render()` writes. `shape` are the shapes of
    inputs by name; with them, edges show shapes. Boxes are layers, with repetitions folded into one
    box: `Network.plot(unfold=("layer", "time"))` unfolds them."""
    if node_attrs or not hide_weights:
        raise usage("plot_network draws boxes in one style and no weights: node_attrs and "
                    "hide_weights=False are not there")

    def draw(form):
        drawn = (drawing.draw(symbol, title, shape, dtype) if shape
                 else drawing.draw_for_names(symbol))
        return _core.plot_drawing(drawn, form, bool(shape), False, False, False)

    return Plot(draw, title, save_format)


class Plot:
    """A picture by Graphviz; `source` is its text. Immutable: threads may share it."""

    def __init__(self, draw: Callable[[str], bytes], name: str, form: str) -> None:
        self._draw = draw
        self.source = draw("dot").decode()
        self.name = name
        self.format = form

    def _repr_svg_(self):
        return self._draw("svg").decode()

    def picture(self, format: str | None = None) -> Picture:
        """The Picture in a format: "svg", "png", "pdf" or "dot"."""
        form = format or self.format
        return Picture(self._draw(form), form)

    def save(self, filename: str | None = None, directory: str | None = None) -> str:
        """Writes the text to a file, and returns its path."""
        path = self._path(filename, directory)
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.source)
        return path

    def render(self, filename: str | None = None, directory: str | None = None, view: bool = False,
               cleanup: bool = False, format: str | None = None) -> str:
        """Writes FILENAME.pdf or another format, and the text beside it unless `cleanup`; returns
        the picture's path."""
        if view:
            self.view()
        picture = self.picture(format)
        path = f"{self._path(filename, directory)}.{picture.format}"
        picture.save(path)
        if not cleanup:
            self.save(filename, directory)
        return path

    def view(self) -> None:
        """Refused: lstmc starts no viewer."""
        raise usage(
            "view: open the file whose path render() returns, or show the Plot in a notebook")

    def _path(self, filename, directory):
        return os.path.join(directory or "", filename or f"{self.name}.gv")


_PLACES = (0.44, 0.64, 0.74, 1.0)


def print_summary(symbol: Symbol, shape: Mapping[str, Sequence[int]] | None = None,
                  line_length: int = 120, positions: Sequence[float] = _PLACES) -> None:
    """Prints a table of the nodes: name and op, shape without the batch, numbers of parameters,
    inputs. Parameters, including those of recurrent layers, count at their first reader, so the sum
    is the number of trained parameters."""
    columns = ([int(line_length * place) for place in positions] if positions[-1] <= 1
               else list(positions))
    print("_" * line_length)
    _print_row(["Layer (type)", "Output Shape", "Param #", "Previous Layer"], columns)
    print("=" * line_length)
    total = 0
    for node, output, count, read in _rows(symbol, shape or {}):
        _print_row(
            [f"{node.name}({node.op or 'null'})", output, str(count), read[0] if read else ""],
            columns)
        for name in read[1:]:
            _print_row(["", "", "", name], columns)
        print("_" * line_length)
        total += count
    print(f"Total params: {total}")
    print("_" * line_length)


def _print_row(fields, columns):
    line = ""
    for field, column in zip(fields, columns):
        line = (line + field)[: column - 1].ljust(column)
    print(line.rstrip())


def _rows(symbol, shapes):
    """[(node, shape, parameters, names of its inputs)] of all ops and of the inputs."""
    sizes, counted, rows = _sizes(symbol, shapes), set(), []
    made = {}
    for name, (node, _, _) in made_by(symbol._outputs).items():
        made.setdefault(node, []).append(name)
    nodes = reached(symbol._outputs)
    outputs = (
        graph.Group([graph.Symbol([(node, 0)]) for node in nodes]).infer_shape_partial(**shapes)[1])
    for node, output in zip(nodes, outputs):
        if node.name in sizes:
            continue
        read = [source._outputs[0][0].name for _, source in node.inputs if source is not None]
        own = sizes.keys() & {*made.get(node, ()), *read} - counted
        counted |= own
        rows.append((node, "x".join(map(str, output[1:])), sum(sizes[name] for name in own),
                     [name for name in read if name not in sizes]))
    return rows


def _sizes(symbol, shapes):
    """Numbers of elements of the parameters by name; 0 if shapes are unknown."""
    arguments = zip(symbol.list_arguments(), symbol.infer_shape_partial(**shapes)[0])
    return {name: math.prod(shape) if shape else 0 for name, shape in arguments
            if name not in shapes and not is_input(name)}
