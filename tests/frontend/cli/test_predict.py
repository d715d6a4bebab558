"""predict: whole data sets in order and in the user's units, compared with eval on the same
rows."""
import csv
import io
import math
import struct
import unittest
import zipfile

from command import Case
from test_data import npy

TABLE = """\
N, T, hidden = dim("batch", 4), dim("seq", 3), setting("hidden", 5)

def table(data: float32[N, T, 4], label: float32[N, 1]):
    x, h, c = LSTM(data, num_hidden=hidden, layout="NTC", name="lstm")
    return LinearRegressionOutput(FullyConnected(h[0], num_hidden=1, name="out"), label, name="air")

fit(table, optimizer="adam", learning_rate=0.01, initializer=Xavier())
"""
CLASSES = """\
N = dim("batch", 4)

def classes(data: float32[N, 6], label: int32[N]):
    return SoftmaxOutput(FullyConnected(data, num_hidden=3, name="out"), label, name="digit")

fit(classes, optimizer="adam", learning_rate=0.1, initializer=Xavier())
"""
MIXED = CLASSES.replace('FullyConnected(data, num_hidden=3, '
                        'name="out")', 'FullyConnected(broadcast_sub(data, mean(data, axis=0, '
                                       'keepdims=True)), num_hidden=3, name="out")')


