#!/usr/bin/env python3
"""Writes OpTable.inc and FileRecords.inc, the rows of ir/sym/OpTable.h and FileRecord.h, from the
op records.

usage: op_table.py RECORDS.json OP_TABLE FILE_RECORDS
RECORDS.json is what `llvm-tblgen --dump-json AllOps.td` prints.
"""
import json
import sys

FILES = ["SourceOps.td", "ElementwiseOps.td", "ScalarFormOps.td", "ShapeOps.td", "IndexOps.td",
         "ProductOps.td", "ReduceOps.td", "SequenceOps.td", "RecurrentOps.td", "LossOps.td",
         "ComposedOps.td", "ConvolutionOps.td", "WrittenOps.td", "ImportedOps.td", "SortOps.td",
         "RandomOps.td"]

KINDS = {  # storage of the base attribute -> AttributeKind
         "I64Attr": "Integer", "F64Attr": "Float", "BoolAttr": "Boolean", "StrAttr": "String",
         "Sym_DType": "DType", "Sym_Tuple": "Tuple", "Sym_Entries": "Entries",
}


def quote(text):
    return json.dumps(text)  # JSON and C++ escape the characters of the records alike


def position(record):
    file, line = record["!locs"][0].rsplit("/", 1)[-1].split(":")
    return FILES.index(file), int(line)


def strings(items):
    return "{" + ", ".join(quote(item) for item in items) + "}"


class Records:
    def __init__(self, path):
        with open(path) as file:
            self.all = json.load(file)

    def of(self, reference):
        return self.all[reference["def"]]

    def ops(self):
        found = [self.all[name] for name in self.all["!instanceof"]["Sym_Op"]]
        return sorted(found, key=position)

    def attribute_facts(self, name, constraint):
        """Kind, required, nullable, choices, and the default in the notation of MXNet's
        documents."""
        classes = constraint["!superclasses"]
        nullable = "OptionalAttr" in classes
        has_default = "DefaultValuedAttr" in classes
        base = constraint
        while base["!name"] not in KINDS and base.get("baseAttr"):
            base = self.of(base["baseAttr"])
        choices = base.get("choices", [])
        kind = (KINDS.get(base["!name"])
                or ("Choice" if "Sym_Choice" in base["!superclasses"] else None))
        if kind is None:
            raise SystemExit(f"attribute {name}: no kind for {base['!name']}")
        if kind == "DType":
            choices = []
        default = "None" if nullable else ""
        if has_default:
            default = {"true": "True", "false": "False", "{}": "()"}.get(
                constraint["defaultValue"], constraint["defaultValue"].strip('"'))
        return kind, not nullable and not has_default, nullable, choices, default

    def attribute(self, name, constraint):
        kind, required, nullable, choices, default = self.attribute_facts(name, constraint)
        return (f"{{{quote(name)}, AttributeKind::{kind}, {str(required).lower()}, "
                f"{str(nullable).lower()}, {strings(choices)}, {quote(default)}}}")

    def input_facts(self, name, constraint, conditions):
        """Flags (optional, parameter, label, variadic), and the attribute and value of the input's
        condition."""
        classes = constraint["!superclasses"]
        base = (self.of(constraint["baseType"]) if "Optional" in classes or "Variadic" in classes
                else constraint)
        optional = "Optional" in classes
        if name in conditions:  # the input is required if the condition holds
            optional = False
        attribute, _, value = conditions.get(name, conditions.get(name + "?", "")).partition("=")
        flags = [  # optional, parameter, label, variadic
                 optional, base["!name"] == "Sym_Parameter", base["!name"] == "Sym_Label",
                 "Variadic" in classes]
        return flags, attribute, value

    def input(self, name, constraint, conditions):
        flags, attribute, value = self.input_facts(name, constraint, conditions)
        return (f"{{{quote(name)}, {', '.join(str(flag).lower() for flag in flags)}, "
                f"{quote(attribute)}, {quote(value)}}}")

    def arguments(self, op, input, attribute):
        """The op's inputs and attributes, each converted by `input` or `attribute`."""
        conditions = dict(part.split(": ") for part in op["inputConditions"])
        inputs, attributes = [], []
        for reference, name in op["arguments"]["args"]:
            constraint = self.of(reference)
            if "AttrConstraint" in constraint["!superclasses"]:
                if not op["mxnetName"]:
                    continue  # users have other ways to set these
                attributes.append(attribute(name, constraint))
            else:
                inputs.append(input(name, constraint, conditions))
        return inputs, attributes

    def row(self, op):
        inputs, attributes = self.arguments(op, self.input, self.attribute)
        results = [name for _, name in op["results"]["args"]]
        aliases = [tuple(pair.split("=")) for pair in op["attributeAliases"]]
        return ("{" + ",\n   ".join(
            [quote("sym." + op["opName"]), quote(op["mxnetName"]), strings(op["mxnetAliases"]),
             "{" + ", ".join(inputs) + "}", "{" + ",\n    ".join(attributes) + "}",
             "{" + ", ".join(f"{{{quote(a)}, {quote(b)}}}" for a, b in aliases) + "}",
             strings(op["outputNames"]), strings(results), str(op["visibleOutputs"]),
             quote(op["countAttribute"]), quote(op["summary"])])
                + "},")

    def file_row(self, op):
        """None for an op that MXNet's files have as its record says."""
        name, outputs = op["fileName"], op["fileOutputs"]
        required, lists = op["fileRequires"], (op["fileAttributes"], op["fileAliasOutputs"])
        if not (name or outputs or required or any(lists)):
            return None
        pairs = ["{" + ", ".join("{%s, %s}" % tuple(map(quote, pair.split("="))) for pair in each)
                 + "}" for each in lists]
        missing = name == "-"
        return (f"{{{quote(op['mxnetName'])}, {quote('' if missing else name)}, "
                f"{str(missing).lower()}, {outputs}, {strings(required)}, {', '.join(pairs)}}},")


def write(path, rows):
    with open(path, "w") as out:
        out.write("// Made by ir/sym/op_table.py.\n")
        out.writelines(row + "\n" for row in rows if row)


def main():
    records = Records(sys.argv[1])
    write(sys.argv[2], map(records.row, records.ops()))
    write(sys.argv[3], map(records.file_row, records.ops()))


if __name__ == "__main__":
    main()
