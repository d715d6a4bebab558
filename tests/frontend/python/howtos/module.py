"""The Module API: its single steps, fit, and resuming from a checkpoint."""

import logging

import mxnet as mx
import numpy as np

np.random.seed(9)
X = np.random.uniform(-1, 1, (400, 6, 4)).astype("float32")
Y = (X[:, :, 0].sum(1) > X[:, :, 1].sum(1)).astype("float32")
train_iter = mx.io.NDArrayIter(X[:320], Y[:320], 16, shuffle=True)
val_iter = mx.io.NDArrayIter(X[320:], Y[320:], 16)

data = mx.sym.var("data")
cell = mx.rnn.FusedRNNCell(20, num_layers=1, mode="lstm", prefix="lstm_")
output, _ = cell.unroll(6, inputs=data, layout="NTC", merge_outputs=True)
net = mx.sym.SequenceLast(mx.sym.swapaxes(output, dim1=0, dim2=1))
net = mx.sym.FullyConnected(net, name="fc1", num_hidden=12)
net = mx.sym.Activation(net, name="relu1", act_type="relu")
net = mx.sym.FullyConnected(net, name="fc2", num_hidden=2)
net = mx.sym.SoftmaxOutput(net, name="softmax")
mx.viz.print_summary(net, shape={"data": (16, 6, 4)})
picture = mx.viz.plot_network(net, shape={"data": (16, 6, 4)})

mod = mx.mod.Module(symbol=net, context=mx.cpu(), data_names=["data"],
                    label_names=["softmax_label"])
mod.bind(data_shapes=train_iter.provide_data, label_shapes=train_iter.provide_label)
mod.init_params(initializer=mx.init.Uniform(scale=0.2))
mod.init_optimizer(optimizer="adam", optimizer_params=(("learning_rate", 0.02),))

# Epochs by hand, one call at a time.
metric = mx.metric.create("acc")
by_hand = []
for epoch in range(4):
    train_iter.reset()
    metric.reset()
    for batch in train_iter:
        mod.forward(batch, is_train=True)
        mod.update_metric(metric, batch.label)
        mod.backward()
        mod.update()
    by_hand.append(metric.get()[1])
mod.init_params(initializer=mx.init.Uniform(scale=0.2), force_init=True)

checkpoint = mx.callback.do_checkpoint(PREFIX)  # noqa: F821, set by the test
mod.fit(train_iter, eval_data=val_iter, optimizer="adam", optimizer_params={"learning_rate": 0.02},
        eval_metric="acc", num_epoch=6, epoch_end_callback=checkpoint)
score = mod.score(val_iter, ["acc", "ce"])
logging.info("score %s", score)
predicted = mod.predict(val_iter)

# From the checkpoint, into the same module.
sym, arg_params, aux_params = mx.model.load_checkpoint(PREFIX, 3)  # noqa: F821
mod.set_params(arg_params, aux_params)
earlier = mod.score(val_iter, "acc")

# Continue from the checkpoint.
again = mx.mod.Module(symbol=sym)
again.fit(train_iter, num_epoch=6, begin_epoch=3, arg_params=arg_params, aux_params=aux_params,
          optimizer="adam", optimizer_params={"learning_rate": 0.02}, eval_metric="acc")
later = again.score(val_iter, "acc")
