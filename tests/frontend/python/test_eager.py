"""Eager arrays have the bits of symbols, for every op of the records and its gradients."""

import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np

import lstmc as mx
from lstmc import _core, autograd, drawing, nd

RANDOM = np.random.default_rng(11)


def reals(*shape, low=0.3, high=0.9):
    """Numbers away from 0, where several ops have a corner or a pole."""
    return RANDOM.uniform(low, high, shape).astype(np.float32)


def whole(*shape, below=3):
    return RANDOM.integers(0, below, shape).astype(np.int32)


LENGTHS = np.array([2, 3, 1, 2], np.int32)
MATRIX, OTHER = reals(3, 4), reals(3, 4)
STACK = 4 * 5 * (3 + 5 + 2)  # parameters of an LSTM of 5 units over 3 inputs

# op: inputs and attributes. The default is a matrix for each input.
CASES = {
    "_zeros": ([], {"shape": (2, 3)}),
    "_ones": ([], {"shape": (2, 3)}),
    "_full": ([], {"shape": (2, 3), "value": 1.5}),
    "_arange": ([], {"start": 1, "stop": 4, "step": 0.5}),
    "arccosh": ([reals(3, 4, low=1.2, high=1.9)], {}),
    "Activation": ([MATRIX], {"act_type": "mish"}),
    "clip": ([MATRIX], {"a_min": 0.4, "a_max": 0.7}),
    "Cast": ([MATRIX], {"dtype": "float64"}),
    "where": ([whole(3, 4, below=2), MATRIX, OTHER], {}),
    "Reshape": ([MATRIX], {"shape": (-1, 2)}),
    "SwapAxis": ([reals(2, 3, 4)], {"dim1": 0, "dim2": 2}),
    "transpose": ([reals(2, 3, 4)], {"axes": (1, 2, 0)}),
    "expand_dims": ([MATRIX], {"axis": 1}),
    "squeeze": ([reals(3, 1, 4)], {}),
    "SliceChannel": ([MATRIX], {"num_outputs": 2}),
    "slice": ([MATRIX], {"begin": (0, 1), "end": (3, 4), "step": (2, 1)}),
    "slice_axis": ([MATRIX], {"axis": 1, "begin": 1, "end": 3}),
    "reverse": ([MATRIX], {"axis": (1,)}),
    "tile": ([MATRIX], {"reps": (2, 1)}),
    "repeat": ([MATRIX], {"repeats": 2, "axis": 1}),
    "broadcast_to": ([reals(3, 1)], {"shape": (3, 4)}),
    "broadcast_axis": ([reals(3, 1)], {"axis": (1,), "size": (4,)}),
    "Embedding": ([whole(2, 3, below=5), reals(5, 4)], {"input_dim": 5, "output_dim": 4}),
    "take": ([reals(5, 4), whole(2, 3, below=5)], {}),
    "pick": ([MATRIX, whole(3, below=4)], {}),
    "one_hot": ([whole(3)], {"depth": 4}),
    "FullyConnected": ([MATRIX, reals(5, 4), reals(5)], {"num_hidden": 5}),
    "dot": ([MATRIX, reals(4, 5)], {}),
    "batch_dot": ([reals(2, 3, 4), reals(2, 4, 5)], {}),
    "LayerNorm": ([MATRIX, reals(4), reals(4)], {}),
    "RNN": ([reals(4, 2, 3), reals(STACK), reals(1, 2, 5), reals(1, 2, 5)],
            {"state_size": 5, "num_layers": 1, "mode": "lstm", "state_outputs": True}),
    "_rnn_param_concat": ([reals(6), reals(4)], {"dim": 0}),
    "SequenceMask": ([reals(3, 4, 2), LENGTHS], {"use_sequence_length": True}),
    "SequenceLast": ([reals(3, 4, 2), LENGTHS], {"use_sequence_length": True}),
    "SequenceReverse": ([reals(3, 4, 2), LENGTHS], {"use_sequence_length": True}),
    "softmax": ([MATRIX], {}),
    "log_softmax": ([MATRIX], {}),
    "softmin": ([MATRIX], {}),
    "SoftmaxOutput": ([MATRIX, whole(3)], {"normalization": "batch"}),
    "SVMOutput": ([MATRIX, whole(3)], {}),
    "softmax_cross_entropy": ([MATRIX, whole(3)], {}),
    "reshape_like": ([MATRIX, reals(4, 3)], {}),
    "broadcast_like": ([reals(3, 1), MATRIX], {}),
    "slice_like": ([MATRIX, reals(2, 3)], {}),
    "LeakyReLU": ([MATRIX, reals(4)], {"act_type": "prelu"}),
    "linalg_gemm2": ([MATRIX, reals(4, 5)], {}),
    "linalg_gemm": ([MATRIX, reals(4, 5), reals(3, 5)], {}),
    "einsum": ([MATRIX, reals(4, 5)], {"subscripts": "ij,jk->ki"}),
    "gather_nd": ([MATRIX, whole(2, 5)], {}),
    "scatter_nd": ([reals(5), np.arange(5, dtype=np.int32)[None]], {"shape": (6,)}),
    "topk": ([MATRIX], {"k": 2, "ret_typ": "value"}),
    "L2Normalization": ([MATRIX], {}),
    "InstanceNorm": ([reals(2, 3, 4), reals(3), reals(3)], {}),
    "amp_cast": ([MATRIX], {"dtype": "float32"}),  # others are the identity here, not in MXNet
    "batch_take": ([MATRIX, whole(3, below=4)], {}),
    "Pad": ([reals(1, 2, 3, 4)], {"mode": "edge", "pad_width": (0, 0, 0, 0, 1, 2, 0, 1)}),
    "Convolution": ([reals(2, 3, 5), reals(4, 3, 2), reals(4)], {"kernel": (2,), "num_filter": 4}),
    "Pooling": ([reals(2, 3, 5)], {"kernel": (2,)}),
    "Deconvolution": ([reals(2, 3, 5), reals(3, 4, 2), reals(4)],
                      {"kernel": (2,), "num_filter": 4, "stride": (2,), "no_bias": False}),
    "UpSampling": ([reals(1, 2, 3, 4), reals(1, 1, 6, 8)], {"scale": 2, "sample_type": "nearest"}),
    "LRN": ([reals(2, 5, 3, 2)], {"nsize": 3, "alpha": 0.3}),
    "GroupNorm": ([reals(2, 4, 3), reals(2), reals(2)], {"num_groups": 2}),
    "_split_v2": ([reals(2, 6)], {"indices": (0, 1, 4)}),
    "BatchNorm": ([reals(4, 3, 2), *(reals(3) for _ in range(4))], {"fix_gamma": False}),
    "CTCLoss": ([reals(6, 2, 5), whole(2, 3, below=5)], {}),
}
# their random numbers depend on the call
DRAWN = {"random_uniform", "random_normal", "sample_multinomial", "Dropout"}


