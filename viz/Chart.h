// A drawing of rectangles, lines and texts at given positions, output as SVG or, through Graphviz,
// as PNG and PDF.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Status.h"

namespace lstmc::viz {

/// Maximum width of a letter at this font size, approximately, in Helvetica and its substitutes;
/// used to fit texts.
inline constexpr double kFontSize = 11, kLetterWidth = 7;

class Chart {
public:
  Chart(double width, double height) : width_(width), height_(height) {}

  /// `title` is the tooltip in SVG. `box`: the box of a network that the rectangle belongs to, for
  /// pages.
  void rectangle(double x, double y, double width, double height, std::string_view color,
                 std::string_view title = "", std::optional<size_t> box = {});
  void line(double x1, double y1, double x2, double y2, std::string_view color = "#333333");
  void arrow(double x1, double y1, double x2, double y2, std::string_view color = "#555555");
  /// Text that starts at `x` on the base line `y`.
  void text(double x, double y, std::string_view text);

  /// The drawing as svg, png or pdf; E0501 if Graphviz is needed and not installed.
  Result<std::string> as(std::string_view format) const;
  std::string svg() const;

private:
  struct Mark {
    enum class Kind { Rectangle, Arrow, Text } kind;
    double x, y, width,
        height;        ///< unused for text; for an arrow its extent, which may be negative
    std::string color; ///< unused for text
    std::string text;
    std::optional<size_t> box = {};
  };
  std::string dot() const;

  double width_, height_;
  std::vector<Mark> marks_; ///< later marks cover earlier ones
};

} // namespace lstmc::viz
