"""A stack of LSTM layers on several devices: each layer is a ctx_group, and a custom loop updates
bound arrays."""

import mxnet as mx
import numpy as np

LAYERS, HIDDEN, EMBED, VOCAB, SEQ, BATCH = 3, 16, 12, 9, 7, 8


def lstm(num_hidden, indata, prev_c, prev_h, param, seqidx, layeridx):
    gates = (
        mx.sym.FullyConnected(data=indata, weight=param["i2h_weight"], bias=param["i2h_bias"],
                              num_hidden=num_hidden * 4, name="t%d_l%d_i2h" % (seqidx, layeridx))
        + mx.sym.FullyConnected(data=prev_h, weight=param["h2h_weight"], bias=param["h2h_bias"],
                                num_hidden=num_hidden * 4, name="t%d_l%d_h2h" % (seqidx, layeridx)))
    i, g, f, o = mx.sym.SliceChannel(gates, num_outputs=4,
                                     name="t%d_l%d_slice" % (seqidx, layeridx))
    next_c = (mx.sym.Activation(f, act_type="sigmoid") * prev_c
              + mx.sym.Activation(i, act_type="sigmoid") * mx.sym.Activation(g, act_type="tanh"))
    return next_c, mx.sym.Activation(o, act_type="sigmoid") * mx.sym.Activation(
        next_c, act_type="tanh")


def unrolled():
    params, states = [], []
    with mx.AttrScope(ctx_group="embed"):
        embed_weight = mx.sym.Variable("embed_weight")
    with mx.AttrScope(ctx_group="decode"):
        cls_weight, cls_bias = mx.sym.Variable("cls_weight"), mx.sym.Variable("cls_bias")
    for i in range(LAYERS):
        with mx.AttrScope(ctx_group="layer%d" % i):
            params.append({name: mx.sym.Variable("l%d_%s" % (i, name))
                           for name in ("i2h_weight", "i2h_bias", "h2h_weight", "h2h_bias")})
            states.append([mx.sym.Variable("l%d_init_c" % i), mx.sym.Variable("l%d_init_h" % i)])
    outputs = []
    for t in range(SEQ):
        with mx.AttrScope(ctx_group="embed"):
            data = mx.sym.Variable("t%d_data" % t)
            hidden = mx.sym.Embedding(data=data, weight=embed_weight, input_dim=VOCAB,
                                      output_dim=EMBED, name="t%d_embed" % t)
        for i in range(LAYERS):
            with mx.AttrScope(ctx_group="layer%d" % i):
                states[i] = lstm(HIDDEN, hidden, states[i][0], states[i][1], params[i], t, i)
                hidden = states[i][1]
        with mx.AttrScope(ctx_group="decode"):
            pred = mx.sym.FullyConnected(data=hidden, weight=cls_weight, bias=cls_bias,
                                         num_hidden=VOCAB, name="t%d_cls" % t)
            outputs.append(mx.sym.SoftmaxOutput(data=pred, name="t%d_sm" % t,
                                                label=mx.sym.Variable("t%d_label" % t)))
    return mx.sym.Group(outputs)


symbol = unrolled()
group2ctx = {"embed": mx.cpu(0), "decode": mx.cpu(LAYERS - 1)}
group2ctx.update({"layer%d" % i: mx.cpu(i) for i in range(LAYERS)})

input_shapes = {}
for t in range(SEQ):
    input_shapes["t%d_data" % t] = input_shapes["t%d_label" % t] = (BATCH,)
for i in range(LAYERS):
    input_shapes["l%d_init_c" % i] = input_shapes["l%d_init_h" % i] = (BATCH, HIDDEN)
arg_names = symbol.list_arguments()
arg_shapes, out_shapes, aux_shapes = symbol.infer_shape(**input_shapes)
attributes = symbol.attr_dict()
groups = {name: attributes[name]["ctx_group"] for name in arg_names if "weight" in name}

np.random.seed(4)
args, args_grad = [], {}
for name, shape in zip(arg_names, arg_shapes):
    context = group2ctx.get(attributes.get(name, {}).get("__ctx_group__"), mx.cpu())
    args.append(mx.nd.zeros(shape, context))
    if not (name.endswith("data") or name.endswith("label") or "init" in name):
        args[-1][:] = np.random.uniform(-0.5, 0.5, shape)
        args_grad[name] = mx.nd.zeros(shape, context)
executor = symbol.bind(mx.cpu(), args=args, args_grad=args_grad, grad_req="add",
                       group2ctx=group2ctx)

losses = []
for step in range(200):
    first = np.random.randint(0, VOCAB, BATCH)
    for t in range(SEQ):
        executor.arg_dict["t%d_data" % t][:] = (first + t) % VOCAB
        executor.arg_dict["t%d_label" % t][:] = (first + t + 1) % VOCAB
    executor.forward(is_train=True)
    executor.backward()
    loss = 0.0
    for t, output in enumerate(executor.outputs):
        label = executor.arg_dict["t%d_label" % t].asnumpy().astype(int)
        loss -= np.log(output.asnumpy()[np.arange(BATCH), label]).mean() / SEQ
    losses.append(loss)
    norm = mx.nd.sqrt(sum((mx.nd.sum(grad * grad) for grad in args_grad.values()),
                          mx.nd.zeros(1))).asscalar() / BATCH
    for name, grad in args_grad.items():
        weight = executor.arg_dict[name]
        weight[:] = weight - (0.5 / BATCH) * min(1.0, 5.0 / norm) * grad
        grad[:] = 0.0
