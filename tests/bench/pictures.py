#!/usr/bin/env python3
"""Pictures in a real browser: `pictures.py LSTMC SOURCE FOLDER`.

Draws samples as SVG and as pages, opens them in headless Chromium, points at every layer, and finds
texts that are cut off or overlap. FOLDER keeps the pictures and the browser's renderings (PNG).
Exit 1 if anything is found.
"""
import html
import json
import pathlib
import re
import subprocess
import sys

lstmc, source, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])

# Every picture: name, flags of plot.
PICTURES = [
    ("char_lm.svg", ["samples/char_lm.lnet"]),
    ("cell_400.svg", ["samples/cell.lnet", "--set", "seq=400"]),
    ("cell_steps.svg", ["samples/cell.lnet", "--set", "seq=3", "--unfold", "layer"]),
    ("stacked_steps.svg", ["samples/stacked.lnet", "--unfold", "time"]),
    ("word_lm_devices.svg", ["samples/word_lm.lnet", "-d", "2xcpu"]),
    ("char_lm_layers.svg",
     ["samples/char_lm.lnet", "-d", "2xcpu", "--place", "layer0=cpu:0,layer1=cpu:1"]),
    ("char_lm_schedule.svg", ["samples/char_lm.lnet", "-d", "2xcpu", "--what", "schedule"]),
    ("char_lm_memory.svg", ["samples/char_lm.lnet", "-d", "2xcpu", "--what", "memory"]),
    ("char_lm.html", ["samples/char_lm.lnet"]),
    ("cell_400.html", ["samples/cell.lnet", "--set", "seq=400"]),
    ("forecast_devices.html", ["samples/forecast.lnet", "-d", "2xcpu"]),
]

# Texts that leave their picture, or that cover another by more than a tenth of the smaller one.
LOOK = """
const found = [];
for (const svg of document.querySelectorAll("svg")) {
  const whole = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].filter(t => t.textContent.trim())
    .map(t => [t.textContent, t.getBoundingClientRect()]);
  for (const [text, box] of texts)
    if (box.left < whole.left - 1 || box.right > whole.right + 1 || box.top < whole.top - 1 || box.bottom > whole.bottom + 1)
      found.push("cut off: " + text);
  for (let i = 0; i < texts.length; ++i)
    for (let j = i + 1; j < texts.length; ++j) {
      const [a, b] = [texts[i][1], texts[j][1]];
      const width = Math.min(a.right, b.right) - Math.max(a.left, b.left), height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (width > 1 && height > 1 && width * height > 0.1 * Math.min(a.width * a.height, b.width * b.height))
        found.push("over one another: " + texts[i][0] + " | " + texts[j][0]);
    }
}
"""

# Points at every box of the network and reports the highlighted parts.
POINT = """
const lit = {};
for (const node of document.querySelectorAll("#network g.node")) {
  node.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
  const parts = [...document.querySelectorAll(".lit")].map(p => p.tagName);
  lit[[...node.querySelectorAll("text")].map(t => t.textContent).join(" ")] = {
    launches: parts.filter(p => p === "rect").length, outlines: parts.filter(p => p === "path").length,
    told: document.getElementById("told").textContent,
    visible: [...document.querySelectorAll("path.lit")].every(p => getComputedStyle(p).visibility === "visible")};
}
"""


def browse(file, *flags):
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
               *flags, file.resolve().as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def ask(file, script):
    """Runs `script` and returns the JSON that it leaves in the page's element of that name."""
    text = file.read_text()
    if file.suffix == ".svg":
        text = ("<!DOCTYPE html><html><meta charset=utf-8><body>" + text[text.index("<svg"):]
                + "</body></html>")
    asked = folder / ("asked_" + file.stem + file.suffix.replace(".", "_") + ".html")
    asked.write_text(text.replace("</body>", "<script>" + script + "</script></body>"))
    dom = browse(asked, "--dump-dom", "--window-size=1600,1200").stdout
    asked.unlink()
    answer = re.search(r'<pre id="answer">(.*?)</pre>', dom, re.S)
    return json.loads(html.unescape(answer.group(1))) if answer else None


def answer(expression):
    return ("const pre = document.createElement('pre'); pre.id = 'answer'; pre.textContent = "
            "JSON.stringify(%s); document.body.append(pre);" % expression)


folder.mkdir(parents=True, exist_ok=True)
bad = 0
for name, flags in PICTURES:
    file = folder / name
    subprocess.run([lstmc, "plot", *flags, "-o", file, "--force", "-q"], cwd=source, check=True,
                   stdout=subprocess.DEVNULL)
    browse(file, "--screenshot=%s" % (folder / (name.replace(".", "_") + ".png")),
           "--window-size=1600,1200")
    found = ask(file, LOOK + answer("found"))
    problems = ["the browser did not answer"] if found is None else found
    if file.suffix == ".html":
        lit = ask(file, POINT + answer("lit")) or {}
        if not any(part["launches"] and part["outlines"] for part in lit.values()):
            problems.append("no layer lights up its launches and its bytes")
        problems += ["%s: its bytes stay hidden" % box for box, part in lit.items()
                     if not part["visible"]]
    print("%-24s %s" % (name, "good" if not problems else ""))
    for problem in sorted(set(problems)):
        print("    " + problem)
    bad += len(problems)
print("pictures in %s" % folder)
raise SystemExit(1 if bad else 0)
