"""Keywords of the calls that compile, run and train. Each is a field of a request, made from
frontend/driver/request.def; the compiler gets its value as text."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, NamedTuple

from . import _core
from .error import usage

if TYPE_CHECKING:
    from typing import Any, Callable, TypeVar

    Function = TypeVar("Function", bound=Callable[..., Any])


class Field(NamedTuple):
    """A record of request.def, or MXNet's name for one (`before` and `after` are put around its
    value, which makes it a value of the field `of`)."""

    group: str  # the struct of the request
    name: str
    type: str
    argument: str  # as help shows it: "" for a switch, the words "a|b" of a choice
    default: str
    help: str
    commands: list[str]
    of: str
    before: str = ""
    after: str = ""

    @property
    def is_switch(self):
        return self.type in ("Switch", "Tally")

    @property
    def repeats(self):
        """Whether a dict or list is several values of the field, and not one text."""
        return self.type.startswith("Many<")

    @property
    def kind(self):
        """The type of a value: "Count" of "InForce<Count>"."""
        return self.type.partition("<")[2][:-1] or self.type

    @property
    def has_names(self):
        """Whether its values have names, so that a dict gives them."""
        return (self.kind in ("Shape", "NameValue", "NamedCount")
                or self.kind == "Text" and "=" in self.argument)

    @property
    def has_items(self):
        """Whether a list gives its values."""
        return (self.type.startswith("Many") or self.kind in ("Words", "Counts")
                or self.kind == "Text" and self.argument.endswith(",..."))

    def served_by(self, job):
        return self.commands == ["*"] or job in self.commands


def _fields():
    """{keyword: its record}"""
    found, by_field = {}, {}
    for group, field, name, kind, argument, default, text, commands in _core.request_fields():
        by_field[field] = found[name] = Field(group, name, kind, argument, default, text,
                                              commands.split(), name)
    for name, field, before, after, argument, text, commands in _core.request_spellings():
        found[name] = by_field[field]._replace(name=name, argument=argument, default="", help=text,
                                               commands=commands.split(), before=before,
                                               after=after)
    return found


FIELDS = _fields()


class Call(NamedTuple):
    """The fields that a call takes: those of some structs that the command of its job has too, and
    others by name."""

    job: str  # the command that does the same
    groups: tuple = ()
    also: tuple = ()
    without: tuple = ()
    fit_keys: bool = False  # whether it takes keys of fit(..) too

    def takes(self, field):
        return field.served_by(self.job) and field.of not in self.without and (
            field.group in self.groups or field.of in self.also)


_SOURCE = ("input", "layout", "memory", "numerics", "program")
_LOOP = ("loop", "output", "report")
# What the command prints, runs of ranks, and what is an argument of the call.
_REFUSED = ("verbose", "monitor", "lr_find", "staleness", "replay", "params")
CALLS = {
    "load": Call("run", also=("limit", "quiet")),
    "Network": Call("run", _SOURCE, ("quiet",), ("check_nan",)),
    "compile": Call("compile", (*_SOURCE, "optimizer"), ("quiet",), fit_keys=True),
    "fit": Call("train", (*_SOURCE, *_LOOP, "machine", "optimizer", "run"), without=_REFUSED,
                fit_keys=True),
    "Session.fit": Call("train", _LOOP, ("seed", "limit"), (*_REFUSED, "quiet")),
    "session": Call("run", ("machine", "run"), ("devices", "check_nan", "limit", "quiet"),
                    _REFUSED),
    "plot": Call("plot", _SOURCE, (), ("devices", "mem", "werror")),
}
#: Keywords of `fit` that are for the loop, and those for its session; others are for the compiler.
LOOP = {name for name, field in FIELDS.items() if field.group in _LOOP and name != "quiet"}
SESSION = {"threads", "seed", "check_nan", "limit", "quiet"}
_INSTEAD = {  # the alternative to a refused flag
    "config": "give its values as keywords", "data": "it is the first argument",
    "dry_run": "compile() checks a network", "expect": "compare what it returns",
    "help": "help() has its documentation", "log": "callback= is given every event",
    "monitor": "callback= is given every event", "output": "save() writes the package",
    "params": "give them to session()", "progress": "callback= is given every event",
    "valid": "it is an argument", "verbose": "callback= is given every event",
    "werror": "warnings.simplefilter() makes errors of lstmc.Warning",
}


@functools.lru_cache(None)
def taken(call):
    """{keyword: its record} of a call, in the order of the table."""
    return {name: field for name, field in FIELDS.items() if CALLS[call].takes(field)}


@functools.lru_cache(None)
def _refused(call):
    """The command's flags that the call does not take, as keywords."""
    return set(_core.flags(CALLS[call].job)) - taken(call).keys()


def check_taken(call, values):
    """Refuses keywords that the call does not take, and values of another kind."""
    for name, value in values.items():
        if name in _refused(call):
            job, instead = CALLS[call].job, _INSTEAD.get(name, "")
            flag = name.replace("_", "-")
            raise usage(f'{name}= is a flag of the command (lstmc {job} --{flag}), which {call} '
                        f'does not take{"; " + instead if instead else ""}')
        if name in taken(call):
            _check_value(FIELDS[name], value)
        elif not (CALLS[call].fit_keys and name in _core.fit_keys()):
            raise _unknown(call, name)


