"""plan: forecasts compared with the results of other commands."""
import json
import re
import shlex
import unittest

from command import HERE, SOURCE, Case

CLUSTER = """\
[[device]]
name = "cpu:0"
memory = "1G"
flops_per_s = 2e11
[[device]]
name = "cpu:1"
memory = 1048576

[[link]]
between = ["cpu:0", "cpu:1"]
bytes_per_s = 1.2e9
latency_s = 0.25
"""


# Four layers over many steps: stored activations are most of the memory.
DEEP = """\
N, T, hidden = dim("batch", 8), dim("seq", 120), 16

def deep(data: int32[N, T], label: int32[N, T]):
    x = Embedding(SwapAxis(data, dim1=0, dim2=1), input_dim=5, output_dim=hidden, name="embed")
    for i in range(4):
        with ctx_group("group%d" % i):
            x, h, c = LSTM(x, num_hidden=hidden, p=0.2, name="lstm%d" % i)
    x, h, c = LSTM(Dropout(x, p=0.2), num_hidden=hidden, num_layers=2, p=0.2, name="stack")
    y = FullyConnected(x, num_hidden=5, flatten=False, name="decoder")
    return SoftmaxOutput(y, SwapAxis(label, dim1=0, dim2=1), preserve_shape=True, normalization="valid")

fit(deep, initializer=Uniform(0.1))
"""

LENGTHS = """\
N, T = dim("batch", 4), dim("seq", 24)

def lengths(data: float32[N, T, 1], length: int32[N], label: float32[N, 1]):
    x, h, c = LSTM(SwapAxis(data, dim1=0, dim2=1), num_hidden=64, length=length, name="lstm")
    last = SequenceLast(x, length, use_sequence_length=True)
    return LinearRegressionOutput(FullyConnected(last, num_hidden=1, name="out"), label)
"""