def case_of(record):
    name, _, inputs, variadic, attributes, _ = record
    if name in CASES:
        return CASES[name]
    needed = [attribute for attribute, _, default, _ in attributes if default is None]
    given = {"scalar": 0.625} if needed == ["scalar"] else {}
    return [MATRIX, OTHER][: 2 if variadic else len(inputs)], given


def bits(arrays):
    return [(array.dtype.str, array.shape, array.tobytes()) for array in arrays]


def symbol_of(name, inputs, attributes, gradients):
    """The symbol of the op over Variables v0, v1, .. with these inputs; floats are parameters if
    gradients are wanted."""
    variables = []
    for number, value in enumerate(inputs):
        parameter = gradients and value.dtype.kind == "f"
        variables.append(mx.sym.Variable(f"v{number}", **(
            {"shape": value.shape, "dtype": value.dtype.name} if parameter else {})))
    return getattr(mx.sym, name)(*variables, **attributes), variables


def symbolic(name, inputs, attributes):
    """The outputs of the op's symbol, compiled as users do."""
    symbol, _ = symbol_of(name, inputs, attributes, gradients=False)
    given = {f"v{number}": value for number, value in enumerate(inputs)}
    package = mx.Network(symbol).compile({name: value.shape for name, value in given.items()},
                                         {name: value.dtype.name for name, value in given.items()},
                                         entries=["forward"])
    there = package.inputs()
    return list(package.session()
                .run({name: value for name, value in given.items() if name in there}).values())


