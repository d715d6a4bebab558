"""carry=: row i of a batch continues from the states of row i of the previous batch, starting at
zero in each epoch. Tested for every source with a fixed order, against an LSTM that NumPy trains in
float64.

`test_carry.py --seeds A..B` draws sizes, the source, how the batch is divided, and the number of
samples to predict.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import lstmc
from lstmc import sym

STEPS, ROWS, BATCHES, UNITS, RATE, EPOCHS = 6, 4, 5, 8, 0.1, 3
NET = """
N, T = dim("batch", 4), dim("seq", 6)

def st(data: float64[N, T, 1], label: float64[N, T, 1]):
    x, h, c = LSTM(data, num_hidden=8, layout="NTC", name="lstm")
    return LinearRegressionOutput(FullyConnected(x, num_hidden=1, flatten=False, name="out"), label, name="reg")

fit(st, optimizer="sgd", learning_rate=0.1, seed=1, num_epoch=3, carry=["lstm*"], initializer=Uniform(0.3))
"""


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Reference:
    """An LSTM (gates i, f, c, o), a linear layer, half the mean squared difference, SGD."""

    def __init__(self, params):
        self.p = {name: np.array(value, "float64") for name, value in params.items()}
        self.units = self.p["lstm_h2h_weight"].shape[1]

    def steps(self, x, h, c):
        """What each step reads and computes, its output last; and the states after all."""
        p, kept, units = self.p, [], self.units
        for t in range(x.shape[1]):
            z = (x[:, t] @ p["lstm_i2h_weight"].T + p["lstm_i2h_bias"] + h @ p["lstm_h2h_weight"].T
                 + p["lstm_h2h_bias"])
            i, f, g, o = (sigmoid(z[:, :units]), sigmoid(z[:, units:2 * units]),
                          np.tanh(z[:, 2 * units:3 * units]), sigmoid(z[:, 3 * units:]))
            after = f * c + i * g
            out = o * np.tanh(after)
            kept.append((h, c, i, f, g, o, after, out, out @ p["out_weight"].T + p["out_bias"]))
            h, c = out, after
        return kept, h, c

    def step(self, x, y, h, c):
        """One update on x [N, T, F] and y [N, T, 1]; returns the states after it."""
        p = self.p
        kept, h, c = self.steps(x, h, c)
        gradient = {name: np.zeros_like(value) for name, value in p.items()}
        dh, dc = np.zeros_like(h), np.zeros_like(c)
        for t in reversed(range(x.shape[1])):
            before, cell, i, f, g, o, after, out, said = kept[t]
            error = (said - y[:, t]) / (x.shape[0] * x.shape[1])
            gradient["out_weight"] += error.T @ out
            gradient["out_bias"] += error.sum(0)
            dh = dh + error @ p["out_weight"]
            dc = dc + dh * o * (1 - np.tanh(after) ** 2)
            dz = np.concatenate([dc * g * i * (1 - i), dc * cell * f * (1 - f),
                                 dc * i * (1 - g * g), dh * np.tanh(after) * o * (1 - o)],
                                1)
            gradient["lstm_i2h_weight"] += dz.T @ x[:, t]
            gradient["lstm_h2h_weight"] += dz.T @ before
            gradient["lstm_i2h_bias"] += dz.sum(0)
            gradient["lstm_h2h_bias"] += dz.sum(0)
            dh, dc = dz @ p["lstm_h2h_weight"], dc * f
        for name in p:
            p[name] = p[name] - RATE * gradient[name]
        return h, c

    def train(self, batches, carries, epochs=EPOCHS):
        zero = np.zeros((batches[0][0].shape[0], self.units))
        for _ in range(epochs):
            states = zero, zero
            for x, y in batches:
                states = self.step(x, y, *(states if carries else (zero, zero)))
        return self.p


def series():
    return np.random.default_rng(0).normal(size=(ROWS, STEPS * BATCHES + 1))


def batches():
    """Batch b has the steps [b T, (b + 1) T) of each row."""
    s = series()
    cut = [(s[:, b * STEPS:(b + 1) * STEPS, None], s[:, b * STEPS + 1:(b + 1) * STEPS + 1, None])
           for b in range(BATCHES)]
    return [(np.ascontiguousarray(x), np.ascontiguousarray(y)) for x, y in cut]


def arrays(rest=0):
    """The batches as arrays. `rest`: the number of samples after the last whole batch."""
    return {name: np.concatenate([pair[at] for pair in batches()] + [batches()[0][at][:rest]])
            for at, name in enumerate(("data", "label"))}


class Stream:
    """The same batches as a user's iterator."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def __iter__(self):
        return iter([{"data": x, "label": y} for x, y in batches()])

    def __len__(self):
        return BATCHES


