"""The cases at the desk that are about right answers."""
import re

import walk


class Desk(walk.Walk):
    cases = "desk"

    def setUp(self):
        super().setUp()
        (self.folder / "samples").symlink_to(walk.SOURCE / "samples")

    def test_predict_has_the_rows_of_the_data(self):
        text = self.script("predict_rows.py")
        self.assertEqual(len(re.findall(r"100 samples -> predict \(100, 1\); "
                                        r"2 samples -> \(2, 1\); score labels 100", text)), 4, text)
        self.says(self.script("predict_tn.py", exit=1), "E0610.*no axis of it is the batch")

    def test_inputs_that_are_not_given_are_refused(self):
        self.says(self.script("stale_input.py", exit=1), r'length 1: ',
                  r'E0610.*array "length": found none')
        path = self.folder / "stale_input.py"  # the rest, each line by itself
        path.write_text("".join(
            f"try:\n    {line}" "except Exception as e: print(repr(e))\n"
            if line.startswith("print(") else line
            for line in path.read_text().splitlines(keepends=True)))
        text = self.script("stale_input.py")
        self.assertEqual(len(re.findall("Error.*E0", text)), 7, text)
        self.says(text, 'typo key.*"lenght"', "rows differ.*E0605", "rows differ.*E0605")

    def test_flags_have_an_effect_or_are_refused(self):
        text = self.script("ignored_flags.py")
        same = set(re.findall(r"^(\w+)=.*no change", text, re.M))
        self.assertEqual(same, {
            "tensorboard", "gradient_norms", "check_nan", "disp_every", "early_stop", "threads",
            "devices", "werror", "accumulate"}, text)
        self.assertRegex(text, r"tensorboard='tb': +no change tb")
        self.script("init_params.py")


if __name__ == "__main__":
    walk.main()
