"""Messages for users of other frameworks: every message has a remedy or a list."""
import json
import unittest

from command import Case
from test_settings import npy

NET = """\
N = dim("batch", 4)

def net(data: float32[N, 3], label: float32[N, 1]):
    return LinearRegressionOutput(FullyConnected(data, num_hidden=1), label)
"""
CASES = [  # words, exit code, message
         ("trian net.lnet", 2, 'lstmc has no subcommand "trian"; the nearest are train,'),
         ("fit net.lnet", 2, 'lstmc has no subcommand "fit"; here it is lstmc train'),
         ("test net.lnet", 2, 'lstmc has no subcommand "test"; here it is lstmc eval'),
         ("transmogrify net.lnet", 2, 'lstmc has no subcommand "transmogrify"; the nearest are '),
         ("train net.lnet --epochs 3",
          2, 'lstmc train has no flag "--epochs"; here it is --after 10e, or --num-epochs 10'),
         ("train net.lnet --learning-rate 0.1",
          2, 'lstmc train has no flag "--learning-rate"; here it is --lr 0.001'),
         ("train net.lnet --learning_rate=0.1",
          2, 'lstmc train has no flag "--learning_rate"; here it is --lr 0.001'),
         ("train net.lnet --weight-decay 0.1",
          2, 'lstmc train has no flag "--weight-decay"; here it is --fit wd=0.01'),
         ("train net.lnet --momentum 0.9",
          2, 'lstmc train has no flag "--momentum"; here it is --fit momentum=VALUE'),
         ("train net.lnet --num-update 9",
          2, 'lstmc train has no flag "--num-update"; here it is --after 1000u'),
         ("train net.lnet --clip-gradient-norm 5",
          2, 'lstmc train has no flag "--clip-gradient-norm"; here it is --fit '
             'clip_gradient_norm=VALUE'),
         ("eval net.lnet --momentum 0.9",
          2, 'lstmc eval has no flag "--momentum"; the nearest are --'),
         ("train net.lnet --workers 4",
          2, 'lstmc train has no flag "--workers"; -t N is the number of threads; a thread of its '
             'own reads data ahead'),
         ("train net.lnet --val-data csv:t.csv",
          2, 'lstmc train has no flag "--val-data"; here it is a share of the data, --data '
             'csv:F.csv,valid=0.1'),
         ("train net.lnet --save ck", 2, 'lstmc train has no flag "--save"; here it is -o DIR'),
         ("train net.lnet --outptu ck",
          2, 'lstmc train has no flag "--outptu"; did you mean "--output"?'),
         ("train net.lnet --zzz", 2, 'lstmc train has no flag "--zzz"; the nearest are --'),
         ("train net.lnet --data csv:t.csv,target=y --fit lr=0.1",
          2, 'fit has no key "lr"; here it is called "learning_rate"'),
         ("train net.lnet --data csv:t.csv,target=y --fit zzz=0.1",
          2, 'fit has no key "zzz"; the names here are '),
         ("run net.lnet -i x=1", 2, 'the network has no input "x"; its inputs are data'),
         ("inspect net.lnet --set hidden=4",
          2, "--set hidden: the file has no setting or dim of that name"),
         ("inspect net.lnet --set hidden=4", 2, "help: it has batch"),
         ("inspect net.lnet --shape x:4x3", 2, "help: its inputs are data, label"),
         ("train net.lnet --data csv:t.csv,target=z",
          6, 'column "z": found none, want the target among a, b, y'),
         ("train net.lnet --data t.csv",
          2, 'data "t.csv": found no kind, want text:FILE, csv:FILE'),
         ("train net.lnet --data csv:a,b.csv,target=y",
          2, 'found "b.csv", want KEY=VALUE: a comma ends the name of a file'),
         ("train net.lnet --data csv:t.csv,target=y,delimiter=x",
          2, "there are inputs, target, window, horizon, sequence, buckets, na, fill, "
             "valid, shuffle"),
         ("train net.lnet --data csv:t.csv,target=y --metric rsme",
          2, 'there is no metric "rsme"; there are mse, rmse'),
         ("train net.lnet --data csv:t.csv,target=y --optimizer adamm",
          2, 'there is no optimizer "adamm"; there are adam, adamw'),
         ("train net.lnet --data csv:t.csv,target=y --after 3",
          2, "--after takes an amount such as 10e (epochs), 2500u (updates)"),
         ("train net.lnet --data csv:t.csv,target=y --after 99999999999999999999u",
          2, "2500u (updates), 1Gt (labels) or 90s, of 1e-9 to 1e18, got"),
         ("train net.lnet --data csv:t.csv,target=y --disp-every 1e-300s",
          2, "--disp-every takes an amount such as"),
         ("train net.lnet --overwrite",
          2, 'lstmc train has no flag "--overwrite"; here it is --force'),
         ("train net.lnet --data csv:t.csv,target=y --expect loss<5",
          2, "--expect 'loss<5' is about validations, and there are no data to validate on: "
             "--valid 0.1 keeps"),
         ("compile net.lnet -o net.onnx",
          2, "compile writes a package, -o F.lstmc, and got net.onnx: ONNX is not written"),
         ("compile net.lnet -o net.pt", 2, "compile writes a package, -o F.lstmc, and got net.pt: "
                                           "files of PyTorch are not written"),
         ("compile net.lnet -o copy.lnet",
          2, "lstmc inspect --emit lnet prints the network as a source"),
         ("train net.lnet --data csv:t.csv,target=y -d cuda",
          2, "want a list such as cpu, 4xcpu, cpu:0,2 or gpu:0"),
]


