"""Properties of pictures, read back from SVG and HTML with parsers."""
import json
import re
import shutil
import subprocess
import unittest

from command import Case, SOURCE
from drawn import Graph, Page, chart_texts, svgs

TIED = """\
N = dim("batch", 8)

def tied(data: float32[N, 6], label: float32[N, 6]):
    w = Variable("shared_weight", shape=(6, 6))
    a = FullyConnected(data, weight=w, num_hidden=6, name="first", no_bias=True)
    b = FullyConnected(Activation(a, act_type="tanh", name="middle"), weight=w, num_hidden=6, name="second", no_bias=True)
    return LinearRegressionOutput(FullyConnected(b, num_hidden=6, name="own"), label)
"""

# Drawn in columns, with arrows between boxes of the first row that are not neighbours.
TOWERS_OF_ONE = """\
def tower(x):
    y, h, c = LSTM(x, num_hidden=16, layout="NTC", name="lstm")
    return FullyConnected(h[0], num_hidden=8, name="code")

def siamese(left: float32[32, 12, 2], right: float32[32, 12, 2], same_label: float32[32]):
    ab = tower(concat(left, right, dim=0))
    d = sqrt(sum((ab[:32] - ab[32:]) ** 2, axis=1) + 1e-6)
    loss = same_label * d ** 2 + (1 - same_label) * max(1.0 - d, 0.0) ** 2
    return MakeLoss(loss, name="loss"), BlockGrad(d, name="distance")
"""
CHAIN = """\
def chain(data: float32[4, 8]):
    x = data
    for i in range(40):
        x = Activation(FullyConnected(x, num_hidden=%s, name="fc%%d" %% i), act_type="relu", name="act%%d" %% i)
    return x
"""

TOWERS = """\
def towers(data: float32[4, 8]):
    outs = []
    for i in range(20):
        outs.append(tanh(FullyConnected(data, num_hidden=%s, name="tower%%d" %% i)))
    return Concat(*outs, dim=1, name="join")
"""