def symbolic_gradients(name, inputs, attributes, factors):
    """The gradients of sum(output * factor) for the float inputs."""
    symbol, _ = symbol_of(name, inputs, attributes, gradients=True)
    losses = [mx.sym.MakeLoss(output * mx.sym.Variable(f"f{number}"))
              for number, output in enumerate(symbol)]
    shapes = {f"v{number}": value.shape for number, value in enumerate(inputs)
              if value.dtype.kind != "f"}
    types = {f"v{number}": value.dtype.name for number, value in enumerate(inputs)}
    shapes.update((f"f{number}", factor.shape) for number, factor in enumerate(factors))
    types.update((f"f{number}", factor.dtype.name) for number, factor in enumerate(factors))
    session = _core.bind(drawing.draw(mx.sym.Group(losses), "net", shapes, types), ["step"],
                         "none", 1)
    values = {**{f"v{number}": value for number, value in enumerate(inputs)},
              **{f"f{number}": value for number, value in enumerate(factors)}}
    for key, value in values.items():
        if key in shapes:
            session.input("step", key)[...] = value
        else:
            session.set_parameter(key, value)
    session.run("step", True)
    [(_, _, outputs)] = [entry for entry in session.entries() if entry[0] == "step"]
    return {output: session.output("step", output).copy() for output, *_ in outputs
            if output.startswith("gradient:")}


def eager_gradients(name, inputs, attributes, factors):
    arrays = [nd.array(value, dtype=value.dtype) for value in inputs]
    wanted = [array for array, value in zip(arrays, inputs) if value.dtype.kind == "f"]
    for array in wanted:
        array.attach_grad()
    with autograd.record():
        outputs = getattr(nd, name)(*arrays, **attributes)
        outputs = outputs if isinstance(outputs, list) else [outputs]
        losses = [(output * nd.array(factor, dtype=factor.dtype)).sum()
                  for output, factor in zip(outputs, factors)]
    autograd.backward(losses)
    return {f"gradient:v{number}": array.grad.asnumpy() for number, array in enumerate(arrays)
            if array.grad is not None}


class EveryOp(unittest.TestCase):
    def test_values_and_gradients_are_those_of_the_symbol(self):
        differentiated = 0
        for record in _core.operators():
            name = record[0]
            if name in DRAWN:
                continue
            with self.subTest(name):
                inputs, attributes = case_of(record)
                wanted = symbolic(name, inputs, attributes)
                got = getattr(nd, name)(*[nd.array(value, dtype=value.dtype) for value in inputs],
                                        **attributes)
                got = [array.asnumpy() for array in (got if isinstance(got, list) else [got])]
                self.assertEqual(bits(got), bits(wanted))
                factors = [reals(*array.shape).astype(array.dtype) for array in wanted]
                if (not any(value.dtype.kind == "f" for value in inputs)
                    or any(factor.dtype.kind != "f" for factor in factors)):
                    continue
                try:
                    gradients = symbolic_gradients(name, inputs, attributes, factors)
                except mx.Error as error:
                    with self.assertRaises(mx.Error) as refused:
                        eager_gradients(name, inputs, attributes, factors)
                    self.assertEqual((refused.exception.code, refused.exception.message),
                                     (error.code, error.message))
                    continue
                found = eager_gradients(name, inputs, attributes, factors)
                for key, gradient in gradients.items():
                    self.assertEqual(bits([found.pop(key)]), bits([gradient]), key)
                for rest in found.values():  # inputs that the symbol does not even read
                    self.assertFalse(rest.any())
                differentiated += 1
        self.assertGreater(differentiated, 120)


