"""A SPEC means by Python's roads what it means to the command: training in buckets, and data that
are read by the vocabulary, the scaling and the columns of those that trained the weights."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import warnings

import numpy as np

import lstmc

LSTMC = os.environ["LSTMC"]
OF_LINES = """\
N, T, vocab = dim("batch", 2), dim("seq", 60), setting("vocab", 10)

def net(data: int32[N, T], label: int32[N, T], length: int32[N]):
    x = Embedding(SwapAxis(data, dim1=0, dim2=1), input_dim=vocab, output_dim=4, name="embed")
    x, h, c = LSTM(x, num_hidden=4, length=length, name="lstm")
    x = FullyConnected(x, num_hidden=vocab, flatten=False, name="out")
    return SoftmaxOutput(x, SwapAxis(label, dim1=0, dim2=1), preserve_shape=True, normalization="valid", use_ignore=True)

fit(net, optimizer="adam", learning_rate=0.01)
"""
OF_TEXT = OF_LINES.replace(", length: int32[N]", "").replace("length=length, ", "").replace(
    '"seq", 60', '"seq", 6')
OF_ROWS = """\
N, T = dim("batch", 4), dim("seq", 5)

def net(data: float32[N, T, 2], label: float32[N]):
    x, h, c = LSTM(data, num_hidden=4, layout="NTC", name="lstm")
    return LinearRegressionOutput(Reshape(FullyConnected(x[:, -1], num_hidden=1, name="out"), shape=(-1,)), label)