@unittest.skipUnless(shutil.which("dot"), "no program dot")
class Networks(Case):
    def graph(self, text, *words):
        (self.folder / "net.lnet").write_text(text)
        self.good("plot", "net.lnet", "-o", "net.svg", "--force", *words)
        return Graph((self.folder / "net.svg").read_text())

    def test_a_shared_weight_is_one_box_with_an_arrow_for_each_reader(self):
        graph = self.graph(TIED)
        weight = graph.one("shared_weight")
        self.assertEqual(sorted(graph.readers(weight)),
                         sorted([graph.one("first"), graph.one("second")]))
        self.assertEqual(graph.named("own_weight"), [])
        self.good("compile", "net.lnet", "-o", "net.lstmc")
        self.good("plot", "net.lstmc", "-o", "packaged.svg")
        graph = Graph((self.folder / "packaged.svg").read_text())
        self.assertEqual(sorted(graph.readers(graph.one("shared_weight"))),
                         sorted([graph.one("first"), graph.one("second")]))

    def test_arrows_within_rows_on_which_graphviz_faults(self):
        graph = self.graph(TOWERS_OF_ONE)
        self.assertEqual(graph.readers(graph.one("same_label")),
                         [graph.one("_rminus_scalar0"), graph.one("elemwise_mul0")])
        self.assertIn(">32x8<", (self.folder / "net.svg").read_text())
        self.good("plot", "net.lnet", "-o", "net.dot")
        done = subprocess.run(["dot", "-Tsvg", "net.dot"], cwd=self.folder, capture_output=True)
        self.assertEqual(done.returncode, 0, "of the text itself, without a remedy of ours")

    def test_steps_written_by_hand_are_one_box(self):
        text = (SOURCE / "samples/cell.lnet").read_text()
        graph = self.graph(text, "--set", "seq=400")
        cell = graph.one("cell × 400")
        self.assertEqual(graph.writers(cell).count(cell), 1)
        self.assertIn(graph.one("data"), graph.writers(cell))
        self.assertIn("400 × 32x128", [label for tail, head, label in graph.arrows
                                       if tail == cell and head != cell])
        weights = [box for box, lines in graph.boxes.items() if "lstm_h2h_weight" in lines]
        self.assertEqual([graph.readers(box) for box in weights], [[cell]])
        self.assertLess(len(graph.boxes), 8)
        # With --unfold every box; Graphviz alone would take minutes.
        self.assertGreater(len(self.graph(text, "--set", "seq=400", "--unfold", "layer").boxes),
                           400 * 14)

    def test_names_do_not_decide_what_folds(self):
        renamed = CHAIN.replace('"fc%%d" %% i', '"n%%d" %% (i * 7919 %% 1000)')
        for text in (CHAIN, renamed):
            graph = self.graph(text % 8)
            self.assertEqual(len(graph.boxes), 2)
        # A layer that differs splits the chain.
        graph = self.graph(CHAIN % "8 if i != 17 else 9")
        self.assertEqual(sum(" × " in lines[0] for lines in graph.boxes.values()), 2)
        graph = self.graph(TOWERS % 8)
        self.assertEqual(len(graph.boxes), 3)
        [tower] = graph.readers(graph.one("data"))
        self.assertTrue(graph.boxes[tower][0].endswith(" × 20"), graph.boxes)
        self.assertNotIn(tower, graph.readers(tower))

    def size(self):
        text = (self.folder / "net.svg").read_text()
        return [float(x)
                for x in re.search(r'<svg width="(\d+)pt" height="(\d+)pt"', text).groups()]

    def test_long_and_wide_nets_wrap(self):
        for text in (CHAIN % "8 + i", TOWERS % "8 + i"):
            graph = self.graph(text)
            self.assertGreater(len([box for box in graph.boxes if re.fullmatch(r"n\d+", box)]), 40)
            width, height = self.size()
            self.assertLess(max(width, height), 4 * min(width, height), (width, height))

    def test_arrows_of_wrapped_nets_leap_straight(self):
        (self.folder / "leaps.lnet").write_text(
            "def net(data: float32[4, 8]):\n    x, kept = data, []\n    for i in range(36):\n"
            "        x = FullyConnected(x, num_hidden=8 + i % 5)\n        kept.append(x)\n"
            "        if i % 7 == 6:\n            x = Concat(x, kept[i - 5], kept[i // 2], dim=1)\n"
            "    return Concat(x, kept[0], kept[11], dim=1)\n")
        self.good("plot", "leaps.lnet", "-o", "leaps.svg")
        text = (self.folder / "leaps.svg").read_text()
        # arrows are drawn below boxes
        self.assertLess(text.rindex('class="edge"'), text.index('class="node"'))
        leaps = re.findall(r'<path fill="none" stroke="#999999" d="([^"]+)"', text)
        self.assertEqual(len(leaps), 12)
        for leap in leaps:
            points = [tuple(map(float, point.split(",")))
                      for point in re.findall(r"-?[\d.]+,-?[\d.]+", leap)]
            (x0, y0), (x1, y1) = points[0], points[-1]
            for x, y in points:
                self.assertLess(abs((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)),
                                0.02 * ((x1 - x0) ** 2 + (y1 - y0) ** 2))

    def test_parameter_sync_is_drawn_for_every_bucket(self):
        text = (self.folder / "small.lnet").read_text()
        for words, buckets in [(["--bucket-bytes", "0"], 7),
                               (["--bucket-bytes", "1M", "--kv-store", "local"], 1)]:
            graph = self.graph(text, "-d", "2xcpu", *words)
            broadcasts, sums = graph.named("broadcast at init"), graph.named("aggregate gradients")
            self.assertEqual((len(broadcasts), len(sums)), (buckets, buckets))
            layers = {graph.one(name) for name in ("embed", "lstm", "decoder")}
            self.assertEqual({head for box in broadcasts for head in graph.readers(box)}, layers)
            self.assertEqual({tail for box in sums for tail in graph.writers(box)}, layers)
            self.assertEqual(len(graph.colors[graph.one("lstm")]), 2) # a stripe for each device
        self.assertEqual(self.graph(text).named("broadcast at init"), [])

    def test_devices_have_colours(self):
        graph = self.graph(TIED, "-d", "2xcpu")
        self.assertIn("cpu:0,cpu:1", graph.boxes[graph.one("own")])
        (self.folder / "stack.lnet").write_text(
            "def stack(data: float32[4, 6]):\n    x = data\n    for i in range(2):\n        with "
            "ctx_group(\"g%d\" % i):\n"
            "            x = FullyConnected(x, num_hidden=5 + i, name=\"fc%d\" % i)\n"
            "    return x\n")
        self.good("plot", "stack.lnet", "-o", "stack.svg", "-d", "2xcpu",
                  "--place", "g0=cpu:0,g1=cpu:1")
        graph = Graph((self.folder / "stack.svg").read_text())
        colors = [graph.colors[graph.one(name)] for name in ("fc0", "fc1", "cpu:0", "cpu:1")]
        self.assertEqual(colors[:2], colors[2:])
        self.assertNotEqual(colors[0], colors[1])
        self.assertEqual(graph.named("aggregate gradients"), [])


