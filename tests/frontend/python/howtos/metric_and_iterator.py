"""A custom iterator and custom metrics."""

import mxnet as mx
import numpy as np


class SimpleIter(mx.io.DataIter):
    def __init__(self, data_names, data_shapes, data_gen, label_names, label_shapes, label_gen,
                 num_batches=10):
        super().__init__(data_shapes[0][0])
        self._provide_data = list(zip(data_names, data_shapes))
        self._provide_label = list(zip(label_names, label_shapes))
        self.num_batches = num_batches
        self.data_gen = data_gen
        self.label_gen = label_gen
        self.cur_batch = 0

    def __iter__(self):
        return self

    def reset(self):
        self.cur_batch = 0

    def __next__(self):
        return self.next()

    @property
    def provide_data(self):
        return self._provide_data

    @property
    def provide_label(self):
        return self._provide_label

    def next(self):
        if self.cur_batch < self.num_batches:
            self.cur_batch += 1
            data = [mx.nd.array(generate(shape))
                    for (_, shape), generate in zip(self._provide_data, self.data_gen)]
            label = [mx.nd.array(generate(shape, data[0].asnumpy()))
                     for (_, shape), generate in zip(self._provide_label, self.label_gen)]
            return mx.io.DataBatch(data, label)
        raise StopIteration


@mx.metric.register
class SumError(mx.metric.EvalMetric):
    """The total error of the sums."""

    def __init__(self):
        super().__init__("sum-error")

    def update(self, labels, preds):
        for label, pred in zip(labels, preds):
            label, pred = label.asnumpy(), pred.asnumpy()
            self.sum_metric += np.abs(label.ravel() - pred.ravel()).sum()
            self.num_inst += label.size


def within(label, pred):
    """The share of sums with an error of at most 0.2."""
    return (np.abs(label.ravel() - pred.ravel()) < 0.2).mean()


random = np.random.RandomState(6)
SHAPE = (32, 5, 3)
train = SimpleIter(["data"], [SHAPE], [lambda s: random.uniform(-1, 1, s)], ["lin_label"],
                   [(32, 1)], [lambda s, x: x[:, :, 0].sum(1).reshape(s)], 30)

data, label = mx.sym.Variable("data"), mx.sym.Variable("lin_label")
cell = mx.rnn.GRUCell(16, prefix="gru_")
outputs, states = cell.unroll(5, inputs=data, layout="NTC")
net = mx.sym.LinearRegressionOutput(mx.sym.FullyConnected(outputs[-1], num_hidden=1, name="fc"),
                                    label, name="lin")

mod = mx.mod.Module(net, data_names=["data"], label_names=["lin_label"])
seen = []
mod.fit(train, eval_data=train, eval_metric=SumError(), num_epoch=5, optimizer="adam",
        optimizer_params={"learning_rate": 0.02},
        initializer=mx.init.Xavier(), eval_end_callback=lambda param: seen.append(param.epoch))
scores = dict(
    mod.score(train, [mx.metric.create("sumerror"), mx.metric.np(within), mx.metric.create("mse")]))
