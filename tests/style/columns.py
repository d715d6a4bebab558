#!/usr/bin/env python3
"""columns.py FOLDER: no line of Python or Markdown in the tree has more than 100 columns.

Exempt are lines that a break would change: in Python those inside a string over several lines (the
text of a file that a program writes), unless it is a docstring; in Markdown rows of tables, code
between fences, and a word without spaces, such as an address.
"""
import ast
import io
import pathlib
import sys
import tokenize

COLUMNS = 100
FOLDERS = ["backends", "cmake", "docs", "executor", "frontend", "ir", "passes", "samples", "tests",
           "viz"]


def docstring_lines(text):
    """The lines of docstrings, which may break anywhere."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    lines = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            lines |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return lines


def exempt_in_python(text):
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING and token.start[0] < token.end[0]:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return lines - docstring_lines(text)


def exempt_in_markdown(text):
    lines, in_code = set(), False
    for number, line in enumerate(text.splitlines(), 1):
        content = line.lstrip(" -*>")
        if content.startswith("```"):
            in_code = not in_code
        if in_code or content.startswith("|") or " " not in content:
            lines.add(number)
    return lines


EXEMPT = {".py": exempt_in_python, ".md": exempt_in_markdown}


def long_lines(text, suffix):
    """[(line number, columns)] of the lines to break."""
    found = [(number, len(line)) for number, line in enumerate(text.splitlines(), 1)
             if len(line) > COLUMNS]
    exempt = EXEMPT[suffix](text) if found else set()
    return [(number, columns) for number, columns in found if number not in exempt]


def main():
    root = pathlib.Path(sys.argv[1])
    files = sorted(path for pattern in ("*", *(f"{folder}/**/*" for folder in FOLDERS))
                   for path in root.glob(pattern) if path.suffix in EXEMPT)
    problems = [f"{file.relative_to(root)}:{number}: {columns} columns, want at most {COLUMNS}"
                for file in files
                for number, columns in long_lines(file.read_text(), file.suffix)]
    print("\n".join(problems))
    if problems or not files:
        raise SystemExit(f"{len(problems)} lines too long in {len(files)} files")


if __name__ == "__main__":
    main()
