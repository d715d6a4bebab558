#include "viz/Unfold.h"

#include <fmt/format.h>

#include "ir/sym/SymOps.h"
#include "viz/Dot.h"

namespace lstmc::viz {

static constexpr int64_t kEllipsis = -1;
static constexpr std::string_view kStateColor = "#1f78b4";

std::optional<Unfolded> Unfolded::of(mlir::Operation *op, const std::string &id) {
  Unfolded unfolded;
  mlir::Value sequence;
  llvm::StringRef mode;
  if (auto rnn = llvm::dyn_cast<sym::RnnOp>(op)) {
    sequence = rnn.getData();
    mode = rnn.getMode();
    unfolded.layers_ = rnn.getNumLayers();
    unfolded.backward_ =
        rnn.getBidirectional() ? std::vector<bool>{false, true} : std::vector<bool>{false};
  } else if (auto layer = llvm::dyn_cast<sym::RnnLayerOp>(op)) {
    sequence = layer.getX();
    mode = layer.getMode();
    unfolded.backward_ = {layer.getReverse()};
  } else if (auto gradient = llvm::dyn_cast<sym::RnnLayerGradientOp>(op)) {
    sequence = gradient.getGates();
    mode = gradient.getMode();
    unfolded.backward_ = {!gradient.getReverse()};
  } else {
    return std::nullopt;
  }
  unfolded.op_ = op;
  unfolded.id_ = id;
  unfolded.state_ = mode == "lstm" ? "h, c" : "h";
  if (llvm::isa<sym::RnnLayerGradientOp>(op))
    unfolded.state_ = mode == "lstm" ? "dh, dc" : "dh";
  unfolded.steps_ = llvm::cast<mlir::RankedTensorType>(sequence.getType()).getDimSize(0);
  if (unfolded.steps_ > 4)
    unfolded.shown_ = {0, 1, kEllipsis, unfolded.steps_ - 1};
  else
    for (int64_t t = 0; t < unfolded.steps_; ++t)
      unfolded.shown_.push_back(t);
  return unfolded;
}

bool Unfolded::isSequence(mlir::Value value) const {
  if (auto rnn = llvm::dyn_cast<sym::RnnOp>(op_))
    return value == rnn.getData() || value == rnn.getOutputs()[0];
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && type.getRank() == 3;
}

std::string Unfolded::box(size_t position) const { return fmt::format("{}_{}", id_, position); }

std::string Unfolded::end(size_t position, std::string_view port) const {
  if (shown_[position] == kEllipsis)
    return "";
  return rows() == 1 ? box(position)
                     : fmt::format("{}_0:{}{}:{}", id_, port, position, port == "i" ? 's' : 'n');
}

std::vector<std::string> Unfolded::ends(bool first) const {
  std::vector<std::string> all;
  for (bool backward : backward_)
    all.push_back(end(first == backward ? shown_.size() - 1 : 0, first ? "i" : "o"));
  return all;
}

static std::string stepText(int64_t step) {
  return step == kEllipsis ? "…" : fmt::format("t = {}", step);
}

/// One layer in one direction: boxes and edges.
std::string Unfolded::chain(std::string_view color) const {
  std::string out, edges;
  for (size_t position = 0; position < shown_.size(); ++position) {
    std::string look = shown_[position] == kEllipsis ? "shape=plaintext, style=\"\""
                                                     : fmt::format("fillcolor=\"{}\"", color);
    out +=
        fmt::format(" {} [{}, label={}];", box(position), look, quoted(stepText(shown_[position])));
    // Written from left to right, which keeps the steps in order in both directions.
    if (position + 1 < shown_.size())
      edges += fmt::format("      {} -> {} [color=\"{}\"{}{}];\n", box(position), box(position + 1),
                           kStateColor, backward_[0] ? ", dir=back" : "",
                           position == 0 ? fmt::format(", label={}", quoted(state_)) : "");
  }
  return out + " }\n" + edges;
}

/// Several rows form one table with edges between its cells, because Graphviz preserves neither the
/// order nor the ends of so many flat edges. The first layer is at the bottom, since all edges lead
/// upwards.
std::string Unfolded::table(std::string_view color) const {
  std::string out = fmt::format(" {} [shape=plaintext, style=\"\", label=<<TABLE BORDER=\"0\" "
                                "CELLBORDER=\"1\" CELLSPACING=\"0\" CELLPADDING=\"7\"><TR>",
                                box(0));
  for (size_t position = 0; position < shown_.size(); ++position)
    out +=
        fmt::format("{}<TD BORDER=\"0\" PORT=\"o{}\">{}</TD>",
                    position ? "<TD BORDER=\"0\"></TD>" : "", position, stepText(shown_[position]));
  out += "</TR>";
  for (size_t row = rows(); row-- > 0;) {
    bool backward = backward_[row % backward_.size()];
    std::string name = layers_ > 1 ? fmt::format("layer {}", row / backward_.size()) : "";
    if (backward_.size() > 1)
      name += fmt::format("{}{}", name.empty() ? "" : ", ", backward ? "backward" : "forward");
    out += "<TR>";
    for (size_t position = 0; position < shown_.size(); ++position) {
      if (position > 0)
        out += fmt::format("<TD BORDER=\"0\"><FONT COLOR=\"{}\">{} {}</FONT></TD>", kStateColor,
                           position == 1 ? state_ : "", backward ? "←" : "→");
      bool ellipsis = shown_[position] == kEllipsis;
      out += fmt::format("<TD PORT=\"{}{}\"{}>{}</TD>", row == 0 ? "i" : "",
                         row == 0 ? std::to_string(position) : fmt::format("r{}_{}", row, position),
                         ellipsis ? " BORDER=\"0\"" : fmt::format(" BGCOLOR=\"{}\"", color),
                         ellipsis ? "…" : name);
    }
    out += "</TR>";
  }
  return out + "</TABLE>>]; }\n";
}

std::string Unfolded::dot(const std::string &title, std::string_view color) const {
  // The title is drawn beside the boxes: in a corner of the frame, edges would cross it.
  return fmt::format("    subgraph cluster_{0} {{\n      label=\"\"; style=filled; "
                     "fillcolor=\"#f7f7f7\"; color=\"#999999\";\n"
                     "      {{ rank=same; {0}_title [shape=plaintext, style=\"\", label={1}];{2}   "
                     "   {0}_title -> {3} [style=invis];\n    }}\n",
                     id_, quoted(title), rows() == 1 ? chain(color) : table(color), box(0));
}

} // namespace lstmc::viz