class Mistakes(Case):
    def test_each_has_a_remedy_or_a_list(self):
        (self.folder / "net.lnet").write_text(NET)
        (self.folder / "t.csv").write_text("a,b,y\n"
                                           + "".join(f"{i},{i + 1},{i + 2}\n" for i in range(20)))
        for words, status, message in CASES:
            with self.subTest(words):
                done = self.run_here(*words.split(),
                                     *(["-o", "ck"] if words.startswith("train") else []))
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(message, done.stderr)

    def test_variables_of_the_shell_that_are_not_set(self):
        """An empty value is refused by the name of its flag, and `--flag=` takes no other word."""
        (self.folder / "net.lnet").write_text(NET)
        train = ["train", "net.lnet", "--data", "random:1", "--after", "1u"]
        for words, message in [
            ([*train, "-o", ""], '--output takes a value, got ""'),
            ([*train, "--output="], '--output takes a value, got ""'),
            (["train", "--params=", "net.lnet"], '--params takes a value, got ""'),
            (["eval", "--params=", "net.lnet", "--data", "random:1"],
             '--params takes a value, got ""'),
            ([*train, "-o", "ck", "--monitor="], '--monitor takes a value, got ""'),
            ([*train, "-o", "ck", "--keep="], '--keep takes a count (K, M, G are powers of 1,000), '
                                              'got ""'),
            ([*train, "-o", "--resume"], "--output takes a value, got the flag --resume"),
            ([*train, "-o", "ck", "--monitor", "-y"], "--monitor takes a value, got the flag -y"),
            (["eval", "", "--data", "random:1"],
             'lstmc eval MODEL --data SPEC: one of these words is ""')]:
            with self.subTest(words):
                done = self.run_here(*words)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(message, done.stderr)
        # a default that is empty, and the empty text
        self.good(*train, "-o", "ck", "--recompute=", "--place", "")
        self.good("train", "small.lnet", "--data", "text:text.txt", "-o", "text")
        self.good("sample", "text", "--prime=", "--length", "3")

    def test_what_is_said_twice(self):
        (self.folder / "net.lnet").write_text(NET)
        (self.folder / "kept.lnet").write_text(
            NET + 'data(net, train="npy:data=x.npy,label=y.npy", valid=0.5)\n')
        for name, width in ("x", 3), ("y", 1):
            (self.folder / f"{name}.npy").write_bytes(npy([0.5] * 40 * width, (40, width)))
        data = "npy:data=x.npy,label=y.npy"
        train = ["train", "net.lnet", "-o", "ck", "--data"]
        for words, message in [
            ([*train, data, "--fit", "wd=0.1", "--fit", "wd=0.2"], "--fit wd is given twice"),
            ([*train, data, "--set", "batch=4", "--set", "batch=2"], "--set batch is given twice"),
            ([*train, f"{data},valid=0.2,valid=0.4"], "found valid twice, want once"),
            ([*train, f"{data},valid=0.5", "--valid", data],
             "valid= keeps a share of them to validate on, and --valid npy:data=x.npy,")]:
            done = self.run_here(*words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)
        # --valid in place of the share in the file, which is trained on then
        for words, updates in ([], 5), (["--valid", data], 10):
            end = json.loads(self.good("train", "kept.lnet", "-o", "ck", "--force", "--json",
                                       *words).stdout)["end"]
            self.assertEqual(end["update"], updates)

    def test_counts_are_exact(self):
        """A double holds integers up to 2^53 only."""
        (self.folder / "net.lnet").write_text(NET)
        train = ["train", "net.lnet", "--data", "random:1", "--after", "1u", "--force"]
        ends = [self.good(*train, "-o", "ck", *seed).stdout for seed in
                (["--seed", "9007199254740992"], ["--seed", "9007199254740993"],
                 ["--fit", "seed=9007199254740993"])]
        self.assertNotEqual(ends[0], ends[1])
        self.assertEqual(ends[1], ends[2])

    def test_a_training_that_cannot_go_on_as_asked(self):
        (self.folder / "net.lnet").write_text(NET)

        for name, width in ("x", 3), ("y", 1):
            (self.folder / f"{name}.npy").write_bytes(npy([0.5] * 40 * width, (40, width)))

        def train(*words, after="12u", folder="ck"):
            return self.run_here("train", "net.lnet", "--data", "npy:data=x.npy,label=y.npy",
                                 "--after", after, "-o", folder, *words)

        self.assertEqual(train().returncode, 0)
        self.assertEqual(train(after="3u", folder="short").returncode, 0)  # in the first epoch
        for done, status, message in [
            (train("--resume", "--valid", "0.2"), 6, "its epochs had 10, as with another batch or"),
            (train("--resume", "--valid", "0.2", folder="short"), 6, "its epochs had 10"),
            (train("--resume", "-b", "2"),
             6, "the source, its settings or its shapes are not those of the checkpoint"),
            (train("--resume", "--params", "ck"),
             2, "--params begins a training and --resume goes on with one")]:
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(message, done.stderr)

    def test_counts_beyond_32_bits(self):
        (self.folder / "net.lnet").write_text(NET)
        self.good("train", "net.lnet", "--data", "random:1", "--after", "5u", "-o", "ck",
                  "--save-every", "1u", "--keep", 2 ** 32 + 1)
        self.assertEqual(len(list((self.folder / "ck").glob("update-*"))), 5)
        done = self.good("train", "net.lnet", "--data", "random:1", "--valid", "random:2",
                         "--after", "5u", "--valid-every", "1u", "--lr", "0", "-o", "on",
                         "--early-stop", 2 ** 32 + 1)
        self.assertTrue(done.stdout.startswith("on/update-000005"), done.stdout)

    def test_a_net_without_a_loss(self):
        (self.folder / "net.lnet").write_text(NET.replace("LinearRegressionOutput", "elemwise_add"))
        for words in (["train", "-o", "ck"], ["eval"]):
            done = self.run_here(words[0], "net.lnet", "--data", "random:1", *words[1:])
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertRegex(
                done.stderr, r"net\.lnet:\d+:\d+: error\[E0403\]: entry \w+ needs a loss among the "
                             r"outputs, and there is none: MakeLoss\(x\) makes one")

    def test_shapes_that_an_operator_stretches(self):
        def compiled(op, extents):
            (self.folder / "net.lnet").write_text(
                f"def net(data: float32[2, 3], b: float32[{extents}]):\n    return {op}(data, b)\n")
            return self.run_here("compile", "net.lnet", "-o", "net.lstmc", "--force")

        done = compiled("elemwise_add", "3")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("    help: operators such as + stretch these shapes", done.stderr)
        self.assertEqual(compiled("broadcast_add", "3").returncode, 0)
        done = compiled("broadcast_add", "2")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("E0207", done.stderr)

    def test_more_memory_than_the_machine_has(self):
        (self.folder / "net.lnet").write_text(NET)
        done = self.run_here("train", "net.lnet", "--data", "random:1", "-b", 10 ** 12, "-o", "ck")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertRegex(
            done.stderr, r"net\.lnet:\d+:\d+: error\[E0401\]: the plan needs \d+ bytes on cpu:0, "
                         r"which has \d+; largest at the peak \(.*\): .* GiB at net\.lnet:\d+:\d+; "
                         r"lstmc plan --mem says what takes less")

    def test_what_is_compiled_already(self):
        """Flags of the loop are accepted for a package and a checkpoint; flags of the compiler are
        refused."""
        (self.folder / "net.lnet").write_text(NET + 'fit(net, learning_rate=0.3, num_update=1)\n')
        self.good("compile", "net.lnet", "-o", "net.lstmc")
        self.good("train", "net.lnet", "--data", "random:1", "-o", "first")
        for model, what in (("net.lstmc", "a package"), ("first", "a checkpoint")):
            train = ["train", model, "--data", "random:1", "-o", "ck",
                     "--force", "--disp-every", "1u"]
            self.assertIn(" lr=0.3 ", self.good(*train).stderr)
            self.assertIn(" lr=0.7 ", self.good(*train, "--lr", "0.7").stderr)
            self.assertIn(" lr=0 ", self.good(*train, "--lr", "0").stderr)
            self.assertIn("update=2 ", self.good(*train, "--fit", "num_update=2").stderr)
            for words, flag in ((["--optimizer", "adam"], "--optimizer"),
                                (["--fit", "momentum=0.5"], "--fit momentum")):
                done = self.run_here(*train, *words)
                self.assertEqual(done.returncode, 2)
                self.assertIn(f"{flag} changes what is compiled, and {what} is compiled already; "
                              "give the .lnet file", done.stderr)

    def test_an_error_is_explained_by_its_number(self):
        self.assertEqual(self.good("explain", "207").stdout, self.good("explain", "E0207").stdout)


if __name__ == "__main__":
    unittest.main()
