"""Several devices: execution and listings of the command."""
import re
import unittest

from command import Case
from test_hostile import npy

NET = """\
def net(data: float32[6, 4]):
    with ctx_group("low"):
        x = tanh(FullyConnected(data, num_hidden=5, name="fc0"))
    with ctx_group("top"):
        return FullyConnected(x, num_hidden=3, name="fc1")
"""
# tanh is 1 or -1 in rows other than 0, so some of them overflow for any weights.
OVERFLOW = """\
N = dim("batch", 4)

def net(data: float32[N, 3], label: float32[N, 1]):
    with ctx_group("low"):
        x = Activation(FullyConnected(data, num_hidden=5, no_bias=True, name="fc0"), act_type="tanh")
    with ctx_group("top"):
        y = FullyConnected(x * 3e38, num_hidden=1, name="fc1")
    return LinearRegressionOutput(y, label)

fit(net, initializer=Uniform(0.5))
"""
RUN = ["run", "net.lnet", "-i", "data=6x4xf32=random:1"]
LINE = re.compile(r"^(cpu:\d) +(\S+) +(\d+) (\S+(?: (?:to|from) cpu:\d)?) +(\S+) +(\d+) bytes "
                  r"+([\d.]+) us  (\S+):(\d+)$")

STEPS = """\
N, T = dim("batch", 4), dim("seq", 20)

def net(data: float32[N, T, 3], label: float32[N, 2]):
    x = SwapAxis(data, dim1=0, dim2=1)
    a, h, c = LSTM(x, num_hidden=5, name="low")
    b = FullyConnected(a, num_hidden=5, no_bias=True, flatten=False, name="mid")
    d, h, c = LSTM(b, num_hidden=2, name="top")
    return LinearRegressionOutput(SequenceLast(d), label)

fit(net, initializer=Mixed(["mid.*", ".*weight", ".*"], [Constant(3e38), One(), Zero()]))
"""

# Masks of sequences, which are cut into chunks of steps and into rows.
MASKS = """\
N, T = dim("batch", 8), dim("seq", 8)

def net(data: float32[T, N, 3], label: float32[N, 2]):
    x, h = GRU(data, num_hidden=6, num_layers=4, p=0.3, name="rnn")
    return LinearRegressionOutput(FullyConnected(SequenceLast(x), num_hidden=2, name="fc"), label)

fit(net, optimizer="sgd", learning_rate=0.1, initializer=Uniform(0.5))
"""

# The first weight is large enough to be divided between tiles of 4,096 elements.
WIDE = """\
N = dim("batch", 8)

def net(data: float32[N, 70], label: float32[N, 2]):
    x = tanh(FullyConnected(data, num_hidden=200, name="fc0"))
    return LinearRegressionOutput(FullyConnected(x, num_hidden=2, name="fc1"), label)

fit(net, optimizer="adam", learning_rate=0.01, clip_gradient_norm=0.5, initializer=Uniform(0.1))
"""


