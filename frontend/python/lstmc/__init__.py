"""lstmc: compiles networks of symbols, mainly stacked LSTMs, and runs them.

`sym` makes networks, `rnn` has cells that are unrolled step by step, `init` first values; `Network`
and `load` compile and train, and a `Session` runs. `nd` computes at once, with gradients by
`autograd`. See docs/python.md.
"""

from . import (_core, attribute, autograd, callback, executor, gluon, init, io, lr_scheduler,
               metric, model, name, nd, optimizer, random, rnn, sym)
from . import mod
from . import visualization as viz
from .attribute import AttrScope
from .context import Context, cpu, current_context, gpu
from .error import Error, Warning
from .graph import Symbol
from .imported import Imported, import_weights
from .network import Network, load
from .nodes import dim
from .session import Package, Session
from .torch import from_torch

__version__: str = _core.__version__
initializer = init
module = mod
symbol = sym
ndarray = nd
