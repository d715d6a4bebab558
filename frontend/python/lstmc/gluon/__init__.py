"""MXNet's Gluon over eager arrays and symbols (docs/python.md)."""

from . import data, loss, nn, rnn, utils
from .block import Block
from .hybrid import HybridBlock, SymbolBlock
from .parameter import Constant, DeferredInitializationError, Parameter, ParameterDict
from .trainer import Trainer
