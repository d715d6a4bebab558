"""Metrics compared with formulas computed here from outputs and labels: ties, ignored labels, any
batch, any devices."""
import json
import math
import random
import struct
import unittest

from command import Case
from test_data import npy

# A table of logits from which rows are picked, so that the outputs are known; the last axis is the
# classes.
PICK = """\
N, T = dim("batch", 4), dim("seq", 3)
rows, classes = setting("rows", 40), setting("classes", 12)

def pick(data: int32[N, T], label: int32[N, T]):
    x = Embedding(data, input_dim=rows, output_dim=classes, name="logits")
    return SoftmaxOutput(x, label, preserve_shape=True, use_ignore=True, ignore_label=-1, normalization="valid")

fit(pick, optimizer="sgd", learning_rate=0.0)
"""
# The same with steps, and with a probability of each class as label.
STEPS = PICK.replace("Embedding(data", "Embedding(SwapAxis(data, dim1=0, dim2=1)").replace(
    "label, preserve", "SwapAxis(label, dim1=0, dim2=1), preserve")
SHARES = PICK.replace("label: int32[N, T]", "label: float32[N, T, classes]").replace(
    "use_ignore=True, ignore_label=-1, ", "").replace('"valid"', '"batch"')
REGRESSION = """\
N, T = dim("batch", 4), dim("seq", 3)
rows = setting("rows", 40)

def pick(data: int32[N, T], label: float32[N, T]):
    x = Embedding(data, input_dim=rows, output_dim=1, name="logits")
    return {head}(Reshape(x, shape=(0, -1)), label)

fit(pick, optimizer="sgd", learning_rate=0.0)
"""
# Subtracting a mean mixes the rows.
MIXED = REGRESSION.replace(
    "Reshape(x, shape=(0, -1))", "broadcast_sub(Reshape(x, shape=(0, -1)), mean(Reshape(x, "
                                 "shape=(0, -1)), axis=0, keepdims=True))")

SEQUENCES, STEPS_EACH = 11, 3
TOP = [f"top_k_accuracy_{k}" for k in range(1, 11)]


def bits(value):
    return struct.pack("<d", math.nan if value is None else value)


class Metrics(Case):
    def setUp(self):
        super().setUp()
        self.draw = random.Random(7)

    def table(self, rows, classes, draw):
        """Writes the rows of floats as the parameter "logits_weight" in safetensors."""
        values = [struct.unpack("<f", struct.pack("<f", draw()))[0] for _ in range(rows * classes)]
        shape = [rows, classes]
        header = json.dumps({"logits_weight": {"dtype": "F32", "shape": shape,
                                               "data_offsets": [0, 4 * len(values)]}}).encode()
        header += b" " * (-len(header) % 8)
        (self.folder / "w.safetensors").write_bytes(struct.pack("<Q", len(header)) + header
                                                    + struct.pack(f"<{len(values)}f", *values))
        return [values[row * classes:(row + 1) * classes] for row in range(rows)]

    def net(self, text, **settings):
        (self.folder / "pick.lnet").write_text(text)
        self.settings = [word for key, value in settings.items()
                         for word in ("--set", f"{key}={value}")]

    def data(self, ids, labels, kind="i", each=1):
        count = len(ids) // STEPS_EACH
        npy(self.folder / "x.npy", "i", f"({count}, {STEPS_EACH})", ids)
        npy(self.folder / "y.npy",
            kind, f"({count}, {STEPS_EACH}{', ' + str(each) if each > 1 else ''})", labels)
        return ["--data", "npy:data=x.npy,label=y.npy"]

    def measured(self, data, metrics, *words):
        told = self.document("eval", "pick.lnet", "--params", "w.safetensors", *data,
                             *self.settings, "--metric", ",".join(metrics), *words,
                             schema="lstmc.eval/1")
        return told["metrics"]

    def everywhere(self, data, metrics, devices=("2xcpu", "3xcpu", "8xcpu")):
        """Measures and checks that any batch and number of devices has the same bits."""
        once = self.measured(data, metrics)
        self.assertEqual(sorted(once), sorted(metrics))
        for words in ([["-b", "1"], ["-b", "3"], ["-b", str(SEQUENCES)], ["-b", "64"]]
                      + [["-b", "8", "-d", device] for device in devices]):
            again = self.measured(data, metrics, *words)
            for name in metrics:
                self.assertEqual(
                    bits(again[name]),
                    bits(once[name]), f"{name} with {words}: {again[name]}, {once[name]}")
        return once


def area(scored):
    """The share of pairs in order, ties one half, over all pairs."""
    positives = [score for score, truth in scored if truth]
    negatives = [score for score, truth in scored if not truth]
    ordered = sum(2 * (p > n) + (p == n) for p in positives for n in negatives)
    return ordered / (2 * len(positives) * len(negatives)) if positives and negatives else None


