"""Monitoring and control of a training: metrics, norms of gradients, event files, initial weights,
rates."""
import json
import math
import os
import re
import struct
import time
import unittest

from command import Case, SOURCE
from test_data import npy

CLASSES = """\
N = dim("batch", 4)

def classes(data: float32[N, 6], label: int32[N]):
    x = Activation(FullyConnected(data, num_hidden=5, name="first"), act_type="tanh")
    return SoftmaxOutput(FullyConnected(x, num_hidden=3, name="out"), label, name="digit")

fit(classes, optimizer="adam", learning_rate=0.05, initializer=Xavier())
"""
DEEP = """\
N = dim("batch", 4)

def deep(data: float32[N, 6], label: int32[N]):
    x = data
    for i in range(30):
        x = Activation(FullyConnected(x, num_hidden=8, name="fc%d" % i), act_type="sigmoid")
    return SoftmaxOutput(FullyConnected(x, num_hidden=3, name="out"), label)

fit(deep, optimizer="sgd", learning_rate=0.1, initializer=Xavier())
"""


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """(number, value) of the fields of a protocol buffer."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif kind == 5:
            value, at = struct.unpack_from("<f", data, at)[0], at + 4
        else:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def events(path):
    """(update, tag, value) of the events in a TensorBoard file."""
    data, at, found = path.read_bytes(), 0, []
    unmask = lambda crc: (((crc - 0xa282ead8 & 0xffffffff) >> 17 | (crc - 0xa282ead8) << 15)
                          & 0xffffffff)
    while at < len(data):
        head, size = data[at:at + 8], struct.unpack_from("<Q", data, at)[0]
        body = data[at + 12:at + 12 + size]
        assert unmask(struct.unpack_from("<I", data, at + 8)[0]) == crc32c(head)
        assert unmask(struct.unpack_from("<I", data, at + 12 + size)[0]) == crc32c(body)
        at += 16 + size
        event = dict(fields(body))
        if 5 in event:
            point = dict(fields(dict(fields(event[5]))[1]))
            found.append((event.get(2, 0), point[1].decode(), point[2]))
        else:
            assert event[3] == b"brain.Event:2"
    return found


class Watching(Case):
    def setUp(self):
        super().setUp()
        self.write("classes.lnet", CLASSES)
        self.write("deep.lnet", DEEP)
        npy(self.folder / "x.npy", "f", "(40, 6)", [math.sin(1.7 * i) for i in range(240)])
        npy(self.folder / "y.npy", "i", "(40,)", [i % 3 for i in range(40)])

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def train(self, *words, net="classes.lnet"):
        return self.good("train", net, "--data", "npy:data=x.npy,label=y.npy", *words)

    def lines(self, *words, net="classes.lnet"):
        return [json.loads(line)
                for line in self.train(*words, "--format", "jsonl", net=net).stdout.splitlines()]

    def test_the_metric_that_is_asked_for(self):
        done = self.train("-o", "ck", "--metric", "accuracy", "--after", "10u",
                          "--disp-every", "5u")
        self.assertEqual(len(re.findall(r"(?m)^update=\d+ .* accuracy=0\.\d{4} ", done.stderr)), 2)
        # With a rate of 0, the updates' metrics over an epoch equal those of eval.
        lines = self.lines("-o", "ck0", "--metric", "accuracy", "--lr", "0", "--after", "10u",
                           "--disp-every", "10u")
        measured = self.document("eval", "ck0", "--metric", "accuracy",
                                 schema="lstmc.eval/1")["metrics"]["accuracy"]
        told = [line["metrics"]["accuracy"] for line in lines if line["event"] == "update"]
        self.assertEqual(told, [measured])
        done = self.train("-o", "ck1", "--metric", "accuracy", "--valid", "0.3", "--after", "7u",
                          "--disp-every", "7u")
        self.assertRegex(done.stderr, r"(?m)^update=7 .* accuracy=")
        self.assertRegex(done.stderr, r"(?m)^valid .*  accuracy 0\.\d{4}")
        done = self.train("-o", "ck2", "--metric", "top_k_accuracy_2", "--after", "1u")
        self.assertIn("warning: top_k_accuracy_2 is measured in validations only, and there are "
                      "none: --valid 0.1 keeps", done.stderr)

    def weights(self, folder):
        state = json.loads((self.folder / folder / "last/state.json").read_text())
        return {tensor["name"]: tensor["hash"] for tensor in state["tensors"]
                if tensor["file"] == "model.safetensors"}

    def test_fixed_parameters(self):
        self.train("-o", "before", "--lr", "0", "--after", "1u")
        self.train("-o", "after", "--fixed-params", "first*", "--after", "3u")
        before, after = self.weights("before"), self.weights("after")
        self.assertEqual({name for name in before if before[name] == after[name]},
                         {"first_weight", "first_bias"})
        # Frozen parameters have no optimizer state, and the others train as on several devices.
        state = json.loads((self.folder / "after/last/state.json").read_text())
        slots = {tensor["name"] for tensor in state["tensors"]
                 if tensor["file"] == "optimizer.safetensors"}
        self.assertEqual({name.split("/")[0] for name in slots}, {"out_weight", "out_bias"})
        self.train("-o", "two", "--fixed-params", "first*", "--after", "3u", "-d", "2xcpu")
        self.assertEqual(self.weights("two"), after)
        done = self.run_here("train", "classes.lnet", "--data", "npy:data=x.npy,label=y.npy",
                             "-o", "ck", "--fixed-params", "frst*")
        self.assertEqual(done.returncode, 2)
        self.assertIn('--fixed-params "frst*" matches no parameter; there are first_', done.stderr)

    def test_other_weights_to_begin_with(self):
        self.train("-o", "one", "--after", "5u")
        self.write("wide.lnet", CLASSES.replace("num_hidden=3", "num_hidden=4").replace(
            '"first"', '"first", no_bias=True'))
        done = self.train("-o", "two", "--init-params", "one", "--lr", "0", "--after", "1u",
                          net="wide.lnet")
        self.assertIn("init      1 of 3 parameters from one\n", done.stderr)
        self.assertIn("          of another shape, so initialised: out_weight (float32[3, 5] "
                      "there, float32[4, 5] here), out_bias", done.stderr)
        self.assertIn("          there, but not in this network: first_bias\n", done.stderr)
        self.assertEqual(self.weights("two")["first_weight"], self.weights("one")["first_weight"])
        done = self.run_here("train", "small.lnet", "--data", "text:text.txt", "-o", "ck",
                             "--init-params", "one")
        self.assertEqual(done.returncode, 6)
        self.assertIn("one: error[E0610]: weights: found none of the network's 7 parameters by "
                      "name and shape\n", done.stderr)
        done = self.run_here("train", "classes.lnet", "-o", "one", "--init-params", "one",
                             "--resume")
        self.assertEqual(done.returncode, 2)

    def test_norms_of_gradients(self):
        plain = self.train("-o", "ck", "--after", "3u", "--disp-every", "1u")
        self.assertNotIn("first_bias", plain.stderr)
        self.assertEqual(self.lines("-o", "ckj", "--after", "1u", "--disp-every", "1u")[1].keys()
                         >= {"gradient_norms"}, True)
        lines = self.lines("-o", "ck1", "--after", "3u", "--disp-every", "1u", "--gradient-norms")
        updates = [line for line in lines if line["event"] == "update"]
        for line in updates:
            self.assertEqual(sorted(line["gradient_norms"]),
                             ["first_bias", "first_weight", "out_bias", "out_weight"])
            squares = sum(norm ** 2 for norm in line["gradient_norms"].values())
            self.assertAlmostEqual(math.sqrt(squares), line["gradient_norm"],
                                   delta=1e-12 * line["gradient_norm"])
        self.assertEqual(lines[-1]["weights_hash"], plain.stdout.split()[-1])
        for words in (["-d", "2xcpu"],
                      ["-d", "3xcpu", "--kv-store", "device", "--bigarray-bound", "4"],
                      ["--accumulate", "2"]):
            again = self.lines("-o", "ck2", "-y", "--after", "3u", "--disp-every", "1u",
                               "--gradient-norms", *words)
            self.assertEqual(
                [line["gradient_norms"] for line in again if line["event"] == "update"],
                [line["gradient_norms"] for line in updates], words)

    def test_a_gradient_that_vanishes(self):
        done = self.train("-o", "ck", "--after", "12u", net="deep.lnet")
        self.assertRegex(done.stderr, r"(?m)^deep\.lnet:6:24: warning\[W0704\]: at update 10, the "
                                      r"gradient of fc0_weight \(and \d other weights\) vanishes: "
                                      r"\S+ an element, where the median of all weights is ")
        self.assertEqual(done.stderr.count("warning"), 1)
        self.assertNotIn("vanishes",
                         self.train("-o", "ck1", "--after", "12u", "--gradient-norms").stderr)

    def test_a_gradient_that_explodes_or_is_far_from_its_neighbours(self):
        # The inputs of fc2 are larger by `scale`, and its weights smaller by as much.
        self.write("far.lnet", """\
