"""Changes fields of packages and updates the digest, for tests of files with a valid digest.

    package_file.py FILE...     updates the digest of packages, for the ABI of this source tree

Fields are located by executor/abi/Package.fbs, and the ABI's number comes from
executor/abi/Version.h, so this file need not change with them.
"""
import ctypes
import ctypes.util
import hashlib
import json
import os
import pathlib
import re
import struct
import sys

SOURCE = pathlib.Path(os.environ.get("LSTMC_SOURCE", pathlib.Path(__file__).resolve().parents[3]))
FORMATS = {"ubyte": "<B", "bool": "<?", "ushort": "<H", "uint": "<I", "int": "<i", "long": "<q",
           "ulong": "<Q", "double": "<d"}


def tables():
    """{table: [(field, type)]}, in the order of the schema; an enumeration is a ubyte."""
    text = re.sub(r"//.*", "", (SOURCE / "executor/abi/Package.fbs").read_text())
    enums = re.findall(r"enum (\w+)", text)
    found = {}
    for name, body in re.findall(r"table (\w+) \{([^}]*)\}", text):
        fields = re.findall(r"(\w+)\s*:\s*(\[?\w+\]?)", body)
        found[name] = [(field, "ubyte" if kind in enums else kind) for field, kind in fields]
    return found


def abi():
    return int(
        re.search(r"kPackageAbi = (\d+)", (SOURCE / "executor/abi/Version.h").read_text())[1])


def kernel(name):
    """The number of a kernel."""
    text = (SOURCE / "executor/abi/Kernels.def").read_text()
    return re.findall(r'^LSTMC_(?:KERNEL|TRANSFER)\(\w+, "(\w+)"', text, re.M).index(name)


def operand(name, of):
    """The position of an operand in the record of a kernel."""
    text = (SOURCE / "executor/abi/Kernels.def").read_text()
    operands = re.search(rf'"{of}",\s*((?:[A-Z_]+\(\w+(?:, \w+)?\)\s*)+),', text)[1]
    return re.findall(r"\((\w+)", operands).index(name)


def xxh3(data):
    library = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
    library.XXH3_64bits.restype = ctypes.c_uint64
    library.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    return library.XXH3_64bits(bytes(data), len(data))


class PackageFile:
    """The bytes of a package. Paths are those of messages: ("buffers", 3, "bytes")."""

    def __init__(self, contents):
        self.bytes = bytearray(contents)
        self.tables = tables()

    def number(self, form, at):
        return struct.unpack_from(form, self.bytes, at)[0]

    def field(self, table, at, name):
        """Type and position of a field; the position is None if the file leaves the field out."""
        index = [field for field, _ in self.tables[table]].index(name)
        vtable = at - self.number("<i", at)
        size, slot = self.number("<H", vtable), 4 + 2 * index
        offset = self.number("<H", vtable + slot) if slot < size else 0
        return self.tables[table][index][1], at + offset if offset else None

    def find(self, *path):
        """Type and position of the value at a path; for a list, of its length."""
        kind, at = "Package", self.number("<I", 0)
        for step in path:
            if isinstance(step, int):
                kind = kind[1:-1]
                at += 4 + step * (4 if kind in self.tables or kind == "string"
                                  else struct.calcsize(FORMATS[kind]))
                if kind in self.tables or kind == "string":
                    at += self.number("<I", at)
                continue
            kind, at = self.field(kind, at, step)
            if at is None:
                return kind, None
            if kind not in FORMATS:
                at += self.number("<I", at)
        return kind, at

    def get(self, *path):
        """A number; for a list its length; None if the file leaves the field out."""
        kind, at = self.find(*path)
        return None if at is None else self.number(FORMATS.get(kind, "<I"), at)

    def text(self, *path):
        _, at = self.find(*path)
        return "" if at is None else self.bytes[at + 4:at + 4 + self.number("<I", at)].decode()

    def set(self, *path_and_value):
        """Overwrites a number, or reduces the length of a list."""
        *path, value = path_and_value
        kind, at = self.find(*path)
        assert at is not None, f"{path} stands nowhere in the file"
        struct.pack_into(FORMATS.get(kind, "<I"), self.bytes, at, value)

    def set_text(self, *path_and_text):
        """Overwrites the beginning of a text."""
        *path, text = path_and_text
        _, at = self.find(*path)
        assert len(text) <= self.number("<I", at)
        self.bytes[at + 4:at + 4 + len(text)] = text

    def entry(self, name):
        return next(i for i in range(self.get("entries") or 0)
                    if self.text("entries", i, "name") == name)

    def launches(self, entry, name):
        """Paths of the launches of a kernel in an entry."""
        programs = ("entries", self.entry(entry), "programs")
        for p in range(self.get(*programs)):
            launches = (*programs, p, "launches")
            for i in range(self.get(*launches)):
                if (self.get(*launches, i, "kernel") or 0) == kernel(name):
                    yield (*launches, i)

    def sealed(self):
        """The bytes with this tree's ABI, the number of bytes and the digest."""
        self.set("abi", abi())
        self.set("bytes", len(self.bytes))
        _, at = self.find("digest")
        parts = struct.pack("<QQ", xxh3(self.bytes[:at]), xxh3(self.bytes[at + 8:]))
        self.set("digest", xxh3(parts))
        return bytes(self.bytes)


def seal_checkpoint(folder):
    """Writes state.json for the files in the folder, whatever they contain."""
    path = folder / "state.json"
    state = json.loads(path.read_text())
    del state["manifest_sha256"]
    files = {}
    for row in state["files"]:
        files[row["name"]] = (folder / row["name"]).read_bytes()
        row["bytes"], row["sha256"] = (len(files[row["name"]]),
                                       hashlib.sha256(files[row["name"]]).hexdigest())
    for row in state["tensors"]:
        data = files[row["file"]]
        length = struct.unpack_from("<Q", data)[0]
        begin, end = json.loads(data[8:8 + length])[row["name"]]["data_offsets"]
        row["hash"] = "%016x" % xxh3(data[8 + length + begin:8 + length + end])
    text = json.dumps(state, indent=1)
    digest = hashlib.sha256(text.encode()).hexdigest()
    path.write_text(text[:-2] + f',\n "manifest_sha256": "{digest}"\n}}\n')


if __name__ == "__main__":
    for name in sys.argv[1:]:
        file = pathlib.Path(name)
        file.write_bytes(PackageFile(file.read_bytes()).sealed())
