"""Buckets: batches of sequences of similar length, one plan for each length, all in one arena."""
import ctypes
import json
import random
import struct
import unittest
import zipfile

from command import Case

PR_SET_THP_DISABLE = 41
PAGE = 4096
LINES = """\
vocab, N, T = setting("vocab", 60), dim("batch", 4), dim("seq", 12)

def tag(data: int32[N, T], label: int32[N, T], length: int32[N]):
    x = SwapAxis(Embedding(data, input_dim=vocab, output_dim=HIDDEN, name="embed"), dim1=0, dim2=1)
    x, h, c = LSTM(x, num_hidden=HIDDEN, num_layers=2, length=length, name="lstm")
    y = FullyConnected(x, num_hidden=vocab, flatten=False, name="out")
    return SoftmaxOutput(y, SwapAxis(label, dim1=0, dim2=1), preserve_shape=True, normalization="valid", use_ignore=True,
                         ignore_label=-1)

fit(tag, optimizer="adam", learning_rate=0.01, num_epoch=3)
data(tag, train="text:a.txt,lines=yes"BUCKETS)
"""
ROWS = """\
N, T = dim("batch", 2), dim("steps", 3)

def rows(data: float32[N, T, 2], length: float32[N], label: float32[N]):
    x, h, c = LSTM(SwapAxis(data, dim1=0, dim2=1), num_hidden=5, length=length, name="lstm")
    y = FullyConnected(SequenceLast(x, length, use_sequence_length=True), num_hidden=1, name="out")
    return LinearRegressionOutput(Reshape(y, shape=(-1,)), label)

fit(rows, optimizer="sgd", learning_rate=0.5, num_epoch=1, initializer=Uniform(0.5))
"""


def npz(path, **arrays):
    """Writes arrays of float32 from shapes and values."""
    with zipfile.ZipFile(path, "w") as file:
        for name, (shape, values) in arrays.items():
            header = (f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117)
                      + "\n")
            file.writestr(name + ".npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
                          + header.encode() + struct.pack(f"<{len(values)}f", *values))


def net(buckets="", hidden=8):
    return LINES.replace("HIDDEN", str(hidden)).replace("BUCKETS",
                                                        f", buckets={buckets}" if buckets else "")


class Buckets(Case):
    def setUp(self):
        super().setUp()
        draw = random.Random(3)
        self.lines = ["".join(draw.choice("abc de") for _ in range(draw.randint(2, 41)))
                      for _ in range(120)]
        (self.folder / "a.txt").write_text("".join(line + "\n" for line in self.lines))
        self.write("b.lnet", net([40, 10, 20]))

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def weights(self, *words, **options):
        return self.good("train", *words, "--force", **options).stdout.split("weights ")[1].strip()


