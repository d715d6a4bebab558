"""The networks of users, trained on data that the scripts beside them make."""
import re

import walk


class User(walk.Walk):
    cases = "user"

    def setUp(self):
        super().setUp()
        self.shell("for n in 1 2 5 7 8 9 10; do $PYTHON -B gen$n.py; done; "
                   "$PYTHON -B gen4.py > load.csv; $PYTHON -B gen6.py > reviews.csv; "
                   "cat $SOURCE/docs/*.md | tr -cd '[:print:]\\n' | head -c 60000 > all.txt",
                   where="nets")

    def metric(self, text, name):
        return float(re.findall(rf"\b{name} ([\d.e+-]+)", text)[-1])

    def trained(self, net, *words):
        """Trains as the file says, and returns what eval prints of its own validation data."""
        self.shell(f"$LSTMC train {net}.lnet {' '.join(words)} -o ck_{net}", where="nets")
        return self.shell(f"$LSTMC eval ck_{net}", where="nets")

    def test_taggers(self):
        for net in ("n1", "n1nl"):
            self.assertGreater(self.metric(self.trained(net), "accuracy"), 0.95)
        text = self.shell("$LSTMC predict ck_n1 --data npz:tagtest.npz -o p.npz", where="nets")
        self.says(text, "200 predictions")

    def test_two_languages(self):
        self.assertGreater(self.metric(self.trained("n2"), "accuracy"), 0.99)

    def test_a_language_model_samples(self):
        self.trained("n3", "--after", "30u")
        text = self.shell("$LSTMC sample ck_n3 --seed 1", where="nets")
        self.assertGreater(len(text), 50)

    def test_losses(self):
        for net, name, most in (("n5", "mse", 0.05), ("n7b", "loss", 0.5), ("n8", "mse", 0.05),
                                ("n9", "loss", 0.6)):
            with self.subTest(net):
                self.assertLess(self.metric(self.trained(net), name), most)
        self.shell("$LSTMC train n8.lnet --set kind=peep --after 3u -o ck_peep", where="nets")

    def test_siamese_networks_share_weights(self):
        for net in ("n10", "n10b", "n10c"):
            with self.subTest(net):
                self.assertLess(self.metric(self.trained(net), "loss"), 0.05)
        for net in ("n10d", "shared", "sharedg", "sharedg2"):
            self.shell(f"$LSTMC compile {net}.lnet -o {net}.lstmc", where="nets")
        self.shell("$LSTMC plot n10c.lnet -o n10c.svg", where="nets")
        self.assertNotIn(" E0", self.script("nets/siam.py"))
        text = self.script("nets/siam2.py")
        for line in text.splitlines():
            if line.startswith("l_"):
                self.assertLess(float(line.split()[1]), 1e-6, text)

    def test_stages_have_the_bits_of_one_device(self):
        found = [re.search(r"weights ([0-9a-f]{16})", self.shell(
            f"$LSTMC train n11.lnet {words} --after 8u -o ck{i}", where="nets"))[1]
            for i, words in enumerate(("-d cpu --place low=cpu:0,high=cpu:0", "-d 2xcpu", ""))]
        self.assertEqual(len(set(found)), 1, found)

    def test_a_policy_learns(self):
        path = self.folder / "nets/rl.py"  # an output of the net reads the labels
        path.write_text(path.read_text().replace(
            '{"data": obs[:, t:t+1]}', '{"data": obs[:, t:t+1], "action_label": '
            'np.zeros((32, 1), "int32"), "return_label": np.zeros((32, 1), "f4")}').replace(
                'act.run({"data": np.zeros((32,1,2),"f4")})', "{}"))
        text = self.script("nets/rl.py")
        reward = re.findall(r"^300 (\S+)", text, re.M)
        self.assertGreater(float(reward[0]), 0.9, text)
        lines = self.script("nets/rl3.py").splitlines()
        for line in lines[1:]:
            self.assertLess(float(line.split()[1]), 1e-5, lines)

    def test_a_step_is_an_update_of_fit(self):
        path = self.folder / "adamstep.py"  # the order of a batch's rows is the order of its sums
        path.write_text(path.read_text().replace("seed=0, ", "seed=0, shuffle=False, "))
        text = self.script("adamstep.py")
        self.assertEqual(len(re.findall(r"fit moved", text)), 39)
        self.assertNotIn("DIFFERENT", text)
        self.script("modadam.py")

    def test_weights_of_classes(self):
        self.shell("""$PYTHON -c 'import numpy as np
r = np.random.default_rng(0)
np.savez("cw.npz", data=r.normal(size=(500, 4)).astype("f4"),
         label=r.integers(0, 3, 500))'""", where="nets")
        for net in ("n12", "n12b"):
            self.assertLess(self.metric(self.trained(net), "loss"), 3)
            text = self.shell(f"$LSTMC predict ck_{net} --data npz:cw.npz -o {net}.npz",
                              where="nets")
            self.says(text, "500 predictions")

    def test_messages_have_a_remedy(self):
        self.shell("sed -i 's/arange(S, dtype=\"int32\")/arange(S)/' n2.lnet; "
                   "sed -i 's/, init=Uniform(0.1))/)/g' n8.lnet", where="nets")
        for line, *says in (
                ("err/e2.lnet", r"help: .*x, h, c = \.\."),
                ("err/e31.lnet", r"help: .*x, h, c = LSTM\(\.\.\)"),
                ("err/e8.lnet", r"e8.lnet:2:33: .*\"label\" has none"),
                ("err/e4.lnet", r"data is float32\[1, 2\]", r"help: .*h\[-1\]"),
                ("err/e19.lnet", "help: here it is LinearRegressionOutput"),
                ("err/e22.lnet", "help: here it is True"),
                ("err/e36.lnet", "class_weight", "help: .*take", "early_stopping",
                 "help: .*--early-stop"),
                ("err/e23.lnet", "layout is TNC or NTC"),
                ("nets/n2.lnet", "help: x.astype"),
                ("nets/n8.lnet --set kind=peep", "help: give it another one: Variable")):
            with self.subTest(line):
                text = self.shell(f"$LSTMC compile {line} --dry-run", exit=3)
                self.says(text, *says)
                if "e23" in line:
                    self.assertEqual(text.count("error["), 1)
        text = self.shell("$LSTMC compile err/e32.lnet --dry-run")
        self.says(text, r"e32.lnet:3:15: warning\[W0319\].*layout=\"NTC\"")


if __name__ == "__main__":
    walk.main()
