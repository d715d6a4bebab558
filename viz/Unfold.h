// Drawing of recurrent layers step by step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mlir/IR/Operation.h"

namespace lstmc::viz {

/// A recurrent op as a frame with a box per step; with more than four steps the first two, an
/// ellipsis and the last. Layers and directions of a stack are stacked vertically, each with arrows
/// for its state.
class Unfolded {
public:
  /// Nullopt for an op without steps. `id` is the prefix of the names of its boxes.
  static std::optional<Unfolded> of(mlir::Operation *op, const std::string &id);

  std::string dot(const std::string &title, std::string_view color) const;

  int64_t steps() const { return steps_; }
  /// Whether the operand or result has a slice per step; else it is a state at one end.
  bool isSequence(mlir::Value value) const;
  /// DOT ports for edges into (out of) a step, by its index among the drawn steps; empty for the
  /// ellipsis.
  std::string reader(size_t position) const { return end(position, "i"); }
  std::string writer(size_t position) const { return end(position, "o"); }
  size_t positions() const { return shown_.size(); }
  /// Boxes in which the recurrence begins (ends): one, or one per direction of a bidirectional
  /// layer.
  std::vector<std::string> firsts() const { return ends(true); }
  std::vector<std::string> lasts() const { return ends(false); }

private:
  std::vector<std::string> ends(bool first) const;
  std::string box(size_t position) const;
  std::string end(size_t position, std::string_view port) const;
  std::string chain(std::string_view color) const;
  std::string table(std::string_view color) const;
  size_t rows() const { return size_t(layers_) * backward_.size(); }

  mlir::Operation *op_ = nullptr;
  std::string id_, state_; ///< label of the state
  int64_t steps_ = 0, layers_ = 1;
  std::vector<bool> backward_; ///< per direction, whether it runs from the last step to the first
  std::vector<int64_t> shown_; ///< drawn steps; -1 for the ellipsis
};

} // namespace lstmc::viz