def rank(row, truth):
    return sum(x > row[truth] or (x == row[truth] and c < truth) for c, x in enumerate(row))


class Classes(Metrics):
    def test_among_the_likeliest_with_ties_and_ignored_labels(self):
        for text in (PICK, STEPS):
            self.net(text)
            table = self.table(40, 12, lambda: self.draw.randrange(-3, 4) / 2)
            ids = [self.draw.randrange(40) for _ in range(SEQUENCES * STEPS_EACH)]
            labels = [self.draw.choice([-1, 0, 1, 3, 4, 7, 10, 11]) for _ in ids]
            found = self.everywhere(self.data(ids, labels), TOP + ["accuracy"])
            ranks = [rank(table[i], label) for i, label in zip(ids, labels) if label >= 0]
            self.assertLess(len(ranks), len(ids))
            for k, name in enumerate(TOP, 1):
                self.assertEqual(found[name], sum(r < k for r in ranks) / len(ranks), name)
            self.assertEqual(found["accuracy"], found["top_k_accuracy_1"])

    def test_labels_that_are_probabilities(self):
        self.net(SHARES, classes=12)
        table = self.table(40, 12, lambda: self.draw.randrange(-3, 4) / 2)
        ids = [self.draw.randrange(40) for _ in range(SEQUENCES * STEPS_EACH)]
        shares = [[self.draw.randrange(4) / 4 for _ in range(12)] for _ in ids]
        found = self.everywhere(self.data(ids, [x for row in shares for x in row], "f", 12), TOP)
        ranks = [rank(table[i], row.index(max(row))) for i, row in zip(ids, shares)]
        self.assertEqual([found[name] for name in TOP],
                         [sum(r < k for r in ranks) / len(ranks) for k in range(1, 11)])

    def two(self, ids, labels, table):
        """The metrics of two classes, from counts and pairs."""
        counted = [(table[i], label) for i, label in zip(ids, labels) if label >= 0]
        said = [(row[1] > row[0], label == 1) for row, label in counted]
        tp, fp, fn, tn = (said.count(pair)
                          for pair in ((True, True), (True, False), (False, True), (False, False)))
        precision, recall = tp / (tp + fp) if tp + fp else 0, tp / (tp + fn) if tp + fn else 0
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0
        mcc = (tp * tn - fp * fn) / math.sqrt(
            math.prod(n for n in (tp + fp, tp + fn, tn + fp, tn + fn) if n))
        return f1, mcc, area([(row[1] - row[0], label == 1) for row, label in counted])

    def test_two_classes(self):
        for text in (PICK, STEPS):
            self.net(text, classes=2)
            # Multiples of a quarter: differences are exact, and softmax keeps their order and ties.
            table = self.table(40, 2, lambda: self.draw.randrange(-4, 5) / 4)
            ids = [self.draw.randrange(40) for _ in range(SEQUENCES * STEPS_EACH)]
            labels = [self.draw.choice([-1, 0, 0, 1, 1]) for _ in ids]
            found = self.everywhere(self.data(ids, labels), ["f1", "mcc", "auc", "accuracy"])
            f1, mcc, auc = self.two(ids, labels, table)
            self.assertAlmostEqual(found["f1"], f1, delta=4e-16)  # four roundings
            self.assertAlmostEqual(found["mcc"], mcc, delta=4e-16)
            self.assertEqual(found["auc"], auc)

    def test_probabilities_of_two_classes(self):
        self.net(SHARES, classes=2)
        table = self.table(40, 2, lambda: self.draw.randrange(-4, 5) / 4)
        ids = [self.draw.randrange(40) for _ in range(SEQUENCES * STEPS_EACH)]
        shares = [self.draw.randrange(9) / 8 for _ in ids]
        found = self.everywhere(
            self.data(ids, [x for share in shares for x in (1 - share, share)], "f", 2),
            ["f1", "mcc", "auc"])
        f1, mcc, auc = self.two(ids, [int(share > 0.5) for share in shares], table)
        self.assertAlmostEqual(found["f1"], f1, delta=4e-16)
        self.assertAlmostEqual(found["mcc"], mcc, delta=4e-16)
        self.assertEqual(found["auc"], auc)

    def test_the_ignored_label_may_be_a_class(self):
        for ignored in (0, 1):
            self.net(PICK.replace("ignore_label=-1", f"ignore_label={ignored}"), classes=2)
            table = self.table(40, 2, lambda: self.draw.randrange(-4, 5) / 4)
            ids, labels = [i for i in range(33)], [i % 2 for i in range(33)]
            found = self.measured(self.data(ids, labels), ["f1", "mcc", "auc"])
            f1, mcc, auc = self.two(ids,
                                    [-1 if label == ignored else label for label in labels], table)
            self.assertAlmostEqual(found["f1"], f1, delta=4e-16)
            self.assertEqual((found["mcc"], found["auc"]), (mcc, auc))
            self.assertIsNone(auc)

    def test_one_class_only(self):
        self.net(PICK, classes=2)
        self.table(40, 2, lambda: -1 if self.draw.random() < 0.5 else 1)
        ids = list(range(33))
        self.assertEqual(self.everywhere(self.data(ids, [0] * 33), ["f1", "mcc", "auc"], ()),
                         {"f1": 0, "mcc": 0, "auc": None})
        found = self.measured(self.data(ids, [1] * 33), ["mcc", "auc"])
        self.assertEqual(found, {"mcc": 0, "auc": None})
        # No positive label or prediction: 0 as in MXNet, where precision and recall are 0 / 0.
        self.table(40, 2, lambda: 0)
        self.assertEqual(self.measured(self.data(ids, [0] * 33), ["f1", "mcc"]),
                         {"f1": 0, "mcc": 0})


