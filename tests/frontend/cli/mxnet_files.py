"""Writes MXNet's files of arrays with the standard library alone."""
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
