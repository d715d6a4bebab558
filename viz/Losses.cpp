#include "viz/Losses.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "viz/Axis.h"

namespace lstmc::viz {

namespace {

constexpr double kWidth = 900, kHeight = 200, kLeft = 70, kTop = 40, kBottom = 34;

/// The range of the values; widened if all are equal.
struct Range {
  double low, high;
  double part(double value) const { return (value - low) / (high - low); }
};

Range rangeOf(const Losses &losses, double Loss::*field) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const auto *list : {&losses.training, &losses.validation})
    for (const Loss &loss : *list) {
      low = std::min(low, loss.*field);
      high = std::max(high, loss.*field);
    }
  return high > low ? Range{low, high} : Range{low - 1, high + 1};
}

} // namespace

std::string lossChart(const Losses &losses) {
  Range updates = rangeOf(losses, &Loss::update), values = rangeOf(losses, &Loss::loss);
  double bottom = kTop + kHeight;
  auto x = [&](double update) { return kLeft + kWidth * updates.part(update); };
  auto y = [&](double loss) { return bottom - kHeight * values.part(loss); };
  std::string svg =
      svgOpening(kLeft + kWidth + 20, bottom + kBottom) + textAt({kLeft, 20}, "loss over updates");
  for (double at : niceMarks(values.low, values.high, 4)) {
    svg += fmt::format("<path d=\"M{:.2f},{:.2f} H{:.2f}\" stroke=\"#dddddd\"/>\n", kLeft, y(at),
                       kLeft + kWidth);
    svg += textAt({kLeft - 7, y(at) + 4}, fmt::format("{:.4g}", at), "end");
  }
  for (double at : niceMarks(updates.low, updates.high, 8)) {
    svg += fmt::format("<path d=\"M{:.2f},{:.2f} v4\" stroke=\"#333\"/>\n", x(at), bottom);
    svg += textAt({x(at), bottom + 16}, fmt::format("{:.6g}", at), "middle");
  }
  svg += fmt::format("<path d=\"M{0},{1:.2f} V{2:.2f} H{3}\" stroke=\"#333\" fill=\"none\"/>\n",
                     kLeft, kTop, bottom, kLeft + kWidth);
  struct Curve {
    const std::vector<Loss> &losses;
    std::string_view name, color;
  };
  double legend = kLeft + kWidth - 190;
  // Colours by Okabe and Ito, as for devices.
  for (const Curve &curve : {Curve{losses.training, "training", "#0072b2"},
                             {losses.validation, "validation", "#d55e00"}}) {
    if (curve.losses.empty())
      continue;
    std::string points;
    for (const Loss &loss : curve.losses)
      points += fmt::format("{:.2f},{:.2f} ", x(loss.update), y(loss.loss));
    svg += fmt::format("<polyline class=\"{}\" points=\"{}\" fill=\"none\" stroke=\"{}\" "
                       "stroke-width=\"1.5\"/>\n",
                       curve.name, points, curve.color);
    for (const Loss &loss : curve.losses)
      svg += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{}\" fill=\"{}\"><title>{} loss "
                         "{:.6g} at update {:.10g}</title></circle>\n",
                         x(loss.update), y(loss.loss), curve.name == "validation" ? 3 : 1.5,
                         curve.color, curve.name, loss.loss, loss.update);
    svg += fmt::format("<rect x=\"{:.2f}\" y=\"12\" width=\"10\" height=\"10\" fill=\"{}\"/>\n",
                       legend, curve.color) +
           textAt({legend + 14, 21}, curve.name);
    legend += 90;
  }
  return svg + "</svg>\n";
}

} // namespace lstmc::viz
