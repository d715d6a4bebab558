"""BucketingModule: batches of several lengths train the same weights, with the bits of
`data(buckets=..)`."""

import json
import logging
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

import numpy as np

import lstmc as mx

LSTMC = os.environ["LSTMC"]
KEYS, BATCH, HIDDEN = [10, 20, 44], 4, 8

ROWS = """\
N, T = dim("batch", 4), dim("steps", 3)

def net(data: float32[N, T, 2], length: float32[N], label: float32[N]):
    x, h, c = LSTM(SwapAxis(data, dim1=0, dim2=1), num_hidden=8, num_layers=2, length=length, name="lstm")
    y = FullyConnected(SequenceLast(x, length, use_sequence_length=True), num_hidden=1, name="out")
    return LinearRegressionOutput(Reshape(y, shape=(-1,)), label)

fit(net, optimizer="adam", learning_rate=0.01, num_epoch=3, seed=5, initializer=Uniform(0.5))
data(net, train="csv:rows.csv,inputs=a|b,target=y,sequence=id,shuffle=no", buckets=[10, 20, 44])
"""


class Bucketed(mx.io.DataIter):
    """Samples in order, each in the smallest bucket that holds it; the sample that fills a batch
    determines the batch's position."""

    def __init__(self, samples, keys=tuple(KEYS)):
        super().__init__(BATCH)
        self.default_bucket_key = max(keys)
        self.batches, waiting = [], {key: [] for key in keys}
        for sample in samples:
            key = min(key for key in keys if key >= self.steps(sample))
            waiting[key].append(sample)
            if len(waiting[key]) == BATCH:
                self.batches.append(self.batch(key, waiting[key]))
                waiting[key] = []
        self.provide_data, self.provide_label = self.described(self.default_bucket_key)
        self.reset()

    def made(self, key, data, label):
        return mx.io.DataBatch([mx.nd.array(each, dtype=each.dtype) for each in data],
                               [mx.nd.array(label, dtype=label.dtype)], 0, None, key,
                               *self.described(key))

    def reset(self):
        self.left = iter(self.batches)

    def next(self):
        return next(self.left)


class Sentences(Bucketed):
    """Lines of a text."""

    def __init__(self, lines, keys=tuple(KEYS)):
        self.symbols = sorted({symbol for line in lines for symbol in line} | {"\n"})
        super().__init__([[self.symbols.index(symbol) for symbol in line + "\n"] for line in lines],
                         keys)

    def steps(self, line):
        return len(line) - 1

    def described(self, key):
        return [mx.io.DataDesc("data", (BATCH, key), "int32")], [
            mx.io.DataDesc("label", (BATCH, key), "int32")]

    def batch(self, key, lines):
        data, label = np.zeros((BATCH, key), np.int32), np.full((BATCH, key), -1, np.int32)
        for row, line in enumerate(lines):
            data[row, : len(line) - 1], label[row, : len(line) - 1] = line[:-1], line[1:]
        return self.made(key, [data], label)


class Rows(Bucketed):
    """Sequences of a table with columns a, b and y, whose last y is the label."""

    steps = staticmethod(len)

    def described(self, key):
        return ([mx.io.DataDesc("data", (BATCH, key, 2)), mx.io.DataDesc("length", (BATCH,))],
                [mx.io.DataDesc("label", (BATCH,))])

    def batch(self, key, sequences):
        data = np.zeros((BATCH, key, 2), np.float32)
        for row, sequence in enumerate(sequences):
            data[row, : len(sequence)] = sequence[:, :2]
        length, label = [len(each) for each in sequences], [each[-1, 2] for each in sequences]
        return self.made(key, [data, np.array(length, np.float32)], np.array(label, np.float32))


def generator(vocabulary, layers=2):
    def sym_gen(key):
        data, label = mx.sym.Variable("data"), mx.sym.Variable("label")
        x = mx.sym.SwapAxis(
            mx.sym.Embedding(data, input_dim=vocabulary, output_dim=8, name="embed"),
            dim1=0, dim2=1)
        x, _, _ = mx.sym.LSTM(x, num_hidden=HIDDEN,
                              num_layers=layers(key) if callable(layers) else layers, name="lstm")
        y = mx.sym.FullyConnected(x, num_hidden=vocabulary, flatten=False, name="out")
        return mx.sym.SoftmaxOutput(y, mx.sym.SwapAxis(label, dim1=0, dim2=1), preserve_shape=True,
                                    normalization="valid", use_ignore=True,
                                    ignore_label=-1, name="softmax"), ["data"], ["label"]

    return sym_gen


