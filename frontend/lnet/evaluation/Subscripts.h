// x[i] and x[a:b] of build-time values.
#pragma once

#include "frontend/lnet/evaluation/Run.h"

namespace lstmc::lnet {

/// A slice, clipped to a length by Python's rules.
struct Window {
  int64_t start, stop, step;
  int64_t size() const { return int64_t(RangeObject(start, stop, step).size()); }
};
Window clip(std::optional<int64_t> begin, std::optional<int64_t> end, int64_t step, int64_t length);

/// base[key]
Value elementAt(Run &run, const Value &base, const Value &key, const IndexExpr *expr);

/// base[begin:end:step]; `step` is not 0.
struct SliceBounds {
  std::optional<int64_t> begin, end;
  int64_t step = 1;
};
Value sliceOf(Run &run, const Value &base, const SliceBounds &bounds, Span span);

} // namespace lstmc::lnet
