"""The cases after public reports, in the order of their README."""
import re

import walk

TL = '''
import numpy as np, torch, lstmc
from lstmc import sym
KINDS = {"weight_ih": "i2h_weight", "weight_hh": "h2h_weight",
         "bias_ih": "i2h_bias", "bias_hh": "h2h_bias"}
def pars(module, name):
    ours = {}
    for key, value in module.named_parameters():
        kind, layer = key.rsplit("_l", 1)
        back = layer.endswith("_reverse")
        layer = int(layer.removesuffix("_reverse"))
        at = name if layer == 0 and not back else f"{name}_{'r' if back else 'l'}{layer}"
        ours[f"{at}_{KINDS[kind]}"] = value.detach().numpy()
    return ours
def close(a, b, what):
    worst = np.abs(a - b).max()
    print("   ", "ok " if worst < 1e-9 else "BAD", what, worst)
'''


class Reports(walk.Walk):
    cases = "reports"

    def test_a_session_is_shared_by_threads(self):
        for hidden in (8, 64):
            self.says(self.script("thr.py", hidden), "calls 800 wrong 0 errors 0")

    def test_carry_is_the_stateful_training_of_pytorch(self):
        text = self.script("carry_ref.py")
        found = [float(each) for each in re.findall(r"torch carry.*diff (\S+)", text)]
        self.assertEqual(len(found), 2, text)
        self.assertLess(max(found), 1e-8)

    def test_carry_is_refused_where_the_order_is_drawn(self):
        text = self.script("carry_iter.py", exit=1)
        hashes = re.findall(r"continues \w+ \{(.*)\} (\w+)", text)
        self.assertEqual(len({each[1] for each in hashes}), 2, text)
        self.says(text, r"E0001.*carry: .*shuffle=no keeps it")

    def test_training_goes_on_as_in_pytorch(self):
        text = self.script("ft.py")
        self.says(text, r"eval Dropout in text: 0", r"predict twice equal True",
                  r"train Dropout in text: 1", r"predict twice equal True")
        text = self.script("ft2.py")
        self.assertNotIn("BAD", text)
        self.assertEqual(len(re.findall(r"embedding diff", text)), 11, text)
        self.says(text, "BatchNorm1d train EXC.*E0215.*batch_norm")

    def test_a_module_of_logits_names_its_loss(self):
        text = self.script("ft3.py")
        self.says(text, r"E0001.*give from_torch\(\.\., loss=")
        path = self.folder / "ft3.py"
        path.write_text(path.read_text().replace(
            "dtype=torch.long))", 'dtype=torch.long), loss="softmax")').replace(
                "num_epoch", "batch=4, num_epoch"))
        self.says(self.script("ft3.py"), 'E0203.*reads "label" as an input', "'reason': 'done'")

    def test_pools_over_padded_time_are_those_of_pytorch(self):
        text = self.script("f4.py")
        found = [line.split() for line in text.splitlines()]
        self.assertGreaterEqual(len(found), 10)
        for line in found:
            self.assertLess(float(line[-1]), 1e-6, line)

    def test_a_tensor_is_returned_twice(self):
        for number in ("", "2", "3", "4", "5"):
            self.shell(f"$LSTMC compile dup{number}.lnet -o dup{number}.lstmc")
        lines = [line for line in self.script("dup6.py").splitlines() if " EXC " in line]
        self.assertEqual(len(lines), 1, lines)  # DropoutCell of a cell, which MXNet refuses too
        self.assertIn("DropoutCell", lines[0])

    def test_steps_beyond_lengths_are_not_read(self):
        if not walk.PEERS:
            self.skipTest("PyTorch is the judge, and LSTMC_PEER_PYTHON names none with it")
        (self.folder / "tl.py").write_text(TL)
        text = self.shell(f"{walk.PEERS} -B p01_bilstm_len.py")
        self.assertEqual(len(re.findall(r"^ +ok ", text, re.M)), 78, text)
        self.assertNotRegex(text, "BAD|missing|ERR")

    def test_settings_without_effect_are_named(self):
        self.says(self.shell("$LSTMC compile ign.lnet -o i.lstmc"), r"W0319.*ignore_label=")
        self.says(self.shell("$LSTMC compile ign2.lnet -o j.lstmc"), r"W0319.*use_ignore=True")

    def test_module_binds_as_mxnet(self):
        (self.folder / "u1.py").write_text('''
import numpy as np, lstmc as mx
rng = np.random.default_rng(0)
def t(name):
    def call(f):
        try: print(name, "->", f())
        except Exception as e: print(name, "EXC", e)
    return call
@t("first")
def _(): pass
''')
        text = self.script("u2.py")
        self.says(text, "bind grad_req=write -> ok", "bind grad_req=null -> ok",
                  r"simple_bind grad_req write: grad of data -> \['data'",
                  r"simple_bind grad_req null -> \[\(4, 3\)\]")

    def test_files_of_four_eras(self):
        text = self.script("leg2.py")
        refused = re.findall(r"## (.*) -> EXC", text)
        self.assertEqual(refused, ["Reshape shape=2"], text)  # of six elements


if __name__ == "__main__":
    walk.main()
