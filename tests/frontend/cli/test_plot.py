"""plot: every picture it draws, and what it refuses."""
import unittest

from command import Case


class Plot(Case):
    def test_a_picture_is_the_same_bytes(self):
        for words in [["--what", "schedule"], ["--show", "time,shapes"], ["--unfold", "time,layer"], ["--after", "fuse"],
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

    def test_what_is_refused(self):
        for words, message in [(["--after", "fuze"], 'got "fuze"; did you mean "fuse"?'),
                               (["--after", "fuse", "--disable-pass", "fuse"], "--after knows replicate, make-entries, "),
                               (["--after", "schedule", "--unfold", "time"], "there are only launches after schedule"),
                               (["--show", "tine"], 'got "tine"; did you mean "time"?'),
                               (["--unfold", "layers"], 'got "layers"; did you mean "layer"?'),
                               (["--what", "schedule", "-o", "x.dot"], "it is drawn as .svg, .png or .pdf, not as .dot"),
                               (["--what", "schedule", "--unfold", "time"], "--unfold is for --what network, not for schedule")]:
            done = self.run_here("plot", "small.lnet", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertEqual(done.stdout, "")
            self.assertIn("error[E0001]", done.stderr)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
