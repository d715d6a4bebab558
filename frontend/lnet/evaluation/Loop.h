// Iteration over the elements of a value; messages inside it show the loop.
#pragma once

#include <functional>

#include "frontend/lnet/evaluation/Run.h"

namespace lstmc::lnet {

/// A loop in force, for as long as it lives.
class Loop {
public:
  Loop(Run &run, const Expr *targets, const Expr *iterable) : run_(run), source_(iterable) {
    run_.beginLoop(targets, iterable->span);
  }
  ~Loop() { run_.endLoop(); }
  Loop(const Loop &) = delete;
  Loop &operator=(const Loop &) = delete;

  /// Calls `body` for each element, until it returns false. Returns false if the value is not
  /// iterable.
  bool forEach(const Value &iterable, const std::function<bool(Value)> &body);

private:
  Run &run_;
  const Expr *source_;
};

} // namespace lstmc::lnet
