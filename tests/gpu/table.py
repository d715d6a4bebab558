"""RESULTS.md of stages.py: the checks, and for each cell its time beside its peers and the limits
of the card."""

import collections
import datetime
import textwrap

OWN_KERNELS = "by our own kernels"  # a device's note about a launch that no library took

# Measurements of a cell: its least time (or None) and the reason if there is none; its devices'
# notes; the answer of peers.py; its least time with copies from and to the host.
Cell = collections.namedtuple("Cell", "seconds why notes peer fed",
                              defaults=(None, "", "", {}, None))


def milliseconds(seconds):
    return "-" if seconds is None else f"{seconds * 1e3:.3g} ms"


def card_of(name, facts):
    """The card of Cards.def whose name is a word in the driver's name."""
    return next((card for card in facts["cards"] if card in name.replace("-", " ").split()), None)


def cell_row(cell, found, card, peaks, real):
    """A row of the table: the cell's time beside PyTorch and cuDNN; the card's limit (`peaks`:
    operations of each rule and bytes, per second); the reasons for the difference."""
    seconds, peer = found.seconds, found.peer
    torch, cudnn = peer.get("torch_s"), peer.get("cudnn_s")
    limit = forecast = between = None
    if card:
        flops, memory = peaks[cell["rule"]], peaks["memory"]
        limit = max(cell["flops"] * (0.5 if cell["padded"] else 1) / flops,
                    cell["weight_bytes"] / memory)
        forecast = cell["forecasts"][card]
        between = (
            f"forecast {milliseconds(forecast['seconds'])}, {milliseconds(forecast['waiting_s'])} "
            f"of it steps that wait for one another ({', '.join(forecast['ways'])})"
            + (f"; measured {seconds / forecast['seconds']:.2g} times that" if real and seconds
               else ""))
    time_of = lambda value: milliseconds(value) if real else "-"
    time_with = lambda value, how, why: ((time_of(value) + (f" ({how})" if how else "")) if value
                                         else why or peer.get("missing", "-"))
    over = lambda other: f"{other / seconds:.2f}x" if real and seconds and other else "-"
    own = ", by our own kernels" if OWN_KERNELS in found.notes else ""
    said = "; ".join(filter(None, [between or "the card has no data sheet here", found.notes]))
    return [f"{cell['name']}, {cell['entry']}", (cell["rule"] or "strict fp32") + own,
            time_of(seconds) if seconds else found.why or "-",
            time_with(torch, peer.get("torch_as"), peer.get("torch_missing")),
            time_with(cudnn, peer.get("cudnn_algorithm"), peer.get("cudnn_missing")),
            over(torch), over(cudnn), cell["goal"] or "-", milliseconds(limit), said]


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return lines + ["| " + " | ".join(str(c).replace("|", "/") for c in row) + " |" for row in rows]


def document(stages):
    """The page for the stages that have run so far."""
    facts, card = stages.facts, card_of(stages.card, stages.facts)
    where = ", ".join(
        filter(None, [str(datetime.date.today()), stages.card or stages.device, stages.machine,
                      facts["version"], stages.peers.versions or "no PyTorch"]))
    lines = ["# What a GPU showed" if stages.real else "# A rehearsal, of which no time is shown",
             "",
             *textwrap.wrap(f"{where}. Strict fp32 has the bits of a cpu; a rule of --fast uses "
                            "tensor cores, cuBLASLt or cuDNN, with weights in f32.", 100,
                            break_long_words=False, break_on_hyphens=False), ""]
    lines += table(["what", "found"],
                   [*stages.checks, *((stage, "has not ended") for stage in stages.ahead)]) + [""]
    lines += table(["cell", "rule", "lstmc", "PyTorch", "cuDNN, its best algorithm", "over PyTorch",
                    "over cuDNN", "goal", "limit of the card", "what stands between"],
                   [cell_row(cell, found, card, facts["cards"].get(card), stages.real)
                    for cell, found in zip(facts["cells"], stages.cells)])
    return "\n".join(lines) + "\n"
