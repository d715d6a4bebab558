// foreach(step, data, states): a function over the slices of axis 0.
#pragma once

#include "frontend/lnet/evaluation/Builtins.h"
#include "frontend/lnet/evaluation/Interpreter.h"
#include "frontend/lnet/net/Nodes.h"

namespace lstmc::lnet {

class Foreach {
public:
  Foreach(Interpreter &interpreter, Nodes &nodes)
      : interpreter_(interpreter), run_(interpreter.run), nodes_(nodes) {}
  static std::span<const BuiltinRow<Foreach>> functions();

private:
  /// `(ys, states)`: `step(x, states)` returns `(y, states)`, and each y is stacked on axis 0.
  /// Makes the nodes that a `for` over the slices makes. E0309 for data of several lengths and for
  /// states that change.
  Value foreach (Arguments &arguments);

  /// The common extent of axis 0 of all of `data`; nullopt after an error.
  std::optional<int64_t> stepsOf(const Value &data, Span span);
  /// Slice `t` of a tensor, or of each of a tuple.
  Value slice(const Value &data, int64_t t, const Expr *place);
  bool isKept(const Value &before, const Value &after, Span span);
  Value stack(const std::vector<Value> &ys, Span span);

  Interpreter &interpreter_;
  Run &run_;
  Nodes &nodes_;
};

} // namespace lstmc::lnet
