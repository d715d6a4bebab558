"""fit, score and predict: the bits of `lstmc train` on the same arrays; iterators, callbacks,
metrics, initial weights."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import numpy as np

import lstmc
from lstmc import sym

NET = """
N, T = dim("batch", 4), dim("seq", 6)

def last(data: float32[N, T, 3], label: int32[N]):
    x, h, c = LSTM(data, num_hidden=8, layout="NTC", name="lstm")
    y = FullyConnected(SequenceLast(SwapAxis(x, dim1=0, dim2=1, name="swap"), name="end"), num_hidden=2, name="out")
    return SoftmaxOutput(y, label, name="softmax")

fit(last, optimizer="adam", learning_rate=0.02, initializer=Uniform(0.1))
"""


def symbol():
    x, h, c = sym.LSTM(sym.Variable("data"), num_hidden=8, layout="NTC", name="lstm")
    end = sym.SequenceLast(sym.SwapAxis(x, dim1=0, dim2=1, name="swap"), name="end")
    return sym.SoftmaxOutput(sym.FullyConnected(end, num_hidden=2, name="out"),
                             sym.Variable("label"), name="softmax")


def arrays(samples=42):
    """Labels: whether the sum of a sequence is above average."""
    data = np.random.default_rng(5).random((samples, 6, 3), dtype=np.float32)
    return {"data": data, "label": (data.sum((1, 2)) > 9).astype("int32")}


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.net = os.path.join(self.folder.name, "last.lnet")
        with open(self.net, "w") as file:
            file.write(NET)
        np.savez(os.path.join(self.folder.name, "d.npz"), **arrays())


class SameBits(Files):
    def command(self, *flags):
        run = subprocess.run([os.environ["LSTMC"], "train", self.net, "--data",
                              f"npz:{self.folder.name}/d.npz,valid=0.2", "--after", "3e", "--seed",
                              "4", "-o", os.path.join(self.folder.name, "ck"), "--json", *flags],
                             capture_output=True, text=True, check=True)
        return json.loads(run.stdout)

    def test_file_on_arrays_is_the_command_on_the_same_arrays(self):
        command = self.command()
        end = lstmc.Network(self.net).fit(arrays(), valid=0.2, after="3e", seed=4)
        self.assertIn(end["weights"], json.dumps(command))

    def test_symbol_is_the_file(self):
        file = lstmc.Network(self.net).fit(arrays(), valid=0.2, after="3e", seed=4)
        net = lstmc.Network(symbol(), "last")
        drawn = net.fit(arrays(), valid=0.2, batch=4, after="3e", seed=4, optimizer="adam",
                        learning_rate=0.02, initializer=lstmc.init.Uniform(0.1))
        self.assertEqual(drawn["weights"], file["weights"])
        self.assertEqual(drawn["loss"], file["loss"])

    def test_two_devices_have_the_bits_of_one(self):
        one = lstmc.Network(self.net).fit(arrays(), after="1e", seed=4)
        two = lstmc.Network(self.net).fit(arrays(), after="1e", seed=4, devices="2xcpu")
        self.assertEqual(one["weights"], two["weights"])

    def test_spec(self):
        command = self.command()
        end = lstmc.Network(self.net).fit(f"npz:{self.folder.name}/d.npz,valid=0.2",
                                          after="3e", seed=4)
        self.assertIn(end["weights"], json.dumps(command))

    def test_checkpoint_is_loaded(self):
        out = os.path.join(self.folder.name, "out")
        net = lstmc.Network(self.net)
        end = net.fit(arrays(), after="1e", seed=4, output=out)
        self.assertTrue(end["checkpoint"].startswith(out))
        self.assertEqual(lstmc.load(out).session().weights_hash, end["weights"])
        again = lstmc.load(out).session().score(arrays())
        self.assertEqual(again, net.score(arrays()))


class Fit(unittest.TestCase):
    def fit(self, data, **keys):
        net = lstmc.Network(symbol(), "last")
        keys = {"batch": 4, "optimizer": "adam", "learning_rate": 0.02, "seed": 4,
                "after": "2e", **keys}
        return net, net.fit(data, **keys)

    def test_callback_sees_every_update_and_may_end_it(self):
        events = []
        self.fit(arrays(), callback=events.append)
        updates = [event["update"] for event in events if event["event"] == "update"]
        self.assertEqual(updates, list(range(1, 21)))  # 42 samples fill 10 batches of 4
        self.assertGreater(events[-1]["learning_rate"], 0)

        class Enough(Exception):
            pass

        def stop(event):
            if event["event"] == "update" and event["update"] == 3:
                raise Enough

        with self.assertRaises(Enough):
            self.fit(arrays(), callback=stop)

    def test_iterators(self):
        given = arrays()

        class Each:
            def __init__(self):
                self.epochs = 0

            def __iter__(self):
                self.epochs += 1
                for begin in range(0, 40, 4):
                    yield {name: array[begin : begin + 4] for name, array in given.items()}

        iterator = Each()
        _, end = self.fit(iterator)
        self.assertEqual(end["update"], 20)

        class Batch:
            def __init__(self, begin):
                self.data, self.label = [given["data"][begin : begin + 4]], [
                    given["label"][begin : begin + 4]]

        class DataIter:  # in MXNet's form
            provide_data, provide_label = [("data", (4, 6, 3))], [("label", (4,))]

            def __init__(self):
                self.reset()

            def reset(self):
                self._begins = iter(range(0, 40, 4))

            def __iter__(self):
                return self

            def __next__(self):
                return Batch(next(self._begins))

        _, same = self.fit(DataIter())
        self.assertEqual(same["weights"], end["weights"])

    def test_an_iterator_that_fails_is_heard(self):
        def broken():
            yield {name: array[:4] for name, array in arrays().items()}
            raise ZeroDivisionError

        class Broken:
            __len__ = lambda self: 3
            __iter__ = lambda self: broken()

        with self.assertRaises(ZeroDivisionError):
            self.fit(Broken())

    def test_metrics_that_are_compiled_in(self):
        net, _ = self.fit(arrays(), metric="auc")
        self.assertIn("auc", net.score(arrays(), metric="auc"))
        net, _ = self.fit(arrays())
        with self.assertRaisesRegex(lstmc.Error, "compiled without"):
            net.score(arrays(), metric="auc")

    def test_metrics(self):
        def share_of_ones(label, prediction):
            self.assertEqual((label.shape, prediction.shape), ((42,), (42, 2)))
            return float(np.mean(np.argmax(prediction, 1) == 1))

        events = []
        net, _ = self.fit(arrays(), valid=arrays(), metric=["accuracy", share_of_ones],
                          callback=events.append)
        valid = [event for event in events if event["event"] == "valid"][-1]
        scored = net.score(arrays(), metric=["accuracy", share_of_ones])
        self.assertEqual(valid["accuracy"], scored["accuracy"])
        self.assertEqual(valid["share_of_ones"], scored["share_of_ones"])
        predicted = net.predict(arrays()["data"])
        right = np.mean(np.argmax(predicted, 1) == arrays()["label"])
        self.assertAlmostEqual(right, scored["accuracy"], places=12)

    def test_looking_on_changes_nothing(self):
        _, quiet = self.fit(arrays(), valid=arrays())
        _, watched = self.fit(arrays(), valid=arrays(), callback=lambda event: None,
                              metric=lambda label, prediction: 0.0)
        self.assertEqual(quiet["weights"], watched["weights"])

    def test_first_values(self):
        zeros = {"out_weight": np.zeros((2, 8)),
                 "lstm_i2h_bias": lambda name, shape: np.full(shape, 0.5)}
        net, _ = self.fit(arrays(), params=zeros, learning_rate=0.0)
        np.testing.assert_array_equal(net.session.params()["out_weight"], 0)
        np.testing.assert_array_equal(net.session.params()["lstm_i2h_bias"], 0.5)

    def test_a_second_fit_goes_on(self):
        net, first = self.fit(arrays())
        again = net.fit(arrays(), batch=4, optimizer="adam", learning_rate=0.0, after="1u")
        self.assertEqual(again["weights"], first["weights"])

    def test_errors(self):
        for keys, text in (({"optimizer": "adm"}, 'did you mean "adam"'),
                           ({"metric": "acuracy"}, "accuracy"),
                           ({"lerning_rate": 1}, 'fit has no keyword "lerning_rate"; did you mean '
                                                 '"learning_rate"'),
                           ({"carry": "gru*"}, "carry")):
            with self.assertRaisesRegex(lstmc.Error, text):
                self.fit(arrays(), **keys)
        wrong = arrays()
        wrong["label"] = wrong["label"] + 5
        with self.assertRaises(lstmc.Error) as caught:
            self.fit(wrong)
        self.assertEqual(caught.exception.code, "E0604")

    def test_an_input_that_is_not_given_is_no_parameter(self):
        data, given = sym.Variable("data"), sym.Variable("given")
        rows = sym.FullyConnected(data, num_hidden=2, name="fc")
        steps = sym.SequenceLast(sym.Reshape(data, shape=(3, -1, 1)), given,
                                 use_sequence_length=True)
        ids = sym.Embedding(sym.Reshape(sym.Variable("given", shape=(2, 2)), shape=(-1,)),
                            input_dim=4, output_dim=2, name="of")
        for head in (sym.SoftmaxOutput(rows, given), sym.LinearRegressionOutput(rows, given),
                     sym.MakeLoss(steps), sym.MakeLoss(ids)):
            with self.assertRaisesRegex(lstmc.Error, 'E0203.* reads "given" as an input'):
                lstmc.Network(head).fit({"data": np.ones((4, 3), "f4")}, batch=4, num_epoch=1)
        kept = sym.LinearRegressionOutput(rows, sym.Variable("kept", init="ones"))
        lstmc.Network(kept).fit({"data": np.ones((4, 3), "f4")}, batch=4, num_epoch=1)
        bound = sym.LinearRegressionOutput(rows, given).simple_bind(data=(4, 3))
        bound.forward(is_train=True)
        bound.backward()
        self.assertEqual(bound.arg_dict["given"].shape, (4, 2))


INTERRUPTED = """
import os, signal, sys
import numpy as np, lstmc
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it