class Tape(unittest.TestCase):
    def test_training_by_hand_has_the_weights_of_fit(self):
        """Rate, batch and their products are powers of two, so each way of writing the update
        rounds once."""
        x, label, rate, batch = reals(64, 6), whole(64, below=4).astype(np.float32), 0.5, 32
        net = mx.sym.SoftmaxOutput(
            mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=4, name="fc"),
            mx.sym.Variable("softmax_label"), name="softmax")
        model = mx.Network(net)
        first = {"fc_weight": reals(4, 6), "fc_bias": reals(4)}
        model.fit(mx.training.Arrays({"data": x, "softmax_label": label}, batch, shuffle=False),
                  batch=batch, params=first, optimizer="sgd", learning_rate=rate, wd=0, num_epoch=2)
        weight, bias = nd.array(first["fc_weight"]), nd.array(first["fc_bias"])
        weight.attach_grad()
        bias.attach_grad()
        for begin in (0, batch) * 2:
            data, wanted = nd.array(x[begin : begin + batch]), nd.array(
                label[begin : begin + batch])
            with autograd.record():
                output = nd.SoftmaxOutput(nd.FullyConnected(data, weight, bias, num_hidden=4),
                                          wanted)
            output.backward()
            weight -= rate / batch * weight.grad
            bias -= rate / batch * bias.grad
        trained = model.session.params()
        self.assertEqual(bits([weight.asnumpy(), bias.asnumpy()]),
                         bits([trained["fc_weight"], trained["fc_bias"]]))

    def test_requests(self):
        x = nd.array([1, 2, 3])
        for request, wanted in (("write", [2, 4, 6]), ("add", [4, 8, 12]), ("null", [0, 0, 0])):
            x.attach_grad(request)
            y = nd.array([1, 1, 1])
            y.attach_grad()
            for _ in range(2):
                with autograd.record():
                    z = x * x + y
                z.backward()
            self.assertEqual(x.grad.asnumpy().tolist(), wanted, request)
        with self.assertRaisesRegex(mx.Error, "grad_req"):
            x.attach_grad("wite")

    def test_what_flows_in(self):
        x = nd.array([1, 2, 3])
        x.attach_grad()
        with autograd.record():
            y, z = x * x, x * 3
        autograd.backward([y, z], [nd.array([1, 10, 100]), None])
        self.assertEqual(x.grad.asnumpy().tolist(), [2 + 3, 40 + 3, 600 + 3])
        self.assertEqual(autograd.grad(y, x).asnumpy().tolist(), [2, 4, 6])
        self.assertEqual(x.grad.asnumpy().tolist(), [5, 43, 603])

    def test_what_is_not_on_the_tape(self):
        x = nd.array([1, 2, 3])
        x.attach_grad()
        with autograd.record():
            self.assertTrue(autograd.is_recording() and autograd.is_training())
            with autograd.pause():
                constant = x * 10
            z = x * constant + (x * x).detach() + nd.stop_gradient(x)
            with self.assertRaisesRegex(mx.Error, "changed inside"):
                x[0] = 5
            with self.assertRaisesRegex(mx.Error, "changed inside"):
                x += 1
        z.backward()
        self.assertEqual(x.grad.asnumpy().tolist(), [10, 20, 30])
        with self.assertRaisesRegex(mx.Error, "inside autograd.record"):
            (x * 2).backward()
        with autograd.record():
            y = x * 2
        x[:] = 7
        with autograd.record():
            z = y + x
        with self.assertRaisesRegex(mx.Error, "changed between two uses"):
            z.backward()

    def test_dropout_has_one_mask(self):
        x = nd.ones((50, 40))
        x.attach_grad()
        mx.random.seed(5)
        self.assertEqual(nd.Dropout(x, p=0.25).asnumpy().tolist(), x.asnumpy().tolist())
        with autograd.record():
            y = nd.Dropout(x, p=0.25)
        y.backward()
        self.assertEqual(bits([x.grad.asnumpy()]), bits([y.asnumpy()]))
        self.assertAlmostEqual((y.asnumpy() == 0).mean(), 0.25,
                               delta=6 * np.sqrt(0.25 * 0.75 / 2000))
        with autograd.record(train_mode=False):
            self.assertEqual(nd.Dropout(x, p=0.25).asnumpy().min(), 1)
        with autograd.record(), self.assertRaisesRegex(mx.Error, "does not drop out"):
            nd.RNN(nd.array(reals(4, 2, 3)), nd.array(reals(STACK)), nd.ones((1, 2, 5)),
                   nd.ones((1, 2, 5)), state_size=5, num_layers=1, mode="lstm", p=0.5)

    def test_gradients_that_are_not_finite(self):
        x = nd.array([0.0, 2.0])
        x.attach_grad()
        with autograd.record():
            y = nd.log(x)
        y.backward()
        self.assertEqual(x.grad.asnumpy().tolist(), [np.inf, 0.5])


