// A dense tensor of numbers, each of which holds any double and any 64-bit integer.
#pragma once

#include <cstdint>
#include <vector>

#include "executor/abi/DType.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace lstmc::nets::plain {

using Number = long double;
using Index = llvm::SmallVector<int64_t, 6>;

struct Array {
  Index shape;
  DType dtype = DType::F64;
  std::vector<Number> x; ///< row-major

  int64_t rank() const { return int64_t(shape.size()); }
  int64_t count() const { return int64_t(x.size()); }
  /// `axis` may count from the end.
  int64_t axis(int64_t axis) const { return axis < 0 ? axis + rank() : axis; }
  int64_t extent(int64_t axis) const { return shape[size_t(this->axis(axis))]; }

  Number &at(const Index &index) { return x[offset(index)]; }
  const Number &at(const Index &index) const { return x[offset(index)]; }
  /// The element at `index`, with broadcasting of extents of 1.
  const Number &stretched(const Index &index) const {
    size_t at = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      at = at * size_t(shape[axis]) + (shape[axis] == 1 ? 0 : size_t(index[axis]));
    return x[at];
  }

private:
  size_t offset(const Index &index) const {
    size_t at = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      at = at * size_t(shape[axis]) + size_t(index[axis]);
    return at;
  }
};

/// Zeros of a value's shape and type; floats are f64.
Array zerosFor(mlir::Value value);
Array zerosOf(const Index &shape, DType dtype = DType::F64);

/// Calls f(index) for each index of a shape, row-major.
template <typename F> void forEach(const Index &shape, F &&f) {
  Index index(shape.size(), 0);
  for (int64_t extent : shape)
    if (extent == 0)
      return;
  for (bool more = true; more;) {
    f(static_cast<const Index &>(index));
    size_t axis = shape.size();
    for (more = false; axis-- > 0 && !more;)
      if (++index[axis] < shape[axis])
        more = true;
      else
        index[axis] = 0;
  }
}

/// The result whose element at each index is f(index).
template <typename F> Array made(mlir::Value result, F &&f) {
  Array y = zerosFor(result);
  size_t i = 0;
  forEach(y.shape, [&](const Index &index) { y.x[i++] = f(index); });
  return y;
}

/// The index with one more axis, or one less.
Index with(const Index &index, int64_t axis, int64_t value);
Index without(const Index &index, int64_t axis);
Index replaced(Index index, int64_t axis, int64_t value);

/// An index or a length: cut to an integer.
int64_t whole(Number number);
/// The nearest index of an axis, or the index modulo its extent.
int64_t inside(Number index, int64_t extent, bool wrap = false);

} // namespace lstmc::nets::plain
