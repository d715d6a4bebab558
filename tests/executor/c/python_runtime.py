#!/usr/bin/env python3
"""python_runtime.py LIBRARY|installed COMMAND SOURCE: the module lstmc_runtime over that library,
or as pip installed it, has the outputs and messages of the command.

Exits 77 where there is no NumPy.
"""
import ctypes
import gc
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest
import weakref

LIBRARY, COMMAND, SOURCE = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(3))
if LIBRARY.name != "installed":
    os.environ["LSTMC_RUNTIME_LIBRARY"] = str(LIBRARY)
    sys.path.insert(0, str(SOURCE / "executor/python"))
try:
    import numpy
except ImportError:
    print("skipped: there is no NumPy")
    sys.exit(77)
import lstmc_runtime  # noqa: E402
from lstmc_runtime import native  # noqa: E402
from lstmc_runtime.native import library  # noqa: E402

NET = """\
N, T = dim("batch", 4), dim("seq", 6)

def lm(data: int32[N, T], label: int32[N, T]):
    x = Embedding(SwapAxis(data, dim1=0, dim2=1), input_dim=9, output_dim=5, name="embed")
    x, h, c = LSTM(x, num_hidden=8, name="lstm")
    y = FullyConnected(x, num_hidden=9, flatten=False, name="decoder")
    return SoftmaxOutput(y, SwapAxis(label, dim1=0, dim2=1), preserve_shape=True, normalization="valid")

fit(lm, optimizer="adam", learning_rate=0.05, initializer=Uniform(0.5), carry=["lstm*"])
"""
IDS = (numpy.arange(24).reshape(4, 6) * 7 % 9).astype("int32")


