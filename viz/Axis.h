// What charts that are written as SVG have in common: the opening, texts, marks of an axis.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lstmc::viz {

struct Point {
  double x, y;
};

/// `<svg ...>` of this size, and a white ground.
std::string svgOpening(double width, double height);

/// Escaped. `anchor`: start, middle or end of the text is at the point.
std::string textAt(Point at, std::string_view text, std::string_view anchor = "start");

/// A step of 1, 2 or 5 times a power of ten, about `count` of which make up `length`.
double niceStep(double length, int count);

/// The multiples of such a step in the range.
std::vector<double> niceMarks(double low, double high, int count);

} // namespace lstmc::viz
