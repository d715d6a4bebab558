"""Recurrent layers and cells: gluon.rnn."""

from .cells import (BidirectionalCell, DropoutCell, GRUCell, HybridRecurrentCell,
                    HybridSequentialRNNCell, LSTMCell, RecurrentCell, ResidualCell, RNNCell,
                    SequentialRNNCell, ZoneoutCell)
from .rnn_layers import GRU, LSTM, RNN