class Regressions(Metrics):
    def drawn(self, head, text=REGRESSION):
        self.net(text.format(head=head))
        table = self.table(40, 1, lambda: self.draw.randrange(-8, 9) / 4)
        ids = [self.draw.randrange(40) for _ in range(SEQUENCES * STEPS_EACH)]
        labels = [max(0, min(1, table[i][0] / 4 + self.draw.randrange(0, 9) / 8)) for i in ids]
        return table, ids, labels

    def sigmoid(self, x):
        """sigmoid with the error of f32, at most 8 units in the last place (docs/numerics.md)."""
        return 1 / (1 + math.exp(-x))

    def test_correlation_and_sides_of_one_half(self):
        for head in ("LinearRegressionOutput", "MAERegressionOutput", "LogisticRegressionOutput"):
            table, ids, labels = self.drawn(head)
            found = self.everywhere(self.data(ids, labels, "f"), ["pearsonr", "binary_accuracy"])
            p = [self.sigmoid(table[i][0]) if head.startswith("Logistic") else table[i][0]
                 for i in ids]
            n = len(p)
            means = sum(p) / n, sum(labels) / n
            spp, syy = sum((x - means[0]) ** 2 for x in p), sum((y - means[1]) ** 2 for y in labels)
            spy = sum((x - means[0]) * (y - means[1]) for x, y in zip(p, labels))
            worst = max(1 + means[0] ** 2 * n / spp, 1 + means[1] ** 2 * n / syy)
            # The bound of Metrics.def, for both sides, and outputs of a sigmoid within 8 * 2^-24 of
            # themselves.
            near = (2 * 2 * 3 * (n + 20) * 2**-53 * worst
                    + (2 * 8 * 2**-24 * worst if head.startswith("Logistic") else 0))
            self.assertAlmostEqual(found["pearsonr"], spy / math.sqrt(spp * syy), delta=near)
            self.assertEqual(found["binary_accuracy"],
                             sum((x > 0.5) == (y > 0.5) for x, y in zip(p, labels)) / n)

    def test_area_of_a_logistic_regression(self):
        table, ids, labels = self.drawn("LogisticRegressionOutput")
        found = self.everywhere(self.data(ids, labels, "f"), ["auc"])
        self.assertEqual(found["auc"], area([(table[i][0], y > 0.5) for i, y in zip(ids, labels)]))

    def test_nets_that_mix_rows_count_whole_batches(self):
        table, ids, labels = self.drawn("LogisticRegressionOutput", MIXED)
        data = self.data(ids, labels, "f")
        whole, scored = SEQUENCES // 4 * 4, []
        for first in range(0, whole, 4):
            for step in range(STEPS_EACH):
                places = [(first + row) * STEPS_EACH + step for row in range(4)]
                mean = sum(table[ids[at]][0] for at in places) / 4  # exact: multiples of 1/16
                scored += [(table[ids[at]][0] - mean, labels[at] > 0.5) for at in places]
        for device in ("cpu", "2xcpu"):
            found = self.measured(data, ["auc", "binary_accuracy"], "-d", device)
            self.assertEqual(found["auc"], area(scored))
            self.assertEqual(found["binary_accuracy"],
                             sum((x > 0) == truth for x, truth in scored) / len(scored))


