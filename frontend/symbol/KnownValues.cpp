#include "frontend/symbol/KnownValues.h"

#include <algorithm>

#include "frontend/symbol/Impl.h"
#include "ir/sym/ConstantValue.h"

namespace lstmc::symbol {

std::optional<double> constantOf(const Symbol &symbol) {
  return sym::constantOf(Graph::Impl::valueOf(symbol));
}

bool mayBeOfOneType(const Symbol &a, const Symbol &b) {
  if (a.dtype() && b.dtype() && *a.dtype() != *b.dtype())
    return false;
  const Shape left = a.shape(), right = b.shape();
  return !left.ranked || !right.ranked ||
         std::ranges::equal(left.dims, right.dims, [](const Dim &l, const Dim &r) {
           return l.extent == kUnknown || r.extent == kUnknown || l.extent == r.extent;
         });
}

} // namespace lstmc::symbol
