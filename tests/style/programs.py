"""programs.py SOURCE: every program that the project's scripts and tests call comes with a package
that `dev` installs, or with a minimal Debian, git and ca-certificates. Programs that a script
searches for first (`command -v`, `shutil.which`) are optional.

Exits with 77 (skipped) if the packages are not installed here, or without dpkg.
"""
import ast
import pathlib
import re
import shutil
import subprocess
import sys

source = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(source / "tests/consumer"))
import bare_root  # noqa: E402

CALLS = {"run", "Popen", "check_output", "check_call", "call", "execvp", "posix_spawnp"}
# what a file's own `run` takes: subcommands, entries
OWN = {"train", "compile", "inspect", "help", "forward"}
# Benches and tools that are started by hand, not tests.
LEFT_OUT = ("tests/bench/", "tests/gpu/")


def words_of_python(path):
    """(program, line, arguments) of each call that starts a program by a literal name, and the
    names in calls of shutil.which."""
    tree = ast.parse(path.read_text())
    calls, asked = [], set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = (node.func.attr if isinstance(node.func, ast.Attribute)
                else getattr(node.func, "id", ""))
        module = getattr(node.func.value, "id", "") if isinstance(node.func, ast.Attribute) else ""
        first = node.args[0] if node.args else None
        texts = [word.value for word in ast.walk(node)
                 if isinstance(word, ast.Constant) and isinstance(word.value, str)]
        if name == "which" and isinstance(first, ast.Constant):
            asked.add(first.value)
        elif name in CALLS and module in ("", "subprocess", "os"):
            if isinstance(first, (ast.List, ast.Tuple)) and first.elts:
                first = first.elts[0]
            if (isinstance(first, ast.Constant) and isinstance(first.value, str)
                and re.fullmatch(r"[a-z][a-z0-9.+-]*", first.value) and first.value not in OWN):
                calls.append((first.value, node.lineno, texts))
    # `for program in "a", "b": if not shutil.which(program)`, and the same as one expression
    for node in ast.walk(tree):
        loops = [node] if isinstance(node, ast.For) else getattr(node, "generators", [])
        if loops and any(isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "which"
                         for call in ast.walk(node)):
            asked |= {word.value for loop in loops for word in ast.walk(loop.iter)
                      if isinstance(word, ast.Constant)}
    return calls, asked


def words_of_shell(path):
    """As words_of_python, for a shell script: the words at which a command may begin."""
    text = re.sub(r"(?<!\\)\\\n", " ", path.read_text())
    text = re.sub(r"<<-?\s*['\"]?(\w+)['\"]?.*?\n.*?^\s*\1$", "", text, flags=re.M | re.S)
    text = re.sub(r"\w+\+?=\([^)]*\)", "", text)  # arrays
    asked = set(re.findall(r"command -v \"?([\w.+-]+)", text))
    functions = set(re.findall(r"^\s*(?:function )?([\w-]+) ?\(\)", text, re.M))
    calls = []
    for number, line in enumerate(text.splitlines(), 1):
        line = re.sub(r"(^|\s)#.*", "", re.sub(r"'[^']*'|\"(?:[^\"$]|\$(?!\())*\"", "''", line))
        for word in re.findall(
                r"(?:^|[|;&(]|\$\(|\b(?:then|do|else|exec|nice|!)\s)\s*"
                r"(?:\w+=\S*\s+)*([a-z][\w.+-]*)(?=\s|$)", line):
            if word not in functions:
                calls.append((word, number, line.split()))
    return calls, asked


def main():
    if not shutil.which("dpkg-query"):
        print("not Debian")
        sys.exit(77)
    installed = bare_root.Installed()
    lists = re.findall(r"^\w*packages\+?=\((.*?)\)", (source / "dev").read_text(), re.M | re.S)
    wanted = sorted({name for words in lists for name in words.split()}
                    | {"zsh", "fish", "git", "ca-certificates", "apt"})
    base = [name for name, (_, fields) in installed.rows.items()
            if fields.get("Essential") == "yes" or fields.get("Priority") == "required"]
    try:
        closure = installed.closure([[name] for name in wanted + base])
    except LookupError as missing:
        print(f"not installed here: {missing}")
        sys.exit(77)
    files = {pathlib.Path(line).name for name in closure for path in installed.files(name)
             if path.suffix == ".list"
             for line in path.read_text().splitlines() if re.match(r"(/usr)?/s?bin/", line)}
    files |= {path.name for folder in ("/usr/bin", "/usr/sbin")
              for path in pathlib.Path(folder).iterdir()
              if path.is_symlink() and str(path.readlink()).startswith("/etc/alternatives/")
              and path.resolve().name in files}
    shell = set(subprocess.run(["bash", "-c", "compgen -b; compgen -k"], capture_output=True,
                               text=True, check=True).stdout.split())
    tracked = subprocess.run(["git", "-C", str(source), "ls-files", "dev", "*.py", "*.sh"],
                             capture_output=True, text=True, check=True).stdout.split()
    wrong = []
    for name in tracked:
        if name.startswith(LEFT_OUT):
            continue
        python = name.endswith(".py")
        calls, asked = (words_of_python if python else words_of_shell)(source / name)
        for word, line, arguments in calls:
            if word not in files and word not in asked and (python or word not in shell):
                wrong.append(f"{name}:{line}: no package of `dev` brings {word}")
            if word == "cmake" and "-S" in arguments and "-G" not in arguments:
                wrong.append(
                    f"{name}:{line}: cmake without -G calls make, which no package of `dev` brings")
    if len(files) < 500 or not any(name.endswith(".sh") for name in tracked):
        wrong.append("found too little to look at")
    sys.exit("\n".join(wrong) or 0)


main()
