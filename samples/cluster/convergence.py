#!/usr/bin/env python3
"""convergence.py [LSTMC] [-o F.svg]: one task trained by four workers with dist_sync, and with
dist_async at staleness 0, 2 and 8, drawn as the loss of validations over the batches that were
seen. A batch is one update of dist_sync, and one of each worker of dist_async.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKERS, UPDATES, EVERY = 4, 200, 20
RUNS = [
    ("dist_sync", ["--kv-store", "dist_sync"], "#222222", "1.5"),
    ("dist_async, staleness 0", ["--kv-store", "dist_async", "--staleness", "0"], "#e69f00", "5"),
    ("dist_async, staleness 2", ["--kv-store", "dist_async", "--staleness", "2"], "#0072b2", "2"),
    ("dist_async, staleness 8", ["--kv-store", "dist_async", "--staleness", "8"], "#d55e00", "2")]
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 360, 60, 20, 20, 45


def losses(lstmc, store, folder):
    """[(update, loss)] of the validations."""
    words = [lstmc, "launch", "-n", WORKERS, "-s", 1, "--", "train", "samples/char_lm.lnet",
             "--data", "text:docs/language.md,valid=0.1", "-b", 16,
             "--set", "seq=32", "--set", "hidden=64", "--set", "layers=1", "--after", f"{UPDATES}u",
             "--valid-every", f"{EVERY}u", "--save-every", f"{UPDATES}u", "-t", 1,
             "-q", "--format", "jsonl", *store, "-o", folder]
    done = subprocess.run([str(w) for w in words], cwd=ROOT, stdout=subprocess.PIPE, text=True,
                          check=True)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return [(e["update"], e["loss"]) for e in events if e["event"] == "valid"]


def picture(curves):
    points = [p for _, _, _, curve in curves for p in curve]
    low, high = min(y for _, y in points) - 0.05, max(y for _, y in points) + 0.05
    across = lambda x: LEFT + (WIDTH - LEFT - RIGHT) * x / UPDATES
    down = lambda y: TOP + (HEIGHT - TOP - BOTTOM) * (high - y) / (high - low)
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for i in range(6):
        y, x = low + (high - low) * i / 5, UPDATES * i // 5
        svg += [
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{down(y):.1f}" y2="{down(y):.1f}" '
            'stroke="#dddddd"/>',
            f'<text x="{LEFT - 6}" y="{down(y) + 4:.1f}" text-anchor="end">{y:.2f}</text>',
            f'<text x="{across(x):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{x}</text>']
    svg += [f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">batches '
            f'of {WORKERS} workers</text>',
            f'<text x="14" y="{HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 14 '
            f'{HEIGHT / 2})">loss of validations</text>']
    # thin ones over thick ones
    for i, (name, colour, width, curve) in sorted(enumerate(curves), key=lambda c: -float(c[1][2])):
        line = " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in curve)
        at = TOP + 16 + 18 * i
        svg += [f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="{width}" '
                'stroke-opacity="0.8"/>',
                f'<line x1="{WIDTH - 215}" x2="{WIDTH - 190}" y1="{at - 4}" y2="{at - 4}" '
                f'stroke="{colour}" stroke-width="{width}"/>',
                f'<text x="{WIDTH - 184}" y="{at}">{name}</text>']
    return "\n".join(svg + ["</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lstmc", nargs="?", default=ROOT / "build/lstmc")
    parser.add_argument("-o", "--output", default="convergence.svg")
    given = parser.parse_args()
    curves = []
    with tempfile.TemporaryDirectory() as scratch:
        for number, (name, store, colour, width) in enumerate(RUNS):
            curve = losses(pathlib.Path(given.lstmc).resolve(), store,
                           pathlib.Path(scratch) / str(number))
            print(f"{name}: {curve[-1][1]:.4f} after {curve[-1][0]} batches", flush=True)
            curves.append((name, colour, width, curve))
    pathlib.Path(given.output).write_text(picture(curves))


if __name__ == "__main__":
    main()
