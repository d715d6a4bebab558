"""No report changes an artifact: every sample is compiled and trained under each flag that only
tells of the work, and its packages and weights are those without it."""
import unittest

from command import Case, SOURCE, words_in_table

# Flags that go together, a line a run. Reports are written to files of their own.
REPORTS = [["-vv", "--log", "log.jsonl", "--trace", "trace.json", "--color", "always",
            "--progress", "always"],
           ["--json"],
           ["-q", "--format", "text"]]
OF_COMPILE = ["--print-pass-times"]
OF_TRAIN = ["--disp-every", "1u", "--monitor", ".*", "--tensorboard", "board", "--gradient-norms",
            "--metric", "loss", "--expect", "update>0"]
ALONE_OF_TRAIN = [["-v"], ["--gradient-norms"], ["--format", "jsonl"]]
# Common flags that change what is done, and not what is told of it.
OTHERS = {"config", "dump-config", "help", "werror", "dry-run", "force"}

TEXT = "text:text.txt"
TRAINED = {"char_lm": TEXT, "long_lm": TEXT, "word_lm": TEXT + ",unit=word", "stacked": "random:3",
           "tiny": "random:3", "mnist_rows": "random:3", "forecast": "random:3",
           "pollution": "random:3"}


class Reports(Case):
    def same(self, words, flags, artifacts):
        """Runs `words`, and again with each of the flags."""
        kept = None
        for flag in [[], *flags]:
            for path in artifacts:
                (self.folder / path).unlink(missing_ok=True)
            self.good(*words, *flag)
            found = [(self.folder / path).read_bytes() for path in artifacts]
            kept = kept or found
            sizes = [[len(file) for file in files] for files in (found, kept)]
            self.assertEqual(*sizes, f"{words} {flag}")
            self.assertTrue(found == kept, f"{words} {flag}")

    def test_every_flag_that_reports_is_tried(self):
        tried = {word[2:] for flag in REPORTS for word in flag if word.startswith("--")}
        _, flags = words_in_table()
        common = {flag["name"] for flag in flags
                  if {"compile", "train", "devices", "doctor"} <= set(flag["commands"])}
        self.assertEqual(common - OTHERS - tried, {"verbose", "quiet"})  # -v and -q

    def test_compile(self):
        flags = [REPORTS[0] + OF_COMPILE, *REPORTS[1:]]
        for sample in sorted((SOURCE / "samples").glob("*.lnet")):
            self.same(["compile", sample, "-o", "net.lstmc", "--force"], flags, ["net.lstmc"])

    def test_train(self):
        flags = [REPORTS[0] + OF_TRAIN, *REPORTS[1:], *ALONE_OF_TRAIN]
        for name, data in TRAINED.items():
            sample = SOURCE / f"samples/{name}.lnet"
            words = ["train", sample, "--data", data, "-o", "ck", "--after", "2u", "-b", "8", "-y"]
            for key, value in ("hidden", 6), ("seq", 12):
                if f'"{key}"' in sample.read_text():
                    words += ["--set", f"{key}={value}"]
            files = ["model.lstmc", "model.safetensors"]
            if data.startswith(TEXT):
                files.append("sample.lstmc")
            self.same(words, flags, [f"ck/update-000002/{file}" for file in files])


if __name__ == "__main__":
    unittest.main()
