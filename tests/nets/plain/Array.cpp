#include "tests/nets/plain/Array.h"

#include <algorithm>
#include <cmath>

#include "ir/sym/Create.h"
#include "ir/sym/SymOps.h"

namespace lstmc::nets::plain {

Array zerosFor(mlir::Value value) {
  mlir::RankedTensorType type = sym::rankedType(value);
  DType dtype = *sym::dtypeOf(type.getElementType());
  return zerosOf(Index(type.getShape()), isFloat(dtype) ? DType::F64 : dtype);
}

Array zerosOf(const Index &shape, DType dtype) {
  Array y;
  y.shape = shape;
  y.dtype = dtype;
  size_t count = 1;
  for (int64_t extent : shape)
    count *= size_t(extent);
  y.x.resize(count);
  return y;
}

Index with(const Index &index, int64_t axis, int64_t value) {
  Index more = index;
  more.insert(more.begin() + axis, value);
  return more;
}
Index without(const Index &index, int64_t axis) {
  Index less = index;
  less.erase(less.begin() + axis);
  return less;
}
Index replaced(Index index, int64_t axis, int64_t value) {
  index[size_t(axis)] = value;
  return index;
}

int64_t whole(Number number) {
  constexpr Number kMost = 9.2e18L;
  return std::isnan(number) ? 0 : int64_t(std::clamp(number, -kMost, kMost));
}

int64_t inside(Number index, int64_t extent, bool wrap) {
  int64_t i = whole(index);
  return wrap ? ((i % extent) + extent) % extent : std::clamp<int64_t>(i, 0, extent - 1);
}

} // namespace lstmc::nets::plain
