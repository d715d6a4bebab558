#include "executor/data/Outside.h"

#include <algorithm>
#include <vector>

#include <fmt/ranges.h>

#include "executor/base/Numeric.h"

namespace lstmc::data {
namespace {

/// A whole block is checked without branches; only a block with a fault is searched for it.
constexpr int64_t kBlock = 4096;

template <typename Outside> std::optional<int64_t> firstWhere(int64_t count, Outside outside) {
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    int64_t end = std::min(begin + kBlock, count);
    bool any = false;
    for (int64_t i = begin; i < end; ++i)
      any |= outside(i);
    for (int64_t i = begin; any && i < end; ++i)
      if (outside(i))
        return i;
  }
  return std::nullopt;
}

} // namespace

std::optional<int64_t> firstOutside(const void *elements, DType dtype, int64_t count,
                                    const ValueRange &range) {
  return withType(dtype, [&](auto stored) -> std::optional<int64_t> {
    using Stored = decltype(stored);
    auto *values = static_cast<const Stored *>(elements);
    if constexpr (std::is_integral_v<Stored>) {
      int64_t low = range.low, high = range.high, ignored = range.ignored.value_or(low);
      return firstWhere(count, [=](int64_t i) {
        auto value = int64_t(values[i]); // NOLINT(bugprone-signed-char-misuse): int8_t is a number
        return bool(((value < low) | (value > high)) & (value != ignored));
      });
    } else {
      return firstWhere(
          count, [&](int64_t i) { return !range.holds(readElement<double>(elements, dtype, i)); });
    }
  });
}

std::string placeText(std::span<const int64_t> shape, int64_t element) {
  if (shape.size() < 2)
    return {};
  std::vector<int64_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; element /= shape[axis])
    index[axis] = element % shape[axis];
  return fmt::format(", at [{}]", fmt::join(index, ", "));
}

} // namespace lstmc::data
