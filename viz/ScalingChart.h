// Scaling efficiency over the number of hosts, one curve per layout.
#pragma once

#include <string>
#include <vector>

namespace lstmc::viz {

struct ScalingMark {
  double hosts, efficiency; ///< 1: as much as independent hosts
  std::string title;        ///< tooltip
  bool rough = false;       ///< drawn hollow
};

struct ScalingLine {
  std::string name;
  std::vector<ScalingMark> marks;
};

/// SVG: hosts on a logarithmic axis, efficiency from 0 to 100 %. `title` is shown above, `note`
/// below the chart.
std::string scalingChart(const std::vector<ScalingLine> &lines, const std::string &title,
                         const std::string &note);

/// A self-contained page with the chart and a table of its numbers.
std::string scalingPage(const std::vector<ScalingLine> &lines, const std::string &title,
                        const std::string &note);

} // namespace lstmc::viz
