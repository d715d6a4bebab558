"""MXNet's files, written with the standard library alone: arrays, a small network, and hostile
files of both kinds."""
import copy
import json
import struct

VERSIONS = {"V0": None, "V1": 0xF993FAC8, "V2": 0xF993FAC9, "V3": 0xF993FACA}


def array(version, shape, elements, flag=0, form="f"):
    """One array of the list; flag 0 is float32."""
    if version == "V0":
        head = struct.pack(f"<I{len(shape)}I", len(shape), *shape)
    else:
        head = struct.pack("<I", VERSIONS[version])
        head += struct.pack("<i", 0) if version in ("V2", "V3") else b""
        head += struct.pack(f"<i{len(shape)}q", len(shape), *shape)
    return head + struct.pack(f"<iii{len(elements)}{form}", 1, 0, flag, *elements)


def params(arrays):
    """The bytes of a file with the arrays {name: bytes of array()}."""
    names = b"".join(struct.pack("<Q", len(name.encode())) + name.encode() for name in arrays)
    return (struct.pack("<QQQ", 0x112, 0, len(arrays)) + b"".join(arrays.values())
            + struct.pack("<Q", len(arrays)) + names)


def node(op, name, inputs=(), **attrs):
    return {"op": op, "name": name, **({"attrs": attrs} if attrs else {}),
            "inputs": [[source, 0, 0] for source in inputs]}


# A recurrent layer over data [T, N, 2] and a dense layer at each step.
NODES = [node("null", "data", __layout__="TNC"), node("null", "lstm_parameters"),
         node("_zeros", "h", shape="(1, 0, 3)", __layout__="LNC"),
         node("_zeros", "c", shape="(1, 0, 3)", __layout__="LNC"),
         node("RNN", "lstm", [0, 1, 2, 3], mode="lstm", num_layers="1", state_size="3"),
         node("null", "fc_weight"), node("null", "fc_bias"),
         node("FullyConnected", "fc", [4, 5, 6], num_hidden="4", flatten="False"),
         node("null", "softmax_label"),
         node("SoftmaxOutput", "softmax", [7, 8], preserve_shape="True", normalization="valid")]
SMALL = {"nodes": NODES, "arg_nodes": [0, 1, 5, 6, 8],
         "node_row_ptr": list(range(len(NODES) + 1)), "heads": [[9, 0, 0]],
         "attrs": {"mxnet_version": ["int", 10901]}}


def changed(change):
    document = copy.deepcopy(SMALL)
    change(document)
    return document


def hostile_symbols():
    """[(text of a symbol.json, code, pattern of the message)]: each is refused as it is read."""
    text = json.dumps(SMALL)
    nodes = lambda number, **fields: changed(lambda d: d["nodes"][number].update(fields))
    edge = lambda node, to: changed(lambda d: d["nodes"][node]["inputs"][0].__setitem__(0, to))
    attribute = lambda node, **texts: changed(lambda d: d["nodes"][node]["attrs"].update(texts))
    rows = [
        (changed(lambda d: d.update(heads=3)), "E0603", "heads is 3, want a list"),
        (changed(lambda d: d.update(heads=[])), "E0605", "heads: found none"),
        (changed(lambda d: d.update(heads=[[9, -1, 0]])), "E0605", r"heads\[0\]\[1\] is -1"),
        (changed(lambda d: d.update(heads=[[9, 1, 0]])), "E0605", "output 1 of SoftmaxOutput"),
        (changed(lambda d: d.update(heads=[[10, 0, 0]])), "E0605", "there are 10 nodes"),
        (changed(lambda d: d.update(heads=[[9]])), "E0603", "has 1 numbers"),
        (changed(lambda d: d.pop("nodes")), "E0603", "there is no nodes"),
        (nodes(4, op=[]), "E0603", r"nodes\[4\]\.op is a list"),
        (nodes(4, op=None), "E0603", r"nodes\[4\]\.op is null"),
        (nodes(4, name=7), "E0603", r"nodes\[4\]\.name is 7"),
        (nodes(4, name="a\0b"), "E0604", "NUL"),
        (nodes(4, name="n" * 5000), "E0606", "limit name"),
        (nodes(5, inputs=[[0, 0, 0]]), "E0605", "a variable with 1 inputs"),
        (edge(4, 0.7), "E0603", r"is 0\.7, want an integer"),
        (edge(4, True), "E0603", "is true"),
        (edge(4, 99), "E0605", "is node 99, there are 10 nodes"),
        (edge(4, 7), "E0605", "depends on itself"),
        (edge(7, 7), "E0605", "depends on itself"),
        (changed(lambda d: d["node_row_ptr"].__setitem__(3, 1)), "E0605",
         r"node_row_ptr\[3\] is 1, want at least 2"),
        (changed(lambda d: d["node_row_ptr"].pop()), "E0605", "node_row_ptr has 10 numbers"),
        (changed(lambda d: d["arg_nodes"].append(4)), "E0605", "want a variable"),
        (changed(lambda d: d["arg_nodes"].append(44)), "E0605", "there are 10 nodes"),
        (nodes(6, name="fc_weight"), "E0612", 'found variable "fc_weight"'),
        (nodes(7, param={"num_hidden": "5"}), "E0605", 'num_hidden is "5" and "4"'),
        (attribute(7, num_hidden="ten"), "E0605",
         'FullyConnected "fc": num_hidden is an integer, found "ten"'),
        (attribute(7, num_hidden="9" * 30), "E0605", "num_hidden is an integer"),
        (attribute(2, shape="(1,2"), "E0605", 'shape is a tuple of integers, found'),
        (attribute(4, p="1e400"), "E0605", 'p is a number, found "1e400"'),
        (text.replace('"heads"', '"nodes": [], "heads"'), "E0612", "found the key twice"),
        (text.replace('"name": "fc"', '"name": "fc", "name": "fc"'), "E0612",
         "found the key twice"),
        (text.replace("[9, 0, 0]", "[" + "9" * 30 + ", 0, 0]"), "E0603", r"heads\[0\]\[0\] is 999"),
        ("[" * 100000, "E0603", "no symbol.json"), ('{"a": ' * 100000, "E0606", "limit depth"),
        ('{"nodes": [' * 50000, "E0606", "limit depth"),
        (text[:-1], "E0603", "no symbol.json"), ("{}", "E0603", "there is no nodes"),
        (text + "x", "E0603", "no symbol.json")]
    return [(row[0] if isinstance(row[0], str) else json.dumps(row[0], indent=2), *row[1:])
            for row in rows]


