"""Types of the keywords of calls, for `**keywords: Unpack[CompileKeywords]`. Type checkers and
editors read keyword_types.pyi, which stubs.py writes from these."""

from typing import TypedDict

from .keywords import keywords_of

# The arguments that each call has besides.
_SHAPED = ("shapes", "types", "entries", "initializer")
OWN = {
    "NetworkKeywords": ("Network", ()),
    "CompileKeywords": ("compile", _SHAPED),
    "FitKeywords": ("fit", (*_SHAPED, "data", "valid", "batch", "callback", "metric", "params",
                            "shuffle")),
    "SessionKeywords": ("session", ()),
    "SessionFitKeywords": ("Session.fit", ("data", "valid", "callback", "metric")),
}


def described(name):
    """{keyword: (annotation, documentation)} of a type."""
    return keywords_of(*OWN[name])


for _name in OWN:
    globals()[_name] = TypedDict(
        _name, {key: f"{kind} | None" for key, (kind, _) in described(_name).items()}, total=False)
