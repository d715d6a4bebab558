#!/usr/bin/env python3
"""Checks every op's record with its own example. usage: examples.py OPT RECORDS.json

Each example is wrapped into a function of its operands. It must parse and verify, and be unchanged
after it is printed, in either form, and parsed again. With unknown result types, infer-shapes must
find them; with one element too many in the first result, the op must refuse it with a message that
names the op.
"""
import json
import re
import subprocess
import sys

OPEN = "tensor<*x!sym.open>"


def split_types(text):
    """"a<b, c>, d" -> ["a<b, c>", "d"]"""
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        depth += letter in "<([{"
        depth -= letter in ">)]}"
        if letter == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [part for part in parts + [text[start:].strip()] if part]


def longer(type_):
    """tensor<2x3xf32> -> tensor<2x4xf32>"""
    return re.sub(r"(\d+)(x[a-z]\w*>)$", lambda m: str(int(m[1]) + 1) + m[2], type_)


def function(name, example, opened, wrong=None):
    """A function around the example; `wrong` is the expected message for a first result that is too
    long."""
    example = " ".join(example.split())
    head, _, types = example.rpartition(" : ")
    results, _, call = head.partition(" = ")
    inputs, arrow, outputs = types.partition(" -> ")
    if not arrow:
        inputs, outputs = "()", types
    inputs = split_types(inputs.strip()[1:-1])
    outputs = split_types(outputs.strip()[1:-1] if outputs.strip().startswith("(") else outputs)
    operands = re.findall(r"%\w+", re.sub(r"\{.*\}", "", call))
    if len(operands) != len(inputs):
        raise SystemExit(f"{name}: {len(operands)} operands, {len(inputs)} types")
    if wrong:
        outputs[0] = longer(outputs[0])
        results = "// expected-error-re @below {{{{^%s: }}}}\n  %s" % (wrong, results)
    shown = ", ".join(OPEN if opened else output for output in outputs)
    closing = f"({', '.join(inputs)}) -> ({shown})" if arrow else shown
    arguments = ", ".join(f"{operand}: {type_}"
                          for operand, type_ in dict(zip(operands, inputs)).items())
    return (f"func.func @{name}({arguments}) -> ({shown}) {{\n  {results} = {call} : {closing}\n"
            f"  return {results.splitlines()[-1].strip()} : {shown}\n}}\n"), outputs


def run(opt, arguments, text):
    done = subprocess.run([opt, *arguments, "-"], input=text, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def main():
    opt, records = sys.argv[1:]
    with open(records) as file:
        records = json.load(file)
    closed, opened, refused, wanted = "", "", [], {}
    for key in records["!instanceof"]["Sym_Op"]:
        record = records[key]
        name = record["opName"]
        blocks = re.findall(r"```mlir\n(.*?)```", record["description"], re.S)
        if len(blocks) != 1:
            raise SystemExit(f"{name}: {len(blocks)} examples, want 1")
        if f"sym.{name} " not in blocks[0]:
            raise SystemExit(f"{name}: the example is of another op")
        text, wanted[name] = function(name, blocks[0], False)
        closed += text
        if record["mxnetName"]:
            opened += function(name, blocks[0], True)[0]
            if "->" in blocks[0]:
                refused.append(function(name, blocks[0], False, record["mxnetName"])[0])
    printed = run(opt, [], closed)
    for form in [], ["--mlir-print-op-generic"]:
        if run(opt, [], run(opt, form, closed)) != printed:
            raise SystemExit(f"text changes when it is printed {' '.join(form)} and read again")
    run(opt, ["--split-input-file", "--verify-diagnostics"], "// -----\n".join(refused))
    inferred = run(opt, ["--infer-shapes"], opened)
    found = dict(re.findall(r"func.func @(\w+)\(.*\) -> (.*) \{\n", inferred))
    bad = 0
    for name, types in wanted.items():
        if name not in found:
            continue
        text = found[name]
        got = split_types(text[1:-1] if text.startswith("(") else text)
        if got != types:
            bad += 1
            print(f"{name}: inferred {got}, the example has {types}")
    print(f"{len(wanted)} examples, {len(found)} inferred, {bad} differ, {len(refused)} refused")
    sys.exit(bad != 0 or len(found) < 100 or len(refused) < 100)


main()
