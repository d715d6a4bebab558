"""options.def and the texts made from it."""
import re
import unittest

from command import Case, SOURCE, run, words_in_table

COMMANDS, FLAGS = words_in_table()


class Table(Case):
    def test_every_flag_is_in_help(self):
        for command in COMMANDS:
            self.assertEqual(run("help", command).stdout, run(command, "-h").stdout
                             if command != "opt" else run("help", command).stdout)
            text = run("help", command, "--all").stdout
            for flag in FLAGS:
                listed = re.search(rf"^ +(-{flag['letter'] or '.'}, )?--{flag['name']}( |$)",
                                   text, re.M)
                serves = any(command in f["commands"] for f in FLAGS if f["name"] == flag["name"])
                self.assertEqual(bool(listed), serves, f"{command} --{flag['name']}")

    def test_help_fits_on_a_screen(self):
        for command in COMMANDS:
            text = run("help", command).stdout
            self.assertLessEqual(max(len(line) for line in text.splitlines()), 100, command)
            self.assertLessEqual(len(text.splitlines()), 48, command)
            for flag in FLAGS:
                if command in flag["commands"] and command != "opt":
                    self.assertRegex(
                        text, rf"--{flag['name']}\b", f"{command}: no topic of help.def has it")
        lines = run("help", "train").stdout.splitlines()
        self.assertEqual([line.split()[-1] if line.startswith("  -") else line.split()[0]
                          for line in lines if re.match(r"  (-.,|   ) --", line)][0], "--data")
        self.assertEqual(sum(line.startswith("  lstmc train ") for line in lines), 2)

    def test_help_on_names(self):
        for name, said in [
                ("LSTM", ["LSTM(x, num_hidden, num_layers=1", "Returns (output, h, c)."]),
                ("Embedding", ["Embedding(data", "input_dim", "an integer, required"]),
                ("fit", ["learning_rate", "lr_scheduler", "clip_gradient_norm", "carry"]),
                ("data", ["text:FILE", "horizon=N", "of csv"]),
                ("metrics", ["top_k_accuracy_5", "perplexity", "of a regression output"]),
                ("adam", ["adam: an optimizer", "beta1 = 0.9", "for each element"]),
                ("Adam", ["adam: an optimizer"]), ("CosineScheduler", ["max_update"]),
                ("rmse", ["a metric of a regression output"]), ("ops", ["FullyConnected"]),
                ("Xavier", ["Xavier(rnd_type"]), ("lstm", ["LSTM(x, num_hidden"]),
                ("carry", ["fit(net, carry=..)"]), ("horizon", ["data(net, horizon=N)"]),
                ("words", ["foreach(step, data, states)"]), ("E0207", ["E0207: "]),
                ("W0319", ["E0319: "])]:
            text = self.good("help", name).stdout
            for part in said:
                self.assertIn(part, text, name)
            self.assertTrue(
                name[1:].isdigit() or max(len(line) for line in text.splitlines()) <= 100, name)
        done = self.run_here("help", "Embeding")
        self.assertEqual(done.returncode, 2)
        self.assertIn('there is no help on "Embeding"; did you mean "Embedding"?; there is '
                      'on every command', done.stderr)

    def test_help_knows_every_word_of_the_language(self):
        lnet = SOURCE / "frontend/lnet"
        words = re.findall(r'LSTMC_WORD\("(\w+)"', (lnet / "Words.def").read_text())
        functions = [name for file in ("Settings", "Foreach", "Variables") for name in
                     re.findall(r'\{"(\w+)", &', (lnet / f"net/{file}.cpp").read_text())]
        scopes = re.findall(r'\{"(\w+)", "\w*", Kind::',
                            (lnet / "net/Scopes.cpp").read_text())
        self.assertGreaterEqual(len(functions), 4)
        self.assertGreaterEqual(len(scopes), 4)
        # Custom is refused; those with _ are for layers.lnet alone
        public = {name for name in functions + scopes if name[0] != "_" and name != "Custom"}
        self.assertEqual(public - set(words), set())
        for word in words:
            text = self.good("help", word).stdout
            self.assertLessEqual(max(len(line) for line in text.splitlines()), 100, word)
            example = text.split("\n\n", 2)[2]
            (self.folder / f"{word}.lnet").write_text(
                "".join(line.removeprefix("    ") for line in example.splitlines(True)))
            more = ["-d", "2xcpu"] if word == "place" else []
            done = self.good("compile", f"{word}.lnet", *more, "-o", f"{word}.lstmc")
            self.assertNotIn("warning", done.stderr, word)

    def test_help_knows_every_key(self):
        fit, data = (self.good("help", name).stdout for name in ("fit", "data"))
        keys = re.findall(r'\{"(\w+)",\s+KeyKind',
                          (SOURCE / "frontend/lnet/net/TrainingDefaults.cpp").read_text())
        for key in keys:
            self.assertRegex(fit + data, rf"(?m)^  {key}\b",
                             key) if key not in ("train", "test") else None

    def test_every_flag_is_in_the_manual_page(self):
        text = run("help", "--man").stdout
        for flag in FLAGS:
            self.assertRegex(text, rf"\.B .*--{flag['name']}\b")
        for command in COMMANDS:
            self.assertIn(f".B {command} ", text)

    def test_every_flag_is_in_the_page(self):
        self.good("help", "--pages", ".")
        text = (self.folder / "flags.md").read_text()
        for flag in FLAGS:
            self.assertRegex(text, rf"\n\| `[^`]*--{flag['name']}[ `]")

    def test_a_letter_has_one_meaning(self):
        meaning = {}
        for flag in FLAGS:
            if flag["letter"]:
                self.assertEqual(meaning.setdefault(flag["letter"], flag["name"]), flag["name"])
        self.assertLessEqual(set(meaning), set("bcdhHiInoqrstvy"))

    def test_flags_are_refused_where_they_are_not_listed(self):
        for command in COMMANDS:
            if command == "opt":
                continue
            for flag in FLAGS:
                if (command in flag["commands"]
                    or any(f["name"] == flag["name"] and command in f["commands"] for f in FLAGS)):
                    continue
                done = run(command, f"--{flag['name']}", *(["1"] if flag["argument"] else []))
                self.assertEqual(done.returncode, 2, f"{command} --{flag['name']}")
                self.assertIn(f"lstmc {command} has no use for --{flag['name']}", done.stderr)

    def test_unknown_words_are_answered(self):
        for words, near in [
                (["tran"], "train"), (["train", "--optimiser", "adam"], "--optimizer"),
                (["help", "bnch"], "bench"), (["explain", "E0270"], None),
                (["plot", "small.lnet", "--what", "memmory"], "memory"),
                (["eval", "small.lnet", "--metric", "lost"], "loss"),
                (["compile", "small.lnet", "--dry-run", "--set", "hiden=3"], "hidden"),
                (["compile", "small.lnet", "--dry-run", "--optimizer", "nadamm"], "nadam"),
                (["compile", "small.lnet", "--dry-run", "--fit", "momentun=1"], "momentum"),
                (["compile", "small.lnet", "--dry-run", "--entry", "foward"], "forward"),
                (["compile", "small.lnet", "--dry-run", "--disable-pass", "fuze"], "fuse"),
                (["run", "small.lnet", "-i", "dta=0"], "data")]:
            done = self.run_here(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertEqual(done.stdout, "")
            if near:
                self.assertRegex(done.stderr, rf'did you mean "{near}"\?', words)

    def test_values_are_checked_before_anything_is_read(self):
        # There is no such file, which would be exit 6.
        for words, said in [
                (["compile", "none.lnet",
                  "--mem", "lots"], '--mem takes bytes (K, M, G are powers of 1,024), got "lots"'),
                (["train", "none.lnet", "--keep",
                  "1.5"], '--keep takes a count (K, M, G are powers of 1,000), got "1.5"'),
                (["train", "none.lnet", "--valid-every", "soon"], '--valid-every takes'),
                (["sample", "none.lnet",
                  "--temperature", "warm"], '--temperature takes a number, got "warm"'),
                (["plot", "none.lnet", "--shape", "data"], '--shape takes NAME:32x35, got "data"'),
                (["compile", "none.lnet",
                  "--set", "hidden"], '--set takes NAME=VALUE, got "hidden"'),
                (["compile", "none.lnet", "--dtype", "f16"], '--dtype takes f32 or f64, got "f16"'),
                (["compile", "none.lnet", "--limit", "nodes=few"], '--limit takes a count'),
                (["compile", "none.lnet",
                  "--work-load-list", "1,x"], '--work-load-list takes a count'),
                (["inspect", "none.lnet", "--emit", "xml"],
                 '--emit takes lnet, sym, module, exec or dot, got "xml"'),
                (["run", "none.lnet", "-t", "1,2"], '--threads takes a count'),
                (["bench", "none.lnet", "-t",
                  "1,two"], '--threads takes a count (K, M, G are powers of 1,000), got "two"')]:
            done = self.run_here(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn("error[E0001]: " + said, done.stderr)
        (self.folder / "a.toml").write_text("[train]\nkeep = \"all\"\n")
        for done in [self.run_here("train", "none.lnet", "-c", "a.toml"),
                     self.run_here("train", "none.lnet", env={"LSTMC_THREADS": "all"})]:
            self.assertEqual(done.returncode, 2)
            self.assertIn('takes a count (K, M, G are powers of 1,000), got "all"', done.stderr)

    def test_flags_may_stand_before_the_model(self):
        self.good("plan", "-t", "1", "--optimizer", "adam", "small.lnet", "-d", "2xcpu")
        self.good("plot", "--what", "memory", "small.lnet")
        self.good("compile", "-o", "net.lstmc", "small.lnet")
        self.assertIn("--lr is given 2 times",
                      self.run_here("train", "--lr", "1", "small.lnet", "--lr", "2").stderr)

    def test_bench_takes_lists(self):
        done = self.good("bench", "small.lnet", "--dry-run", "-b", "1,2", "-b", "3", "-t", "1,2",
                         "--entry", "forward,step", "--dtype", "f32,f64")
        self.assertIn("--dry-run (24 cells)", done.stderr)


class Config(Case):
    def test_dump_reads_back(self):
        words = ["train", "small.lnet", "--data", "text:text.txt,valid=0.2", "-o", "ck",
                 "--set", "hidden=7", "--lr", "0.5", "--num-epochs", "3"]
        text = self.good(*words, "--dump-config").stdout
        self.assertIn('# --after\nafter = "3e"\n', text)
        self.assertIn('set = ["vocab=5", "hidden=7", "batch=4", "seq=8"]', text)
        self.assertIn("# vocab: the data; hidden: --set; batch: small.lnet; seq: small.lnet\n",
                      text)
        self.assertIn('# built in\nkeep = "3"\n', text)
        (self.folder / "all.toml").write_text(text)
        again = self.good("train", "small.lnet", "-c", "all.toml", "--dump-config").stdout
        values = lambda dump: [line for line in dump.splitlines() if not line.startswith("#")]
        self.assertEqual(values(again), values(text))

    def test_what_beats_what(self):
        (self.folder / "a.toml").write_text(
            '[train]\nkeep = 7\nset = ["hidden=8"]\nseed = 4\n[eval]\nseed = 5\n')
        (self.folder / "b.toml").write_text('[train]\nkeep = 9\n')
        words = ["train", "small.lnet", "--dump-config"]
        self.assertIn('# a.toml\nkeep = "7"', self.good(*words, "-c", "a.toml").stdout)
        self.assertIn('# b.toml\nkeep = "9"',
                      self.good(*words, "-c", "a.toml", "-c", "b.toml").stdout)
        self.assertIn('# --keep\nkeep = "2"',
                      self.good(*words, "-c", "a.toml", "--keep", "2").stdout)
        self.assertIn('# a.toml\nseed = "4"', self.good(*words, "-c", "a.toml").stdout)
        self.assertIn('"hidden=8"', self.good(*words, "-c", "a.toml", "--set", "batch=2").stdout)
        self.assertIn('"hidden=9"', self.good(*words, "-c", "a.toml", "--set", "hidden=9").stdout)
        self.assertIn('# LSTMC_THREADS\nthreads = ["2"]',
                      self.good(*words, env={"LSTMC_THREADS": "2"}).stdout)
        self.assertIn('threads = ["3"]',
                      self.good(*words, "-t", "3", env={"LSTMC_THREADS": "2"}).stdout)
        self.assertIn('# a.toml\nkeep = "7"',
                      self.good(*words, env={"LSTMC_CONFIG": "a.toml"}).stdout)

    def test_unknown_names_are_refused(self):
        (self.folder / "a.toml").write_text("[train]\nkep = 7\n")
        done = self.run_here("train", "small.lnet", "-c", "a.toml")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, 'a.toml: error[E0001]: lstmc train has no flag "kep"; did '
                                      'you mean "--keep"?\n')


class Explain(Case):
    def test_every_code_has_a_page_with_an_example(self):
        codes = re.findall(r"^LSTMC_ERROR\((E\d+), (\w+)",
                           (SOURCE / "executor/base/Errors.def").read_text(), re.M)
        self.assertGreater(len(codes), 50)
        self.good("help", "--pages", ".")
        listed = (self.folder / "errors.md").read_text()
        for code, _ in codes:
            text = self.good("explain", code).stdout
            self.assertRegex(text, rf"^{code}: .+ \(exit \d+\)\n\n")
            self.assertRegex(text, r"(?m)^    \S", f"{code} has no example")
            self.assertIn(f"| [{code}](errors/{code}.md) | ", listed)
            self.assertIn(text.split("\n\n", 1)[1].strip(),
                          (self.folder / "errors" / f"{code}.md").read_text())


if __name__ == "__main__":
    unittest.main()
