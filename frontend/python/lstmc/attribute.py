"""Scopes in which nodes are made."""

import threading

from .error import usage

_KNOWN = {"ctx_group", "force_mirroring", "dtype"}


class AttrScope:
    """`with AttrScope(ctx_group="layer0"):` names a group for placement (`place={"layer0": "cpu:1"}`); `force_mirroring=True`
    computes what is inside again for backward instead of keeping it; `dtype="bf16"` computes in that type."""

    _local = threading.local()

    def __init__(self, **scopes):
        for name in scopes.keys() - _KNOWN:
            raise usage(f'AttrScope has no attribute "{name}"; there are {", ".join(sorted(_KNOWN))}')
        self._scopes = scopes
        self._before = None

    @classmethod
    def current(cls):
        """(scope, value) of all that is in force, as lstmc._core takes them; the inner scope wins."""
        return getattr(cls._local, "current", ())

    def __enter__(self):
        self._before = AttrScope.current()
        added = []
        if "ctx_group" in self._scopes:
            added.append(("ctx_group", self._scopes["ctx_group"]))
        if self._scopes.get("force_mirroring") in (True, "True", "true", "1"):
            added.append(("recompute", ""))
        if "dtype" in self._scopes:
            added.append(("dtype", self._scopes["dtype"]))
        AttrScope._local.current = self._before + tuple(added)
        return self

    def __exit__(self, *_):
        AttrScope._local.current = self._before
