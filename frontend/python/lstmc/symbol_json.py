"""MXNet's symbol.json: the format's facts are in docs/mxnet.md §12."""

import json
import re

from . import graph
from .attribute import HIDDEN
from .error import of_file
from .listing import RECORDS, made_by, text_of_init
from .name import NameManager

_VERSION = 10901  # that of the MXNet whose format is written


# Writing.


def dumps(symbol):
    """The text of a symbol, as MXNet lays it out."""
    writer = _Writer(symbol)
    return _text(writer.document(), 0)


class _Writer:
    def __init__(self, symbol):
        drawing = graph.draw_for_names(symbol)
        self._inputs, self._nodes, self._outputs = drawing.nodes()
        self._declared = graph.variables(symbol)
        self._marks = {name: node.attributes for name, (node, _, _) in made_by(symbol._outputs).items()}
        self._marks.update((node.name, node.attributes) for node in graph.reached(symbol._outputs))
        # MXNet infers no shapes through it.
        self._packed = {source[:2] for node in self._nodes if node["op"] == "_rnn_param_concat" for _, source in node["inputs"]}
        self._written, self._number, self._counts = [], {}, []

    def document(self):
        for edge in self._outputs:
            self._add(edge)
        entries = [0]
        for count in self._counts:
            entries.append(entries[-1] + count)
        return {"nodes": self._written,
                "arg_nodes": [i for i, node in enumerate(self._written) if node["op"] == "null"],
                "node_row_ptr": entries,
                "heads": [self._entry(edge) for edge in self._outputs],
                "attrs": {"mxnet_version": ["int", _VERSION]}}

    def _entry(self, edge):
        return [self._number[edge[:2]], edge[2], 0]

    def _add(self, head):
        """Depth first, inputs from left to right, each node once."""
        work = [(head, False)]
        while work:
            edge, done = work.pop()
            key = edge[:2]
            if key in self._number:
                continue
            inputs = [] if key[0] else [source for _, source in self._nodes[key[1]]["inputs"]]
            if not done:
                work += [(edge, True), *[(source, False) for source in reversed(inputs)]]
                continue
            self._number[key] = len(self._written)
            written, count = self._variable(self._inputs[key[1]][0], {}) if key[0] else self._node(self._nodes[key[1]], key)
            self._written.append(written)
            self._counts.append(count)

    def _node(self, node, key):
        if node["kind"] == "variable":
            return self._variable(node["name"], node, node["shape"] if key in self._packed else None)
        if node["kind"] == "state":  # zeros of a batch that is not known
            shape = tuple(max(extent, 0) for extent in node["shape"])
            return {"op": "_zeros", "name": node["name"], "attrs": {"shape": str(shape)}, "inputs": []}, 1
        record = RECORDS[node["op"]]
        given = [name for name, _ in node["inputs"]]
        if not record[3] and given != [name for name, _ in record[2]][: len(given)]:
            raise of_file("E0613", f'{node["op"]} "{node["name"]}" leaves out an input before one that it has: symbol.json cannot say it')
        attributes = {name: str(value) for name, value in node["attributes"]}
        if record[3]:
            attributes["num_args"] = str(len(given))
        return self._with(node, attributes, [self._entry(source) for _, source in node["inputs"]]), node["outputs"]

    def _variable(self, name, node, shape=None):
        declared = self._declared[name].options if name in self._declared else {}
        attributes = {}
        shape = declared.get("shape") or shape
        if shape is not None:
            attributes["__shape__"] = str(tuple(max(int(extent or 0), 0) for extent in shape))
        if declared.get("dtype") is not None:
            attributes["__dtype__"] = str(graph.DTYPES.index(graph.plain(declared["dtype"])))
        for key in ("lr_mult", "wd_mult"):
            if node.get(key) is not None:
                attributes[f"__{key}__"] = str(node[key])
        if declared.get("layout"):
            attributes["__layout__"] = declared["layout"]
        if node.get("init") is not None:
            attributes["__init__"] = text_of_init(node["init"])
        return self._with({**node, "op": "null", "name": name}, attributes, []), 1

    def _with(self, node, attributes, inputs):
        attributes = {**self._marks.get(node["name"], {}), **attributes}
        if node.get("group"):
            attributes["__ctx_group__"] = node["group"]
        if node.get("recompute"):
            attributes["__force_mirroring__"] = "True"
        written = {"op": node["op"], "name": node["name"]}
        if attributes:
            written["attrs"] = dict(sorted(attributes.items()))
        return {**written, "inputs": inputs}


