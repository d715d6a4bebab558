// A drawing of rectangles, lines and texts at places of its own: SVG, or what Graphviz makes PNG
// and PDF of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Status.h"

namespace lstmc::viz {

/// A letter is at most about so wide at this size, in Helvetica and in what stands in for it: for
/// texts that have to fit.
inline constexpr double kFontSize = 11, kLetterWidth = 7;

class Chart {
public:
  Chart(double width, double height) : width_(width), height_(height) {}

  /// `title` is shown by viewers of SVG when pointed at. `box`: the box of a network that it
  /// belongs to, for pages.
  void rectangle(double x, double y, double width, double height, std::string_view color,
                 std::string_view title = "", std::optional<size_t> box = {});
  void line(double x1, double y1, double x2, double y2, std::string_view color = "#333333");
  void arrow(double x1, double y1, double x2, double y2, std::string_view color = "#555555");
  /// From `x` to the right, on the base line `y`.
  void text(double x, double y, std::string_view text);

  /// As svg, png or pdf; E0501 when Graphviz is needed and is not installed.
  Result<std::string> as(std::string_view format) const;
  std::string svg() const;

private:
  struct Mark {
    enum class Kind { Rectangle, Arrow, Text } kind;
    double x, y, width,
        height;        ///< of a text no size; of an arrow how far it goes, in either direction
    std::string color; ///< of a text none
    std::string text;
    std::optional<size_t> box = {};
  };
  std::string dot() const;

  double width_, height_;
  std::vector<Mark> marks_; ///< the later over the earlier
};

} // namespace lstmc::viz
