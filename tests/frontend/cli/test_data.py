"""Data out of range for the net are refused when they are read, and no option is silently
ignored."""
import json
import math
import os
import re
import shutil
import struct
import unittest
import zipfile

from command import SMALL, Case

# Labels are one of three classes; a row has three numbers.
PICK = """\
N = dim("batch", 4)

def net(data: int32[N], label: int32[N]):
    x = Embedding(data, input_dim=3, output_dim=3, weight=Variable("w", init=One()))
    return SoftmaxOutput(x, label{ignore})

fit(net, optimizer="sgd", learning_rate=0.1)
"""
ROWS = """\
N = dim("batch", 4)

def rows(data: float32[N, 3], label: float32[N, 3]):
    y = FullyConnected(data, num_hidden=3, name="fc")
    return LinearRegressionOutput({y}, label)

fit(rows, optimizer="sgd", learning_rate=0.1)
"""


def npy(path, kind, shape, values):
    """Writes an array; `kind` is struct's letter: i (int32) or f (float32)."""
    header = (f"{{'descr': '<{kind}4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117)
              + "\n")
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                     + struct.pack(f"<{len(values)}{kind}", *values))


class Fits(Case):
    def setUp(self):
        super().setUp()
        self.write("pick.lnet", PICK.format(ignore=""))
        self.write("ignore.lnet", PICK.format(ignore=", use_ignore=True, ignore_label=-1"))
        self.write("rows.lnet", ROWS.format(y="y"))
        self.write("mixed.lnet", ROWS.format(y="broadcast_sub(y, mean(y, axis=0, keepdims=True))"))

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def refused(self, status, message, *words):
        done = self.run_here(*words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertIn(message + "\n", done.stderr)
        return done


class Values(Fits):
    def test_ids_and_labels_out_of_range(self):
        npy(self.folder / "x.npy", "i", "(8,)", [0, 1, 2, 0, 1, 2, 0, 3])
        npy(self.folder / "y.npy", "i", "(8,)", [0, 1, 2, 0, 1, -1, 0, 2])
        npy(self.folder / "good.npy", "i", "(8,)", [0, 1, 2, 0, 1, 2, 0, 1])
        ids = 'x.npy: error[E0604]: array "data" row 7: found 3, want 0 to 2'
        labels = 'y.npy: error[E0604]: array "label" row 5: found -1, want 0 to 2'
        self.refused(6, ids, "train", "pick.lnet", "--data", "npy:data=x.npy,label=good.npy",
                     "-o", "ck")
        self.refused(6, labels, "train", "pick.lnet", "--data", "npy:data=good.npy,label=y.npy",
                     "-o", "ck")
        self.refused(6, labels, "train", "pick.lnet", "--data", "npy:data=good.npy,label=y.npy",
                     "-o", "ck", "--dry-run")
        self.refused(6, labels, "train", "pick.lnet", "--data", "npy:data=good.npy,label=good.npy",
                     "--valid", "npy:data=good.npy,label=y.npy", "-o", "ck")
        self.good("train", "ignore.lnet", "--data", "npy:data=good.npy,label=y.npy", "-o", "ck")
        self.good("eval", "ck", "--data", "npy:data=good.npy,label=y.npy")
        self.refused(6, ids, "eval", "ck", "--data", "npy:data=x.npy,label=y.npy")
        # A package has the ranges too.
        self.good("compile", "pick.lnet", "-o", "pick.lstmc")
        self.refused(6, labels, "train", "pick.lstmc", "--data", "npy:data=good.npy,label=y.npy",
                     "-o", "ck2")

    def test_inputs_of_run(self):
        npy(self.folder / "x.npy", "i", "(4,)", [0, 1, 5, 0])
        self.refused(6, 'x.npy: error[E0604]: input "data" row 2: found 5, want 0 to 2', "run",
                     "pick.lnet", "-i", "data=@x.npy")
        self.refused(6, 'error[E0604]: input "data" row 0: found -1, want 0 to 2', "run",
                     "pick.lnet", "-i", "data=-1")
        self.good("run", "pick.lnet", "-i", "data=random:7")
        self.good("bench", "pick.lnet", "-r", "1", "--warmup", "0")

    def test_a_vocabulary_larger_than_the_nets(self):
        self.write("fixed.lnet",
                   (self.folder / "small.lnet").read_text().replace('setting("vocab", 5)', "4"))
        done = self.run_here("train", "fixed.lnet", "--data", "text:text.txt", "-o", "ck")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertRegex(
            done.stderr, r'(?m)^text\.txt:\d+:\d+: error\[E0604\]: vocabulary: found 5 symbols, of '
                         r'which "d" is number 4, want 0 to 3 for input "data"$')

    def test_what_moves_elements_only(self):
        self.write("views.lnet", '''\
N, T = dim("batch", 2), dim("seq", 4)

def views(data: int32[N, T], mask: float32[N, T], label: int32[N]):
    parts = SliceChannel(SwapAxis(data, dim1=0, dim2=1), num_outputs=T, axis=0, squeeze_axis=True)
    found = []
    for t in range(4):
        found.append(Embedding(parts[t], input_dim=5, output_dim=6, name="e%d" % t))
    x = add_n(*found)
    half = Embedding(slice_axis(mask, axis=1, begin=0, end=2), input_dim=3, output_dim=3)
    wrapped = take(Variable("w", shape=(7, 6)), Reshape(label, shape=(-1,)), mode="wrap")
    return SoftmaxOutput(x + wrapped + Reshape(half, shape=(0, -1)), BlockGrad(label))
''')
        give = ["-i", "data=0", "-i", "mask=0"]
        self.refused(6, 'error[E0604]: input "data" row 0, at [0, 0]: found 5, want 0 to 4', "run",
                     "views.lnet", "-i", "data=5", "-i", "mask=0", "-i", "label=0")
        self.good("run", "views.lnet", *give, "-i", "label=5")  # six classes
        self.refused(6, 'error[E0604]: input "label" row 0: found 6, want 0 to 5', "run",
                     "views.lnet", *give, "-i", "label=6")
        # The other half of `mask` is unrestricted, so the input has no range.
        self.good("run", "views.lnet", "-i", "data=0", "-i", "mask=9", "-i", "label=0")

    def test_lengths(self):
        self.write("last.lnet", '''\
def last(data: float32[5, 2, 3], n: float32[2]):
    return SequenceLast(data, n, use_sequence_length=True)
''')
        self.good("run", "last.lnet", "-i", "data=1", "-i", "n=5")
        for length in (0, 6):
            self.refused(6, f'error[E0604]: input "n" row 0: found {length}, want 1 to 5', "run",
                         "last.lnet", "-i", "data=1", "-i", f"n={length}")

    def test_weights_that_are_no_numbers(self):
        self.good("compile", "rows.lnet", "-o", "m.lstmc")
        self.good("train", "rows.lnet", "--data", "random:1,batches=1", "-o", "ck")
        file = self.folder / "ck/update-000001/model.safetensors"
        data = bytearray(file.read_bytes())
        size, = struct.unpack("<Q", data[:8])
        head = json.loads(data[8:8 + size])
        del head["__metadata__"]
        data[8 + size + 4:8 + size + 8] = struct.pack("<f", float("nan"))
        text = json.dumps(head).encode().ljust(size)
        (self.folder / "bad.safetensors").write_bytes(data[:8] + text + data[8 + size:])
        name = min(head, key=lambda tensor: head[tensor]["data_offsets"])
        self.refused(
            7, f'bad.safetensors: error[E0701]: parameter "{name}": found NaN at '
            + ("[0, 1]" if len(head[name]["shape"]) == 2 else "[1]") + ", want finite numbers",
            "run", "m.lstmc", "--params", "bad.safetensors", "-i", "data=1")

    def test_weights_carry_a_digest(self):
        self.good("train", "rows.lnet", "--data", "random:1,batches=1", "-o", "ck")
        data = bytearray((self.folder / "ck/update-000001/model.safetensors").read_bytes())
        data[-1] ^= 1
        (self.folder / "flipped.safetensors").write_bytes(data)
        done = self.run_here("run", "rows.lnet", "--params", "flipped.safetensors", "-i", "data=1")
        self.assertEqual(done.returncode, 6)
        self.assertRegex(
            done.stderr, r'(?m)^flipped\.safetensors: byte 8: error\[E0609\]: lstmc_digest: found '
                         r'[0-9a-f]{16}, want "[0-9a-f]{16}" as in the metadata$')


    def test_archives_unpack_within_four_times_their_size(self):
        npy(self.folder / "x.npy", "f", "(20000000,)", [])
        with zipfile.ZipFile(self.folder / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("data.npy", (self.folder / "x.npy").read_bytes() + bytes(80_000_000))
        size = (self.folder / "x.npz").stat().st_size
        self.assertLess(size, 200_000)
        self.refused(6, 'x.npz: byte 0: error[E0606]: entry "data.npy": found 80000128 bytes '
                        f'unpacked, want at most {(64 << 20) + 3 * size} in all (64 MiB and 3 '
                        'times the file)', "inspect", "x.npz")


class Rows(Fits):
    def rows(self, count):
        npy(self.folder / "x.npy", "f", f"({count}, 3)",
            [(i * 37 % 101) / 31 for i in range(3 * count)])
        npy(self.folder / "y.npy", "f", f"({count}, 3)",
            [(i * 53 % 97) / 29 for i in range(3 * count)])
        return ["--data", "npy:data=x.npy,label=y.npy"]

    def test_every_row_counts_and_one_value_for_any_batch(self):
        data = self.rows(14)
        self.good("train", "rows.lnet", *data, "-o", "ck")
        found = set()
        for words in ([["-b", str(batch)] for batch in (1, 3, 4, 5, 14, 20)]
                      + [["-d", "2xcpu"], ["-b", "6", "--shards", "3"]]):
            told = self.document("eval", "rows.lnet", "--params", "ck", *data, *words,
                                 schema="lstmc.eval/1")
            self.assertEqual((told["labels"], told["sequences"]), (42, 14), words)
            found.add((told["loss"], json.dumps(told["metrics"])))
        self.assertEqual(len(found), 1, found)
        self.assertNotIn("left out", self.good("eval", "ck", *data).stderr)

    def test_validation_counts_them_too(self):
        data = self.rows(14)
        losses = {re.search(r"^valid .* loss ([0-9.]+)",
                            self.good("train", "rows.lnet", *data, "--valid", data[1], "--lr", "0",
                                      "-b", batch, "-o", "ck" + batch).stderr, re.M).group(1)
                  for batch in ("4", "7")}
        self.assertEqual(len(losses), 1, losses)

    def test_training_says_what_fills_no_batch(self):
        self.assertIn("left out  2 of 14 samples fill no batch of 4\n",
                      self.good("train", "rows.lnet", *self.rows(14), "-o", "ck").stderr)
        self.assertNotIn("left out",
                         self.good("train", "rows.lnet", *self.rows(12), "-o", "ck12").stderr)

    def test_rows_that_are_not_by_themselves(self):
        data = self.rows(14)
        self.good("train", "mixed.lnet", *data, "-o", "ck")
        done = self.good("eval", "ck", *data)
        self.assertIn("labels 36 ", done.stdout)
        self.assertIn("left out  2 of 14 samples fill no batch of 4, and the network mixes the "
                      "samples of a batch\n", done.stderr)
        self.refused(6, "error[E0605]: data: found 3 of 3 samples fill no batch of 4, and the "
                        "network mixes the samples of a batch, want at least one batch", "eval",
                     "ck", *self.rows(3))

    def test_texts_drop_their_rest_and_say_so(self):
        self.good("train", "small.lnet", "--data", "text:text.txt", "-o", "ck")
        line = "left out  15 of 1999 symbols fill no window of 8 in 4 streams\n"
        self.assertIn(line, self.good("eval", "ck", "--data", "text:text.txt").stderr)
        self.assertIn(
            line, self.good("train", "small.lnet", "--data", "text:text.txt", "-o", "ck2").stderr)


class Kept(Fits):
    def test_the_unit_of_a_text(self):
        self.write("words.txt", "to be or not to be that is the question\n" * 30)
        self.good("train", "small.lnet", "--data", "text:words.txt,unit=word", "-o", "ck",
                  "--after", "5u")
        self.good("eval", "ck", "--data", "text:words.txt")
        self.good("eval", "ck")
        self.good("eval", "small.lnet", "--params", "ck", "--data", "text:words.txt")
        text = self.good("sample", "ck", "--prime", "to be", "--length", "5").stdout
        self.assertTrue(text.startswith("to be "), text)
        self.refused(6, 'error[E0610]: data "text:words.txt,unit=char": found unit char, want word '
                        'as the vocabulary has it', "eval", "ck",
                     "--data", "text:words.txt,unit=char")

    def test_the_unit_that_was_typed_and_not_the_files(self):
        self.write("words.txt", "to be or not to be that is the question\n" * 30)
        text = (self.folder / "small.lnet").read_text()
        self.write("small.lnet", text + 'data(small, train="text:text.txt", unit="char")\n')
        self.good("train", "small.lnet", "--data", "text:words.txt,unit=word", "-o", "ck",
                  "--after", "5u")
        self.good("eval", "ck", "--data", "text:words.txt")
        self.good("train", "ck", "--data", "text:words.txt", "--valid", "text:words.txt",
                  "-o", "ck2", "--after", "6u")

    def test_a_training_that_begins_with_a_checkpoint(self):
        self.good("train", "small.lnet", "--data", "text:text.txt", "-o", "ck", "--after", "5u")
        self.good("train", "ck", "-o", "same", "--after", "2u")  # on the text of the command line
        text = (self.folder / "text.txt").read_text()
        first = min(set(text))
        self.write("less.txt", text.replace(first, max(set(text))))
        self.good("train", "ck", "--data", "text:less.txt", "-o", "less", "--after", "2u")
        vocabulary = [(self.folder / name / "last/vocab.txt").read_text()
                      for name in ("ck", "same", "less")]
        self.assertEqual(len(set(vocabulary)), 1, vocabulary)
        self.write("more.txt", text.replace(first, "~"))
        done = self.run_here("train", "ck", "--data", "text:more.txt", "-o", "more")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("~", done.stderr)

    def test_a_package_keeps_what_its_file_says_of_data(self):
        with open(self.folder / "small.lnet", "a") as file:
            file.write('data(small, train="text:text.txt", valid=0.1)\n')
        self.good("compile", "small.lnet", "-o", "small.lstmc")
        weights = [self.good("train", model, "--data", "text:text.txt", "--after", "40u",
                             "-o", model + "-ck").stdout.split("weights ")[1]
                   for model in ("small.lnet", "small.lstmc")]
        self.assertEqual(*weights)
        self.good("train", "small.lstmc", "--after", "2u", "-o", "ck")

    def test_data_that_are_typed_are_measured_whole(self):
        for name in "xy":
            npy(self.folder / f"{name}.npy", "f", "(12, 3)", [0.1 * i for i in range(36)])
        self.write("rows.lnet", ROWS.format(y="y")
                   + 'data(rows, train="npy:data=x.npy,label=y.npy", valid=0.25)\n')
        self.good("train", "rows.lnet", "--after", "2u", "-o", "ck")
        typed = ["--data", "npy:data=x.npy,label=y.npy"]
        for model, words, rows in [("ck", [], 3), ("ck", typed, 12),
                                   ("ck", [typed[0], typed[1] + ",valid=0.5"], 6),
                                   ("rows.lnet", ["--params", "ck", *typed], 12),
                                   ("rows.lnet", ["--params", "ck"], 3)]:
            self.assertEqual(self.document("eval", model, *words, schema="lstmc.eval/1")["labels"],
                             3 * rows, words)


class Asked(Fits):
    def fit(self, text):
        self.write("asked.lnet",
                   (self.folder / "rows.lnet").read_text().replace('optimizer="sgd"', text))
        return ["train", "asked.lnet", "--data", "random:1", "-o", "ck", "--dry-run"]

    def test_states_that_are_not_there(self):
        self.refused(3, 'asked.lnet:7:11: error[E0214]: carry: found "nothing*", want a pattern of '
                        'the names of states, and the net begins with none',
                     *self.fit('carry=["nothing*"]'))
        self.write(
            "small.lnet",
            (self.folder / "small.lnet").read_text().replace('["lstm*"]', '["lstm*", "gru*"]'))
        done = self.run_here("compile", "small.lnet", "-o", "m.lstmc")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r'error\[E0214\]: carry: found "gru\*", want a pattern of '
                                      r'the names of states: lstm\w+, lstm\w+\n')

    def test_keys_of_another_optimizer(self):
        self.refused(3, 'asked.lnet:7:29: error[E0214]: optimizer "adam" has no momentum; its own '
                        'are beta1, beta2, epsilon', *self.fit('optimizer="adam", momentum=0.9'))
        self.refused(3, 'asked.lnet:7:11: error[E0214]: optimizer "sgd" has no beta1; its '
                        'own are momentum', *self.fit("beta1=0.9"))
        self.refused(2, 'error[E0001]: optimizer "sgd" has no beta2; its own are momentum',
                     *self.fit('optimizer="sgd"'), "--fit", "beta2=0.9")
        self.refused(3, 'asked.lnet:7:37: error[E0204]: rho is a number from 0 to below 1, got 1',
                     *self.fit('optimizer="adadelta", rho=1'))
        self.refused(3, 'asked.lnet:7:41: error[E0204]: centered is a bool, got 0.5',
                     *self.fit('optimizer="rmsprop", centered=0.5'))
        self.refused(2, 'error[E0001]: fit key rho: found "1", want a number from 0 to below 1',
                     *self.fit('optimizer="adadelta"'), "--fit", "rho=1")
        self.refused(3, 'error[E0204]: no optimizer is named "lam"', *self.fit('optimizer="lam"'))
        self.refused(3, 'asked.lnet:7:29: error[E0214]: fit has no key "bias_correktion"',
                     *self.fit('optimizer="lamb", bias_correktion=True'))
        done = self.good(*self.fit('optimizer="sgd", momentum=0.9'), "--optimizer", "adam")
        self.assertIn('asked.lnet:7:28: warning[W0214]: optimizer "adam" has no momentum; its own '
                      'are beta1, beta2, epsilon\n', done.stderr)

    def test_parameters_of_half_precision(self):
        # float32 has no separate master weights
        self.good(*self.fit('optimizer="sgd", multi_precision=True'))
        self.write("half.lnet", "batch = dim(\"batch\", 4)\ndef net(x: float32[batch, 8]):\n"
                   "    return FullyConnected(cast(x, dtype=\"bfloat16\"), num_hidden=4)\n")
        done = self.run_here("compile", "half.lnet", "-o", "m.lstmc")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("half.lnet:3:12: error[E0215]", done.stderr)
        self.assertIn("a parameter of bfloat16 is not built yet: keep it in float32", done.stderr)

    def test_metrics_that_the_net_cannot_have(self):
        self.refused(3, 'asked.lnet:7:11: error[E0214]: metric "accuracy" is of a softmax output, '
                        'and the net has none', *self.fit('eval_metric="accuracy"'))
        self.refused(
            3, 'asked.lnet:7:11: error[E0214]: there is no metric "bleu"; there are mse, mae, ce, '
               'loss, acc, rmse, f1, mcc, auc, accuracy, nll-loss, nll_loss, perplexity, '
               'Perplexity, pearsonr, bits_per_label, cross-entropy, '
               'binary_accuracy, ' + ", ".join(f"top_k_accuracy_{k}" for k in range(1, 11)),
            *self.fit('eval_metric="bleu"'))
        self.refused(
            3, 'asked.lnet:7:11: error[E0214]: there is no metric "ppl" (here it is called '
               '"perplexity"); there are acc, mse, mae, ce, f1, mcc, auc, loss, rmse, perplexity, '
               'nll-loss, nll_loss, pearsonr, Perplexity, accuracy, bits_per_label, '
               'cross-entropy, ' + ", ".join(f"top_k_accuracy_{k}" for k in range(1, 10))
            + ", binary_accuracy, top_k_accuracy_10", *self.fit('eval_metric="ppl"'))
        self.refused(3, 'asked.lnet:7:11: error[E0214]: metric "acc" is of a softmax output, and '
                        'the net has none', *self.fit('eval_metric="acc"'))
        self.refused(2, 'error[E0001]: metric "perplexity" is of a softmax output, and '
                        'the net has none', *self.fit('optimizer="sgd"'), "--metric", "perplexity")

    def test_weights_to_evaluate(self):
        message = ("error[E0610]: weights: found none to evaluate, want --params PATH, or a "
                   "checkpoint in place of this file")
        self.refused(6, "rows.lnet: " + message, "eval", "rows.lnet", "--data", "random:1")
        self.good("compile", "rows.lnet", "-o", "m.lstmc")
        self.refused(6, "m.lstmc: " + message, "eval", "m.lstmc", "--data", "random:1")

    def test_warnings(self):
        self.write("warn.lnet", '''\
N = dim("batch", 16)

def warn(data: float32[N, 3], label: int32[N]):
    x = FullyConnected(data, num_hidden=8, name="first")
    x = FullyConnected(data, num_hidden=5, name="second")
    return SoftmaxOutput(softmax(x), label)

fit(warn, optimizer="sgd")
''')
        said = self.good("compile", "warn.lnet", "-o", "m.lstmc").stderr
        self.assertIn("warn.lnet:4:9: warning[W0318]: nothing reads this layer: it is left out, "
                      "and its parameters with it\n", said)
        self.assertIn("warn.lnet:6:12: warning[W0319]: SoftmaxOutput makes probabilities of its "
                      "data, which are those of a softmax already\n", said)
        self.assertNotIn("second", said)
        quiet = "nothing to do"
        learn = ["train", "rows.lnet", "-b", "16", "--data", "random:1", "-o", "ck", "--dry-run"]
        self.assertNotIn(quiet, self.good(*learn, "-d", "8xcpu").stderr)
        self.assertIn("warning[W0402]: cpu:2, cpu:5, cpu:8, cpu:11 have nothing to do: a device "
                      "takes whole shards of the batch, and there are 8\n",
                      self.good(*learn, "-d", "12xcpu").stderr)
        self.assertIn("warning[W0402]: cpu:1 has nothing to do: a device takes whole shards of the "
                      "batch, and there are 8\n",
                      self.good(*learn, "-d", "2xcpu", "--work-load-list", "100,1").stderr)


class Paths(Fits):
    def setUp(self):
        super().setUp()
        self.inner = self.folder / "inner"
        self.inner.mkdir()
        net = (self.folder / "small.lnet").read_text()
        (self.inner / "leak.lnet").write_text(net + 'data(small, train="text:../text.txt")\n')
        (self.inner / "good.lnet").write_text(net + 'data(small, train="text:text.txt")\n')
        shutil.copy(self.folder / "text.txt", self.inner)

    def test_data_lie_beneath_who_names_them(self):
        refusal = ('../text.txt: error[E0604]: data: found a path that leads out of "inner", where '
                   'the file that names it is; --allow-data DIR allows another folder')
        self.refused(6, refusal, "train", "inner/leak.lnet", "-o", "ck")
        self.assertFalse((self.folder / "ck").exists())
        self.good("compile", "inner/leak.lnet", "-o", "inner/leak.lstmc")
        self.refused(6, refusal, "train", "inner/leak.lstmc", "-o", "ck")
        self.good("train", "inner/good.lnet", "-o", "ck", "--after", "2u")
        self.good("train", "inner/leak.lnet", "-o", "ck2", "--after", "2u", "--allow-data", ".")
        self.good("train", "inner/leak.lnet", "-o", "ck3", "--after", "2u",
                  "--data", "text:inner/../text.txt")

    def test_links_lead_nowhere(self):
        (self.inner / "text.txt").unlink()
        os.symlink(self.folder / "text.txt", self.inner / "text.txt")
        done = self.run_here("train", "inner/good.lnet", "-o", "ck")
        self.assertEqual(done.returncode, 6)
        self.assertIn("text.txt: error[E0601]: cannot read: ", done.stderr)

    def test_a_checkpoint_finds_the_data_that_were_typed(self):
        self.good("train", "inner/good.lnet", "-o", "ck", "--after", "2u",
                  "--data", "text:text.txt")
        self.good("eval", "ck")
        self.good("train", "inner/good.lnet", "-o", "ck", "--after", "4u",
                  "--data", "text:text.txt", "--resume")
        (self.folder / "text.txt").write_text("abcd\n" * 400)
        done = self.run_here("eval", "ck")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertRegex(
            done.stderr, r'(?m)^ck/update-000004: error\[E0610\]: data "text:text\.txt": found '
                         r'sha256 [0-9a-f]{64}, want [0-9a-f]{64}, those that it was trained on; '
                         r'--data names others$')


class Names(Fits):
    def test_escapes_of_names_reach_no_terminal(self):
        name = "r\x1b[31med\u202e.lnet"
        shutil.copy(self.folder / "rows.lnet", self.folder / name)
        self.good("compile", name, "-o", "m.lstmc")
        for words in (["plan", "m.lstmc"], ["inspect", "m.lstmc"], ["inspect", "--plan", "m.lstmc"],
                      ["plan", name]):
            done = self.good(*words)
            for stream in (done.stdout, done.stderr):
                self.assertNotRegex(stream, "[\x1b\u202e]", words)
            if "plan" in " ".join(words):
                self.assertIn(r"r\u001b[31med\u202e.lnet", done.stdout + done.stderr, words)
        self.write("bad\x1b[2J.lnet", "def f(:\n")
        done = self.run_here("plan", "bad\x1b[2J.lnet")
        self.assertNotIn("\x1b", done.stderr)


class LineEnds(Case):
    """Line ends and marks of other systems' editors are no symbols of a text."""

    LINES = SMALL.replace('preserve_shape=True,', 'preserve_shape=True, use_ignore=True,').replace(
        ', carry=["lstm*"]', "")

    def test_a_byte_order_mark_and_cr_lf(self):
        (self.folder / "lines.lnet").write_text(self.LINES)
        text = "ab cd\nd\u00e9a b\n\nabc d\n" * 40
        forms = {"unix": text, "dos": text.replace("\n", "\r\n"), "marked": "\ufeff" + text,
                 "both": "\ufeff" + text.replace("\n", "\r\n")}
        for name, form in forms.items():
            (self.folder / name).write_bytes(form.encode())
        for net, keys in (("small.lnet", "unit=char"), ("small.lnet", "unit=word"),
                          ("lines.lnet", "lines=yes"), ("lines.lnet", "lines=yes,unit=word")):
            for more in ([], ["--limit", "data-memory=100"]):
                found = {self.document("train", net, "--data", f"text:{name},{keys}",
                                       "--after", "3u", *more, "-o", "ck",
                                       "--force", schema="lstmc.train/1")["end"]["weights_hash"]
                         for name in forms}
                self.assertEqual(len(found), 1, (net, keys, more))
        found = {self.document("train", "small.lnet", "--data", f"text:{name},unit=byte",
                               "--after", "3u", "-o", "ck", "--force",
                               schema="lstmc.train/1")["end"]["weights_hash"] for name in forms}
        self.assertEqual(len(found), 4)  # unit=byte keeps all bytes
        self.good("train", "small.lnet", "--data", "text:unix", "-o", "ck", "--force")
        for name in forms:
            self.assertEqual(self.good("predict", "ck", "--data", f"text:{name}", "-o", "-").stdout,
                             self.good("predict", "ck", "--data", "text:unix", "-o", "-").stdout,
                             name)

    def test_in_a_vocabulary(self):
        (self.folder / "v.txt").write_bytes("\ufeffa\r\nb\r\nc\r\nd\r\n\\n\r\n".encode())
        (self.folder / "plain.txt").write_text("a\nb\nc\nd\n\\n\n")
        ends = [self.document("train", "small.lnet", "--data", f"text:text.txt,vocab={name}",
                              "--after", "2u", "-o", "ck", "--force", schema="lstmc.train/1")["end"]
                for name in ("v.txt", "plain.txt")]
        self.assertEqual(ends[0]["weights_hash"], ends[1]["weights_hash"])


class Measures(Case):
    HEADS = """\
N = dim("batch", 4)

def heads(data: float32[N, 3], label: int32[N], other_label: float32[N, 1]):
    a = SoftmaxOutput(FullyConnected(data, num_hidden=3, name="a"), label, use_ignore=True, ignore_label=-1, normalization="valid", name="class")
    return a, LinearRegressionOutput(FullyConnected(data, num_hidden=1, name="b"), other_label, name="value")
"""

    def test_a_head_without_labels_leaves_the_others_their_loss(self):
        (self.folder / "heads.lnet").write_text(self.HEADS)
        npy(self.folder / "x.npy", "f", "(8, 3)", [math.sin(i) for i in range(24)])
        npy(self.folder / "none.npy", "i", "(8,)", [-1] * 8)
        npy(self.folder / "v.npy", "f", "(8, 1)", [2.0] * 8)
        data = ["--data", "npy:data=x.npy,label=none.npy,other_label=v.npy"]
        lines = [json.loads(line)
                 for line in self.good("train", "heads.lnet", *data, "--after", "4u",
                                       "--disp-every", "1u", "--format", "jsonl", "-o", "ck",
                                       "--lr", "0.1").stdout.splitlines()]
        losses = [line["loss"] for line in lines if line["event"] == "update"]
        self.assertEqual(len(losses), 4)
        self.assertGreater(losses[0], losses[-1])
        measured = self.document("eval", "ck", *data, "--metric", "loss,mse", schema="lstmc.eval/1")
        self.assertAlmostEqual(measured["loss"], measured["metrics"]["mse"] / 2, delta=1e-6)

    def test_bench_counts_labels_and_real_steps(self):
        (self.folder / "lengths.lnet").write_text("""\
N, T = dim("batch", 4), dim("seq", 10)

def lengths(data: float32[N, T, 3], label: int32[N, T], length: int32[N]):
    x, h, c = LSTM(data, num_hidden=8, layout="NTC", length=length, name="lstm")
    x = FullyConnected(x, num_hidden=5, flatten=False, name="out")
    return SoftmaxOutput(x, label, preserve_shape=True, use_ignore=True, normalization="valid")
""")
        def cell(*words):
            return self.document("bench", "lengths.lnet", "-r", "1", "--warmup", "0", *words,
                                 schema="lstmc.bench/1")["cells"][0]
        whole, half = (cell("--entry", "step", "-i", f"length={n}") for n in (10, 5))
        self.assertAlmostEqual(whole["labels_per_s"] * whole["median_s"], 40, places=3)
        self.assertAlmostEqual(half["labels_per_s"] * half["median_s"], 20, places=3)
        self.assertLess(half["flops"], whole["flops"])
        # Two products of 4 * 8 x (3 + 8) per step and row, for 20 steps fewer, forward.
        forward = [cell("--entry", "forward", "-i", f"length={n}") for n in (10, 5)]
        self.assertEqual(forward[0]["flops"] - forward[1]["flops"], 2 * 32 * (3 + 8) * 20)
        self.assertIsNone(forward[0]["labels_per_s"])  # random data have no labels to count
        done = self.run_here("bench", "lengths.lnet", "-r", "1", "--expect", "labels_per_s>1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("value none", done.stderr)


if __name__ == "__main__":
    unittest.main()
