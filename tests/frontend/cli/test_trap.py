"""Memory that the host cannot access (backends/trap): every command has the results of a cpu; an
access from the host would be SIGSEGV."""
import unittest

from command import Case

LEARN = ["train", "small.lnet", "--data", "text:text.txt,valid=0.2"]
BIG = """\
def big(data: float32[2, 3], label: float32[2, 3]):
    w = Variable("w", shape=(3, 3), init=One())
    return LinearRegressionOutput(exp(FullyConnected(data, weight=w, num_hidden=3, no_bias=True)), label)
"""


class Trap(Case):
    def trained(self, folder, *words):
        """Trains and returns the hash of the final weights."""
        return self.good(*LEARN, "-o", folder, *words).stdout.split("weights ")[1].split()[0]

    def test_training_gives_the_hash_of_a_cpu(self):
        alone = self.trained("cpu", "-d", "cpu")
        self.assertEqual(self.trained("trap", "-d", "trap:0"), alone)
        self.assertEqual(self.trained("two", "-d", "2xtrap", "--check-replicas", "2"), alone)
        self.assertEqual(self.trained("nan", "-d", "trap:0", "--check-nan"), alone)
        for pair in ("cpu:0,trap:0", "trap:0,cpu:0"):  # neither can access the other's memory
            self.assertEqual(self.trained("mixed", "-d", pair, "--check-replicas", "2", "--force"),
                             alone, pair)
        for name in ("model", "optimizer", "states"):
            file = f"last/{name}.safetensors"
            self.assertEqual((self.folder / "trap" / file).read_bytes(),
                             (self.folder / "cpu" / file).read_bytes())
            self.assertEqual((self.folder / "two" / file).read_bytes(),
                             (self.folder / "cpu" / file).read_bytes())

    def test_a_run_that_was_stopped_goes_on(self):
        whole = self.trained("whole", "-d", "cpu")
        for count in ("trap:0", "2xtrap"):
            self.trained("parts", "-d", count, "--after", "3u", "--force")
            self.assertEqual(self.trained("parts", "-d", count, "--after", "6u", "--resume"),
                             whole, count)

    def test_what_is_learned_is_measured_and_sampled(self):
        self.trained("ck", "-d", "cpu")
        for words in (["eval", "ck", "--data", "text:text.txt"],
                      ["sample", "ck", "--length", "40", "--prime", "ab"]):
            cpu, trap = (self.good(*words, "-d", device, "-q").stdout
                         for device in ("cpu", "trap:0"))
            self.assertTrue(cpu)
            if words[0] == "sample":
                self.assertEqual(trap, cpu)
        measured = [self.document("eval", "ck", "--data", "text:text.txt", "-d", device,
                                  schema="lstmc.eval/1")
                    for device in ("cpu", "trap:0")]
        self.assertEqual(measured[0]["metrics"], measured[1]["metrics"])

    def test_inputs_go_in_and_outputs_come_out(self):
        cpu, trap = (self.document("run", "small.lnet", "-i", "data=random:3", "-d", device,
                                   schema="lstmc.run/1")
                     for device in ("cpu", "trap:0"))
        self.assertEqual(cpu["outputs"], trap["outputs"])
        self.good("run", "small.lnet", "-i", "data=random:3", "-d", "trap:0", "--verbose-ops")

    def test_the_first_value_that_is_not_finite_is_named(self):
        (self.folder / "big.lnet").write_text(BIG)
        said = []
        for device in ("cpu", "trap"):
            for words in (["run", "big.lnet", "-i", "data=100", "--check-nan"],
                          ["train", "big.lnet", "--data", "random:1", "--lr", "1e30",
                           "--after", "9u", "-o", device, "-q"]):
                done = self.run_here(*words, "-d", device)
                self.assertEqual(done.returncode, 7, done.stdout + done.stderr)
                self.assertRegex(done.stderr, r"big\.lnet:3:\d+: error\[E0701\]: first infinity")
                said.append(done.stderr.replace("trap", "cpu"))
        self.assertEqual(said[:2], said[2:])

    def test_no_list_offers_it(self):
        for words in (["devices"], ["help"], ["help", "train"], ["train", "-h"]):
            self.assertNotIn("trap", self.good(*words).stdout)


if __name__ == "__main__":
    unittest.main()
