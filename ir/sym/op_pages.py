#!/usr/bin/env python3
"""Writes the reference of the operators as users call them, from the op records and the formulas of
the gradients.

usage: op_pages.py RECORDS.json OUTPUT
RECORDS.json is what `llvm-tblgen --dump-json AllOps.td` prints.
"""
import pathlib
import re
import sys
import textwrap

from op_table import FILES, Records, position

GROUPS = {  # file of records -> title
          "SourceOps.td": "Made from nothing", "ElementwiseOps.td": "Element by element",
          "ScalarFormOps.td": "With a number", "ShapeOps.td": "Shapes", "IndexOps.td": "Indices",
          "ProductOps.td": "Products", "ReduceOps.td": "Reductions and normalisation",
          "SequenceOps.td": "Sequences", "RecurrentOps.td": "Recurrent layers",
          "LossOps.td": "Losses", "ComposedOps.td": "Written out by others",
          "ConvolutionOps.td": "Windows of images and sequences",
          "WrittenOps.td": "Statistics of the batch, alignments",
          "ImportedOps.td": "Of MXNet's images", "SortOps.td": "Sorting",
          "RandomOps.td": "Random numbers",
}
KINDS = {"Integer": "integer", "Float": "number", "Boolean": "bool", "String": "string",
         "Tuple": "tuple of integers",
         "Entries": "tuple of integers and None", "DType": "dtype"}
HEAD = """# Operators

Made from the records in `ir/sym` by the target `docs`. Names, inputs and attributes are MXNet's;
[mxnet](mxnet.md) lists where a meaning differs. Inputs come first, then attributes, by name or in
this order; all take `name=`. An input marked *parameter* that a call leaves out becomes a weight of
that name, one marked *label* an input of the network. `LSTM`, `GRU` and `RNNLayer` are functions of
the language: [language](language.md) §2.

Each example is the op in the intermediate language, as `lstmc inspect --emit sym` prints it. In
formulas of gradients x is the operand (a and b of two), y the result, dy the gradient of y, s the
number `scalar`; comparisons are 1 or 0.
"""


def spelled(op):
    """`GreaterEqual` is greater_equal."""
    return re.sub("(?<!^)(?=[A-Z])", "_", op).lower()


def readable(formula):
    """An expression of ir/sym/gradients without C++: `x.of<SqrtOp>()` is sqrt(x)."""
    text = re.sub(r"^\(\(void\)s, (.*)\)$", r"\1", formula.strip())
    text = text.replace("std::numbers::", "").replace("std::", "")
    before = None
    while before != text:
        before = text
        text = re.sub(r"(\((?:[^()]|\([^()]*\))*\))\.of<(\w+)Op>\(\)",
                      lambda m: spelled(m[2]) + m[1], text)
        text = re.sub(r"\b(\w+)\.of<(\w+)Op>\(\)", lambda m: f"{spelled(m[2])}({m[1]})", text)
        text = re.sub(r"(\w+)\.with(?:Scalar)?<(\w+)Op>\(([^()]*)\)",
                      lambda m: f"{spelled(m[2].removesuffix('Scalar'))}({m[1]}, {m[3]})", text)
    text = re.sub(r"\*(?=[\w(])", "* ", text)
    if re.search("[a-z][A-Z]", text):  # a function of C++
        return None
    return (None if "<" in re.sub(r" <=? ", "", text) or "[" in text
            or "." in re.sub(r"\d\.\d", "", text) else text)


def gradients(folder):
    """Gradient formulas by the class of the op, for those written in one line."""
    found = {}
    for file in ("Elementwise.cpp", "Binary.cpp"):
        text = re.sub(r",\n\s+", ", ", (folder / "gradients" / file).read_text())
        for op, formula in re.findall(r"^LSTMC_(?:SCALAR_)?GRADIENT\((\w+), (.*)\)$", text, re.M):
            if (formula := readable(formula)) is not None:
                found[op] = f"dx = {formula}"
        for same, stretched, both in re.findall(r"^LSTMC_BOTH\((\w+), (\w+), (.*)\)$", text, re.M):
            parts = re.split(r", (?![^(]*\))", both)
            if len(parts) == 2 and None not in (parts := [readable(part) for part in parts]):
                found[same] = found[stretched] = f"da = {parts[0]}, db = {parts[1]}"
    return found


