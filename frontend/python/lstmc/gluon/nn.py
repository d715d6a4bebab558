"""Layers and containers: gluon.nn."""

from .block import Block
from .containers import HybridSequential, Sequential
from .hybrid import HybridBlock, SymbolBlock
from .layers import (ELU, GELU, SELU, Activation, BatchNorm, Dense, Dropout, Embedding, Flatten,
                     HybridLambda, Lambda, LayerNorm, LeakyReLU, PReLU, Swish)
