#include "viz/ScalingChart.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "viz/Axis.h"
#include "viz/Dot.h"

namespace lstmc::viz {

namespace {

constexpr double kWidth = 640, kHeight = 300, kLeft = 70, kTop = 40, kBottom = 77, kRight = 190;

/// Colours by Okabe and Ito, as for devices.
constexpr std::string_view kColors[] = {"#0072b2", "#d55e00", "#009e73",
                                        "#cc79a7", "#e69f00", "#56b4e9"};

std::set<double> hostsOf(const std::vector<ScalingLine> &lines) {
  std::set<double> hosts;
  for (const ScalingLine &line : lines)
    for (const ScalingMark &mark : line.marks)
      hosts.insert(mark.hosts);
  return hosts;
}

} // namespace

std::string scalingChart(const std::vector<ScalingLine> &lines, const std::string &title,
                         const std::string &note) {
  const std::set<double> hosts = hostsOf(lines);
  const double bottom = kTop + kHeight, first = hosts.empty() ? 1 : *hosts.begin(),
               steps = hosts.empty() ? 1 : std::max(1.0, std::log2(*hosts.rbegin() / first));
  auto x = [&](double count) { return kLeft + kWidth * std::log2(count / first) / steps; };
  auto y = [&](double part) { return bottom - kHeight * std::clamp(part, 0.0, 1.1) / 1.1; };
  std::string svg =
      svgOpening(kLeft + kWidth + kRight, bottom + kBottom) + textAt({kLeft, 20}, title);
  for (int percent = 0; percent <= 100; percent += 20) {
    svg += fmt::format("<path d=\"M{:.2f},{:.2f} H{:.2f}\" stroke=\"#dddddd\"/>\n", kLeft,
                       y(percent / 100.0), kLeft + kWidth);
    svg += textAt({kLeft - 7, y(percent / 100.0) + 4}, fmt::format("{} %", percent), "end");
  }
  for (double count : hosts) {
    svg += fmt::format("<path d=\"M{:.2f},{:.2f} v4\" stroke=\"#333\"/>\n", x(count), bottom);
    svg += textAt({x(count), bottom + 16}, fmt::format("{:.0f}", count), "middle");
  }
  double below = bottom + 50;
  for (std::string_view left = note; !left.empty(); below += 17) {
    svg += textAt({kLeft, below}, std::string(left.substr(0, left.find('\n'))));
    const size_t end = left.find('\n');
    left.remove_prefix(end == left.npos ? left.size() : end + 1);
  }
  svg += textAt({kLeft + kWidth / 2, bottom + 32}, "hosts", "middle") +
         fmt::format("<path d=\"M{0},{1:.2f} V{2:.2f} H{3}\" stroke=\"#333\" fill=\"none\"/>\n",
                     kLeft, kTop, bottom, kLeft + kWidth);
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view color = kColors[i % std::size(kColors)];
    std::string points;
    for (const ScalingMark &mark : lines[i].marks)
      points += fmt::format("{:.2f},{:.2f} ", x(mark.hosts), y(mark.efficiency));
    svg += fmt::format("<polyline class=\"scaling\" points=\"{}\" fill=\"none\" stroke=\"{}\" "
                       "stroke-width=\"1.5\"><title>{}</title></polyline>\n",
                       points, color, xmlText(lines[i].name));
    for (const ScalingMark &mark : lines[i].marks)
      svg += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"3\" stroke=\"{}\" fill=\"{}\">"
                         "<title>{}</title></circle>\n",
                         x(mark.hosts), y(mark.efficiency), color, mark.rough ? "white" : color,
                         xmlText(fmt::format("{}: {:.0f} hosts {:.1f} %, {}", lines[i].name,
                                             mark.hosts, 100 * mark.efficiency, mark.title)));
    const double at = kTop + 14 + 18 * double(i);
    svg += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"10\" height=\"10\" fill=\"{}\"/>\n",
                       kLeft + kWidth + 14, at - 9, color) +
           textAt({kLeft + kWidth + 28, at}, lines[i].name);
  }
  return svg + "</svg>\n";
}

std::string scalingPage(const std::vector<ScalingLine> &lines, const std::string &title,
                        const std::string &note) {
  std::string head = "<tr><th>hosts</th>", rows;
  for (const ScalingLine &line : lines)
    head += fmt::format("<th>{}</th>", xmlText(line.name));
  for (double count : hostsOf(lines)) {
    rows += fmt::format("<tr><td>{:.0f}</td>", count);
    for (const ScalingLine &line : lines) {
      auto mark = std::ranges::find(line.marks, count, &ScalingMark::hosts);
      rows += mark == line.marks.end() ? "<td></td>"
                                       : fmt::format("<td title=\"{}\">{:.1f} %</td>",
                                                     xmlText(mark->title), 100 * mark->efficiency);
    }
    rows += "</tr>\n";
  }
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n<style>body {{ font-family: Helvetica, Arial, sans-serif }} "
      "td, th {{ padding: 2px 12px; text-align: right }}</style></head>\n<body>\n{}"
      "<table>\n{}</tr>\n{}</table>\n</body></html>\n",
      xmlText(title), scalingChart(lines, title, note), head, rows);
}

} // namespace lstmc::viz
