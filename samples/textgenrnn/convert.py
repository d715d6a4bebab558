"""convert.py WEIGHTS.hdf5 VOCAB.json OUTPUT: the weights of textgenrnn as OUTPUT.safetensors, for
textgenrnn.lnet, and the numbers of the characters as OUTPUT.vocab.json, a list. Needs h5py."""

import json
import pathlib
import struct
import sys

import h5py
import numpy

GATES = 4  # input, forget, candidate, output, as in executor/abi/Gate.h


def untangled(kernel):
    """cuDNN keeps the matrix of a gate column by column, and Keras wrote its numbers as if it were
    row by row."""
    return numpy.hstack([gate.ravel().reshape(gate.shape, order="F")
                         for gate in numpy.hsplit(kernel, GATES)])


def converted(weights):
    """Arrays by the names of textgenrnn.lnet."""
    get = lambda layer, name: weights[f"{layer}/{layer}/{name}:0"][()]
    arrays = {"embedding_weight": get("embedding", "embeddings"),
              "attention_weight": get("attention", "attention_W").T,
              "output_weight": get("output", "kernel").T, "output_bias": get("output", "bias")}
    for layer in "rnn_1", "rnn_2":
        recurrent = numpy.hstack([gate.T
                                  for gate in numpy.hsplit(get(layer, "recurrent_kernel"), GATES)])
        arrays[f"{layer}_i2h_weight"], arrays[f"{layer}_h2h_weight"] = (
            untangled(get(layer, "kernel")).T, recurrent.T)
        arrays[f"{layer}_i2h_bias"], arrays[f"{layer}_h2h_bias"] = numpy.split(
            get(layer, "bias"), 2)
    return arrays


def write(path, arrays):
    """A file of safetensors."""
    header, data = {}, b""
    for name, array in arrays.items():
        part = numpy.ascontiguousarray(array, dtype="<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": array.shape,
                        "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    weights, vocabulary, output = sys.argv[1:]
    with h5py.File(weights) as file:
        write(output + ".safetensors", converted(file))
    numbers = json.loads(pathlib.Path(vocabulary).read_text())
    symbols = [""] * (max(numbers.values()) + 1)  # 0 fills up
    for symbol, number in numbers.items():
        symbols[number] = symbol
    pathlib.Path(output + ".vocab.json").write_text(json.dumps(symbols))


if __name__ == "__main__":
    main()
