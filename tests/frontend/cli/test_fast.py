"""--fast: rules of exact numerics that a package gives up by name, on emulated GPUs."""
import json
import re
import unittest

from command import SOURCE, Case

LEARN = ["train", "small.lnet", "--data", "text:text.txt,valid=0.2"]


class Fast(Case):
    def trained(self, folder, *words):
        """The last loss and the hash of the weights."""
        said = self.good(*LEARN, "-o", folder, "--force", *words).stdout
        return float(re.search(r"loss ([\d.]+)", said)[1]), said.split("weights ")[1].split()[0]

    def test_the_package_says_what_it_gives_up(self):
        for words, numerics in (([], "cpu-f32"), (["--numerics", "strict"], "cpu-f32"), (["--fast", "bf16"], "cpu-f32+bf16"),
                                (["--fast", "tf32,tf32"], "cpu-f32+tf32"), (["--fast", "fp16", "--dtype", "f64"], "cpu-f64+fp16")):
            self.good("compile", "small.lnet", "-o", "a.lstmc", "--force", *words)
            self.assertIn(f" {numerics}, ", self.good("inspect", "a.lstmc", "--summary").stdout)
        self.good("compile", "small.lnet", "-o", "b.lstmc")
        self.assertIn("numerics", self.run_here("diff", "a.lstmc", "b.lstmc").stdout)
        done = self.run_here("run", "a.lstmc", "-i", "data=random:3", "--fast", "bf16")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--fast changes what is compiled", done.stderr)

    def test_what_is_no_rule(self):
        for rule, said in (("bf17", '--fast knows tf32, bf16, fp16, cublaslt, got "bf17"; did you mean "bf16"?'),
                           ("cudnn", "--fast cudnn is not in this build, which has tf32, bf16, fp16, cublaslt"),
                           ("tf32,bf16", "--fast takes one of tf32, bf16, fp16, cublaslt, got tf32 and bf16")):
            done = self.run_here("plan", "small.lnet", "--fast", rule)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)
        done = self.run_here("plan", "small.lnet", "--fast", "bf16", "--numerics", "exact")
        self.assertEqual(done.returncode, 2)
        self.assertIn("want one of the two", done.stderr)

    def test_training_comes_near_to_the_exact_loss(self):
        loss, exact = self.trained("exact", "-d", "emu:0")
        self.assertEqual(self.trained("cpu", "-d", "cpu", "--fast", "bf16")[1], exact) # a cpu has no tensor cores
        # Rounding is relative, of 2^-8 in bf16, and the loss near to log(5): the model has learned little in six updates.
        for rule, unit in (("tf32", 2**-11), ("bf16", 2**-8), ("fp16", 2**-11)):
            fast, weights = self.trained(rule, "-d", "emu:0", "--fast", rule)
            self.assertNotEqual(weights, exact)
            self.assertAlmostEqual(fast, loss, delta=4 * unit)
            self.assertEqual(self.trained(rule, "-d", "emu:0", "--fast", rule)[1], weights)
            self.assertEqual(self.trained(rule, "-d", "2xemu", "--fast", rule, "--check-replicas", "2")[1], weights)
        done = self.run_here("train", "small.lnet", "--data", "text:text.txt,valid=0.2", "-o", "bf16", "--resume", "-d", "emu:0")
        self.assertIn('numerics: found "cpu-f32+bf16", want "cpu-f32"', done.stderr)

    def test_a_library_comes_near_to_the_exact_loss(self):
        loss, exact = self.trained("exact", "-d", "emu:0")
        env = {"LSTMC_CACHE_DIR": str(self.folder / "cache")}
        train = [*LEARN, "-d", "emu:0", "--fast", "cublaslt", "--force", "-o"]
        first = self.good(*train, "library", env=env)
        self.assertRegex(first.stderr, r"(?m)^emu:0: cuBLASLt 13\.0\.2: a product of \d+ x \d+ x \d+ by algorithm 2, \d+ bytes of workspace$")
        self.assertAlmostEqual(float(re.search(r"loss ([\d.]+)", first.stdout)[1]), loss, delta=1e-3)
        weights = first.stdout.split("weights ")[1].split()[0]
        self.assertNotEqual(weights, exact)
        again = self.good(*train, "again", env=env)
        self.assertIn(f"weights {weights}", again.stdout)
        self.assertIn("as before", again.stderr)
        self.assertEqual(self.trained("cpu", "-d", "cpu", "--fast", "cublaslt")[1], exact)
        # Several devices and streams; products on one card have an order, or the emulated driver would say so.
        for number, words in enumerate((["2xemu", "--check-replicas", "2"], ["emu:0,0", "--place", "auto=2", "--chunks", "2"], ["cpu:0,emu:0"], ["emu:0", "--streams", "1"])):
            self.assertAlmostEqual(self.trained(f"library{number}", "--fast", "cublaslt", "-d", *words)[0], loss, delta=1e-3)
        self.good("compile", "small.lnet", "-o", "c.lstmc", "--fast", "cublaslt", "-d", "emu:0")
        self.assertIn(" cpu-f32+cublaslt, ", self.good("inspect", "c.lstmc", "--summary").stdout)
        missing = self.run_here(*train, "missing", env={"LSTMC_EMU_CUBLASLT": "0"})
        self.assertEqual(missing.returncode, 5)
        self.assertIn("emu:0: --fast cublaslt: cuBLASLt was not found", missing.stderr)

    def test_the_plan_has_what_a_library_takes(self):
        peak = lambda *words: self.document("plan", "small.lnet", *words, schema="lstmc.plan/1")["devices"][0]["peak_bytes"]
        # The library's workspace, which no other launch of so small a net comes near to.
        self.assertGreater(peak("-d", "emu:0", "--fast", "cublaslt"), 4 << 20)
        self.assertLess(peak("-d", "emu:0"), 4 << 20)
        self.assertEqual(peak("-d", "cpu", "--fast", "cublaslt"), peak("-d", "cpu"))
        ran = self.run_here("run", "small.lnet", "-i", "data=random:3", "-d", "emu:0", "--fast", "cublaslt", "--json")
        [taken] = json.loads(ran.stdout)["peak"]
        self.assertEqual(taken["measured_bytes"], taken["planned_bytes"])
        self.assertGreater(taken["planned_bytes"], 4 << 20)
        self.assertIn("emu:0: cuBLASLt", ran.stderr)
        self.assertNotIn("cuBLASLt", self.run_here("run", "small.lnet", "-i", "data=random:3", "-d", "emu:0", "--fast", "cublaslt", "-q").stderr)

    def test_a_plan_foretells_tensor_cores(self):
        where = ["plan", SOURCE / "samples/stacked.lnet", "--set", "layers=1", "--set", "hidden=256", "--cluster", SOURCE / "samples/gpus.toml"]
        exact = self.document(*where, "-d", "gpu:0", schema="lstmc.plan/1")
        fast = self.document(*where, "-d", "gpu:0", "--fast", "bf16", schema="lstmc.plan/1")
        self.assertEqual([row["way"] for row in fast["recurrences"]], ["tensor-cores"] * 2)
        self.assertLess(fast["forecast"]["update_s"], exact["forecast"]["update_s"])
        # The weights of 256 units are more than a block of the L4 keeps, which has no clusters.
        small = self.document(*where, "-d", "gpu:1", "--fast", "bf16", schema="lstmc.plan/1")
        self.assertEqual([row["way"] for row in small["recurrences"]], ["step-by-step"] * 2)
        said = self.good(*where, "-d", "gpu:0", "--fast", "fp16").stdout
        self.assertRegex(said, r"(?m)^recurrence gpu:0 lstm0 forward: tensor cores, \d+ clusters of \d blocks, 8 sequences each")


if __name__ == "__main__":
    unittest.main()
