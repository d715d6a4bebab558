"""Objects that threads share: every thread gets its own results, nothing deadlocks, and the process
ends normally."""

import inspect
import os
import subprocess
import sys
import textwrap
import threading
import unittest

import numpy as np

import lstmc
import lstmc as mx
from lstmc import autograd, nd, sym

THREADS, ROUNDS = 4, int(os.environ.get("LSTMC_ROUNDS", "40"))


def network(units=6):
    x, _, _ = sym.LSTM(sym.Variable("data"), num_hidden=units, layout="NTC", name="lstm")
    return sym.FullyConnected(x, num_hidden=3, flatten=False, name="out")


def regression():
    return sym.LinearRegressionOutput(
        sym.FullyConnected(sym.Variable("data"), num_hidden=3, name="fc"), sym.Variable("label"),
        name="out")


def data(number, samples=4):
    return np.random.default_rng(number).random((samples, 5, 4), dtype=np.float32)


def flat(number, samples=8):
    draw = np.random.default_rng(number)
    return {"data": draw.random((samples, 4), dtype=np.float32),
            "label": draw.random((samples, 3), dtype=np.float32)}


class Shared(unittest.TestCase):
    def assert_own_answers(self, answer, rounds=ROUNDS):
        """Checks that `answer(number)` has the same results from several threads as from one."""
        wanted = [np.array(answer(number)) for number in range(THREADS)]
        self.assertFalse(np.array_equal(wanted[0], wanted[1]))
        wrong, ready = [], threading.Barrier(THREADS)

        def work(number):
            ready.wait()
            for _ in range(rounds):
                try:
                    if not np.array_equal(answer(number), wanted[number]):
                        wrong.append(number)
                except BaseException as error:  # exceptions of a thread would be lost
                    wrong.append(repr(error))

        run_all([lambda number=number: work(number) for number in range(THREADS)])
        self.assertEqual(wrong, [])

    def test_run(self):
        session = lstmc.Network(network(64)).compile({"data": (4, 5, 4)}).session(seed=1, threads=1)
        self.assert_own_answers(lambda number: session.run({"data": data(number)})["out_output"])

    def test_run_on_devices_that_the_host_does_not_see(self):
        session = (
            lstmc.Network(network()).compile({"data": (4, 5, 4)}, devices="2xtrap").session(seed=1))
        self.assert_own_answers(lambda number: session.run({"data": data(number)})["out_output"])

    def test_predict(self):
        session = lstmc.Network(network()).compile({"data": (4, 5, 4)}).session(seed=1, threads=1)
        self.assert_own_answers(lambda number: session.predict({"data": data(number, 10)}))

    def test_predict_and_score_of_a_network(self):
        model = lstmc.Network(regression())
        model.fit(flat(9), batch=4, learning_rate=0.1, num_epoch=1, seed=1)
        self.assert_own_answers(lambda number: model.predict({"data": flat(number)["data"]}))
        self.assert_own_answers(lambda number: [model.score(flat(number))["loss"]])

    def test_states(self):
        session = lstmc.Network(network()).compile(
            {"data": (4, 5, 4)}, fit={"carry": "lstm*"}).session(seed=1, threads=1)

        def answer(number):
            with session.alone():
                session.reset_states()
                session.run({"data": data(number)})
                return session.run({"data": data(number)})["out_output"]

        self.assert_own_answers(answer)
        # A run continues from the last run of any thread; predict has its own states and restores
        # those of the session.
        with session.alone():
            session.reset_states()
            before = session.states()
            self.assert_equal_states(before, session.states())
        self.assert_own_answers(lambda number: session.predict({"data": data(number, 9)}))
        self.assert_equal_states(before, session.states())

    def assert_equal_states(self, left, right):
        for name in left:
            np.testing.assert_array_equal(left[name], right[name])

    def test_views_within_alone(self):
        session = lstmc.Network(network()).compile({"data": (4, 5, 4)}).session(seed=1, threads=1)

        def answer(number):
            with session.alone():
                session.input("data")[...] = data(number)
                return session.run(copy=False)["out_output"].copy()

        self.assert_own_answers(answer)

    def test_weights(self):
        session = lstmc.Network(network()).compile({"data": (4, 5, 4)}).session(seed=1, threads=1)

        def answer(number):
            with session.alone():
                session.set_params({"out_bias": np.full(3, number)})
                return session.run({"data": data(0)})["out_output"]

        self.assert_own_answers(answer)

    def test_neighbours_in_one_memory(self):
        long = lstmc.Network(network()).compile({"data": (4, 9, 4)})
        short = lstmc.Network(network()).compile({"data": (4, 5, 4)})
        owner = long.session(seed=1, _neighbours=[short])
        beside = owner.beside(short)
        self.assertIs(owner._turn, beside._turn)

    def test_modules(self):
        module = mx.mod.Module(network(), label_names=None)
        module.bind([("data", (4, 5, 4))], for_training=False)
        module.init_params(mx.init.Xavier())

        def answer(number):
            module.forward(mx.io.DataBatch([nd.array(data(number))], []), is_train=False)
            return module.get_outputs()[0].asnumpy()

        self.assert_own_answers(answer)
        self.assert_own_answers(
            lambda number:
            module.predict(mx.io.NDArrayIter(data(number, 8), batch_size=4)).asnumpy())

    def test_executors(self):
        executor = network().simple_bind(mx.cpu(), data=(4, 5, 4), grad_req="null")
        for name, array in executor.arg_dict.items():
            array[:] = np.random.default_rng(len(name)).normal(size=array.shape)
        self.assert_own_answers(lambda number: executor.forward(data=data(number))[0].asnumpy())

    def test_eager_arrays_and_tapes(self):
        def answer(number):
            x = nd.array(data(number)[0])
            x.attach_grad()
            with autograd.record():
                y = nd.sum(nd.tanh(x) * x)
            y.backward()
            return x.grad.asnumpy()

        self.assert_own_answers(answer)

    def test_trainings_side_by_side(self):
        def answer(number):
            return [int(lstmc.Network(regression()).fit(flat(number), batch=4, learning_rate=0.1,
                                                        num_epoch=2, seed=1)["weights"], 16)]

        self.assert_own_answers(answer, rounds=3)

    def test_answers_while_another_thread_trains(self):
        """They wait for the training; the callback, in its thread, uses the session that calls
        it."""
        model = lstmc.Network(regression())
        model.fit(flat(0), batch=4, learning_rate=0.0, num_epoch=1, seed=1)
        wanted = model.predict({"data": flat(1)["data"]})
        found, begun = [], threading.Event()

        def callback(event):
            begun.set()
            if event["event"] == "update":
                found.append(model.session.run({"data": flat(1)["data"][:4]})["out_output"])

        def train():
            model.fit(flat(0), batch=4, learning_rate=0.0, num_epoch=20, callback=callback)

        def ask():
            begun.wait()
            for _ in range(5):
                found.append(model.predict({"data": flat(1)["data"]})[:4])

        run_all([train, ask, ask])
        self.assertEqual(len(found), 40 + 10)
        for each in found:
            np.testing.assert_array_equal(each, wanted[:4])


