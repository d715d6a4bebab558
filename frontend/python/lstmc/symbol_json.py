"""MXNet's symbol.json: the format's facts are in docs/mxnet.md §12."""

import json
import re
import warnings

from . import graph
from .attribute import HIDDEN
from .error import of_file
from .init import FusedRNN
from .listing import RECORDS, made_by, text_of_init
from .name import NameManager

_VERSION = 10901  # the version of MXNet whose format is written


# Writing.

# Attributes that have a default here and are required in MXNet.
_REQUIRED = {"RNN": ("num_layers", "mode"), "slice_axis": ("end",)}
# Ops and attributes that MXNet 1.9.1 has under other names.
_OPS = {"arange_like": "_contrib_arange_like", "einsum": "_npi_einsum"}
_ATTRIBUTES = {"random_normal": {"mean": "loc"}}
# Hidden outputs of ops, which node_row_ptr counts.
_OUTPUTS = {"BatchNorm": 3, "CTCLoss": 2, "Dropout": 2, "LayerNorm": 3, "L2Normalization": 2}
# Ops that MXNet 1.9.1 composes of others: (op, attributes, inputs); an input is "x" or the number
# of an earlier step.
_SOFTRELU = ("Activation", {"act_type": "softrelu"})
_MINUS = ("_mul_scalar", {"scalar": "-1.0"})
_FORMULAS = {
    "softplus": [(*_SOFTRELU, ["x"])],
    "log_sigmoid": [(*_MINUS, ["x"]), (*_SOFTRELU, [0]), (*_MINUS, [1])],
    "silu": [("sigmoid", {}, ["x"]), ("elemwise_mul", {}, ["x", 0])],
    "mish": [(*_SOFTRELU, ["x"]), ("tanh", {}, [0]), ("elemwise_mul", {}, ["x", 1])],
    "gelu": [("LeakyReLU", {"act_type": "gelu"}, ["x"])],
}
_UNKNOWN = ("digamma",)


def dumps(symbol, vectors=None):
    """The text of a symbol in MXNet's layout. `vectors` are the layers whose parameters are one
    Variable, as in MXNet's FusedRNNCell: {name of the layer: (name of the Variable, its
    __init__)}."""
    return _text(_Writer(symbol, vectors or {}).document(), 0)


