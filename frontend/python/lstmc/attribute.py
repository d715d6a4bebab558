"""Attributes of a node besides those of its op, and scopes that set them (docs/mxnet.md §12)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from .error import usage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# Names that MXNet accepts with and without underscores.
HIDDEN = ("ctx_group", "force_mirroring", "lr_mult", "mirror_stage", "wd_mult")


def is_attribute(name):
    """Whether a keyword of a call is a node's attribute, and no argument of the op."""
    return name in HIDDEN or (len(name) > 4 and name.startswith("__") and name.endswith("__"))


def attributes_of(given, what):
    """Normalises the names to {"__lr_mult__": "0.1"}, the form in files; names may come with or
    without underscores. Raises lstmc.Error for unknown names."""
    found = {}
    for name, value in (given or {}).items():
        if not is_attribute(name):
            raise usage(f'{what} has no attribute "{name}"; there are {", ".join(HIDDEN)}, and '
                        f'names of your own like __{name}__')
        found[name if name.startswith("__") else f"__{name}__"] = str(value)
    return found


def with_bare_names(attributes):
    """Adds the bare name of each hidden attribute, because MXNet lists both."""
    return {**attributes,
            **{name: attributes[f"__{name}__"] for name in HIDDEN if f"__{name}__" in attributes}}


def scopes_of(attributes, dtype):
    """[(scope, value)] in the form of lstmc._core."""
    scopes = [("ctx_group", attributes["__ctx_group__"])] if "__ctx_group__" in attributes else []
    if attributes.get("__force_mirroring__", "").lower() in ("true", "1"):
        scopes.append(("recompute", ""))
    return scopes + ([("dtype", dtype)] if dtype else [])


class AttrScope:
    """Sets attributes of the nodes made inside: `with AttrScope(ctx_group="layer0"):`. `ctx_group`
    names a group for placement (`place={"layer0": "cpu:1"}`); `force_mirroring=True` recomputes the
    ops in backward instead of storing their results; `__lr_mult__="0.1"` and `__wd_mult__` apply to
    the parameters; other names with underscores are kept for `attr_dict()`. `dtype="bf16"` sets the
    type of computation. An inner scope overrides an outer one. A scope applies to its own thread
    only."""

    _local = threading.local()

    def __init__(self, **attributes: Any) -> None:
        self._dtype = attributes.pop("dtype", None)
        self._attributes = attributes_of(attributes, "AttrScope")
        self._before = None

    @classmethod
    def current(cls) -> tuple[dict[str, str], str | None]:
        """The innermost scope's (attributes, dtype)."""
        return getattr(cls._local, "current", ({}, None))

    def get(self, attr: Mapping[str, str] | None) -> dict[str, str]:
        """The scope's attributes, overridden by those of the dict."""
        return {**self._attributes, **attributes_of(attr, "attr")}

    def __enter__(self) -> AttrScope:
        self._before = AttrScope.current()
        attributes, dtype = self._before
        AttrScope._local.current = ({**attributes, **self._attributes}, self._dtype or dtype)
        return self

    def __exit__(self, *_: object) -> None:
        AttrScope._local.current = self._before