def run_all(works):
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
        if thread.is_alive():
            raise AssertionError("a thread waits for ever")


class Nested(unittest.TestCase):
    def refused(self, begin):
        met = []

        def callback(*_):
            with self.assertRaises(lstmc.Error) as caught:
                begin()
            met.append(caught.exception.code)
            self.assertIn("within a callback", str(caught.exception))

        return met, callback

    def test_a_fit_within_a_fit_is_refused(self):
        model = lstmc.Network(regression())
        for begin in (lambda: lstmc.Network(regression()).fit(flat(1), batch=4, learning_rate=0.1),
                      lambda: model.fit(flat(1), batch=4, learning_rate=0.1),
                      lambda: model.session.fit(flat(1))):
            met, callback = self.refused(begin)
            end = model.fit(flat(0), batch=4, learning_rate=0.1, num_epoch=1, callback=callback)
            self.assertEqual(end["update"], 2)
            self.assertEqual(set(met), {"E0001"})

    def test_within_a_modules_callback(self):
        def module():
            made = mx.mod.Module(regression(), label_names=["label"])
            return made, mx.io.NDArrayIter(flat(0)["data"], flat(0)["label"], batch_size=4,
                                           label_name="label")

        def begin():
            inner, iterator = module()
            inner.fit(iterator, eval_metric="mse", num_epoch=1)

        met, callback = self.refused(begin)
        outer, iterator = module()
        outer.fit(iterator, eval_metric="mse", num_epoch=1, batch_end_callback=callback)
        self.assertEqual(met, ["E0001"] * 2)

    def test_within_an_iterator(self):
        met, callback = self.refused(
            lambda: lstmc.Network(regression()).fit(flat(1), batch=4, learning_rate=0.1))

        class Batches:
            def __len__(self):
                return 2

            def __iter__(self):
                for begin in (0, 4):
                    if training:
                        callback()
                    yield {name: value[begin:begin + 4] for name, value in flat(0).items()}

        training = []
        lstmc.Network(regression()).fit(Batches(), learning_rate=0.1, num_epoch=1,
                                        callback=training.append)
        self.assertTrue(met)

    def test_a_run_while_the_next_inputs_are_filled_is_refused(self):
        """On devices that work meanwhile, an iterator that runs the session in training would
        overwrite their inputs."""
        session = lstmc.Network(regression()).compile({"data": (4, 4), "label": (4, 3)},
                                                      devices="trap:0", optimizer="sgd").session()
        met = []

        class Batches:
            def __len__(self):
                return 2

            def __iter__(self):
                for begin in (0, 4):
                    batch = {name: value[begin:begin + 4] for name, value in flat(0).items()}
                    if training:
                        try:
                            session.run({"data": batch["data"]})
                            met.append("ran")
                        except lstmc.Error as error:
                            met.append(error.code)
                    yield batch

        training = []
        session.fit(Batches(), num_epochs=2, callback=training.append)
        self.assertIn("E0001", met)