class Plan(Case):
    def plan(self, *words, status=0):
        return self.document("plan", "small.lnet", *words, schema="lstmc.plan/1", status=status)

    def test_forecast_stands_beside_what_was_measured(self):
        for words, what in [([], "update"), (["-d", "2xcpu"], "update"),
                            (["--entry", "forward"], "forward")]:
            with self.subTest(words=words):
                said = self.good("plan", "small.lnet", "--measured", *words).stdout
                self.assertRegex(
                    said, rf"(?m)^forecast  {what} [\d.]+ \w+, measured [\d.]+ \w+ \([+-]\d+ %\)$")
        self.assertGreater(self.plan("--measured")["measured_seconds"], 0)
        self.assertNotIn("measured_seconds", self.plan())
        (self.folder / "two.toml").write_text(CLUSTER)
        self.assertIn(
            "--measured runs on devices of this machine",
            self.run_here("plan", "small.lnet", "--measured", "--cluster", "two.toml").stderr)

    def test_says_what_compile_finds(self):
        for words in [[], ["-d", "2xcpu"], ["-b", "7", "-d", "3xcpu", "--optimizer", "sgd"]]:
            plan = self.plan(*words)
            found = self.document("compile", "small.lnet", "--dry-run", *words,
                                  schema="lstmc.plan/1")
            self.assertTrue(plan["fits"])
            self.assertEqual([d["peak_bytes"] for d in plan["devices"]],
                             [d["peak_bytes"] for d in found["devices"]])
            for device in plan["devices"]:
                parts = ("weights", "gradients", "optimizer", "activations", "communication",
                         "workspace")
                self.assertEqual(sum(device[part + "_bytes"] for part in parts),
                                 device["peak_bytes"])
                self.assertGreater(device["capacity_bytes"], device["peak_bytes"])
        self.good("compile", "small.lnet", "-o", "small.lstmc")
        package = self.document("plan", "small.lstmc", schema="lstmc.plan/1")
        self.assertEqual(package["devices"][0]["peak_bytes"],
                         self.plan()["devices"][0]["peak_bytes"])

    def test_of_a_device_that_computes_nothing(self):
        # On backends/null all launches have equal cost, so a wider net is as fast.
        narrow, wide = (self.plan("-d", "null:0", "--set", f"hidden={hidden}")
                        for hidden in (8, 64))
        self.assertEqual(narrow["devices"][0]["device"], "null:0")
        self.assertEqual(narrow["forecast"]["update_s"], wide["forecast"]["update_s"])
        self.assertLess(narrow["devices"][0]["peak_bytes"], wide["devices"][0]["peak_bytes"])
        cpu, both, two = (self.plan("-d", devices)
                          for devices in ("cpu:0", "cpu:0,null:0", "2xnull"))
        self.assertNotEqual(cpu["forecast"]["update_s"], narrow["forecast"]["update_s"])
        self.assertEqual([d["device"] for d in both["devices"]], ["cpu:0", "null:0"])
        self.assertEqual([d["device"] for d in two["devices"]], ["null:0", "null:1"])
        self.assertIn("forecast",
                      self.good("plan", "small.lnet", "-d", "2xnull", "--place", "auto").stdout)
        self.good("bench", "small.lnet", "-d", "null:0", "--repeats", "1")
        for words in (["devices"], ["help", "plan"]):
            self.assertNotIn("null", self.good(*words).stdout)

    def test_forecast(self):
        one, two = self.plan(), self.plan("-d", "2xcpu")
        self.assertGreater(one["forecast"]["update_s"], one["forecast"]["forward_s"])
        self.assertEqual(one["forecast"]["sent_bytes"], 0)
        self.assertIsNone(one["forecast"]["speedup"])
        self.assertEqual(one["forecast"]["rates"], "built-in")
        self.assertAlmostEqual(one["devices"][0]["idle_fraction"], 0)
        self.assertGreater(two["forecast"]["sent_bytes"], 0)
        self.assertAlmostEqual(
            two["forecast"]["speedup"],
            self.plan("-t", "1")["forecast"]["update_s"] / two["forecast"]["update_s"], delta=1e-9)
        for device in two["devices"]:
            self.assertTrue(0 < device["idle_fraction"] < 1)
        self.assertEqual(one, self.plan())

    def test_counts_what_is_real_of_the_steps(self):
        (self.folder / "lengths.lnet").write_text(LENGTHS)
        for name, rows in (("short", 6), ("long", 24)):
            (self.folder / f"{name}.csv").write_text(
                "id,a,b\n" + "".join(f"{s},{r % 5}.5,{s}\n" for s in range(8) for r in range(rows)))
        data = lambda name: ["--data", f"csv:{name}.csv,inputs=a,target=b,sequence=id"]
        update = lambda *words: self.document("plan", "lengths.lnet", "-t", "1", *words,
                                              schema="lstmc.plan/1")["forecast"]["update_s"]
        whole = update()
        self.assertEqual(update(*data("long")), whole)
        # A quarter of the steps is real, and the recurrences are the larger part of the time.
        self.assertTrue(0.25 < update(*data("short")) / whole < 0.7)
        self.assertIn("; of the steps of the data 25 % are real",
                      self.good("plan", "lengths.lnet", "-t", "1", *data("short")).stdout)
        self.assertEqual(self.run_here("plan", "lengths.lnet", *data("none")).returncode, 6)

    def test_stands_beside_what_is_measured(self):
        update = self.plan("-t", "1")["forecast"]["update_s"]
        cell = self.document("bench", "small.lnet", "--entry", "step", "-t", "1", "-r", "3",
                             schema="lstmc.bench/1")["cells"][0]
        self.assertAlmostEqual(cell["forecast_s"], update, places=12)
        self.assertAlmostEqual(cell["forecast_error_fraction"], update / cell["median_s"] - 1,
                               places=9)
        train = ["train", "small.lnet", "--data", "text:text.txt,valid=0.2", "-t", "1"]
        said = self.good(*train, "-o", "ck").stderr
        self.assertRegex(
            said, r"(?m)^forecast  update \S+ .s, forward \S+ .s · by built-in rates; ")
        self.assertRegex(said, r"(?m)^forecast  update \S+ .s, measured \S+ m?.s \([+-]\d+ %\)$")
        start = self.document(*train, "-o", "ck2", schema="lstmc.train/1")["start"]
        self.assertGreater(start["plan"]["forecast"]["update_s"], 0)

    def test_devices_without_a_processor_take_turns(self):
        # More threads than any machine has.
        few, many = self.plan("-t", "512"), self.plan("-t", "1024")
        self.assertAlmostEqual(many["forecast"]["update_s"] / few["forecast"]["update_s"], 2,
                               places=6)

    def test_what_fits_instead_does_fit(self):
        peak = self.plan()["devices"][0]["peak_bytes"]
        self.assertTrue(self.plan("--mem", str(peak))["fits"])
        limit = str(peak - 1)
        plan = self.plan("--mem", limit, "--recompute", "none", status=4)
        self.assertFalse(plan["fits"])
        self.assertEqual(plan["devices"][0]["capacity_bytes"], peak - 1)
        self.assertGreaterEqual(len(plan["remedies"]), 2)
        for remedy in plan["remedies"]:
            other = self.plan("--mem", limit, *shlex.split(remedy["flags"]))
            self.assertTrue(other["fits"], remedy)
            self.assertEqual([d["peak_bytes"] for d in other["devices"]], remedy["peak_bytes"])
            self.assertAlmostEqual(other["forecast"]["update_s"] / plan["forecast"]["update_s"] - 1,
                                   remedy["time_fraction"], places=9)
        plans = [(r["peak_bytes"], r["time_fraction"]) for r in plan["remedies"]]
        self.assertEqual([p for i, p in enumerate(plans) if p in plans[:i]], [])

    def test_table(self):
        done = self.good("plan", "small.lnet", "-d", "2xcpu")
        self.assertEqual(done.stderr, "")
        self.assertRegex(done.stdout, r"\Arows      cpu:0 2 of 4 \(4 of 8 shards\), cpu:1 2 "
                                      r"\(4\)\ntaken     2 replicas .*\n.*\n.*\n +weighed by "
                                      r"built-in rates.*\ndevice +may use +peak MiB +weights ")
        self.assertRegex(
            done.stdout, r"(?m)^cpu:1 .* step [a-z_ ]+ t=0\.\.7  \S.*  small\.lnet:\d+$")
        self.assertRegex(
            done.stdout, r"\nforecast  update \S+ .s, forward \S+ .s; [\d.]+ times as fast as one "
                         r"device; sends [\d.]+ KiB; idle cpu:0 \d+ %, cpu:1 \d+ % · by built-in "
                         r"rates; bench --calibrate measures this machine's\n\Z")
        done = self.run_here("plan", "small.lnet", "--mem", "20K")
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stdout, r"\n +does not fit: [\d.]+ KiB over\ninstead -")
        self.assertRegex(done.stderr, r"\Asmall\.lnet:\d+:\d+: error\[E0401\]: the plan needs .* "
                                      r"on cpu:0, which may use 20\.\d+ KiB\n|20480 bytes")
        rows = self.good("plan", "small.lnet", "-d", "2xcpu", "--format", "csv").stdout.splitlines()
        self.assertEqual(len(rows), 3)
        self.assertEqual(len({len(re.sub(r'"[^"]*"', "", row).split(",")) for row in rows}), 1)
        self.assertEqual(len(self.good("plan", "small.lnet", "--format", "md").stdout.splitlines()),
                         3)

    def test_auto_takes_the_fastest_that_it_weighed(self):
        plan = self.plan("-d", "2xcpu", "--place", "auto", "-t", "1")
        layouts = plan["layouts"]
        self.assertGreater(len(layouts), 1)
        self.assertEqual([x["time_s"] for x in layouts], sorted(x["time_s"] for x in layouts))
        self.assertEqual(layouts[0]["devices"], len(plan["devices"]))
        self.assertAlmostEqual(layouts[0]["time_s"], plan["forecast"]["update_s"], places=9)
        self.assertIn("1 device ",
                      self.good("plan", "small.lnet", "-d", "2xcpu", "--place", "auto").stdout)
        self.assertEqual(self.plan()["layouts"], [])

    def test_who_adds_gradients_is_forecast(self):
        layouts = self.plan("-d", "2xcpu")["layouts"]
        self.assertEqual({x["kv_store"] for x in layouts}, {"local", "device"})
        self.assertEqual({x["update_on_kvstore"] for x in layouts}, {0, 1})
        self.assertEqual([x["time_s"] for x in layouts], sorted(x["time_s"] for x in layouts))
        said = self.good("plan", "small.lnet", "-d", "2xcpu").stdout
        self.assertIn("taken     2 replicas on cpu:0,cpu:1, kv-store ", said)
        self.assertIn("weighed by built-in rates, so that packages are equal on all machines\n",
                      said)
        for words in (["--kv-store", "local", "--update-on-kvstore", "1"], ["--entry", "forward"]):
            self.assertLessEqual(len(self.plan("-d", "2xcpu", *words)["layouts"]), 1)

    def test_rates_of_this_machine(self):
        env = {"LSTMC_CACHE_DIR": str(self.folder)}
        rates = lambda: json.loads(self.good("plan", "small.lnet", "-t", "1",
                                             "--json", env=env).stdout)["forecast"]["rates"]
        self.good("bench", "small.lnet", "-r", "1", "-t", "1", "--calibrate", env=env)
        self.assertEqual(rates(), "this machine")
        machine = json.loads((self.folder / "machine.json").read_text())
        for measured in machine["rates"].values():
            del measured["kernels"]["product"]
        (self.folder / "machine.json").write_text(json.dumps(machine))
        # Rates of another version are measured again, quickly, and stored.
        self.assertEqual(rates(), "this machine")
        self.assertIn("product", next(iter(
            json.loads((self.folder / "machine.json").read_text())["rates"].values()))["kernels"])

    def test_a_machine_is_measured_once(self):
        env = {"LSTMC_CACHE_DIR": str(self.folder / "cache")}
        self.good("compile", "small.lnet", "-d", "2xcpu", "-o", "before.lstmc", env=env)
        self.assertFalse((self.folder / "cache").exists())
        for words in (["plan", "small.lnet"], ["train", "small.lnet", "--data", "text:text.txt",
                                               "--after", "2u", "-o", "ck"],
                      ["bench", "small.lnet", "-r", "1"]):
            first = words[0] == "plan"
            self.assertEqual("measured this machine "
                             "for forecasts: " in self.good(*words, "-t", "1", env=env).stderr,
                             first, words)
        self.assertEqual(json.loads(self.good("plan", "small.lnet", "-t", "1", "--json",
                                              env=env).stdout)["forecast"]["rates"], "this machine")
        self.good("compile", "small.lnet", "-d", "2xcpu", "-o", "after.lstmc", env=env)
        self.assertEqual((self.folder / "before.lstmc").read_bytes(),
                         (self.folder / "after.lstmc").read_bytes())
        # The rates cannot be stored, so they are not measured.
        self.assertEqual(self.plan()["forecast"]["rates"], "built-in")


