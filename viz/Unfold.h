// Recurrent layers step by step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mlir/IR/Operation.h"

namespace lstmc::viz {

/// A recurrent op as a frame with a box per step; of more than four steps the first two, an
/// ellipsis and the last. Layers and directions of a stack lie over one another, each with arrows
/// of its state from step to step.
class Unfolded {
public:
  /// None of an op that has no steps. `id` begins the names of all its boxes.
  static std::optional<Unfolded> of(mlir::Operation *op, const std::string &id);

  std::string dot(const std::string &title, std::string_view color) const;

  int64_t steps() const { return steps_; }
  /// Whether the operand or result has a part per step; else it belongs to the state at one end.
  bool isSequence(mlir::Value value) const;
  /// Where edges enter (leave) a step, by its position among those drawn; empty for the ellipsis.
  std::string reader(size_t position) const { return end(position, "i"); }
  std::string writer(size_t position) const { return end(position, "o"); }
  size_t positions() const { return shown_.size(); }
  /// Boxes in which the recurrence begins (ends): one, or the two ends of a layer of both
  /// directions.
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
  std::string id_, state_; ///< what the state is called
  int64_t steps_ = 0, layers_ = 1;
  std::vector<bool> backward_; ///< per direction, whether it runs from the last step to the first
  std::vector<int64_t> shown_; ///< steps, -1 the ellipsis
};

} // namespace lstmc::viz
