#include "viz/Diagram.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "executor/base/NumberText.h"
#include "viz/Cost.h"
#include "viz/Dot.h"
#include "viz/Wrap.h"

namespace lstmc::viz {

namespace {

/// Distinguishable by the colour-blind. Source: M. Okabe, K. Ito, "Color Universal Design", 2008,
/// without black and dark blue, on which black text would be unreadable.
constexpr std::string_view kDeviceColors[] = {"#56b4e9", "#e69f00", "#009e73",
                                              "#f0e442", "#cc79a7", "#d55e00"};
constexpr std::string_view kInputColor = "#8dd3c7", kParameterColor = "#ffffff";
/// Above this number of boxes Graphviz takes too long to find positions.
constexpr size_t kManyBoxes = 300;

std::string_view colorOfDevice(size_t device) {
  return kDeviceColors[device % std::size(kDeviceColors)];
}

class Drawing {
public:
  explicit Drawing(const Diagram &diagram) : diagram_(diagram), places_(wrap(diagram)) {
    givesPlaces_ = places_ && diagram.boxes.size() > kManyBoxes;
  }

  std::string dot() const {
    std::string out = header();
    // Frames around groups; with columns, around the boxes of a group within one column.
    std::map<std::pair<std::string, size_t>, std::string> groups;
    for (size_t i = 0; i < diagram_.boxes.size(); ++i)
      groups[{diagram_.boxes[i].group, places_ ? (*places_)[i].column : 0}] += box(i);
    int cluster = 0;
    for (const auto &[key, boxes] : groups)
      out += key.first.empty() || givesPlaces_
                 ? boxes
                 : fmt::format("  subgraph cluster_{} {{\n    label={};{} color=\"#999999\"; "
                               "fontname=\"Helvetica\"; fontsize=10;\n{}  }}\n",
                               cluster++, quoted(key.first), hasFrames() ? " labeljust=l;" : "",
                               boxes);
    if (places_ && !givesPlaces_)
      out += rows();
    for (const Edge &edge : diagram_.edges)
      out += arrow(edge);
    return out + legend() + "}\n";
  }

private:
  bool hasFrames() const {
    return std::any_of(diagram_.boxes.begin(), diagram_.boxes.end(),
                       [](const Box &box) { return !box.frame.empty(); });
  }

  std::string header() const {
    std::string out =
        fmt::format("digraph {} {{\n  rankdir=BT;{}\n  node [shape=box, style=filled, "
                    "fontname=\"Helvetica\", fontsize=11];\n"
                    "  edge [fontname=\"Helvetica\", fontsize=9, color=\"#555555\"];\n",
                    quoted(diagram_.name),
                    givesPlaces_ ? " layout=nop; splines=line;"
                    : places_ ? " newrank=true; nodesep=0.5; splines=line; outputorder=edgesfirst;"
                              : "");
    if (!diagram_.note.empty())
      out += fmt::format("  label={}; labelloc=t; fontname=\"Helvetica\"; fontsize=10;\n",
                         quoted(diagram_.note));
    return out;
  }

  std::string label(const Box &box) const {
    std::string label = box.label;
    if (diagram_.showsMemory && box.bytes + box.parameterBytes > 0)
      label +=
          fmt::format("\n{}{}", bytesText(box.bytes),
                      box.parameterBytes ? " + parameters " + bytesText(box.parameterBytes) : "");
    if (diagram_.showsDevices && !box.devices.empty()) {
      std::vector<std::string> names;
      for (size_t device : box.devices)
        names.push_back(diagram_.devices[device]);
      label += names.size() <= 3 ? fmt::format("\n{}", fmt::join(names, ","))
                                 : fmt::format("\n{} devices", names.size());
    }
    if (diagram_.showsTime && box.kind == Box::Kind::Op)
      label += "\n" + durationText(box.seconds);
    return label;
  }

  /// Several devices are shown as stripes.
  std::string fill(const Box &box) const {
    if (box.kind == Box::Kind::Input)
      return fmt::format("shape=oval, fillcolor=\"{}\"", kInputColor);
    if (box.kind == Box::Kind::Parameter)
      return fmt::format("shape=note, fillcolor=\"{}\"", kParameterColor);
    if (box.kind == Box::Kind::Sync)
      return fmt::format("shape=box, style=\"filled,rounded,dashed\", fillcolor=\"{}\"", box.color);
    if (!diagram_.colorsDevices || box.devices.empty())
      return fmt::format("fillcolor=\"{}\"", box.color);
    std::vector<std::string_view> colors;
    for (size_t device : box.devices)
      colors.push_back(colorOfDevice(device));
    return fmt::format("{}fillcolor=\"{}\"", colors.size() > 1 ? "style=striped, " : "",
                       fmt::join(colors, ":"));
  }

