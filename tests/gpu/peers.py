"""peers.py SECONDS: PyTorch and cuDNN on the GPU, in fp32 without TF32 or in 16 bits. Reads cells
from stdin and answers each with a line of JSON; its first line is {"versions"}, or {"missing": why}
if there is nothing to measure with.

A cell is {"entry", "shape": [T, B, H, L], "padded", "rule": "", "cudnn", "bf16" or "fp16"}; the
answer {"torch_s", "torch_as", "cudnn_s", "cudnn_algorithm"}, each the least time of several. A
missing time has the reason in its place, as "torch_missing" or "cudnn_missing". `step` is forward,
backward and the gradients of all weights. cuDNN is called through its own API, in the library of
PyTorch's wheel, with each algorithm that supports the layer; the best one counts. In 16 bits,
PyTorch trains fp32 weights by autocast, which runs cuDNN's layers in fp16 even for bf16 (see
"torch_as"; source: PyTorch, aten/src/ATen/cudnn/AutocastRNN.cpp); cuDNN has 16-bit weights.
"""

import ctypes
import json
import sys

ALGORITHMS = {"standard": 0, "persistent": 1, "persistent, small H": 3}
LSTM, DOUBLE_BIAS, FLOAT = 2, 2, 0
# data types in PyTorch and cuDNN
TYPES = {"": ("float32", 0), "cudnn": ("float32", 0), "fp16": ("float16", 2),
         "bf16": ("bfloat16", 9)}
FMA_MATH, TENSOR_MATH = 3, 1
# the layout of sequences, and the flag that it needs; persistent algorithms require packed
# sequences
PADDED, PACKED = (0, 1), (1, 0)


def least(torch, call, seconds):
    """Seconds of the fastest call, measured by events of the GPU."""
    for _ in range(3):
        call()
    times, spent = [], 0
    while spent < seconds or len(times) < 3:
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
        spent += times[-1]
    return min(times)


