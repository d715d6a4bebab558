"""dev_bench.py SOURCE: stdout of `./dev bench --json` is one document, whatever the build before it
prints."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as scratch:
    root = pathlib.Path(scratch)
    shutil.copy(pathlib.Path(sys.argv[1]) / "dev", root / "dev")

    def program(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    program(root / "bin/cmake", "#!/bin/sh\necho '[1/2] Building'\n")
    program(root / "bin/compiler", "#!/bin/sh\n")
    program(root / "tests/bench/bench.py", "#!/bin/sh\necho '{\"schema\": \"bench\"}'\n")
    (root / "build").mkdir()
    # With a prefix nothing is installed.
    env = {**os.environ, "PATH": f"{root}/bin:{os.environ['PATH']}", "CMAKE_PREFIX_PATH": str(root),
           "CXX": f"{root}/bin/compiler"}
    done = subprocess.run([root / "dev", "bench", "--json"], env=env, capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"schema": "bench"}, done.stdout
    assert "Building" in done.stderr, done.stderr
