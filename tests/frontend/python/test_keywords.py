"""Every keyword of a call has an effect: it changes the result, or causes an error or a warning;
all other flags of the command are refused by name. A record that is added to request.def needs a
case here."""

import contextlib
import hashlib
import inspect
import os
import shutil
import tempfile
import threading
import unittest
import warnings

import numpy as np

import lstmc
from lstmc import _core, keyword_types, keywords, sym

NET = """
from sizes import classes
units = setting("units", 8)
N, T = dim("batch", 8), dim("seq", 6)

def last(data: float32[N, T, 3], label: int32[N]):
    with ctx_group("low"):
        x, h, c = LSTM(data, num_hidden=units, layout="NTC", name="lstm")
        x = Dropout(x, p=0.3, name="drop")
    y = FullyConnected(SequenceLast(SwapAxis(x, dim1=0, dim2=1, name="swap"), name="end"), num_hidden=classes, name="out")
    return SoftmaxOutput(y, label, name="softmax")

def layers(data: float32[N, T, 3], label: int32[N]):
    for i in range(2):
        with ctx_group("layer%d" % i):
            data, h, c = LSTM(data, num_hidden=8, layout="NTC", name="lstm%d" % i)
    y = FullyConnected(SequenceLast(SwapAxis(data, dim1=0, dim2=1, name="swap"), name="end"), num_hidden=2, name="out")
    return SoftmaxOutput(y, label, name="softmax")

def wide(data: float32[N, 3], label: int32[N]):
    y = FullyConnected(FullyConnected(data, num_hidden=8192, name="low"), num_hidden=2, name="out")
    return SoftmaxOutput(y, label, name="softmax")

def hides(data: float32[N, T, 3], label: int32[N]):
    y = BlockGrad(tanh(exp(sum(data, axis=1) * 100)))
    return SoftmaxOutput(FullyConnected(y, num_hidden=2, name="out"), label, name="softmax")

def kept(data: float32[N, 3]):
    return FullyConnected(data, weight=Variable("w", shape=(2, 3), init="@../w.npy"), num_hidden=2, name="out")

fit(last, optimizer="adam", learning_rate=0.02, initializer=Uniform(0.1))
fit(layers, optimizer="adam", learning_rate=0.02, initializer=Uniform(0.1))
fit(wide, optimizer="adam", learning_rate=0.02, initializer=Uniform(0.1))
fit(hides, optimizer="adam", learning_rate=0.02, initializer=Uniform(0.1))
fit(kept, initializer=Uniform(0.1))
"""