def with_torch(torch, cell, seconds):
    steps, batch, units, layers = cell["shape"]
    kind, train = getattr(torch, TYPES[cell["rule"]][0]), cell["entry"] == "step"
    whole = torch.float32 if train else kind
    net = torch.nn.LSTM(units, units, layers).cuda().to(whole)
    x = torch.randn(steps, batch, units, device="cuda", dtype=whole)
    if cell["padded"]:
        x = torch.nn.utils.rnn.pack_padded_sequence(x, torch.full((batch,), steps // 2))

    def forward():
        with torch.inference_mode():
            net(x)

    def step():
        net.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=kind, enabled=kind is not torch.float32):
            y = net(x)[0]
            loss = (y.data if cell["padded"] else y).sum()
        loss.backward()

    return least(torch, step if train else forward, seconds)


class Cudnn:
    """One LSTM stack by cuDNN 9's own functions. Source: the cuDNN API reference, RNN."""

    def __init__(self, torch, cell, algorithm):
        self.torch, self.library = torch, ctypes.CDLL("libcudnn.so.9")
        self.train = cell["entry"] == "step"
        steps, batch, units, layers = cell["shape"]
        kind, number = TYPES[cell["rule"]]
        math = TENSOR_MATH if number else FMA_MATH
        layout, flags = PADDED if cell["padded"] else PACKED
        self.handle, self.rnn, dropout = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cudnnCreate", ctypes.byref(self.handle))
        self.call("cudnnSetStream", self.handle,
                  ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        self.call("cudnnCreateDropoutDescriptor", ctypes.byref(dropout))
        self.call("cudnnSetDropoutDescriptor", dropout, self.handle, ctypes.c_float(0), None,
                  ctypes.c_size_t(0), ctypes.c_ulonglong(0))
        self.call("cudnnCreateRNNDescriptor", ctypes.byref(self.rnn))
        self.call("cudnnSetRNNDescriptor_v8", self.rnn, algorithm, LSTM, DOUBLE_BIAS, 0, 0, number,
                  FLOAT, math, units, units, units, layers, dropout, flags)
        lengths = (ctypes.c_int * batch)(*[steps // 2 if cell["padded"] else steps] * batch)
        self.lengths = torch.tensor(list(lengths), dtype=torch.int32, device="cuda")
        self.data, self.state = ctypes.c_void_p(), ctypes.c_void_p()
        zero = (ctypes.c_byte * 4)()  # valid for each of the types
        self.call("cudnnCreateRNNDataDescriptor", ctypes.byref(self.data))
        self.call("cudnnSetRNNDataDescriptor", self.data, number, layout, steps, batch, units,
                  lengths, ctypes.byref(zero))
        self.call("cudnnCreateTensorDescriptor", ctypes.byref(self.state))
        self.call("cudnnSetTensorNdDescriptor", self.state, number, 3,
                  (ctypes.c_int * 3)(layers, batch, units),
                  (ctypes.c_int * 3)(batch * units, units, 1))
        sizes = [ctypes.c_size_t() for _ in range(3)]
        self.call("cudnnGetRNNWeightSpaceSize", self.handle, self.rnn, ctypes.byref(sizes[0]))
        self.call("cudnnGetRNNTempSpaceSizes", self.handle, self.rnn, int(self.train), self.data,
                  ctypes.byref(sizes[1]), ctypes.byref(sizes[2]))
        self.sizes = [ctypes.c_size_t(size.value) for size in sizes]
        self.weights, self.work, self.reserve = (
            torch.zeros(size.value // 4 * 4 + 4, dtype=torch.uint8, device="cuda")
            for size in sizes)
        self.weights.view(getattr(torch, kind)).uniform_(-0.05, 0.05)
        self.gradients = torch.zeros_like(self.weights)
        self.x, self.y, self.dx, self.dy = (
            torch.randn(steps, batch, units, device="cuda", dtype=getattr(torch, kind))
            for _ in range(4))

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            raise RuntimeError(f"{name}: {status}")

    def run(self):
        at = lambda tensor: ctypes.c_void_p(tensor.data_ptr())
        weights, work, reserve = self.sizes
        spaces = (work, at(self.work), reserve, at(self.reserve))
        lengths = at(self.lengths)
        self.call("cudnnRNNForward", self.handle, self.rnn, int(self.train), lengths, self.data,
                  at(self.x), self.data, at(self.y), self.state, None, None,
                  self.state, None, None, weights, at(self.weights), *spaces)
        if self.train:
            self.call("cudnnRNNBackwardData_v8", self.handle, self.rnn, lengths, self.data,
                      at(self.y), at(self.dy), self.data, at(self.dx), self.state, None,
                      None, None, self.state, None, None, None, weights, at(self.weights), *spaces)
            self.call("cudnnRNNBackwardWeights_v8", self.handle, self.rnn, 0, lengths, self.data,
                      at(self.x), self.state, None, self.data, at(self.y), weights,
                      at(self.gradients), *spaces)


def with_cudnn(torch, cell, seconds):
    best, refused = {}, []
    for name, algorithm in ALGORITHMS.items():
        try:
            taken = least(torch, Cudnn(torch, cell, algorithm).run, seconds)
        except (RuntimeError, OSError, AttributeError) as error:
            refused.append(f"{name}: {error}")
            continue
        if not best or taken < best["cudnn_s"]:
            best = {"cudnn_s": taken, "cudnn_algorithm": name}
    return best or {"cudnn_missing": "; ".join(refused)}


def answer(torch, cell, seconds):
    """Answers a cell. An error of one library affects neither the other one nor the next cells."""
    found = ({"torch_as": "layers in fp16"} if cell["entry"] == "step" and cell["rule"] == "bf16"
             else {})
    for part, of in {"torch_s": lambda: {"torch_s": with_torch(torch, cell, seconds)},
                     "cudnn_s": lambda: with_cudnn(torch, cell, seconds)}.items():
        try:
            found |= of()
        except Exception as error:
            found[part.replace("_s",
                               "_missing")] = (str(error).splitlines() or [type(error).__name__])[0]
    return found


def main():
    seconds = float(sys.argv[1])
    try:
        import torch
    except ImportError as error:
        torch, why = None, str(error)
    else:
        why = "" if torch.cuda.is_available() else "PyTorch sees no GPU"
    if why:
        return print(json.dumps({"missing": why}), flush=True)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    print(json.dumps({"versions": f"PyTorch {torch.__version__}, cuDNN "
                                  f"{torch.backends.cudnn.version()}"}), flush=True)
    for line in sys.stdin:
        found = answer(torch, json.loads(line), seconds)
        print(json.dumps(found), flush=True)
        if "CUDA error" in str(found):  # after one, every call of this process fails
            sys.exit(1)


if __name__ == "__main__":
    main()
