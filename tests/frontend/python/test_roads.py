"""One update by every API: every optimizer of the table, with the same net, data and keys, ends
with the same bits of weights.

`test_roads.py --all` takes every setting by itself, and with each the processes of `lstmc launch`;
the test takes none and all of them at once. `test_roads.py --seeds A..B` takes networks, data and
keys that are drawn at random, the processes with every tenth.
"""

import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import lstmc
from lstmc import sym
from lstmc.gluon import nn

SOURCE, COMMAND = pathlib.Path(os.environ["LSTMC_SOURCE"]), os.environ["LSTMC"]
LIBRARY = os.environ.get("LSTMC_RUNTIME_LIBRARY")
CPP = os.environ.get("LSTMC_CPP_ROAD")  # tests/frontend/bind/road.cpp
if LIBRARY:
    sys.path.insert(0, str(SOURCE / "executor/python"))
    import lstmc_runtime
RATE = 0.013  # no float32, so that a road that rounds it is found
ROWS = dict(re.findall(r'^\{\.name = "(\w+)",(.*?)\}\},\n$',
                       (SOURCE / "executor/abi/Optimizers.def").read_text(),
                       re.MULTILINE | re.DOTALL))
# By name: the keys that change the form of the update.
OPTIMIZERS = {name: {"momentum": 0.8} if "kMomentum" in row else {} for name, row in ROWS.items()}
KEYS = dict(re.findall(r"OptimizerKey (k\w+) = (\{.*?\});",
                       (SOURCE / "executor/abi/Optimizers.h").read_text(), re.DOTALL))
# By name: its own keys whose value is a share of 0 to 1.
SHARES = {name: re.findall(r'\{"(\w+)", [\d.e-]+, 0, 1, (?![^}]*true)',
                           re.sub(r"\bk\w+", lambda key: KEYS.get(key[0], key[0]), row))
          for name, row in ROWS.items()}
SETTINGS = {
    "plain": {},
    "wd": {"wd": 0.03},
    "clip": {"clip_gradient": 0.02},
    "norm": {"clip_gradient_norm": 0.05},
    "schedule": {"lr_scheduler": "factor(step=2, factor=0.5)"},
    "dropout": {"dropout": 0.4},
    "accumulate": {"accumulate": 2},
    "double": {"dtype": "f64"},
}
ALL = {key: value for setting in SETTINGS.values() for key, value in setting.items()
       if key != "dtype"}

TEXT = """\
N = dim("batch", {batch})

def net(data: float32[N, {extents}], label: float32[N, {outputs}]):
    x = data
{lines}
    return LinearRegressionOutput(x, label, name="out")

data(net, train="npz:d.npz", shuffle=False)
fit(net, seed=0)
"""


