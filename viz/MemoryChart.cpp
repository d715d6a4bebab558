#include "viz/MemoryChart.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "executor/package/Plan.h"

namespace lstmc::viz {

namespace {

constexpr double kWidth = 900, kHeight = 160, kLeft = 90, kTop = 40, kGap = 50;

constexpr std::array<std::string_view, package::kKindCount> kColors = {
    "#fb8072", "#fccde5", "#fdb462", "#bebada", "#b3cde3", "#8dd3c7", "#8dd3c7", "#cccccc", "#b3de69", "#ffffb3", "#d9d9d9"};

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  return out;
}

} // namespace

std::string memoryChart(const package::PackageData &package) {
  uint64_t arena = package.devices.empty() ? 1 : std::max<uint64_t>(package.devices[0].arenaBytes, 1);
  double height = kTop + double(package.entries.size()) * (kHeight + kGap) + 40;
  std::string svg = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"Helvetica\" font-size=\"11\">\n",
                                kLeft + kWidth + 20, height);
  svg += fmt::format("<text x=\"{}\" y=\"20\">{}: planned peak {:.2f} MiB on {}</text>\n", kLeft, escaped(package.net),
                     double(arena) / (1 << 20), package.devices.empty() ? "-" : escaped(package.devices[0].name));
  for (size_t e = 0; e < package.entries.size(); ++e) {
    double bottom = kTop + double(e) * (kHeight + kGap) + kHeight;
    std::vector<package::BytesOfKind> moments = package::bytesAlive(package, 0, e);
    double step = kWidth / double(std::max<size_t>(moments.size(), 1));
    svg += fmt::format("<text x=\"4\" y=\"{}\">{}</text>\n<line x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\" stroke=\"#333\" stroke-dasharray=\"4\"/>\n", bottom - kHeight + 12,
                       escaped(package.entries[e].name), kLeft, kLeft + kWidth, bottom - kHeight, bottom - kHeight);
    for (size_t i = 0; i < moments.size(); ++i) {
      double y = bottom;
      for (size_t kind = 0; kind < moments[i].size(); ++kind) {
        double bar = kHeight * double(moments[i][kind]) / double(arena);
        if (bar <= 0)
          continue;
        y -= bar;
        svg += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"/>\n", kLeft + double(i) * step, y, step,
                           bar, kColors[kind]);
      }
    }
  }
  for (size_t kind = 0; kind < kColors.size(); ++kind)
    svg += fmt::format("<rect x=\"{0}\" y=\"{1}\" width=\"10\" height=\"10\" fill=\"{2}\"/><text x=\"{3}\" y=\"{4}\">{5}</text>\n",
                       kLeft + double(kind) * 80, height - 24, kColors[kind], kLeft + double(kind) * 80 + 14, height - 15, package::kKindNames[kind]);
  return svg + "</svg>\n";
}

} // namespace lstmc::viz
