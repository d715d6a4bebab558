"""--fast: deviations from exact numerics that a package permits by name, on emulated GPUs."""
import json
import re
import unittest

from command import SOURCE, Case

BOTH = """N, T = dim("batch", 3), dim("seq", 5)

def net(data: float32[T, N, 6]):
    x, h, c = LSTM(data, num_hidden=8, num_layers=2, bidirectional=True, name="lstm")
    y, h = GRU(x, num_hidden=20, name="gru")
    return y
"""
LEARN = ["train", "small.lnet", "--data", "text:text.txt,valid=0.2"]


class Fast(Case):
    def trained(self, folder, *words):
        """Trains and returns the last loss and the hash of the weights."""
        said = self.good(*LEARN, "-o", folder, "--force", *words).stdout
        return float(re.search(r"loss ([\d.]+)", said)[1]), said.split("weights ")[1].split()[0]

    def test_the_package_says_what_it_gives_up(self):
        for words, numerics in (([], "cpu-f32"), (["--numerics", "strict"], "cpu-f32"),
                                (["--fast", "bf16"], "cpu-f32+bf16"),
                                (["--fast", "cudnn,cublaslt,tf32"], "cpu-f32+tf32+cublaslt+cudnn"),
                                (["--fast", "fp16", "--dtype", "f64"], "cpu-f64+fp16")):
            self.good("compile", "small.lnet", "-o", "a.lstmc", "--force", *words)
            self.assertIn(f" {numerics}, ", self.good("inspect", "a.lstmc", "--summary").stdout)
        self.good("compile", "small.lnet", "-o", "b.lstmc")
        self.assertIn("numerics", self.run_here("diff", "a.lstmc", "b.lstmc").stdout)
        done = self.run_here("run", "a.lstmc", "-i", "data=random:3", "--fast", "bf16")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--fast changes what is compiled", done.stderr)

    def test_what_is_no_rule(self):
        for rule, said in (("bf17", '--fast knows tf32, bf16, fp16, cublaslt, cudnn, got "bf17"; '
                                    'did you mean "bf16"?'),
                           ("cublaslt,bf16,cudn", 'got "cudn"; did you mean "cudnn"?'),
                           ("bf16,cublaslt,tf32",
                            "--fast rounds to one of tf32, bf16, fp16, got bf16 and tf32"),
                           ("bf16,bf16", "--fast takes each rule once, got bf16 twice"),
                           ("cudnn,bf16,cudnn", "--fast takes each rule once, got cudnn twice")):
            done = self.run_here("plan", "small.lnet", "--fast", rule)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)
        done = self.run_here("plan", "small.lnet", "--fast", "bf16", "--numerics", "exact")
        self.assertEqual(done.returncode, 2)
        self.assertIn("want one of the two", done.stderr)

    def test_training_comes_near_to_the_exact_loss(self):
        loss, exact = self.trained("exact", "-d", "emu:0")
        # a cpu has no tensor cores
        self.assertEqual(self.trained("cpu", "-d", "cpu", "--fast", "bf16")[1], exact)
        # Rounding to bf16 has a relative error of 2^-8, and the loss is near log(5): six updates
        # teach the model little.
        for rule, unit in (("tf32", 2**-11), ("bf16", 2**-8), ("fp16", 2**-11)):
            fast, weights = self.trained(rule, "-d", "emu:0", "--fast", rule)
            self.assertNotEqual(weights, exact)
            self.assertAlmostEqual(fast, loss, delta=4 * unit)
            self.assertEqual(self.trained(rule, "-d", "emu:0", "--fast", rule)[1], weights)
            self.assertEqual(
                self.trained(rule, "-d", "2xemu", "--fast", rule, "--check-replicas", "2")[1],
                weights)
        done = self.run_here("train", "small.lnet", "--data", "text:text.txt,valid=0.2",
                             "-o", "bf16", "--resume", "-d", "emu:0")
        self.assertIn('numerics: found "cpu-f32+bf16", want "cpu-f32"', done.stderr)

    def test_a_library_comes_near_to_the_exact_loss(self):
        loss, exact = self.trained("exact", "-d", "emu:0")
        env = {"LSTMC_CACHE_DIR": str(self.folder / "cache")}
        train = [*LEARN, "-d", "emu:0", "--fast", "cublaslt", "--force", "-o"]
        first = self.good(*train, "library", env=env)
        self.assertRegex(first.stderr, r"(?m)^emu:0: cuBLASLt 13\.0\.2: a product of \d+ x \d+ x "
                                       r"\d+ by algorithm 2, \d+ bytes of workspace$")
        self.assertAlmostEqual(float(re.search(r"loss ([\d.]+)", first.stdout)[1]), loss,
                               delta=1e-3)
        weights = first.stdout.split("weights ")[1].split()[0]
        self.assertNotEqual(weights, exact)
        again = self.good(*train, "again", env=env)
        self.assertIn(f"weights {weights}", again.stdout)
        self.assertIn("as before", again.stderr)
        self.assertEqual(self.trained("cpu", "-d", "cpu", "--fast", "cublaslt")[1], exact)
        # Several devices and streams: the emulated driver reports products on one card that are not
        # ordered.
        for number, words in enumerate((["2xemu", "--check-replicas", "2"],
                                        ["emu:0,0", "--place", "auto=2", "--chunks", "2"],
                                        ["cpu:0,emu:0"], ["emu:0", "--streams", "1"])):
            self.assertAlmostEqual(
                self.trained(f"library{number}", "--fast", "cublaslt", "-d", *words)[0], loss,
                delta=1e-3)
        self.good("compile", "small.lnet", "-o", "c.lstmc", "--fast", "cublaslt", "-d", "emu:0")
        self.assertIn(" cpu-f32+cublaslt, ", self.good("inspect", "c.lstmc", "--summary").stdout)
        missing = self.run_here(*train, "missing", env={"LSTMC_EMU_CUBLASLT": "0"})
        self.assertEqual(missing.returncode, 5)
        self.assertIn("emu:0: --fast cublaslt: cuBLASLt was not found", missing.stderr)

    def test_a_library_rounds_as_a_rule_says(self):
        loss, exact = self.trained("exact", "-d", "emu:0")
        bf16, library = (self.trained("bf16", "-d", "emu:0", "--fast", "bf16")[1],
                         self.trained("library", "-d", "emu:0", "--fast", "cublaslt")[1])
        both = ["-d", "emu:0", "--fast", "bf16,cublaslt"]
        fast, weights = self.trained("both", *both)
        self.assertAlmostEqual(fast, loss, delta=4 * 2**-8)
        self.assertEqual(len({exact, bf16, library, weights}), 4)
        self.assertEqual(self.trained("again", *both), (fast, weights))
        self.assertRegex(
            self.good(*LEARN, "-o", "told", *both).stderr, r"cuBLASLt .*: a product of .* of "
                                                           r"operands rounded to bf16 "
                                                           r"by algorithm 2, ")
        self.assertEqual(self.trained("cpu", "-d", "cpu", "--fast", "bf16,cublaslt")[1], exact)
        done = self.run_here(*LEARN, "-o", "both", "--resume", "-d", "emu:0", "--fast", "bf16")
        self.assertIn('numerics: found "cpu-f32+bf16+cublaslt", want "cpu-f32+bf16"', done.stderr)
        # Validation uses cuDNN in f32, training the tensor cores.
        self.good("compile", "small.lnet", "-o", "all.lstmc", "-d", "emu:0",
                  "--fast", "cudnn,bf16,cublaslt")
        self.assertIn(" cpu-f32+bf16+cublaslt+cudnn, ",
                      self.good("inspect", "all.lstmc", "--summary").stdout)
        done = self.good("train", "all.lstmc", *LEARN[2:], "-o", "all")
        self.assertIn(f"weights {weights}", done.stdout)
        self.assertRegex(done.stderr, r"cuDNN .*by the persistent algorithm")
        self.assertAlmostEqual(float(re.search(r"loss ([\d.]+)", done.stdout)[1]), loss,
                               delta=4 * 2**-8)

    def test_layers_by_a_library_come_near_to_the_exact_loss(self):
        loss, exact = self.trained("exact", "-d", "emu:0")
        env = {"LSTMC_CACHE_DIR": str(self.folder / "cache")}
        train = [*LEARN, "-d", "emu:0", "--fast", "cudnn", "--force", "-o"]
        first = self.good(*train, "library", env=env)
        chosen = (r"(?m)^emu:0: cuDNN 9\.19\.0: lstm of 8 x 4 x 4, 6 units, by the persistent "
                  r"algorithm for small H, \d+ bytes of workspace")
        self.assertRegex(first.stderr, chosen + "$")
        self.assertRegex(first.stderr, r"(?m)^emu:0: cuDNN 9\.19\.0: lstm of 8 x 4 x 4, 6 units, "
                                       r"by our own kernels: its gates are kept for backward$")
        # Training uses our own layers, so the weights are those without the rule. The loss is that
        # of validation, by the library.
        self.assertEqual(first.stdout.split("weights ")[1].split()[0], exact)
        self.assertAlmostEqual(float(re.search(r"loss ([\d.]+)", first.stdout)[1]), loss,
                               delta=1e-3)
        again = self.good(*train, "again", env=env)
        self.assertEqual(again.stdout.replace("again", "library"), first.stdout)
        self.assertRegex(again.stderr, chosen + ", as before$")
        self.assertEqual(
            self.trained("two", "-d", "2xemu", "--fast", "cudnn", "--check-replicas", "2")[1],
            exact)
        missing = self.run_here(*train, "missing", env={"LSTMC_EMU_CUDNN": "0"})
        self.assertEqual(missing.returncode, 5)
        self.assertIn("emu:0: --fast cudnn: cuDNN was not found", missing.stderr)

    def test_outputs_of_a_library_come_near_to_the_exact_ones(self):
        (self.folder / "both.lnet").write_text(BOTH)
        run = ["run", "both.lnet", "-i", "data=random:3"]
        self.good(*run, "-d", "cpu", "-o", "y.npy")
        compared = [*run, "--expect-output", "gru_output=@y.npy"]
        self.good(*compared, "-d", "cpu", "--fast", "cudnn")
        # else the library was not used
        self.assertEqual(self.run_here(*compared, "-d", "emu:0", "--fast", "cudnn").returncode, 1)
        # Several cards, streams and chunks; the emulated driver checks the order of all work of a
        # card.
        for words in (["emu:0"], ["emu:0", "--repeat", "3"], ["2xemu"],
                      ["emu:0,0", "--place", "auto=2", "--chunks", "2"],
                      ["emu:0", "--streams", "1"], ["cpu:0,emu:0"]):
            done = self.good(*compared, "--fast", "cudnn", "--atol", "1e-5", "-d", *words)
            self.assertEqual(done.stderr.count("by our own kernels"), 0)
        [taken] = (
            json.loads(self.good(*run, "-d", "emu:0", "--fast", "cudnn", "--json").stdout)["peak"])
        self.assertEqual(taken["measured_bytes"], taken["planned_bytes"])
        self.good("compile", "both.lnet", "-o", "c.lstmc", "--fast", "cudnn", "-d", "emu:0")
        self.assertIn(" cpu-f32+cudnn, ", self.good("inspect", "c.lstmc", "--summary").stdout)

    def test_an_algorithm_that_is_refused_at_its_first_run_gives_way_to_the_next(self):
        (self.folder / "both.lnet").write_text(BOTH)
        run = ["run", "both.lnet", "-i", "data=random:3", "--fast", "cudnn", "-d", "emu:0",
               "--force", "-o"]
        places = [{"LSTMC_CACHE_DIR": str(self.folder / name)} for name in ("one", "two")]
        refused = {"LSTMC_EMU_CUDNN_REFUSES": "3"}  # the persistent algorithm for small H
        self.good(*run, "small.npy", env=places[0])
        # Runs after the first are graph launches.
        done = self.good(*run, "first.npy", "--repeat", "3", env=places[1] | refused)
        self.assertRegex(done.stderr, r"(?m)^emu:0: cuDNN .*, 8 units, by the persistent algorithm "
                                      r"for small H, \d+ bytes of workspace$")
        self.assertRegex(
            done.stderr, r"(?m)^emu:0: cuDNN .*, 8 units, by the standard algorithm, \d+ bytes of "
                         r"workspace, after another was refused: cudnnRNNForward: not supported$")
        kept = self.good(*run, "kept.npy", "--repeat", "3", env=places[1] | refused)
        self.assertNotIn("refused", kept.stderr)
        self.assertRegex(kept.stderr, r"(?m)^emu:0: cuDNN .*, 8 units, by the standard algorithm, "
                                      r"\d+ bytes of workspace, as before$")
        small, first, kept = ((self.folder / f"{name}.npy").read_bytes()
                              for name in ("small", "first", "kept"))
        self.assertEqual(first, kept)
        self.assertNotEqual(first, small)

    def test_a_plan_names_layers_of_a_library(self):
        where = ["plan", SOURCE / "samples/stacked.lnet", "--set", "layers=1",
                 "--cluster", SOURCE / "samples/gpus.toml", "-d", "gpu:0"]
        fast = self.document(*where, "--entry", "forward", "--fast", "cudnn", schema="lstmc.plan/1")
        exact = self.document(*where, "--entry", "forward", schema="lstmc.plan/1")
        self.assertEqual([row["way"] for row in fast["recurrences"]], ["library"])
        # the forecast does not know the library's time
        self.assertEqual(fast["forecast"]["forward_s"], exact["forecast"]["forward_s"])
        self.assertGreater(fast["devices"][0]["peak_bytes"],
                           exact["devices"][0]["peak_bytes"] + (4 << 20))
        trained = self.document(*where, "--fast", "cudnn", schema="lstmc.plan/1")
        self.assertNotIn("library", [row["way"] for row in trained["recurrences"]])
        self.assertRegex(self.good(*where, "--entry", "forward", "--fast", "cudnn")
                         .stdout, r"(?m)^recurrence gpu:0 lstm0 forward: cuDNN, taken to be as "
                                  r"fast as our own kernels, \S+ \S+ a step$")

    def test_the_plan_has_what_a_library_takes(self):
        peak = lambda *words: self.document("plan", "small.lnet", *words,
                                            schema="lstmc.plan/1")["devices"][0]["peak_bytes"]
        # The library's workspace; no other launch of so small a net needs nearly as much.
        self.assertGreater(peak("-d", "emu:0", "--fast", "cublaslt"), 4 << 20)
        self.assertLess(peak("-d", "emu:0"), 4 << 20)
        self.assertEqual(peak("-d", "cpu", "--fast", "cublaslt"), peak("-d", "cpu"))
        ran = self.run_here("run", "small.lnet", "-i", "data=random:3", "-d", "emu:0",
                            "--fast", "cublaslt", "--json")
        [taken] = json.loads(ran.stdout)["peak"]
        self.assertEqual(taken["measured_bytes"], taken["planned_bytes"])
        self.assertGreater(taken["planned_bytes"], 4 << 20)
        self.assertIn("emu:0: cuBLASLt", ran.stderr)
        self.assertNotIn("cuBLASLt", self.run_here("run", "small.lnet", "-i", "data=random:3", "-d",
                                                   "emu:0", "--fast", "cublaslt", "-q").stderr)

    def test_a_plan_foretells_tensor_cores(self):
        where = ["plan", SOURCE / "samples/stacked.lnet", "--set", "layers=1",
                 "--set", "hidden=256", "--cluster", SOURCE / "samples/gpus.toml"]
        exact = self.document(*where, "-d", "gpu:0", schema="lstmc.plan/1")
        fast = self.document(*where, "-d", "gpu:0", "--fast", "bf16", schema="lstmc.plan/1")
        self.assertEqual([row["way"] for row in fast["recurrences"]], ["tensor-cores"] * 2)
        self.assertLess(fast["forecast"]["update_s"], exact["forecast"]["update_s"])
        # The weights of 256 units exceed the shared memory of a block on the L4, which has no
        # clusters.
        small = self.document(*where, "-d", "gpu:1", "--fast", "bf16", schema="lstmc.plan/1")
        self.assertEqual([row["way"] for row in small["recurrences"]], ["step-by-step"] * 2)
        said = self.good(*where, "-d", "gpu:0", "--fast", "fp16").stdout
        self.assertRegex(said, r"(?m)^recurrence gpu:0 lstm0 forward: tensor cores, \d+ clusters "
                               r"of \d blocks, 8 sequences each")


if __name__ == "__main__":
    unittest.main()