class Lines(Buckets):
    def test_one_bucket_is_a_network_of_that_length(self):
        self.write("one.lnet", net([44]))
        self.write("plain.lnet", net().replace('"seq", 12', '"seq", 44'))
        plain = self.weights("plain.lnet", "-o", "ck")
        self.assertEqual(self.weights("one.lnet", "-o", "ck"), plain)
        self.assertEqual(
            self.weights("plain.lnet", "-o", "ck", "--data", "text:a.txt,lines=yes,buckets=44"),
            plain)
        self.assertNotEqual(self.weights("b.lnet", "-o", "ck"), plain)

    def test_gpus_find_the_tables_of_each_length(self):
        whole = self.weights("b.lnet", "-o", "ck", "--after", "12u")
        self.assertEqual(self.weights("b.lnet", "-o", "ck", "--after", "12u", "-d", "2xemu"), whole)

    def test_devices_and_a_run_that_is_cut(self):
        whole = self.weights("b.lnet", "-o", "ck")
        for devices in ("2xcpu", "4xcpu", "2xtrap"):
            self.assertEqual(self.weights("b.lnet", "-o", "ck", "-d", devices), whole, devices)
        self.weights("b.lnet", "-o", "cut", "--after", "37u")
        self.assertEqual(self.weights("b.lnet", "-o", "cut", "--resume"), whole)
        self.assertEqual(
            self.weights("b.lnet", "-o", "ck", "--valid", "0.2", "--valid-every", "3u"),
            self.weights("b.lnet", "-o", "ck", "--valid", "0.2", "--valid-every", "100u"))

    def test_validations_see_the_weights_of_all_lengths(self):
        lines = self.good("train", "b.lnet", "-o", "ck", "--valid",
                          "text:a.txt,lines=yes,buckets=44", "--valid-every", "5u", "--save-every",
                          "5u", "--after", "25u", "--data", "text:a.txt,lines=yes,buckets=10|20|44",
                          "--keep", "9", "--format", "jsonl").stdout
        losses = {line["update"]: line["loss"] for line in map(json.loads, lines.splitlines())
                  if line["event"] == "valid"}
        self.assertEqual(sorted(losses), [5, 10, 15, 20, 25])
        for update, loss in losses.items():
            found = self.document("eval", f"ck/update-{update:06}",
                                  "--data", "text:a.txt,lines=yes", schema="lstmc.eval/1")
            self.assertEqual(found["loss"], loss, update)

    def test_longer_lines_are_left_out_and_counted(self):
        done = self.good("train", "b.lnet", "-o", "ck",
                         "--data", "text:a.txt,lines=yes,buckets=10|20")
        longer = sum(len(line) > 20 for line in self.lines)
        short = sum(len(line) <= 10 for line in self.lines)
        middle = 120 - longer - short
        self.assertIn(
            f"left out  {longer} of 120 lines have more than 20 steps; {short % 4 + middle % 4} of "
            f"{120 - longer} lines fill no batch of 4 of a bucket", done.stderr)
        self.assertIn(f"update-{3 * (short // 4 + middle // 4):06}", done.stdout)
        evaluated = self.good("eval", "ck", "--data", "text:a.txt,lines=yes,buckets=10|20")
        self.assertIn(f"labels {sum(len(line) for line in self.lines if len(line) <= 20)}",
                      evaluated.stdout)
        # Every line needs a prediction.
        self.assertIn(
            "want at most the 20 steps",
            self.run_here("predict", "ck", "--data", "text:a.txt,lines=yes", "-o", "-").stderr)

    def test_predict_gives_every_line_in_order(self):
        self.good("train", "b.lnet", "-o", "ck", "--data", "text:a.txt,lines=yes,buckets=10|44")
        rows = self.good("predict", "ck", "--data", "text:a.txt,lines=yes", "-o", "-",
                         "--top", "1").stdout.splitlines()
        numbers = [int(row.split(",")[0]) for row in rows[1:]]
        self.assertEqual(sorted(numbers), numbers)
        self.assertEqual(set(numbers), set(range(1, 121)))

    def test_memory_is_that_of_the_longest(self):
        self.assertEqual(ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0)
        self.write("wide.lnet", net([10, 20, 44], hidden=64))
        self.write("plain.lnet", net(hidden=64).replace('"seq", 12', '"seq", 44'))
        peaks = [self.document("train", name, "-o", "ck",
                               "--force", schema="lstmc.train/1")["end"]["peak"]
                 for name in ("wide.lnet", "plain.lnet")]
        self.assertEqual(peaks[0][0]["planned_bytes"], peaks[1][0]["planned_bytes"])
        self.assertLess(peaks[0][0]["planned_bytes"] - peaks[0][0]["measured_bytes"], PAGE)
        planned = (
            self.document("plan", "wide.lnet", schema="lstmc.plan/1")["devices"][0]["peak_bytes"])
        self.assertEqual(
            self.document("plan", "plain.lnet", schema="lstmc.plan/1")["devices"][0]["peak_bytes"],
            planned)

    def test_an_update_that_fails_is_kept_with_its_length(self):
        self.weights("b.lnet", "-o", "ck", "--after", "5u")
        failed = self.run_here("train", "b.lnet", "-o", "bad", "--lr", "1e38",
                               "--fit", "optimizer=sgd")
        self.assertEqual(failed.returncode, 7, failed.stderr)
        again = self.run_here("run", "bad/" + next(p.name for p in (self.folder / "bad").iterdir()
                                                   if p.name.startswith("nan-")))
        self.assertEqual(again.returncode, 7, again.stderr)
        self.assertIn("E0701", again.stderr)