# Flags that affect compilation: (keywords without the flag, value). With the flag the package has
# other bytes, or there is an error or a warning.
# of a batch of 8, so that one device is idle
TWO, NINE = {"devices": "2xcpu"}, {"devices": "9xcpu"}
COMPILED = {
    "shape": ({}, {"data": (16, 6, 3)}), "layout": ({}, {"data": "NTC"}),
    "set": ({}, {"units": 16}), "net": ({}, "wide"),
    "work_load_list": (TWO, [3, 1]), "kv_store": (TWO, "device"),
    "update_on_kvstore": ({**TWO, "update_on_kvstore": 1}, 0), "bucket_bytes": (TWO, 0),
    "gradient_compression": ({}, "2bit"),
    "bigarray_bound": ({**TWO, "net": "wide", "kv_store": "device", "bucket_bytes": 0}, 5000),
    "accumulate": ({}, 2), "place": (TWO, {"low": "cpu:1"}),
    "chunks": ({**TWO, "net": "layers", "place": {"layer1": "cpu:1"}}, 3), "streams": ({}, 2),
    "recompute": ({}, ["lstm"]), "batch": ({}, 16), "batch_size": ({}, 16), "dtype": ({}, "f64"),
    "shards": ({}, 4), "fast": ({}, "tf32"), "disable_pass": ({}, "fuse"),
    "fixed_params": ({}, "lstm*"), "gradient_norms": ({}, True),
}
SAME = {  # flags that change nothing, and the reason
    "numerics": "both words mean the same bits",
    "check_replicas": "copies of weights never differ here",
    "quiet of session": "what is said on stderr of launches that take 10 s",
}
SOURCE = {
    "include": ({"file": "far"}, "@other"), "devices": ({}, "2xcpu"), "gpus": ({}, "99"),
    "mem": ({}, "1K"), "werror": (NINE, True),
    "quiet": (NINE, True), "limit": ({}, {"source": 10}), "allow_data": ({"net": "kept"}, "@"),
}
COMPILE = {**SOURCE, "optimizer": ({}, "sgd"), "fit": ({}, {"wd": 0.1}), "entry": ({}, ["forward"])}
OUTPUT = {"output": "@ck", "save_every": "1u"}
FIT = {**COMPILE, "threads": ({}, 3), "seed": ({}, 5),
       "check_nan": ({"net": "hides", "disable_pass": "fuse"}, True), "lr": ({}, 0.5),
       "metric": ({}, "accuracy"), "init_params": ({}, "@first.npz"), "after": ({}, "1u"),
       "num_epochs": ({}, 1), "valid_every": ({}, "1u"), "save_every": ({"output": "@ck"}, "1u"),
       "disp_every": ({}, "1u"), "disp_batches": ({}, 1), "keep": (OUTPUT, 1),
       "keep_every": ({**OUTPUT, "keep": 1}, 1), "output": ({}, "@ck"),
       "early_stop": ({"still": True, "after": "9e"}, 1), "resume": ({"output": "@old"}, True),
       "force": ({"output": "@old"}, True), "tensorboard": ({}, "@tb"),
}
FIT.pop("entry")
SESSION_FIT = {name: FIT[name] for name in FIT if name in keywords.taken("Session.fit")}
SESSION_FIT["limit"] = ({"init_params": "@first.safetensors"}, {"header": 1})
SESSION = {"threads": ({}, 3), "seed": ({}, 5), "devices": ({}, "2xcpu"), "gpus": ({}, "99"),
           "check_nan": ({"bad": True}, True),
           "limit": ({"params": "@first.safetensors"}, {"header": 1})}
KEYS = {  # keys of fit(..), with a value that is no optimizer's default
        "beta": 0.3, "beta1": 0.3, "beta2": 0.3, "bias_correction": False, "carry": ["none*"],
        "centered": True, "clip_gradient": 1e-3, "clip_gradient_norm": 1e-3, "clip_weights": 1e-3,
        "correct_bias": False, "eps": 0.1, "epsilon": 0.1, "eval_metric": "mse", "gamma1": 0.3,
        "gamma2": 0.3, "initializer": lstmc.init.Constant(0.5), "lamda1": 0.5, "learning_rate": 0.5,
        "lower_bound": 0.5, "lr_scheduler": "FactorScheduler(step=1, factor=0.1)", "momentum": 0.5,
        "num_epoch": 1, "num_update": 1, "optimizer": "adam", "rescale_grad": 0.01,
        "rho": 0.3, "schedule_decay": 0.5, "seed": 3, "upper_bound": 0.01, "wd": 50.0, "wd_lh": 0.5,
}
# Keys that need another key: the centered form for an average; momentum for signum, whose sign
# clipping does not change.
BESIDE = {("rmsprop", "gamma2"): {"centered": True},
          ("signum", "clip_gradient_norm"): {"momentum": 0.9, "wd": 0.5},
}
OPTIMIZERS = [kind.name for kind in vars(lstmc.optimizer).values()
              if inspect.isclass(kind) and getattr(kind, "name", "")]


def digest(package):
    return hashlib.sha256(bytes(package)).hexdigest()


class Fails:
    """The exception of a call, in place of a value."""

    def __init__(self, error):
        self.text, self.code = str(error), getattr(error, "code", type(error).__name__)

    def __eq__(self, other):
        return isinstance(other, Fails) and self.text == other.text

    def __repr__(self):
        return self.text


