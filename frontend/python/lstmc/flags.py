"""Keyword arguments as the command's flags: `batch=8` is `--batch 8`, `check_nan=True` is
`--check-nan`. Values, defaults and messages are the command's own."""

import functools

from . import _core
from .error import usage

# The command's flags by call. All calls that compile take the flags that affect compilation; a call
# refuses other flags of the command, which would have no effect.
_SOURCE = {"batch_size", "include", "devices", "gpus", "mem", "allow_data", "limit", "quiet",
           "werror"}
_COMPILE = {*_SOURCE, "optimizer", "fit", "entry"}
_SESSION = {"threads", "seed", "devices", "gpus", "check_nan", "limit", "quiet"}
#: Flags of the training loop; all others are for the compiler or the session.
LOOP = {"after", "num_epochs", "valid_every", "save_every", "disp_every", "disp_batches", "keep",
        "keep_every", "check_replicas", "early_stop",
        "output", "resume", "force", "tensorboard"}
# call: (command, whether it takes the compiler's flags, further flags)
_TAKEN = {
    "load": ("run", False, {"limit", "quiet"}),
    "Network": ("run", True, _SOURCE),
    "compile": ("compile", True, _COMPILE),
    "fit": ("train", True,
            {*_COMPILE, *_SESSION, *LOOP, "lr", "metric", "init_params"} - {"entry"}),
    "Session.fit": ("train", False, {*LOOP, "seed", "init_params", "limit"}),
    "session": ("run", False, _SESSION),
    "plot": ("plot", True, {"include", "limit", "allow_data"}),
}
_INSTEAD = {  # the alternative to a refused flag
            "color": "", "config": "give its values as keywords",
            "data": "it is the first argument", "dry_run": "compile() checks a network",
            "dump_config": "", "expect": "compare what it returns", "force": "", "format": "",
            "help": "help() has its documentation", "json": "",
            "log": "callback= is given every event", "lr_find": "",
            "monitor": "callback= is given every event", "output": "save() writes the package",
            "params": "give them to session()", "print_pass_times": "",
            "progress": "callback= is given every event", "valid": "it is an argument",
            "verbose": "callback= is given every event",
            "werror": "warnings.simplefilter() makes errors of lstmc.Warning",
}


@functools.lru_cache(None)
def _flags_of(command):
    """{keyword: (whether it is for the compiler, whether it is a switch)}"""
    return {name.replace("-", "_"): (compiled, switch)
            for name, compiled, switch in _core.flags(command)}


def taken(call):
    """The flags that a call accepts, as keywords."""
    command, compiles, others = _TAKEN[call]
    known = _flags_of(command)
    return ({name for name, (compiled, _) in known.items() if compiles and compiled}
            | (others & known.keys()))


def check_taken(call, values):
    """Refuses keywords that are flags of the command without effect in this call. Unknown keywords
    are left to the caller."""
    command = _TAKEN[call][0]
    known, taken_here = _flags_of(command), taken(call)
    for key, value in values.items():
        if key not in known:
            continue
        _, switch = known[key]
        flag = key.replace("_", "-")
        if key not in taken_here:
            instead = _INSTEAD.get(key, "")
            raise usage(f'{key}= is a flag of the command (lstmc {command} --{flag}), which {call} '
                        f'does not take{"; " + instead if instead else ""}')
        if switch and not (value is None or isinstance(value, bool)
                           or (key, value) == ("resume", "auto")):
            raise usage(f"{key}= is True or False, got {value!r}")
        if not switch and value is True:
            raise usage(f"{key}= takes a value, got True")


def _text(value):
    if isinstance(value, (list, tuple)):
        return ",".join(_text(item) for item in value)
    return str(value)


def _pairs(flag, value):
    """The values NAME=VALUE of a flag from a dict; shapes are NAME:2x3."""
    for name, item in value.items():
        if flag == "shape":
            yield f"{name}:{'x'.join(str(int(extent)) for extent in item)}"
        else:
            yield f"{name}={_text(item)}"


_ONE_TEXT = {"place"}  # flags that take a dict as one value


def words(values):
    """The command line for these keyword arguments; None and False are left out."""
    line = []
    for key, value in values.items():
        flag = key.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            line.append(f"--{flag}")
        elif isinstance(value, dict):
            texts = list(_pairs(flag, value))
            for text in [",".join(texts)] if flag in _ONE_TEXT else texts:
                line += [f"--{flag}", text]
        elif (isinstance(value, (list, tuple))
              and flag not in ("devices", "metric", "work-load-list", "recompute", "entry")):
            for item in value:
                line += [f"--{flag}", _text(item)]
        else:
            line += [f"--{flag}", _text(value)]
    return line


def with_fit_keys(values, command):
    """Moves keys of fit(..) that are no flags of the command into `fit`."""
    flags, fit = {}, dict(values.get("fit") or {})
    keys = set(_core.fit_keys())
    for key in sorted(fit.keys() & values.keys()):
        if values[key] is not None:
            raise usage(f"{key} is given twice, as {key}= and in fit=")
    if not isinstance(values.get("optimizer"), (str, type(None))):
        raise usage('optimizer= is a name here, and its values are keywords: optimizer="adam", '
                    f'learning_rate=0.1; got {values["optimizer"]!r}')
    if "optimizer_params" in values:
        raise usage("optimizer_params= is a Module's; here its values are keywords: "
                    "learning_rate=0.1")
    if (values.get("lr") is not None
        and (values.get("learning_rate") is not None or "learning_rate" in fit)):
        raise usage("lr= and learning_rate are the same rate: give one of them")
    for key, value in values.items():
        if key == "fit":
            continue
        if not _core.is_flag(key.replace("_", "-"), command) and key in keys:
            if key == "initializer":
                raise usage("the initializer of a .lnet file stands in its fit(..)")
            if value is not None:
                fit[key] = value
        else:
            flags[key] = value
    if fit:
        flags["fit"] = fit
    return flags
