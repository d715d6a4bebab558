#!/usr/bin/env python3
"""Prints ops.hpp, a function per op with its options as a struct, from the op records.

usage: write_ops.py RECORDS.json HEADER
RECORDS.json is what `llvm-tblgen --dump-json AllOps.td` prints.
"""
import pathlib
import re
import sys
import textwrap

from op_table import Records

# Not useful in C++: the device of arrays, and the number of values that a function returns.
LEFT_OUT = {"ctx", "output_mean_var"}
TYPES = {"Integer": "std::int64_t", "Float": "double", "Boolean": "bool", "String": "std::string",
         "DType": "DType"}

HEAD = """// Made by frontend/library/write_ops.py from the op records. Included by net.hpp.
//
// A function per op. Inputs that an op cannot do without are arguments, all else is a field of its
// options, in the order of the struct: attributes, further inputs, the name. A field that is left
// out has the op's default; a weight or a bias becomes a parameter NAME_weight, a label an input.
#ifndef LSTMC_OPS_HPP
#define LSTMC_OPS_HPP

#include <lstmc/net.hpp>

namespace lstmc {
inline namespace LSTMC_ABI {
namespace build {
"""


def public(op):
    """The user-visible name: without the leading underscore of MXNet's internal names."""
    names = [op["mxnetName"], *op["mxnetAliases"]]
    name = next((name for name in names if not name.startswith("_")), names[0].lstrip("_"))
    words = [word for word in name.split("_") if word]
    first = re.sub("^([A-Z0-9]+)(?=[A-Z][a-z])|^([A-Z]+[0-9]*)$|^([A-Z])", lambda m: m[0].lower(),
                   words[0])
    return first + "".join(word[0].upper() + word[1:] for word in words[1:])


class Builder:
    def __init__(self, records, op):
        self.op, self.name = op, public(op)
        inputs, attributes = records.arguments(
            op, lambda name, *rest: (name, records.input_facts(name, *rest)),
            lambda name, c: (name, records.attribute_facts(name, c)))
        self.attributes = [(name, facts) for name, facts in attributes if name not in LEFT_OUT]
        self.variadic = [name for name, (flags, _, _) in inputs if flags[3]]
        self.given = [name for name, (flags, attribute, _) in inputs
                      if not any(flags) and not attribute]
        self.others = [(name, flags, attribute, value) for name, (flags, attribute, value) in inputs
                       if not flags[3] and (any(flags) or attribute)]
        self.label = [name for name, flags, _, _ in self.others if flags[2]]
        self.plain = not self.attributes and not self.others
        self.options = "Named" if self.plain else self.name[0].upper() + self.name[1:] + "Options"
        self.many = any(trait["def"] == "Sym_ResultCount" for trait in op["traits"])

    def field(self, name, facts):
        kind, required, _, choices, default = facts
        note = (f" ///< default {default.lower() if kind == 'Boolean' else default}"
                if default not in ("", "()", "None") else "")
        if kind == "Choice":
            words = ", ".join(f'"{choice}"' for choice in choices)
            return (f"  RequiredChoice<{words}> {name};" if required
                    else f"  Choice<{words}> {name} = {{}};{note}")
        if kind in ("Tuple", "Entries"):
            return (f"  {'Integers' if kind == 'Tuple' else 'Entries'} {name} = {{}};"
                    + (" ///< needed" if required else note))
        return (f"  Required<{TYPES[kind]}> {name};" if required
                else f"  std::optional<{TYPES[kind]}> {name} = {{}};{note}")

    def struct(self):
        if self.plain:
            return ""
        lines = [self.field(name, facts) for name, facts in self.attributes]
        for name, _, attribute, value in self.others:
            note = f" ///< where {attribute} is {value}" if attribute else ""
            lines.append(f"  Value {name} = {{}};{note}")
        return (f"\nstruct {self.options} {{\n" + "\n".join(lines)
                + "\n  std::string name = {};\n};\n")

    def documentation(self):
        text = textwrap.dedent(self.op["description"]).partition("```mlir")[0].strip()
        text = f"{self.op['summary']}.\n{text}" + (f"\nDiffers from MXNet: {self.op['difference']}"
                                                   if self.op["difference"] else "")
        return "".join(f"/// {line}".rstrip() + "\n" for line in text.replace("`", "").split("\n"))

    def parameters(self, defaults, label):
        parts = (["const Values &values"] if self.variadic
                 else [f"const Value &{name}" for name in self.given])
        parts = parts or ["const Net &net"]
        parts += [f"const Value &{name}" for name in self.label] if label else []
        needed = any(facts[1] for _, facts in self.attributes
                     if facts[0] not in ("Tuple", "Entries"))
        options = f"const {self.options} &options"
        parts.append(options + (" = {}" if defaults and not needed else ""))
        parts.append("Place place" + (" = Place::current()" if defaults else ""))
        return ", ".join(parts)

    def result(self):
        return "Values" if self.many else "Value"

    def call(self):
        calls = ([".inputs(values)"] if self.variadic
                 else [f'.input("{name}", {name})' for name in self.given] or [".in(net)"])
        calls += [f'.attribute("{name}", options.{name})' for name, _ in self.attributes]
        calls += [f'.input("{name}", options.{name})' for name, _, _, _ in self.others]
        calls.append(".all()" if self.many else ".one()")
        return "\n      ".join([f'OpCall("{self.op["mxnetName"]}", options.name, place)', *calls])

    def functions(self):
        lines = self.struct() + ("\n" if self.plain else "") + self.documentation()
        lines += (f"inline {self.result()} {self.name}({self.parameters(True, False)}) {{\n  "
                  f"return {self.call()};\n}}\n")
        if self.label:
            lines += (f"inline {self.result()} {self.name}({self.parameters(True, True)}) {{\n  "
                      f"{self.options} with = options;\n"
                      + "".join(f"  with.{name} = {name};\n" for name in self.label)
                      + f"  return {self.name}({', '.join([*self.given, 'with', 'place'])});\n}}\n")
        return lines


def main():
    records = Records(sys.argv[1])
    builders = [Builder(records, op) for op in records.ops() if op["mxnetName"]]
    end = """
} // namespace build
} // namespace LSTMC_ABI
} // namespace lstmc

#endif
"""
    pathlib.Path(sys.argv[2]).write_text(
        HEAD + "".join(builder.functions() for builder in builders) + end)


if __name__ == "__main__":
    main()
