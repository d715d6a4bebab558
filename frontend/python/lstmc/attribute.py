"""Attributes that a node has beside those of its op, and scopes that give them: docs/mxnet.md §12
has what they mean."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from .error import usage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# Names that MXNet takes with and without underscores.
HIDDEN = ("ctx_group", "force_mirroring", "lr_mult", "mirror_stage", "wd_mult")


def is_attribute(name):
    """Whether a keyword of a call is one of these, and no argument of the op."""
    return name in HIDDEN or (len(name) > 4 and name.startswith("__") and name.endswith("__"))


def attributes_of(given, what):
    """{"__lr_mult__": "0.1"} of names with and without underscores, as files have them. Raises
    lstmc.Error for other names."""
    found = {}
    for name, value in (given or {}).items():
        if not is_attribute(name):
            raise usage(f'{what} has no attribute "{name}"; there are {", ".join(HIDDEN)}, and '
                        f'names of your own like __{name}__')
        found[name if name.startswith("__") else f"__{name}__"] = str(value)
    return found


def with_bare_names(attributes):
    """The same, hidden ones under both of their names, as MXNet lists them."""
    return {**attributes,
            **{name: attributes[f"__{name}__"] for name in HIDDEN if f"__{name}__" in attributes}}


def scopes_of(attributes, dtype):
    """(scope, value) as lstmc._core takes them."""
    scopes = [("ctx_group", attributes["__ctx_group__"])] if "__ctx_group__" in attributes else []
    if attributes.get("__force_mirroring__", "").lower() in ("true", "1"):
        scopes.append(("recompute", ""))
    return scopes + ([("dtype", dtype)] if dtype else [])


class AttrScope:
    """`with AttrScope(ctx_group="layer0"):` names a group for placement (`place={"layer0":
    "cpu:1"}`); `force_mirroring=True` computes what is inside again for backward instead of keeping
    it; `__lr_mult__="0.1"` and `__wd_mult__` are those of the parameters inside; other names with
    underscores are kept for `attr_dict()`. `dtype="bf16"` computes in that type. The inner scope
    wins. A scope is in force in its thread alone."""

    _local = threading.local()

    def __init__(self, **attributes: Any) -> None:
        self._dtype = attributes.pop("dtype", None)
        self._attributes = attributes_of(attributes, "AttrScope")
        self._before = None

    @classmethod
    def current(cls) -> tuple[dict[str, str], str | None]:
        """(attributes, dtype) in force."""
        return getattr(cls._local, "current", ({}, None))

    def get(self, attr: Mapping[str, str] | None) -> dict[str, str]:
        """The scope's attributes and those of the dict, which win."""
        return {**self._attributes, **attributes_of(attr, "attr")}

    def __enter__(self) -> AttrScope:
        self._before = AttrScope.current()
        attributes, dtype = self._before
        AttrScope._local.current = ({**attributes, **self._attributes}, self._dtype or dtype)
        return self

    def __exit__(self, *_: object) -> None:
        AttrScope._local.current = self._before
