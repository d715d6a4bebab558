"""A root folder with some installed packages of this machine and their dependencies only: their
files, and their entries in dpkg's database."""

import os
import pathlib
import re
import shutil
import subprocess

TABLE = pathlib.Path("var/lib/dpkg")


def names(field):
    """The packages in a field of dependencies, the alternatives of each as a list."""
    return [[re.match(r"[a-z0-9.+-]+", choice.strip())[0] for choice in part.split("|")]
            for part in field.split(",") if part.strip()]


class Installed:
    """The packages of this machine."""

    def __init__(self):
        self.rows, self.provided = {}, {}
        for row in ("/" / TABLE / "status").read_text().strip().split("\n\n"):
            fields = dict(re.findall(r"^([A-Za-z-]+): (.*)$", row, re.M))
            if fields["Status"] != "install ok installed":
                continue
            self.rows[fields["Package"]] = row, fields
            for choices in names(fields.get("Provides", "")):
                self.provided.setdefault(choices[0], fields["Package"])

    def closure(self, wanted):
        """The packages and all their dependencies; LookupError for a package that is not
        installed."""
        found, left = set(), list(wanted)
        while left:
            choices = left.pop()
            name = next((known for known in (self.provided.get(choice, choice)
                                             if choice not in self.rows else choice
                                             for choice in choices) if known in self.rows), None)
            if name is None:
                raise LookupError(" | ".join(choices))
            if name not in found:
                found.add(name)
                fields = self.rows[name][1]
                left += names(fields.get("Depends", "")) + names(fields.get("Pre-Depends", ""))
        return found

    def files(self, name):
        """The files of a package's list, and its scripts."""
        folder = "/" / TABLE / "info"
        return [path for path in folder.iterdir()
                if re.fullmatch(re.escape(name) + r"(:\w+)?\.\w+", path.name)]


def make(root, installed, packages):
    """Fills an empty folder. As in Debian, /bin, /lib and /sbin are links into /usr."""
    root = pathlib.Path(root)
    for folder in "bin", "sbin", "lib", "lib64":
        (root / "usr" / folder).mkdir(parents=True, exist_ok=True)
        (root / folder).symlink_to(f"usr/{folder}")
    for folder in "info", "updates", "triggers", "parts":
        (root / TABLE / folder).mkdir(parents=True)
    for folder in "tmp", "etc", "proc", "dev":
        (root / folder).mkdir(exist_ok=True)
    shutil.copy2("/" / TABLE / "info/format", root / TABLE / "info")
    for name in packages:
        for path in installed.files(name):
            shutil.copy2(path, root / TABLE / "info")
            if path.suffix == ".list":
                for line in path.read_text().splitlines():
                    copy(line, root)
    (root / TABLE / "status").write_text(
        "\n\n".join(installed.rows[name][0] for name in sorted(packages)) + "\n")
    (root / TABLE / "triggers/File").touch()
    (root / TABLE / "triggers/ldconfig").write_text("libc-bin\n")
    subprocess.run(["ldconfig", "-r", root], check=True)


def copy(path, root):
    target = root / path.lstrip("/")
    if os.path.islink(path):
        if not os.path.lexists(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(os.readlink(path))
    elif os.path.isdir(path):
        target.mkdir(parents=True, exist_ok=True)
    elif os.path.isfile(path):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)


def tree(root):
    """All files, except the state of dpkg and ldconfig."""
    own = re.compile(r"^(var/lib/dpkg|var/cache|etc/ld\.so\.cache|var/log)")
    found = (os.path.relpath(os.path.join(folder, name), root) for folder, _, files in os.walk(root)
             for name in files)
    return {path for path in found if not own.match(path)}