def hostile_params():
    """[(bytes of a .params, code, pattern of the message)]"""
    one = array("V2", (2, 3), [1.0] * 6)
    whole = params({"arg:w": one})
    head = lambda count: struct.pack("<QQQ", 0x112, 0, count)
    v2 = struct.pack("<Ii", VERSIONS["V2"], 0)
    names = lambda *all_names: struct.pack("<Q", len(all_names)) + b"".join(
        struct.pack("<Q", len(name)) + name for name in all_names)
    return [
        (struct.pack("<QQQ", 0x113, 0, 0) + names(), "E0603", ""),
        (head(1 << 60) + one, "E0602", "count of arrays"),
        (params({"w": one, "x": one})[:-9 - 8], "E0602", "names: found 1 bytes"),
        (head(1) + one + names(b"a", b"b"), "E0605", "count of names: found 2, want 0 or 1"),
        (head(2) + one + one + names(b"w", b"arg:w"), "E0612", "names array 0 too"),
        (head(1) + one + names(b"arg:"), "E0604", "want a name"),
        (head(1) + one + names(b"\xff"), "E0604", "want UTF-8"),
        (head(1) + v2 + struct.pack("<i", -1), "E0604", "axes: found -1"),
        (head(1) + v2 + struct.pack("<i", 2**31 - 1), "E0606", "limit rank"),
        (head(1) + v2 + struct.pack("<iqiii", 1, -3, 1, 0, 0), "E0604", "extent: found -3"),
        (head(1) + v2 + struct.pack("<iqqqiii", 3, 2**40, 2**40, 2**40, 1, 0, 0), "E0602",
         "more than 2.63"),
        (head(1) + struct.pack("<Ii", VERSIONS["V2"], 7), "E0604", "storage type: found 7"),
        (head(1) + struct.pack("<Ii", VERSIONS["V2"], 1), "E0613", "row_sparse"),
        (head(1) + array("V2", (1,), [1.0], flag=99), "E0604", "element type: found 99"),
        (head(1) + array("V2", (1,), [1.0], flag=9), "E0613", "uint16"),
        (head(1) + struct.pack("<I", 0xF993FACC), "E0604", "version"),
        (whole + b"x", "E0605", "found 1 bytes after the last name"), (whole[:40], "E0602", "")]


def legal_params():
    """A file with arrays of every age, on a device that is not there: {name: numbers}"""
    arrays = {f"arg:{version}": array(version, (1, 2), [1.0, 2.0]) for version in VERSIONS}
    file = bytearray(params(arrays))
    at = file.index(struct.pack("<iii", 1, 0, 0), 24)  # after the counts
    file[at : at + 8] = struct.pack("<ii", 2, 9999)
    return bytes(file), {version: [[1, 2]] for version in VERSIONS}