  std::string box(size_t index) const {
    const Box &box = diagram_.boxes[index];
    if (!box.frame.empty())
      return box.frame;
    std::string place;
    if (givesPlaces_) {
      const Place &at = (*places_)[index];
      place = fmt::format("pos=\"{},{}\", ", 190 * (9 * at.column + at.index), 110 * at.row);
    }
    std::string text = fmt::format("    {} [{}{}, label={}];\n", idOf(index), place, fill(box),
                                   quoted(label(box)));
    if (!box.loop.empty())
      text +=
          fmt::format("    {0} -> {0} [label={1}, style=dashed];\n", idOf(index), quoted(box.loop));
    return text;
  }

  /// Every row of all columns on one level, from left to right.
  std::string rows() const {
    std::map<size_t, std::map<std::pair<size_t, size_t>, size_t>> boxes;
    for (size_t i = 0; i < places_->size(); ++i) {
      const Place &place = (*places_)[i];
      boxes[place.row][{place.column, place.index}] = i;
    }
    std::string out;
    for (const auto &[row, inRow] : boxes) {
      out += fmt::format("  row{} [shape=point, width=0, style=invis, label=\"\"];\n", row);
      if (row > 0)
        out += fmt::format("  row{} -> row{} [style=invis];\n", row - 1, row);
      std::string same = fmt::format("row{};", row);
      std::map<size_t, std::vector<std::string>> columns;
      for (const auto &[key, box] : inRow) {
        same += " " + idOf(box) + ";";
        columns[key.first].push_back(idOf(box));
      }
      out += fmt::format("  {{ rank=same; {} }}\n", same);
      const std::vector<std::string> *before = nullptr;
      for (const auto &[column, ids] : columns) {
        if (before)
          out += fmt::format("  {{ {} }} -> {{ {} }} [style=invis];\n", fmt::join(*before, "; "),
                             fmt::join(ids, "; "));
        before = &ids;
      }
    }
    return out;
  }

  /// In a column that is read downwards: from the reader to the writer, with the arrow reversed.
  std::string arrow(const Edge &edge) const {
    std::string tail = edge.tail.empty() ? idOf(edge.from) : edge.tail,
                head = edge.head.empty() ? idOf(edge.to) : edge.head;
    std::vector<std::string> how;
    // A long edge is a straight line under the boxes; with a label it would bend around the label.
    if (leaps(edge))
      how.push_back("tooltip=" + quoted(edge.label));
    else if (!edge.label.empty())
      how.push_back((isWithinRow(edge) ? "xlabel=" : "label=") + quoted(edge.label));
    auto isSync = [&](size_t box) { return diagram_.boxes[box].kind == Box::Kind::Sync; };
    if (isSync(edge.from) || isSync(edge.to))
      how.emplace_back("style=dashed, color=\"#0072b2\"");
    else if (diagram_.boxes[edge.from].kind == Box::Kind::Parameter)
      how.emplace_back("color=\"#999999\"");
    else if (movesBetweenDevices(edge))
      how.emplace_back("style=bold, color=\"#d55e00\"");
    else if (leaps(edge))
      how.emplace_back("color=\"#999999\"");
    if (places_ && !givesPlaces_) {
      if (isWithinRow(edge)) {
        how.emplace_back("constraint=false");
      } else if ((*places_)[edge.from].column % 2 == 1) {
        std::swap(tail, head);
        how.emplace_back("dir=back");
      }
    }
    return fmt::format("  {} -> {}{};\n", tail, head,
                       how.empty() ? "" : fmt::format(" [{}]", fmt::join(how, ", ")));
  }

  /// Whether an edge of a wrapped net joins columns of one row. Graphviz 2.43 faults on some labels
  /// of such edges that it makes room for, so they are set beside them.
  bool isWithinRow(const Edge &edge) const {
    return places_ && !givesPlaces_ && (*places_)[edge.from].column != (*places_)[edge.to].column;
  }

  /// Whether an edge of a wrapped net passes other boxes.
  bool leaps(const Edge &edge) const {
    if (!places_ || givesPlaces_)
      return false;
    const Place &from = (*places_)[edge.from], &to = (*places_)[edge.to];
    auto apart = [](size_t a, size_t b) { return std::max(a, b) - std::min(a, b); };
    const size_t rows = apart(from.row, to.row), columns = apart(from.column, to.column);
    return rows > 1 || columns > 1 || (rows == 1 && columns == 1);
  }