def press(event):
    if event["event"] == "update" and event["update"] == 7:
        os.kill(os.getpid(), signal.SIGINT)

net = lstmc.Network(sys.argv[1])
data = dict(np.load(sys.argv[2]))
try:
    net.fit(data, after="100000u", seed=4, output=sys.argv[3], callback=press)
except KeyboardInterrupt:
    print("stopped")
signal.raise_signal(signal.SIGINT)  # Python's own handler is there again
"""


class Interruption(Files):
    def test_ctrl_c_ends_a_training_which_goes_on_from_its_checkpoint(self):
        checkpoints = os.path.join(self.folder.name, "ck")
        done = subprocess.run([sys.executable, "-c", INTERRUPTED, self.net,
                               os.path.join(self.folder.name, "d.npz"), checkpoints],
                              capture_output=True, text=True, timeout=240)
        self.assertEqual(done.stdout, "stopped\n", done.stderr)
        self.assertIn("KeyboardInterrupt", done.stderr)
        whole = lstmc.Network(self.net).fit(arrays(), after="20u", seed=4)
        resumed = lstmc.Network(self.net).fit(arrays(), after="20u", seed=4, output=checkpoints,
                                              resume="auto")
        self.assertEqual(resumed["weights"], whole["weights"])
        self.assertEqual((resumed["update"], resumed["reason"]), (whole["update"], whole["reason"]))


class Pictures(unittest.TestCase):
    def test_a_notebook_shows_svg(self):
        picture = lstmc.Network(symbol()).plot(data=(4, 6, 3))
        shown = xml.etree.ElementTree.fromstring(picture._repr_svg_())
        self.assertTrue(shown.tag.endswith("svg"))
        texts = "".join(shown.itertext())
        for word in ("lstm 8", "SequenceLast", "softmax"):
            self.assertIn(word, texts)
        self.assertIsNone(picture._repr_png_())
        self.assertEqual(
            lstmc.Network(symbol()).plot(format="png", data=(4, 6, 3))._repr_png_()[:4], b"\x89PNG")

    def test_network(self):
        picture = lstmc.Network(symbol()).plot(format="dot", data=(4, 6, 3))
        self.assertIn(b"digraph", picture.data)
        self.assertIsNone(picture._repr_svg_())


if __name__ == "__main__":
    unittest.main()
