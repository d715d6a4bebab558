"""A character LSTM unrolled by hand: trained on windows of a text, then sampled character by
character, with the states carried in arrays."""

from collections import namedtuple

import mxnet as mx
import numpy as np

LSTMState = namedtuple("LSTMState", ["c", "h"])
LSTMParam = namedtuple("LSTMParam", ["i2h_weight", "i2h_bias", "h2h_weight", "h2h_bias"])

TEXT = "the quick brown fox jumps over the lazy dog. " * 80
CHARS = sorted(set(TEXT))
CODES = {c: i for i, c in enumerate(CHARS)}
LAYERS, HIDDEN, EMBED, SEQ, BATCH = 2, 40, 16, 32, 12


def lstm(num_hidden, indata, prev_state, param, seqidx, layeridx, dropout=0.0):
    if dropout > 0.0:
        indata = mx.sym.Dropout(data=indata, p=dropout)
    i2h = mx.sym.FullyConnected(data=indata, weight=param.i2h_weight, bias=param.i2h_bias,
                                num_hidden=num_hidden * 4, name="t%d_l%d_i2h" % (seqidx, layeridx))
    h2h = mx.sym.FullyConnected(data=prev_state.h, weight=param.h2h_weight, bias=param.h2h_bias,
                                num_hidden=num_hidden * 4, name="t%d_l%d_h2h" % (seqidx, layeridx))
    gates = i2h + h2h
    slice_gates = mx.sym.SliceChannel(gates, num_outputs=4,
                                      name="t%d_l%d_slice" % (seqidx, layeridx))
    in_gate = mx.sym.Activation(slice_gates[0], act_type="sigmoid")
    in_transform = mx.sym.Activation(slice_gates[1], act_type="tanh")
    forget_gate = mx.sym.Activation(slice_gates[2], act_type="sigmoid")
    out_gate = mx.sym.Activation(slice_gates[3], act_type="sigmoid")
    next_c = (forget_gate * prev_state.c) + (in_gate * in_transform)
    return LSTMState(c=next_c, h=out_gate * mx.sym.Activation(next_c, act_type="tanh"))


def network(seq_len):
    """The symbol for seq_len steps, whose initial states are data."""
    embed_weight, cls_weight, cls_bias = (
        mx.sym.Variable("embed_weight"), mx.sym.Variable("cls_weight"), mx.sym.Variable("cls_bias"))
    params, states = [], []
    for i in range(LAYERS):
        params.append(
            LSTMParam(*(mx.sym.Variable("l%d_%s" % (i, name)) for name in LSTMParam._fields)))
        states.append(
            LSTMState(c=mx.sym.Variable("l%d_init_c" % i), h=mx.sym.Variable("l%d_init_h" % i)))
    data, label = mx.sym.Variable("data"), mx.sym.Variable("softmax_label")
    embed = mx.sym.Embedding(data=data, input_dim=len(CHARS), weight=embed_weight, output_dim=EMBED,
                             name="embed")
    wordvec = mx.sym.SliceChannel(data=embed, num_outputs=seq_len, squeeze_axis=1)
    hidden_all = []
    for t in range(seq_len):
        hidden = wordvec[t]
        for i in range(LAYERS):
            states[i] = lstm(HIDDEN, indata=hidden, prev_state=states[i], param=params[i], seqidx=t,
                             layeridx=i)
            hidden = states[i].h
        hidden_all.append(hidden)
    pred = mx.sym.FullyConnected(data=mx.sym.Concat(*hidden_all, dim=0), num_hidden=len(CHARS),
                                 weight=cls_weight, bias=cls_bias, name="pred")
    label = mx.sym.Reshape(data=mx.sym.transpose(data=label), shape=(-1,))
    return mx.sym.SoftmaxOutput(data=pred, label=label, name="softmax"), states


STATES = ["l%d_init_%s" % (i, kind) for i in range(LAYERS) for kind in "ch"]

# Training.
codes = np.array([CODES[c] for c in TEXT])
rows = (len(codes) - 1) // SEQ
x, y = codes[: rows * SEQ].reshape(rows, SEQ), codes[1 : rows * SEQ + 1].reshape(rows, SEQ)
np.random.seed(2)
data_train = mx.io.NDArrayIter(
    {"data": x, **{name: np.zeros((rows, HIDDEN), "float32") for name in STATES}},
    {"softmax_label": y}, batch_size=BATCH, shuffle=True)
symbol, _ = network(SEQ)
model = mx.mod.Module(symbol, data_names=["data"] + STATES, label_names=["softmax_label"])
model.fit(data_train, eval_metric=mx.metric.Perplexity(None), optimizer="adam",
          optimizer_params={"learning_rate": 0.02},
          initializer=mx.init.Xavier(factor_type="in", magnitude=2.34), num_epoch=20)
arg_params, aux_params = model.get_params()


# Sampling.
class LSTMInferenceModel:
    def __init__(self):
        one, states = network(1)
        self.names = STATES
        self.symbol = mx.sym.Group([one] + [state for pair in states for state in pair])
        shapes = dict([("data", (1, 1)), ("softmax_label", (1, 1))]
                      + [(name, (1, HIDDEN)) for name in self.names])
        self.executor = self.symbol.simple_bind(ctx=mx.cpu(), **shapes)
        for key in self.executor.arg_dict.keys():
            if key in arg_params:
                arg_params[key].copyto(self.executor.arg_dict[key])

    def forward(self, code, new_seq):
        if new_seq:
            for name in self.names:
                self.executor.arg_dict[name][:] = 0
        mx.nd.array([[code]]).copyto(self.executor.arg_dict["data"])
        self.executor.forward()
        outputs = self.executor.outputs
        for name, state in zip(self.names, outputs[1:]):
            state.copyto(self.executor.arg_dict[name])
        return outputs[0].asnumpy()


sampler = LSTMInferenceModel()
sampled = "the "
for i, c in enumerate(sampled):
    prob = sampler.forward(CODES[c], i == 0)
for _ in range(60):
    sampled += CHARS[int(prob.argmax())]
    prob = sampler.forward(CODES[sampled[-1]], False)