def _unknown(call, name):
    if name == "optimizer_params":
        return usage("optimizer_params= is a Module's; here its values are keywords: "
                     "learning_rate=0.1")
    others = [other for other in CALLS if name in taken(other)]
    meant = (f"it is one of {' and '.join(others)}" if others
             else _core.meant_keyword(name, list(keywords_of(call))))
    return usage(f'{call} has no keyword "{name}"; {meant}')


def _check_value(field, value):
    if field.is_switch and not (value is None or isinstance(value, bool)
                                or (field.name, value) == ("resume", "auto")):
        raise usage(f"{field.name}= is True or False, got {value!r}")
    if not field.is_switch and value is True:
        raise usage(f"{field.name}= takes a value, got True")
    if (isinstance(value, dict) and not field.has_names
        or isinstance(value, (list, tuple)) and not field.has_items):
        raise usage(f"{field.name}= takes one value, got {value!r}")


def _text(value):
    if isinstance(value, (list, tuple)):
        return ",".join(_text(item) for item in value)
    return str(value)


def _texts(field, value):
    """The values of a field as texts."""
    if field.is_switch:
        return [""]
    if isinstance(value, dict):
        items = [f"{name}:{'x'.join(str(int(extent)) for extent in item)}"
                 if field.kind == "Shape" else f"{name}={_text(item)}"
                 for name, item in value.items()]
    elif isinstance(value, (list, tuple)):
        items = [_text(item) for item in value]
    else:
        items = [_text(value)]
    return items if field.repeats else [",".join(items)]


def as_fields(values):
    """[(flag, its value as text)] for the compiler; None and False are left out."""
    found = []
    for name, value in values.items():
        if value is None or value is False:
            continue
        field = FIELDS[name]
        if (field.of != name and values.get(field.of) is not None
            and not field.type.startswith("Many")):
            raise usage(f"{name}= is {field.of}= under MXNet's name: give one of them")
        found += [(field.of.replace("_", "-"), field.before + text + field.after)
                  for text in _texts(field, value)]
    return found


def with_fit_keys(values, job):
    """Moves keys of fit(..) that are no fields of the job into `fit`."""
    fields, fit = {}, dict(values.get("fit") or {})
    keys = set(_core.fit_keys())
    for key in sorted(fit.keys() & values.keys()):
        if values[key] is not None:
            raise usage(f"{key} is given twice, as {key}= and in fit=")
    if not isinstance(values.get("optimizer"), (str, type(None))):
        raise usage('optimizer= is a name here, and its values are keywords: optimizer="adam", '
                    f'learning_rate=0.1; got {values["optimizer"]!r}')
    if (values.get("lr") is not None
        and (values.get("learning_rate") is not None or "learning_rate" in fit)):
        raise usage("lr= and learning_rate are the same rate: give one of them")
    for key, value in values.items():
        if key == "fit":
            continue
        if key in keys and not (key in FIELDS and FIELDS[key].served_by(job)):
            if key == "initializer":
                raise usage("the initializer of a .lnet file stands in its fit(..)")
            if value is not None:
                fit[key] = value
        else:
            fields[key] = value
    if fit:
        fields["fit"] = fit
    return fields


# Types and documentation.

_KINDS = {"Amount": "str", "ByteCount": "int | str", "Count": "int | str",
          "Counts": "int | Sequence[int] | str", "Extent": "int | str",
          "FloatType": "str", "NameValue": "Mapping[str, Any]",
          "NamedCount": "Mapping[str, int | str]", "Number": "float", "Rate": "float | str",
          "Shape": "Mapping[str, Sequence[int]]", "Words": "str | Sequence[str]"}


def annotation(field):
    """The type of a keyword's values, as an annotation."""
    if field.is_switch:
        return "bool"
    if field.kind.startswith("Choice<"):
        words = field.argument.split("|")
        return f"Literal[{', '.join(_literals(words))}]"
    if field.kind != "Text":
        kind = _KINDS[field.kind]
        return "int" if field.of != field.name and field.argument == "N" else kind
    if field.before:  # "gpu:" before numbers
        return "int | str | Sequence[int]"
    kinds = ["str"]
    if field.has_items:
        kinds.append("Sequence[str]")
    if field.has_names:
        kinds.append("Mapping[str, str]")
    return " | ".join(kinds)


def _literals(words):
    for word in words:
        yield f'"{word}"'
        if word.isdigit():
            yield word


def keywords_of(call, own=()):
    """{keyword: (annotation, documentation)} of a call whose arguments are `own`."""
    found = {}
    for name, field in taken(call).items():
        if name not in own:
            default = f" (default {field.default})" if field.default else ""
            found[name] = annotation(field), f"{field.help}{default}"
    if CALLS[call].fit_keys:
        for name in sorted(_core.fit_keys()):
            if name not in own:
                found.setdefault(name, ("Any", "a key of fit(..)"))
    return found


def takes(call: str) -> Callable[[Function], Function]:
    """Replaces `**keywords` in the signature of a function by the keywords of the call, and
    documents them."""

    def decorate(function):
        signature = inspect.signature(function)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        keywords = keywords_of(call, signature.parameters)
        function.__signature__ = signature.replace(parameters=own + [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None,
                              annotation=f"{kind} | None")
            for name, (kind, _) in keywords.items()])
        function.__doc__ = "\n".join(
            [inspect.cleandoc(function.__doc__), "", "Keywords:",
             *(f"    {name}: {text}" for name, (_, text) in keywords.items())])
        return function

    return decorate
