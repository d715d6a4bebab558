"""A module of PyTorch deployed by PyTorch and by lstmc: `./dev bench torch` runs it with the peers'
Python, after tests/frontend/python/test_torch.py.

usage: deploy.py LSTMC_RUN [--results]

Prints a table; --results stores it in results/tables.json, from which README.md gets it. "files":
the installed size besides the weights: for PyTorch its package without headers and tests (neither
Python nor CUDA's libraries count), for lstmc the program lstmc-run and the package. "bound": the
distance of each step's outputs from the module's equations, and its limit
(tests/frontend/bounded.py), beyond which this fails. "first": the time of a process that loads
weights, runs once and writes the result. "memory": its peak resident size, the least of five.
"forward": the median time of a run in a running process.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import numpy
import torch

import lstmc

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "frontend"))
import bounded

STEPS, SYMBOLS, UNITS, LAYERS, THREADS = 100, 65, 256, 2, 2

IN_PYTORCH = """
import sys, numpy, torch
torch.set_num_threads(%d)
module = torch.export.load("lm.pt2").module()
with torch.no_grad():
    numpy.save("y.npy", module(torch.from_numpy(numpy.load("x.npy")).long()).numpy())
""" % THREADS


class CharLM(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(SYMBOLS, UNITS)
        self.rnn = torch.nn.LSTM(UNITS, UNITS, num_layers=LAYERS, batch_first=True)
        self.fc = torch.nn.Linear(UNITS, SYMBOLS)

    def forward(self, x):
        return self.fc(self.rnn(self.embed(x))[0])


# A small parent starts the process, because a child's peak memory starts at that of its parent.
WATCHED = """
import os, sys, time
begin = time.perf_counter()
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print(time.perf_counter() - begin, usage.ru_maxrss / 1024)
sys.exit(status != 0)
"""


def process(command):
    """(seconds, peak resident MiB) of a process, the least of five."""
    runs = [subprocess.run([sys.executable, "-S", "-E", "-c", WATCHED, *command], check=True,
                           capture_output=True, text=True)
            for _ in range(5)]
    return tuple(min(figures) for figures in zip(*(map(float, run.stdout.splitlines()[-1].split())
                                                   for run in runs)))


def forward(call):
    for _ in range(5):
        call()
    times = []
    for _ in range(100):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e3


def size(path, leave_out=()):
    files = ([path] if path.is_file()
             else [f for f in path.rglob("*") if f.is_file() and not set(f.parts) & set(leave_out)])
    return sum(file.stat().st_size for file in files) / 2**20


def equations(module, ids):
    """The outputs in double precision: a Vector for each step."""
    weights = {name: bounded.Matrix(value.numpy()) if value.ndim == 2 else value.tolist()
               for name, value in module.state_dict().items()}
    inner = {name.removeprefix("rnn."): value for name, value in weights.items()}
    xs = [bounded.Vector(weights["embed.weight"].rows[i]) for i in ids]
    return [bounded.product(weights["fc.weight"], y, weights["fc.bias"])
            for y in bounded.recurrent("lstm", inner, xs, UNITS, LAYERS, 1)]


def apart(name, got, want):
    """The distance of the outputs from the equations as text; exits if it exceeds the bound."""
    shares = [(bounded.norm(row - numpy.array(step.values)), step.error)
              for row, step in zip(got[0], want)]
    print("%s: bound: of %d steps, the outputs of the worst are %.2g from the equations and may be "
          "%.2g" % (name, len(shares), *max(shares, key=lambda share: share[0] / share[1])))
    if any(off > most for off, most in shares) or len(got[0]) != len(want):
        sys.exit("the outputs of %s are not those of the module" % name)


def main():
    warnings.filterwarnings("ignore")
    runner = pathlib.Path(sys.argv[1]).resolve()
    torch.manual_seed(1)
    torch.set_num_threads(THREADS)
    module, example = CharLM().eval(), torch.randint(0, SYMBOLS, (1, STEPS))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        numpy.save("x.npy", example.numpy().astype("int32"))
        torch.export.save(torch.export.export(module, (example,)), "lm.pt2")
        net = lstmc.from_torch(module, example)
        net.save("lm.lstmc")
        theirs = process([sys.executable, "-c", IN_PYTORCH])
        want = numpy.load("y.npy")
        ours = process([str(runner), "lm.lstmc", "--params", "lm.weights.safetensors",
                        "-i", "x=@x.npy", "-o", "y.npy", "--force", "-t", str(THREADS)])
        own = numpy.load("y.npy")
        session = net.bind(threads=THREADS)
        session.set_input("x", example.numpy())
        with torch.no_grad():
            times = forward(lambda: module(example)), forward(lambda: session.run(copy=False))
        package = pathlib.Path("lm.lstmc")
        rows = (
            ("PyTorch " + torch.__version__,
             size(pathlib.Path(torch.__file__).parent, ("include", "test", "testing")), *theirs,
             times[0]),
            ("lstmc", size(runner) + size(package), *ours, times[1]),
        )
        columns = ["%d x LSTM %d, batch 1, %d steps" % (LAYERS, UNITS, STEPS), "files MiB",
                   "first answer s", "memory MiB", "forward ms"]
        table = [[name, "%.1f" % files, "%.3f" % first, "%.0f" % memory, "%.2f" % milliseconds]
                 for name, files, first, memory, milliseconds in rows]
        for row in columns, ["---"] * len(columns), *table:
            print("| %s |" % " | ".join(row))
        print("largest difference of an output: %.2g" % numpy.abs(own - want).max())
        exact = equations(module, example[0].tolist())
        apart("PyTorch", want, exact)
        apart("lstmc", own, exact)
    if "--results" in sys.argv:
        keep(columns, table)


def keep(columns, table):
    """Stores the table as a section of RESULTS.md."""
    sys.path.append(str(HERE))
    import bench
    import results
    path = HERE / "results/tables.json"
    tables = json.loads(path.read_text())
    section = {
        "title": results.DEPLOYED, "bench": "./dev bench torch --results",
        "date": time.strftime("%Y-%m-%d"), "machine": bench.machine(),
        "about": "A character language model from `from_torch`, %d threads. Files: what has to be "
                 "installed besides the weights (PyTorch without its headers and tests, without "
                 "Python; lstmc-run and the package). First answer: a process that loads weights, "
                 "runs once and writes the result, and the most memory that it has resident, the "
                 "least of five. Forward: the median of a run in a process that goes on." % THREADS,
        "columns": columns, "rows": table}
    tables["sections"] = [section] + [known for known in tables["sections"]
                                      if known["title"] != section["title"]]
    path.write_text(json.dumps(tables, indent=1, ensure_ascii=False) + "\n")


main()