class Keywords(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = held.name
        self.net = self.at("nets/net.lnet")
        for path, text in {"nets/net.lnet": NET, "nets/sizes.lnet": "classes = 2\n",
                           "nets/far.lnet": NET.replace("sizes", "away"),
                           "lib/away.lnet": "classes = 2\n",
                           "other/away.lnet": "classes = 3\n"}.items():
            os.makedirs(os.path.dirname(self.at(path)), exist_ok=True)
            with open(self.at(path), "w") as file:
                file.write(text)
        np.save(self.at("w.npy"), np.ones((2, 3), "float32"))

    def at(self, name):
        return os.path.join(self.folder, name)

    def text(self, value):
        """"@x" is the file x in the folder."""
        return self.at(value[1:]) if isinstance(value, str) and value.startswith("@") else value

    def outcome(self, call):
        """(result of a call, its warnings); errors are results too."""
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                result = call()
            except (lstmc.Error, ValueError, TypeError) as error:
                result = Fails(error)
        return result, [str(warning.message) for warning in warned]

    def assert_effect(self, table, name, run):
        """Checks that `run(keywords)` has another outcome with the flag than without."""
        context, value = table[name]
        context = {key: self.text(given) for key, given in context.items() if given is not None}
        without = self.outcome(lambda: run(dict(context)))
        given = self.outcome(lambda: run({**context, name: self.text(value)}))
        self.assertNotEqual(without, given, f"{name}={value!r} changes nothing")

    def check(self, call, table, run):
        """Checks that each flag of the call is in the table and has an effect, and that the
        command's other flags are refused."""
        taken = keywords.taken(call)
        for name in _core.flags(keywords.CALLS[call].job):
            if (name in SAME or f"{name} of {call}" in SAME) and name in taken:
                continue
            with self.subTest(call=call, flag=name):
                if name in taken:
                    self.assertIn(name, table, "a flag that is taken needs a case here")
                    self.assert_effect(table, name, run)
                elif name not in self.arguments(call):
                    result, _ = self.outcome(lambda: run({name: "1"}))
                    self.assertIsInstance(result, Fails)
                    self.assertEqual(result.code, "E0001")
                    self.assertIn(f"{name}= is a flag of the command", result.text)

    def arguments(self, call):
        """The call's own arguments."""
        function = {"load": lstmc.load, "Network": lstmc.Network.__init__,
                    "compile": lstmc.Network.compile, "fit": lstmc.Network.fit,
                    "Session.fit": lstmc.Session.fit, "session": lstmc.Package.session,
                    "plot": lstmc.Network.plot}[call]
        return set(inspect.signature(function).parameters)

    # The calls.

    def arrays(self, bad=False, axes=2):
        draw = np.random.default_rng(3)
        data = draw.random((40, 6, 3) if axes == 2 else (40, 3), dtype=np.float32)
        if bad:
            data[3] = np.nan
        return {"data": data,
                "label": (data.sum(tuple(range(1, data.ndim))) > data.size / 80).astype("int32")}

    def network(self, keywords, **more):
        """A Network of the file that the context names. The file is read when the network is made,
        and again at compilation."""
        file = keywords.pop("file", "net")
        return lstmc.Network(self.at(f"nets/{file}.lnet"),
                             **({"include": self.at("lib")} if file == "far" else {}), **more)

    def compile(self, keywords):
        return digest(self.network(keywords, net="last").compile(**keywords))

    def load_and_compile(self, keywords):
        path = self.at(f"nets/{keywords.pop('file', 'net')}.lnet")
        return digest(lstmc.Network(path, **{"net": "last", **keywords}).compile())

    def plot(self, keywords):
        return lstmc.Network(self.net, net="last").plot(**keywords).data

    def before_training(self):
        """Files that some flags need: weights, and a folder with checkpoints."""
        model = lstmc.Network(self.net, net="last")
        model.fit(self.arrays(), after="2u", output=self.at("old"), force=True)
        model.session.save_params(self.at("first.safetensors"), force=True)
        np.savez(self.at("first.npz"),
                 **{name: value + 1 for name, value in model.session.params().items()})

    def watched(self, fit, keywords):
        """Events, end, weights and files of a training, and the number of its threads."""
        events, counts = [], []

        def callback(event):
            counts.append(len(os.listdir("/proc/self/task")) - threading.active_count())
            events.append({key: value for key, value in event.items() if key != "seconds"})

        end = fit(callback)
        written = {}
        for folder, _, names in os.walk(self.folder):
            for name in names:
                if not name.endswith(".lnet"):
                    written[os.path.relpath(os.path.join(folder,
                                                         "events" if "tfevents" in name else name),
                                            self.folder)] = True
        for folder in ("ck", "tb"):
            with contextlib.suppress(FileNotFoundError):
                shutil.rmtree(self.at(folder))
        return (events, {key: str(value) for key, value in end.items()}, sorted(written),
                max(counts) - min(counts) if not counts else counts[0])

    def fit(self, keywords):
        keywords = {"threads": 1, "valid": 0.2, "after": "2e", **keywords}
        self.before_training()
        data = self.arrays(keywords.pop("bad", False),
                           1 if keywords.get("net") in ("wide", "kept") else 2)
        if isinstance(keywords.get("limit"), dict):
            np.savez(self.at("data.npz"), **data)
            data, keywords["valid"] = f"npz:{self.at('data.npz')}", None
        if "num_epochs" in keywords:
            del keywords["after"]
        model = self.network(keywords, net="last")
        if keywords.pop("still", False):
            keywords["lr"] = 0.0
        trained = self.watched(lambda callback: model.fit(data, callback=callback, **keywords),
                               keywords)
        return digest(model.session.package), trained

    def session_fit(self, keywords):
        self.before_training()
        keywords = {"after": "2e", **keywords}
        if "num_epochs" in keywords:
            del keywords["after"]
        if keywords.pop("still", False):
            session = lstmc.Network(self.net, net="last").compile(
                fit={"learning_rate": 0.0}).session(threads=1)
        else:
            session = lstmc.Network(self.net, net="last").compile().session(threads=1)
        data = self.arrays()
        valid = {name: value[32:] for name, value in data.items()}
        return self.watched(
            lambda callback: session.fit(data, valid, callback=callback, **keywords), keywords)

    def session(self, keywords):
        self.before_training()
        bad = keywords.pop("bad", False)
        before = len(os.listdir("/proc/self/task"))
        session = lstmc.Network(self.net, net="last").compile().session(**keywords)
        after = len(os.listdir("/proc/self/task"))
        return ([value.tolist()
                 for value in session.run({"data": self.arrays(bad)["data"][:8]}).values()],
                session.weights_hash, after - before)

    def test_compile(self):
        self.check("compile", {**COMPILED, **COMPILE}, self.compile)

    def test_networks(self):
        self.check("Network", {**COMPILED, **SOURCE}, self.load_and_compile)

    def test_fit(self):
        self.check("fit", {**COMPILED, **FIT}, self.fit)

    def test_fit_of_a_session(self):
        self.check("Session.fit", SESSION_FIT, self.session_fit)

    def test_sessions(self):
        self.check("session", SESSION, self.session)

    def test_keys_of_fit(self):
        """For every optimizer each key changes the training, or causes a warning or an error with
        its name."""
        self.assertEqual(set(KEYS), set(_core.fit_keys()))
        self.assertGreater(len(OPTIMIZERS), 12)
        net = sym.LinearRegressionOutput(
            sym.FullyConnected(sym.Variable("data"), num_hidden=2, name="fc"),
            sym.Variable("label"), name="out")
        draw = np.random.default_rng(1)
        data = {name: draw.normal(size=(16, width)).astype("float32")
                for name, width in (("data", 3), ("label", 2))}

        def fit(keywords):
            events = []
            end = lstmc.Network(net).fit(data, valid=0.25, batch=4, callback=events.append,
                                         **{"num_epoch": 2, **keywords})
            return end, events

        for optimizer in OPTIMIZERS:
            for key, value in KEYS.items():
                if key == "optimizer" and value == optimizer:
                    continue
                with self.subTest(optimizer=optimizer, key=key):
                    given = {"optimizer": optimizer, **BESIDE.get((optimizer, key), {})}
                    without, quiet = self.outcome(lambda: fit(given))
                    ended, warned = self.outcome(lambda: fit({**given, key: value}))
                    self.assertEqual(quiet, [])
                    if isinstance(ended, Fails) or ended == without:
                        self.assertIn(key,
                                      ended.text if isinstance(ended, Fails) else "".join(warned))

    def test_one_setting_by_two_keywords_is_refused(self):
        for given, words in (
                ({"lr": 0.5, "learning_rate": 0.1}, "lr= and learning_rate"),
                ({"lr": 0.5, "fit": {"learning_rate": 0.1}}, "lr= and learning_rate"),
                ({"wd": 0.5, "fit": {"wd": 0.1}}, "wd is given twice"),
                ({"optimizer": "sgd", "fit": {"optimizer": "adam"}}, "optimizer is given twice"),
                ({"init_params": "a.npz", "params": {}}, "init_params= begins"),
                ({"init_params": "a.npz", "resume": True}, "init_params= begins"),
                ({"batch": 8, "batch_size": 4}, "batch"),
                ({"check_nan": "auto"}, "check_nan= is True or False")):
            with self.subTest(given=given), self.assertRaisesRegex(lstmc.Error, words):
                lstmc.Network(self.net, net="last").fit(self.arrays(), after="1u", **given)

    def test_signatures(self):
        """Each call shows its keywords, with their types and documentation; those for type checkers
        are the same."""
        types = {"compile": "CompileKeywords", "fit": "FitKeywords", "session": "SessionKeywords",
                 "Session.fit": "SessionFitKeywords", "Network": "NetworkKeywords"}
        functions = {"compile": lstmc.Network.compile, "fit": lstmc.Network.fit,
                     "session": lstmc.Package.session, "Session.fit": lstmc.Session.fit,
                     "Network": lstmc.Network.__init__}
        for call, function in functions.items():
            shown = {name: one.annotation
                     for name, one in inspect.signature(function).parameters.items()
                     if one.kind is one.KEYWORD_ONLY}
            own = set(inspect.signature(function).parameters) - shown.keys()
            taken = keywords.taken(call).keys()
            self.assertEqual(taken - own, shown.keys() - (set(KEYS) - taken))
            kept = getattr(keyword_types, types[call]).__annotations__
            self.assertEqual({name: kind.__forward_arg__ for name, kind in kept.items()}, shown)
            for name in shown:
                self.assertIn(f"\n    {name}: ", function.__doc__)
        compiled = inspect.signature(lstmc.Network.compile).parameters
        for name, kind in {
                "batch": "int | str", "mem": "int | str", "werror": "bool", "dtype": "str",
                "update_on_kvstore": 'Literal["auto", "0", 0, "1", 1]', "batch_size": "int",
                "shape": "Mapping[str, Sequence[int]]", "gpus": "int | str | Sequence[int]",
                "disable_pass": "str | Sequence[str]", "learning_rate": "Any",
                "place": "str | Sequence[str] | Mapping[str, str]"}.items():
            self.assertEqual(compiled[name].annotation, f"{kind} | None", name)

    def test_lists_and_dicts(self):
        """A list or dict is several values of a field that repeats, else one text; a field of one
        value refuses it."""
        for given, fields in (
                ({"disable_pass": ["fuse", "schedule"]},
                 [("disable-pass", "fuse"), ("disable-pass", "schedule")]),
                ({"set": {"a": 1, "b": 2}, "shape": {"x": (2, 3)}},
                 [("set", "a=1"), ("set", "b=2"), ("shape", "x:2x3")]),
                ({"place": {"a": "cpu:0", "b": "cpu:1"}}, [("place", "a=cpu:0,b=cpu:1")]),
                ({"devices": ["cpu:0", "cpu:1"]}, [("devices", "cpu:0,cpu:1")]),
                ({"gpus": [0, 1], "num_epochs": 3}, [("devices", "gpu:0,1"), ("after", "3e")]),
                ({"fast": ["tf32", "cudnn"]}, [("fast", "tf32,cudnn")]),
                ({"werror": True, "quiet": False, "mem": None}, [("werror", "")])):
            self.assertEqual(keywords.as_fields(given), fields)
        model = lstmc.Network(self.net, net="last")
        for given in ({"batch": [8, 16]}, {"mem": {"a": 1}}, {"kv_store": ("local",)}):
            with self.assertRaisesRegex(lstmc.Error, "takes one value"):
                model.compile(**given)

    def test_arguments(self):
        """Arguments besides flags: (without, with) for each, with different outcomes."""
        net = sym.LinearRegressionOutput(
            sym.FullyConnected(sym.Variable("data"), num_hidden=2, name="fc"),
            sym.Variable("label"), name="out")
        draw = np.random.default_rng(1)
        data = {name: draw.normal(size=(16, width)).astype("float32")
                for name, width in (("data", 3), ("label", 2))}
        shapes = {"data": (4, 3), "label": (4, 2)}
        ones = {"fc_weight": np.ones((2, 3)), "fc_bias": np.ones(2)}
        called = []

        def mean(label, output):
            return float(np.abs(label - output).mean())

        def compiled(**given):
            return digest(lstmc.Network(net).compile(**{"shapes": shapes, **given}))

        def fitted(**given):
            model, events = lstmc.Network(net), []
            given = {"data": data, "batch": 4, "num_epoch": 1, "learning_rate": 0.1, **given}
            end = model.fit(**{"callback": events.append, **given})
            return end, events, len(called), [
                name for name, _ in model.session.package.inputs().values()]

        def ran(session=None, **given):
            session = session or lstmc.Network(net).compile(shapes).session(seed=1)
            ended = session.run(**{"inputs": {"data": data["data"][:4]}, **given})
            session.input("data")[...] = 0
            session.run()
            return {name: value.tolist() for name, value in ended.items()}

        package = lstmc.Network(net).compile(shapes)
        cases = {
            lstmc.Network.compile: (compiled, {
                "shapes": {"shapes": {"data": (8, 3), "label": (8, 2)}},
                "types": {"types": {"data": "float64"}}, "entries": {"entries": ["forward"]},
                "initializer": {"initializer": lstmc.init.One()}}),
            lstmc.Network.fit:
            (fitted, {"data": {"data": {name: value[:8] for name, value in data.items()}},
                      "valid": {"valid": 0.25}, "batch": {"batch": 8},
                      "callback": {"callback": called.append}, "metric": {"metric": ["mse"]},
                      "initializer": {"initializer": lstmc.init.One()},
                      "params": {"params": ones}, "shapes": {"shapes": {"data": (4, 7)}},
                      "types": {"types": {"data": "int32"}}, "shuffle": {"shuffle": False}}),
            lstmc.Session.run: (ran, {"inputs": {"inputs": None}, "entry": {"entry": "evaluate"},
                                      "copy": {"copy": False}}),
            lstmc.Package.session: (lambda **given: package.session(**given).weights_hash,
                                    {"params": {"params": ones}}),
            lstmc.Session.score:
            (lambda **given: package.session(ones).score(**{"data": data, **given}),
             {"data": {"data": {name: value[:8] for name, value in data.items()}},
              "metric": {"metric": mean}}),
            lstmc.Session.predict: (
                lambda data={"data": data["data"]}: package.session(ones).predict(data).tolist(),
                {"data": {"data": data["data"] + 1}}),
        }
        for function, (call, arguments) in cases.items():
            known = {name for name, one in inspect.signature(function).parameters.items()
                     if one.kind is not one.KEYWORD_ONLY and not name.startswith("_")}
            self.assertEqual(known - {"self"}, set(arguments), "an argument needs a case here")
            for name, given in arguments.items():
                with self.subTest(call=function.__qualname__, argument=name):
                    self.assertNotEqual(self.outcome(call), self.outcome(lambda: call(**given)))

    def test_values_of_another_kind_are_refused(self):
        """By name: neither taken for something else nor left to fail inside."""
        net = sym.LinearRegressionOutput(
            sym.FullyConnected(sym.Variable("data"), num_hidden=1, name="fc"),
            sym.Variable("label"))
        draw = np.random.default_rng(0)
        data = {"data": draw.normal(size=(12, 3)).astype("f4"),
                "label": draw.normal(size=(12, 1)).astype("f4")}
        plain = {"batch": 4, "num_epoch": 2, "learning_rate": 0.1, "seed": 1}

        def fit(**keywords):
            fitted = lstmc.Network(net)
            fitted.fit(data, **{**plain, **keywords})
            return fitted.session.weights_hash

        for keywords, message in (
                ({"shuffle": "no"}, "shuffle= is True or False, got 'no'"),
                ({"batch": 0}, "batch= is a count from 1, got 0"),
                ({"batch": -1}, "batch= is a count from 1, got -1"),
                ({"batch": True}, "batch= is a count from 1, got True"),
                ({"batch": 4.5}, "batch= is a count from 1, got 4.5"),
                ({"valid": True}, "a SPEC or an iterator over batches, got True"),
                ({"valid": 1}, 'valid: found "1", want a fraction'),
                ({"metric": 3}, "metric= has names of metrics and functions .*, got 3"),
                ({"initializer": 3}, "an initializer is one of lstmc.init or its name, got 3"),
                ({"initializer": "xavierr"}, "no initializer .* 'xavierr' .did you mean"),
                ({"types": {"dta": "float64"}}, 'no input is named "dta"'),
                ({"shapes": {"dta": (4, 3)}}, 'no input is named "dta"'),
                ({"seed": True}, "seed= takes a value, got True")):
            with self.subTest(**keywords):
                with self.assertRaisesRegex(lstmc.Error, f"E0001.*{message}"):
                    fit(**keywords)
        with self.assertRaisesRegex(lstmc.Error, "E0001.*no initializer is named 'xavierr'"):
            sym.Variable("w", init="xavierr")
        shuffled, ordered = fit(), fit(shuffle=False)
        self.assertNotEqual(shuffled, ordered)
        self.assertEqual(fit(shuffle=np.bool_(False)), ordered)
        self.assertEqual(fit(batch=np.int64(4)), shuffled)
        share = fit(valid=0.25)
        self.assertEqual(fit(valid=np.float32(0.25)), share)
        session = lstmc.Network(net).compile({"data": (4, 3), "label": (4, 1)},
                                             optimizer="sgd").session(seed=1)
        session.fit(data, valid=0.25, num_epochs=2, seed=1)
        fitted = lstmc.Network(net)
        fitted.fit(data, valid=0.25, optimizer="sgd", **{**plain, "learning_rate": 0.01})
        self.assertEqual(session.weights_hash, fitted.session.weights_hash)

    def test_shapes_and_types_of_files(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/n.lnet", "w") as file:
                file.write('N = dim("batch", 8)\n\ndef net(data: float32[N, 3]):\n'
                           "    return tanh(data)\n")
            net = lstmc.load(f"{folder}/n.lnet")
            self.assertEqual(net.compile({"data": (2, 3)}).inputs(),
                             {"data": ("float32", (2, 3))})
            with self.assertRaisesRegex(lstmc.Error, "types= is for networks of symbols"):
                net.compile(types={"data": "float64"})

    def test_metrics_that_are_functions(self):
        """Validations of any kind call functions; where nothing would call them, they are
        refused."""
        net = sym.LinearRegressionOutput(
            sym.FullyConnected(sym.Variable("data"), num_hidden=2, name="fc"),
            sym.Variable("label"), name="out")
        draw = np.random.default_rng(1)
        data = {name: draw.normal(size=(18, width)).astype("float32")
                for name, width in (("data", 3), ("label", 2))}
        seen = []

        def spread(label, output):
            seen.append((label, output))
            return float(np.abs(label - output).max())

        def tail(valid):
            return ({name: value[-5:] for name, value in data.items()} if isinstance(valid, float)
                    else valid)

        for key in ("metric", "eval_metric"):
            for metric in (spread, [spread], ["mse", spread]):
                for valid in (0.25, {name: value[:7] for name, value in data.items()}):
                    seen.clear()
                    events = []
                    lstmc.Network(net).fit(data, valid=valid, batch=4, optimizer="sgd",
                                           learning_rate=0.1, num_epoch=2, callback=events.append,
                                           **{key: metric})
                    self.assertEqual(len(seen), 2)
                    told = [event["spread"] for event in events if event["event"] == "valid"]
                    for (label, output), value in zip(seen, told):
                        # as the runtime splits them
                        np.testing.assert_array_equal(label, tail(valid)["label"])
                        self.assertEqual(value, float(np.abs(label - output).max()))
                    self.assertEqual(len(told), 2)
                    losses = [event["loss"] for event in events if event["event"] == "valid"]
                    np.testing.assert_allclose(
                        [np.square(label - output).mean() / 2 for label, output in seen], losses,
                        rtol=1e-5)
                with self.assertRaisesRegex(
                        lstmc.Error, "spread is a function, which validations call"):
                    lstmc.Network(net).fit(data, batch=4, num_epoch=1, learning_rate=0.1,
                                           **{key: metric})
        with self.assertRaisesRegex(lstmc.Error, "needs arrays"):
            batches = [{name: value[:4] for name, value in data.items()}]
            lstmc.Network(net).fit(data, valid=batches, batch=4, num_epoch=1, learning_rate=0.1,
                                   metric=spread)

        def fails(label, output):
            raise ValueError("mine")

        with self.assertRaisesRegex(ValueError, "mine"):
            lstmc.Network(net).fit(data, valid=0.25, batch=4, num_epoch=1, learning_rate=0.1,
                                   metric=fails)


if __name__ == "__main__":
    unittest.main()