def first_values(units=UNITS, features=1):
    rng = np.random.default_rng(7)
    shapes = {"lstm_i2h_weight": (4 * units, features), "lstm_h2h_weight": (4 * units, units),
              "lstm_i2h_bias": (4 * units,),
              "lstm_h2h_bias": (4 * units,), "out_weight": (1, units), "out_bias": (1,)}
    return {name: rng.normal(size=shape) * 0.3 for name, shape in shapes.items()}


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(self.file("st.lnet"), "w") as file:
            file.write(NET)
        np.savez(self.file("d.npz"), **arrays())

    def file(self, name):
        return os.path.join(self.folder, name)

    def network(self, text=None):
        if text:
            with open(self.file("st.lnet"), "w") as file:
                file.write(text)
        return lstmc.Network(self.file("st.lnet"))

    def refused(self, said, call, *arguments, code="E0001", **keywords):
        with self.assertRaises(lstmc.Error) as caught:
            call(*arguments, **keywords)
        self.assertEqual(caught.exception.code, code, caught.exception)
        self.assertIn(said, str(caught.exception))


class ByNumPy(Case):
    def judge(self, session, wanted):
        for name, value in session.params().items():
            np.testing.assert_allclose(value, wanted[name], rtol=0, atol=1e-8, err_msg=name)

    def test_every_source_whose_order_is_kept(self):
        wanted = Reference(first_values()).train(batches(), carries=True)
        without = Reference(first_values()).train(batches(), carries=False)
        self.assertGreater(abs(wanted["out_weight"] - without["out_weight"]).max(), 1e-4)
        whole = arrays(rest=3)  # which fill no batch
        np.save(self.file("x.npy"), whole["data"])
        np.save(self.file("y.npy"), whole["label"])
        sources = {
            "arrays": (whole, {"shuffle": False}), "iterator": (Stream(), {}),
            "continues": (Stream(continues=True), {}),
            "npz": (f"npz:{self.file('d.npz')},shuffle=no", {}),
            "npz in ranges": (f"npz:{self.file('d.npz')},shuffle=no",
                              {"limit": {"data-memory": 100}}),
            "npy": (f"npy:data={self.file('x.npy')},label={self.file('y.npy')},shuffle=no", {})}
        hashes = set()
        for name, (data, more) in sources.items():
            with self.subTest(name):
                network = self.network()
                hashes.add(network.fit(data, params=first_values(), **more)["weights"])
                self.judge(network.session, wanted)
        self.assertEqual(len(hashes), 1)
        network = self.network(NET.replace(', carry=["lstm*"]', ""))
        network.fit(arrays(), params=first_values(), shuffle=False)
        self.judge(network.session, without)

    def test_windows_of_a_table(self):
        """Consecutive rows of a table: in batches of T windows of T rows, row i of a batch starts
        where row i of the previous batch ended."""
        rows = np.random.default_rng(3).normal(size=STEPS * 4 + STEPS)
        with open(self.file("t.csv"), "w") as file:
            file.write("v\n" + "".join(f"{float(value)!r}\n" for value in rows))
        scaled = (rows - rows.mean()) / rows.std()
        count = len(rows) - STEPS  # windows with a target
        x = np.stack([scaled[w:w + STEPS] for w in range(count)])[:, :, None]
        y = np.stack([scaled[w + 1:w + STEPS + 1] for w in range(count)])[:, :, None]
        whole = [(x[b:b + STEPS], y[b:b + STEPS]) for b in range(0, count - STEPS + 1, STEPS)]
        reference = Reference(first_values())
        zero = np.zeros((STEPS, UNITS))
        for _ in range(EPOCHS):
            states = zero, zero
            for pair in whole:
                states = reference.step(*pair, *states)
        network = self.network(NET.replace('dim("batch", 4)', f'dim("batch", {STEPS})'))
        network.fit(f"csv:{self.file('t.csv')},target=v,shuffle=no", params=first_values())
        self.judge(network.session, reference.p)

    def test_images(self):
        def idx(name, kind, shape, values):
            with open(self.file(name), "wb") as file:
                file.write(bytes([0, 0, kind, len(shape)])
                           + b"".join(n.to_bytes(4, "big") for n in shape) + values)
        samples = ROWS * BATCHES
        pixels = np.random.default_rng(5).integers(0, 256, (samples, STEPS, 1), dtype="uint8")
        idx("x.idx", 8, (samples, STEPS, 1), pixels.tobytes())
        labels = np.random.default_rng(6).normal(size=(samples, STEPS, 1))
        idx("y.idx", 14, (samples, STEPS, 1), labels.astype(">f8").tobytes())
        wanted = Reference(first_values()).train(
            [(pixels[b:b + ROWS] / 256, labels[b:b + ROWS]) for b in range(0, samples, ROWS)],
            carries=True)
        network = self.network()
        network.fit(f"idx:data={self.file('x.idx')},label={self.file('y.idx')},shuffle=no",
                    params=first_values())
        self.judge(network.session, wanted)