class Predict(Case):
    def table(self, name, rows, target=True, gap=None):
        """Readings, and wind directions as words; row `gap` (from 0) lacks a cell."""
        lines = [("pm,temp,wind" if target else "temp,wind") + "\n"]
        for i in range(rows):
            temp = "NA" if i == gap else str(10 + 3 * math.cos(i))
            lines.append((f"{100 + 20 * math.sin(i / 2)}," if target else "")
                         + f"{temp},{'NS'[i % 2]}\n")
        (self.folder / name).write_text("".join(lines))

    def trained_table(self):
        (self.folder / "table.lnet").write_text(TABLE)
        self.table("train.csv", 60)
        self.good("train", "table.lnet",
                  "--data", "csv:train.csv,target=pm,inputs=pm|temp|wind,fill=drop",
                  "--after", "20u", "-o", "ck")

    def csv(self, *words, **options):
        done = self.good("predict", *words, "-o", "-", **options)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def refused(self, status, said, *words):
        done = self.run_here(*words)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(said, done.stderr)

    def metrics(self, *words):
        return self.document("eval", *words, schema="lstmc.eval/1")["metrics"]

    def test_a_table_in_the_users_units(self):
        self.trained_table()
        self.table("new.csv", 21, gap=9)
        self.document("predict", "ck", "--data", "csv:new.csv", "-o", "p.csv",
                      schema="lstmc.predict/1")
        text = (self.folder / "p.csv").read_text()
        lines = list(csv.DictReader(io.StringIO(text)))
        # Each window of three rows predicts the next row, the last window a row after the table.
        wanted = [row for row in range(4, 23) if not row - 3 <= 10 <= row - 1]
        self.assertEqual([int(line["row"]) for line in lines], wanted)
        truth = [100 + 20 * math.sin(i / 2) for i in range(21)]
        known = [line for line in lines if int(line["row"]) <= 21]
        mean_error = sum(abs(float(line["pm"]) - truth[int(line["row"]) - 1])
                         for line in known) / len(known)
        train = [100 + 20 * math.sin(i / 2) for i in range(60)]
        mean = sum(train) / 60
        deviation = math.sqrt(sum((x - mean) ** 2 for x in train) / 60)
        mae = self.metrics("ck", "--data", "csv:new.csv", "--metric", "mae")["mae"]
        self.assertAlmostEqual(mean_error / deviation, mae, delta=1e-6)
        for words in (["-b", "1"], ["-b", "7"], ["-b", "64"], ["-b", "8", "-d", "2xcpu"],
                      ["-b", "8", "-d", "3xcpu"], ["-b", "8", "-d", "4xcpu"]):
            again = self.good("predict", "table.lnet", "--params", "ck", "--data", "csv:new.csv",
                              "-o", "-", *words).stdout
            self.assertEqual(again, text, words)
        self.assertEqual(self.good("predict", "ck", "--data", "csv:-", "-o", "-",
                                   input=(self.folder / "new.csv").read_text()).stdout, text)

    def test_the_target_need_not_be_there(self):
        self.table("train.csv", 60)
        (self.folder / "table.lnet").write_text(TABLE.replace("T, 4", "T, 3"))
        self.good("train", "table.lnet", "--data", "csv:train.csv,target=pm,inputs=temp|wind",
                  "--after", "5u", "-o", "ck")
        self.table("new.csv", 9, target=False)
        self.assertEqual([line["row"] for line in self.csv("ck", "--data", "csv:new.csv")],
                         [str(row) for row in range(4, 11)])
        self.assertIn('column "pm": found none',
                      self.run_here("eval", "ck", "--data", "csv:new.csv").stderr)

    def classes(self, net=CLASSES, rows=10):
        (self.folder / "classes.lnet").write_text(net)
        values = [math.sin(1.7 * i) for i in range(rows * 6)]
        npy(self.folder / "x.npy", "f", f"({rows}, 6)", values)
        npy(self.folder / "y.npy", "i", f"({rows},)", [i % 3 for i in range(rows)])
        self.good("train", "classes.lnet", "--data", "npy:data=x.npy,label=y.npy", "--after", "20u",
                  "-b", "2", "-o", "ck")

    def test_classes_by_name(self):
        self.classes()
        (self.folder / "names.txt").write_text("ein\nzwei, drei\nvier\n")
        all_values = self.csv("ck", "--data", "npy:data=x.npy")
        self.assertEqual(list(all_values[0]), ["row", "digit[0]", "digit[1]", "digit[2]"])
        names = ["ein", "zwei, drei", "vier"]
        top = self.csv("ck", "--data", "npy:data=x.npy", "--top", "2", "--labels", "names.txt")
        self.assertEqual(len(top), 10)
        hits = 0
        for i, (line, values) in enumerate(zip(top, all_values)):
            scores = sorted(((float(values[f"digit[{k}]"]), names[k]) for k in range(3)),
                            reverse=True)
            self.assertEqual(
                [(float(line["score1"]), line["top1"]), (float(line["score2"]), line["top2"])],
                scores[:2])
            hits += line["top1"] == names[i % 3]
        measured = self.metrics("ck", "--data", "npy:data=x.npy,label=y.npy",
                                "--metric", "accuracy")["accuracy"]
        self.assertAlmostEqual(hits / 10, measured)
        (self.folder / "names.txt").write_text("a\nb\n")
        self.refused(6, "names.txt: error[E0610]: labels: found 2, want 3 as output digit has",
                     "predict", "ck", "--data", "npy:data=x.npy", "-o", "-",
                     "--labels", "names.txt")

    def test_arrays(self):
        self.classes()
        self.good("predict", "ck", "--data", "npy:data=x.npy", "-o", "p.npy")
        header, body = (self.folder / "p.npy").read_bytes().split(b"\n", 1)
        self.assertIn(b"'<f4'", header)
        self.assertIn(b"(10, 3)", header)
        flat = [float(value) for line in self.csv("ck", "--data", "npy:data=x.npy")
                for value in list(line.values())[1:]]
        self.assertEqual(list(struct.unpack("<30f", body)),
                         [struct.unpack("<f", struct.pack("<f", x))[0] for x in flat])
        self.good("predict", "ck", "--data", "npy:data=x.npy", "-o", "p.npz", "--top", "1")
        with zipfile.ZipFile(self.folder / "p.npz") as arrays:
            best = struct.unpack("<10q", arrays.read("digit_index.npy").split(b"\n", 1)[1])
        self.assertEqual(list(best),
                         [max(range(3), key=lambda k: flat[3 * i + k]) for i in range(10)])

    def test_a_text_symbol_by_symbol(self):
        self.good("train", "small.lnet", "--data", "text:text.txt", "--after", "6u", "-o", "ck")
        text = (self.folder / "text.txt").read_text()[:45]
        (self.folder / "new.txt").write_text(text)
        lines = self.csv("ck", "--data", "text:new.txt")
        self.assertEqual("".join(line["symbol"].replace("\\n", "\n") for line in lines), text)
        # The value of eval on whole windows of one stream.
        measured = self.document("eval", "small.lnet", "--params", "ck", "-b", "1",
                                 "--data", "text:new.txt", schema="lstmc.eval/1")
        nats = [-math.log(float(lines[i][text[i + 1].replace("\n", "\\n")]))
                for i in range(measured["labels"])]
        self.assertAlmostEqual(sum(nats) / len(nats), math.log(measured["perplexity"]), delta=1e-6)
        for words in (["-b", "1"], ["-b", "8", "-d", "2xcpu"], ["-b", "2", "--set", "seq=5"]):
            self.assertEqual(
                self.csv("small.lnet", "--params", "ck", "--data", "text:new.txt", *words),
                lines, words)

    def test_a_net_without_parameters(self):
        """It needs no weights."""
        (self.folder / "double.lnet").write_text(
            'N = dim("batch", 4)\ndef double(data: float32[N, 1]):\n    return 2 * data\n')
        done = self.good("predict", "double.lnet", "--data", "random:1,batches=1", "-o", "-")
        self.assertEqual(len(done.stdout.splitlines()), 5)

    def test_rows_that_meet(self):
        self.classes(MIXED, rows=12)
        done = self.good("predict", "ck", "--data", "npy:data=x.npy", "-o", "p.csv")
        self.assertIn("warning: the network mixes the samples of a batch", done.stderr)
        self.refused(6, "classes.lnet: error[E0605]: data: found 12 samples, want whole batches of "
                        "5, since the network mixes the samples of a batch", "predict",
                     "classes.lnet", "-b", "5", "--params", "ck", "--data", "npy:data=x.npy",
                     "-o", "-")

    def test_refusals(self):
        self.classes()
        data = ["--data", "npy:data=x.npy"]
        for words, said in [
                (["-o", "p.txt"], 'predict writes F.csv, F.npy or F.npz, or a table to stdout (-o '
                                  '-), got "p.txt"'),
                ([], "predict writes its predictions: -o F.csv, F.npy or F.npz, or a table "
                     "to stdout (-o -)"),
                (["-o", "-", "--top", "4"], "--top takes 1 to 3, the values of digit, got 4"),
                (["-o", "p.npy",
                  "--top", "1"], "a .npy has one array, and these are 2; -o F.npz has all")]:
            done = self.run_here("predict", "ck", *data, *words)
            self.assertEqual((done.returncode, done.stderr), (2, f"error[E0001]: {said}\n"))
        self.assertEqual(self.run_here("predict", "classes.lnet", *data, "-o", "-").returncode, 6)
        self.good("predict", "ck", *data, "-o", "p.csv")
        self.assertEqual(self.run_here("predict", "ck", *data, "-o", "p.csv").returncode, 6)
        self.good("predict", "ck", *data, "-o", "p.csv", "--force")


if __name__ == "__main__":
    unittest.main()