class Recompute(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "deep.lnet").write_text(DEEP)

    def plan(self, *words, status=0):
        return self.document("plan", "deep.lnet", "-t", "1", *words, schema="lstmc.plan/1",
                             status=status)

    def peak(self, *words):
        return self.plan(*words)["devices"][0]["peak_bytes"]

    def test_as_few_layers_as_are_enough(self):
        kept = self.peak()
        most = self.peak("--recompute", "lstm0,lstm1,lstm2,lstm3,stack")
        self.assertLess(most, 0.7 * kept)
        counts = []
        for limit in (kept - 1, (kept + most) // 2, most + 4096):
            plan = self.plan("--mem", str(limit), "--recompute", "none", status=4)
            found = [r for r in plan["remedies"] if r["flags"].startswith("--recompute ")]
            self.assertEqual(len(found), 1, plan["remedies"])
            names = found[0]["flags"].split()[1]
            other = self.plan("--recompute", names, "--mem", str(limit))
            self.assertEqual(other["devices"][0]["peak_bytes"], found[0]["peak_bytes"][0])
            self.assertAlmostEqual(other["forecast"]["update_s"] / plan["forecast"]["update_s"] - 1,
                                   found[0]["time_fraction"], places=9)
            self.assertGreater(found[0]["time_fraction"], 0)
            counts.append(len(names.split(",")))
        self.assertEqual(counts[0], 1)
        self.assertEqual(counts, sorted(counts))
        self.assertGreater(counts[-1], 2)
        self.assertRegex(self.run_here("plan", "deep.lnet", "--mem", str(kept - 1), "--recompute",
                                       "none").stdout, r"\ninstead --recompute lstm0 +[\d.]+ "
                                                       r"[KM]iB +update \+\d+ %\n")

    def test_memory_is_met_by_itself(self):
        kept, most = self.peak(), self.peak("--recompute", "lstm0,lstm1,lstm2,lstm3,stack")
        plan = self.plan("--mem", str(kept - 1))
        self.assertTrue(plan["fits"])
        self.assertLess(plan["devices"][0]["peak_bytes"], kept)
        self.assertRegex(
            plan["recomputed"], r"\Arecompute lstm0: [\d.]+ [KM]iB instead of [\d.]+ [KM]iB, "
                                r"update \+\d+ % by forecast · --recompute none ")
        trained = self.good("train", "deep.lnet", "--data", "text:text.txt", "--after", "2u",
                            "-o", "ck", "--mem", str((kept + most) // 2))
        self.assertRegex(trained.stderr, r"(?m)^recompute \S+: .* by forecast")
        # It is silent if the plan fits, and inactive if it is switched off or would not help.
        self.assertNotIn("recomputed", self.plan("--mem", str(kept)))
        self.assertEqual(
            self.run_here("train", "deep.lnet", "--data", "text:text.txt", "--after", "2u",
                          "-o", "ck2", "--mem", str(kept - 1), "--recompute", "none").returncode, 4)
        done = self.run_here("plan", "deep.lnet", "--mem", "20K")
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stdout, r"\nno remedy: weights, gradients and optimizer alone need "
                                      r"[\d.]+ KiB; nearest came -\S+ \S+ with [\d.]+ KiB\n")
        self.assertIn("no_remedy", self.plan("--mem", "20K", status=4))

    def test_what_is_recomputed_already_stays_so(self):
        first = self.peak("--recompute", "lstm1")
        plan = self.plan("--recompute", "lstm1", "--mem", str(first - 1), status=4)
        flags = [r["flags"] for r in plan["remedies"] if "--recompute" in r["flags"]]
        self.assertEqual(len(flags), 1, plan["remedies"])
        self.assertRegex(flags[0], r"\A--recompute lstm1,")

    def test_names(self):
        peak = self.peak("--recompute", "lstm1")
        self.assertLess(peak, self.peak())
        self.assertEqual(self.peak("--recompute", "group1"), peak)
        (self.folder / "c.toml").write_text('recompute = "lstm1"\n')
        self.assertEqual(self.peak("-c", "c.toml"), peak)
        for flags in (["--recompute", "lstm4"],
                      ["--recompute", "lstm0,lstm4", "--entry", "forward"]):
            done = self.run_here("plan", "deep.lnet", *flags)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f'--recompute {flags[1]}: the net has no group or layer "lstm4"; groups: '
                          'group0, group1, group2, group3; '
                          "layers: embed, lstm0, lstm1, lstm2, lstm3, stack, decoder\n",
                          done.stderr)
        done = self.run_here("plan", "small.lnet", "--recompute", "lstn")
        self.assertIn('groups: none; layers: embed, lstm, decoder; did you mean "lstm"?',
                      done.stderr)
        self.good("compile", "deep.lnet", "-o", "deep.lstmc")
        self.assertEqual(self.run_here("plan", "deep.lstmc", "--recompute", "lstm1").returncode, 2)

    def test_trains_to_the_same_weights(self):
        hashes = set()
        for words in ([], ["--recompute", "lstm1,stack"],
                      ["--recompute", "group0,stack", "-d", "2xcpu"]):
            end = self.document("train", "deep.lnet", "--data", "text:text.txt", "--after", "3u",
                                "-t", "1", "-o", f"ck{len(words)}", *words,
                                schema="lstmc.train/1")["end"]
            hashes.add(end["weights_hash"])
            for device in end["peak"]:
                self.assertLessEqual(device["measured_bytes"], device["planned_bytes"])
        self.assertEqual(len(hashes), 1)


class Steps(Case):
    """Recomputation of steps in segments during backward."""

    def setUp(self):
        super().setUp()
        (self.folder / "deep.lnet").write_text(DEEP)

    def plan(self, *words, status=0, net="deep.lnet"):
        return self.document("plan", net, "-t", "1", "--shards", "1", *words, schema="lstmc.plan/1",
                             status=status)

    def peak(self, *words):
        return self.plan(*words)["devices"][0]["peak_bytes"]

    def test_memory_is_met_by_itself(self):
        layers, steps = self.peak("--recompute", "lstm0,lstm1,lstm2,lstm3,stack"), self.peak(
            "--recompute", "steps")
        self.assertLess(steps, layers)
        plan = self.plan("--mem", str(layers - 1))
        self.assertTrue(plan["fits"])
        self.assertRegex(
            plan["recomputed"], r"\Arecompute steps: [\d.]+ [KM]iB instead of [\d.]+ [KM]iB, "
                                r"update \+\d+ % by forecast · --recompute none ")
        self.assertEqual(plan["devices"][0]["peak_bytes"], steps)
        # The cheapest choice suffices: one layer of six.
        self.assertRegex(self.plan("--mem", str(self.peak() - 1))["recomputed"],
                         r"\Arecompute lstm0: ")
        plan = self.plan("--mem", str(layers - 1), "--recompute", "none", status=4)
        self.assertEqual([r["flags"] for r in plan["remedies"] if "--recompute" in r["flags"]],
                         ["--recompute steps"])

    def test_a_long_sequence_fits_by_itself(self):
        sample, limit = SOURCE / "samples/long_lm.lnet", int(1.1 * 2**30)
        plan = self.plan("--mem", str(limit), net=sample)
        self.assertTrue(plan["fits"])
        self.assertLessEqual(plan["devices"][0]["peak_bytes"], limit)
        self.assertRegex(plan["recomputed"], r"\Arecompute steps: [\d.]+ MiB instead of [67]\.\d+ "
                                             r"GiB, update \+(\d|[1-3]\d) % ")

    def test_refusals(self):
        for words, status, message in (
                (["steps"],
                 4, "a part of the batch has 8 shards, each of which would need a sum of its own"),
                (["steps=1"], 2, "--recompute steps=N takes 2 to 65536 segments, got 1"),
                (["steps=many"], 2, "many")):
            done = self.run_here("plan", "deep.lnet", "--recompute", *words)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(message, done.stderr)

    def test_memory_is_met_with_parts_of_the_batch_too(self):
        def plan(*words, status=0):
            return self.document("plan", "deep.lnet", "-t", "1", *words, schema="lstmc.plan/1",
                                 status=status)
        # One device has 8 shards of the batch, so it is divided before steps can be recomputed.
        layers = plan("--recompute", "lstm0,lstm1,lstm2,lstm3,stack")["devices"][0]["peak_bytes"]
        divided = plan("--mem", str(layers - 1))
        self.assertTrue(divided["fits"])
        self.assertRegex(divided["recomputed"], r"\Aaccumulate [248](, recompute [\w,]+)?: .* by "
                                                r"forecast · --recompute none does without\Z")
        whole = plan("--accumulate", "8")["devices"][0]["peak_bytes"]
        both = plan("--mem", str(whole - 1))
        self.assertLess(both["devices"][0]["peak_bytes"], whole)
        self.assertRegex(both["recomputed"], r"\Aaccumulate [248], recompute ")
        # Given flags are kept; if no layout fits, the message names the nearest one.
        refused = plan("--mem", str(whole - 1), "--accumulate", "1", status=4)
        self.assertFalse(refused["fits"])
        self.assertRegex(
            plan("--mem", "20000", status=4)["no_remedy"], r"\Ano remedy: weights, gradients and "
                                                           r"optimizer alone need .*; "
                                                           r"nearest came -")

    def test_a_stopped_training_ends_with_equal_bits(self):
        def train(folder, updates, *words):
            return self.document("train", "deep.lnet", "--data", "text:text.txt", "--shards", "2",
                                 "-t", "1", "--after", updates, "-o", folder, *words,
                                 schema="lstmc.train/1")["end"]["weights_hash"]
        want = train("whole", "4u")
        self.assertEqual(train("again", "4u", "--accumulate", "2", "--recompute", "steps=7"), want)
        train("stopped", "2u", "--accumulate", "2", "--recompute", "steps=7")
        self.assertEqual(
            train("stopped", "4u", "--resume", "--accumulate", "2", "--recompute", "steps"), want)


class Cluster(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "c.toml").write_text(CLUSTER)

    def test_auto_weighs_any_of_the_devices(self):
        net = SOURCE / "tests/bench/deep.lnet"
        taken = {}
        for name, most in [("even", 0.175), ("strong-first", 0.109), ("slow-network", 0.118),
                           ("fast-network", 0.118), ("weak-first", 0.298),
                           ("small-second", 0.299)]:
            plan = self.document("plan", net, "--cluster", HERE / f"clusters/{name}.toml",
                                 "--place", "auto", schema="lstmc.plan/1")
            taken[name] = plan["layouts"][0]
            self.assertTrue(plan["fits"])
            self.assertLessEqual(plan["forecast"]["update_s"], most, name)
            self.assertAlmostEqual(plan["forecast"]["update_s"], taken[name]["time_s"], places=9)
            self.assertEqual([d["device"] for d in plan["devices"]], taken[name]["names"])
            self.assertLess(len(plan["layouts"]), 24)  # fewer than all possible ones
        self.assertEqual(taken["strong-first"]["work_loads"], [6, 2])
        self.assertEqual(taken["slow-network"]["devices"], 4)
        self.assertEqual(taken["weak-first"]["names"][0], "cpu:1")
        self.assertEqual(taken["small-second"]["names"], ["cpu:0"])

    def test_layouts_are_weighed_by_their_devices(self):
        (self.folder / "deep.lnet").write_text(DEEP.replace("16", "128"))
        two = ('[[device]]\nname = "cpu:0"\nmemory = "1G"\nflops_per_s = %g\nbytes_per_s = %g\n'
               '[[device]]\nname = "cpu:1"\nmemory = "1G"\n')
        (self.folder / "fast.toml").write_text(two % (1e12, 1e12))
        (self.folder / "even.toml").write_text(two % (8e10, 4e10))
        for name, devices, words in [("fast", 1, []), ("even", 2, []),
                                     ("fast", 1, ["-d", "cpu:1,cpu:0"])]:
            plan = self.document("plan", "deep.lnet", "--cluster", f"{name}.toml",
                                 "--place", "auto", *words, schema="lstmc.plan/1")
            best = plan["layouts"][0]
            self.assertEqual(best["names"], ["cpu:0", "cpu:1"][:devices], plan["layouts"])
            self.assertAlmostEqual(best["time_s"], plan["forecast"]["update_s"], places=9)

    def test_devices_of_the_file(self):
        plan = self.document("plan", "small.lnet", "--cluster", "c.toml", schema="lstmc.plan/1")
        self.assertEqual([d["capacity_bytes"] for d in plan["devices"]], [1 << 30, 1 << 20])
        # Every exchange includes the link's latency.
        self.assertGreater(plan["forecast"]["update_s"], 0.25)
        self.assertEqual(plan["forecast"]["rates"], "c.toml")
        self.assertLess(plan["forecast"]["speedup"], 0.1)
        one = self.document("plan", "small.lnet", "--cluster", "c.toml", "-d", "cpu:1",
                            schema="lstmc.plan/1")
        self.assertEqual([(d["device"], d["capacity_bytes"]) for d in one["devices"]],
                         [("cpu:1", 1 << 20)])

    def test_parts_of_a_gpu_have_its_row(self):
        where = ["plan", SOURCE / "samples/stacked.lnet", "--set", "layers=1",
                 "--cluster", SOURCE / "samples/gpus.toml"]
        both = self.document(*where, "-d", "gpu:0,0", schema="lstmc.plan/1")
        self.assertEqual([d["device"] for d in both["devices"]], ["gpu:0", "gpu:0.1"])
        # They share the memory of one GPU.
        peaks = [d["peak_bytes"] for d in both["devices"]]
        self.assertEqual([d["capacity_bytes"] for d in both["devices"]],
                         [80 * 10**9 - peaks[1], 80 * 10**9 - peaks[0]])
        # the H100's way: its weights fit on the chip, the L4's do not
        self.assertEqual({row["way"] for row in both["recurrences"]}, {"on-chip"})
        done = self.run_here(*where, "-d", "gpu:0,2")
        self.assertEqual((done.returncode, done.stderr),
                         (2, "error[E0001]: --devices has gpu:2, which the cluster has not\n"))

    def test_a_gpu_that_is_not_here(self):
        where = ["plan", SOURCE / "samples/stacked.lnet", "--set", "layers=1",
                 "--cluster", SOURCE / "samples/gpus.toml"]
        ways = {}
        for device in "gpu:0", "gpu:1":
            plan = self.document(*where, "-d", device, schema="lstmc.plan/1")
            ways[device] = [
                (r["layer"], r["direction"], r["way"], r["blocks"], r["sequences"], r["clusters"])
                for r in plan["recurrences"]]
            for row in plan["recurrences"]:
                # also a launch, and the inputs' gradients of backward
                self.assertAlmostEqual(row["time_s"], row["steps"] * row["step_s"],
                                       delta=row["time_s"] / 2)
            self.assertEqual(plan["devices"][0]["capacity_bytes"],
                             {"gpu:0": 80 * 10**9, "gpu:1": 20 << 30}[device])
        self.assertEqual(ways["gpu:0"], [("lstm0", "forward", "on-chip", 16, 4, 8),
                                         ("lstm0", "backward", "on-chip", 4, 1, 32)])
        self.assertEqual(ways["gpu:1"],
                         [("lstm0", d, "step-by-step", 1, 32, 1) for d in ("forward", "backward")])
        said = self.good(*where, "-d", "gpu:0").stdout
        self.assertRegex(said, r"(?m)^recurrence gpu:0 lstm0 forward: on chip, 8 clusters of 16 "
                               r"blocks, 4 sequences each, [\d.]+ µs a step$")
        # 576 bytes for each of 2,048 threads on 132 multiprocessors; 5,120 if fused programs are
        # interpreted.
        self.assertEqual(self.document(*where, "-d", "gpu:0",
                                       schema="lstmc.plan/1")["devices"][0]["driver_bytes"],
                         {"compiled": 576 * 2048 * 132, "interpreted": 5120 * 2048 * 132})
        many = self.document(*where, "-d", "gpu:0", "--fast", "bf16", "--shards", "16",
                             schema="lstmc.plan/1")
        self.assertEqual(many["devices"][0]["driver_bytes"]["compiled"], 1792 * 2048 * 132)
        self.assertRegex(
            said, r"(?m)^driver    gpu:0 up to 148.5 MiB beside the plan, for the driver's local "
                  r"memory of kernels; 1.29 GiB where NVRTC is missing$")
        self.assertNotIn("driver_bytes",
                         self.document("plan", "small.lnet", schema="lstmc.plan/1")["devices"][0])
        self.assertNotIn("recurrence", self.good("plan", "small.lnet").stdout)
        hosts = '[[host]]\nname = "node"\ncount = 2\ndevices = "gpu"\nkind = "A100"\n'
        (self.folder / "c.toml").write_text(hosts)
        plan = self.document("plan", "small.lnet", "--cluster", "c.toml", schema="lstmc.plan/1")
        self.assertEqual([d["capacity_bytes"] for d in plan["devices"]], [80 * 10**9] * 2)

    def test_more_parts_take_no_more_memory(self):
        peaks = [self.document("plan", SOURCE / "samples/char_lm.lnet", "-b", "64",
                               "--set", "hidden=64", "--accumulate", str(parts),
                               schema="lstmc.plan/1")["devices"][0]["peak_bytes"]
                 for parts in (1, 2, 4, 8, 16)]
        self.assertEqual(peaks, sorted(peaks, reverse=True))
        self.assertLess(peaks[3], 0.6 * peaks[0])

    def test_only_what_does_not_fit_is_an_error(self):
        done = self.run_here("plan", "small.lnet", "--cluster", "c.toml", "--set", "hidden=180")
        self.assertEqual(done.returncode, 4)
        self.assertEqual(
            re.findall(r"error\[E0401\]: the plan needs .* on (cpu:\d), ", done.stderr), ["cpu:1"])
        self.assertRegex(done.stdout, r"(?m)^cpu:1 .*\n +does not fit: ")

    def test_what_is_refused(self):
        for text, code, message in [
                ("x = 3\n", "E0604", 'found "x" outside of [[device]], [[link]] and [[host]]'),
                ("", "E0604", "found no [[device]] and no [[host]], want one"),
                ("[[devise]]\nname = \"cpu:0\"\n",
                 "E0604", "found [[devise]], want [[device]], [[link]] and [[host]]"),
                ("[[device]]\nname = \"cpu:0\"\n", "E0604", "a [[device]] without memory"),
                (CLUSTER.replace('"1G"', '"lots"'),
                 "E0604", 'memory of cpu:0: found "lots", want bytes'),
                (CLUSTER.replace("2e11", "0"),
                 "E0604", 'flops_per_s of a [[device]]: found "0", want a number above 0'),
                (CLUSTER.replace("flops_per_s", "flop_per_s"),
                 "E0604", 'it has name, kind, memory, flops_per_s, bytes_per_s, launch_s; did you '
                          'mean "flops_per_s"?'),
                (CLUSTER.replace('name = "cpu:1"', 'name = "cpu:0"'),
                 "E0612", "device cpu:0 stands twice"),
                (CLUSTER.replace('"cpu:0", "cpu:1"', '"cpu:0", "cpu:7"'),
                 "E0604", "a [[link]] names cpu:7, which is no [[device]]"),
                (CLUSTER.replace('"cpu:0", "cpu:1"', '"cpu:0"'),
                 "E0604", "`between` of a [[link]] has 1 devices, want two"),
                ('[[device]]\nname = "gpu:0"\nkind = "H20"\n',
                 "E0604", 'kind of a [[device]]: found "H20", want one of H100, H200, A100, L4'),
                ('[[device]]\nname = "cpu:0"\nkind = "H200"\n',
                 "E0604", 'kind of a [[device]]: found "H200", want none: only a gpu has a kind'),
                (CLUSTER.replace("[[link]]", "[[link"), "E060", "")]:
            (self.folder / "c.toml").write_text(text)
            done = self.run_here("plan", "small.lnet", "--cluster", "c.toml")
            self.assertEqual(done.returncode, 6, text)
            self.assertRegex(done.stderr, rf"c\.toml(:\d+:\d+)?: error\[{code}")
            self.assertIn(message, done.stderr)
        self.assertEqual(self.run_here("plan", "small.lnet", "--cluster", "none.toml").returncode,
                         6)
        (self.folder / "c.toml").write_text(CLUSTER)
        done = self.run_here("plan", "small.lnet", "--cluster", "c.toml", "-d", "3xcpu")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--devices has cpu:2, which the cluster has not", done.stderr)


if __name__ == "__main__":
    unittest.main()
