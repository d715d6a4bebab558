"""plot: every picture that it draws, and the requests that it refuses."""
import json
import re
import unittest

from command import Case


class Plot(Case):
    def test_a_picture_is_the_same_bytes(self):
        for words in [["--what", "schedule"], ["--show", "time,shapes"], ["--unfold", "time,layer"],
                      ["--after", "fuse"],
                      ["--after", "lower-to-exec", "--show", "time"], ["--what", "memory"]]:
            text = self.good("plot", "small.lnet", *words).stdout
            self.assertEqual(text, self.good("plot", "small.lnet", *words).stdout)
            self.assertTrue(text.startswith("<svg" if "--what" in words else "digraph"), words)

    def test_a_package_has_a_schedule(self):
        self.good("compile", "small.lnet", "-o", "small.lstmc")
        text = self.good("plot", "small.lnet", "--what", "schedule").stdout
        self.assertEqual(text, self.good("plot", "small.lstmc", "--what", "schedule").stdout)
        self.assertIn("schedule of step", text)
        self.assertIn("built-in rates of one core, not of this machine", text)

    def edges(self, *words):
        """The arrows of a graph as pairs of the boxes' first lines."""
        text = self.good("plot", *words).stdout
        names = dict(re.findall(r'(n\d+) \[[^\]]*fillcolor="[^"]*", label="([^"\\]*)', text))
        return {(names[a], names[b]) for a, b in re.findall(r"(n\d+) -> (n\d+)", text) if a != b}

    def test_the_network_of_a_package(self):
        (self.folder / "net.lnet").write_text("""\
N = dim("batch", 8)

def net(data: float32[N, 6], scale: float32[N, 6]):
    a = FullyConnected(data * scale, num_hidden=5, name="a")
    with ctx_group("b"):
        b = FullyConnected(a, num_hidden=4, name="b")
        c = FullyConnected(Concat(a, b, dim=1, name="join"), num_hidden=3, name="c")
    return transpose(c) @ b
""")
        # the plan has no launch for it
        wanted = {(a, "c" if b == "join" else b) for a, b in self.edges("net.lnet") if a != "join"}
        self.assertEqual(len(wanted), 8)
        for words in ([], ["-d", "2xcpu", "--place", "b=cpu:1"], ["-d", "2xcpu"],
                      ["--accumulate", "2"]):
            self.good("compile", "net.lnet", "-o", "net.lstmc", "-y", *words)
            self.assertEqual(self.edges("net.lstmc"), wanted, words)
        text = self.good("plot", "net.lstmc", "--show", "device,memory").stdout
        self.assertIn('label="a\\nFullyConnected\\n160 bytes + parameters ', text)
        # Also for a checkpoint; pictures that need the source are refused with that reason.
        self.good("train", "small.lnet", "--data", "text:text.txt", "-o", "ck", "--after", "1u")
        self.assertLessEqual({("data", "embed"), ("embed", "lstm"), ("lstm", "decoder")},
                             self.edges("ck"))
        done = self.run_here("plot", "net.lstmc", "--unfold", "time")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--unfold needs the source: net.lstmc holds launches and no layers",
                      done.stderr)

    def trace(self, *words):
        self.good("plot", "small.lnet", *words, "-o", "t.json", "--force")
        return json.loads((self.folder / "t.json").read_text())["traceEvents"]

    def test_what_was_planned_and_what_happened(self):
        for words, lanes in [([], 1), (["-d", "2xcpu"], 2)]:
            events = self.trace("--what", "schedule", "--measured", *words)
            launches = {pid: [e for e in events if e["ph"] == "X" and e["pid"] == pid]
                        for pid in (1, 2)}
            # Forecast and measurement show the same launches on the same devices in the same order.
            names = lambda pid: [(e["tid"], e["name"]) for e in launches[pid]]
            self.assertEqual(names(1), names(2))
            self.assertEqual(len({e["tid"] for e in launches[2]}), lanes)
            for pid in (1, 2):
                for tid in range(1, lanes + 1):
                    lane = [e for e in launches[pid] if e["tid"] == tid]
                    self.assertGreater(sum(e["dur"] for e in lane), 0)
                    for before, after in zip(lane, lane[1:]):
                        self.assertLessEqual(before["ts"] + before["dur"], after["ts"] + 1e-3,
                                             (pid, before, after))
            # No message is received before it is sent.
            for pid in (1, 2):
                ends = lambda ph: {e["id"]: e["ts"] for e in events
                                   if e["ph"] == ph and e["pid"] == pid}
                sent, taken = ends("s"), ends("f")
                self.assertEqual(bool(sent), lanes == 2)
                self.assertEqual(sorted(sent), sorted(taken))
                for message, moment in taken.items():
                    self.assertGreaterEqual(moment + 1e-3, sent[message])
        text = self.good("plot", "small.lnet", "--what", "schedule",
                         "--measured", "-d", "2xcpu").stdout
        self.assertIn(">planned; estimate: ", text)
        self.assertIn(">measured<", text)

    def test_streams_of_a_gpu_are_side_by_side(self):
        events = self.trace("--what", "schedule", "-d", "emu:0")
        launches = [e for e in events if e["ph"] == "X"]
        lanes = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
        self.assertEqual(sorted(lanes.values()), ["emu:0", "emu:0 stream 1", "emu:0 stream 2"])
        self.assertEqual({e["tid"] for e in launches}, set(lanes))
        for lane in lanes:
            own = [e for e in launches if e["tid"] == lane]
            for before, after in zip(own, own[1:]):
                self.assertLessEqual(before["ts"] + before["dur"], after["ts"] + 1e-3,
                                     (before, after))
        # So they take less time than one after the other.
        ends = lambda given: max(e["ts"] + e["dur"] for e in given)
        self.assertLess(
            ends(launches),
            ends([e for e in self.trace("--what", "schedule", "-d", "emu:0", "--streams", "1")
                  if e["ph"] == "X"]))
        moments = [e["ts"] for e in self.trace("--what", "memory", "-d", "emu:0")
                   if e["ph"] == "C" and e["pid"] == 1]
        self.assertEqual(moments, sorted(moments))

    def test_memory_of_every_device(self):
        text = self.good("plot", "small.lnet", "--what", "memory", "-d", "2xcpu").stdout
        self.assertRegex(text, r"planned peak [\d.]+ KiB on cpu:0, [\d.]+ KiB on cpu:1[;<]")
        peaks = {d["device"]: d["peak_bytes"]
                 for d in self.document("plan", "small.lnet", "-d", "2xcpu",
                                        schema="lstmc.plan/1")["devices"]}
        most = {}
        for event in self.trace("--what", "memory", "-d", "2xcpu"):
            if event["ph"] == "C":
                most[event["name"]] = max(most.get(event["name"], 0), sum(event["args"].values()))
        for device, peak in peaks.items():
            # Except in gaps.
            self.assertTrue(0.8 * peak < most["bytes on " + device] <= peak, (device, peak, most))

    def test_boxes_say_their_device(self):
        (self.folder / "stack.lnet").write_text(
            "def stack(data: float32[4, 6]):\n    x = data\n    for i in range(2):\n        with "
            "ctx_group(\"g%d\" % i):\n"
            "            x = FullyConnected(x, num_hidden=5 + i, name=\"fc%d\" % i)\n"
            "    return x\n")
        box = lambda text, name: re.search(rf'label="{name}\\n[^"]*"', text).group(0)
        one = self.good("plot", "stack.lnet", "--show", "device").stdout
        two = self.good("plot", "stack.lnet", "--show", "device", "-d", "2xcpu",
                        "--place", "g0=cpu:0,g1=cpu:1").stdout
        for text, devices in [(one, ["cpu:0", "cpu:0"]), (two, ["cpu:0", "cpu:1"])]:
            for i, device in enumerate(devices):
                self.assertIn("\\n" + device, box(text, f"fc{i}"))

    def test_what_is_refused(self):
        for words, message in [
                (["--after", "fuze"], 'got "fuze"; did you mean "fuse"?'),
                (["--after", "fuse", "--disable-pass",
                  "fuse"], "--after knows unroll-foreach, expand-shorthands, "),
                (["--after", "schedule",
                  "--unfold", "time"], "there are only launches after schedule"),
                (["--show", "tine"], 'got "tine"; did you mean "time"?'),
                (["--unfold", "layers"], 'got "layers"; did you mean "layer"?'),
                (["--measured"], "--measured is for --what schedule, not for network"),
                (["--what", "memory",
                  "--measured"], "--measured is for --what schedule, not for memory"),
                (["-o", "x.json"], "and of schedules and memory .json for a viewer of traces"),
                (["--what", "schedule",
                  "-o", "x.dot"], "it is drawn as .svg, .png or .pdf, not as .dot"),
                (["--what", "schedule",
                  "--unfold", "time"], "--unfold is for --what network, not for schedule")]:
            done = self.run_here("plot", "small.lnet", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertEqual(done.stdout, "")
            self.assertIn("error[E0001]", done.stderr)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
