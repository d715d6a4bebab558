"""plan --cluster and plot --what scaling with hosts: forecasts compared with a simple model of
interfaces."""
import json
import re
import unittest
import xml.etree.ElementTree

from command import SOURCE, Case

HOSTS = """\
[[host]]
name = "node"
count = %d
devices = "%s"
cores = 4
memory = "16G"
flops_per_s = 2e10
bytes_per_s = 4e10
nic_bytes_per_s = %s
nic_latency_s = 2e-5
"""

# Two layers whose parameters are cut into slices, and one whose are not.
NET = """\
N, T, H = dim("batch", 8), dim("seq", 10), setting("hidden", 512)

def net(data: float32[T, N, H], label: float32[T, N, H]):
    x = data
    for i in range(setting("layers", 2)):
        x, h, c = LSTM(x, num_hidden=H, name="lstm%d" % i)
    return LinearRegressionOutput(x, label)

fit(net, optimizer="sgd", learning_rate=0.1)
"""


def parameter_bytes(layers=2, hidden=512):
    """W and R of 4H x H, and two biases of 4H, in float32."""
    return layers * 4 * (2 * 4 * hidden * hidden + 2 * 4 * hidden)


class Hosts(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "net.lnet").write_text(NET)

    def cluster(self, hosts, rate="1e9", devices="cpu"):
        (self.folder / "hosts.toml").write_text(HOSTS % (hosts, devices, rate))

    def plan(self, rows, *words, shards=8):
        return self.document("plan", "net.lnet", "-b", str(rows), "--shards", str(shards),
                             "--cluster", "hosts.toml", "--kv-store", "device",
                             "--update-on-kvstore", "1", *words, schema="lstmc.plan/1")

    def test_no_host_moves_more_than_its_interface_can(self):
        for hosts, rate in ((2, 1e9), (4, 1e8), (8, 1e8), (64, 1e8)):
            self.cluster(hosts, f"{rate:g}")
            plan = self.plan(8 * hosts, shards=max(8, hosts))
            forecast = plan["forecast"]
            # The lower bound: each host receives the gradients of its part from all others, and
            # sends its part to all others.
            least = 2 * parameter_bytes() * (hosts - 1) / hosts
            self.assertEqual(sum(host["count"] for host in forecast["hosts"]), hosts)
            for host in forecast["hosts"]:
                for moved in (host["sent_bytes"], host["received_bytes"]):
                    self.assertGreater(moved, 0.9 * least)  # the parts are of about equal size
                    self.assertLessEqual(moved / rate, forecast["update_s"])
            total = sum(host["count"] * host["sent_bytes"] for host in forecast["hosts"])
            self.assertGreaterEqual(total, hosts * least * 0.999)
            self.assertLess(total, hosts * least * 1.05)
            self.assertAlmostEqual(total / forecast["sent_bytes"], 1, delta=0.03)
            # The upper bound: one host's computation and all transfers, one after the other.
            one = self.document("plan", "net.lnet", "-b", "8", "--shards", "1",
                                "--cluster", "hosts.toml", "-d", "cpu:0", schema="lstmc.plan/1")
            self.assertLess(forecast["update_s"],
                            1.5 * (one["forecast"]["update_s"] + least / rate) + hosts * 2e-4)
            self.assertEqual("replicas" in forecast, hosts > 32)

    def test_messages_count_in_the_memory_limit(self):
        for hosts, said in ((2, "messages between hosts"), (64, "messages between hosts")):
            self.cluster(hosts)
            words = ["net.lnet", "-b", 4 * hosts, "--shards", max(8, hosts),
                     "--cluster", "hosts.toml", "--accumulate", "1", "--recompute", "none"]
            plan = self.document("plan", *words, schema="lstmc.plan/1")
            need = max(d["peak_bytes"] + d["messages_bytes"] for d in plan["devices"])
            self.assertGreater(need, max(d["peak_bytes"] for d in plan["devices"]))
            fits = self.document("plan", *words, "--mem", need, schema="lstmc.plan/1")
            self.assertTrue(fits["fits"])
            self.assertEqual({d["capacity_bytes"] + d["messages_bytes"] for d in fits["devices"]},
                             {need})
            done = self.run_here("plan", *words, "--mem", need - 1)
            self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
            self.assertRegex(done.stderr, r"E0401.*the plan needs .* on cpu:\d+, which may use "
                                          rf".*; [\d.]+ \w+ of it are for {said}")

    def test_what_binds_a_host(self):
        self.cluster(4, "1e7")
        slow = self.plan(32)["forecast"]["hosts"]
        self.assertLessEqual({host["bound_by"] for host in slow}, {"sending", "receiving"})
        self.assertEqual([host["host"] for host in slow], ["node0", "node1", "node2", "node3"])
        self.assertEqual([host["devices"] for host in slow], [[f"cpu:{i}"] for i in range(4)])
        self.cluster(4, "1e12")
        self.assertLessEqual({host["bound_by"] for host in self.plan(256)["forecast"]["hosts"]},
                             {"arithmetic", "memory"})
        self.cluster(4, "[1e12, 1e7]") # sending, receiving
        self.assertEqual({host["bound_by"] for host in self.plan(32)["forecast"]["hosts"]},
                         {"receiving"})
        text = self.good("plan", "net.lnet", "--cluster", "hosts.toml").stdout
        self.assertRegex(
            text, r"(?m)^host +devices +computing +sent +sending +received +receiving +bound by$")
        self.assertRegex(text, r"(?m)^node0 .* (receiving|sending|waiting)$")

    def test_devices_of_a_host_share_memory_and_interface(self):
        self.cluster(2, "1e7")
        apart = self.plan(32)["forecast"]
        self.cluster(1, "1e7", "2xcpu")
        beside = self.plan(32)["forecast"]
        # plus rows of inputs
        self.assertAlmostEqual(beside["sent_bytes"] / apart["sent_bytes"], 1, delta=0.05)
        self.assertEqual(beside["hosts"][0]["sent_bytes"], 0)  # the traffic stays within the host
        self.assertLess(beside["update_s"], apart["update_s"])
        self.cluster(2, "1e8", "4xcpu")
        shared = self.plan(64)
        # Two hosts: each sends the data of four devices, for four receivers on the other.
        self.assertEqual([len(host["devices"]) for host in shared["forecast"]["hosts"]], [4, 4])
        self.assertEqual([d["capacity_bytes"] + d["messages_bytes"] for d in shared["devices"]],
                         [4 << 30] * 8)
        self.assertTrue(all(d["messages_bytes"] > 0 for d in shared["devices"]))
        self.assertLessEqual(max(host["sent_bytes"] for host in shared["forecast"]["hosts"]) / 1e8,
                             shared["forecast"]["update_s"])

    def test_a_few_replicas_stand_for_all(self):
        """A simulation of a few replicas agrees with one of all, if both can be compiled."""
        for rate in ("1e8", "3e9"):
            self.cluster(8, rate)
            curve = self.scaling("-b", "8")["data parallelism"]
            alone = self.plan(8, "-d", "cpu:0", shards=1)["forecast"]["update_s"]
            for hosts in (2, 4, 8):
                self.cluster(hosts, rate)
                compiled = self.plan(8 * hosts, shards=hosts)["forecast"]["update_s"]
                self.assertAlmostEqual(alone / compiled / curve[hosts], 1, delta=0.15,
                                       msg=f"{hosts} hosts, {rate}")
        self.cluster(64, "1e8")
        many, all_of_them = self.plan(512, shards=64), self.plan(512, "-d", "64xcpu", shards=64)
        self.assertEqual((len(many["devices"]), len(all_of_them["devices"])), (32, 64))
        self.assertAlmostEqual(many["forecast"]["update_s"] / all_of_them["forecast"]["update_s"],
                               1, delta=0.05)
        self.assertAlmostEqual(
            many["forecast"]["sent_bytes"] / all_of_them["forecast"]["sent_bytes"], 1, delta=0.001)

    def test_a_few_replicas_stand_for_those_of_the_samples(self):
        sample = (SOURCE / "samples/hosts.toml").read_text()
        for net in ("stacked", "char_lm"):
            shared_out = [SOURCE / f"samples/{net}.lnet", "-b", "512", "--shards", "64",
                          "--kv-store", "device", "--update-on-kvstore", "1"]
            # compiled once for all rates
            self.good("compile", *shared_out, "-d", "64xcpu", "--entry", "step",
                      "-o", f"{net}.lstmc", "-q")
            for rate in ("3e9", "1e9", "1e15"):
                (self.folder / "many.toml").write_text(
                    sample.replace("count = 8", "count = 64").replace("= 3e9", f"= {rate}"))
                where = ["plan", *shared_out, "--cluster", "many.toml"]
                few, every = (self.document(*words, schema="lstmc.plan/1")["forecast"]
                              for words in (where, ["plan", f"{net}.lstmc",
                                                    "--cluster", "many.toml", "-d", "64xcpu"]))
                self.assertEqual(few["replicas"], 64)
                self.assertAlmostEqual(few["update_s"] / every["update_s"], 1, delta=0.05,
                                       msg=f"{net} {rate}")
                # The roles of hosts agree too: with an owned part, and without.
                for key in ("sent_bytes", "received_bytes"):
                    most, least = (
                        [pick(host[key] for host in forecast["hosts"]) for pick in (max, min)]
                        for forecast in (few, every))
                    self.assertAlmostEqual(most[0] / least[0], 1, delta=0.02)
                    self.assertAlmostEqual(most[1] / least[1], 1, delta=0.05)
        table = self.good(*where).stdout
        self.assertRegex(table, r"(?m)^node\d+ and \d\d like it +\d\d ")
        # Hosts with several devices, each of which is one replica's.
        self.cluster(16, "1e9", "4xcpu")
        shared = self.plan(512, shards=64)["forecast"]
        self.assertEqual([host["host"] for host in shared["hosts"]],
                         [f"node{i}" for i in range(16)])

    def test_auto_weighs_what_interfaces_move(self):
        def taken(hosts, rate, devices, net="samples/stacked.lnet"):
            self.cluster(hosts, rate, devices)
            plan = self.document("plan", SOURCE / net, "-b", "64", "--cluster", "hosts.toml",
                                 "--place", "auto", schema="lstmc.plan/1")
            self.assertAlmostEqual(plan["forecast"]["update_s"], plan["layouts"][0]["time_s"],
                                   places=9)
            return plan["layouts"][0], len(plan["forecast"]["hosts"])

        # A fast network: all devices, as replicas. A slow one: the devices of one host.
        best, hosts = taken(2, "1e10", "4xcpu")
        self.assertEqual((best["devices"], best["stages"], hosts), (8, 1, 2))
        best, hosts = taken(2, "3e6", "4xcpu")
        self.assertEqual((best["devices"], hosts), (4, 1))
        # Between the two: stages, which send less than replicas; and a single host.
        best, _ = taken(4, "1e10", "cpu")
        self.assertEqual((best["devices"], best["stages"]), (4, 1))
        best, _ = taken(4, "1e8", "cpu")
        self.assertEqual((best["devices"], best["stages"]), (4, 4))
        best, _ = taken(4, "1e6", "cpu")
        self.assertEqual(best["devices"], 1)

    def test_auto_counts_what_messages_take(self):
        """If message buffers leave too little memory for two hosts, one host is chosen, although
        two would be faster."""
        def plan(memory, *words):
            (self.folder / "hosts.toml").write_text(
                (HOSTS % (2, "cpu", "1e11")).replace("16G", str(memory)))
            done = self.run_here("plan", "net.lnet", "-b", "64", "--set", "hidden=128",
                                 "--cluster", "hosts.toml", "--kv-store", "local",
                                 "--update-on-kvstore", "1", "--json", *words)
            return json.loads(done.stdout), done.returncode

        two, _ = plan("16G", "-d", "2xcpu")
        one, _ = plan("16G", "-d", "cpu:0")
        needs = max(device["peak_bytes"] + device["messages_bytes"] for device in two["devices"])
        alone = one["devices"][0]["peak_bytes"]
        self.assertGreater(needs - 1,
                           max(alone, *(device["peak_bytes"] for device in two["devices"])))
        for memory in (needs - 1, needs):
            self.assertEqual(plan(memory, "-d", "2xcpu")[1] == 0, memory == needs)
            auto, status = plan(memory, "--place", "auto")
            self.assertEqual(status, 0)
            fit = {(layout["devices"], layout["stages"]): layout["fits"]
                   for layout in auto["layouts"]}
            self.assertEqual((fit[1, 1], fit[2, 1]), (True, memory == needs))
            self.assertEqual(
                (auto["layouts"][0]["devices"], auto["layouts"][0]["stages"]) == (2, 1),
                memory == needs)

    def scaling(self, *words):
        """{name of a curve: {hosts: efficiency}}, from the picture and its table in the page."""
        page = self.good("plot", "net.lnet", "--what", "scaling", "--cluster", "hosts.toml",
                         "-o", "s.html", "-y", *words).stdout
        self.assertEqual(page.strip(), "s.html")
        text = (self.folder / "s.html").read_text()
        self.assertEqual(text.count("<tr>"), 10)
        svg = xml.etree.ElementTree.fromstring(re.search(r"(?s)<svg.*</svg>", text)[0])
        name = "{http://www.w3.org/2000/svg}"
        curves = {}
        for circle in svg.iter(name + "circle"):
            title = circle.find(name + "title").text
            curve, hosts, percent = re.fullmatch(r"(.*): (\d+) hosts ([\d.]+) %, update "
                                                 r".*, bound by \w+", title).groups()
            # Points that are no forecast of all hosts are marked.
            self.assertEqual(circle.get("fill") == "white",
                             bool(re.search(r", by \d+ of \d+ replicas,", title)), title)
            self.assertEqual(circle.get("fill") == "white", int(hosts) > 32, title)
            curves.setdefault(curve, {})[int(hosts)] = float(percent) / 100
        self.assertEqual(len(list(svg.iter(name + "polyline"))), len(curves))
        for curve in curves.values():
            self.assertEqual([hosts for hosts in curve if hosts >= 8],
                             [8, 16, 32, 64, 128, 256, 512])
            self.assertTrue(all(0 < part <= 1.001 for part in curve.values()), curve)
            # More hosts never raise the efficiency.
            self.assertEqual(sorted(curve.values(), reverse=True), list(curve.values()))
        return curves

    def test_picture_of_scaling(self):
        self.cluster(1, "1e9")
        self.assertEqual(list(self.scaling("-b", "32")),
                         ["data parallelism", "layer split, 2 stages"])
        # With a fast network data parallelism has almost full efficiency; with a slow one stages,
        # which send less, are better.
        self.cluster(1, "1e11")
        self.assertGreater(self.scaling("-b", "128")["data parallelism"][64], 0.8)
        self.cluster(1, "1e7")
        slow = self.scaling("-b", "32", "--set", "layers=4")
        self.assertEqual(list(slow),
                         ["data parallelism", "hybrid, 2 stages", "layer split, 4 stages"])
        self.assertGreater(slow["layer split, 4 stages"][512], 1.5 * slow["data parallelism"][512])
        # The traffic of an interface bounds the efficiency.
        least = 2 * parameter_bytes(4) * 511 / 512 / 1e7
        one = self.document("plan", "net.lnet", "-b", "32", "--shards", "1", "--set", "layers=4",
                            "--cluster", "hosts.toml", schema="lstmc.plan/1")
        self.assertLessEqual(slow["data parallelism"][512], one["forecast"]["update_s"] / least)

    def test_sample(self):
        sample = (SOURCE / "samples/hosts.toml").read_text().replace("count = 8", "count = 64")
        (self.folder / "many.toml").write_text(sample)
        plan = self.document("plan", SOURCE / "samples/stacked.lnet", "-b", "512", "--shards", "64",
                             "--cluster", "many.toml", schema="lstmc.plan/1")
        self.assertEqual(plan["forecast"]["replicas"], 64)
        done = self.run_here("plan", SOURCE / "samples/stacked.lnet", "-b", "512",
                             "--cluster", "many.toml")
        self.assertEqual(done.returncode, 2)
        self.assertIn("64 replicas on these hosts share out 8 shards unevenly: "
                      "--shards 64 would do", done.stderr)
        self.good("plan", SOURCE / "samples/stacked.lnet", "-b", "256",
                  "--cluster", SOURCE / "samples/hosts.toml")

    def test_what_is_refused(self):
        good = HOSTS % (4, "cpu", "1e9")
        known = ("name, count, devices, kind, cores, memory, flops_per_s, bytes_per_s, launch_s, "
                 "nic_bytes_per_s, nic_latency_s")
        for text, line, code, message in [
                (good.replace("cores", "core"), 5,
                 "E0604", f'[[host]] has no "core", it has {known}; did you mean "cores"?'),
                (good.replace("memory", "flops"), 6,
                 "E0604", f'[[host]] has no "flops", it has {known}'),
                (good.replace('memory = "16G"\n', ""), 1, "E0604", "a [[host]] without memory"),
                (good.replace('"16G"', '"some"'), 6,
                 "E0604", 'memory of node: found "some", want bytes'),
                (good.replace("1e9", "[1e9, 2e9, 3e9]"), 9,
                 "E0604", 'nic_bytes_per_s of a [[host]]: found "1000000000, 2000000000, '
                          '3000000000", want a number above 0, or two'),
                (good.replace("1e9", "-1"), 9,
                 "E0604", 'nic_bytes_per_s of a [[host]]: found "-1", want a number above 0'),
                (good.replace("count = 4", "count = 1000"), 3,
                 "E0604", 'count of a [[host]]: found "1000", want a whole number from 1 to 512'),
                (good.replace("count = 4", "count = 2.5"), 3,
                 "E0604", 'found "2.5", want a whole number'),
                (good.replace('"cpu"', '"disk"'), 4,
                 "E0604", 'devices of a [[host]]: found "disk", want devices as -d has them'),
                (good + "cores = 3\n", 11, "E0603", "not TOML: Error while parsing key-value pair: "
                                                    "cannot redefine existing integer 'cores'"),
                (good + good, 12, "E0612", "host node0 stands twice"),
                (good + '[[device]]\nname = "cpu:0"\n', 11,
                 "E0604", "found [[device]] in a file that has [[host]] already"),
                (good + "cores 3\n", 11, "E0603", "not TOML"),
                (good + "launch_s = [1e-6\n", 11, "E0603", "not TOML"),
                (good + "launch_s = [[1e-6]]\n", 11,
                 "E0604", "launch_s of a [[host]]: want a number, a text or a list of these"),
                ("count = 3\n" + good, 1,
                 "E0604", 'found "count" outside of [[device]], [[link]] and [[host]]'),
                (good + 'launch_s = "1\n', 11, "E0603", "not TOML")]:
            (self.folder / "hosts.toml").write_text(text)
            done = self.run_here("plan", "net.lnet", "--cluster", "hosts.toml")
            self.assertEqual(done.returncode, 6, text)
            self.assertRegex(done.stderr, rf"hosts\.toml:{line}:\d+: error\[{code}")
            self.assertIn(message, done.stderr)
        for words, message in (
                (["--what", "scaling"], "--cluster FILE.toml describes one"),
                (["--what", "scaling", "--cluster", "hosts.toml",
                  "-o", "s.png"], 'scaling is drawn as .svg or .html, got ".png"'),
                (["--what", "memory",
                  "--cluster", "hosts.toml"], "--cluster is for --what scaling, not for memory"),
                (["--what", "scaling", "--cluster",
                  SOURCE / "samples/cluster.toml"], "the cluster has devices and no [[host]]")):
            self.cluster(2)
            done = self.run_here("plot", "net.lnet", *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)
        (self.folder / "hosts.toml").write_text(
            HOSTS % (31, "cpu", "1e9") + (HOSTS % (1, "cpu", "2e9")).replace("node", "odd"))
        done = self.run_here("plan", "net.lnet", "-b", "32", "--shards", "32",
                             "--cluster", "hosts.toml")
        self.assertEqual(done.returncode, 2)
        self.assertIn("host odd is not like node0", done.stderr)


if __name__ == "__main__":
    unittest.main()