def _quoted(text):
    for character, escape in (("\\", "\\\\"), ('"', '\\"'), ("\r", "\\r"), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(character, escape)
    return f'"{text}"'


def _text(value, depth):
    """Long lists and dicts have a line per item."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int):
        return str(value)
    long = len(value) > (1 if isinstance(value, dict) else 10) or (isinstance(value, list) and value and isinstance(value[0], dict))
    items = [f"{_quoted(key)}: {_text(item, depth + 1)}" for key, item in value.items()] if isinstance(value, dict) else [
        _text(item, depth + 1) for item in value]
    begin, end = "{}" if isinstance(value, dict) else "[]"
    if not long:
        return begin + ", ".join(items) + end
    indent = "  " * depth
    return begin + ", ".join(f"\n{indent}  {item}" for item in items) + f"\n{indent}{end}"


# Reading.

def loads(text, path=None):
    """The symbol of a text, of any version of MXNet from 0.7 on. E0603 for what is no such text, E0605 where its fields disagree; ops
    and attributes that lstmc does not have are refused as in a call."""
    return _Reader(text, path).symbol()


class _Reader:
    def __init__(self, text, path):
        self._path = path
        try:
            document = json.loads(text)
            self._nodes = document["nodes"]
            self._heads = document["heads"]
            self._attributes = [{**node.get("param", {}), **node.get("attr", {}), **node.get("attrs", {})} for node in self._nodes]
            self._inputs = [[(int(entry[0]), int(entry[1])) for entry in node["inputs"]] for node in self._nodes]
            self._ops = [(node["op"], node["name"]) for node in self._nodes]
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as problem:
            raise of_file("E0603", f"this is no symbol.json: {problem}", path) from None
        self._symbols = {}
        self._multipliers = {}  # of variables, by number: what ops say of them

    def symbol(self):
        for number, (op, _) in enumerate(self._ops):
            self._read_suffixes(op, number)
        with NameManager():  # names are as they stand
            for head in self._heads:
                self._make(head[0])
            return graph.Group([self._output(tuple(head[:2])) for head in self._heads])

    def _output(self, entry):
        node, output = entry
        if output >= len(self._symbols[node]):
            raise of_file("E0605", f'output {output} of "{self._ops[node][1]}" is read, which has {len(self._symbols[node])}', self._path)
        return self._symbols[node][output]

    def _make(self, head):
        """Inputs first; a file may name them later than their reader."""
        work, open_nodes = [(head, False)], set()
        while work:
            number, ready = work.pop()
            if not 0 <= number < len(self._nodes):
                raise of_file("E0605", f"node {number} is read, there are {len(self._nodes)}", self._path)
            if ready:
                open_nodes.discard(number)
                self._symbols[number] = self._made(number)
            elif number not in self._symbols:
                if number in open_nodes:
                    raise of_file("E0605", f'"{self._ops[number][1]}" depends on itself', self._path)
                open_nodes.add(number)
                work += [(number, True), *[(source, False) for source, _ in reversed(self._inputs[number])]]

    def _made(self, number):
        if number in self._symbols:
            return self._symbols[number]
        op, name = self._ops[number]
        own, hidden = self._split(number)
        marks = {f"__{key}__": text for key, text in {**hidden, **self._multipliers.get(number, {})}.items()}
        if op == "null":
            return graph.Variable(name, attr=marks)
        return graph.apply(op, [(None, self._output(entry)) for entry in self._inputs[number]], self._values(op, own), name, marks)

    @staticmethod
    def _values(op, attributes):
        record = RECORDS.get(op)
        if record is None:  # apply says so
            return attributes
        return {key: _value(record, key, text) for key, text in attributes.items() if not (record[3] and key == "num_args")}

    def _split(self, number):
        """(the op's own attributes, those of the graph without their underscores)"""
        own, hidden = {}, {}
        for key, text in self._attributes[number].items():
            bare = key[2:-2] if key.startswith("__") and key.endswith("__") else key
            if bare != key or key in HIDDEN:
                hidden[bare] = text
            elif not re.search("_(lr|wd)_mult$", key):
                own[key] = text
        return own, hidden

    def _read_suffixes(self, op, number):
        """`weight_lr_mult` of an op is `lr_mult` of its weight."""
        arguments = [name for name, _ in RECORDS[op][2]] if op in RECORDS else []
        for key, text in self._attributes[number].items():
            found = re.fullmatch("(.+)_(lr_mult|wd_mult)", key.strip("_"))
            if found and found[1] in arguments[: len(self._inputs[number])]:
                source = self._inputs[number][arguments.index(found[1])][0]
                self._multipliers.setdefault(source, {})[found[2]] = text


def _value(record, key, text):
    """An attribute's text as the kind of value that the record wants."""
    wanted = {name: kind for attribute, kind, _, others in record[4] for name in (attribute, *others)}.get(key)
    try:
        if text == "None":
            return None
        if wanted == "a bool":
            return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
        if wanted == "an integer":
            return int(text)
        if wanted == "a number":
            return int(text) if text.lstrip("+-").isdecimal() and abs(int(text)) < 2 ** 63 else float(text)
        if wanted == "a tuple of integers":
            return graph.tuple_of(text)
    except (ValueError, SyntaxError, KeyError):
        raise of_file("E0605", f'{record[0]}: {key} is {wanted}, found "{text}"') from None
    return text
