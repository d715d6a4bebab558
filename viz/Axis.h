// Helpers for SVG charts: the opening, text, and axis marks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lstmc::viz {

struct Point {
  double x, y;
};

/// `<svg ...>` of this size, with a white background.
std::string svgOpening(double width, double height);

/// Escaped text. `anchor`: whether the start, middle or end of the text is at the point.
std::string textAt(Point at, std::string_view text, std::string_view anchor = "start");

/// A step of 1, 2 or 5 times a power of ten that divides `length` into about `count` parts.
double niceStep(double length, int count);

/// The multiples of niceStep() in the range.
std::vector<double> niceMarks(double low, double high, int count);

} // namespace lstmc::viz