class Runtime(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        (cls.folder / "net.lnet").write_text(NET)
        (cls.folder / "t.txt").write_text("abcdefgh\n" * 40)
        numpy.save(cls.folder / "ids.npy", IDS)
        cls.lstmc("train", "net.lnet", "--data", "text:t.txt", "--after", "3u", "-o", "ck", "-q")
        cls.lstmc("run", "ck", "-i", "data=@ids.npy", "-o", "out.npz")
        cls.want = dict(numpy.load(cls.folder / "out.npz"))

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def lstmc(cls, *words, code=0):
        done = subprocess.run([str(COMMAND), *words], cwd=cls.folder, capture_output=True,
                              text=True)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def test_outputs_are_those_of_the_command(self):
        package = lstmc_runtime.load(self.folder / "ck")
        for threads in (1, 2):
            session = package.session(threads=threads)
            got = session.run({"data": IDS})
            self.assertEqual(list(got), list(self.want))
            for name, value in self.want.items():
                self.assertEqual(got[name].tobytes(), value.tobytes(), name)
        self.assertIn(session.weights_hash, self.lstmc("eval", "ck", "--data", "text:t.txt"))

    def test_states_stay_and_can_be_put_back(self):
        session = lstmc_runtime.load(self.folder / "ck").session()
        self.assertEqual(sorted(session.states()), sorted(session.package.states))
        first, kept = session.run({"data": IDS}), session.states()
        second = session.run({"data": IDS})
        [name] = first
        self.assertFalse(numpy.array_equal(first[name], second[name]))
        session.set_states(kept)
        self.assertEqual(session.run({"data": IDS})[name].tobytes(), second[name].tobytes())
        session.reset_states()
        self.assertEqual(session.run({"data": IDS})[name].tobytes(), first[name].tobytes())

    def test_threads_and_sessions_over_one_set_of_weights(self):
        package = lstmc_runtime.load(self.folder / "ck")
        owner = package.session(threads=1)
        sessions = [owner] + [package.session(threads=1, share=owner) for _ in range(3)]
        got = [None] * 4

        def serve(i):
            for _ in range(50):
                sessions[i].reset_states()
                [got[i]] = sessions[i].run({"data": IDS}).values()

        threads = [threading.Thread(target=serve, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        [want] = self.want.values()
        self.assertEqual({value.tobytes() for value in got}, {want.tobytes()})

    def test_views_keep_their_session_alive(self):
        session = lstmc_runtime.load(self.folder / "ck").session()
        [view] = session.run({"data": IDS}, copy=False).values()
        [want] = self.want.values()
        gone = weakref.ref(session)
        del session
        gc.collect()
        self.assertIsNotNone(gone())
        self.assertEqual(view.tobytes(), want.tobytes())
        del view
        gc.collect()
        self.assertIsNone(gone())

    def test_errors_say_what_the_command_says(self):
        (self.folder / "bad.lstmc").write_bytes(
            (self.folder / "ck/last/model.lstmc").read_bytes()[:-9])
        with self.assertRaises(lstmc_runtime.Error) as caught:
            lstmc_runtime.load(self.folder / "bad.lstmc")
        self.assertEqual(caught.exception.exit, 6)
        told = self.lstmc("run", "bad.lstmc", code=6)
        self.assertIn(re.sub(r"^\S*bad.lstmc", "", str(caught.exception)), told)
        session = lstmc_runtime.load(self.folder / "ck").session()
        for words, message in (
                (({"dat": IDS},), 'no input "dat"; there are data'),
                (({"data": IDS[:2]},), r"input data: found shape \(2, 6\), want \(4, 6\)"),
                (({"data": IDS * 0.5},), "input data: found float64, want int32"),
                (({}, "forwad"), 'no entry "forwad"; there are forward')):
            with self.assertRaisesRegex(lstmc_runtime.Error, message):
                session.run(*words)
        with self.assertRaisesRegex(lstmc_runtime.Error, r"E0601"):
            session.package.session(params=self.folder / "nowhere.safetensors")

    def test_a_run_reads_what_it_was_given(self):
        (self.folder / "two.lnet").write_text(
            "def two(data: float32[2, 3], more: float32[2, 3]):\n    return data + 2 * more\n")
        self.lstmc("compile", "two.lnet", "-o", "two.lstmc")
        session = lstmc_runtime.load(self.folder / "two.lstmc").session()
        ones = numpy.ones((2, 3), "float32")
        [sums] = session.run({"data": ones, "more": ones}).values()
        self.assertTrue((sums == 3).all())
        for given, message in (
                ({"data": ones}, 'forward needs more, which was not given'),
                ({"data": ones, "mroe": ones}, 'no input "mroe"; there are more'),
                ({"data": ones, "more": numpy.full((2, 3), 1e300)}, "E0604"),
                ({"data": ones, "more": numpy.ma.array(ones, mask=True)}, "masked"),
                ({"data": ones, "more": ones * 1j}, "found complex64, want float32")):
            with self.assertRaisesRegex(lstmc_runtime.Error, message):
                session.run(given)
        session.set_input("more", 2 * ones)
        [sums] = session.run({"data": ones}).values()
        self.assertTrue((sums == 5).all())

    def test_labels_that_no_output_needs_may_be_left_out(self):
        """As by C: what depends on them is NaN, also after a run that had them; a loss alone is
        refused without them."""
        loss = ("def net(data: float32[4, 3], label: int32[4]):\n"
                '    y = softmax(FullyConnected(data, num_hidden=3, name="fc"))\n'
                '    loss = MakeLoss(0.0 - log(pick(y, label)), name="loss")\n    return loss')
        data = numpy.arange(12, dtype="float32").reshape(4, 3) / 7
        labels = numpy.array([0, 1, 2, 0], "int32")
        (self.folder / "loss.lnet").write_text(loss + ', BlockGrad(y, name="y")\n')
        self.lstmc("compile", "loss.lnet", "-o", "loss.lstmc", "--force")
        session = lstmc_runtime.load(self.folder / "loss.lstmc").session()
        for given in ({}, {"label": labels}, {}):
            got = session.run({"data": data, **given})
            self.assertEqual(bool(numpy.isnan(got["loss_output"]).all()), not given)
            numpy.testing.assert_allclose(got["y_output"], 1 / 3, rtol=1e-6)  # of weights of 0
        session.set_input("label", labels)
        self.assertTrue(numpy.isfinite(session.run({"data": data})["loss_output"]).all())
        (self.folder / "loss.lnet").write_text(loss + "\n")
        self.lstmc("compile", "loss.lnet", "-o", "loss.lstmc", "--force")
        session = lstmc_runtime.load(self.folder / "loss.lstmc").session()
        for _ in range(2):
            with self.assertRaisesRegex(lstmc_runtime.Error, "forward needs label, which was not"):
                session.run({"data": data})
            session.run({"data": data, "label": labels})

    def test_ids_out_of_range_are_refused(self):
        """With input, row and place, as by the command; a program may request clipping instead."""
        package = lstmc_runtime.load(self.folder / "ck")
        for id, step in ((9, 3), (5000, 0), (-3, 5)):
            ids = IDS.copy()
            ids[2, step] = id
            with self.assertRaisesRegex(lstmc_runtime.Error, r'E0604.*input "data" row 2, at \[2, '
                                                             rf'{step}\]: found {id}, want 0 to 8'):
                package.session().run({"data": ids})
            numpy.save(self.folder / "wrong.npy", ids)
            self.assertIn("E0604", self.lstmc("run", "ck", "-i", "data=@wrong.npy", code=6))

        class Clipping(native.Options):
            _fields_ = [("clip_indices", ctypes.c_uint32)]

        handle, view, session = ctypes.c_void_p(), native.Tensor(), package.session()
        options = Clipping(size=ctypes.sizeof(Clipping), clip_indices=1)
        native.call("session_create", package._handle, ctypes.byref(options), ctypes.byref(handle))
        native.call("session_load_weights", handle, str(self.folder / "ck").encode())
        native.call("session_input", handle, b"forward", b"data", ctypes.byref(view))
        ctypes.memmove(view.data, ids.ctypes.data, ids.nbytes)
        native.call("session_run", handle, b"forward")
        output = package.outputs("forward")[0]
        native.call("session_output", handle, b"forward", output.encode(), ctypes.byref(view))
        clipped = ctypes.string_at(view.data, library.lstmc_tensor_bytes(ctypes.byref(view)))
        library.lstmc_session_close(handle)
        self.assertEqual(clipped, session.run({"data": numpy.clip(ids, 0, 8)})[output].tobytes())

    def test_threads_share_a_session(self):
        """Each thread gets its own results. States belong to the session: alone() makes setting
        them and a run atomic."""
        session = lstmc_runtime.load(self.folder / "ck").session(threads=1)

        def answer(number):
            with session.alone():
                session.reset_states()
                return next(iter(session.run({"data": (IDS + number) % 9}).values()))

        want = [answer(number) for number in range(4)]
        states = session.states()
        wrong = []

        def serve(number):
            for _ in range(100):
                if not numpy.array_equal(answer(number), want[number]):
                    wrong.append(number)
                if number == 0:
                    session.set_states(states)
                    session.weights_hash

        threads = [threading.Thread(target=serve, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual((wrong, [thread.is_alive() for thread in threads]), ([], [False] * 4))

    def test_a_daemon_thread_in_a_run_does_not_keep_the_interpreter(self):
        script = """
import threading, time, numpy, lstmc_runtime, sys
session = lstmc_runtime.load(sys.argv[1]).session(threads=2)
def serve():
    while True:
        session.run({"data": numpy.zeros((4, 6), "int32")})
threading.Thread(target=serve, daemon=True).start()
time.sleep(0.3)
"""
        for _ in range(5):
            done = subprocess.run([sys.executable, "-c", script, str(self.folder / "ck")],
                                  capture_output=True, text=True, timeout=60,
                                  env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_versions_are_one(self):
        project = (SOURCE / "executor/python/pyproject.toml").read_text()
        self.assertIn(f'version = "{lstmc_runtime.__version__}"', project)


if __name__ == "__main__":
    unittest.main()
