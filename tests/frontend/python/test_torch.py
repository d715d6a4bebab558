#!/usr/bin/env python3
"""from_torch: networks of PyTorch's modules, compared with the modules in double precision. Both
add in an order of their own, so results of size 1 may differ by a few hundred roundings: the bound
is 1e-12, and a wrong gate or axis differs by more than 1e-3. In single precision both are within
the bound that tests/frontend/bounded.py derives from the equations."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed (./dev bench torch installs it and runs this)")
    sys.exit(77)

import numpy
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import lstmc

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import bounded
import torch_nets

BOUND = 1e-12
warnings.filterwarnings("ignore", module="torch|contextlib")


class CharLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(65, 32)
        self.rnn = nn.LSTM(32, 64, num_layers=2, batch_first=True, dropout=0.1)
        self.norm = nn.LayerNorm(64)
        self.fc = nn.Linear(64, 65)

    def forward(self, x):
        y, (h, c) = self.rnn(self.embed(x))
        return torch.log_softmax(self.fc(F.gelu(self.norm(y[:, -1]))), -1), h, c


class Tied(nn.Module):
    """One matrix for the embedding and the decoder."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.rnn = nn.GRU(16, 16)
        self.fc = nn.Linear(16, 20)
        self.fc.weight = self.embed.weight

    def forward(self, x):
        return self.fc(torch.relu(self.rnn(self.embed(x))[0]))


