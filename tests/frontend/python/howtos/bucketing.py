"""Sentences of any length: a symbol per length of bucket, one set of weights."""

import logging
import random

import mxnet as mx
import numpy as np

LAYERS, HIDDEN, EMBED, BATCH = 2, 24, 12, 8
BUCKETS = [6, 9, 12]

# A language with a rule: each word is followed by the next one of the days, or ends the sentence.
DAYS = "mon tue wed thu fri sat sun".split()
random.seed(7)
np.random.seed(7)
SENTENCES = []
for _ in range(240):
    first, length = random.randrange(7), random.choice([5, 6, 8, 9, 11, 12])
    SENTENCES.append([DAYS[(first + i) % 7] for i in range(length)])

coded, vocab = mx.rnn.encode_sentences(SENTENCES, invalid_label=0, start_label=1)
train_iter = mx.rnn.BucketSentenceIter(coded[:200], BATCH, buckets=BUCKETS, invalid_label=0)
val_coded, _ = mx.rnn.encode_sentences(SENTENCES[200:], vocab=vocab, invalid_label=0)
val_iter = mx.rnn.BucketSentenceIter(val_coded, BATCH, buckets=BUCKETS, invalid_label=0)

stack = mx.rnn.SequentialRNNCell()
for layer in range(LAYERS):
    stack.add(mx.rnn.LSTMCell(num_hidden=HIDDEN, prefix="lstm_l%d_" % layer))


def sym_gen(seq_len):
    data = mx.sym.Variable("data")
    label = mx.sym.Variable("softmax_label")
    embed = mx.sym.Embedding(data=data, input_dim=len(vocab), output_dim=EMBED, name="embed")
    stack.reset()
    outputs, states = stack.unroll(seq_len, inputs=embed, merge_outputs=True)
    pred = mx.sym.Reshape(outputs, shape=(-1, HIDDEN))
    pred = mx.sym.FullyConnected(data=pred, num_hidden=len(vocab), name="pred")
    label = mx.sym.Reshape(label, shape=(-1,))
    pred = mx.sym.SoftmaxOutput(data=pred, label=label, name="softmax", use_ignore=True,
                                ignore_label=0)
    return pred, ("data",), ("softmax_label",)


model = mx.mod.BucketingModule(sym_gen=sym_gen, default_bucket_key=train_iter.default_bucket_key,
                               context=mx.cpu())
model.fit(train_data=train_iter, eval_data=val_iter, eval_metric=mx.metric.Perplexity(0),
          kvstore="local", optimizer="adam", optimizer_params={"learning_rate": 0.02},
          initializer=mx.init.Xavier(factor_type="in", magnitude=2.34), num_epoch=5,
          batch_end_callback=mx.callback.Speedometer(BATCH, 10),
          epoch_end_callback=mx.rnn.do_rnn_checkpoint(stack, PREFIX,
                                                      5))  # noqa: F821, set by the test

perplexity = dict(model.score(val_iter, mx.metric.Perplexity(0)))
logging.info("perplexity %s", perplexity)

# The checkpoint's weights are loaded into the cells, split by gate.
symbol, arg_params, aux_params = mx.rnn.load_rnn_checkpoint(stack, PREFIX, 5)  # noqa: F821
