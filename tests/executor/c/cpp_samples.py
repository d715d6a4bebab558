"""cpp_samples.py LSTMC SOURCE SERVE STREAM: the C++ samples give what the command gives, and have
at most 40 lines."""

import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

lstmc, source, serve, stream = sys.argv[1:]
samples = pathlib.Path(source, "samples")
for name in "serve", "stream":
    if len((samples / f"cpp/{name}.cpp").read_text().splitlines()) > 40:
        sys.exit(f"{name}.cpp has more than 40 lines")


def run(*command, status=0, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=240,
                          cwd=folder, **more)
    if done.returncode != status:
        sys.exit(f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout if status == 0 else done.stderr


with tempfile.TemporaryDirectory() as folder:
    # Forecasts: each line is a row of its own, whatever is asked beside it.
    run(lstmc, "compile", samples / "forecast.lnet", "-b", "1", "-o", "one.lstmc")
    values = random.Random(3)
    rows = [[round(values.uniform(-1, 1), 3) for _ in range(8 * steps)]
            for steps in [24] + [values.randint(1, 24) for _ in range(99)]]
    text = "".join(" ".join(map(str, row)) + "\n" for row in rows)
    answers = run(serve, "one.lstmc", input=text).split()
    if len(answers) != 100 or len(set(answers)) < 90:
        sys.exit(f"serve answers {answers}")
    if run(serve, "one.lstmc", input=text.splitlines()[7] + "\n").split() != [answers[7]]:
        sys.exit("an answer depends on other requests")
    data = pathlib.Path(folder, "row.npy")
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 24, 8), }".ljust(117) + "\n"
    data.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                     + struct.pack("<192f", *rows[0]))
    printed = run(lstmc, "run", "one.lstmc", "-i", "data=@row.npy", "-i", "length=24", "--seed",
                  "0")
    wanted = float(re.search(r"\]\s+([-\d.e]+)", printed)[1])
    if abs(float(answers[0]) - wanted) > 1e-5 * abs(wanted):
        sys.exit(f"serve answers {answers[0]}, the command {printed}")
    print(run(serve, "none.lstmc", status=6, input=""))

    # Texts: two streams of one session are what the command writes for each alone.
    pathlib.Path(folder, "input.txt").write_text("the cat is in, and the tea is on. " * 100)
    run(lstmc, "train", samples / "char_lm.lnet", "--data", "text:input.txt", "--set", "hidden=24",
        "-b", "4", "--set", "seq=16", "--lr", "0.02", "--after", "80u", "-q", "-o", "ck")
    primes = ["the c", "and", "tea is"]
    wanted = [run(lstmc, "sample", "ck", "--prime", prime, "--length", "60", "--temperature", "0")
              for prime in primes]
    if run(stream, "ck/last", *primes) != "".join(wanted):
        sys.exit(f"stream writes\n{run(stream, 'ck/last', *primes)}the command\n{''.join(wanted)}")
    print("".join(wanted))