class Arrays(unittest.TestCase):
    def test_indices(self):
        x = reals(3, 4, 5)
        for index in (1, -1, (1, 2), (1, 2, 3), slice(1, 3), (slice(None), 2), (Ellipsis, 0),
                      (0, Ellipsis, slice(None, None, 2)),
                      (None, 1), (slice(None, None, -1), slice(2, 0, -1)),
                      (slice(-2, None), None, Ellipsis, 1)):
            wanted = np.atleast_1d(x[index])
            self.assertEqual(bits([nd.array(x)[index].asnumpy()]),
                             bits([np.ascontiguousarray(wanted)]), index)
        self.assertEqual(bits([nd.array(x)[[2, 0]].asnumpy()]), bits([x[[2, 0]]]))
        for index in (3, (0, 0, -6), (0, 0, 0, 0)):
            with self.assertRaises(IndexError):
                nd.array(x)[index]

    def test_assignment_changes_no_other_array(self):
        x = nd.zeros((2, 3))
        y = x.reshape((3, 2))
        x[0, 1:] = 7
        x[1] = nd.array([1, 2, 3])
        self.assertEqual(x.asnumpy().tolist(), [[0, 7, 7], [1, 2, 3]])
        self.assertEqual(y.asnumpy().max(), 0)
        nd.ones((2, 3)).copyto(x)
        self.assertEqual(nd.add_n(x, x, out=x).asnumpy().tolist(), [[2] * 3] * 2)

    def test_operators(self):
        x, y = reals(3, 4), reals(1, 4)
        a, b = nd.array(x), nd.array(y)
        for got, wanted in (
                (a + b, x + y), (a - b, x - y), (2 - a, 2 - x), (a * 3, x * 3), (a / b, x / y),
                (1 / a, np.float32(1) / x), (-a, -x), (a > b, (x > y).astype(np.float32)),
                (0.5 <= a, (0.5 <= x).astype(np.float32)),
                (nd.maximum(a, 0.6), np.maximum(x, np.float32(0.6))),
                (nd.minimum(0.6, b), np.minimum(y, np.float32(0.6))), (a.T, x.T),
                (a.reshape(2, -1), x.reshape(2, -1)), (a.clip(0.4, 0.6), x.clip(0.4, 0.6)),
                (nd.concatenate([a, b]), np.concatenate([x, y]))):
            self.assertEqual(bits([got.asnumpy()]), bits([np.ascontiguousarray(wanted)]))
        self.assertEqual(float(nd.array([2.5])), 2.5)
        self.assertEqual(nd.arange(4).asnumpy().tolist(), [0, 1, 2, 3])
        self.assertFalse(a == None)  # noqa: E711

    def test_mistakes_are_at_the_users_line(self):
        with self.assertRaises(mx.Error) as error:
            nd.dot(nd.ones((2, 3)), nd.ones((2, 3)))
        self.assertIn("nd.dot(nd.ones((2, 3)), nd.ones((2, 3)))", str(error.exception))
        with self.assertRaisesRegex(mx.Error, "E0604"):
            nd.Embedding(nd.array([7], dtype="int32"), nd.ones((5, 2)), input_dim=5, output_dim=2)
        with self.assertRaisesRegex(TypeError, "takes NDArrays"):
            nd.exp(np.ones(3))

    def test_random_numbers_follow_the_seed(self):
        def draw():
            mx.random.seed(3)
            return [nd.random.uniform(2, 3, (4, 5)).asnumpy(),
                    mx.random.normal(shape=(4, 5)).asnumpy(),
                    nd.random.uniform(2, 3, (4, 5)).asnumpy()]

        first = draw()
        self.assertEqual(bits(first), bits(draw()))
        self.assertNotEqual(bits(first[:1]), bits(first[2:]))
        self.assertTrue(first[0].min() >= 2 and first[0].max() < 3)

    def test_a_forked_process_computes(self):
        x = nd.ones((2, 3))
        (x + x).asnumpy()
        child = os.fork()
        if child == 0:
            os._exit(0 if (x + x).asnumpy().sum() == 12 else 1)
        for _ in range(1200):
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                break
            time.sleep(0.1)
        else:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            self.fail("it hangs")
        self.assertEqual(status, 0)

    def test_threads(self):
        """All threads share one program."""
        x = reals(8, 8)
        wanted = bits([nd.dot(nd.array(x), nd.array(x)).asnumpy()])
        wrong = []

        def work():
            for _ in range(50):
                if bits([nd.dot(nd.array(x), nd.array(x)).asnumpy()]) != wanted:
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