class Charts(Case):
    def test_memory_leaves_out_what_never_changes(self):
        text = self.good("plot", "small.lnet", "--what", "memory").stdout
        texts = chart_texts(text)
        self.assertIn("step", texts)
        held = {}
        self.good("plot", "small.lnet", "--what", "memory", "-o", "t.json")
        for event in json.loads((self.folder / "t.json").read_text())["traceEvents"]:
            if event["ph"] == "C":
                held.setdefault(event["pid"], set()).add(sum(event["args"].values()))
            elif event["name"] == "process_name":
                held.setdefault(event["pid"], set()).add("name "
                                                         + event["args"]["name"].split(",")[0])
        flat = {next(h for h in all if isinstance(h, str))[5:] for all in held.values()
                if len(all) == 2}
        self.assertTrue(flat)
        for name in flat:
            self.assertNotIn(name, texts)
        self.assertIn("the same bytes throughout: ", texts[0])
        self.assertTrue(
            all(re.search(rf"\b{name}\b", texts[0].split("throughout: ")[1]) for name in flat),
            (flat, texts[0]))

    def test_axes(self):
        for what in ("memory", "schedule"):
            texts = chart_texts(self.good("plot", "small.lnet", "--what", what).stdout)
            self.assertIn("0", texts)
            self.assertTrue(any(re.fullmatch(r"[\d.]+ (µs|ms|s)", text) for text in texts), texts)
            if what == "memory":
                self.assertTrue(any(re.fullmatch(r"[\d.]+ (KiB|MiB)", text) for text in texts),
                                texts)


