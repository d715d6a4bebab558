"""predict in Python: every sample, in order, computed from this call's inputs only, as by `lstmc
predict`."""

import os
import subprocess
import tempfile
import unittest
import warnings

import numpy as np

import lstmc
from lstmc import sym

TIME_MAJOR = """
N, T = dim("batch", 32), dim("seq", 6)

def tn(data: int32[N, T], label: int32[N, T]):
    x = Embedding(SwapAxis(data, dim1=0, dim2=1), input_dim=10, output_dim=8, name="embed")
    x, h, c = LSTM(x, num_hidden=8, name="lstm")
    y = FullyConnected(x.reshape(-1, 8), num_hidden=10, name="dec")
    return SoftmaxOutput(y, SwapAxis(label, dim1=0, dim2=1).reshape(-1), normalization="valid")
"""
WEIGHTED = """
N = dim("batch", 50)

def weighted(data: float32[N, 4], label: int32[N]):
    z = FullyConnected(data, num_hidden=3, name="fc")
    w = take(Variable("class_weights", init=[1.0, 2.0, 5.0], lr_mult=0), label)
    loss = -pick(log_softmax(z, axis=-1), label, axis=-1) * w
    return MakeLoss(loss, name="loss"), BlockGrad(softmax(z, axis=-1), name="prob")

fit(weighted, optimizer="sgd", learning_rate=0.1, initializer=Xavier(), num_epoch=3)
"""
ALONE = """
N = dim("batch", 50)

def weighted(data: float32[N, 4], label: int32[N]):
    z = FullyConnected(data, num_hidden=3, name="fc")
    w = take(Variable("class_weights", init=[1.0, 2.0, 5.0], lr_mult=0), label)
    return MakeLoss(-pick(log_softmax(z, axis=-1), label, axis=-1) * w, name="loss")

def score(data: float32[N, 4]):
    return softmax(FullyConnected(data, num_hidden=3, name="fc"), axis=-1)

fit(weighted, optimizer="sgd", learning_rate=0.1, initializer=Xavier(), num_epoch=3)
"""


def last_steps():
    """The last step of each sequence; the lengths are an input."""
    data, length = sym.Variable("data"), sym.Variable("length", shape=(4,))
    last = sym.SequenceLast(sym.SwapAxis(data, dim1=0, dim2=1), length, use_sequence_length=True)
    return lstmc.Network(sym.FullyConnected(last, num_hidden=1, no_bias=True, name="fc"))


def session_of_last_steps():
    return last_steps().compile({"data": (4, 5, 1), "length": (4,)}).session(
        {"fc_weight": np.ones((1, 1), "float32")})


class Case(unittest.TestCase):
    def refused(self, code, said, call, *arguments, **keywords):
        with self.assertRaises(lstmc.Error) as caught:
            call(*arguments, **keywords)
        self.assertEqual(caught.exception.code, code, caught.exception)
        self.assertIn(said, str(caught.exception))

    def file(self, name, text=None):
        if not hasattr(self, "folder"):
            folder = tempfile.TemporaryDirectory()
            self.addCleanup(folder.cleanup)
            self.folder = folder.name
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w") as file:
                file.write(text)
        return path

    def command(self, *words):
        return subprocess.run([os.environ["LSTMC"], *words], capture_output=True, text=True)


