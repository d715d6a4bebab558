"""Emulated GPUs (backends/cuda): training has the bits of a cpu, and a real GPU that is missing is
refused."""
import json
import re
import unittest

from command import Case

LEARN = ["train", "small.lnet", "--data", "text:text.txt,valid=0.2"]


class Emu(Case):
    def trained(self, folder, *words):
        """Trains and returns the hash of the final weights."""
        return self.good(*LEARN, "-o", folder,
                         "--force", *words).stdout.split("weights ")[1].split()[0]

    def test_they_are_listed_on_request(self):
        def names(*flags):
            return {d["name"]: d["level"]
                    for d in self.document("devices", *flags, schema="lstmc.devices/1")["devices"]}

        self.assertNotIn("emu:0", names())
        self.assertEqual(names("--all")["emu:0"], "sm_90")
        self.assertIn("its times say nothing", self.good("devices", "--all").stdout)

    def test_training_gives_the_hash_of_a_cpu(self):
        alone = self.trained("cpu", "-d", "cpu")
        self.assertEqual(self.trained("emu", "-d", "emu:0"), alone)
        self.assertEqual(self.trained("two", "-d", "2xemu", "--check-replicas", "2"), alone)
        self.assertEqual(self.trained("mixed", "-d", "cpu:0,emu:0", "--check-replicas", "2"), alone)

    def test_one_gpu_may_be_several_devices(self):
        alone = self.trained("cpu", "-d", "cpu")
        for number, flags in enumerate((["emu:0,0", "--check-replicas", "2"],
                                        ["emu:0,0", "--place", "auto=2", "--chunks", "2"],
                                        ["emu:1,0,1", "--kv-store", "device"], ["cpu:0,emu:0,0"])):
            self.assertEqual(self.trained(f"emu{number}", "-d", *flags), alone, flags)
        grouped = "\n".join(("    with ctx_group('a'):\n    " + line) if "LSTM" in line else line
                            for line in (self.folder / "small.lnet").read_text().splitlines())
        (self.folder / "grouped.lnet").write_text(grouped + "\n")
        done = self.good("plan", "grouped.lnet", "-d", "emu:0,0", "--place", "a=emu:0.1", "--json")
        document = json.loads(done.stdout)
        self.assertEqual([device["device"] for device in document["devices"]], ["emu:0", "emu:0.1"])
        self.assertEqual([row["device"] for row in document["placement"]], ["emu:0.1"])
        done = self.run_here("plan", "small.lnet", "-d", "cpu:0,0")
        self.assertEqual(done.returncode, 2)
        self.assertIn("found cpu:0 twice, want each cpu once", done.stderr)

    def test_gpus_that_are_no_peers_and_parts_of_gpus_train_to_the_same_bits(self):
        alone = self.trained("cpu", "-d", "cpu")
        for number, (name,
                     value) in enumerate((("PEERS", "0"), ("CLUSTER", "4"), ("CLUSTER", "1"))):
            with self.subTest(name=name, value=value):
                done = self.good(*LEARN, "-o", f"emu{number}", "-d", "2xemu", "--set", "hidden=6",
                                 env={"LSTMC_EMU_" + name: value})
                self.assertIn("weights " + alone, done.stdout)

    def test_what_does_not_fit_on_a_gpu_is_refused_before_memory_is_taken(self):
        def peaks(*words, memory=1 << 30):
            done = self.run_here("plan", "small.lnet", "--json", *words,
                                 env={"LSTMC_EMU_MEMORY": str(memory)})
            devices = json.loads(done.stdout)["devices"]
            return done.returncode, [device["peak_bytes"] for device in devices], [
                device["capacity_bytes"] for device in devices]

        # a plan that does not fit has one buffer per input
        one = peaks("-d", "emu:0", "--streams", "1", memory=1)[1][0]
        self.assertLess(one, peaks("-d", "emu:0", "--streams", "1")[1][0])
        env = {"LSTMC_EMU_MEMORY": str(one - 1)}
        self.assertEqual(peaks("-d", "emu:0"), (0, [peaks("-d", "emu:0")[1][0]], [1 << 30]))
        self.assertEqual(peaks("-d", "emu:0", memory=one), (0, [one], [one]))  # with one stream
        self.assertEqual(peaks("-d", "emu:0", memory=one - 1), (4, [one], [one - 1]))
        planned = self.run_here("plan", "small.lnet", "-d", "emu:0", env=env)
        self.assertEqual(planned.returncode, 4)
        self.assertRegex(
            planned.stderr, r"error\[E0401\]: the plan needs .* on emu:0, which may use ")
        trained = self.run_here(*LEARN, "-d", "emu:0", "-o", "refused", env=env)
        self.assertEqual(trained.returncode, 4)
        self.assertIn(f"error[E0401]: the plan needs {one} bytes on emu:0, which has {one - 1}",
                      trained.stderr)
        self.good(*LEARN, "-d", "emu:0", "-o", "fits", env={"LSTMC_EMU_MEMORY": str(one)})
        # Two devices of one GPU share its memory.
        first, second = peaks("-d", "emu:0,0", "--streams", "1", memory=2)[1]
        both = ["-d", "emu:0,0", "--streams", "1"]
        self.assertEqual(peaks(*both, memory=first + second), (0, [first, second], [first, second]))
        self.assertEqual(peaks(*both, memory=first + second - 1),
                         (4, [first, second], [first - 1, second - 1]))
        trained = self.run_here(*LEARN, *both, "-o", "refused",
                                env={"LSTMC_EMU_MEMORY": str(first + second - 1)})
        self.assertIn(f"the plan needs {first + second} bytes on emu:0, which has "
                      f"{first + second - 1}", trained.stderr)

    def test_launches_are_on_several_streams_where_they_fit(self):
        def plan(*words):
            # with fewer units the layer's scratch memory is the largest
            done = self.run_here("plan", "small.lnet", "--json", "--set", "hidden=16", *words)
            device = json.loads(done.stdout)["devices"][0]
            return done.returncode, device["peak_bytes"]

        def streams(*words):
            said = self.good("inspect", "small.lnet", "--emit", "exec", *words).stdout
            return 1 + max(map(int, re.findall(r"stream = (\d+)", said)), default=0)

        self.assertEqual(streams("-d", "cpu"), 1)
        self.assertEqual(streams("-d", "emu:0"), 3)
        self.assertEqual(streams("-d", "emu:0", "--streams", "1"), 1)
        self.assertEqual(streams("-d", "cpu", "--streams", "2"), 2)
        # Inputs are double-buffered if that fits; if giving it up does not suffice, there is one
        # stream.
        several = plan("-d", "emu:0")[1]
        self.assertEqual(plan("-d", "emu:0", "--mem", several), (0, several))
        fits, single = plan("-d", "emu:0", "--mem", several - 1)
        self.assertEqual((fits, several - single),
                         (0, plan("-d", "emu:0", "--streams", "1")[1]
                          - plan("-d", "emu:0", "--streams", "1", "--mem", "1")[1]))
        fits, one = plan("-d", "emu:0", "--mem", single - 1)
        self.assertEqual(fits, 0)
        self.assertLess(one, single)
        self.assertEqual(plan("-d", "emu:0", "--mem", one), (0, one))
        self.assertEqual(plan("-d", "emu:0", "--mem", one, "--streams", "3")[0], 4)
        two = plan("-d", "2xemu")[1]
        fits, less = plan("-d", "2xemu", "--mem", two - 1)
        self.assertEqual(fits, 0)
        self.assertLess(less, two)
        done = self.run_here("run", "small.lnet", "-i", "data=0", "--streams", "9")
        self.assertEqual((done.returncode, done.stderr),
                         (2, "error[E0001]: --streams takes 0 to 8, got 9\n"))

    def test_an_update_that_failed_is_kept_with_its_own_batch(self):
        """The error is found after the next batch has been filled in."""
        kept = []
        for device in "cpu", "emu:0":
            done = self.run_here(*LEARN, "-d", device, "-o", "failed-" + device[:3], "--lr", "3e38",
                                 "--fit", "optimizer=sgd", "--fit", "wd=3")
            self.assertEqual(done.returncode, 7, done.stderr)
            folder = next((self.folder / ("failed-" + device[:3])).glob("nan-*"))
            kept.append((folder.name, (folder / "update.npz").read_bytes()))
        self.assertEqual(kept[0], kept[1])

    def test_the_number_of_streams_changes_no_bit(self):
        alone = self.trained("cpu", "-d", "cpu")
        for number in "1", "2", "8":
            self.assertEqual(self.trained("emu" + number, "-d", "emu:0", "--streams", number),
                             alone)
        self.assertEqual(self.trained("cpus", "-d", "2xcpu", "--streams", "3"), alone)

    def test_the_planned_memory_is_what_the_card_was_asked_for(self):
        [peak] = self.document("run", "small.lnet", "-i", "data=random:3", "-d", "emu:0",
                               schema="lstmc.run/1")["peak"]
        self.assertEqual(peak["planned_bytes"], peak["measured_bytes"])

    def test_who_looks_on_changes_no_bit_on_any_devices(self):
        """Two layers on two devices: the first value that is sent was just copied in by the
        host."""
        grouped = "\n".join(("    with ctx_group('g0'):\n    " + line) if "LSTM" in line
                            else ("    with ctx_group('g1'):\n        x = Dropout(x, p=0.3)\n"
                                  "        x, h2 = GRU(x, num_hidden=3, name='gru')\n    " + line)
                            if "FullyConnected" in line else line
                            for line in (self.folder / "small.lnet").read_text().splitlines())
        (self.folder / "grouped.lnet").write_text(
            grouped.replace("carry=", "clip_gradient_norm=1.0, carry=") + "\n")
        learn = ["train", "grouped.lnet", "--data", "text:text.txt,valid=0.2", "--after", "2u",
                 "--force", "-o"]
        hashes, outputs = {}, {}
        for devices in "cpu", "emu:0", "2xemu", "3xemu", "emu:0,0", "cpu:0,emu:0":
            for setting in [], ["--streams", "1"], ["--trace", "t.json"]:
                for observer in [], ["--check-nan"], ["--monitor", "*"], [
                        "--check-nan", "--monitor", "*"]:
                    if not setting or observer[:1] != ["--check-nan"]:
                        done = self.good(*learn, "looked", "-d", devices, *setting, *observer)
                        hashes[(devices, *setting,
                                *observer)] = done.stdout.split("weights ")[1].split()[0]
            # one thread runs all devices in the second
            for engine in [], ["--engine", "naive"], ["--check-nan"], ["--verbose-ops"]:
                outputs[(devices, *engine)] = self.good(
                    "run", "grouped.lnet", "-i", "data=random:3", "-d", devices, *engine).stdout
            plain, looked = (self.document("eval", "looked", "--data", "text:text.txt",
                                           "-d", devices, *observer, schema="lstmc.eval/1")["loss"]
                             for observer in ([], ["--check-nan"]))
            self.assertEqual(plain, looked, devices)
        self.assertEqual(len(set(hashes.values())), 1, hashes)
        self.assertEqual(len(set(outputs.values())), 1, outputs)

    def test_times_are_said_to_mean_nothing(self):
        said = "emulated GPUs are for correctness"
        for words in (["run", "small.lnet", "-i", "data=random:3"], ["plan", "small.lnet"],
                      ["bench", "small.lnet", "-r", "1"]):
            self.assertIn(said, self.good(*words, "-d", "emu:0").stderr, words)
            self.assertNotIn(said, self.good(*words, "-d", "cpu").stderr, words)

    def test_no_text_has_a_time_of_an_emulated_gpu(self):
        a_time = r"(?<!p9)\d (µs|ms|s)\b|\d labels/s(?!=)|labels/s=\d|calibrate|[+-]\d+ %"
        plan = ["plan", "small.lnet", "--measured"]
        train = [*LEARN, "--force", "--disp-every", "1u", "-o"]
        for words in (plan, [*plan, "--place", "auto"], [*train, "a"],
                      ["bench", "small.lnet", "-r", "1", "-q"]):
            done = self.good(*words, "-d", "emu:0")
            self.assertNotRegex(done.stdout + done.stderr, a_time, words)
            self.assertIn("-", done.stdout)
        self.assertIn("forecast  - of an emulated GPU", self.good(*plan, "-d", "emu:0").stdout)
        self.assertRegex(self.good(*plan, "-d", "cpu").stdout, a_time)
        self.assertRegex(self.good(*train, "b", "-d", "cpu").stderr, r"labels/s=\d")
        self.assertIn("labels/s=- ", self.good(*train, "b", "-d", "cpu:0,emu:0").stderr)
        row = self.good("bench", "small.lnet", "-r", "1", "-d", "emu:0").stdout.splitlines()[-1]
        self.assertEqual(row.split("|")[7:-1], [" - "] * 8)

    def test_documents_say_that_a_gpu_is_emulated(self):
        def of(*words, schema):
            emulated, real = (self.document(*words, "-d", device, schema=schema)
                              for device in ("emu:0", "cpu"))
            return emulated, real

        emulated, real = of("plan", "small.lnet", "--measured", schema="lstmc.plan/1")
        self.assertEqual((emulated["emulated"], emulated["forecast"]["update_s"],
                          "measured_seconds" in emulated),
                         (True, None, False))
        self.assertNotIn("emulated", real)
        self.assertGreater(real["forecast"]["update_s"], 0)
        emulated, real = of("bench", "small.lnet", "-r", "1", schema="lstmc.bench/1")
        self.assertEqual([cell["emulated"] for cell in emulated["cells"] + real["cells"]],
                         [True, False])
        emulated, real = of("run", "small.lnet", "-i", "data=random:3", schema="lstmc.run/1")
        self.assertEqual((emulated["emulated"], "emulated" in real), (True, False))
        emulated, real = of(*LEARN, "-o", "a", "--force", schema="lstmc.train/1")
        self.assertEqual((emulated["start"]["emulated"], emulated["end"]["emulated"],
                          emulated["start"]["plan"]["emulated"]),
                         (True, True, True))
        self.assertNotIn("emulated", {**real["start"], **real["end"], **real["start"]["plan"]})
        rates = [json.loads(line)
                 for line in self.good(*LEARN, "-o", "a", "--force", "-d", "emu:0", "--disp-every",
                                       "1u", "--format", "jsonl").stdout.splitlines()]
        self.assertEqual({line["labels_per_s"] for line in rates if line["event"] == "update"},
                         {None})
        self.good("bench", "small.lnet", "-r", "1", "-d", "emu:0", "--trace", "t.json")
        self.assertIn("emu:0 (emulated)", (self.folder / "t.json").read_text())

    def test_a_package_for_an_emulated_gpu_is_known_by_its_devices(self):
        self.good("compile", "small.lnet", "-d", "emu:0", "-o", "e.lstmc")
        self.assertIn("| - | - |", self.good("bench", "e.lstmc", "-r", "1").stdout)

    def test_an_emulated_gpu_is_not_calibrated(self):
        env = {"LSTMC_CACHE_DIR": str(self.folder / "cache")}
        done = self.good("bench", "small.lnet", "-r", "1", "-d", "emu:0", "--calibrate", env=env)
        self.assertIn("so --calibrate measures nothing", done.stderr)
        self.assertFalse((self.folder / "cache" / "machine.json").exists())

    def test_a_gpu_needs_a_driver(self):
        done = self.run_here("run", "small.lnet", "-i", "data=0", "-d", "gpu:0")
        if done.returncode == 0:
            self.skipTest("this machine has a GPU")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertRegex(done.stderr, r"error\[E0501\]: .*(libcuda|GPU)")


if __name__ == "__main__":
    unittest.main()
