// Views: windows on memory, and which reshapes need no copy.
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include "ir/sym/KernelBuilder.h"

namespace lstmc::sym {

int64_t View::elements() const {
  int64_t n = 1;
  for (int64_t extent : shape)
    n *= extent;
  return n;
}

bool View::dense() const {
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != step)
      return false;
    step *= shape[i];
  }
  return true;
}

/// Drops axes of extent 1 and joins axes that one stride can walk; then cuts each joined axis into
/// the new extents.
std::optional<View> View::tryReshape(llvm::ArrayRef<int64_t> wanted) const {
  llvm::SmallVector<int64_t, 6> extents, steps; // joined
  for (auto [extent, stride] : llvm::zip_equal(shape, strides)) {
    if (extent == 1)
      continue;
    if (!extents.empty() && steps.back() == stride * extent) {
      extents.back() *= extent;
      steps.back() = stride;
    } else {
      extents.push_back(extent);
      steps.push_back(stride);
    }
  }
  View result{value, offset, {wanted.begin(), wanted.end()}, {}, dtype};
  result.strides.assign(wanted.size(), 1);
  size_t axis = wanted.size();
  for (size_t run = extents.size(); run-- > 0;) {
    int64_t left = extents[run], step = steps[run];
    while (left > 1) {
      if (axis == 0 || left % wanted[axis - 1] != 0)
        return std::nullopt;
      --axis;
      result.strides[axis] = step;
      step *= wanted[axis];
      left /= wanted[axis];
    }
  }
  for (size_t i = 0; i < axis; ++i)
    if (wanted[i] != 1)
      return std::nullopt;
  return result;
}

View View::reshape(llvm::ArrayRef<int64_t> wanted) const {
  std::optional<View> result = tryReshape(wanted);
  if (!result)
    llvm::report_fatal_error("a kernel's view cannot be given the shape that its op asks for");
  return *result;
}

View View::transpose(llvm::ArrayRef<int64_t> permutation) const {
  View result = *this;
  for (auto [i, axis] : llvm::enumerate(permutation)) {
    result.shape[i] = shape[size_t(axis)];
    result.strides[i] = strides[size_t(axis)];
  }
  return result;
}

View View::moveLast(int64_t axis) const {
  llvm::SmallVector<int64_t, 6> order;
  for (int64_t i = 0; i < rank(); ++i)
    if (i != axis)
      order.push_back(i);
  order.push_back(axis);
  return transpose(order);
}

View View::slice(int64_t axis, int64_t begin, int64_t size, int64_t step) const {
  View result = *this;
  result.offset += begin * strides[size_t(axis)];
  result.shape[size_t(axis)] = size;
  result.strides[size_t(axis)] *= step;
  return result;
}

View View::broadcastTo(llvm::ArrayRef<int64_t> wanted) const {
  View result{value, offset, {wanted.begin(), wanted.end()}, {}, dtype};
  result.strides.assign(wanted.size(), 0);
  size_t added = wanted.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == wanted[added + i])
      result.strides[added + i] = strides[i];
    else
      assert(shape[i] == 1 && "only extents of 1 stretch");
  return result;
}

View KernelBuilder::viewOrAbsent(mlir::Value value) {
  if (!value || (llvm::isa<mlir::OpResult>(value) && value.use_empty()))
    return {};
  return view(value);
}

View KernelBuilder::reshaped(View view, llvm::ArrayRef<int64_t> shape) {
  if (std::optional<View> same = view.tryReshape(shape))
    return *same;
  return denseCopy(view).reshape(shape);
}

} // namespace lstmc::sym