SHAPES = """
import os, sys
import numpy as np
from lstmc import autograd, nd

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

def tape(rows, steps):
    weight, x = nd.array(np.ones((4, 4), "float32")), nd.array(np.ones((rows, 4), "float32"))
    weight.attach_grad()
    with autograd.record():
        for _ in range(steps):
            x = nd.tanh(nd.dot(x, weight))
        loss = nd.sum(x)
    loss.backward()

count, steps = map(int, sys.argv[1:])
seen = []
for rows in range(1, count + 1):
    tape(rows, steps)
    seen.append(resident())
print(seen[count // 2], seen[-1])
"""


class Memory(unittest.TestCase):
    """Loops over many shapes: unused programs are dropped. LSTMC_SHAPES of them (1,000)."""

    def grown(self, count, steps):
        """The MiB by which the second half of the shapes grows the process."""
        done = subprocess.run([sys.executable, "-c", SHAPES, str(count), str(steps)],
                              capture_output=True, text=True, check=True)
        half, whole = map(float, done.stdout.split())
        return whole - half

    def test_many_shapes(self):
        self.assertLess(self.grown(int(os.environ.get("LSTMC_SHAPES", "1000")), 1), 8)

    def test_long_tapes(self):
        """A tape of 20 steps takes 100 to 500 KiB: 600 of them exceed the cache."""
        self.assertLess(self.grown(int(os.environ.get("LSTMC_SHAPES", "600")), 20), 16)


class DLPack(unittest.TestCase):
    def test_memory_is_shared_with_other_libraries(self):
        array = nd.array([[1, 2], [3, 4]])
        other = np.from_dlpack(array)
        np.testing.assert_array_equal(other, [[1, 2], [3, 4]])
        self.assertTrue(np.shares_memory(other, array._data))
        self.assertEqual(array.__dlpack_device__(), (1, 0))  # kDLCPU
        array[:] = 0  # an assignment allocates new memory
        np.testing.assert_array_equal(other, [[1, 2], [3, 4]])


if __name__ == "__main__":
    unittest.main()