def rows_gen(key):
    data, length, label = (mx.sym.Variable(name) for name in ("data", "length", "label"))
    x, _, _ = mx.sym.LSTM(mx.sym.SwapAxis(data, dim1=0, dim2=1), num_hidden=HIDDEN, num_layers=2,
                          length=length, name="lstm")
    y = mx.sym.FullyConnected(mx.sym.SequenceLast(x, length, use_sequence_length=True),
                              num_hidden=1, name="out")
    return (mx.sym.LinearRegressionOutput(mx.sym.Reshape(y, shape=(-1,)), label),
            ["data", "length"], ["label"])


FIT = {"optimizer": "adam", "optimizer_params": {"learning_rate": 0.01, "seed": 5}, "num_epoch": 3}


class Buckets(unittest.TestCase):
    def setUp(self):
        draw = random.Random(3)
        self.lines = ["".join(draw.choice("abc de") for _ in range(draw.randint(2, 41)))
                      for _ in range(60)]
        self.data = Sentences(self.lines)

    def module(self, **options):
        return mx.mod.BucketingModule(generator(len(self.data.symbols)),
                                      self.data.default_bucket_key, **options)

    def test_the_bits_of_the_command(self):
        draw = np.random.default_rng(5)
        sequences = [draw.normal(size=(draw.integers(1, 45), 3)).round(3) for _ in range(70)]
        text = "a,b,y,id\n" + "".join(f"{a},{b},{y},{number}\n"
                                      for number, rows in enumerate(sequences) for a, b, y in rows)
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "rows.csv").write_text(text)
            pathlib.Path(folder, "rows.lnet").write_text(ROWS)
            done = subprocess.run([LSTMC, "train", "rows.lnet", "-o", "ck", "--json"], cwd=folder,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            state, *_ = pathlib.Path(folder, "ck").glob("update-*/state.json")
            columns = {column["name"]: column
                       for column in json.loads(state.read_text())["progress"]["scaling"]}
        scaled = [np.stack([(rows[:, k] - columns[name]["mean"]) / columns[name]["deviation"]
                            for k, name in enumerate("aby")], axis=1) for rows in sequences]
        data = Rows(scaled)
        self.assertEqual({batch.bucket_key for batch in data.batches}, {*KEYS})
        for context in (mx.cpu(), [mx.cpu(0), mx.cpu(1)]):
            module = mx.mod.BucketingModule(rows_gen, data.default_bucket_key, context=context)
            module.fit(data, eval_metric="mse", initializer=mx.init.Uniform(0.5), **FIT)
            self.assertEqual(module._network.session.weights_hash,
                             json.loads(done.stdout)["end"]["weights_hash"])

    def test_one_bucket_is_a_module(self):
        data = Sentences(self.lines, [44])
        bucketed = mx.mod.BucketingModule(generator(len(data.symbols)), 44)
        bucketed.fit(data, **FIT)
        plain = mx.mod.Module(generator(len(data.symbols))(44)[0], label_names=["label"])
        plain.fit(data, **FIT)
        self.assertEqual(bucketed._network.session.weights_hash,
                         plain._network.session.weights_hash)

    def test_each_batch_is_run_by_its_symbol_with_the_weights_of_now(self):
        module, seen = self.module(), []

        def check(epoch, symbol, arg_params, aux_params):
            """Compares the probabilities that `forward` returns for each batch, as sums, with the
            loss."""
            module.forward(self.data.batches[0])
            seen.append((module.get_outputs()[0].asnumpy(), arg_params["out_weight"].asnumpy()))

        with self.assertLogs(level=logging.INFO) as log:
            module.fit(self.data, self.data, eval_metric=mx.metric.Perplexity(-1),
                       epoch_end_callback=check, **FIT)
        self.assertFalse(np.array_equal(seen[0][1], seen[1][1]))
        self.assertFalse(np.array_equal(seen[0][0], seen[1][0]))
        np.testing.assert_array_equal(seen[-1][1], module.get_params()[0]["out_weight"].asnumpy())
        validated = [line for line in log.output if "Validation-perplexity" in line]
        self.assertEqual(len(validated), 3)
        [(_, value)] = module.score(self.data, mx.metric.Perplexity(-1))
        self.assertIn(f"Epoch[2] Validation-perplexity={value:f}", validated[-1])
        for batch in {batch.bucket_key: batch for batch in self.data.batches}.values():
            module.forward(batch)
            probabilities = module.get_outputs()[0].asnumpy()
            self.assertEqual(probabilities.shape, (batch.bucket_key, BATCH, len(self.data.symbols)))
            plain = mx.mod.Module(generator(len(self.data.symbols))(batch.bucket_key)[0],
                                  label_names=["label"])
            plain.bind(batch.provide_data, batch.provide_label)
            plain.set_params(*module.get_params())
            plain.forward(batch)
            np.testing.assert_array_equal(plain.get_outputs()[0].asnumpy(), probabilities)

    def test_what_is_refused(self):
        with self.assertRaisesRegex(mx.Error, "default_bucket_key"):
            mx.mod.BucketingModule(generator(7))
        module = mx.mod.BucketingModule(
            generator(len(self.data.symbols), lambda key: 1 + (key == 10)), 44)
        with self.assertRaisesRegex(
                mx.Error, 'the buckets 44 and 10 do not both have the weight "lstm_l1_h2h_bias"'):
            module.fit(self.data, **FIT)


class EncodedSentences(unittest.TestCase):
    def test_words_are_numbered_as_they_come(self):
        coded, vocab = mx.rnn.encode_sentences([["a", "b", "a"], ["c"]], invalid_label=1,
                                               start_label=0)
        # the invalid label is no word
        self.assertEqual((coded, vocab), ([[0, 2, 0], [3]], {"\n": 1, "a": 0, "b": 2, "c": 3}))
        self.assertEqual(mx.rnn.encode_sentences([["c", "a"]], vocab=vocab)[0], [[3, 0]])
        with self.assertRaisesRegex(mx.Error, "no 'd', and no unknown_token"):
            mx.rnn.encode_sentences([["d"]], vocab=vocab)
        coded, vocab = mx.rnn.encode_sentences([["d", "a", "e"]], vocab=vocab, unknown_token="?")
        self.assertEqual((coded, vocab["?"]), ([[4, 0, 4]], 4))

    def test_batches_are_of_one_bucket(self):
        sentences = [[10 * n + i for i in range(n)] for n in (2, 3, 3, 4, 4, 5, 6, 9)]
        with self.assertLogs(level="WARNING") as log:
            batches = mx.rnn.BucketSentenceIter(sentences, 2, buckets=[6, 4], invalid_label=-1)
        self.assertIn("1 sentences are longer", log.output[0])
        self.assertEqual((batches.default_bucket_key, len(batches)), (6, 3))
        found = {4: [], 6: []}
        for batch in batches:
            data, label = batch.data[0].asnumpy(), batch.label[0].asnumpy()
            self.assertEqual(batch.provide_data[0].shape, (2, batch.bucket_key))
            np.testing.assert_array_equal(label[:, :-1], data[:, 1:])
            self.assertEqual(set(label[:, -1]), {-1})
            found[batch.bucket_key] += [[int(word) for word in row if word >= 0] for row in data]
        self.assertEqual(sorted(found[6]), sentences[5:7])
        self.assertEqual(len(found[4]), 4)  # the fifth fills no batch
        self.assertTrue(all(each in sentences[:5] for each in found[4]))

    def test_buckets_by_count_and_time_first(self):
        batches = mx.rnn.BucketSentenceIter([[1, 2, 3]] * 5 + [[1, 2]] * 4 + [[1]], 4, layout="TN",
                                            dtype="int32")
        self.assertEqual(batches.buckets, [2, 3])
        batch = next(iter(batches))
        self.assertEqual(batch.data[0].shape, (batch.bucket_key, 4))
        self.assertEqual(batch.data[0].dtype, np.int32)
        for call in (lambda: mx.rnn.BucketSentenceIter([[1, 2]], 4),
                     lambda: mx.rnn.BucketSentenceIter([[1]], 1, layout="NC")):
            with self.assertRaises(mx.Error):
                call()


if __name__ == "__main__":
    unittest.main()
