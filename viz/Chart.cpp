#include "viz/Chart.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "viz/Dot.h"

namespace lstmc::viz {

void Chart::rectangle(double x, double y, double width, double height, std::string_view color,
                      std::string_view title, std::optional<size_t> box) {
  marks_.push_back(
      {Mark::Kind::Rectangle, x, y, width, height, std::string(color), std::string(title), box});
}

void Chart::line(double x1, double y1, double x2, double y2, std::string_view color) {
  constexpr double kThin = 0.6;
  rectangle(std::min(x1, x2), std::min(y1, y2), std::max(std::abs(x2 - x1), kThin),
            std::max(std::abs(y2 - y1), kThin), color);
}

void Chart::arrow(double x1, double y1, double x2, double y2, std::string_view color) {
  marks_.push_back({Mark::Kind::Arrow, x1, y1, x2 - x1, y2 - y1, std::string(color), ""});
}

void Chart::text(double x, double y, std::string_view text) {
  marks_.push_back({Mark::Kind::Text, x, y, 0, 0, "", std::string(text)});
}

std::string Chart::svg() const {
  std::string svg = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" "
                                "height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
                                "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"{2}\">\n"
                                "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
                                width_, height_, kFontSize);
  if (std::any_of(marks_.begin(), marks_.end(),
                  [](const Mark &mark) { return mark.kind == Mark::Kind::Arrow; }))
    svg += "<marker id=\"tip\" viewBox=\"0 0 6 6\" refX=\"6\" refY=\"3\" markerWidth=\"5\" "
           "markerHeight=\"5\" orient=\"auto\">"
           "<path d=\"M0,0 L6,3 L0,6 z\" fill=\"#555555\"/></marker>\n";
  for (const Mark &mark : marks_) {
    if (mark.kind == Mark::Kind::Arrow) {
      svg += fmt::format("<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" "
                         "stroke=\"{}\" stroke-width=\"0.8\" marker-end=\"url(#tip)\"/>\n",
                         mark.x, mark.y, mark.x + mark.width, mark.y + mark.height, mark.color);
      continue;
    }
    if (mark.kind == Mark::Kind::Text) {
      svg += fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\">{}</text>\n", mark.x, mark.y,
                         xmlText(mark.text));
      continue;
    }
    svg += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.3f}\" height=\"{:.2f}\" fill=\"{}\"", mark.x,
        mark.y, mark.width, mark.height, mark.color);
    if (mark.box)
      svg += fmt::format(" data-box=\"{}\"", *mark.box);
    svg +=
        mark.text.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", xmlText(mark.text));
  }
  return svg + "</svg>\n";
}

/// Boxes pinned to their positions, in points, y upwards.
std::string Chart::dot() const {
  std::string dot = "graph {\n  layout=nop2; outputorder=nodesfirst; pad=0.1; dpi=144;\n"
                    "  node [shape=box, style=filled, penwidth=0, fixedsize=true, label=\"\", "
                    "margin=0, fontname=\"Helvetica\"];\n";
  int count = 0;
  for (const Mark &mark : marks_) {
    bool isText = mark.kind == Mark::Kind::Text;
    if (mark.kind == Mark::Kind::Arrow) {
      int from = count++, to = count++;
      for (auto [node, x, y] :
           {std::tuple(from, mark.x, mark.y), {to, mark.x + mark.width, mark.y + mark.height}})
        dot += fmt::format(
            "  m{} [pos=\"{:.2f},{:.2f}\", shape=point, width=0, height=0, style=invis];\n", node,
            x, height_ - y);
      double x1 = mark.x, y1 = height_ - mark.y, x2 = x1 + mark.width, y2 = y1 - mark.height;
      dot += fmt::format("  m{} -- m{} [pos=\"e,{:.2f},{:.2f} {:.2f},{:.2f} {:.2f},{:.2f} "
                         "{:.2f},{:.2f} {:.2f},{:.2f}\", dir=forward, arrowsize=0.4, "
                         "penwidth=0.8, color=\"{}\"];\n",
                         from, to, x2, y2, x1, y1, x1 + (x2 - x1) / 3, y1 + (y2 - y1) / 3,
                         x1 + (x2 - x1) * 2 / 3, y1 + (y2 - y1) * 2 / 3, x2, y2, mark.color);
      continue;
    }
    // A text's box is centred on it and larger than the text, because Graphviz warns about smaller
    // ones.
    double width = isText ? 1.5 * kLetterWidth * double(mark.text.size()) : mark.width,
           height = isText ? 2 * kFontSize : mark.height;
    double top = isText ? mark.y - 0.35 * kFontSize - height / 2 : mark.y;
    dot += fmt::format("  m{} [pos=\"{:.2f},{:.2f}\", width={:.4f}, height={:.4f}, ", count++,
                       mark.x + width / 2, height_ - top - height / 2, width / 72, height / 72);
    std::string label = quoted(mark.text);
    label.insert(label.size() - 1, "\\l"); // to the left
    dot += isText ? fmt::format("style=\"\", fontsize={}, label={}];\n", kFontSize, label)
                  : fmt::format("fillcolor=\"{}\"];\n", mark.color);
  }
  return dot + "}\n";
}

Result<std::string> Chart::as(std::string_view format) const {
  return format == "svg" ? Result<std::string>(svg()) : render(dot(), format);
}

} // namespace lstmc::viz