class Net:
    """A network as symbols and as text, its data and initial weights."""

    batch, batches, epochs, rate, step = 4, 3, 2, RATE, 2
    extents, outputs = (3,), 2
    hidden = [("FullyConnected", {"num_hidden": 5, "name": "one"}),
              ("Activation", {"act_type": "tanh"})]
    drawn = False

    def __init__(self, dropout):
        self.layers = [*self.hidden, ("Dropout", {"p": dropout}),
                       ("FullyConnected", {"num_hidden": self.outputs, "name": "fc"})]
        random = np.random.default_rng(5)
        self.x = random.normal(size=(self.batch * self.batches, *self.extents)).astype("f4")
        self.y = random.normal(size=(self.batch * self.batches, self.outputs)).astype("f4")
        symbol, shapes = self.symbol(), self.shapes()
        arguments, _, states = symbol.infer_shape(**shapes)
        self.weights = {
            name: random.normal(size=shape).astype("f4")
            for name, shape in zip(symbol.list_inputs(), [*arguments, *states])
            if name not in shapes}

    def shapes(self):
        return {"data": (self.batch, *self.extents), "label": (self.batch, self.outputs)}

    def symbol(self):
        x = sym.Variable("data")
        for op, attributes in self.layers:
            x = getattr(sym, op)(x, **attributes)
            x = x[0] if op in ("LSTM", "GRU") else x
        return sym.LinearRegressionOutput(x, sym.Variable("label"), name="out")

    def text(self):
        lines = [f"    x = {op}(x, {', '.join(f'{k}={v!r}' for k, v in attributes.items())})"
                 + ("[0]" if op in ("LSTM", "GRU") else "") for op, attributes in self.layers]
        return TEXT.format(batch=self.batch, extents=", ".join(map(str, self.extents)),
                           outputs=self.outputs, lines="\n".join(lines))

    def minibatches(self):
        for begin in range(0, self.batch * self.batches, self.batch):
            yield {"data": self.x[begin:begin + self.batch],
                   "label": self.y[begin:begin + self.batch]}

    def iterator(self):
        return lstmc.io.NDArrayIter(self.x, self.y, batch_size=self.batch, label_name="label")

    def rate_of(self, keys, update):
        """factor(step=S, factor=0.5) by hand: a schedule belongs to the loop, which is the user's
        here."""
        return (self.rate * 0.5 ** ((update - 1) // self.step) if "lr_scheduler" in keys
                else self.rate)


def drawn(seed):
    """A network of random layers and extents, the optimizer and its keys."""
    draw = np.random.default_rng(seed)

    def number(least, most):
        return int(draw.integers(least, most + 1))

    class Drawn(Net):
        batch, batches, epochs = 6 * number(1, 2), number(1, 3), number(1, 2)
        rate, step, outputs = float(draw.uniform(0.001, 0.05)), number(1, 3), number(1, 4)
        extents = tuple(number(1, 5) for _ in range(number(1, 2)))
        hidden = []
        drawn = True

    if len(Drawn.extents) == 2:
        for layer in range(number(0, 2)):
            Drawn.hidden.append((draw.choice(["LSTM", "GRU"]).item(),
                                 {"num_hidden": number(1, 8), "layout": "NTC",
                                  "name": f"cell{layer}"}))
        if Drawn.hidden:
            Drawn.hidden.append(("slice_axis", {"axis": 1, "begin": -1, "end": None}))
    for layer in range(number(0, 2)):
        Drawn.hidden += [
            ("FullyConnected", {"num_hidden": number(1, 8), "name": f"full{layer}"}),
            *[("BatchNorm", {"fix_gamma": bool(number(0, 1)), "name": f"norm{layer}"})
              for _ in range(number(0, 1))],
            ("Activation", {"act_type": draw.choice(["tanh", "sigmoid", "relu"]).item()})]
    optimizer = draw.choice(list(OPTIMIZERS)).item()
    offered = {"wd": float(draw.uniform(0, 0.1)), "clip_gradient": float(draw.uniform(0.01, 1)),
               "clip_gradient_norm": float(draw.uniform(0.01, 1)),
               "lr_scheduler": f"factor(step={Drawn.step}, factor=0.5)",
               "dropout": float(draw.uniform(0, 0.9)), "accumulate": number(2, 3), "dtype": "f64",
               **{key: float(draw.uniform(0.1, 0.99)) for key in SHARES[optimizer]}}
    return Drawn, optimizer, {key: value for key, value in offered.items() if draw.random() < 0.4}


class Case:
    """An optimizer with keys of fit(..), in a folder with the text, its data and initial
    weights."""

    def __init__(self, folder, optimizer, keys, kind=Net):
        self.folder, self.optimizer = pathlib.Path(folder), optimizer
        self.dropout = keys.get("dropout", 0)
        self.net = kind(self.dropout)
        self.keys = {key: value for key, value in keys.items() if key != "dropout"}
        np.savez(self.folder / "d.npz", data=self.net.x, label=self.net.y)
        self.weights = {name: value.astype("f8" if "dtype" in keys else "f4")
                        for name, value in self.net.weights.items()}
        np.savez(self.folder / "w.npz", **self.weights)
        (self.folder / "net.lnet").write_text(self.net.text())

    # Each returns the hash of the final weights.

    def network_fit(self):
        net = lstmc.Network(self.net.symbol())
        net.fit(list(self.net.minibatches()), params=self.weights, optimizer=self.optimizer,
                learning_rate=self.net.rate, num_epoch=self.net.epochs, seed=0, **self.keys)
        return net.session.weights_hash

    def module(self):
        module = lstmc.mod.Module(self.net.symbol(), label_names=["label"])
        return module, {"optimizer": self.optimizer,
                        "optimizer_params": {"learning_rate": self.net.rate, "seed": 0,
                                             **self.keys}}

    def module_fit(self):
        module, optimizer = self.module()
        module.fit(self.net.iterator(), num_epoch=self.net.epochs, arg_params=self.weights,
                   eval_metric="mse", **optimizer)
        return module._network.session.weights_hash

    def module_loop(self):
        module, optimizer = self.module()
        data = self.net.iterator()
        module.bind(data.provide_data, data.provide_label)
        module.init_params(arg_params=self.weights)
        module.init_optimizer(**optimizer)
        for _ in range(self.net.epochs):
            data.reset()
            for batch in data:
                module.forward_backward(batch)
                module.update()
        return module._session().weights_hash

    def gluon(self, hybridized):
        """A loop over autograd and gluon.Trainer, which adds the gradients of parts of the batch
        for `accumulate`; None for dropout of single ops or of parts, whose masks are their own, and
        for auxiliary states, which blocks do not have."""
        keys = dict(self.keys)
        dtype = "float64" if keys.pop("dtype", None) else "float32"
        parts = keys.pop("accumulate", 1)
        if self.dropout and (not hybridized or self.net.drawn):
            return None
        if self.net.symbol().list_auxiliary_states():
            return None
        if self.dropout or parts != 2:  # only halves are subtrees of numerics' rule 5
            parts = 1  # which changes no bit
        block = self.block(hybridized)
        parameters = block.collect_params()
        parameters.initialize()
        for name, value in self.weights.items():
            parameters[name].cast(dtype)
            parameters[name].set_data(value)
            parameters[name].wd_mult = float(name.endswith("_weight"))
            parameters[name].grad_req = "write" if parts == 1 else "add"
        trainer = lstmc.gluon.Trainer(parameters, self.optimizer,
                                      {"learning_rate": self.net.rate, **keys})
        lstmc.random.seed(0)  # a call draws what the update of that number does
        for _, _, batch in self.batches():
            parameters.zero_grad()
            for part in zip(*(np.split(batch[name], parts) for name in ("data", "label"))):
                with lstmc.autograd.record():
                    output = block(*(lstmc.nd.array(array, dtype=dtype) for array in part))
                output.backward()
            trainer.step(self.net.batch)
        final = {name: parameters[name].data().asnumpy() for name in self.weights}
        return self.package().session(params=final).weights_hash

    def block(self, hybridized):
        """The network as a block; one that is drawn is that of its symbol."""
        if self.net.drawn:
            inputs = [sym.Variable("data"), sym.Variable("label")]
            return lstmc.gluon.SymbolBlock(self.net.symbol(), inputs)
        made = {"FullyConnected": lambda num_hidden, name: nn.Dense(num_hidden, prefix=name + "_"),
                "Activation": lambda act_type: nn.Activation(act_type),
                "Dropout": lambda p: nn.Dropout(p)}

        class Regression(lstmc.gluon.HybridBlock):
            def __init__(self):
                super().__init__(prefix="")
                self.body = nn.HybridSequential(prefix="")
                for op, attributes in layers:
                    self.body.add(made[op](**attributes))

            def hybrid_forward(self, F, x, label):
                return F.LinearRegressionOutput(self.body(x), label)

        layers = self.net.layers
        block = Regression()
        if hybridized:
            block.hybridize()
        return block

    def gluon_eager(self):
        return self.gluon(hybridized=False)

    def gluon_hybrid(self):
        return self.gluon(hybridized=True)

    def package(self):
        keys = {key: value for key, value in self.keys.items() if key != "lr_scheduler"}
        return lstmc.Network(self.net.symbol()).compile(self.net.shapes(),
                                                        optimizer=self.optimizer, **keys)

    def batches(self):
        """Number, rate and batch of each update."""
        for update in range(1, self.net.epochs * self.net.batches + 1):
            yield (update, self.net.rate_of(self.keys, update),
                   list(self.net.minibatches())[(update - 1) % self.net.batches])

    def updates(self, run):
        for update, rate, batch in self.batches():
            run({**batch, "learning_rate": [rate], "update": [update], "seed": [0]})

    def session_step(self):
        session = self.package().session(params=self.weights, seed=7)
        self.updates(lambda inputs: session.run(inputs, entry="step"))
        return session.weights_hash

    def saved(self):
        self.package().save(self.folder / "net.lstmc", force=True)
        return self.folder / "net.lstmc"

    def runtime_step(self):
        return self.stepped(self.saved())

    def stepped(self, package):
        session = lstmc_runtime.load(package).session(params=self.folder / "w.npz")
        self.updates(lambda inputs: session.run(inputs, entry="step"))
        return session.weights_hash

    def c_step(self):
        """lstmc.h itself: views of data, and lstmc_session_set_update."""
        from lstmc_runtime.native import call, library

        package, session = ctypes.c_void_p(), ctypes.c_void_p()
        call("package_open", str(self.saved()).encode(), ctypes.byref(package))
        call("session_create", package, None, ctypes.byref(session))
        call("session_load_weights", session, str(self.folder / "w.npz").encode())
        self.updates(lambda inputs: self.c_update(session, inputs))
        found = f"{library.lstmc_session_weights_hash(session):016x}"
        library.lstmc_session_close(session)
        library.lstmc_package_close(package)
        return found

    @staticmethod
    def c_update(session, inputs):
        from lstmc_runtime.native import DTYPES, Tensor, call

        for name in "data", "label":
            tensor = Tensor()
            call("session_input", session, b"step", name.encode(), ctypes.byref(tensor))
            value = inputs[name].astype(DTYPES[tensor.dtype])
            ctypes.memmove(tensor.data, value.ctypes.data, value.nbytes)
        call("session_set_update", session, ctypes.c_double(inputs["learning_rate"][0]),
             ctypes.c_int64(inputs["update"][0]), ctypes.c_uint64(inputs["seed"][0]))
        call("session_run", session, b"step")

    def c_from_checkpoint(self, path, by_hand=False):
        """The second epoch; with `by_hand` in another session, to which all weights and slots are
        copied."""
        from lstmc_runtime.native import Tensor, call, library, names

        path, package, sessions = str(self.folder / path).encode(), ctypes.c_void_p(), []
        call("package_open", path, ctypes.byref(package))
        for _ in range(1 + by_hand):
            sessions.append(ctypes.c_void_p())
            call("session_create", package, None, ctypes.byref(sessions[-1]))
        first, session = sessions[0], sessions[-1]
        updates = ctypes.c_int64()
        call("session_load_checkpoint", first, path, ctypes.byref(updates))
        if by_hand:
            call("session_copy_weights", session, first)
            for slot in names(library.lstmc_package_slot, package):
                tensor = Tensor()
                call("session_state", first, slot.encode(), ctypes.byref(tensor))
                size = ctypes.c_size_t(library.lstmc_tensor_bytes(ctypes.byref(tensor)))
                kept = ctypes.create_string_buffer(size.value)
                call("session_get_state", first, slot.encode(), kept, size)
                call("session_set_state", session, slot.encode(), kept, size)
        for update, rate, batch in self.batches():
            if update > updates.value:
                self.c_update(session, {**batch, "learning_rate": [rate], "update": [update],
                                        "seed": [0]})
        found = f"{library.lstmc_session_weights_hash(session):016x}"
        for each in sessions:
            library.lstmc_session_close(each)
        library.lstmc_package_close(package)
        return found

    def cpp(self, *words):
        done = subprocess.run([CPP, *map(str, words)], cwd=self.folder, capture_output=True,
                              text=True, check=False)
        return done.stdout.strip() + done.stderr

    def cpp_bind(self):
        """symbol::bind; None for settings that its options lack, and for networks drawn."""
        if self.net.drawn or set(self.keys) - {"wd", "momentum", "lr_scheduler"}:
            return None
        lines = [("parameter", name, *value.ravel()) for name, value in self.weights.items()]
        for _, rate, batch in self.batches():
            lines.append(("update", repr(rate), *batch["data"].ravel(), *batch["label"].ravel()))
        (self.folder / "values").write_text("".join(
            " ".join(w if isinstance(w, str) else float(w).hex() for w in line) + "\n"
            for line in lines))
        own = [f"{key}={value}" for key, value in self.keys.items()
               if key not in ("wd", "lr_scheduler")]
        return self.cpp("bind", "values", self.dropout, self.optimizer, self.keys.get("wd", 0),
                        *own).zfill(16)

    def cpp_compile(self):
        """A package of the library for C++ programs, updated by lstmc.h; None for networks
        drawn."""
        if self.net.drawn:
            return None
        package = self.folder / "cpp.lstmc"
        said = self.cpp("compile", package.name, self.dropout, self.optimizer,
                        *(f"{key}={value}" for key, value in self.keys.items()
                          if key != "lr_scheduler"))
        return said or self.stepped(package)

    def words(self):
        flags = {"accumulate", "dtype"}
        given = [["--" + key, str(value)] if key in flags else ["--fit", f"{key}={value}"]
                 for key, value in self.keys.items()]
        return ["train", "net.lnet", "--params", "w.npz", "--optimizer", self.optimizer,
                "--lr", repr(self.net.rate), "--after", f"{self.net.epochs}e", "-o", "ck",
                "--force", *(word for words in given for word in words)]

    def trained(self, *words):
        done = subprocess.run([COMMAND, *words], cwd=self.folder, capture_output=True, text=True,
                              check=False)
        found = re.search(r"weights\s+([0-9a-f]{16})", done.stdout + done.stderr)
        return found[1] if found else done.stdout + done.stderr

    def command(self):
        return self.trained(*self.words())

    def launch(self):
        return self.trained("launch", "-n", "2", "--", *self.words(), "-d", "2xcpu")


HERE = ("network_fit", "module_fit", "module_loop", "session_step", "gluon_eager", "gluon_hybrid",
        *(("runtime_step", "c_step") if LIBRARY else ()),
        *(("cpp_bind", "cpp_compile") if LIBRARY and CPP else ()))
PROCESSES = ("command", "launch")


def trained(optimizer, keys, roads, kind=Net):
    """{road: hash, or its exception} of the roads that take these keys."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        case = Case(folder, optimizer, keys, kind)
        for road in roads:
            try:
                found[road] = getattr(case, road)()
            except lstmc.Error as error:
                found[road] = str(error)
    return {road: end for road, end in found.items() if end is not None}


def differ(found):
    return (len(set(found.values())) > 1
            or not all(re.fullmatch("[0-9a-f]{16}", end) for end in found.values()))


def differing(optimizer, keys, roads):
    """{road: hash, or its exception} unless all hashes are equal."""
    found = trained(optimizer, keys, roads)
    return found if differ(found) else {}


class Roads(unittest.TestCase):
    def test_every_optimizer_takes_the_same_update_by_every_road(self):
        self.assertGreaterEqual(len(OPTIMIZERS), 13)
        for optimizer, own in OPTIMIZERS.items():
            for keys in ({}, {**ALL, **own}):
                with self.subTest(optimizer=optimizer, keys=list(keys)):
                    self.assertEqual(
                        differing(optimizer, keys, [*HERE, *(["command"] if keys else [])]), {})

    @unittest.skipUnless(LIBRARY, "there is no liblstmc.so")
    def test_c_goes_on_from_a_checkpoint(self):
        """An epoch by the command and one by lstmc.h end like two by Network.fit, also if the
        program restores weights and slots itself."""
        with tempfile.TemporaryDirectory() as folder:
            case = Case(folder, "nadam", {"wd": 0.03, "dropout": 0.4})
            whole = case.network_fit()
            case.trained(*(word if word != "2e" else "1e" for word in case.words()))
            self.assertEqual(case.c_from_checkpoint("ck"), whole)
            self.assertEqual(case.c_from_checkpoint("ck", by_hand=True), whole)

    def test_networks_drawn_at_random(self):
        for seed in range(1, 13):
            kind, optimizer, keys = drawn(seed)
            with self.subTest(seed=seed, optimizer=optimizer, keys=keys):
                found = trained(optimizer, keys, HERE, kind)
                self.assertFalse(differ(found), found)

    def test_a_job_takes_it_too(self):
        found = differing("nadam", ALL, ["network_fit", "launch"])
        if "E0503" in found.get("launch", ""):
            self.skipTest("there is no MPI")
        self.assertEqual(found, {})


def everything():
    cases, found = 0, 0
    for optimizer, own in OPTIMIZERS.items():
        for name, keys in {**SETTINGS, "all": {**ALL, **own}}.items():
            roads = [*HERE, *PROCESSES]
            ends = trained(optimizer, keys, roads)
            cases += len(ends)
            if differ(ends):
                found += 1
                print(optimizer, name, ends, flush=True)
    print(f"{cases} trainings by {len(HERE) + len(PROCESSES)} roads, {found} settings of "
          "optimizers whose roads differ")
    return found


def at_random(first, last):
    cases, found = 0, 0
    for seed in range(first, last + 1):
        kind, optimizer, keys = drawn(seed)
        ends = trained(optimizer, keys, [*HERE, *(PROCESSES if seed % 10 == 0 else ())], kind)
        cases += len(ends)
        if differ(ends):
            found += 1
            print(seed, optimizer, keys, ends, flush=True)
    print(f"{cases} trainings of {last - first + 1} networks drawn, {found} whose roads differ")
    return found


if __name__ == "__main__":
    if "--seeds" in sys.argv:
        given = sys.argv[sys.argv.index("--seeds") + 1].split("..")
        sys.exit(1 if at_random(int(given[0]), int(given[-1])) else 0)
    if "--all" in sys.argv:
        sys.exit(1 if everything() else 0)
    unittest.main()
