#include "viz/Page.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "executor/base/NumberText.h"
#include "viz/BoxLinks.h"
#include "viz/Cost.h"
#include "viz/Dot.h"
#include "viz/MemoryChart.h"

namespace lstmc::viz {

namespace {

constexpr std::string_view kStyle = R"css(
body { font: 14px Helvetica, Arial, sans-serif; margin: 1em; color: #222; background: #fff; }
h1 { font-size: 1.3em; margin: 0 0 .3em; }
h2 { font-size: 1.05em; margin: 1.2em 0 .3em; }
main { display: flex; gap: 1.5em; align-items: flex-start; flex-wrap: wrap; }
#network { flex: 0 1 auto; max-width: 100%; max-height: 86vh; overflow: auto;
           outline: 1px solid #ccc; }
#charts { flex: 1 1 640px; min-width: 0; }
#charts svg { max-width: 100%; height: auto; }
#told { position: sticky; top: 0; background: #fff; box-shadow: 0 1px #ccc; padding: .4em 0;
        min-height: 2.6em; white-space: pre-line; z-index: 1; }
g.node { cursor: pointer; }
g.node.lit > :is(polygon, path, ellipse),
g.node.lit a > :is(polygon, path, ellipse) { stroke: #000; stroke-width: 3px; }
.pointing rect[data-box]:not(.lit) { opacity: .2; }
rect.lit { stroke: #000; }
path.layer.lit { visibility: visible; }
)css";

constexpr std::string_view kScript = R"js(
"use strict";
const told = document.getElementById("told"), said = told.textContent;
const boxes = JSON.parse(document.getElementById("boxes").textContent);
const nodes = new Map();
for (const node of document.querySelectorAll("#network g.node")) {
  const title = node.querySelector("title");
  const match = title && /^n(\d+)$/.exec(title.textContent);
  if (match) nodes.set(Number(match[1]), node);
}
for (const title of document.querySelectorAll("#network title")) title.remove();
for (const [box, node] of nodes) node.dataset.box = box;
let shown = null;
function show(box) {
  if (box === shown) return;
  shown = box;
  for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
  document.body.classList.toggle("pointing", box !== null);
  if (box === null) { told.textContent = said; return; }
  for (const part of document.querySelectorAll(`[data-box="${box}"]`)) part.classList.add("lit");
  told.textContent = boxes[box] || "";
}
document.addEventListener("mouseover", event => {
  const part = event.target.closest("[data-box]");
  show(part ? Number(part.dataset.box) : null);
});
)js";

/// Totals over the launches and buffers of a box.
struct Sum {
  size_t launches = 0;
  double seconds = 0;
  uint64_t parameters = 0, others = 0;
};

std::vector<Sum> sums(const package::PackageData &package, const package::Entry *entry,
                      std::span<const Timeline> timelines, const BoxLinks &links) {
  std::vector<Sum> sums(links.count());
  if (entry && !timelines.empty())
    for (size_t p = 0; p < entry->programs.size(); ++p)
      for (size_t i = 0; i < entry->programs[p].launches.size(); ++i)
        if (std::optional<size_t> box = links.boxOf(entry->programs[p].launches[i].location)) {
          const planning::LaunchTime &time = timelines[0].times.programs[p].launches[i];
          ++sums[*box].launches;
          sums[*box].seconds += time.end - time.begin;
        }
  for (const package::Buffer &buffer : package.buffers)
    if (std::optional<size_t> box = links.boxOf(buffer.location)) {
      if (buffer.kind == package::Kind::Parameter)
        sums[*box].parameters += buffer.bytes;
      else if (buffer.entry == package::kPersistent ||
               (entry && buffer.entry == int32_t(entry - package.entries.data())))
        sums[*box].others += buffer.bytes;
    }
  return sums;
}

/// The text for each box, as JSON that is safe inside of a script element.
std::string told(const Diagram &diagram, const std::vector<Sum> &sums) {
  nlohmann::json texts = nlohmann::json::array();
  for (size_t i = 0; i < diagram.boxes.size(); ++i) {
    std::string label = diagram.boxes[i].label;
    std::replace(label.begin(), label.end(), '\n', ' ');
    const Sum &sum = sums[i];
    std::string text = label;
    if (sum.launches > 0)
      text += fmt::format("\n{} launch{}, {}", sum.launches, sum.launches == 1 ? "" : "es",
                          durationText(sum.seconds));
    if (sum.parameters > 0)
      text +=
          fmt::format("{}parameters {}", sum.launches > 0 ? "; " : "\n", bytesText(sum.parameters));
    if (sum.others > 0)
      text +=
          fmt::format("{}other values {} in all",
                      sum.launches > 0 || sum.parameters > 0 ? "; " : "\n", bytesText(sum.others));
    texts.push_back(text);
  }
  std::string json = texts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), escaped;
  for (char c : json)
    escaped += c == '<' ? "\\u003c" : std::string(1, c);
  return escaped;
}

/// The svg element of Graphviz's output, without the surroundings.
std::string svgElement(const std::string &svg) {
  size_t begin = svg.find("<svg");
  return begin == std::string::npos ? svg : svg.substr(begin);
}

std::string section(std::string_view title, const std::string &svg) {
  return fmt::format("<h2>{}</h2>\n{}", title, svg);
}

} // namespace

Result<std::string> page(const Diagram &diagram, const package::PackageData &package,
                         const target::Machines &machines, std::span<const Timeline> timelines,
                         const Losses &losses) {
  LSTMC_ASSIGN(std::string network, render(diagramDot(diagram), "svg"));
  const package::Entry *entry = scheduledEntry(package);
  const BoxLinks links(package, diagram);
  std::string charts;
  if (!losses.empty())
    charts += section("Losses", lossChart(losses));
  if (entry && !timelines.empty())
    charts += section("Schedule", scheduleChart(package, *entry, timelines, &links).svg());
  charts += section("Memory", memoryChart(package, machines, &links));
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{0}</title>\n"
      "<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n"
      "<div id=\"told\">Point at a layer to see its launches and its bytes, or at a launch to see "
      "its layer.</div>\n<main>\n<div id=\"network\">\n{2}</div>\n<div id=\"charts\">\n{3}</div>\n"
      "</main>\n<script type=\"application/json\" id=\"boxes\">{4}</script>\n<script>{5}</script>\n"
      "</body>\n</html>\n",
      xmlText(package.net), kStyle, svgElement(network), charts,
      told(diagram, sums(package, entry, timelines, links)), kScript);
}

} // namespace lstmc::viz