class Ends(unittest.TestCase):
    def ends(self, work, times=5):
        """Checks that the interpreter ends while a daemon thread is at work."""
        script = textwrap.dedent("""
            import sys, threading, time, numpy as np, lstmc
            sys.path.insert(0, {folder!r})
            from test_threads import network, regression, data, flat
            begun = threading.Event()
            def work():
                {work}
            threading.Thread(target=work, daemon=True).start()
            begun.wait()
            time.sleep(0.1)
        """).format(folder=os.path.dirname(os.path.abspath(__file__)),
                    work=textwrap.dedent(work).strip().replace("\n", "\n    "))
        for _ in range(times):
            done = subprocess.run([sys.executable, "-B", "-c", script], capture_output=True,
                                  text=True, timeout=100)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_in_a_run(self):
        self.ends("""
            session = lstmc.Network(network(64)).compile({"data": (4, 5, 4)}).session(threads=2)
            while True:
                session.run({"data": data(0)})
                begun.set()
        """)

    def test_in_a_fit_with_a_callback(self):
        self.ends("""
            lstmc.Network(regression()).fit(flat(0), batch=4, learning_rate=0.1, num_epoch=10**6,
                                            callback=lambda event: begun.set())
        """)

    def test_in_a_fit_with_batches_of_python(self):
        self.ends("""
            class Batches:
                def __len__(self):
                    return 2
                def __iter__(self):
                    begun.set()
                    return iter([{name: value[:4] for name, value in flat(0).items()}] * 2)
            lstmc.Network(regression()).fit(Batches(), learning_rate=0.1, num_epoch=10**6)
        """)

    def test_in_predict(self):
        self.ends("""
            session = lstmc.Network(network()).compile({"data": (4, 5, 4)}).session(threads=2)
            while True:
                session.predict({"data": data(0, 16)})
                begun.set()
        """)


class Rules(unittest.TestCase):
    def test_every_public_class_says_what_threads_may_do(self):
        """In its docstring, or in that of a base class."""
        names = ("attribute autograd callback init io lr_scheduler metric mod model name nd "
                 "optimizer random rnn sym viz")
        modules = [lstmc, *(getattr(lstmc, name) for name in names.split())]
        classes = {kind for module in modules
                   for name, kind in inspect.getmembers(module, inspect.isclass)
                   if kind.__module__.startswith("lstmc") and not name.startswith("_")} | {
                       type(regression().simple_bind(data=(1, 4), label=(1, 3)))}
        self.assertGreater(len(classes), 50)
        silent = [kind.__name__ for kind in classes
                  if "thread" not in "".join(each.__doc__ or "" for each in kind.__mro__).lower()]
        self.assertEqual(silent, [])


if __name__ == "__main__":
    unittest.main()