@unittest.skipUnless(shutil.which("dot"), "no program dot")
class Pages(Case):
    def page(self, *words):
        self.good("plot", *words, "-o", "net.html", "--force")
        text = (self.folder / "net.html").read_text()
        return text, Page(text)

    def test_layers_launches_and_bytes_are_linked(self):
        text, page = self.page("small.lnet")
        pictures = svgs(text)
        self.assertEqual(len(pictures), 3) # network, schedule, memory
        graph = Graph(pictures[0])
        linked = {}
        for tag, attributes in page.with_attribute("data-box"):
            linked.setdefault("n" + attributes["data-box"], set()).add(tag)
        for name in ("embed", "lstm", "decoder", "softmaxoutput0"):
            self.assertLessEqual({"rect", "path"}, linked.get(graph.one(name), set()), name)
        self.assertLessEqual(set(linked), set(graph.boxes))
        told = json.loads(page.inside["boxes"])
        self.assertRegex(told[int(graph.one("lstm")[1:])], r"lstm.*\n\d+ launches, .*parameters "
                                                           r"[\d.]+ (bytes|KiB)")

    def test_a_page_loads_nothing(self):
        text, page = self.page("small.lnet")
        self.assertEqual(
            [tag for tag, _ in page.elements if tag in ("link", "img", "iframe", "object", "base")],
            [])
        for tag, attributes in page.elements:
            for name, value in attributes.items():
                self.assertFalse(name in ("src", "href") or name.startswith("on"), (tag, name))
                self.assertTrue("://" not in (value or "") or name.startswith("xmlns"),
                                (tag, name, value))
        self.assertIn("default-src 'none'", text)

    def test_losses_of_a_run(self):
        self.good("train", "small.lnet", "--data", "text:text.txt,valid=0.2", "-o", "ck",
                  "--after", "12u", "--valid-every", "4u")
        # For a training folder: the validations of the checkpoints that were kept.
        _, page = self.page("ck")
        self.assertTrue(
            any(attributes.get("class") == "validation" for _, attributes in page.elements))

    def test_losses_of_a_log(self):
        done = self.good("train", "small.lnet", "--data", "text:text.txt,valid=0.2", "-o", "ck",
                         "--after", "12u", "--valid-every", "4u", "--disp-every", "2u",
                         "--format", "jsonl")
        events = [json.loads(line) for line in done.stdout.splitlines()]
        # A killed run may leave an incomplete last line.
        (self.folder / "log.jsonl").write_text(done.stdout + '{"schema":"lstmc.tr')
        for words in (["plot", "--losses", "log.jsonl", "-o", "l.svg"],
                      ["plot", "small.lnet", "--losses", "log.jsonl", "-o", "l.html"]):
            self.good(*words)
            text = (self.folder / words[-1]).read_text()
            for kind, color in (("update", "#0072b2"), ("valid", "#d55e00")):
                wanted = [(event["update"], event["loss"]) for event in events
                          if event["event"] == kind]
                points = [(float(x), -float(y)) for x, y in re.findall(
                    rf'<circle cx="([\d.]+)" cy="([\d.]+)" r="[\d.]+" fill="{color}">', text)]
                self.assertEqual(len(points), len(wanted))
                for axis in (0, 1):  # pictures of numbers keep the order
                    self.assertEqual(sorted(range(len(wanted)), key=lambda i: wanted[i][axis]),
                                     sorted(range(len(wanted)), key=lambda i: points[i][axis]))
        (self.folder / "bad.jsonl").write_text(done.stdout + "update 3\n")
        for words, status, message in [
                (["--losses", "bad.jsonl"], 6, f"bad.jsonl:{len(events) + 1}:1: error[E0603]"),
                (["--losses", "text.txt"], 6, "error[E06"),
                (["small.lnet", "--losses", "log.jsonl"], 2, "--losses alone is the curve"),
                (["--losses", "log.jsonl", "--what", "memory"], 2, "--losses alone is the curve"),
                (["--losses", "log.jsonl", "-o", "l.png"], 2, "losses are drawn as .svg")]:
            said = self.run_here("plot", *words)
            self.assertEqual(said.returncode, status, said.stderr)
            self.assertIn(message, said.stderr)

    def test_a_page_of_standard_input(self):
        text = (self.folder / "small.lnet").read_text()
        self.good("plot", "-", "-o", "a.html", input=text)
        self.good("plot", "small.lnet", "-o", "b.html")
        self.assertEqual(*((self.folder / name).read_text().replace("&lt;stdin&gt;", "small.lnet")
                           .replace("<stdin>", "small.lnet") for name in ("a.html", "b.html")))

    def test_names_are_text(self):
        bad = "<script>alert(1)</script><img src=x onerror=alert(2)>"
        (self.folder / "bad.lnet").write_text(
            f"def net(data: float32[2, 3]):  # {bad}\n    y = FullyConnected(data, num_hidden=4, "
            f"name='{bad}') # {bad} ]]> </svg>\n"
            f"    with ctx_group(\"</style>{bad}\"):\n        return tanh(y, name='x\" "
            "onload=\"alert(3)')\n")
        text, page = self.page("bad.lnet")
        self.assertEqual(sum(tag == "script" for tag, _ in page.elements), 2)
        self.assertEqual([tag for tag, _ in page.elements if tag in ("img", "link")], [])
        for tag, attributes in page.elements:
            self.assertEqual([name for name in attributes if name.startswith("on")], [], tag)
        self.assertIn(bad, json.loads(page.inside["boxes"])[1])
        for picture in svgs(text):
            Graph(picture)

    def test_what_is_refused(self):
        for words, status, message in [
                (["-o", "x.html", "--what", "memory"], 2,
                 "a page has every picture, of the network as it is written: --what is not for it"),
                (["-o", "x.html", "--after", "fuse"], 2, "--after is not for it"),
                (["-o", "x.htm"],
                 2, "plot writes .dot, .svg, .png and .pdf, .html with all pictures")]:
            done = self.run_here("plot", "small.lnet", *words)
            self.assertEqual(done.returncode, status, (words, done.stderr))
            self.assertIn(message, done.stderr)
            self.assertFalse((self.folder / "x.html").exists())


if __name__ == "__main__":
    unittest.main()