class Inputs(Case):
    data = np.arange(20, dtype="float32").reshape(4, 5, 1)

    def test_an_input_that_was_not_given_is_refused_whatever_ran_before(self):
        session = session_of_last_steps()
        found = 'array "length": found none, want one for the input'
        # missing inputs are not taken as zeros
        self.refused("E0610", found, session.predict, {"data": self.data})
        self.assertEqual(
            session.predict({"data": self.data, "length": np.full(4, 1.0)}).ravel().tolist(),
            [0, 5, 10, 15])
        # nor taken from the previous call
        self.refused("E0610", found, session.predict, {"data": self.data})
        self.refused("E0610", found, session.predict, self.data)
        self.assertEqual(
            session.predict({"data": self.data, "length": np.full(4, 5.0)}).ravel().tolist(),
            [4, 9, 14, 19])

    def test_a_name_that_is_no_input_is_refused_with_the_nearest(self):
        self.refused("E0001", 'the network has no input "lenght" (did you mean "length"?)',
                     session_of_last_steps().predict,
                     {"data": self.data, "lenght": np.full(4, 5.0)})

    def test_inputs_of_different_counts_are_refused(self):
        session = session_of_last_steps()
        self.refused("E0605", "found 2 samples, want 4 as in", session.predict,
                     {"data": self.data, "length": np.full(2, 5.0)})
        self.refused("E0605", "found 4 samples, want 2 as in", session.predict,
                     {"data": self.data[:2], "length": np.full(4, 5.0)})

    def test_run_is_given_all_inputs_or_none(self):
        session = session_of_last_steps()
        session.run({"data": self.data, "length": np.full(4, 1.0)})
        self.refused("E0001", 'forward needs length, which was not given', session.run,
                     {"data": self.data})
        self.refused("E0001", 'forward has no input "lenght" (did you mean "length"?)', session.run,
                     {"data": self.data, "lenght": np.full(4, 5.0)})
        session.set_input("length", np.full(4, 5.0))
        [output] = session.run({"data": self.data}).values()
        self.assertEqual(output.ravel().tolist(), [4, 9, 14, 19])
        session.predict({"data": self.data, "length": np.full(4, 1.0)})  # overwrites the input
        self.refused("E0001", 'forward needs length', session.run, {"data": self.data})
        session.input("length")[...] = 2
        [output] = session.run({"data": self.data}).values()
        self.assertEqual(output.ravel().tolist(), [1, 6, 11, 16])

    def test_a_module_wants_all_its_data(self):
        data, length = sym.Variable("data"), sym.Variable("length")
        last = sym.SequenceLast(sym.SwapAxis(data, dim1=0, dim2=1), length,
                                use_sequence_length=True)
        module = lstmc.mod.Module(sym.FullyConnected(last, num_hidden=1, name="fc"),
                                  data_names=["data", "length"], label_names=None)
        module.bind([("data", (4, 5, 1)), ("length", (4,))], for_training=False)
        module.init_params()
        batch = lstmc.io.DataBatch([self.data])
        self.refused("E0001", "the batch has 1 arrays of data, and data_names are data, length",
                     module.forward, batch)


