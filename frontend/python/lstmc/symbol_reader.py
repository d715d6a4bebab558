"""Symbols of MXNet's symbol.json, which frontend/importers/mxnet reads."""

import re
import warnings

from . import _core, graph
from .arguments import RECORDS
from .attribute import HIDDEN
from .error import of_file
from .init import FusedRNN
from .name import NameManager
from .values import tuple_of


def loads(text, path=None):
    """Parses a text of any version of MXNet from 0.7 on. Raises the errors of
    frontend/importers/mxnet; unknown ops and attributes are refused as in a call."""
    return _Reader(text, path).symbol()


class _Reader:
    def __init__(self, text, path):
        self._path = path
        text = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        nodes, self._heads, unknown = _core.read_symbol(text, str(path or ""))
        for field in unknown:
            warnings.warn(f'{path or "symbol.json"}: unknown field "{field}" is ignored',
                          stacklevel=4)
        self._ops = [(op, name) for op, name, _, _, _ in nodes]
        self._inputs = [inputs for _, _, inputs, _, _ in nodes]
        self._attributes = [dict(attributes) for _, _, _, attributes, _ in nodes]
        self._places = [place for _, _, _, _, place in nodes]
        self._symbols = {}
        self._multipliers = {}  # multipliers of variables that ops set, by the variable's number

    def symbol(self):
        for number, (op, _) in enumerate(self._ops):
            self._read_suffixes(op, number)
        with NameManager():  # names as written
            for head in self._heads:
                self._make(head[0])
            return graph.Group([self._output(head) for head in self._heads])

    def _output(self, entry):
        node, output = entry
        if output >= len(self._symbols[node]):
            op, name = self._ops[node]
            raise of_file("E0605", f'output {output} of {op} "{name}" is read, which has '
                                   f'{len(self._symbols[node])}', self._path, self._places[node])
        return self._symbols[node][output]

    def _make(self, head):
        """Makes a node after its inputs, which a file may list later; none depends on itself."""
        work = [(head, False)]
        while work:
            number, ready = work.pop()
            if number in self._symbols:
                continue
            if ready:
                self._symbols[number] = self._made(number)
            else:
                work += [(number, True),
                         *[(source, False) for source, _ in reversed(self._inputs[number])]]

    def _made(self, number):
        op, name = self._ops[number]
        own, hidden = self._split(number)
        marks = {f"__{key}__": text
                 for key, text in {**hidden, **self._multipliers.get(number, {})}.items()}
        if op == "null":
            variable = graph.Variable(name, attr=marks)
            [(node, _)] = variable._outputs
            if isinstance(node.options["init"], FusedRNN):
                warnings.warn(f'"{name}": first values that set the biases of forget gates apart '
                              '(FusedRNN) are not here; a file\'s weights are', stacklevel=2)
            node.place = self._places[number] or node.place
            return variable
        inputs = [self._whole(entry) if op == "_rnn_param_concat" else entry
                  for entry in self._inputs[number]]
        return graph.apply(op, [(None, self._output(entry)) for entry in inputs],
                           self._values(number, own), name, marks, self._places[number])

    def _whole(self, entry):
        """The matrix from which a file makes a vector: lstmc's `_rnn_param_concat` flattens by
        itself."""
        number = entry[0]
        if (self._ops[number][0] not in ("Reshape", "reshape")
            or self._attributes[number].keys() != {"shape"}):
            return entry
        source = self._inputs[number][0]
        axes = tuple_of(self._attributes[source[0]].get("__shape__", "()"))
        is_matrix = self._ops[source[0]][0] == "null" and len(axes) == 2
        return (source if is_matrix and tuple_of(self._attributes[number]["shape"]) == (-1,)
                else entry)

    def _values(self, number, attributes):
        op, name = self._ops[number]
        is_variadic = op in RECORDS and RECORDS[op][3]
        return {key: _core.read_attribute(op, name, key, text, self._places[number])
                for key, text in attributes.items() if not (is_variadic and key == "num_args")}

    def _split(self, number):
        """(attributes of the op, attributes of the node without underscores)"""
        own, hidden = {}, {}
        for key, text in self._attributes[number].items():
            bare = key[2:-2] if key.startswith("__") and key.endswith("__") else key
            if bare != key or key in HIDDEN:
                hidden[bare] = text
            elif not re.search("_(lr|wd)_mult$", key):
                own[key] = text
        return own, hidden

    def _read_suffixes(self, op, number):
        """Splits attributes such as `weight_lr_mult` of an op: `lr_mult` of its weight."""
        arguments = [name for name, _ in RECORDS[op][2]] if op in RECORDS else []
        for key, text in self._attributes[number].items():
            found = re.fullmatch("(.+)_(lr_mult|wd_mult)", key.strip("_"))
            if found and found[1] in arguments[: len(self._inputs[number])]:
                source = self._inputs[number][arguments.index(found[1])][0]
                self._multipliers.setdefault(source, {})[found[2]] = text