class _Writer:
    def __init__(self, symbol, vectors):
        self._vectors, self._vector_numbers = {f"{layer}_parameters": described
                                               for layer, described in vectors.items()}, {}
        drawing = graph.draw_for_names(symbol)
        self._inputs, self._nodes, self._outputs = drawing.nodes()
        self._declared = graph.variables(symbol)
        self._marks = {name: node.attributes
                       for name, (node, _, _) in made_by(symbol._outputs).items()}
        self._marks.update((node.name, node.attributes) for node in graph.reached(symbol._outputs))
        self._packed = self._packed_shapes()
        self._written, self._number, self._counts = [], {}, []

    def _packed_shapes(self):
        """{a layer's parameter: its shape}: MXNet infers the widths of the first layer only."""
        shapes = {source[:2]: self._nodes[source[1]]["shape"] for node in self._nodes
                  if node["op"] == "_rnn_param_concat"
                  for _, source in node["inputs"] if not source[0]}
        for node in self._nodes:
            source = dict(node["inputs"]).get("parameters") if node["op"] == "RNN" else None
            if source is None or source[0] or self._nodes[source[1]]["op"] != "_rnn_param_concat":
                continue
            attributes = dict(node["attributes"])
            layers, directions = attributes.get("num_layers",
                                                1), 2 if attributes.get("bidirectional") else 1
            width = attributes.get("projection_size") or attributes["state_size"]
            parts = self._nodes[source[1]]["inputs"]
            each = len(parts) // (layers * directions) - 2  # matrices per layer
            for _, part in parts[each * directions : each * layers * directions : each]:
                shape = shapes.get(part[:2])
                if shape and len(shape) == 2:
                    shapes[part[:2]] = (shape[0], directions * width)
        return shapes

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
        """Adds nodes depth first, inputs from left to right, each once."""
        work = [(head, False)]
        while work:
            edge, done = work.pop()
            key = edge[:2]
            if key in self._number:
                continue
            node = None if key[0] else self._nodes[key[1]]
            inputs = ([] if node is None or node["name"] in self._vectors
                      else [source for _, source in node["inputs"]])
            if not done:
                work += [(edge, True), *[(source, False) for source in reversed(inputs)]]
            else:
                self._number[key] = (self._emit(self._variable(self._inputs[key[1]][0], {}))
                                     if node is None else self._node(node, key))

    def _emit(self, written, outputs=1):
        """Writes a node and returns its number."""
        self._written.append(written)
        self._counts.append(_OUTPUTS.get(written["op"], outputs))
        return len(self._written) - 1

    def _node(self, node, key):
        """Writes the nodes that express this node, and returns the number of the last."""
        if node["name"] in self._vectors:
            name, init = self._vectors[node["name"]]
            if name not in self._vector_numbers:  # one, shared by all layers that read it
                self._vector_numbers[name] = self._emit({"op": "null", "name": name,
                                                         "attrs": {"__init__": init}, "inputs": []})
            return self._vector_numbers[name]
        if node["kind"] == "variable":
            return self._emit(self._variable(node["name"], node, self._packed.get(key)))
        if node["kind"] == "state":  # zeros, for a batch of unknown size
            return self._emit(_zeros(node["name"], node["shape"], node["dtype"]))
        op, attributes = node["op"], {name: str(value) for name, value in node["attributes"]}
        formula = _FORMULAS.get(attributes.get("act_type") if op == "Activation" else op)
        if formula:
            return self._formula(node, formula)
        if op in _UNKNOWN:
            warnings.warn(f'"{node["name"]}": MXNet 1.9.1 has no {op}, so it does not load this '
                          'network; lstmc does', stacklevel=2)
        record = RECORDS[op]
        defaults = {name: default for name, _, default, _ in record[4]}
        attributes = {**{name: defaults[name] for name in _REQUIRED.get(op, ())}, **attributes}
        inputs = (self._rnn_inputs(node, attributes) if op == "RNN"
                  else self._plain_inputs(node, record))
        if record[3]:
            attributes["num_args"] = str(len(inputs))
        attributes = {_ATTRIBUTES.get(op, {}).get(name, name): value
                      for name, value in attributes.items()}
        return self._emit(self._with({**node, "op": _OPS.get(op, op)}, attributes, inputs),
                          node["outputs"])

    def _plain_inputs(self, node, record):
        given = [name for name, _ in node["inputs"]]
        if not record[3] and given != [name for name, _ in record[2]][: len(given)]:
            raise of_file("E0613", f'{node["op"]} "{node["name"]}" leaves out an input before one '
                                   'that it has: symbol.json cannot say it')
        flat = self._flat if node["op"] == "_rnn_param_concat" else self._entry
        return [flat(source) for _, source in node["inputs"]]

    def _rnn_inputs(self, node, attributes):
        """The inputs of MXNet's RNN, which requires initial states."""
        given = {name: self._entry(source) for name, source in node["inputs"]}
        rows = int(attributes["num_layers"]) * (2
                                                if attributes.get("bidirectional") == "True" else 1)
        dtype = self._dtype(dict(node["inputs"])["parameters"])
        for number, (state, width) in enumerate(
                (("state", attributes.get("projection_size", attributes["state_size"])),
                 ("state_cell", attributes["state_size"]))):
            if state not in given and (state == "state" or attributes["mode"] == "lstm"):
                zeros = _zeros(f'{node["name"]}_begin_state_{number}', (rows, 0, int(width)), dtype)
                given[state] = [self._emit(zeros), 0, 0]
        return [given[name] for name, _ in RECORDS["RNN"][2] if name in given]

    def _dtype(self, edge):
        """The type of a layer's parameters: that of the first one that is concatenated."""
        while not edge[0] and self._nodes[edge[1]]["inputs"]:
            edge = self._nodes[edge[1]]["inputs"][0][1]
        return self._inputs[edge[1]][1] if edge[0] else self._nodes[edge[1]]["dtype"]

    def _flat(self, source):
        """Flattens a parameter for concatenation, as MXNet requires."""
        node = {"name": self._inputs[source[1]][0]} if source[0] else self._nodes[source[1]]
        if (len(node.get("shape") or ()) == 1
            or (node.get("op") == "Reshape" and dict(node["attributes"]).get("shape") == (-1,))):
            return self._entry(source)
        flat = {"op": "Reshape", "name": f'{node["name"]}_flat', "attrs": {"shape": "(-1,)"},
                "inputs": [self._entry(source)]}
        return [self._emit(flat), 0, 0]

    def _formula(self, node, steps):
        """Expresses an op that MXNet lacks by others."""
        [(_, source)] = node["inputs"]
        entries = {"x": self._entry(source)}
        for number, (op, attributes, inputs) in enumerate(steps):
            last = number == len(steps) - 1
            step = {**node, "op": op, "name": node["name"] if last else f'{node["name"]}_{number}'}
            entries[number] = [
                self._emit(self._with(step, attributes, [entries[each] for each in inputs])), 0, 0]
        return entries[len(steps) - 1][0]

    def _variable(self, name, node, packed=None):
        declared = self._declared[name].options if name in self._declared else {}
        attributes = {}
        if (shape := packed or declared.get("shape")) is not None:
            shape = shape if isinstance(shape, (tuple, list)) else (shape,)
            attributes["__shape__"] = str(tuple(max(int(extent or 0), 0) for extent in shape))
        if declared.get("dtype") is not None:
            attributes["__dtype__"] = graph.code_of_dtype(graph.plain(declared["dtype"]))
        for key in ("lr_mult", "wd_mult"):
            if node.get(key) is not None:
                attributes[f"__{key}__"] = str(node[key])
        if declared.get("layout"):
            attributes["__layout__"] = declared["layout"]
        if isinstance(declared.get("init"), FusedRNN):
            attributes["__init__"] = declared["init"].dumps()
        elif init := _init_for(name, node.get("init")):
            attributes["__init__"] = text_of_init(init)
        return self._with({**node, "op": "null", "name": name}, attributes, [])

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


