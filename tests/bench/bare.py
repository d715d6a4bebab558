"""The README's two commands on a new machine: `./dev demo`, then `./dev test`, in a minimal Debian
12 with only git and ca-certificates added. `./dev bench bare [--keep]` runs it as root, which
debootstrap needs, and writes the times to the section "From an empty machine" of
results/tables.json. Exit 1 if a command fails.

The root is build/bare; with --keep a second call reuses it, to examine a failed command. It does
not see this machine's caches.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
ROOT = SOURCE / "build/bare"
TITLE = "From an empty machine"
# The access of this machine to its registries: settings of apt and pip, names, certificates.
SETTINGS = ("etc/apt/apt.conf.d", "etc/apt/sources.list.d", "etc/resolv.conf", "etc/hosts",
            "etc/pip.conf", "etc/ssl/certs", "usr/share/ca-certificates",
            "usr/local/share/ca-certificates")


def make_root():
    if not shutil.which("debootstrap"):
        subprocess.run(
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "debootstrap"],
            check=True, stdout=sys.stderr)
    shutil.rmtree(ROOT, ignore_errors=True)
    subprocess.run(
        ["debootstrap", "--variant=minbase", "--include=git,ca-certificates", "bookworm", ROOT],
        check=True, stdout=subprocess.DEVNULL)
    for name in SETTINGS:
        if os.path.exists(f"/{name}"):
            (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-aT", "--remove-destination", f"/{name}", ROOT / name],
                           check=True)
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", SOURCE, ROOT / "src/lstmc"],
                   check=True)


def inside(command):
    """Runs the command in the root with a /proc, /dev and /sys, in namespaces that end with it.
    Returns the exit status and the seconds."""
    mounts = ('mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount '
              '--rbind /sys "$0/sys"')
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                   "HOME": "/root", "CI": "true"}
    begin = time.monotonic()
    done = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c",
         mounts + ' && exec chroot "$0" sh -c "cd /src/lstmc && $1"', ROOT, command],
        env=environment, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    return done.returncode, time.monotonic() - begin


def main():
    if os.geteuid() != 0:
        raise SystemExit("debootstrap needs root")
    sys.path.insert(0, str(HERE))
    import bench
    if "--keep" not in sys.argv or not ROOT.exists():
        make_root()
    rows, failed = [], False
    for command in "./dev demo", "./dev test":
        status, seconds = inside(command)
        rows.append([f"`{command}`", f"{seconds / 60:.1f}",
                     "works" if status == 0 else f"exit {status}"])
        failed |= status != 0
        print(" ".join(rows[-1]), flush=True)
    path = HERE / "results/tables.json"
    tables = json.loads(path.read_text())
    section = {"title": TITLE, "bench": "./dev bench bare", "date": time.strftime("%Y-%m-%d"),
               "machine": bench.machine(),
               "about": "From a minimal Debian 12 with git and ca-certificates, packages to be "
                        "installed included, without any cache.",
               "columns": ["command", "minutes", "ends"], "rows": rows}
    tables["sections"] = [section if known["title"] == TITLE else known
                          for known in tables["sections"]]
    path.write_text(json.dumps(tables, indent=1, ensure_ascii=False) + "\n")
    subprocess.run([sys.executable, "-B", HERE / "results.py"], check=True)
    raise SystemExit(1 if failed else 0)


main()
