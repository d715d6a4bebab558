"""Runs the real command, with small networks and files as its input."""
import json
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

LSTMC = os.environ["LSTMC"]
SOURCE = pathlib.Path(os.environ["LSTMC_SOURCE"])
HERE = pathlib.Path(__file__).parent

# A character model that trains a few updates in a moment.
SMALL = """\
vocab, hidden = setting("vocab", 5), setting("hidden", 6, help="units")
N, T = dim("batch", 4), dim("seq", 8)

def small(data: int32[N, T], label: int32[N, T]):
    x = Embedding(SwapAxis(data, dim1=0, dim2=1), input_dim=vocab, output_dim=4, name="embed")
    x, h, c = LSTM(x, num_hidden=hidden, name="lstm")
    y = FullyConnected(x, num_hidden=vocab, flatten=False, name="decoder")
    return SoftmaxOutput(y, SwapAxis(label, dim1=0, dim2=1), preserve_shape=True, normalization="valid")

fit(small, optimizer="adam", learning_rate=0.01, initializer=Uniform(0.1), carry=["lstm*"], num_update=6)
"""


def run(*words, **options):
    """Runs `lstmc WORDS`, in a plain environment to which `env` adds. stdin and stdout are no
    terminal."""
    env = {name: os.environ[name] for name in ("PATH", "LSTMC_CPU_LEVEL") if name in os.environ}
    env.update(options.pop("env", {}))
    options.setdefault("text", True)
    return subprocess.run([LSTMC, *map(str, words)], capture_output=True, env=env, timeout=240,
                          **options)


def words_in_table():
    """Records of request.def and options.def: commands as names, flags as dicts."""
    import re
    tables = ("frontend/driver/request.def", "frontend/cli/options.def")
    text = "".join((SOURCE / table).read_text() for table in tables)
    structs = re.findall(r"^#define LSTMC_(\w+)\(\.\.\.\) LSTMC_REQUEST", text, re.M)
    text = re.sub(rf"^LSTMC_(?:{'|'.join(structs)})\(", "LSTMC_FLAG(", text, flags=re.M)
    text = text.replace("\nLSTMC_REQUEST_SPELLING(", "\nLSTMC_SPELLING(")
    macros = dict(re.findall(r'#define (LSTMC_(?:MODELS|RUNS)) "([^"]*)"', text))
    commands = re.findall(r'^LSTMC_COMMAND\(\w+, \w+, "([^"]+)"', text, re.M)
    flags = []
    # (field, name, letter, type, argument, default, group, help, commands)
    flag = (r'^LSTMC_FLAG\(\w+, "([^"]+)", (0|\'.\'), [\w<>:]+, "([^"]*)", "([^"]*)", (\w+), '
            r'"([^"]*)", (.*)\)$')
    # (MXNet's name, our field, text before and after, argument, help, commands)
    spelling = r'^LSTMC_SPELLING\("([^"]+)", \w+, "[^"]*", "[^"]*", "([^"]*)", "([^"]*)", (.*)\)$'
    rows = re.findall(flag, text, re.M) + [
        (name, "0", argument, "", "", help, served)
        for name, argument, help, served in re.findall(spelling, text, re.M)]
    for name, letter, argument, default, group, help, served in rows:
        for macro, names in macros.items():
            served = served.replace(macro, f'"{names}"')
        served = served.replace('" "', "").replace('"', "")
        flags.append({"name": name, "letter": "" if letter == "0" else letter[1],
                      "argument": argument, "default": default,
                      "group": group, "help": help,
                      "commands": [c for c in commands if c != "opt"] if served == "*"
                      else served.split()})
    written = text.count("\nLSTMC_FLAG(") + text.count("\nLSTMC_SPELLING(")
    assert len(flags) == written, "a record of options.def is written in another form"
    return commands, flags


class Case(unittest.TestCase):
    """A test with its own folder, which contains small.lnet and text.txt."""

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        (self.folder / "small.lnet").write_text(SMALL)
        draw = random.Random(1)
        (self.folder / "text.txt").write_text("".join(draw.choice("abcd\n") for _ in range(2000)))
        self.addCleanup(self.scratch.cleanup)

    def run_here(self, *words, **options):
        return run(*words, cwd=self.folder, **options)

    def good(self, *words, **options):
        done = self.run_here(*words, **options)
        self.assertEqual(done.returncode,
                         0, f"lstmc {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
        return done

    def document(self, *words, schema, status=0):
        """Runs with --json and returns stdout as one document, checked against that schema."""
        done = self.run_here(*words, "--json")
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        parsed = json.loads(done.stdout)
        self.assertEqual(parsed["schema"], schema)
        check(parsed,
              json.loads((HERE / "schemas" / (schema.replace("/", "-") + ".json")).read_text()),
              schema)
        return parsed


def check(value, schema, where):
    """Checks a document against the part of JSON Schema that schemas/ uses; raises with the path of
    the first violation."""
    known = {"type", "required", "properties", "items", "enum", "pattern", "additionalProperties",
             "title", "minItems"}
    assert set(schema) <= known, f"{where}: the checker does not know {set(schema) - known}"
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    is_a = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    fits = lambda t: (isinstance(value, (int, float)) and not isinstance(value, bool)
                      and (t == "number" or isinstance(value, int))
                      if t in ("number", "integer") else isinstance(value, is_a[t]))
    assert not types or any(map(fits, types)), f"{where}: {value!r} is no {' or '.join(types)}"
    assert ("enum" not in schema
            or value in schema["enum"]) , f"{where}: {value!r} is none of {schema['enum']}"
    if isinstance(value, str) and "pattern" in schema:
        import re
        assert re.fullmatch(schema["pattern"],
                            value), f"{where}: {value!r} is not {schema['pattern']}"
    if isinstance(value, dict):
        missing = set(schema.get("required", [])) - set(value)
        assert not missing, f"{where}: {missing} missing"
        properties = schema.get("properties", {})
        for name, inner in value.items():
            assert name in properties or schema.get("additionalProperties",
                                                    False), f"{where}: {name} is in no schema"
            check(inner, properties.get(name, {}), f"{where}.{name}")
    if isinstance(value, list):
        assert len(value) >= schema.get("minItems", 0), f"{where}: {len(value)} items"
        for i, item in enumerate(value):
            check(item, schema.get("items", {}), f"{where}[{i}]")
