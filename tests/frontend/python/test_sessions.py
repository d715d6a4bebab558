"""Packages and sessions: NumPy arrays as inputs and outputs, states, threads, fork, ctrl-C."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import lstmc
from lstmc import sym


def package(**flags):
    x, h, c = sym.LSTM(sym.Variable("data"), num_hidden=6, name="lstm")
    net = sym.FullyConnected(x, num_hidden=3, flatten=False, name="out")
    return lstmc.Network(net, "net").compile(
        {"data": (lstmc.dim("seq", 5), lstmc.dim("batch", 2), 4)}, **flags)


def inputs(seed=0):
    return {"data": np.random.default_rng(seed).random((5, 2, 4), dtype=np.float32)}


class Sessions(unittest.TestCase):
    def test_what_a_package_says(self):
        made = package()
        self.assertEqual(made.inputs(), {"data": ("float32", (5, 2, 4))})
        self.assertEqual(made.outputs(), {"out_output": ("float32", (5, 2, 3))})
        self.assertIn("lstm_h2h_weight", made.parameters)
        self.assertEqual(made.devices, ["cpu:0"])
        self.assertIn("cpu:0", made.plan())
        self.assertTrue(made.plot("memory")._repr_svg_().startswith("<"))
        self.assertEqual(repr(made), "<Package on cpu:0: forward(data: float32[5, 2, 4]) -> "
                                     "out_output: float32[5, 2, 3]>")

    def test_a_type_that_numpy_does_not_have(self):
        made = lstmc.Network(sym.cast(sym.Variable("data"), dtype="bfloat16")).compile(
            {"data": (2, 3)})
        with self.assertRaisesRegex(lstmc.Error, "E0613.*NumPy has no bfloat16; cast the value"):
            made.session().run({"data": np.ones((2, 3), "f")})

    def test_what_is_compiled_is_not_pickled(self):
        """pickle and copy.deepcopy say what does it instead."""
        made = package()
        network = lstmc.Network(sym.Variable("data") * 2, "net")
        self.assertEqual(copy.deepcopy(network).list_arguments(), ["data"])
        network.session = made.session()
        for one in made, made.session(), network:
            for copied in pickle.dumps, copy.deepcopy:
                with self.assertRaisesRegex(
                        TypeError, r"is not pickled or copied: Package\.save\(\) .*save_params"):
                    copied(one)

    def test_a_loop_of_ones_own_trains(self):
        net = sym.LinearRegressionOutput(
            sym.FullyConnected(sym.Variable("data"), num_hidden=1, name="fc"),
            sym.Variable("label"), name="out")
        network = lstmc.Network(net, "line")
        self.assertEqual(
            repr(network), "<Network line: data, fc_weight, fc_bias, label -> out_output>")
        x = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)
        batch = {"data": x, "label": x.sum(1, keepdims=True)}
        session = network.compile({"data": (8, 3), "label": (8, 1)}, optimizer="sgd").session()
        losses = []
        for update in range(1, 41):
            said = session.run({**batch, "learning_rate": np.float32([0.5]),
                                "update": np.array([update]), "seed": np.array([0])},
                               entry="step")
            losses.append(said["out_output_metric"][0])
        self.assertLess(losses[-1], losses[0] / 100)
        self.assertEqual(list(said), ["loss", "out_output_metric", "gradient_norm"])
        measure = said["out_output_metric"]
        self.assertEqual((measure.loss, measure.weight, measure.labels), tuple(measure[:3]))
        self.assertEqual(measure.loss / measure.weight, said["loss"])

    def test_an_update_has_all_that_it_needs_or_is_refused(self):
        net = sym.LinearRegressionOutput(
            sym.FullyConnected(sym.Variable("data"), num_hidden=1, name="fc"),
            sym.Variable("label"), name="out")
        session = lstmc.Network(net).compile({"data": (8, 3), "label": (8, 1)},
                                             optimizer="nadam").session()
        whole = {"data": np.ones((8, 3), "f4"), "label": np.ones((8, 1), "f4"),
                 "learning_rate": 0.1, "update": 1, "seed": 0}
        before = session.weights_hash
        for name in ("data", "label", "learning_rate", "update"):
            with self.assertRaisesRegex(
                    lstmc.Error, f"E0001.*step needs {name}, which was not given"):
                session.run({key: value for key, value in whole.items() if key != name},
                            entry="step")
        for given, message in (
                ({"learning_rat":
                  0.1}, 'step has no input "learning_rat" .did you mean "learning_rate"'),
                ({"optimizer.g_share": 1.0}, "computed from learning_rate and update"),
                ({"momentum": 0.9}, 'step has no input "momentum".*; its inputs are '),
                ({"learning_rate": [0.1, 0.1]}, "is one number"),
                ({"learning_rate": -0.1}, "found -0.1, want a finite rate"),
                ({"learning_rate": float("nan")}, "needs learning_rate"),
                ({"update": 1.5}, "whole number"),
                ({"update": 0}, "needs update"), ({"update": -1}, "from 1")):
            with self.assertRaisesRegex(lstmc.Error, message):
                session.run({**whole, **given}, entry="step")
        self.assertEqual(session.weights_hash, before)
        session.run({**whole, "learning_rate": np.float32(0.5), "update": np.array([1])},
                    entry="step")
        again = session.weights_hash
        self.assertNotEqual(again, before)
        with self.assertRaisesRegex(
                lstmc.Error, "step needs data, label, learning_rate, update, which were not given"):
            session.run(entry="step")  # the inputs set were those of the previous update
        for name, value in whole.items():
            session.input(name, "step")[...] = value
        session.run(entry="step")
        self.assertNotEqual(session.weights_hash, again)

    def test_a_package_that_is_saved_runs_the_same(self):
        session = package().session(seed=7)
        expected = session.run(inputs())["out_output"]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net.lstmc")
            session.package.save(path)
            session.save_params(os.path.join(folder, "net.safetensors"))
            with self.assertRaises(lstmc.Error) as caught:
                session.package.save(path)
            self.assertEqual(caught.exception.exit, 6)
            again = lstmc.load(path).session()
            self.assertEqual(again.weights_hash, session.weights_hash)
            np.testing.assert_array_equal(again.run(inputs())["out_output"], expected)

    def test_bits_are_those_of_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            path, x, y = (os.path.join(folder, name) for name in ("net.lstmc", "x.npy", "y.npy"))
            made = package()
            made.save(path)
            np.save(x, inputs()["data"])
            subprocess.run(
                [os.environ["LSTMC"], "run", path, "-i", f"data=@{x}", "--seed", "7", "-o", y],
                check=True, capture_output=True)
            np.testing.assert_array_equal(made.session(seed=7).run(inputs())["out_output"],
                                          np.load(y))

    def test_views_share_the_sessions_memory(self):
        session = package().session(seed=1)
        expected = session.run(inputs())["out_output"]
        view = session.input("data")
        view[...] = inputs()["data"]
        output = session.run(copy=False)["out_output"]
        np.testing.assert_array_equal(output, expected)
        self.assertEqual(output.ctypes.data, session.output("out_output").ctypes.data)
        view[...] = 0
        session.run()
        self.assertFalse(np.array_equal(output, expected))
        del session
        output[...]  # the view keeps the memory alive
        np.testing.assert_array_equal(np.from_dlpack(view), view)

    def test_strides_and_other_types(self):
        session = package().session(seed=1)
        expected = session.run(inputs())["out_output"]
        data = inputs()["data"]
        np.testing.assert_array_equal(session.run({"data": np.asfortranarray(data)})["out_output"],
                                      expected)
        np.testing.assert_array_equal(session.run({"data": data.astype("float64")})["out_output"],
                                      expected)
        np.testing.assert_array_equal(session.run({"data": memoryview(data)})["out_output"],
                                      expected)

    def test_wrong_inputs_are_named(self):
        session = package().session()
        for given, code in (({"data": np.zeros((5, 2, 3))}, "E0610"),
                            ({"dta": np.zeros((5, 2, 4))}, "E0001")):
            with self.assertRaises(lstmc.Error) as caught:
                session.run(given)
            self.assertEqual(caught.exception.code, code)
        ids = lstmc.Network(sym.Embedding(sym.Variable("data", dtype="int32"), input_dim=5,
                                          output_dim=2)).compile({"data": (3,)})
        for value in (0.5, 7):
            with self.assertRaises(lstmc.Error) as caught:
                ids.session().run({"data": np.full(3, value)})
            self.assertEqual(caught.exception.code, "E0604")

    def test_weights(self):
        session = package().session(seed=1)
        params = session.params()
        other = package().session({**params, "out_bias": lambda name, shape: np.ones(shape)})
        np.testing.assert_array_equal(other.params()["out_bias"], 1)
        np.testing.assert_array_equal(other.params()["lstm_i2h_weight"], params["lstm_i2h_weight"])
        with self.assertRaises(lstmc.Error):
            session.set_params({"out_bias": np.zeros(4)})
        with self.assertRaises(lstmc.Error):
            session.set_params({"none": np.zeros(3)})

    def test_states_are_kept_where_they_are_carried(self):
        made = package(fit={"carry": "lstm*"})
        self.assertEqual(len(made.states), 2)
        session = made.session(seed=1)
        first = session.run(inputs())["out_output"]
        second = session.run(inputs())["out_output"]
        self.assertFalse(np.array_equal(first, second))
        session.reset_states()
        np.testing.assert_array_equal(session.run(inputs())["out_output"], first)

    def test_predict_runs_every_sample_and_leaves_states(self):
        session = package(fit={"carry": "lstm*"}).session(seed=1)
        # 7 samples fill three batches of 2, and half of a fourth
        data = np.random.default_rng(3).random((5, 7, 4), dtype=np.float32)
        session.run(inputs())
        before = session.states()
        predicted = session.predict(data)
        self.assertEqual(predicted.shape, (5, 7, 3))
        for name, state in session.states().items():
            np.testing.assert_array_equal(state, before[name])
            self.assertTrue(state.any())
        session.reset_states()  # row i of a batch continues from row i of the previous batch
        for batch in (0, 2, 4):
            np.testing.assert_array_equal(
                predicted[:, batch:batch + 2],
                session.run({"data": data[:, batch:batch + 2]})["out_output"])

    def test_the_gil_is_released(self):
        x, h, c = sym.LSTM(sym.Variable("data"), num_hidden=128, name="lstm")
        session = lstmc.Network(x).compile({"data": (400, 8, 128)}).session(threads=1)
        moments, done = [], threading.Event()

        def look_on():
            while not done.wait(0.001):
                moments.append(time.monotonic())

        def ran_meanwhile():
            begin = time.monotonic()
            session._core.run("forward", True)
            end = time.monotonic()
            margin = (end - begin) / 4
            return any(begin + margin < moment < end - margin for moment in moments)

        thread = threading.Thread(target=look_on)
        thread.start()
        # With the GIL held it would never succeed; on a busy machine it may not succeed each time.
        seen = any(ran_meanwhile() for _ in range(100))
        done.set()
        thread.join()
        self.assertTrue(seen)

    def test_code_of_libraries_stays_mapped(self):
        """The process owns it: only the command unmaps the compiler's code."""
        def largest():
            found, name = {}, ""
            with open("/proc/self/smaps") as maps:
                for line in maps:
                    words = line.split()
                    if not words[0].endswith(":"):
                        name = words[-1] if ".so" in words[-1] else ""
                    elif words[0] == "Rss:" and name:
                        found[name] = found.get(name, 0) + int(words[1])
            return max(found.values())

        made = package()
        before = largest()
        made.session(seed=1)
        self.assertGreater(largest(), before * 0.8)

    def test_threads_of_python(self):
        session = package().session(seed=1)
        expected = {seed: session.run(inputs(seed))["out_output"] for seed in range(4)}
        made, failures = session.package, []

        def work(seed):
            own = made.session(session.params())
            for _ in range(20):
                if not np.array_equal(own.run(inputs(seed))["out_output"], expected[seed]):
                    failures.append(seed)
                session.run(inputs(seed))  # shared: in the order of arrival

        threads = [threading.Thread(target=work, args=(seed,)) for seed in expected]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_fork(self):
        session = package().session(seed=1)
        expected = session.run(inputs())["out_output"]
        child = os.fork()
        if child == 0:
            code = 1
            try:
                session.run(inputs())
            except lstmc.Error as error:
                own = session.package.session(seed=1)
                same = np.array_equal(own.run(inputs())["out_output"], expected)
                code = 0 if "fork" in str(error) and same else 2
            finally:
                os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np, lstmc
from lstmc import sym
x, h, c = sym.LSTM(sym.Variable("data"), num_hidden=256, name="lstm")
session = lstmc.Network(x).compile({"data": (1000, 16, 256)}).session(threads=1)
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    for _ in range(1000):
        session.run()
except KeyboardInterrupt:
    print("stopped")
"""


class Interruption(unittest.TestCase):
    def test_ctrl_c_stops_runs(self):
        done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True,
                              timeout=240)
        self.assertEqual((done.stdout, done.returncode), ("stopped\n", 0), done.stderr)

    def test_handlers_are_put_back(self):
        # background jobs of a shell ignore it
        found = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, found)
        before = signal.getsignal(signal.SIGINT)
        session = package().session()
        session.run()
        self.assertIs(signal.getsignal(signal.SIGINT), before)
        with self.assertRaises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


if __name__ == "__main__":
    unittest.main()
