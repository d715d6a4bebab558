"""Blocks that call their children one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..error import warn
from .block import Block
from .hybrid import HybridBlock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class _Chain:
    def add(self, *blocks: Block) -> None:
        """Appends blocks."""
        for block in blocks:
            self.register_child(block)

    def _run(self, x, *args):
        for child in self._children.values():
            x = child(x, *args)
            args = ()
            if isinstance(x, (tuple, list)):
                x, *args = x
        return (x, *args) if args else x

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[Block]:
        return iter(self._children.values())

    def __getitem__(self, key: int | slice) -> Any:
        found = list(self._children.values())[key]
        if not isinstance(found, list):
            return found
        chain = type(self)(prefix=self._prefix)
        with chain.name_scope():
            chain.add(*found)
        return chain


class Sequential(_Chain, Block):
    """Calls its children one after the other."""

    def forward(self, x: Any, *args: Any) -> Any:
        return self._run(x, *args)

    def hybridize(self, active: bool = True, **flags: Any) -> None:
        if len(self) and all(isinstance(child, HybridBlock) for child in self):
            warn(f"{self.name}: all its children are HybridBlocks, so as a HybridSequential it "
                 "would be one program")
        super().hybridize(active, **flags)


class HybridSequential(_Chain, HybridBlock):
    """Calls its children one after the other, as one program after `hybridize()`."""

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:
        return self._run(x, *args)
