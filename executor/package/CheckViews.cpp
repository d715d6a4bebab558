#include "executor/package/Check.h"

#include <algorithm>
#include <cstdlib>

namespace lstmc::package {

namespace {

/// coefficient * stride, 0 <= coefficient <= most.
struct Term {
  int64_t stride; ///< above 0
  int64_t most;
};

/// Whether a sum of terms can lie in [low, high]. The terms are sorted by falling stride, and
/// `reach[i]` is the largest sum of the terms from i on. Every call spends one of `budget`; true
/// when it is spent.
bool reachable(std::span<const Term> terms, std::span<const int64_t> reach, int64_t low,
               int64_t high, int &budget) {
  if (low <= 0 && high >= 0)
    return true;
  if (high < 0 || terms.empty() || low > reach[0])
    return false;
  if (--budget < 0)
    return true;
  // What the terms after this one must add lies in [0, reach[1]].
  const auto [stride, most] = terms[0];
  int64_t first =
      std::max<int64_t>(0, low - reach[1] <= 0 ? 0 : (low - reach[1] + stride - 1) / stride);
  int64_t last = std::min(most, high / stride);
  for (int64_t i = last; i >= first; --i) {
    if (reachable(terms.subspan(1), reach.subspan(1), low - i * stride, high - i * stride, budget))
      return true;
    if (budget < 0)
      return true;
  }
  return false;
}

} // namespace

bool overlap(const CheckedView &a, uint64_t aByte, const CheckedView &b, uint64_t bByte) {
  int64_t aSize = int64_t(dtypeBytes(a.dtype)), bSize = int64_t(dtypeBytes(b.dtype));
  // First bytes of the least elements, and how far they reach. An arena has below 2^63 bytes.
  int64_t aLow = int64_t(aByte) + a.low * aSize, bLow = int64_t(bByte) + b.low * bSize;
  int64_t aEnd = int64_t(aByte) + (a.high + 1) * aSize,
          bEnd = int64_t(bByte) + (b.high + 1) * bSize;
  if (aEnd <= bLow || bEnd <= aLow)
    return false;
  // An element of a begins at aLow + sum(i * |stride|), one of b at bLow + sum(j * |stride|). With
  // j counted from b's far end, all terms add up: they meet where the sum lies within an element's
  // size of bEnd - bSize - aLow.
  std::vector<Term> terms;
  for (const auto &[view, size] : {std::pair(&a, aSize), std::pair(&b, bSize)})
    for (int i = 0; i < view->rank; ++i)
      if (view->shape[size_t(i)] > 1 && view->strides[size_t(i)] != 0)
        terms.push_back({std::abs(view->strides[size_t(i)]) * size, view->shape[size_t(i)] - 1});
  std::ranges::sort(terms, std::ranges::greater(),
                    [](const Term &term) { return std::pair(term.stride, term.most); });
  std::vector<int64_t> reach(terms.size() + 1);
  for (size_t i = terms.size(); i-- > 0;)
    reach[i] = reach[i + 1] + terms[i].stride * terms[i].most;
  int64_t distance = (bEnd - bSize) - aLow;
  int budget = 256;
  return reachable(terms, reach, distance - (aSize - 1), distance + (bSize - 1), budget);
}

bool injective(const CheckedView &view) {
  std::array<std::pair<int64_t, int64_t>, kMaxRank> axes; // |stride|, greatest index
  size_t count = 0;
  for (int i = 0; i < view.rank; ++i)
    if (view.shape[size_t(i)] > 1)
      axes[count++] = {std::abs(view.strides[size_t(i)]), view.shape[size_t(i)] - 1};
  std::sort(axes.begin(), axes.begin() + count);
  int64_t reach = 0;
  for (size_t i = 0; i < count; ++i) {
    if (axes[i].first <= reach)
      return false;
    reach += axes[i].first * axes[i].second;
  }
  return true;
}

bool sameView(const CheckedView &a, const CheckedView &b) {
  if (a.rank != b.rank || dtypeBytes(a.dtype) != dtypeBytes(b.dtype))
    return false;
  for (size_t i = 0; i < size_t(a.rank); ++i)
    if (a.shape[i] != b.shape[i] || (a.shape[i] > 1 && a.strides[i] != b.strides[i]))
      return false;
  return true;
}

} // namespace lstmc::package
