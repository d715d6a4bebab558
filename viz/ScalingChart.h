// Efficiency over the number of hosts, a curve for each way to use them.
#pragma once

#include <string>
#include <vector>

namespace lstmc::viz {

struct ScalingMark {
  double hosts, efficiency; ///< 1: as much as the hosts would do without one another
  std::string title;        ///< shown when pointed at
  bool rough = false;       ///< drawn hollow
};

struct ScalingLine {
  std::string name;
  std::vector<ScalingMark> marks;
};

/// SVG: hosts by powers of two, efficiency from 0 to 100 %. `title` is a line above, `note` lines
/// below.
std::string scalingChart(const std::vector<ScalingLine> &lines, const std::string &title,
                         const std::string &note);

/// A page with the chart and its numbers as a table, which needs nothing else.
std::string scalingPage(const std::vector<ScalingLine> &lines, const std::string &title,
                        const std::string &note);

} // namespace lstmc::viz
