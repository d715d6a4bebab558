"""imports.py PROGRAM LSTMC NETS: a network that MXNet wrote gives MXNet's outputs from C++ too, to
1e-6; weights of torch.nn are those that `lstmc import` gives; what is no network is refused by its
kind. NETS is the folder of MXNet's networks; skipped where it is not."""
import array
import json
import math
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import zipfile

program, lstmc, nets = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
if not nets.is_dir():
    print(f"{nets} is not here")
    sys.exit(77)


def run(folder, *words):
    done = subprocess.run(list(map(str, words)), cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def floats(raw):
    """The elements of an npy of float32."""
    numbers = array.array("f")
    numbers.frombytes(raw[10 + int.from_bytes(raw[8:10], "little"):])
    return numbers


def state_dict(path):
    """An nn.LSTM of 3 units over an nn.Embedding, and an nn.Linear."""
    shapes = {"embed.weight": (7, 5), "lstm.weight_ih_l0": (12, 5), "lstm.weight_hh_l0": (12, 3),
              "lstm.bias_ih_l0": (12,), "lstm.bias_hh_l0": (12,), "out.weight": (4, 3),
              "out.bias": (4,)}
    draw, header, data = random.Random(3), {}, b""
    for name, shape in shapes.items():
        size = math.prod(shape)
        header[name] = {"dtype": "F32", "shape": shape,
                        "data_offsets": [len(data), len(data) + 4 * size]}
        data += struct.pack(f"<{size}f", *(draw.uniform(-0.5, 0.5) for _ in range(size)))
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    with zipfile.ZipFile(nets / "lstm_bucketing-io.npz") as archive:
        data = floats(archive.read("in:data.npy"))
        wanted = floats(archive.read("out:softmax_output.npy"))
    (folder / "x.raw").write_bytes(data.tobytes())
    state_dict(folder / "w.safetensors")
    run(folder, lstmc, "import", "w.safetensors", "--as", "torch-lstm", "-o", "c.lnet")
    told = run(folder, program, nets / "lstm_bucketing-symbol.json",
               nets / "lstm_bucketing-0000.params", "x.raw", "y.raw", "w.safetensors",
               "c.weights.safetensors")
    found = array.array("f", (folder / "y.raw").read_bytes())
    worst = max(abs(a - b) for a, b in zip(found, wanted))
    if len(found) != len(wanted) or worst > 1e-6:
        sys.exit(f"{len(found)} values of {len(wanted)}, the worst is off by {worst}")

    for file in "c.lnet", "torch.lnet":  # the assumptions are in the text
        if "# assumed: the input is [N, T, ..]" not in (folder / file).read_text():
            sys.exit(f"{file}: {(folder / file).read_text()}")
    run(folder, lstmc, "export", nets / "lstm_bucketing-symbol.json", "--params",
        nets / "lstm_bucketing-0000.params", "--shape", "data:4x12", "--shape",
        "softmax_label:4x12", "--to", "mxnet", "-o", "command")
    if (folder / "command-symbol.json").read_text() != (folder / "net-symbol.json").read_text():
        sys.exit("net-symbol.json is not what the command exports")
    for message in ("7 weights\n",
                    'a network is saved as F.lnet or as F-symbol.json, got "net.onnx"',
                    "nothere.lnet: error[E0601]",
                    "error[E0603]: this is no network, but MXNet's .params"):
        if message not in told:
            sys.exit(f"{message}\n{told}")
    print(f"off by {worst:.1e} at most")
