"""Names and strings from all of Unicode, control characters included, wherever a user writes one:
in networks, on the command line, as files and folders. Each is accepted, or refused with a place
and a code; E0099 (exit 70) is always a bug."""
import os
import random
import unittest

from command import Case

DENSE = "    return LinearRegressionOutput(FullyConnected(data, num_hidden=3), label)\n"
DEF = "def net(data: float32[2, 4], label: float32[2, 3]):\n"
NETS = {
    "node": DEF + "    x = FullyConnected(data, num_hidden=3, name=NAME)\n    return "
                  "LinearRegressionOutput(x, label)\n",
    "head": "def net(data: float32[2, 4], label: float32[2, 4]):\n    return "
            "LinearRegressionOutput(data, label, name=NAME)\n",
    "variable": "def net(data: float32[2, 4], label: float32[2, 4]):\n"
                "    return LinearRegressionOutput(data * Variable(NAME, shape=(2, 4)), label)\n",
    "layer": "def net(data: float32[2, 4, 3], label: float32[2, 4, 5]):\n"
             "    return LinearRegressionOutput(LSTM(data, 5, num_layers=2, bidirectional=False, "
             "name=NAME)[0], label)\n",
    "name_scope": DEF + "    with name_scope(NAME):\n    " + DENSE,
    "ctx_group": DEF + "    with ctx_group(NAME):\n    " + DENSE,
    "dim": "N = dim(NAME, 2)\ndef net(data: float32[N, 4], label: float32[N, 3]):\n" + DENSE,
    "setting": "s = setting(NAME, 2)\n" + DEF + DENSE,
    "value of a setting": "s = setting(\"s\", NAME, help=NAME)\n" + DEF + DENSE,
    "patterns": DEF + DENSE + "fit(net, initializer=Mixed([NAME, \".*\"], [Zero(), One()]))\n",
    "carry": DEF + DENSE + "fit(net, carry=NAME)\n",
    "eval_metric": DEF + DENSE + "fit(net, eval_metric=NAME)\n",
    "optimizer": DEF + DENSE + "fit(net, optimizer=NAME)\n",
    "train": DEF + DENSE + "data(net, train=NAME)\n",
    "file of data": DEF + DENSE + "data(net, train=\"npz:\" + NAME)\n",
    "column": DEF + DENSE + "data(net, train=\"csv:F.csv\", target=NAME, inputs=[NAME])\n",
    "place": DEF + DENSE + "place(net, g=NAME)\n",
    "subscripts": "def net(data: float32[2, 4]):\n    return einsum(data, data, subscripts=NAME)\n",
    "ctx": "def net(data: float32[2, 4]):\n    return data + zeros(shape=(2, 4), ctx=NAME)\n",
    "dtype": "def net(data: float32[2, 4]):\n    return Cast(data, dtype=NAME)\n",
    "array": "def net(data: float32[2, 4]):\n    return data * Variable(\"w\", shape=(2, 4), "
             "init=\"@\" + NAME)\n",
    "variable of a file": "x = Variable(NAME, shape=(2, 3))\ny = x / 100\n",
    "assertion": "assert 1 > 2, NAME\n" + DEF + DENSE,
    "twice": "def net(data: float32[2, 4]):\n    a, b = tanh(data, name=NAME), sigmoid(data, "
             "name=NAME)\n    return a, b, a\n",
}
GROUPS = [(0, 0x20), (0x20, 0x7f), (0x7f, 0xa0), (0xa0, 0x250), (0x2000, 0x2070), (0xe000, 0xe010),
          (0xfff0, 0x10000), (0x300, 0x370)]


def text(draw):
    """A few characters, some of which are no letters."""
    return "".join(chr(draw.randrange(*draw.choice(GROUPS))) for _ in range(draw.randint(1, 4)))


def literal(word):
    return '"' + "".join(f"\\u{ord(c):04x}" for c in word) + '"'


class Names(Case):
    def taken_or_refused(self, *words, shown=None):
        done = self.run_here(*words, errors="replace")
        self.assertNotIn(done.returncode,
                         (70, -6, -11), f"{shown or words}\n{done.stdout}{done.stderr}")
        if done.returncode:
            self.assertIn("error[E", done.stderr, shown)
        return done

    def test_in_networks(self):
        draw = random.Random(1)
        for where, net in NETS.items():
            drawn = [text(draw) for _ in range(int(os.environ.get("LSTMC_NAMES", 2)))]
            for word in ["\n", "a\x07b", "a" * 4089, *drawn]:
                (self.folder / "n.lnet").write_text(net.replace("NAME", literal(word)))
                self.taken_or_refused("compile", "n.lnet", "-o", "n.lstmc",
                                      "--force", shown=(where, word[:20]))

    def test_refusals_name_the_place(self):
        for where, place in (("node", "2:9"), ("variable", "2:42"), ("name_scope", "3:39"),
                             ("dim", "2:9"), ("layer", "2:35")):
            (self.folder / "n.lnet").write_text(NETS[where].replace("NAME", '"a\\u0007b"'))
            done = self.run_here("compile", "n.lnet", "-o", "n.lstmc", "--force")
            self.assertEqual(done.returncode, 3, where)
            self.assertRegex(done.stderr, r"^n.lnet:%s: error\[E0204\]: .* is UTF-8 without "
                                          r"control characters, got " % place, where)

    def test_of_files_and_flags(self):
        draw = random.Random(2)
        (self.folder / "g.lnet").write_text(DEF + DENSE)
        for word in ["\x07", "a\nb", "\u202e", text(draw), text(draw)]:
            word = word.replace("\0", "").replace("/", "") or "x"
            folder = self.folder / f"d{word}"
            folder.mkdir(exist_ok=True)
            (folder / f"{word}.lnet").write_text(DEF + DENSE)
            self.good("compile", f"d{word}/{word}.lnet", "-o", f"d{word}/m.lstmc", "--force")
            self.good("train", "g.lnet", "--data", "random:1", "--after", "1u",
                      "-o", f"d{word}/out", "--force")
            self.good("eval", f"d{word}/out", "--data", "random:1,batches=1")
            for flag in ("--net", "--set", "--shape", "--place", "--fit", "--metric", "--monitor",
                         "--params", "--data", "-d"):
                self.taken_or_refused("train", "g.lnet", "-o", "o", flag, word, "--after", "1u")
                self.taken_or_refused("train", "g.lnet", "-o", "o", flag, f"{word}={word}",
                                      "--after", "1u")
            for command in ("inspect", "plan", "eval", "predict", "sample", "diff", "explain",
                            "help", "fmt", "plot", "import"):
                self.taken_or_refused(command, word)

    def test_that_are_too_long(self):
        (self.folder / "g.lnet").write_text(DEF + DENSE)
        for folder in ("q" * 300, "/".join(["q" * 200] * 30)):
            for more in ([], ["--resume"], ["--force"]):
                done = self.run_here("train", "g.lnet", "--data", "random:1", "--after", "1u",
                                     "-o", folder, *more)
                self.assertEqual(done.returncode, 6, done.stderr)
                self.assertIn("error[E0601]", done.stderr)


if __name__ == "__main__":
    unittest.main()