N, scale = dim("batch", 4), setting("scale", 1.0)

def far(data: float32[N, 6], label: int32[N]):
    x = data
    for i in range(5):
        w = Variable("fc%d_weight" % i, shape=(6, 6), init=Uniform(0.5 / scale if i == 2 else 0.5))
        x = FullyConnected(x * scale if i == 2 else x, weight=w, num_hidden=6, name="fc%d" % i)
    return SoftmaxOutput(FullyConnected(x, num_hidden=3, name="out"), label)

fit(far, optimizer="sgd", learning_rate=1e-20, initializer=Uniform(0.5))
""")
        text = lambda scale: self.train("-o", f"ck{scale}", "--after", "10u", "--gradient-norms",
                                        "--set", f"scale={scale}", net="far.lnet").stderr
        self.assertNotIn("W0704", text("100.0"))
        self.assertRegex(text("3e5"), r"(?m)^far\.lnet:\d+:\d+: warning\[W0704\]: at update 10, "
                                      r"the gradient of fc2_weight explodes: \S+ an element, where "
                                      r"fc1_weight before it has \S+ and fc3_weight after it \S+$")
        self.assertRegex(text("3e-5"), r"(?m)warning\[W0704\]: at update 10, the gradient of "
                                       r"fc2_weight vanishes: .* where fc1_weight before it")
        self.assertRegex(
            text("1e8"), r"(?m)warning\[W0704\]: at update 10, the gradient of fc2_weight "
                         r"explodes: \S+ an element, where the median of all weights is ")

    def test_biases_are_compared_with_biases(self):
        self.write("biases.lnet", """\