fit(net, optimizer="adam", learning_rate=0.01)
"""
OF_SEQUENCES = OF_ROWS.replace(
    "label: float32[N])", "label: float32[N], length: int32[N])").replace(
        "num_hidden=4,", "num_hidden=4, length=length,").replace('"seq", 5', '"seq", 20')


class Specs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(scratch.name)
        draw = np.random.default_rng(1)
        for name, symbols, count in ("a", "abcde \n", 900), ("b", "edcb\n", 400):
            pathlib.Path(f"{name}.txt").write_text("".join(draw.choice(list(symbols), size=count)))
        for name, at in ("a", 0), ("b", 3):
            rows = at + (1 + at) * draw.normal(size=(90, 3))
            pathlib.Path(f"{name}.csv").write_text("id,a,b,y\n" + "".join(
                f"s{int(i ** 0.5)}," + ",".join(f"{x:.4f}" for x in row) + "\n"
                for i, row in enumerate(rows)))
        np.savez("d.npz", data=draw.normal(size=(40, 5, 2)).astype("f"),
                 label=draw.normal(size=40).astype("f"))

    def command(self, *words):
        done = subprocess.run([LSTMC, *map(str, words), "--json"], capture_output=True, text=True,
                              timeout=240)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def trained(self, text, spec, *words, after="2e"):
        pathlib.Path("net.lnet").write_text(text)
        return self.command("train", "net.lnet", "--data", spec, "--after", after, "-o", "ck",
                            "--force", *words)

    def test_buckets(self):
        table = "csv:a.csv,inputs=a|b,target=y,sequence=id"
        for text, spec in [(OF_LINES, "text:a.txt,lines=yes,buckets=6|12|20"),
                           (OF_LINES, "text:a.txt,lines=yes,buckets=12"),
                           (OF_SEQUENCES, f"{table},buckets=4|20")]:
            with self.subTest(spec):
                end = self.trained(text, spec)["end"]["weights_hash"]
                filled = self.trained(text, spec.split(",buckets")[0])["end"]["weights_hash"]
                model = lstmc.load("net.lnet")
                self.assertEqual(model.fit(spec, after="2e", output="py", force=True)["weights"],
                                 end)
                self.assertNotEqual(end, filled)
        model = lstmc.load("net.lnet")
        model.fit(spec, after="3u", output="half")
        self.assertEqual(lstmc.load("net.lnet").fit(spec, after="2e", output="half",
                                                    resume=True)["weights"], end)
        done = self.command("train", "net.lnet", "--data", spec, "--after", "2e", "-o", "half",
                            "--resume")
        self.assertEqual(done["end"]["weights_hash"], end)
        with self.assertRaisesRegex(lstmc.Error, r"buckets= of the data compile the network for"):
            model.session.fit(spec)

    def test_data_beside_those_of_the_weights(self):
        """Validations, score and a further training read another file as the first one was."""
        how = "target=y,inputs=a|b"
        for text, spec, other in [(OF_TEXT, "text:a.txt", "text:b.txt"),
                                  (OF_LINES, "text:a.txt,lines=yes", "text:b.txt,lines=yes"),
                                  (OF_ROWS, f"csv:a.csv,{how}", f"csv:b.csv,{how}")]:
            with self.subTest(spec):
                told = self.trained(text, spec, "--valid", other)
                found = []
                model = lstmc.load("net.lnet")
                model.fit(spec, valid=other, after="2e", callback=lambda event: found.append(
                    event["loss"]) if event["event"] == "valid" else None)
                self.assertEqual(found, [each["loss"] for each in told["valid"]])
                loss = self.command("eval", "ck", "--data", other)["loss"]
                self.assertEqual(loss, found[-1])
                sessions = [model, lstmc.load("ck").session(),
                            lstmc.load("net.lnet").compile(
                                set=({"vocab": 7} if "text" in spec else {})).session(params="ck")]
                for session in sessions:
                    self.assertEqual(session.score(other)["loss"], loss)
                # of the command's: a checkpoint that is trained further
                end = self.command("train", "ck", "--data", other, "--after", "3u", "-o", "more",
                                   "--force", "--seed", "0")["end"]
                self.assertEqual(lstmc.load("ck").session().fit(other, after="3u")["weights"],
                                 end["weights_hash"])
                self.assertEqual(model.fit(other, after="3u")["weights"], end["weights_hash"])
        # columns of the first table hold for the second one
        self.assertEqual(model.score("csv:b.csv"), model.score(other))
        pathlib.Path("c.txt").write_text("xyz\n" * 40)
        model = lstmc.load("net.lnet")
        pathlib.Path("net.lnet").write_text(OF_TEXT)
        model = lstmc.load("net.lnet")
        model.fit("text:a.txt", after="1u")
        with self.assertRaisesRegex(lstmc.Error, "E0607"):
            model.score("text:c.txt")

    def test_first_weights_of_other_data(self):
        """By another vocabulary the ids of the table mean other symbols, which is said."""
        for text, spec, other, why in [
            (OF_TEXT.replace('setting("vocab", 10)', "9"), "text:a.txt", "text:b.txt",
             r"symbol 1 is \" \" and \"b\""),
            (OF_ROWS, "csv:a.csv,target=y,inputs=a|b", "csv:b.csv,target=y,inputs=a|b",
             "the columns are scaled by other numbers")]:
            self.trained(text, spec)
            said = f"its data and these have other meanings: {why}"
            for data, count in (other, 1), (spec, 0):
                done = subprocess.run([LSTMC, "train", "net.lnet", "--data", data, "--after", "1u",
                                       "--init-params", "ck", "-o", "next", "--force"],
                                      capture_output=True, text=True, timeout=240, check=True)
                self.assertEqual(len(re.findall(said, done.stderr)), count, done.stderr)
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always")
                    lstmc.load("net.lnet").fit(data, after="1u", init_params="ck")
                self.assertEqual(len(re.findall(said, "".join(str(w.message) for w in told))),
                                 count)

    def test_weights_without_their_data(self):
        """A file of weights has no vocabulary and no scaling, which is said."""
        for text, spec in [(OF_TEXT.replace('setting("vocab", 10)', "7"), "text:a.txt"),
                           (OF_ROWS, "csv:a.csv,target=y,inputs=a|b")]:
            self.trained(text, spec)
            compiled = lstmc.load("net.lnet").compile()
            for weights, count in ("ck/last/model.safetensors", 1), ("ck", 0):
                for command in ["eval"], ["predict", "-o", "-"]:
                    done = subprocess.run([LSTMC, *command, "net.lnet", "--params", weights,
                                           "--data", spec], capture_output=True, text=True,
                                          timeout=240, check=True)
                    self.assertEqual(done.stderr.count("by these data themselves"), count,
                                     done.stderr)
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always")
                    compiled.session(params=weights).score(spec)
                self.assertEqual(sum("by these data themselves" in str(each.message)
                                     for each in told), count)

    def test_a_share_of_a_spec(self):
        for text, spec in (OF_ROWS, "npz:d.npz"), (OF_TEXT, "text:a.txt"):
            told = self.trained(text, spec, "--valid", "0.2")
            model = lstmc.load("net.lnet")
            self.assertEqual(model.fit(spec, valid=0.2, after="2e")["loss"], told["end"]["loss"])

    def test_data_in_place_of_a_share(self):
        """Other validation data take the place of data(valid=..), and all of the data train."""
        pathlib.Path("net.lnet").write_text(
            OF_ROWS + 'data(net, train="npz:d.npz", valid=0.5)\n')
        with np.load("d.npz") as arrays:
            other = dict(arrays)
        for valid, updates in (None, 5), ("npz:d.npz", 10), (other, 10), (0.2, 8):
            model = lstmc.load("net.lnet")
            self.assertEqual(model.fit("npz:d.npz", valid=valid)["update"], updates)

    def test_flags_of_validations_that_are_not_there(self):
        self.trained(OF_ROWS, "npz:d.npz", after="1u")
        for keyword in {"early_stop": 2}, {"valid_every": "1u"}:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                lstmc.load("net.lnet").fit("npz:d.npz", after="1u", **keyword)
                lstmc.load("net.lnet").fit("npz:d.npz", valid=0.2, after="1u", **keyword)
            self.assertEqual([str(each.message).split(":")[1] for each in told],
                             [f" {[*keyword][0]}= has no effect"])

    def test_what_is_no_data(self):
        """Common mistakes are called by their names."""
        pathlib.Path("net.lnet").write_text(OF_ROWS)
        with np.load("d.npz") as arrays:
            x, y = arrays["data"][:4], arrays["label"][:4]
        good = [{"data": x, "label": y}] * 2
        fit = lstmc.load("net.lnet").fit
        for data, message in [
            ((batch for batch in good), "generator gives its batches once, and a training reads"),
            (iter(good), "list_iterator gives its batches once"),
            ([(x, y)], r"the iterator gave tuple: \{\"data\": x, \"label\": y\} for x, y in"),
            ([[x, y]], "the iterator gave list")]:
            with self.assertRaisesRegex(lstmc.Error, message):
                fit(data, batch=4)
        with self.assertRaisesRegex(lstmc.Error, r"optimizer= is a name here.*got Adam\("):
            fit(good, batch=4, optimizer=lstmc.optimizer.Adam(learning_rate=0.1))
        with self.assertRaisesRegex(lstmc.Error, "optimizer_params= is a Module's"):
            fit(good, batch=4, optimizer_params={"learning_rate": 0.1})

        class Anew:
            """Begins again though it is its own iterator."""

            def __iter__(self):
                self.left = list(good)
                return self

            def __next__(self):
                if not self.left:
                    raise StopIteration
                return self.left.pop()

        self.assertEqual(fit(Anew(), batch=4, num_epoch=2)["update"], 4)


if __name__ == "__main__":
    unittest.main()