def _init_for(name, spec):
    """The initialiser for a parameter of this name, chosen from one with patterns of names; MXNet
    cannot store such an initialiser in a Variable."""
    while spec and spec[2]:
        spec = next((inner for pattern, inner in zip(spec[2], spec[3]) if re.match(pattern, name)),
                    None)
    return spec


def _zeros(name, shape, dtype):
    """Zeros; MXNet infers an unknown extent that is written as 0."""
    attributes = {"shape": str(tuple(max(extent, 0) for extent in shape))}
    return {"op": "_zeros", "name": name,
            "attrs": attributes if dtype == "float32" else {"dtype": dtype, **attributes},
            "inputs": []}


def _quoted(text):
    for character, escape in (("\\", "\\\\"), ('"', '\\"'), ("\r", "\\r"), ("\n", "\\n"),
                              ("\t", "\\t")):
        text = text.replace(character, escape)
    return f'"{text}"'


def _text(value, depth):
    """JSON with one line per item for long lists and dicts."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int):
        return str(value)
    long = (len(value) > (1 if isinstance(value, dict) else 10)
            or (isinstance(value, list) and value and isinstance(value[0], dict)))
    items = ([f"{_quoted(key)}: {_text(item, depth + 1)}" for key, item in value.items()]
             if isinstance(value, dict) else [_text(item, depth + 1) for item in value])
    begin, end = "{}" if isinstance(value, dict) else "[]"
    if not long:
        return begin + ", ".join(items) + end
    indent = "  " * depth
    return begin + ", ".join(f"\n{indent}  {item}" for item in items) + f"\n{indent}{end}"


# Reading.

def loads(text, path=None):
    """Parses a text of any version of MXNet from 0.7 on. Raises E0603 for other text, E0605 for
    inconsistent fields; unknown ops and attributes are refused as in a call."""
    return _Reader(text, path).symbol()


_KINDS = {dict: "an object", list: "a list", str: "a string", int: "an integer"}


class _Reader:
    def __init__(self, text, path):
        self._path = path
        document = self._is(dict, self._parsed(text), "the text")
        nodes = [self._is(dict, node, f"nodes[{i}]")
                 for i, node in enumerate(self._field(list, document, "nodes"))]
        self._ops = [(self._field(str, node, "op", f"nodes[{i}]."),
                      self._field(str, node, "name", f"nodes[{i}]."))
                     for i, node in enumerate(nodes)]
        self._inputs = [
            [self._edge(edge, f"nodes[{i}].inputs[{j}]")
             for j, edge in enumerate(self._field(list, node, "inputs", f"nodes[{i}]."))]
            for i, node in enumerate(nodes)]
        self._heads = [self._edge(edge, f"heads[{i}]")
                       for i, edge in enumerate(self._field(list, document, "heads"))]
        self._attributes = [self._attributes_of(node, f"nodes[{i}].")
                            for i, node in enumerate(nodes)]
        self._nodes = nodes
        self._symbols = {}
        self._multipliers = {}  # multipliers of variables that ops set, by the variable's number

    def _parsed(self, text):
        try:
            return json.loads(text)
        except RecursionError:
            raise self._refusal("it is nested too deeply") from None
        except ValueError as problem:
            raise self._refusal(problem) from None

    def _refusal(self, problem):
        return of_file("E0603", f"this is no symbol.json: {problem}", self._path)

    def _is(self, kind, value, where):
        """Checks the type of a value."""
        if not isinstance(value, kind) or isinstance(value, bool):
            shown = (json.dumps(value)
                     if value is None or isinstance(value, (bool, int, float, str))
                     else _KINDS[type(value)])
            raise self._refusal(f"{where} is {shown if len(shown) < 60 else shown[:60] + '..'}, "
                                f"want {_KINDS[kind]}")
        if kind is str:
            try:
                value.encode()
            except UnicodeEncodeError:
                raise self._refusal(f"{where} is no text of Unicode") from None
        return value

    def _field(self, kind, owner, key, prefix=""):
        if key not in owner:
            raise self._refusal(f"there is no {prefix}{key}")
        return self._is(kind, owner[key], prefix + key)

    def _edge(self, value, where):
        """(node, output); files may append a version."""
        if len(self._is(list, value, where)) < 2:
            raise self._refusal(f"{where} has {len(value)} numbers, want a node and an output")
        return tuple(self._is(int, number, f"{where}[{i}]") for i, number in enumerate(value[:2]))

    def _attributes_of(self, node, prefix):
        """A node's attributes, which have different names in the versions of MXNet."""
        found = {}
        for key in ("param", "attr", "attrs"):
            for name, text in self._is(dict, node.get(key) or {}, prefix + key).items():
                found[self._is(str, name, prefix + key)] = self._is(str, text,
                                                                    f"{prefix}{key}.{name}")
        return found

    def symbol(self):
        for number, (op, _) in enumerate(self._ops):
            self._read_suffixes(op, number)
        with NameManager():  # names as written
            for head in self._heads:
                self._make(head[0])
            return graph.Group([self._output(head) for head in self._heads])

    def _output(self, entry):
        node, output = entry
        if not 0 <= output < len(self._symbols[node]):
            raise of_file("E0605", f'output {output} of "{self._ops[node][1]}" is read, which has '
                                   f'{len(self._symbols[node])}', self._path)
        return self._symbols[node][output]

    def _make(self, head):
        """Makes a node after its inputs, which a file may list later."""
        work, open_nodes = [(head, False)], set()
        while work:
            number, ready = work.pop()
            if not 0 <= number < len(self._nodes):
                raise of_file("E0605", f"node {number} is read, there are {len(self._nodes)}",
                              self._path)
            if ready:
                open_nodes.discard(number)
                self._symbols[number] = self._made(number)
            elif number not in self._symbols:
                if number in open_nodes:
                    raise of_file("E0605", f'"{self._ops[number][1]}" depends on itself',
                                  self._path)
                open_nodes.add(number)
                work += [(number, True),
                         *[(source, False) for source, _ in reversed(self._inputs[number])]]

    def _made(self, number):
        if number in self._symbols:
            return self._symbols[number]
        op, name = self._ops[number]
        own, hidden = self._split(number)
        marks = {f"__{key}__": text
                 for key, text in {**hidden, **self._multipliers.get(number, {})}.items()}
        if op == "null":
            variable = graph.Variable(name, attr=marks)
            if isinstance(graph.variables(variable)[name].options["init"], FusedRNN):
                warnings.warn(f'"{name}": first values that set the biases of forget gates apart '
                              '(FusedRNN) are not here; a file\'s weights are', stacklevel=2)
            return variable
        inputs = [self._whole(entry) if op == "_rnn_param_concat" else entry
                  for entry in self._inputs[number]]
        return graph.apply(op, [(None, self._output(entry)) for entry in inputs],
                           self._values(op, own), name, marks)

    def _whole(self, entry):
        """The matrix from which a file makes a vector: lstmc's `_rnn_param_concat` flattens by
        itself."""
        number = entry[0]
        if (self._ops[number][0] not in ("Reshape", "reshape")
            or self._attributes[number].keys() != {"shape"}):
            return entry
        source = self._inputs[number][0]
        axes = graph.tuple_of(self._attributes[source[0]].get("__shape__", "()"))
        is_matrix = self._ops[source[0]][0] == "null" and len(axes) == 2
        return (source if is_matrix and graph.tuple_of(self._attributes[number]["shape"]) == (-1,)
                else entry)

    def _values(self, op, attributes):
        record = RECORDS.get(op)
        if record is None:  # apply raises the error
            return attributes
        return {key: _value(record, key, text, self._path) for key, text in attributes.items()
                if not (record[3] and key == "num_args")}

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


def _value(record, key, text, path):
    """Parses an attribute's text as the kind of value in the op's record."""
    wanted = {name: kind for attribute, kind, _, others in record[4]
              for name in (attribute, *others)}.get(key)
    try:
        if text == "None":
            return None
        if wanted == "a bool":
            return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
        if wanted == "an integer":
            return graph.int64_of(int(text))
        if wanted == "a number":
            return (int(text) if text.lstrip("+-").isdecimal() and abs(int(text)) < 2 ** 63
                    else float(text))
        if wanted == "a tuple of integers":
            return graph.tuple_of(text)
    except graph.UNREADABLE:
        shown = text if len(text) < 60 else text[:60] + ".."
        raise of_file("E0605", f'{record[0]}: {key} is {wanted}, found "{shown}"', path) from None
    return text