N, scale = dim("batch", 4), setting("scale", 1.0)

def biases(data: float32[N, 6], label: int32[N]):
    x = data
    for i in range(4):
        b = Variable("b%d" % i, shape=(6,), init=Zero())
        x = FullyConnected(x, bias=b * scale if i == 2 else b, num_hidden=6, name="fc%d" % i)
    return SoftmaxOutput(FullyConnected(x, num_hidden=3, name="out"), label)

fit(biases, optimizer="sgd", learning_rate=1e-20, initializer=Uniform(0.5))
""")
        text = lambda scale: self.train("-o", f"ck{scale}", "--after", "10u", "--gradient-norms",
                                        "--set", f"scale={scale}", net="biases.lnet").stderr
        self.assertNotIn("W0704", text("10.0"))
        self.assertRegex(text("1e5"), r"warning\[W0704\]: at update 10, the gradient of b2 "
                                      r"explodes: .* where b1 before it has")
        self.assertRegex(
            text("1e-8"), r"warning\[W0704\]: at update 10, the gradient of b2 vanishes: \S+ an "
                          r"element, where the median of all biases is ")

    def test_the_wait_for_input(self):
        begin = time.monotonic()
        lines = self.lines("-o", "ck", "--after", "40u", "--disp-every", "10u")
        waits = [line["input_wait_s"] for line in lines if line["event"] == "update"]
        self.assertEqual(len(waits), 4)
        self.assertTrue(all(wait > 0 for wait in waits), waits)
        self.assertLess(sum(waits), lines[-1]["time_s"])
        self.assertLess(lines[-1]["time_s"], time.monotonic() - begin)
        self.assertRegex(self.train("-o", "ck1", "--after", "10u", "--disp-every", "10u").stderr,
                         r"(?m)^update=10 .* input=\d+\.\d% left=")

    def test_event_files(self):
        lines = self.lines("-o", "ck", "--after", "6u", "--disp-every", "2u", "--tensorboard", "tb",
                           "--valid", "0.3", "--valid-every", "3u")
        files = list((self.folder / "tb").iterdir())
        self.assertEqual(len(files), 1)
        self.assertRegex(files[0].name, r"^events\.out\.tfevents\.\d+\.")
        told = {(update, tag): value for update, tag, value in events(files[0])}
        single = lambda value: struct.unpack("<f", struct.pack("<f", value))[0]
        for line in lines:
            if line["event"] == "update":
                self.assertEqual(told[line["update"], "train/loss"], single(line["loss"]))
                self.assertEqual(told[line["update"], "train/gradient_norm"],
                                 single(line["gradient_norm"]))
                self.assertEqual(told[line["update"], "gradient_norm/out_bias"],
                                 single(line["gradient_norms"]["out_bias"]))
            if line["event"] == "valid":
                self.assertEqual(told[line["update"], "valid/loss"], single(line["loss"]))
                self.assertEqual(told[line["update"], "valid/accuracy"],
                                 single(line["metrics"]["accuracy"]))

    def test_a_search_for_a_rate(self):
        found = self.document("train", "classes.lnet", "--data", "npy:data=x.npy,label=y.npy",
                              "--lr-find", "--after", "60u", "-b", "40", schema="lstmc.lr-find/1")
        rates = [trial["learning_rate"] for trial in found["trials"]]
        self.assertAlmostEqual(rates[0], 1e-7)
        for one, next_one in zip(rates, rates[1:]):
            self.assertAlmostEqual(next_one / one, 1e8 ** (1 / 59), places=9)
        self.assertIn(found["learning_rate"], rates)
        self.assertTrue(1e-3 < found["learning_rate"] < 10)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir() if path.is_dir()), [])
        self.assertRegex(self.train("--lr-find", "--after", "60u").stdout, r"steepest fall of the "
                                                                           r"loss at --lr \S+\n$")
        self.assertEqual(
            self.run_here("train", "classes.lnet", "--data", "npy:data=x.npy,label=y.npy",
                          "--lr-find", "--after", "1e").returncode, 2)

    def test_monitor(self):
        plain = self.lines("-o", "ck", "--after", "5u")[-1]["weights_hash"]
        done = self.train("-o", "ck1", "--after", "5u", "--disp-every", "3u", "--monitor", "first*")
        self.assertIn(plain, done.stdout)
        seen = re.findall(r"(?m)^monitor   update (\d+) cpu:0 (\S+) (\S+)  classes\.lnet:\d+$",
                          done.stderr)
        self.assertEqual({update for update, _, _ in seen}, {"1", "4"})
        self.assertTrue(all(float(value) >= 0 for _, _, value in seen))
        names = {name for _, name, _ in seen}
        self.assertTrue({"first", "first_weight_grad", "first_bias_grad"} <= names, names)
        done = self.train("-o", "ck2", "--after", "5u", "--disp-every", "1u", "--monitor", "frist*")
        self.assertEqual(done.stderr.count("--monitor has no effect: no layer, parameter or "
                                           'gradient has a name like "frist*"'), 1)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one processor")
    def test_one_thread_where_several_are_not_faster(self):
        cache = {"LSTMC_CACHE_DIR": str(self.folder / "cache")}
        wide = ["bench", SOURCE / "samples/mnist_rows.lnet", "--entry", "forward", "-r", "1",
                "--warmup", "0", "--json"]
        self.good(*wide, env=cache)
        kept = self.folder / "cache/machine.json"
        measured = json.loads(kept.read_text())
        several = next(name for name in measured["rates"] if ", 1 threads" not in name)
        alone = next(name for name in measured["rates"] if ", 1 threads" in name)
        def scaled(value, factor):
            return ({key: scaled(inner, factor) for key, inner in value.items()}
                    if isinstance(value, dict) else value * factor)
        for factor, threads in [(10, 1), (0.5, int(re.search(r"(\d+) threads", several).group(1)))]:
            measured["rates"][several]["kernels"] = scaled(
                measured["rates"][alone]["kernels"], factor)
            kept.write_text(json.dumps(measured))
            cell = json.loads(self.good(*wide, env=cache).stdout)["cells"][0]
            self.assertEqual(cell["threads"], threads, factor)
        self.assertEqual(
            json.loads(self.good(*wide, "-t", "1", env=cache).stdout)["cells"][0]["threads"], 1)

    def test_variables_of_mxnet(self):
        words = ["run", "small.lnet", "-i", "data=1"]
        plain = self.good(*words)
        for name, value, said in [
                ("DMLC_INTERFACE",
                 "eth0", "note: DMLC_INTERFACE=eth0 is MXNet's and has no effect: "),
                ("MXNET_CPU_WORKER_NTHREADS", "4", "--threads N"),
                ("MXNET_ENGINE_TYPE", "ThreadedEngine", "--engine naive")]:
            done = self.good(*words, env={name: value})
            self.assertEqual(done.stdout, plain.stdout)
            self.assertEqual(done.stderr.count(name), 1)
            self.assertIn(said, done.stderr)
        done = self.good(*words, env={"MXNET_EXEC_VERBOSE": "1"})
        self.assertIn("MXNET_EXEC_VERBOSE=1 is MXNet's and has no effect: lstmc run --verbose-ops",
                      done.stderr)
        done = self.good(
            *words, env={"MXNET_ENGINE_TYPE": "NaiveEngine", "MXNET_EXEC_VERBOSE_LOGGING": "1"})
        self.assertEqual((done.stdout, "note" in done.stderr, "rnn_forward" in done.stderr),
                         (plain.stdout, False, True))
        self.assertIn(
            '# MXNET_ENGINE_TYPE\nengine = "naive"',
            self.good(*words, "--dump-config", env={"MXNET_ENGINE_TYPE": "NaiveEngine"}).stdout)


if __name__ == "__main__":
    unittest.main()
