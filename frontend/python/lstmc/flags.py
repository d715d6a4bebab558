"""Keyword arguments as the command's flags: `batch=8` is `--batch 8`, `check_nan=True` is `--check-nan`. Values, defaults and messages are
the command's own."""

from . import _core
from .error import usage


def _text(value):
    if isinstance(value, (list, tuple)):
        return ",".join(_text(item) for item in value)
    return str(value)


def _pairs(flag, value):
    """The texts of a flag that is given NAME=VALUE, from a dict; shapes are NAME:2x3."""
    for name, item in value.items():
        if flag == "shape":
            yield f"{name}:{'x'.join(str(int(extent)) for extent in item)}"
        else:
            yield f"{name}={_text(item)}"


_ONE_TEXT = {"place"}  # of those, a dict is one value


def words(values):
    """The words of a command line for these keyword arguments; None and False are left out."""
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
        elif isinstance(value, (list, tuple)) and flag not in ("devices", "metric", "work-load-list", "recompute", "entry"):
            for item in value:
                line += [f"--{flag}", _text(item)]
        else:
            line += [f"--{flag}", _text(value)]
    return line


def with_fit_keys(values, command):
    """The same, where keys of fit(..) that are no flags of the command become its `fit`."""
    flags, fit = {}, dict(values.get("fit") or {})
    keys = set(_core.fit_keys())
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
