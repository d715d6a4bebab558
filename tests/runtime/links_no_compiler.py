"""Reads the dynamic section of every program and shared library of a build folder: none needs LLVM
or MLIR."""

import os
import re
import struct
import sys

LOAD, DYNAMIC = 1, 2
NEEDED, STRTAB = 1, 5


def needed(path):
    """Names of the libraries that a 64-bit little-endian ELF file requests from the loader; None
    for another file."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", data, 16)[0] not in (2, 3):
        return None
    offset, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    segments = [struct.unpack_from("<IIQQQQ", data, offset + i * size) for i in range(count)]

    def place(address):
        for kind, _, begin, virtual, _, bytes_ in segments:
            if kind == LOAD and virtual <= address < virtual + bytes_:
                return begin + address - virtual
        raise ValueError(f"{path}: address {address:#x} is in no segment")

    entries = []
    for kind, _, begin, _, _, bytes_ in segments:
        if kind == DYNAMIC:
            entries += struct.iter_unpack("<qQ", data[begin : begin + bytes_ // 16 * 16])
    strings = next((place(value) for tag, value in entries if tag == STRTAB), 0)
    names = [strings + value for tag, value in entries if tag == NEEDED]
    return [data[at : data.index(b"\0", at)].decode() for at in names]


def main(folder):
    programs = 0
    for root, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "CMakeFiles"]
        for name in files:
            path = os.path.join(root, name)
            if os.path.islink(path) or (libraries := needed(path)) is None:
                continue
            programs += 1
            print(os.path.relpath(path, folder), *libraries)
            if any(re.search("llvm|mlir", library, re.IGNORECASE) for library in libraries):
                sys.exit(f"{path} needs the compiler")
    if not programs:
        sys.exit(f"{folder}: found no program")


main(sys.argv[1])
