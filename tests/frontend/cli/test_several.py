"""Several devices as the command runs and lists them."""
import re
import unittest

from command import Case

NET = """\
def net(data: float32[6, 4]):
    with ctx_group("low"):
        x = tanh(FullyConnected(data, num_hidden=5, name="fc0"))
    with ctx_group("top"):
        return FullyConnected(x, num_hidden=3, name="fc1")
"""
RUN = ["run", "net.lnet", "-i", "data=6x4xf32=random:1"]
LINE = re.compile(r"^(cpu:\d) +(\S+) +(\d+) (\S+(?: (?:to|from) cpu:\d)?) +(\S+) +(\d+) bytes +([\d.]+) us  (\S+):(\d+)$")


class Several(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "net.lnet").write_text(NET)

    def test_each_engine_gives_the_same_numbers(self):
        wanted = self.good(*RUN).stdout
        for words in (["-d", "3xcpu"], ["-d", "2xcpu", "--engine", "naive"], ["-d", "2xcpu", "--place", "low=cpu:0,top=cpu:1"],
                      ["-d", "2xcpu", "--verbose-ops"]):
            self.assertEqual(self.good(*RUN, *words).stdout, wanted, words)

    def test_ops_are_logged_with_device_time_and_bytes(self):
        said = self.good(*RUN, "-d", "2xcpu", "--engine", "naive", "--verbose-ops").stderr
        ops = [match.groups() for match in map(LINE.match, said.splitlines()) if match]
        self.assertEqual({op[0] for op in ops}, {"cpu:0", "cpu:1"})
        self.assertIn("prepare:forward", {op[1] for op in ops})
        forward = [op for op in ops if op[1] == "forward"]
        # What one has sent is the next that the other receives from it, with the same bytes.
        sent = [i for i, op in enumerate(forward) if op[3].startswith("send")]
        received = [i for i, op in enumerate(forward) if op[3].startswith("receive")]
        self.assertTrue(sent)
        self.assertEqual(len(sent), len(received))
        for s, r in zip(sent, received):
            self.assertLess(s, r)
            self.assertEqual((forward[s][3], forward[r][3]), (f"send to {forward[r][0]}", f"receive from {forward[s][0]}"))
            self.assertEqual(forward[s][5], forward[r][5])
        self.assertEqual([op for op in said.splitlines() if op.startswith("cpu:") and not LINE.match(op)], [])

    def test_logical_devices_are_listed(self):
        said = self.good("devices").stdout.splitlines()
        self.assertEqual(said[0].split(), ["device", "memory", "cores", "level", "links"])
        self.assertRegex(said[1], r"^cpu:0 +[\d.]+ GiB +\d+ (scalar|avx2|avx512) +memory$")
        made = re.fullmatch(r"-d (\d+)xcpu makes \1 logical devices of it, cpu:0 to cpu:(\d+), of \d+ threads? each; any count up to 1024 does", said[2])
        self.assertIsNotNone(made, said[2])
        self.assertEqual(int(made[1]), int(made[2]) + 1)
        self.good(*RUN, "-d", f"{made[1]}xcpu")


if __name__ == "__main__":
    unittest.main()
