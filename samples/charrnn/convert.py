"""convert.py FOLDER OUTPUT: a charRNN model of ml5.js (a manifest, and a raw float32 file for each
variable) as OUTPUT.safetensors, which `lstmc import --as tf-lstm` reads, and OUTPUT.vocab.txt.
Needs Python alone."""

import json
import math
import pathlib
import struct
import sys

folder, output = pathlib.Path(sys.argv[1]), sys.argv[2]
header, data = {}, b""
for name, entry in json.loads((folder / "manifest.json").read_text()).items():
    if not entry["shape"]:  # the number of updates
        continue
    values = (folder / entry["filename"]).read_bytes()
    if len(values) != 4 * math.prod(entry["shape"]):
        sys.exit(f"{entry['filename']}: {len(values)} bytes for shape {entry['shape']}")
    header[name] = {"dtype": "F32", "shape": entry["shape"],
                    "data_offsets": [len(data), len(data) + len(values)]}
    data += values
text = json.dumps(header).encode()
pathlib.Path(output + ".safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)

# In the vocabularies that ml5 published, "u" and "U" became "  " and "".
vocabulary = {{"": "U", "  ": "u"}.get(symbol, symbol): number
              for symbol, number in json.loads((folder / "vocab.json").read_text()).items()}
symbols = sorted(vocabulary, key=vocabulary.get)
if list(vocabulary[symbol] for symbol in symbols) != list(range(len(symbols))):
    sys.exit("vocab.json: the numbers have holes")
pathlib.Path(output + ".vocab.txt").write_text(json.dumps(symbols))