class Refused(Metrics):
    def refused(self, status, message, *words):
        done = self.run_here(*words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertIn(message, done.stderr)

    def test_what_a_net_cannot_have(self):
        self.net(PICK)
        self.table(40, 12, self.draw.random)
        data = self.data([0] * 12, [1] * 12)
        evaluate = ["eval", "pick.lnet", "--params", "w.safetensors", *data, "--metric"]
        for name in ("f1", "mcc"):
            self.refused(2, f'error[E0001]: metric "{name}" is of a softmax output of two classes, '
                            'and the net has none\n', *evaluate, name)
        self.refused(2, 'error[E0001]: metric "auc" is of a softmax output of two classes or a '
                        'logistic regression, and the net has none\n', *evaluate, "auc")
        self.refused(2, 'metric "pearsonr" is of a regression output, and the net has none\n',
                     *evaluate, "pearsonr")
        self.refused(2, 'there is no metric "top_k_accuracy"', *evaluate, "top_k_accuracy")
        self.refused(2, 'there is no metric "top_k_accuracy_11"; there are top_k_accuracy_1, '
                        'top_k_accuracy_10, ', *evaluate, "top_k_accuracy_11")
        (self.folder / "asked.lnet").write_text(PICK.replace('optimizer="sgd"', 'eval_metric="f1"'))
        self.refused(3, 'asked.lnet:8:11: error[E0214]: metric "f1" is of a softmax output of two '
                        'classes, and the net has none\n', "compile", "asked.lnet", "-o", "m.lstmc")

    def test_scores_are_compiled_in_where_they_are_asked_for(self):
        self.net(PICK.replace("12)", "2)"))
        table = self.table(40, 2, lambda: self.draw.randrange(-4, 5) / 4)
        data = self.data(list(range(36)), [i % 2 for i in range(36)])
        want = area([(table[i][1] - table[i][0], i % 2) for i in range(36)])
        self.good("compile", "pick.lnet", "-o", "plain.lstmc")
        message = ('error[E0001]: metric "auc" needs the score of every label, and this package '
                   'was compiled without: lstmc compile pick.lnet --fit eval_metric=auc -o '
                   'MODEL.lstmc, or lstmc eval pick.lnet --params ')
        self.refused(2, "plain.lstmc: " + message + "PATH --metric auc\n", "eval", "plain.lstmc",
                     "--params", "w.safetensors", *data, "--metric", "auc")
        self.refused(2, message, "eval", "plain.lstmc", "--params", "w.safetensors", *data,
                     "--expect", "auc>0.1")
        self.refused(2, message, "train", "plain.lstmc", *data, "-o", "no", "--metric", "auc")
        self.good("compile", "pick.lnet", "--fit", "eval_metric=auc", "-o", "scored.lstmc")
        for words in (["scored.lstmc", "--metric", "auc"], ["pick.lnet", "--metric", "auc"],
                      ["pick.lnet", "--expect", f"auc=={want!r}", "--metric", "auc"]):
            told = self.document("eval", *words, "--params", "w.safetensors", *data,
                                 schema="lstmc.eval/1")
            self.assertEqual(told["metrics"], {"auc": want})
        # Without the metric there is no cost.
        plain, scored = ((self.folder / name).read_bytes()
                         for name in ("plain.lstmc", "scored.lstmc"))
        self.assertNotIn(b"_scores", plain)
        self.assertIn(b"_scores", scored)

    def test_validation_and_checkpoints(self):
        self.net(PICK.replace("12)", "2)"))
        table = self.table(40, 2, lambda: self.draw.randrange(-4, 5) / 4)
        data = self.data(list(range(36)), [i % 2 for i in range(36)])
        want = area([(table[i][1] - table[i][0], i % 2) for i in range(36)])
        train = ["train", "pick.lnet", "--params", "w.safetensors", *data, "--valid", data[1],
                 "--after", "2u", "--valid-every", "1u"]
        for asked in (["--metric", "auc,f1,top_k_accuracy_1"], ["--fit", "eval_metric=auc"]):
            told = self.document(*train, "-o", "ck" + str(len(asked[1])), *asked,
                                 schema="lstmc.train/1")
            self.assertEqual([valid["metrics"]["auc"] for valid in told["valid"]], [want, want])
            told = self.document("eval", "ck" + str(len(asked[1])), *data, "--metric", "auc",
                                 schema="lstmc.eval/1")
            self.assertEqual(told["metrics"], {"auc": want})
        self.good(*train, "-o", "ck")
        self.assertEqual(self.document("eval", "ck", *data, "--metric", "f1",
                                       schema="lstmc.eval/1")["metrics"].keys(), {"f1"})
        self.refused(2, "lstmc eval pick.lnet --params ck --metric auc\n", "eval", "ck", *data,
                     "--metric", "auc")
        told = self.document("eval", "pick.lnet", "--params", "ck", *data, "--metric", "auc",
                             schema="lstmc.eval/1")
        self.assertEqual(told["metrics"], {"auc": want})


if __name__ == "__main__":
    unittest.main()