class BothWays(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(6, 8, 2, bidirectional=True, batch_first=True, bias=False)
        self.head = nn.Sequential(nn.Linear(16, 12), nn.Tanh(), nn.Dropout(0.5), nn.Linear(12, 3))

    def forward(self, x):
        y, (h, c) = self.rnn(x)
        return self.head(torch.cat([h[-2], h[-1]], 1)), y.mean(1) * 2 + 1 - y.amax(dim=1)


class GivenState(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(5, 7, nonlinearity="relu")
        self.out = nn.Linear(7, 2, bias=False)

    def forward(self, x, h):
        y, h = self.rnn(x, h)
        steps, batch, units = y.shape
        return (self.out(y.reshape(steps * batch, units)).view(steps, batch, 2).permute(1, 0, 2),
                h.squeeze(0))


class Residual(nn.Module):
    """Two recurrent modules, a gate, a buffer, slices."""

    def __init__(self):
        super().__init__()
        self.first = nn.GRU(4, 6, batch_first=True)
        self.second = nn.RNN(6, 6, batch_first=True)
        self.gate = nn.Linear(6, 6)
        self.register_buffer("scale", torch.linspace(0.5, 1.5, 6))

    def forward(self, x):
        y = self.first(x)[0]
        z = self.second(y)[0]
        g = torch.sigmoid(self.gate(y))
        mixed = (g * z + (1 - g) * y) * self.scale
        return mixed[:, 1:-1].transpose(1, 2), torch.softmax(mixed.sum(dim=1),
                                                             dim=-1), F.silu(-mixed).flatten(1)


class Heads(nn.Module):
    """Heads that use or select steps of a recurrent module."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(4, 6, batch_first=True)
        self.norm = nn.LayerNorm(6, elementwise_affine=False)
        self.scaled = nn.LayerNorm(6, bias=False)

    def forward(self, x, length):
        y, h = self.rnn(x)
        first, second = y.chunk(2, -1)
        rows = torch.arange(x.size(0))
        last = y[rows, length - 1]
        gathered = y.gather(1, (length - 1).view(-1, 1, 1).expand(-1, 1, y.size(2))).squeeze(1)
        real = torch.arange(x.size(1))[None, :] < length[:, None]
        kept = torch.where(real[..., None], y, 0.0)
        most, where = y.max(1)
        return (first, second.argmax(-1), y.argmin().view(1), last, gathered, kept, most, where,
                kept.sum(1) / length[:, None], y.masked_fill(~real.unsqueeze(-1), -9.0),
                torch.where(y > 0, y, -y), torch.where(2 * y >= y * y, 1.0, y),
                y.split([2, 4], 2)[1], y.split(4, 2)[1], y.unbind(1)[2], y[:, [0, 3, 1]],
                h[-1][:, None].expand(-1, 6, -1).cumsum(1), h[0].repeat(2, 1), self.norm(y),
                self.scaled(y), (real & (length[:, None] != 4)).float())


class TimeFirst(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 5)

    def forward(self, x, length):
        return self.rnn(x)[0][length - 1, torch.arange(3)]


class Packed(nn.Module):
    """Sequences of several lengths, packed as in PyTorch."""

    def __init__(self, kind, batch_first, rnn_batch_first, is_sorted, padding):
        super().__init__()
        self.rnn = kind(4, 5, 2, batch_first=rnn_batch_first, bidirectional=True)
        self.batch_first, self.is_sorted, self.padding = batch_first, is_sorted, padding

    def forward(self, x, length):
        packed = pack_padded_sequence(x, length, batch_first=self.batch_first,
                                      enforce_sorted=self.is_sorted)
        y, states = self.rnn(packed)
        y, lengths = pad_packed_sequence(y, batch_first=self.batch_first,
                                         padding_value=self.padding)
        return (y, lengths, *(states if isinstance(states, tuple) else (states,)))


def compare(test, module, *example):
    """Converts the module and compares both on the example, in double precision."""
    torch.manual_seed(7)
    module = module().eval().double()
    example = tuple(each.double() if each.is_floating_point() else each for each in example)
    net = lstmc.from_torch(module, example)
    wanted = module(*example)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    found = net.bind().run(dict(zip(net.shapes, (each.numpy() for each in example))))
    test.assertEqual(len(found), len(wanted))
    for want, (name, have) in zip(wanted, found.items()):
        want = want.detach().numpy()
        test.assertEqual(have.shape, want.shape, name)
        test.assertLessEqual(numpy.abs(have - want).max(), BOUND, name)
    return net


class Conversion(unittest.TestCase):
    def test_modules_compute_the_same(self):
        compare(self, CharLM, torch.randint(0, 65, (3, 7)))
        compare(self, BothWays, torch.randn(4, 9, 6))
        compare(self, GivenState, torch.randn(6, 3, 5), torch.randn(1, 3, 7))
        compare(self, Residual, torch.randn(2, 5, 4))

    def test_heads_compute_the_same(self):
        net = compare(self, Heads, torch.randn(3, 6, 4), torch.tensor([6, 4, 2]))
        # the indices 0, 3, 1
        self.assertIn("0.0", [own.get("lr_mult") for name, own in net.symbol.attr_dict().items()
                              if name.startswith("constant")])
        compare(self, TimeFirst, torch.randn(6, 3, 4), torch.tensor([1, 6, 3]))

    def test_packed_sequences_are_lengths(self):
        before = nn.LSTM.forward, torch.nn.utils.rnn.pack_padded_sequence, pack_padded_sequence
        for words, lengths in (((nn.LSTM, True, True, True, 0.0), [6, 4, 2]),
                               ((nn.LSTM, True, True, False, 0.0), [2, 6, 3]),
                               ((nn.GRU, False, True, False, -1.5), [2, 6, 3]),
                               ((nn.RNN, True, False, False, 2.0), [6, 6, 1])):
            x = torch.randn(3, 6, 4) if words[1] else torch.randn(6, 3, 4)
            compare(self, lambda: Packed(*words), x, torch.tensor(lengths))
        self.assertEqual(before, (nn.LSTM.forward, torch.nn.utils.rnn.pack_padded_sequence,
                                  pack_padded_sequence))

    def test_what_is_made_of_sequences_that_are_filled_up(self):
        for batch_first in (True, False):
            torch.manual_seed(7)
            module, x = Pooled(batch_first).eval().double(), torch.randn(
                3, 6, 3, dtype=torch.float64)
            x = x if batch_first else x.transpose(0, 1).contiguous()
            net = lstmc.from_torch(module, (x, torch.tensor([6, 2, 3])))
            session = net.bind()
            for lengths in ([6, 2, 3], [3, 1, 2], [2, 4, 4]):
                found = session.run({"x": x.numpy(), "length": numpy.array(lengths)})
                wanted = module(x, torch.tensor(lengths))
                self.assertEqual(len(found), len(wanted))
                for number, (want, have) in enumerate(zip(wanted, found.values())):
                    want = want.detach().double().numpy()
                    self.assertEqual(have.shape, want.shape, number)
                    self.assertLessEqual(numpy.abs(have - want).max(), BOUND, (number, lengths))

    def test_what_cannot_be_made_of_them_is_refused(self):
        loss = lambda y: F.cross_entropy(y.transpose(1, 2),
                                         torch.zeros(3, y.size(1), dtype=torch.long))
        example = torch.randn(3, 6, 3), torch.tensor([6, 2, 3])
        for cut in (lambda y: y.flip(1), lambda y: y.std(1), lambda y: y[:, -2:],
                    lambda y: sum(y.unbind(1)), lambda y: y.roll(1, 1), lambda y: y.sort(1)[0],
                    lambda y: torch.cat([y, y], 1), loss):
            with self.assertRaisesRegex(
                    lstmc.Error, "E0215.* of what pad_packed_sequence filled up .* total_length"):
                lstmc.from_torch(Pooled(cut=cut), example)
        # as many steps in both
        net = lstmc.from_torch(Pooled(cut=lambda y: y.flip(1), total=6).eval(), example)
        self.assertEqual(
            net.predict({"x": example[0].numpy(), "length": numpy.array([2, 1, 1])}).shape,
            (3, 6, 4))

    def test_what_is_no_parameter_does_not_train(self):
        module = Residual().eval()
        net, x = lstmc.from_torch(module, torch.randn(2, 5, 4)), numpy.ones((8, 5, 4), "float32")
        self.assertEqual(net.symbol.attr_dict()["scale"]["lr_mult"], "0.0")
        loss = lstmc.sym.MakeLoss(net.symbol[0], name="loss")
        trained = lstmc.Network(loss)
        trained.fit({"x": x}, batch=2, params=net.weights, num_epoch=1, learning_rate=0.1,
                    optimizer="sgd", seed=1)
        weights = trained.session.params()
        numpy.testing.assert_array_equal(weights["scale"], net.weights["scale"])
        self.assertTrue((weights["gate_weight"] != net.weights["gate_weight"]).any())

    def test_a_shared_weight_is_one_parameter(self):
        net = compare(self, Tied, torch.randint(0, 20, (5, 3)))
        self.assertEqual(sum(array.shape == (20, 16) for array in net.weights.values()), 1)

    def test_arrays_go_both_ways(self):
        tensor = torch.from_dlpack(lstmc.nd.array([[1, 2], [3, 4]]))
        self.assertEqual(tensor.tolist(), [[1, 2], [3, 4]])
        self.assertEqual(lstmc.nd.array(tensor).asnumpy().tolist(), tensor.tolist())

    def test_other_extents_than_the_examples(self):
        module = CharLM().eval().double()
        net = lstmc.from_torch(module, torch.zeros(1, 4, dtype=torch.long))
        x = torch.randint(0, 65, (5, 11))
        found = net.bind({"x": (5, 11)}).run({"x": x.numpy()})
        want = module(x)[0].detach().numpy()
        self.assertLessEqual(numpy.abs(next(iter(found.values())) - want).max(), BOUND)

    def test_it_predicts_trains_and_is_saved(self):
        module = BothWays().eval()
        net = lstmc.from_torch(module, torch.randn(4, 9, 6))
        x = numpy.random.default_rng(1).standard_normal((4, 9, 6), dtype="float32")
        self.assertEqual(next(iter(net.predict({"x": x}).values())).shape, (4, 3))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net.lstmc")
            net.save(path)
            run = subprocess.run([os.environ["LSTMC"], "run", path, "--params",
                                  path[:-6] + ".weights.safetensors", "-i", "x=4x9x6xf32=0"],
                                 capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, run.stderr)
            with self.assertRaises(lstmc.Error) as raised:
                net.save(path)
            self.assertEqual(raised.exception.code, "E0608")

    def test_what_is_not_there_is_refused_by_name_and_line(self):
        class Convolution(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv1d(3, 4, 2)
                self.rnn = nn.LSTM(4, 5)

            def forward(self, x):
                return self.rnn(self.conv(x))[0]

        class Across(nn.Module):
            def forward(self, x):
                return x[[0, 1], :, [1, 0]]

        for module, example, text in (
            (Across(), torch.randn(2, 3, 4), "x[arange(N), steps]"),
            (Convolution(), torch.randn(2, 3, 5), "module conv: the operator aten.conv1d.default"),
            (nn.LSTM(4, 5, proj_size=3), torch.randn(2, 3, 4), "projections (proj_size)"),
        ):
            with self.assertRaises(lstmc.Error) as raised:
                lstmc.from_torch(module.eval(), example)
            self.assertEqual(raised.exception.code, "E0215")
            self.assertIn(text, str(raised.exception))
        with self.assertRaises(lstmc.Error) as raised:
            lstmc.from_torch(nn.LSTM(4, 5).half(), torch.randn(2, 3, 4).half())
        self.assertEqual(raised.exception.code, "E0613")


class Pooled(nn.Module):
    """Ops on sequences that were packed and padded again, possibly with fewer steps than before."""

    def __init__(self, batch_first=True, cut=None, total=None):
        super().__init__()
        self.rnn, self.both = nn.GRU(3, 4, batch_first=batch_first), nn.LSTM(
            4, 4, batch_first=True, bidirectional=True)
        self.over, self.again = nn.GRU(4, 4, batch_first=True), nn.RNN(4, 4, batch_first=True)
        self.fc, self.score, self.norm = nn.Linear(4, 4), nn.Linear(4, 1), nn.LayerNorm(4)
        self.batch_first, self.cut, self.total = batch_first, cut, total

    def forward(self, x, length):
        packed = pack_padded_sequence(x, length, batch_first=self.batch_first, enforce_sorted=False)
        y, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=self.batch_first,
                                   total_length=self.total)
        y = y if self.batch_first else y.transpose(0, 1)
        if self.cut:
            return self.cut(y)
        z = self.norm(self.fc(y))
        real = torch.arange(y.size(1))[None] < length[:, None]
        masked = torch.softmax(self.score(y).squeeze(-1).masked_fill(~real, -torch.inf), 1)
        flat = self.fc(y.reshape(-1, 4))
        over, state = self.over(z)
        again, _ = pad_packed_sequence(
            self.again(pack_padded_sequence(z, length, batch_first=True, enforce_sorted=False))[0],
            batch_first=True)
        return (y.mean(1), z.mean((1, 2)), y.max(1)[0], y.max(1)[1], y.amax(1), z.amin(1),
                (torch.softmax(self.score(y), 1) * y).sum(1), y[:, -1], y[:, 0], z.sum(1),
                z.prod(1), z.norm(dim=1), torch.logsumexp(z, 1), (masked[:, None] @ y)[:, 0],
                (torch.softmax(y @ y.mT, -1) @ y).mean(1), flat.view(*y.shape).mean(1),
                torch.tanh(flat).mean(0), z[:, 1:].mean(1), z.cumsum(1)[:, -1], y.mT.mean(-1),
                torch.stack([y, z], 2).mean(1), state[0], over.mean(1), self.both(z)[1][1],
                y[torch.arange(3), length - 1], torch.cat([y, z], 2).log_softmax(1).sum(1).exp(),
                again.mean(1), (y > 0).any(1), (y.square() + z).mean((0, 1)))


class Tagger(nn.Module):
    """Logits of 7 classes for each step; parameters in `frozen` do not train."""

    def __init__(self, padding=None, frozen=(), tied=False, bias=True, dropout=0.0):
        super().__init__()
        self.embed = nn.Embedding(7, 6, padding_idx=padding)
        self.rnn = nn.LSTM(6, 6, 2, batch_first=True, bias=bias, dropout=dropout,
                           bidirectional=not tied)
        self.fc = nn.Linear(6 if tied else 12, 7)
        if tied:
            self.fc.weight = self.embed.weight
        for name, parameter in self.named_parameters():
            parameter.requires_grad_(name not in frozen)

    def forward(self, x):
        return self.fc(self.rnn(self.embed(x))[0])


class Loss(nn.Module):
    """A loss, and a head that it does not read."""

    def __init__(self, inner):
        super().__init__()
        self.inner, self.other = inner, nn.Linear(7, 2)

    def forward(self, x, label):
        y = self.inner(x)
        return F.cross_entropy(y.flatten(0, 1), label.flatten()), self.other(y)


class Regression(nn.Module):
    """Time as first axis; all steps or the last one."""

    def __init__(self, last):
        super().__init__()
        self.rnn, self.fc, self.last = nn.GRU(3, 5), nn.Linear(5, 2), last

    def forward(self, x):
        y = self.fc(self.rnn(x)[0])
        return y[-1] if self.last else y


class Siamese(nn.Module):
    """A recurrent module that reads two sequences."""

    def __init__(self, kind, **options):
        super().__init__()
        self.rnn = getattr(nn, kind)(4, 5, batch_first=True, **options)

    def forward(self, a, b):
        return self.rnn(a)[0] * self.rnn(b)[0]


class SiameseLoss(Siamese):
    def forward(self, a, b):
        return super().forward(a, b).square().mean()


class Stateful(nn.Module):
    """Goes on with the states of the batch before, as Keras' stateful=True."""

    def __init__(self, carries=True):
        super().__init__()
        self.rnn, self.fc, self.carries, self.states = (nn.LSTM(3, 5, batch_first=True),
                                                        nn.Linear(5, 2), carries, None)

    def forward(self, x):
        y, states = self.rnn(x, self.states)
        self.states = tuple(each.detach() for each in states) if self.carries else None
        return self.fc(y)


def trained_by_torch(module, batches, loss, optimizer, rate):
    steps = getattr(torch.optim, optimizer)(
        [each for each in module.parameters() if each.requires_grad], lr=rate)
    for _ in range(2):
        for batch in batches:
            steps.zero_grad()
            loss(module(torch.from_numpy(batch["x"])), torch.from_numpy(batch["label"])).backward()
            steps.step()


class Training(unittest.TestCase):
    """`fit` trains a module like PyTorch."""

    def setUp(self):
        draw = numpy.random.default_rng(3)
        self.x, self.label = draw.integers(0, 7, (12, 5)), draw.integers(0, 7, (12, 5))
        self.x[:, 3:] = 0
        self.label[:, 4:] = -100

    def check(self, net, module, prefix=""):
        found, wanted = net.state_dict(), module.state_dict()
        self.assertEqual(sorted(name for name in found if not name.startswith("other")),
                         sorted(prefix + name for name in wanted))
        for name, tensor in wanted.items():
            self.assertLess((found[prefix + name] - tensor).abs().max().item(), 2e-6, name)
        return found

    def test_logits_and_losses(self):
        for words in ({}, {"padding": 0}, {"padding": 0, "tied": True},
                      {"frozen": ("embed.weight",)}, {"bias": False},
                      {"frozen": ("rnn.weight_hh_l0", "rnn.bias_ih_l1_reverse", "fc.bias")}):
            for own in (False, True):
                with self.subTest(words=words, own=own):
                    torch.manual_seed(1)
                    module = Tagger(**words).eval()
                    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
                    batches = [{"x": self.x[i:i + 4], "label": self.label[i:i + 4]}
                               for i in (0, 4, 8)]
                    first = batches[0]
                    if own:
                        net = lstmc.from_torch(Loss(module), (torch.from_numpy(first["x"]),
                                                              torch.from_numpy(first["label"])))
                    else:
                        net = lstmc.from_torch(module, torch.from_numpy(first["x"]), loss="softmax")
                    net.fit(batches, num_epoch=2, optimizer="sgd", learning_rate=0.5)
                    cross_entropy = lambda y, label: F.cross_entropy(y.flatten(0, 1),
                                                                     label.flatten())
                    trained_by_torch(module, batches, cross_entropy, "SGD", 0.5)
                    found = self.check(net, module, "inner." if own else "")
                    if not own:
                        for name in words.get("frozen", ()):
                            self.assertTrue(torch.equal(found[name], before[name]), name)
                        with torch.no_grad():
                            self.assertLess(numpy.abs(net.predict({"x": first["x"]}) - module(
                                torch.from_numpy(first["x"])).numpy()).max(), 1e-5)
                        measured = net.score({"x": self.x, "label": self.label})
                        with torch.no_grad():
                            want = cross_entropy(module(torch.from_numpy(self.x)),
                                                 torch.from_numpy(self.label)).item()
                        self.assertAlmostEqual(measured["loss"], want, 5)

    def test_other_losses_and_steps_first(self):
        draw = numpy.random.default_rng(4)
        for name, loss, last in (("mse", F.mse_loss, False), ("l1", F.l1_loss, True),
                                 ("logistic", F.binary_cross_entropy_with_logits, False),
                                 ("mse", F.mse_loss, True)):
            with self.subTest(name=name, last=last):
                torch.manual_seed(1)
                module, x = Regression(last), draw.standard_normal((6, 12, 3), dtype="float32")
                label = draw.uniform(size=(12, 2) if last else (6, 12, 2)).astype("float32")
                batches = [
                    {"x": x[:, i:i + 4], "label": label[i:i + 4] if last else label[:, i:i + 4]}
                    for i in (0, 4, 8)]
                net = lstmc.from_torch(module, torch.zeros(6, 4, 3), loss=name)
                net.fit(batches, num_epoch=2, optimizer="sgd", learning_rate=0.25)
                trained_by_torch(module, batches, loss, "SGD", 0.25)
                self.check(net, module)

    def test_no_optimizer_moves_what_is_frozen(self):
        for optimizer in ("adadelta", "adam", "rmsprop", "ftml", "lamb"):
            module = Tagger(frozen=("embed.weight", "rnn.weight_hh_l0"), bias=False)
            before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
            net = lstmc.from_torch(module, torch.zeros(4, 5, dtype=torch.long), loss="softmax")
            net.fit({"x": self.x, "label": self.label}, batch=4, num_epoch=2,
                    optimizer=optimizer, wd=0.1)
            for name, tensor in net.state_dict().items():
                self.assertEqual(torch.equal(tensor, before[name]),
                                 name in ("embed.weight", "rnn.weight_hh_l0"), (optimizer, name))
            # which the module lacks
            self.assertFalse(
                any(array.any() for name, array in net.weights.items() if name.endswith("h_bias")),
                optimizer)

    def test_another_batch_than_the_examples(self):
        net = lstmc.from_torch(Tagger(), torch.zeros(1, 5, dtype=torch.long), loss="softmax")
        result = net.fit({"x": self.x, "label": self.label}, batch=6, num_epoch=30, valid=0.25,
                         metric="accuracy", optimizer="adam", learning_rate=0.02)
        self.assertLess(result["best_loss"], 2.5)
        self.assertEqual(net.predict({"x": self.x}).shape, (12, 5, 7))
        net.plot()

    def test_dropout_of_a_module_in_eval_mode_is_said(self):
        module = nn.Sequential(nn.Embedding(7, 6), nn.Dropout(0.5), nn.LSTM(6, 6, 2, dropout=0.25))
        text = "nothing is dropped out by 1, 2"
        with tempfile.TemporaryDirectory() as folder:
            lstmc.from_torch(module.eval(), torch.zeros(5, 4, dtype=torch.long)).save(
                os.path.join(folder, "net.lnet"))
            with open(os.path.join(folder, "net.lnet"), encoding="utf-8") as file:
                self.assertIn(text, file.readline())
        with self.assertWarnsRegex(UserWarning, "nothing is dropped out by rnn"):
            net = lstmc.from_torch(Tagger(dropout=0.5).eval(), torch.zeros(4, 5, dtype=torch.long),
                                   loss="softmax")
            net.fit({"x": self.x, "label": self.label}, batch=4, num_epoch=1, optimizer="sgd")
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            net = lstmc.from_torch(Tagger(dropout=0.5).train(), torch.zeros(4, 5, dtype=torch.long),
                                   loss="softmax")
            net.fit({"x": self.x, "label": self.label}, batch=4, num_epoch=1, optimizer="sgd")

    def test_a_recurrent_module_that_is_called_twice(self):
        for kind, options in (("LSTM", {}), ("GRU", {"num_layers": 2, "bidirectional": True}),
                              ("RNN", {"bias": False})):
            with self.subTest(kind=kind), warnings.catch_warnings():
                warnings.simplefilter("error", lstmc.Warning)
                torch.manual_seed(2)
                a, b = torch.randn(2, 4, 3, 4, dtype=torch.float64)
                compare(self, lambda: Siamese(kind, **options), a.float(), b.float())
                module = SiameseLoss(kind, **options).double()
                net = lstmc.from_torch(module, (a, b))
                net.fit([{"a": a.numpy(), "b": b.numpy()}], num_epoch=3, optimizer="sgd",
                        learning_rate=0.5)
                steps = torch.optim.SGD(module.parameters(), lr=0.5)
                for _ in range(3):
                    steps.zero_grad()
                    module(a, b).backward()
                    steps.step()
                for name, tensor in module.state_dict().items():
                    self.assertLess((net.state_dict()[name] - tensor).abs().max().item(),
                                    1e-12, name)

    def test_states_that_go_on_from_batch_to_batch(self):
        """carry= in double precision, in each order that rows of batches may come in."""
        torch.manual_seed(3)
        x, label = (torch.randn(20, 6, 3, dtype=torch.float64).numpy(),
                    torch.randn(20, 6, 2, dtype=torch.float64).numpy())
        batches = [{"x": x[i:i + 4], "label": label[i:i + 4]} for i in range(0, 20, 4)]
        module = Stateful().double()
        first = {name: tensor.clone() for name, tensor in module.state_dict().items()}
        ends = {}
        for carries in (False, True):
            module = Stateful(carries).double()
            module.load_state_dict(first)
            plain = Stateful(carries=False).double()
            plain.load_state_dict(first)
            net = lstmc.from_torch(plain, torch.zeros(4, 6, 3, dtype=torch.float64), loss="mse")
            carry = {"carry": ["rnn*"]} if carries else {}
            net.fit({"x": x, "label": label}, batch=4, shuffle=False, num_epoch=2, optimizer="sgd",
                    learning_rate=0.25, **carry)
            steps = torch.optim.SGD(module.parameters(), lr=0.25)
            for _ in range(2):
                module.states = None
                for batch in batches:
                    steps.zero_grad()
                    F.mse_loss(module(torch.from_numpy(batch["x"])),
                               torch.from_numpy(batch["label"])).backward()
                    steps.step()
            ends[carries] = net.state_dict()
            for name, tensor in module.state_dict().items():
                self.assertLess((ends[carries][name] - tensor).abs().max().item(), 1e-8, name)
        self.assertGreater((ends[True]["fc.weight"] - ends[False]["fc.weight"]).abs().max().item(),
                           1e-5)

    def test_a_loss_that_is_not_known(self):
        net = lstmc.from_torch(Tagger(), torch.zeros(4, 5, dtype=torch.long))
        with self.assertRaisesRegex(lstmc.Error, 'from_torch\\(.., loss="softmax"\\)'):
            net.fit({"x": self.x, "label": self.label}, num_epoch=1)
        with self.assertRaisesRegex(lstmc.Error, "loss is one of softmax, mse"):
            lstmc.from_torch(Tagger(), torch.zeros(4, 5, dtype=torch.long), loss="hinge")


class Unused(nn.Module):
    """A head whose result is unused."""

    def __init__(self):
        super().__init__()
        self.rnn, self.fc, self.other = nn.GRU(3, 4), nn.Linear(4, 2), nn.Linear(4, 5)

    def forward(self, x):
        y = self.rnn(x)[0]
        self.other(y)
        return self.fc(y) + torch.tensor([0.5, 2.0])[1].double() + y.mean()


class Dispersed(nn.Module):
    """Depends on the number of elements of its input."""

    def forward(self, x):
        return x.std(0), torch.roll(x, 1, 0), x / x.shape[0], x.norm(dim=0), x[-4:] * 2


class Still(nn.Module):
    """Measures of rows, one of which is 0 and one constant."""

    def __init__(self, measure):
        super().__init__()
        self.weight = nn.Parameter(
            torch.tensor([[0.0, 0.0, 0.0], [0.7, 0.7, 0.7], [0.1, -0.2, 0.3]]))
        self.measure = measure

    def forward(self, x):
        return x + self.measure(self.weight)


class Random(unittest.TestCase):
    def test_gradients_of_deviations_norms_and_extremes_of_equal_numbers_are_pytorchs(self):
        for measure in (lambda x: x.std(1, unbiased=False), lambda x: x.std(1),
                        lambda x: x.norm(dim=1), lambda x: x.norm(1, 1), lambda x: x.norm(0, 1),
                        lambda x: x.norm(3, 1), lambda x: x.norm(2, 0, True)[0], lambda x: x.norm(),
                        lambda x: x.norm(torch.inf, 1), lambda x: x.amax(1), lambda x: x.amin(1),
                        lambda x: x.max()):
            module, x = Still(measure).double(), torch.randn(4, 3, dtype=torch.float64)
            net = lstmc.from_torch(module, x)
            self.assertEqual(torch_nets.gradients(module, net, x, "x", lambda x: x.numpy()), "")

    def test_modules_made_at_random_compute_the_same(self):
        self.assertEqual(torch_nets.main(1, 80), 0)

    def test_what_nobody_reads_is_no_weight(self):
        net = compare(self, Unused, torch.randn(5, 2, 3))
        self.assertNotIn("other_weight", net.weights)

    def test_a_module_is_exported_again_for_other_shapes(self):
        net = compare(self, Dispersed, torch.randn(2, 3))
        x = torch.randn(7, 3, dtype=torch.float64)
        for want, found in zip(Dispersed()(x),
                               net.bind({"x": (7, 3)}).run({"x": x.numpy()}).values()):
            self.assertLessEqual(numpy.abs(found - want.numpy()).max(), BOUND)
        refusing = lstmc.from_torch(
            nn.LSTM(3, 4), (torch.zeros(5, 2, 3), (torch.zeros(1, 2, 4), torch.zeros(1, 2, 4))))
        with self.assertRaises(lstmc.Error) as raised:
            refusing.compile({"input": (5, 3, 3)})
        self.assertIn("the module refuses inputs of input [5, 3, 3]", str(raised.exception))


class Stack(nn.Module):
    """A recurrent stack with a head; `bounded` computes both outputs too."""

    def __init__(self, kind, layers, directions, bias):
        super().__init__()
        more = {"nonlinearity": kind[4:]} if kind.startswith("rnn") else {}
        recurrent = {"lstm": nn.LSTM, "gru": nn.GRU}.get(kind, nn.RNN)
        self.rnn = recurrent(6, 10, layers, bidirectional=directions == 2, bias=bias,
                             batch_first=True, **more)
        self.norm = nn.LayerNorm(10 * directions)
        self.fc = nn.Linear(10 * directions, 5)
        with torch.no_grad():  # else the norm would do nothing
            self.norm.weight.uniform_(0.5, 1.5)
            self.norm.bias.uniform_(-0.5, 0.5)

    def forward(self, x):
        y = self.rnn(x)[0]
        return y, self.fc(self.norm(y))


def equations(module, kind, layers, directions, sequence):
    """The two outputs for one sequence: Vectors by step."""
    weights = {name: bounded.Matrix(value.numpy()) if value.ndim == 2 else value.tolist()
               for name, value in module.state_dict().items()}
    inner = {name.removeprefix("rnn."): value for name, value in weights.items()}
    ys = bounded.recurrent(kind, inner, [bounded.Vector(x) for x in sequence], 10, layers,
                           directions)
    norm = [bounded.layer_norm(y, weights["norm.weight"], weights["norm.bias"], 1e-5) for y in ys]
    return ys, [bounded.product(weights["fc.weight"], y, weights["fc.bias"]) for y in norm]


class SinglePrecision(unittest.TestCase):
    def test_both_are_within_the_bound(self):
        for kind in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
            for layers, directions, bias in ((1, 1, True), (2, 1, True), (2, 2, True),
                                             (1, 1, False)):
                with self.subTest(kind=kind, layers=layers, directions=directions, bias=bias):
                    torch.manual_seed(5)
                    module, x = Stack(kind, layers, directions, bias).eval(), torch.randn(2, 6, 6)
                    ours = list(lstmc.from_torch(module, x).bind().run({"x": x.numpy()}).values())
                    with torch.no_grad():
                        theirs = [output.numpy() for output in module(x)]
                        exact = [output.numpy() for output in module.double()(x.double())]
                    for row in range(2):
                        for number, steps in enumerate(
                                equations(module, kind, layers, directions, x[row].tolist())):
                            for t, want in enumerate(steps):
                                # PyTorch itself satisfies the equations
                                self.assertLess(
                                    numpy.abs(want.values - exact[number][row, t]).max(), BOUND)
                                bounded.check(self, ours[number][row, t], want)
                                bounded.check(self, theirs[number][row, t], want)


if __name__ == "__main__":
    unittest.main()
