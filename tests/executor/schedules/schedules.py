"""schedules.py LSTMC SCHEDULES ROOT [N]: compiles small networks for several devices in every way,
and trains each under N random schedules (default 6) and with faults. There are fewer faults,
because each hang takes until its deadline. SCHEDULES is the program of main.cpp; built with
ThreadSanitizer, it also finds races.
"""
import pathlib
import subprocess
import sys
import tempfile

# Name, file, flags.
CASES = [
    ("store", "tests/e2e/nets/words.lnet", "-d 4xcpu --kv-store local"),
    ("spread", "tests/e2e/nets/words.lnet", "-d 3xcpu --kv-store device"),
    ("workers", "tests/e2e/nets/words.lnet", "-d 3xcpu --update-on-kvstore 0"),
    ("loads", "tests/e2e/nets/classes.lnet", "-d 3xcpu --work-load-list 3,1,2"),
    ("parts", "tests/e2e/nets/directions.lnet", "-d 2xcpu --accumulate 3"),
    ("layers", "tests/e2e/nets/words.lnet", "-d 2xcpu --place auto=2 --chunks 3"),
    ("both", "tests/e2e/nets/words.lnet", "-d 4xcpu --place auto=2 --chunks 2 --accumulate 2"),
    ("char", "samples/char_lm.lnet", "-d 8xcpu --set vocab=5 --set hidden=9 --shape data=8x4"),
]


def main(lstmc, schedules, root, count="6"):
    with tempfile.TemporaryDirectory() as folder:
        packages = []
        for name, net, flags in CASES:
            packages.append(str(pathlib.Path(folder) / f"{name}.lstmc"))
            subprocess.run([lstmc, "compile", pathlib.Path(root) / net, "--entry", "step",
                            "-q", "-o", packages[-1], *flags.split()],
                           check=True, stdout=subprocess.DEVNULL)
        return subprocess.run([schedules, "--schedules", count, "--faults",
                               str(max(6, int(count) // 10)), *packages], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