  bool movesBetweenDevices(const Edge &edge) const {
    const std::set<size_t> &from = diagram_.boxes[edge.from].devices,
                           &to = diagram_.boxes[edge.to].devices;
    return diagram_.colorsDevices && !from.empty() && !to.empty() && from != to;
  }

  std::string legend() const {
    if (!diagram_.colorsDevices || givesPlaces_)
      return "";
    std::string out = "  subgraph cluster_devices {\n    label=\"devices\"; color=\"#999999\"; "
                      "fontname=\"Helvetica\"; fontsize=10;\n";
    for (size_t i = 0; i < diagram_.devices.size(); ++i)
      out += fmt::format("    device{} [fillcolor=\"{}\", label={}];\n", i, colorOfDevice(i),
                         quoted(diagram_.devices[i]));
    out += "    { rank=same;";
    for (size_t i = 0; i < diagram_.devices.size(); ++i)
      out += fmt::format("{} device{}", i ? " ->" : "", i);
    return out + " [style=invis]; }\n  }\n";
  }

  const Diagram &diagram_;
  std::optional<std::vector<Place>> places_;
  bool givesPlaces_ = false;
};

} // namespace

std::string idOf(size_t box) { return fmt::format("n{}", box); }

void keepBoxes(Diagram &diagram, const std::vector<bool> &keep) {
  std::vector<size_t> into(keep.size());
  std::vector<Box> boxes;
  for (size_t i = 0; i < keep.size(); ++i) {
    into[i] = boxes.size();
    if (keep[i])
      boxes.push_back(std::move(diagram.boxes[i]));
  }
  std::vector<Edge> edges;
  for (Edge &edge : diagram.edges)
    if (keep[edge.from] && keep[edge.to]) {
      edge.from = into[edge.from];
      edge.to = into[edge.to];
      edges.push_back(std::move(edge));
    }
  diagram.boxes = std::move(boxes);
  diagram.edges = std::move(edges);
}

void mergeEqualEdges(Diagram &diagram) {
  std::set<std::tuple<size_t, size_t, std::string, std::string, std::string>> seen;
  std::erase_if(diagram.edges, [&](const Edge &edge) {
    return !seen.insert({edge.from, edge.to, edge.label, edge.tail, edge.head}).second;
  });
}

/// The readers of each parameter.
static std::map<size_t, std::set<size_t>> readersOfParameters(const Diagram &diagram) {
  std::map<size_t, std::set<size_t>> readers;
  for (size_t i = 0; i < diagram.boxes.size(); ++i)
    if (diagram.boxes[i].kind == Box::Kind::Parameter)
      readers[i] = {};
  for (const Edge &edge : diagram.edges)
    if (diagram.boxes[edge.from].kind == Box::Kind::Parameter)
      readers[edge.from].insert(edge.to);
  return readers;
}

void hideOwnParameters(Diagram &diagram) {
  std::vector<bool> keep(diagram.boxes.size(), true);
  for (const auto &[parameter, readers] : readersOfParameters(diagram)) {
    keep[parameter] = readers.size() > 1;
    if (readers.size() == 1)
      diagram.boxes[*readers.begin()].parameterBytes += diagram.boxes[parameter].bytes;
  }
  keepBoxes(diagram, keep);
}

void joinParameters(Diagram &diagram) {
  constexpr size_t kMostNames = 4;
  std::map<std::set<size_t>, std::vector<size_t>> together;
  for (const auto &[parameter, readers] : readersOfParameters(diagram))
    together[readers].push_back(parameter);
  std::vector<bool> keep(diagram.boxes.size(), true);
  for (const auto &[readers, parameters] : together) {
    if (parameters.size() < kMostNames)
      continue;
    Box &first = diagram.boxes[parameters[0]];
    for (size_t i = 1; i < parameters.size(); ++i) {
      if (i < kMostNames)
        first.label += "\n" + diagram.boxes[parameters[i]].label;
      first.bytes += diagram.boxes[parameters[i]].bytes;
      keep[parameters[i]] = false;
    }
    if (parameters.size() > kMostNames)
      first.label += fmt::format("\nand {} more", parameters.size() - kMostNames);
  }
  keepBoxes(diagram, keep);
}

std::string diagramDot(const Diagram &diagram) { return Drawing(diagram).dot(); }

} // namespace lstmc::viz
