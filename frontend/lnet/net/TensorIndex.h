// x[i], x[a:b], x[..., k] of a tensor: one `slice_axis` or `slice` for the windows, and a `squeeze`
// for the axes that an integer picks from.
#pragma once

#include "frontend/lnet/evaluation/Interpreter.h"
#include "frontend/lnet/net/Nodes.h"

namespace lstmc::lnet {

class TensorIndex {
public:
  TensorIndex(Interpreter &interpreter, Nodes &nodes, const Value &tensor, const IndexExpr *expr);

  Value make();

private:
  /// The index of one axis: a window, or one element.
  struct Axis {
    int64_t axis; ///< negative, from the end, while the rank is unknown
    std::optional<int64_t> begin, end, step;
    bool pick;
    const Expr *place;

    int64_t stepOrOne() const { return step.value_or(1); }
  };

  /// `None` adds an axis.
  static bool isNew(const Expr *item) { return item->kind == ExprKind::None; }
  Value addAxes(Value value);
  bool findEllipsis();
  bool readAxes();
  void readAxis(size_t item);
  std::optional<int64_t> readBound(const Expr *source, bool mayBeNone);
  bool fit(Axis &axis);
  bool fitPick(Axis &axis);
  bool fitWindow(Axis &axis);
  bool isWhole(const Axis &axis) const;
  int64_t extent(const Axis &axis) const;

  Value sliceAxis(const Axis &axis);
  Value sliceAxes();
  Value squeeze(const Value &sliced);

  Interpreter &interpreter_;
  Run &run_;
  Nodes &nodes_;
  const Value &tensor_;
  const IndexExpr *expr_;
  symbol::Shape shape_;
  int64_t rank_;    ///< -1 if it is unknown
  size_t ellipsis_; ///< number of the item that is `...`; the number of items if none is
  std::vector<Axis> axes_;
  bool known_ = true;
};

} // namespace lstmc::lnet