class Rows(Buckets):
    """Sequences of a table, in an order computed here, compared with networks of one length
    each."""

    def setUp(self):
        super().setUp()
        self.write("rows.lnet", ROWS)
        draw = random.Random(5)
        self.sequences = [
            [[draw.uniform(-1, 1) for _ in range(3)] for _ in range(draw.randint(1, 7))]
            for _ in range(23)]
        text = "a,b,y,id\n"
        for number, sequence in enumerate(self.sequences):
            text += "".join(f"{a:.17g},{b:.17g},{y:.17g},{number}\n" for a, b, y in sequence)
        self.write("rows.csv", text)

    def batches(self, buckets, batch=2):
        """The batches in the order of the sequences that complete them."""
        waiting = {steps: [] for steps in buckets}
        for sequence in self.sequences:
            fitting = [steps for steps in buckets if steps >= len(sequence)]
            if not fitting:
                continue
            waiting[fitting[0]].append(sequence)
            if len(waiting[fitting[0]]) == batch:
                yield fitting[0], waiting[fitting[0]]
                waiting[fitting[0]] = []

    def test_as_networks_of_one_length_that_hand_on_their_weights(self):
        spec = "csv:rows.csv,inputs=a|b,target=y,sequence=id,shuffle=no,buckets=3|6"
        got = self.weights("rows.lnet", "-o", "ck", "--data", spec)
        columns = json.loads(next(
            (self.folder / "ck").glob("update-*/state.json")).read_text())["progress"]["scaling"]
        scale = [(column["mean"], column["deviation"]) for name in ("a", "b", "y")
                 for column in columns if column["name"] == name]
        weights = []
        for number, (steps, sequences) in enumerate(self.batches([3, 6])):
            data, label = [], []
            for sequence in sequences:
                scaled = [
                    [(value - mean) / deviation for value, (mean, deviation) in zip(row, scale)]
                    for row in sequence]
                data += ([value for row in scaled for value in row[:2]]
                         + [0.0] * (2 * (steps - len(sequence))))
                label.append(scaled[-1][2])
            npz(self.folder / "one.npz", data=((2, steps, 2), data), label=("(2,)", label),
                length=("(2,)", [len(s) for s in sequences]))
            words = ["--init-params", f"ck{number - 1}"] if number else []
            weights.append(self.weights("rows.lnet", "-o", f"ck{number}", "--data", "npz:one.npz",
                                        "--set", f"steps={steps}", *words))
        self.assertGreater(len(weights), 8)
        self.assertEqual(got, weights[-1])

    def test_the_order_is_drawn_and_is_the_same_on_any_devices(self):
        spec = "csv:rows.csv,inputs=a|b,target=y,sequence=id,buckets=3|6"
        drawn = self.weights("rows.lnet", "-o", "ck", "--data", spec)
        self.assertEqual(self.weights("rows.lnet", "-o", "ck", "--data", spec, "-d", "2xcpu"),
                         drawn)
        self.assertNotEqual(self.weights("rows.lnet", "-o", "ck", "--data", spec + ",shuffle=no"),
                            drawn)


class Refusals(Buckets):
    def refused(self, status, message, *words):
        done = self.run_here(*words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertIn(message, done.stderr)

    def test_each_names_the_place_or_the_way_out(self):
        train = ["train", "b.lnet", "-o", "x"]
        self.refused(2, 'data key buckets: found "ten", want a whole number from 1', *train,
                     "--data", "text:a.txt,lines=yes,buckets=ten")
        self.refused(2, 'data key buckets: found "10|10", want different numbers', *train,
                     "--data", "text:a.txt,lines=yes,buckets=10|10")
        self.refused(2, "want lines=yes, which makes each line a sequence", *train,
                     "--data", "text:a.txt,buckets=10")
        self.refused(2, "want sequence=COLUMN", *train, "--data", "csv:a.csv,buckets=10")
        self.refused(6, "of a bucket", *train, "--data", "text:a.txt,lines=yes", "-b", "1000")
        self.refused(2, "--set gives seq a value, and so does buckets=", *train, "--set", "seq=9")
        self.refused(2, "-d 2xcpu for two devices", "launch", "-n", "2", "--", *train)
        self.write("fixed.lnet", net([10]).replace("T]", "9]"))
        self.refused(3, "fixed.lnet:11:41: error[E0214]: buckets= needs a dim", "train",
                     "fixed.lnet", "-o", "x")
        self.write("two.lnet", net([10]).replace("length: int32[N]", 'length: int32[N], more: '
                                                                     'int32[N, dim("other", 4)]'))
        self.refused(3, "needs one dim for the steps of the inputs, found seq, other", "train",
                     "two.lnet", "-o", "x")
        self.write("text.lnet", net('"10"'))
        self.refused(3, "text.lnet:11:49: error", "train", "text.lnet", "-o", "x")
        self.good("compile", "b.lnet", "-o", "b.lstmc")
        self.refused(2, "give the network, not b.lstmc", "train", "b.lstmc", "-o", "x",
                     "--data", "text:a.txt,lines=yes")


if __name__ == "__main__":
    unittest.main()
