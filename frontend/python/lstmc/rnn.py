"""MXNet's `mx.rnn`: cells that a script unrolls step by step, bucketed sentences, and checkpoints
with weights split by gate."""

from .cells import (BaseRNNCell, DropoutCell, GRUCell, LSTMCell, RNNCell, RNNParams,
                    SequentialRNNCell)
from .fused_cell import FusedRNNCell
from .modifier_cells import BidirectionalCell, ModifierCell, ResidualCell, ZoneoutCell
from .rnn_checkpoints import do_rnn_checkpoint, load_rnn_checkpoint, save_rnn_checkpoint
from .sentences import BucketSentenceIter, encode_sentences