class Drawn(Case):
    """Random sizes, source, division of the batch and rows to predict."""

    def differing(self, seed):
        """What differs from NumPy's training and predictions by more than 1e-8; empty: nothing."""
        draw = np.random.default_rng(seed)
        number = lambda least, most: int(draw.integers(least, most + 1))
        rows, steps, count, units = 2 * number(1, 4), number(1, 7), number(1, 5), number(1, 9)
        features, epochs, rest = number(1, 3), number(1, 3), number(0, min(2, rows - 1))
        # As NDArrayIter holds it, which is in float32, as in MXNet.
        x = draw.normal(size=(rows * count + rest, steps, features)).astype("f4").astype("f8")
        y = draw.normal(size=(rows * count + rest, steps, 1)).astype("f4").astype("f8")
        pairs = [(x[b * rows:(b + 1) * rows], y[b * rows:(b + 1) * rows]) for b in range(count)]
        text = (NET.replace('"batch", 4', f'"batch", {rows}').replace('"seq", 6', f'"seq", {steps}')
                .replace("data: float64[N, T, 1]", f"data: float64[N, T, {features}]")
                .replace("num_hidden=8", f"num_hidden={units}")
                .replace("num_epoch=3", f"num_epoch={epochs}"))
        network = self.network(text)
        np.savez(self.file("d.npz"), data=x, label=y)
        np.save(self.file("x.npy"), x)
        np.save(self.file("y.npy"), y)
        source, more = [
            (lambda: ({"data": x, "label": y}, {"shuffle": False})),
            (lambda: ([{"data": a, "label": b} for a, b in pairs], {})),
            (lambda: (lstmc.io.NDArrayIter(x[:rows * count], y[:rows * count], batch_size=rows,
                                           label_name="label"), {})),
            (lambda: (f"npz:{self.file('d.npz')},shuffle=no", {})),
            (lambda: (f"npy:data={self.file('x.npy')},label={self.file('y.npy')},shuffle=no", {})),
        ][number(0, 4)]()
        more.update([{}, {"devices": "2xcpu"}, {"accumulate": 2}, {"threads": 1}][number(0, 3)])
        network.fit(source, params=first_values(units, features), **more)
        reference = Reference(first_values(units, features))
        wanted = reference.train(pairs, carries=True, epochs=epochs)
        found = {name: abs(value - wanted[name]).max()
                 for name, value in network.session.params().items()}
        # Predictions carry too: windows of one row follow one another.
        some = rows * number(1, count)
        zero = np.zeros((rows, units))
        states, said = (zero, zero), []
        for a, _ in pairs[:some // rows]:
            kept, *states = reference.steps(a, *states)
            said.append(np.stack([each[-1] for each in kept], 1))
        predicted = network.predict({"data": x[:some]})
        found["rows"] = abs(len(predicted) - some)
        found["predictions"] = abs(predicted[:some] - np.concatenate(said)).max()
        return {name: value for name, value in found.items() if not value <= 1e-8}

    def test_drawn(self):
        for seed in range(1, 26):
            with self.subTest(seed=seed):
                self.assertEqual(self.differing(seed), {})


class SameBits(Case):
    def hash(self, **more):
        return self.network().fit(arrays(), params=first_values(), shuffle=False, **more)["weights"]

    def test_on_any_devices_in_any_parts_and_beside_validations(self):
        wanted = self.hash()
        for more in ({"devices": "2xcpu"}, {"devices": "4xcpu"}, {"accumulate": 2},
                     {"accumulate": 4}, {"threads": 1},
                     {"valid": arrays(), "valid_every": "2u"},
                     {"devices": "2xcpu", "accumulate": 2}):
            with self.subTest(more):
                self.assertEqual(self.hash(**more), wanted)

    def test_the_commands(self):
        done = subprocess.run([os.environ["LSTMC"], "train", self.file("st.lnet"),
                               "--data", f"npz:{self.file('d.npz')},shuffle=no", "--json",
                               "-o", self.file("ck")],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        network = self.network()
        self.assertIn(network.fit(arrays(), shuffle=False)["weights"],
                      json.dumps(json.loads(done.stdout)))

    def test_a_job_of_ranks(self):
        """Each rank has the states of its own rows."""
        words = [os.environ["LSTMC"], "launch", "-n", "2", "--", "train", self.file("st.lnet"),
                 "--data", f"npz:{self.file('d.npz')},shuffle=no", "-o"]
        for devices in ("2xcpu", "4xcpu"):
            done = subprocess.run([*words, self.file(devices), "-d", devices], capture_output=True,
                                  text=True)
            if "E0503" in done.stderr:
                self.skipTest("there is no MPI")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn(self.network().fit(arrays(), shuffle=False)["weights"], done.stdout)

    def test_a_resumed_training_goes_on_with_its_states(self):
        for source in (lambda: (arrays(), {"shuffle": False}), lambda: (Stream(), {})):
            data, more = source()
            with tempfile.TemporaryDirectory() as folder:
                wanted = self.network().fit(data, params=first_values(), **more)["weights"]
                for update in (3, 7, 8):  # within an epoch of 5
                    data, more = source()
                    self.network().fit(data, params=first_values(), after=f"{update}u",
                                       output=f"{folder}/{update}", **more)
                    again = self.network().fit(source()[0], output=f"{folder}/{update}",
                                               resume="auto", **more)
                    self.assertEqual(again["weights"], wanted, update)

    def test_measures_and_predictions_go_on_too(self):
        """Consecutive windows have the measures and predictions of one long sequence."""
        session = self.network().compile().session(first_values())
        long = NET.replace('dim("seq", 6)', f'dim("seq", {STEPS * BATCHES})')
        with open(self.file("long.lnet"), "w") as file:
            file.write(long)
        whole = lstmc.Network(self.file("long.lnet")).compile().session(first_values())
        s = series()
        one = {"data": s[:, :-1, None], "label": s[:, 1:, None]}
        self.assertAlmostEqual(session.score(arrays())["loss"], whole.score(one)["loss"],
                               delta=1e-12)
        predicted = session.predict({"data": arrays()["data"]}).reshape(BATCHES, ROWS, STEPS, 1)
        np.testing.assert_allclose(predicted.transpose(1, 0, 2, 3).reshape(ROWS, -1, 1),
                                   whole.predict({"data": one["data"]}), rtol=0, atol=1e-12)


class Refused(Case):
    def test_where_no_row_continues_another(self):
        fit = self.network().fit
        drawn = 'carry: state "lstm_begin_state_0" has nothing to go on to: of data '
        self.refused(drawn + '"arrays", the order of its samples is drawn: shuffle=no keeps it',
                     fit, arrays())
        self.refused("the order of its samples is drawn", fit, f"npz:{self.file('d.npz')}")
        self.refused("the iterator's attribute continues is False", fit, Stream(continues=False))
        self.refused("shuffle= is of arrays", fit, Stream(), shuffle=False)
        mixed = lstmc.io.NDArrayIter(*arrays().values(), batch_size=ROWS, label_name="label",
                                     shuffle=True)
        self.refused("the iterator's attribute continues is False", fit, mixed)

    def test_sequences_of_their_own(self):
        with open(self.file("lines.lnet"), "w") as file:
            file.write('''
N, T, vocab = dim("batch", 2), dim("seq", 6), setting("vocab", 20)

def lines(data: int32[N, T], label: int32[N, T]):
    x, h, c = LSTM(Embedding(data, input_dim=vocab, output_dim=4, name="embed"), num_hidden=4, layout="NTC", name="lstm")
    x = FullyConnected(x, num_hidden=vocab, flatten=False, name="out")
    return SoftmaxOutput(x, label, preserve_shape=True, use_ignore=True, normalization="valid")

fit(lines, optimizer="sgd", carry=["lstm*"], num_epoch=1)
''')
        with open(self.file("t.txt"), "w") as file:
            file.write("abcd\nbcda\ncdab\ndabc\n")
        network = lstmc.Network(self.file("lines.lnet"))
        self.refused("lines are sequences of their own, which continue none", network.fit,
                     f"text:{self.file('t.txt')},lines=yes")
        network.fit(f"text:{self.file('t.txt')}", shape={"data": (2, 3), "label": (2, 3)})

    def test_a_bidirectional_layer_by_name(self):
        x, h, c = sym.LSTM(sym.Variable("data"), num_hidden=4, bidirectional=True, name="both")
        net = lstmc.Network(sym.LinearRegressionOutput(x, sym.Variable("label"), name="reg"))
        self.refused('carry: "both*" matches both_begin_state', net.compile,
                     {"data": (6, 4, 3), "label": (6, 4, 8)}, fit={"carry": "both*"})
        with open(self.file("st.lnet"), "w") as file:
            file.write(NET.replace("num_hidden=8,", "num_hidden=8, bidirectional=True,"))
        done = subprocess.run(
            [os.environ["LSTMC"], "compile", self.file("st.lnet"), "-o", self.file("m.lstmc")],
            capture_output=True, text=True)
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r'st\.lnet:8:\d+: error\[E0214\]: carry: "lstm\*" matches '
                                      r'lstm_begin_state.*, of a bidirectional layer')


def at_random(first, last):
    found, case = 0, Drawn()
    case.setUp()
    for seed in range(first, last + 1):
        if differs := case.differing(seed):
            found += 1
            print(seed, differs, flush=True)
    case.doCleanups()
    print(f"{last - first + 1} trainings drawn, {found} not NumPy's")
    return found


if __name__ == "__main__":
    if "--seeds" in sys.argv:
        given = sys.argv[sys.argv.index("--seeds") + 1].split("..")
        sys.exit(1 if at_random(int(given[0]), int(given[-1])) else 0)
    unittest.main()