class Several(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "net.lnet").write_text(NET)

    def test_each_engine_gives_the_same_numbers(self):
        wanted = self.good(*RUN).stdout
        for words in (["-d", "3xcpu"], ["-d", "2xcpu", "--engine", "naive"],
                      ["-d", "2xcpu", "--place", "low=cpu:0,top=cpu:1"],
                      ["-d", "2xcpu", "--verbose-ops"]):
            self.assertEqual(self.good(*RUN, *words).stdout, wanted, words)

    def test_a_checkpoint_does_not_show_how_arrays_were_cut(self):
        (self.folder / "wide.lnet").write_text(WIDE)
        ways = {"one": [], "three": ["-d", "3xcpu", "--kv-store", "device",
                                     "--update-on-kvstore", "1", "--bigarray-bound", "5000"],
                "two": ["-d", "2xcpu", "--kv-store", "device", "--update-on-kvstore", "1",
                        "--bigarray-bound", "5K", "--bucket-bytes", "0"]}
        slices = lambda words: re.findall(
            r'optimizer "fc0_weight.mean" on \d .*memref<(\d+)xf32>',
            self.good("inspect", "wide.lnet", "--emit", "exec", *words).stdout)
        self.assertEqual([slices(words) for words in ways.values()],
                         [[], ["4096", "4096", "5808"], ["8192", "5808"]])
        for updates, order, resume in ((3, ("one", "two", "three"), []),
                                       (5, ("one", "three", "two"), ["--resume"])):
            for folder, way in zip(("a", "b", "c"), order):
                self.good("train", "wide.lnet", "--data", "random:1", "--after", f"{updates}u",
                          "-o", folder, *resume, *ways[way])
            for other in ("b", "c"):
                self.good("diff", "a", other)

    def test_ops_are_logged_with_device_time_and_bytes(self):
        said = self.good(*RUN, "-d", "2xcpu", "--engine", "naive", "--verbose-ops").stderr
        ops = [match.groups() for match in map(LINE.match, said.splitlines()) if match]
        self.assertEqual({op[0] for op in ops}, {"cpu:0", "cpu:1"})
        self.assertIn("prepare:forward", {op[1] for op in ops})
        forward = [op for op in ops if op[1] == "forward"]
        # Messages between two devices are received in the order in which they are sent, with the
        # same sizes.
        sent = [i for i, op in enumerate(forward) if op[3].startswith("send")]
        received = [i for i, op in enumerate(forward) if op[3].startswith("receive")]
        self.assertTrue(sent)
        self.assertEqual(len(sent), len(received))
        for s, r in zip(sent, received):
            self.assertLess(s, r)
            self.assertEqual((forward[s][3], forward[r][3]),
                             (f"send to {forward[r][0]}", f"receive from {forward[s][0]}"))
            self.assertEqual(forward[s][5], forward[r][5])
        self.assertEqual(
            [op for op in said.splitlines() if op.startswith("cpu:") and not LINE.match(op)], [])

    def test_the_first_device_with_a_number_that_is_none_is_named(self):
        (self.folder / "over.lnet").write_text(OVERFLOW)
        rows = [0.0] * 48  # in the third batch of four, rows 1 and 3 overflow
        rows[27:30], rows[33:36] = [50.0] * 3, [50.0] * 3
        (self.folder / "x.npy").write_bytes(npy(rows, "(16, 3)"))
        (self.folder / "y.npy").write_bytes(npy([1.0] * 16, "(16, 1)"))
        cases = {"cpu": "cpu:0", "2xcpu": "cpu:0", "4xcpu --kv-store local": "cpu:1",
                 "3xcpu --update-on-kvstore 0": "cpu:1",
                 "2xcpu --place low=cpu:0,top=cpu:1": "cpu:1", "2xcpu --check-nan": "cpu:0",
                 "cpu --accumulate 4": "cpu:0"}
        for words, device in cases.items():
            done = self.run_here("train", "over.lnet",
                                 "--data", "npy:data=x.npy,label=y.npy,shuffle=no", "--after", "4u",
                                 "-o", "ck", "--force", "--lr", "0.0001", "-d", *words.split())
            self.assertEqual(done.returncode, 7, words)
            self.assertRegex(done.stderr, r"over\.lnet:7:\d+: error\[E0701\]: first infinity at "
                                          r"update 3: fc1 \(FullyConnected\), output\[0, 1, 0\]",
                             words)
            self.assertIn(f"    = {device}; x in ", done.stderr, words)

    def test_an_element_is_counted_in_all_rows_and_steps(self):
        (self.folder / "steps.lnet").write_text(STEPS)
        data = [0.0] * (4 * 20 * 3)  # row 2 overflows from step 13 on
        for step in range(13, 20):
            data[(2 * 20 + step) * 3] = 50.0
        (self.folder / "x.npy").write_bytes(npy(data, "(4, 20, 3)"))
        (self.folder / "y.npy").write_bytes(npy([0.0] * (4 * 2), "(4, 2)"))
        for words in ("cpu", "2xcpu", "4xcpu", "cpu --accumulate 4",
                      "2xcpu --place auto=2 --chunks 5", "4xcpu --place auto=2 --chunks 3",
                      "2xcpu --place auto=2 --chunks 10 --accumulate 2"):
            done = self.run_here("train", "steps.lnet",
                                 "--data", "npy:data=x.npy,label=y.npy,shuffle=no", "--after", "1u",
                                 "-o", "ck", "--force", "-d", *words.split())
            self.assertEqual(done.returncode, 7, words)
            # 13 steps of four rows, and two more rows, come before it.
            self.assertRegex(done.stderr, r"steps\.lnet:6:\d+: error\[E0701\]: first infinity at "
                                          r"update 1: mid \(FullyConnected\), output\[0, 54, 0\]",
                             words)

    def test_every_device_draws_its_own_masks(self):
        """Masks are drawn inside the launch that multiplies by them: no buffer holds one, and none
        is sent."""
        (self.folder / "masks.lnet").write_text(MASKS)
        hashes = set()
        for flags in (["-d", "cpu"], ["-d", "2xcpu"],
                      ["-d", "4xcpu", "--place", "auto=2", "--chunks", "2"],
                      ["-d", "6xcpu", "--place", "auto=2", "--chunks", "4"],
                      ["-d", "4xcpu", "--place", "auto=2", "--chunks", "3", "--accumulate", "2"]):
            done = self.good("train", "masks.lnet", "--data", "random:3,batches=4", "--after", "4u",
                             "-o", "masks", "--force", *flags)
            hashes.add(done.stdout.split("weights ")[1].split()[0])
            self.assertNotIn("dropout_mask",
                             self.good("inspect", "masks.lnet", "--emit", "exec", *flags).stdout,
                             flags)
        self.assertEqual(len(hashes), 1)

    def test_logical_devices_are_listed(self):
        said = self.good("devices").stdout.splitlines()
        self.assertEqual(said[0].split(), ["device", "memory", "cores", "level", "links"])
        self.assertRegex(said[1], r"^cpu:0 +[\d.]+ GiB +\d+ (scalar|avx2|avx512) +memory$")
        made = re.fullmatch(r"-d (\d+)xcpu makes \1 logical devices of it, cpu:0 to cpu:(\d+), of "
                            r"\d+ threads? each; any count up to 64 does", said[2])
        self.assertIsNotNone(made, said[2])
        self.assertEqual(int(made[1]), int(made[2]) + 1)
        self.good(*RUN, "-d", f"{made[1]}xcpu")


if __name__ == "__main__":
    unittest.main()