def gradient_line(op, formulas):
    traits = [trait["def"] for trait in op["traits"]]
    name = op["!name"].removeprefix("Sym_")
    if "Sym_NoGradient" in traits:
        return "Gradient: none flows through it."
    if "Sym_Loss" in traits:
        return ("Gradient: the op is a head, its formula is above; what flows to it from above is "
                "ignored unless the text says otherwise.")
    if "Sym_Composed" in op["!superclasses"]:
        return "Gradient: that of the ops that it is written out as."
    if "Sym_Gradient" in traits:
        return (f"Gradient: `{formulas[name]}`" if name in formulas
                else "Gradient: to every input of a float type.")
    return "Gradient: none."


def signature(op, inputs, attributes):
    parts = []
    for name, (flags, attribute, _) in inputs:
        optional, parameter, label, variadic = flags
        parts.append("*data" if variadic else f"{name}=None"
                     if optional or parameter or label or attribute else name)
    for name, (kind, required, _, _, default) in attributes:
        if name != op["countAttribute"]:
            word = kind in ("String", "Choice", "DType") and default != "None"
            parts.append(name if required else f'{name}="{default}"' if word
                         else f"{name}={default}")
    return f"{op['mxnetName']}({', '.join(parts)})"


def argument_rows(op, inputs, attributes):
    for name, (flags, attribute, value) in inputs:
        optional, parameter, label, variadic = flags
        words = ["tensors" if variadic else "tensor"]
        words += (["*parameter*"] if parameter else ["*label*"] if label else ["may be left out"]
                  if optional else [])
        words += (
            [f"with `{attribute}={value.capitalize() if value in ('true', 'false') else value}`"]
            if attribute else [])
        yield "data" if variadic else name, ", ".join(words)
    others = {}
    for alias, attribute in (pair.split("=") for pair in op["attributeAliases"]):
        others.setdefault(attribute, []).append(f"`{alias}`")
    for name, (kind, required, nullable, choices, default) in attributes:
        words = ["one of " + ", ".join(f"`{c}`" for c in choices) if kind == "Choice"
                 else KINDS[kind]]
        words += ["required"] if required else [f"default `{default}`"]
        words += ["also called " + ", ".join(others[name])] if name in others else []
        yield name, ", ".join(words)


def section(records, op, formulas):
    inputs, attributes = records.arguments(
        op, lambda name, *rest: (name, records.input_facts(name, *rest)),
        lambda name, c: (name, records.attribute_facts(name, c)))
    text = (f"\n### {op['mxnetName']}\n\n```python\n{signature(op, inputs, attributes)}\n```\n\n"
            f"**{op['summary']}**.")
    if op["mxnetAliases"]:
        text += " Also called " + ", ".join(f"`{alias}`" for alias in op["mxnetAliases"]) + "."
    rows = "".join(f"| `{name}` | {meaning} |\n"
                   for name, meaning in argument_rows(op, inputs, attributes))
    text += f"\n\n| argument | is |\n| --- | --- |\n{rows}" if rows else "\n"
    body = textwrap.dedent(op["description"]).strip()
    # Markdown needs an empty line before a list.
    body = re.sub(r"(?m)^(?!  [*]|    )(.+)\n  [*] ", r"\1\n\n  * ", body)
    prose, mark, example = body.partition("```mlir")
    outputs = op["outputNames"]
    if len(outputs) > 1:
        prose += f"Outputs: {', '.join(f'`{name}`' for name in outputs)}.\n\n"
    if op["difference"]:
        prose = f"{prose.strip()}\n\n**Differs from MXNet:** {op['difference']}\n\n"
    return f"{text}\n{prose.strip()}\n\n{gradient_line(op, formulas)}\n\n{mark}{example}\n"


def main():
    records = Records(sys.argv[1])
    formulas = gradients(pathlib.Path(__file__).parent)
    text, group = HEAD, None
    for op in records.ops():
        if not op["mxnetName"]:
            continue
        file = FILES[position(op)[0]]
        if file != group:
            group = file
            text += f"\n## {GROUPS[file]}\n"
        text += section(records, op, formulas)
    pathlib.Path(sys.argv[2]).write_text(text)


if __name__ == "__main__":
    main()