class Labels(Case):
    def setUp(self):
        rng = np.random.default_rng(0)
        self.data = rng.normal(size=(120, 4)).astype("float32")
        self.label = rng.integers(0, 3, 120).astype("int32")

    def trained(self, text):
        network = lstmc.load(self.file("w.lnet", text),
                             **({"net": "weighted"} if text is ALONE else {}))
        network.fit({"data": self.data, "label": self.label}, output=self.file("ck"), seed=1)
        return network

    def test_outputs_that_need_no_label_are_predicted_without(self):
        network = self.trained(WEIGHTED)
        whole = network.predict({"data": self.data, "label": self.label})
        self.assertEqual({name: array.shape for name, array in whole.items()},
                         {"loss_output": (120,), "prob_output": (120, 3)})
        with self.assertWarnsRegex(lstmc.Warning, r"left out output loss \[50\]: it depends on a "
                                                  r"label that the data lack: label"):
            found = network.predict({"data": self.data})
        np.testing.assert_array_equal(found, whole["prob_output"])
        np.savez(self.file("x.npz"), data=self.data)
        done = self.command("predict", self.file("ck"), "--data", "npz:" + self.file("x.npz"),
                            "-o", self.file("p.npz"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("left out  output loss [50]: it depends on a label that the data lack: label",
                      done.stderr)
        with np.load(self.file("p.npz")) as arrays:
            self.assertEqual(arrays.files, ["prob"])
            np.testing.assert_array_equal(arrays["prob"], found)

    def test_a_loss_alone_needs_its_label(self):
        network = self.trained(ALONE)
        self.refused("E0610", "output loss [50]: it depends on a label that the data lack: label",
                     network.predict, {"data": self.data})
        self.assertEqual(network.predict({"data": self.data, "label": self.label}).shape, (120,))
        scores = lstmc.load(self.file("w.lnet"), net="score").compile().session(self.file("ck"))
        self.assertEqual(scores.predict({"data": self.data}).shape, (120, 3))

    def test_a_misspelt_label_is_refused(self):
        self.refused("E0001", 'the network has no input "lable" (did you mean "label"?)',
                     self.trained(WEIGHTED).predict, {"data": self.data, "lable": self.label})

    def test_a_fused_program_may_compute_both(self):
        """The loss and an output without label are elementwise ops of one input."""
        data, label = sym.Variable("data"), sym.Variable("label")
        network = lstmc.Network(
            sym.Group([sym.MakeLoss((data - label) * (data - label), name="loss"),
                       sym.BlockGrad(data * 3 + 1, name="line")]))
        session = network.compile({"data": (4, 2), "label": (4, 2)},
                                  entries=["forward", "evaluate"]).session()
        x = np.arange(14, dtype="float32").reshape(7, 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lstmc.Warning)
            np.testing.assert_array_equal(session.predict({"data": x}), x * 3 + 1)

    def test_a_label_that_begins_at_one(self):
        """In place of a missing label stands one that the network accepts, for this call alone."""
        label = sym.Variable("label")
        prob = sym.softmax(sym.FullyConnected(sym.Variable("data"), num_hidden=3, name="fc"))
        network = lstmc.Network(sym.Group([
            sym.MakeLoss(0 - sym.log(sym.pick(prob, label - 1)), name="loss"),
            sym.BlockGrad(prob, name="prob")]))
        session = network.compile({"data": (4, 4), "label": (4,)}, types={"label": "int32"},
                                  entries=["forward", "evaluate"]).session(seed=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lstmc.Warning)
            found = session.predict({"data": self.data})
        whole = session.predict({"data": self.data, "label": self.label + 1})
        np.testing.assert_array_equal(found, whole["prob_output"])
        self.refused("E0001", "label", session.run, {"data": self.data[:4]})

    def test_a_module_too(self):
        z = sym.FullyConnected(sym.Variable("data"), num_hidden=3, name="fc")
        loss = sym.MakeLoss(0 - sym.pick(sym.log_softmax(z, axis=-1),
                                         sym.Variable("label", dtype="int32"), axis=-1),
                            name="loss")
        module = lstmc.mod.Module(
            sym.Group([loss, sym.BlockGrad(sym.softmax(z, axis=-1), name="prob")]),
            label_names=["label"])
        module.fit(lstmc.io.NDArrayIter(self.data, self.label, 40, label_name="label"),
                   eval_metric=[], num_epoch=1)
        both = module.predict(lstmc.io.NDArrayIter(self.data, self.label, 40, label_name="label"))
        self.assertEqual([array.shape for array in both], [(120,), (120, 3)])
        alone = module.predict(lstmc.io.NDArrayIter(self.data, None, 40))
        np.testing.assert_array_equal(alone.asnumpy(), both[1].asnumpy())


class Rows(Case):
    def test_as_many_as_there_are_samples(self):
        x = np.random.default_rng(0).normal(size=(100, 24, 3)).astype("float32")
        y = x[:, -1, :1].copy()
        ways = {"reshape": lambda x, h: h.reshape((-1, 8)),
                "slice_axis": lambda x, h:
                sym.reshape(sym.slice_axis(h, axis=0, begin=-1, end=None), shape=(-1, 8)),
                "squeeze": lambda x, h: sym.squeeze(h, axis=0),
                "SequenceLast": lambda x, h: sym.SequenceLast(sym.SwapAxis(x, dim1=0, dim2=1))}
        for name, last in ways.items():
            with self.subTest(name):
                x_, h, _ = sym.LSTM(sym.Variable("data"), num_hidden=8, layout="NTC", name="lstm")
                out = sym.FullyConnected(last(x_, h), num_hidden=1, name="out")
                network = lstmc.Network(
                    sym.LinearRegressionOutput(out, sym.Variable("label"), name="reg"))
                network.fit({"data": x, "label": y}, num_epoch=1, batch=32, seed=1)
                whole = network.predict({"data": x})
                self.assertEqual(whole.shape, (100, 1))
                np.testing.assert_array_equal(network.predict({"data": x[40:42]}), whole[40:42])

    def test_without_an_axis_of_the_batch_is_refused_as_by_the_command(self):
        data = np.random.default_rng(0).integers(0, 10, (100, 6)).astype("int32")
        network = lstmc.load(self.file("tn.lnet", TIME_MAJOR))
        network.fit({"data": data, "label": data}, num_epoch=1, output=self.file("ck"), seed=1)
        said = "[192, 10]: no axis of it is the batch"
        self.refused("E0610", said, network.predict, {"data": data})
        np.savez(self.file("tn.npz"), data=data)
        done = self.command("predict", self.file("ck"), "--data", "npz:" + self.file("tn.npz"),
                            "-o", self.file("p.npz"))
        self.assertEqual(done.returncode, 6)
        self.assertIn(said, done.stderr)

    def test_the_commands_numbers(self):
        x = np.random.default_rng(1).normal(size=(10, 4)).astype("float32")
        network = lstmc.load(self.file("w.lnet", WEIGHTED), batch=4)
        network.fit({"data": x, "label": np.zeros(10, "int32")}, output=self.file("ck"), seed=1)
        np.savez(self.file("x.npz"), data=x, label=np.zeros(10, "int32"))
        done = self.command("predict", self.file("ck"), "--data", "npz:" + self.file("x.npz"),
                            "-o", self.file("p.npz"))
        self.assertEqual(done.returncode, 0, done.stderr)
        found = network.predict({"data": x, "label": np.zeros(10, "int32")})
        with np.load(self.file("p.npz")) as arrays:
            for name in ("loss", "prob"):
                np.testing.assert_array_equal(arrays[name], found[name + "_output"])

    def test_rows_that_mix_are_predicted_in_whole_batches(self):
        data = sym.Variable("data")
        mixed = sym.broadcast_sub(data, sym.mean(data, axis=0, keepdims=True))
        net = sym.LinearRegressionOutput(sym.FullyConnected(mixed, num_hidden=1, name="out"),
                                         sym.Variable("label"), name="reg")
        session = lstmc.Network(net).compile({"data": (4, 3), "label": (4, 1)}).session(seed=1)
        x = np.random.default_rng(1).normal(size=(10, 3)).astype("float32")
        self.refused("E0605", "want whole batches of 4, since the network mixes the "
                              "samples of a batch", session.predict, {"data": x})
        with self.assertWarnsRegex(lstmc.Warning, "mixes the samples of a batch"):
            self.assertEqual(session.predict({"data": x[:8]}).shape, (8, 1))

    def test_a_module_joins_along_the_axis_of_the_batch(self):
        # [T, N, H]
        x, h, c = sym.LSTM(sym.SwapAxis(sym.Variable("data"), dim1=0, dim2=1), num_hidden=2,
                           name="lstm")
        module = lstmc.mod.Module(x, label_names=None)
        values = np.random.default_rng(2).normal(size=(10, 5, 3)).astype("float32")
        module.bind([("data", (4, 5, 3))], for_training=False)
        module.init_params(lstmc.init.Uniform(0.5))
        found = module.predict(lstmc.io.NDArrayIter(values, None, 4)).asnumpy()
        self.assertEqual(found.shape, (5, 10, 2))
        module.forward(lstmc.io.DataBatch([values[6:]]), is_train=False)
        np.testing.assert_array_equal(found[:, 6:], module.get_outputs()[0].asnumpy())


class Finite(Case):
    def test_what_is_not_a_number_is_named(self):
        data, label = sym.Variable("data"), sym.Variable("label")
        net = sym.LinearRegressionOutput(
            sym.FullyConnected(sym.log(data), num_hidden=1, name="out"), label, name="reg")
        session = lstmc.Network(net).compile({"data": (4, 3), "label": (4, 1)}).session(seed=1)
        x, y = np.ones((10, 3), "float32"), np.zeros((10, 1), "float32")
        session.predict(x)
        wrong = x.copy()
        wrong[5, 2] = np.nan
        for call in (session.predict, lambda given: session.score({**given, "label": y})):
            self.refused("E0701", 'first NaN in batch 2: input "data", element [1, 2]', call,
                         {"data": wrong})
        wrong[5, 2] = -1
        for call in (session.predict, lambda given: session.score({**given, "label": y})):
            self.refused("E0701", "first NaN in batch 2: log", call, {"data": wrong})
        wrong = x.copy()
        # the session is unchanged
        np.testing.assert_array_equal(session.predict(wrong), session.predict(x))


class Arrays(Case):
    """Element types that no network has are refused with the name of the input."""

    def network(self):
        x, label = sym.Variable("data"), sym.Variable("label")
        return lstmc.Network(sym.LinearRegressionOutput(
            sym.FullyConnected(x, num_hidden=1, name="out"), label, name="reg"))

    def test_dtypes(self):
        x, y = np.ones((8, 3), "float32"), np.zeros((8, 1), "float32")
        cases = {"object": (y.astype(object), "astype"),
                 "text": (np.array([["a"], ["b"]] * 4), "numpy.unique"),
                 "bytes": (np.array([[b"a"], [b"b"]] * 4), "numpy.unique"), "datetime":
                 (np.arange(8).astype("datetime64[D]").reshape(8, 1), "a date becomes a number"),
                 "timedelta":
                 (np.arange(8).astype("timedelta64[s]").reshape(8, 1), "a time becomes a number"),
                 "complex": (y.astype(complex), "real and imaginary parts")}
        for name, (array, remedy) in cases.items():
            with self.subTest(name):
                self.refused("E0610", f'array "label": found dtype {array.dtype}, want numbers; ',
                             self.network().fit, {"data": x, "label": array}, num_epoch=1, batch=4)
                self.refused("E0610", remedy, self.network().fit, {"data": x, "label": array},
                             num_epoch=1, batch=4)
                session = self.network().compile({"data": (8, 3), "label": (8, 1)}).session()
                wide = np.broadcast_to(array, (8, 3))
                for call in (session.predict, session.run,
                             lambda given: session.set_input("data", given["data"])):
                    self.refused("E0610", f'array "data": found dtype {array.dtype}', call,
                                 {"data": wide})
                self.refused("E0610", 'array "out_bias": found dtype', session.set_params,
                             {"out_bias": array[:1, 0]})

    def test_whole_numbers_of_all_widths_and_orders(self):
        session = self.network().compile({"data": (8, 3), "label": (8, 1)},
                                         entries=["forward"]).session(seed=1)
        x = np.arange(24).reshape(8, 3)
        wanted = session.predict(x.astype("float32"))
        for dtype in ("uint16", "int16", "uint32", "uint64", ">i4", ">f8", "float16", "int8"):
            with self.subTest(dtype):
                np.testing.assert_array_equal(session.predict(x.astype(dtype)), wanted)
        self.refused("E0604", "found 18446744073709551615, want a value of int64", session.predict,
                     np.full((8, 3), 2**64 - 1, "uint64"))

    def test_masked_arrays(self):
        session = self.network().compile({"data": (8, 3), "label": (8, 1)},
                                         entries=["forward"]).session(seed=1)
        masked = np.ma.array(np.ones((8, 3), "float32"), mask=np.eye(8, 3, dtype=bool))
        for call in (session.predict, session.run):
            self.refused("E0610", 'array "data": found masked elements', call, {"data": masked})
        np.testing.assert_array_equal(session.predict({"data": np.ma.array(masked.data)}),
                                      session.predict({"data": masked.data}))

    def test_numbers_that_would_become_infinite(self):
        session = self.network().compile({"data": (8, 3), "label": (8, 1)}).session(seed=1)
        large = np.full((8, 3), 1e300)
        self.refused("E0604", 'array "data" element 0: found 1e+300, want a value of float32',
                     session.run, {"data": large})
        self.refused("E0604", 'array "data" element 0: found 1e+300, want a value of float32',
                     session.predict, {"data": large})
        self.refused("E0604", 'array "data" element 0', self.network().fit,
                     {"data": large, "label": np.zeros((8, 1))}, num_epoch=1, batch=4)
        self.refused("E0604", 'array "out_bias" element 0', session.set_params,
                     {"out_bias": np.array([1e300])})

    def test_missing_weights(self):
        package = self.network().compile({"data": (8, 3), "label": (8, 1)})
        self.refused("E0610", "params: found none of out_weight, out_bias, want all weights",
                     package.session, {})
        self.refused("E0610", "params: found none of out_weight, want all weights", package.session,
                     {"out_bias": np.zeros(1)})
        given = {"data": np.ones((8, 3), "float32"), "label": np.zeros((8, 1), "float32")}
        self.refused("E0001", "params= has no weights", self.network().fit, given, params={},
                     num_epoch=1, batch=4)
        # the others start as without the call
        self.network().fit(given, params={"out_bias": np.zeros(1)}, num_epoch=1, batch=4)


if __name__ == "__main__":
    unittest.main()
