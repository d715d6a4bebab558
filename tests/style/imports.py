#!/usr/bin/env python3
"""imports.py FOLDER: the modules of the Python package import one way.

A module imports modules of its room and of the rooms that its FRIENDS in
frontend/python/CMakeLists.txt name; no chain of imports leads back to where it began; and a
function imports optional packages alone, those that pyproject.toml does not name. Imports for type
checkers only (`if TYPE_CHECKING:`) are never carried out, so they may name any module.
"""
import ast
import pathlib
import re
import sys


def rooms_of(text):
    """({module: room}, {room: its friends}) from the text of CMakeLists.txt."""
    room_of, friends_of = {}, {}
    for name, body in re.findall(r"python_room\((\w+)\s([^)]*)\)", text):
        modules, _, friends = body.partition("FRIENDS")
        room_of.update(dict.fromkeys(modules.replace("MODULES", "").split(), name))
        friends_of[name] = {name, *friends.split()}
    return room_of, friends_of


def imports_of(text):
    """[(line, whether in a function, node)] of all imports but those for type checkers only."""
    found = []

    def visit(node, in_function):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.Import, ast.ImportFrom)):
                found.append((child.lineno, in_function, child))
            elif isinstance(child, ast.If) and getattr(child.test, "id", "") == "TYPE_CHECKING":
                for other in child.orelse:
                    visit(other, in_function)
            else:
                visit(child, in_function or isinstance(
                    child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)))

    visit(ast.parse(text), False)
    return found


def own_modules(module, node, known):
    """The modules of the package that an import statement in `module` loads."""
    if isinstance(node, ast.Import):
        named = [alias.name.split(".") for alias in node.names]
        targets = [parts[1:] for parts in named if parts[0] == "lstmc"]
        return {spelled for parts in targets if (spelled := _spelled(parts, known))}
    if node.level:
        base = module.split("/")[: -node.level] + (node.module.split(".") if node.module else [])
    elif node.module.split(".")[0] == "lstmc":
        base = node.module.split(".")[1:]
    else:
        return set()
    named = {alias.name: _spelled([*base, alias.name], known) for alias in node.names}
    return {found or _spelled(base, known)
            for name, found in named.items() if name != "_core"} - {None}


def _spelled(parts, known):
    """The module of that name as CMakeLists.txt lists it; None if it is no module."""
    for spelled in ("/".join(parts), "/".join([*parts, "__init__"])):
        if spelled in known:
            return spelled
    return None


def outer_packages(node):
    """The packages besides lstmc that an import statement loads."""
    named = ([alias.name for alias in node.names] if isinstance(node, ast.Import)
             else [] if node.level else [node.module])
    return {name.split(".")[0] for name in named} - {"lstmc"}


def circle(edges):
    """A chain of modules that leads back to its first one; None if there is none."""
    done = set()

    def follow(module, chain):
        if module in chain:
            return chain[chain.index(module):] + [module]
        if module in done:
            return None
        for other in sorted(edges.get(module, ())):
            if found := follow(other, [*chain, module]):
                return found
        done.add(module)
        return None

    return next((found for module in sorted(edges) if (found := follow(module, []))), None)


def problems(texts, rooms, required=()):
    """What is wrong in the package {module: its text}. `required` are packages that are always
    there, besides Python's own."""
    room_of, friends_of = rooms
    found = [f"{module}.py is in no python_room" for module in sorted(texts.keys() - room_of)]
    edges = {}
    for module, text in sorted(texts.items()):
        for line, in_function, node in imports_of(text):
            own = own_modules(module, node, texts)
            if in_function and (own or isinstance(node, ast.ImportFrom) and node.level
                                or outer_packages(node) & {*sys.stdlib_module_names, *required}):
                found.append(f"{module}.py:{line}: an import in a function of what is always there")
            edges.setdefault(module, set()).update(own - {module})
            for other in sorted(own):
                if {module, other} <= room_of.keys() and (
                        room_of[other] not in friends_of[room_of[module]]):
                    found.append(f"{module}.py:{line}: {room_of[module]} imports {other} of "
                                 f"{room_of[other]}, which is no friend")
    if chain := circle(edges):
        found.append("a circle of imports: " + " -> ".join(chain))
    return found


def main(root):
    package = root / "frontend/python/lstmc"
    texts = {str(file.relative_to(package).with_suffix("")): file.read_text()
             for file in package.rglob("*.py")}
    required = re.findall(r'"(\w+)[^"]*"',
                          re.search(r"^dependencies = \[(.*)\]$",
                                    (root / "pyproject.toml").read_text(), re.M)[1])
    found = problems(texts, rooms_of((package.parent / "CMakeLists.txt").read_text()), required)
    for file in sorted((root / "executor/python").rglob("*.py")):
        alone = problems({file.stem: file.read_text()}, ({file.stem: ""}, {"": {""}}), required)
        found += [f"{file.relative_to(root)}: {problem}" for problem in alone]
    print("\n".join(found) if found else f"{len(texts)} modules import one way")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
