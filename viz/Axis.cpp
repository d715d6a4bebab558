#include "viz/Axis.h"

#include <cmath>

#include <fmt/format.h>

#include "viz/Dot.h"

namespace lstmc::viz {

std::string svgOpening(double width, double height) {
  return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                     "viewBox=\"0 0 {0} {1}\" font-family=\"Helvetica, Arial, sans-serif\" "
                     "font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
                     width, height);
}

std::string textAt(Point at, std::string_view text, std::string_view anchor) {
  return fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\"{}>{}</text>\n", at.x, at.y,
                     anchor == "start" ? "" : fmt::format(" text-anchor=\"{}\"", anchor),
                     xmlText(text));
}

double niceStep(double length, int count) {
  double power = std::pow(10, std::floor(std::log10(length / count)));
  for (double factor : {1.0, 2.0, 5.0})
    if (power * factor * count >= length)
      return power * factor;
  return power * 10;
}

std::vector<double> niceMarks(double low, double high, int count) {
  std::vector<double> marks;
  double step = niceStep(high - low, count);
  double first = std::ceil(low / step - 1e-9);
  for (int i = 0; i <= 3 * count && (first + i) * step <= high + step * 1e-9; ++i)
    marks.push_back((first + i) * step);
  return marks;
}

} // namespace lstmc::viz
