"""Blocks: layers and models that hold parameters and other blocks."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

from .. import init as initializers
from .. import params_file
from ..error import usage
from ..name import NameManager, Prefix
from . import first_values
from .parameter import Parameter, ParameterDict, load_into, named_arrays

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..context import Context
    from ..init import Initializer
    from ..kinds import DType, Path


class _Scope:
    """`with block.name_scope():` counts the names of blocks that are made inside."""

    _local = threading.local()

    def __init__(self, block):
        self._block, self._counts = block, {}
        self._before = []

    @classmethod
    def create(cls, prefix, params, hint):
        """(prefix, ParameterDict) of a new block."""
        scope = getattr(cls._local, "current", None)
        if scope is None:
            if prefix is None:
                prefix = NameManager.current().get(None, hint) + "_"
            shared = ParameterDict(prefix) if params is None else ParameterDict(params.prefix,
                                                                                params)
            return prefix, shared
        if prefix is None:
            count = scope._counts.get(hint, 0)
            scope._counts[hint] = count + 1
            prefix = f"{hint}{count}_"
        parent = scope._block
        if params is None:
            params = ParameterDict(parent.params.prefix + prefix, parent.params._shared)
        else:
            params = ParameterDict(params.prefix, params)
        return parent.prefix + prefix, params

    def __enter__(self):
        if self._block._has_empty_prefix:
            return self
        names = Prefix(self._block.prefix)
        self._before.append((getattr(_Scope._local, "current", None), names))
        _Scope._local.current = self
        names.__enter__()
        return self

    def __exit__(self, *raised):
        if self._block._has_empty_prefix:
            return
        _Scope._local.current, names = self._before.pop()
        names.__exit__(*raised)


class Handle:
    """A hook that was registered; `detach` removes it."""

    def __init__(self, hooks: list[Any], hook: Any) -> None:
        self._hooks, self._hook = hooks, hook

    def detach(self) -> None:
        if self._hook in self._hooks:
            self._hooks.remove(self._hook)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: object) -> None:
        self.detach()


class Block:
    """The base of layers and models: `forward` computes, blocks and Parameters that are attributes
    belong to it. Names begin with `prefix`; `params` is another block's ParameterDict, whose
    parameters of the same names are shared. Threads may call one; initialising, loading and
    training need exclusive use."""

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        self._has_empty_prefix = prefix == ""
        self._prefix, self._params = _Scope.create(prefix, params, self._alias())
        self._name = self._prefix[:-1] if self._prefix.endswith("_") else self._prefix
        self._scope = _Scope(self)
        self._children = {}
        self._reg_params = {}
        self._hooks, self._pre_hooks = [], []

    def _alias(self):
        return type(self).__name__.lower()

    def __setattr__(self, name, value):
        known = self.__dict__.get(name)
        if isinstance(known, (Block, Parameter)) and not isinstance(value, type(known)) \
                and not isinstance(known, type(value)):
            raise TypeError(f"attribute {name} of {self.name} is a {type(known).__name__}, and "
                            f"does not become a {type(value).__name__}")
        if isinstance(value, Block):
            self.register_child(value, name)
        elif isinstance(value, Parameter):
            self._reg_params[name] = value
        super().__setattr__(name, value)

    def __repr__(self):
        lines = [f"  ({name}): " + repr(child).replace("\n", "\n  ")
                 for name, child in self._children.items()]
        return "\n".join([f"{type(self).__name__}(", *lines, ")"])

    @property
    def prefix(self) -> str:
        return self._prefix

    @property
    def name(self) -> str:
        return self._name

    @property
    def params(self) -> ParameterDict:
        """The block's own parameters, without those of its children."""
        return self._params

    def name_scope(self) -> _Scope:
        """`with self.name_scope():` gives the names of blocks made inside the block's prefix."""
        return self._scope

    def collect_params(self, select: str | None = None) -> ParameterDict:
        """All parameters, or those whose names match a regular expression."""
        found = ParameterDict(self._params.prefix)
        found.update(self._params.matching(select))
        for parameter in self._reg_params.values():
            if select is None or re.match(select, parameter.name):
                found.update({parameter.name: parameter})
        for child in self._children.values():
            found.update(child.collect_params(select))
        return found

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Makes a block a child of this one."""
        self._children[str(len(self._children)) if name is None else name] = block

    def apply(self, fn: Callable[[Block], Any]) -> Block:
        """Calls `fn` on all children, then on the block."""
        for child in self._children.values():
            child.apply(fn)
        fn(self)
        return self

    def initialize(self, init: Initializer | str | None = None,
                   ctx: Context | Sequence[Context] | None = None, verbose: bool = False,
                   force_reinit: bool = False) -> None:
        """Initializes all parameters; by default as Uniform()."""
        self.collect_params().initialize(init or initializers.Uniform(), ctx, verbose, force_reinit)

    def cast(self, dtype: DType) -> None:
        """Converts all parameters to another type."""
        for child in self._children.values():
            child.cast(dtype)
        for parameter in self._params.values():
            parameter.cast(dtype)

    def hybridize(self, active: bool = True, **flags: Any) -> None:
        """Hybridizes the HybridBlocks among its children."""
        for child in self._children.values():
            child.hybridize(active, **flags)

    # Files.

    def _structural(self, prefix=""):
        """{name in the tree of attributes: Parameter}"""
        dot = prefix + "." if prefix else ""
        found = {dot + name: parameter for name, parameter in self._reg_params.items()}
        for name, child in self._children.items():
            found.update(child._structural(dot + name))
        return found

    def save_parameters(self, filename: Path, deduplicate: bool = False) -> None:
        """Writes MXNet's file of arrays, by the names of attributes ("0.weight")."""
        arrays, seen = {}, set()
        for name, parameter in self._structural().items():
            if not (deduplicate and parameter in seen):
                arrays[name] = parameter.list_data()[0]._data
            seen.add(parameter)
        params_file.write(filename, arrays)

    def load_parameters(self, filename: Path, ctx: Context | Sequence[Context] | None = None,
                        allow_missing: bool = False, ignore_extra: bool = False,
                        cast_dtype: bool = False, dtype_source: str = "current") -> None:
        """Reads such a file; one of `export` or `ParameterDict.save` too."""
        arrays = named_arrays(filename)
        known = self._structural()
        if not any("." in name for name in arrays) and not arrays.keys() & known.keys():
            known = dict(self.collect_params().items())
            if not arrays.keys() & known.keys():
                known = {name[len(self.prefix):]: parameter for name, parameter in known.items()}
        same = {}  # a shared parameter may be there under one of its names
        for name, parameter in known.items():
            same.setdefault(parameter, []).append(name)
        for names in same.values():
            there = next((name for name in names if name in arrays), None)
            for name in names if there is not None else ():
                arrays.setdefault(name, arrays[there])
        with first_values.together():
            load_into(known, arrays, filename, ctx, allow_missing, ignore_extra, cast_dtype,
                      dtype_source)

    save_params, load_params = save_parameters, load_parameters

    # Calls.

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> Handle:
        """Calls `hook(block, inputs)` before each forward."""
        self._pre_hooks.append(hook)
        return Handle(self._pre_hooks, hook)

    def register_forward_hook(self, hook: Callable[..., Any]) -> Handle:
        """Calls `hook(block, inputs, outputs)` after each forward."""
        self._hooks.append(hook)
        return Handle(self._hooks, hook)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        for hook in [*self._pre_hooks]:
            hook(self, args)
        outputs = self.forward(*args, **keywords)
        for hook in [*self._hooks]:
            hook(self, args, outputs)
        return outputs

    def forward(self, *args: Any, **keywords: Any) -> Any:
        """Computes the outputs; a block of one's own defines it."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def summary(self, *inputs: Any) -> None:
        """Prints the outputs' shapes and the counts of parameters of all blocks, for a forward on
        these inputs."""
        rows, handles = [], []

        def watch(block):
            def hook(block, _, outputs):
                own = sum(_size(parameter) for parameter in block._reg_params.values())
                rows.append((block.name, type(block).__name__, _shapes(outputs), own))
            handles.append(block.register_forward_hook(hook))

        active = []

        def pause(block):
            if getattr(block, "_active", False):
                active.append(block)
                block._active = False
        self.apply(watch)
        self.apply(pause)
        try:
            self(*inputs)
        finally:
            for handle in handles:
                handle.detach()
            for block in active:
                block._active = True
        total = sum(_size(parameter) for parameter in self.collect_params().values())
        print(f"{'block':32}{'kind':20}{'output':28}{'parameters':>12}")
        for name, kind, shapes, own in rows:
            print(f"{name:32}{kind:20}{shapes:28}{own:12}")
        print(f"{'all, each once':80}{total:12}")


def _size(parameter):
    size = 1
    for extent in parameter.shape or ():
        size *= extent
    return size


def _shapes(outputs):
    if isinstance(outputs, (list, tuple)):
        return ", ".join(map(_shapes, outputs))
    return "x".join(map(str, outputs.shape)) if hasattr(outputs, "shape") else ""
