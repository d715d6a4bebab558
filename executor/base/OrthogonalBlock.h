// One step of making vectors orthonormal, shared by the reference and the kernels.
//
// Vectors v (of n elements) are taken in blocks of kOrthogonalBlock, in order:
//   1. s(j, i) = the product of vectors j and i, for i in the block and j up to i. Tiles of
//      kOrthogonalTile elements in 16 lanes and their tree, in the vectors' type; tiles ascending,
//      in f64.
//   2. factor() turns s into coefficients, which say how much of each earlier vector to subtract
//      from a vector, and into a scale for each vector.
//   3. v(i) = scale(i) * (v(i) - sum over j < i, ascending, of coefficient(j, i) * v(j)), i
//      ascending: one fma a term, in the vectors' type; then the product.
// A block is repeated, at most kOrthogonalPasses times, if a vector of it lost three quarters or
// more of its squared length. A vector that lost nearly all of it is not scaled to length 1 in that
// pass but in a later one, because a large scale would magnify rounding errors. A vector that
// depends on the earlier ones ends as a short vector, or as 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace lstmc {

inline constexpr int kOrthogonalPasses = 4;

/// s [first + count, count] in memory of `stride` columns, s(j, i) for vector first + i. Replaces s
/// by the coefficients, negated so that an fma can add them. Returns whether the block has to be
/// repeated. `epsilon` is that of the vectors' type.
inline bool factor(double *s, int64_t stride, int64_t first, int64_t count, double epsilon,
                   double *scales) {
  double *block = s + first * stride; // products of the block's own vectors, then their factor
  for (int64_t i = 0; i < count; ++i)
    scales[i] = block[i * stride + i];
  auto take = [&](const double *row, int64_t k, int64_t from) {
    for (int64_t i = from; i < count; ++i)
      block[k * stride + i] -= row[k] * row[i];
  };
  for (int64_t j = 0; j < first; ++j)
    for (int64_t k = 0; k < count; ++k)
      take(s + j * stride, k, k);
  bool again = false;
  for (int64_t k = 0; k < count; ++k) {
    double *row = block + k * stride;
    for (int64_t j = 0; j < k; ++j)
      take(block + j * stride, k, k);
    const double length = scales[k], left = row[k];
    const bool known = left > 8 * epsilon * length; // false if only rounding errors are left
    again |= length > 0 && left < length / 4;
    scales[k] = known ? 1 / std::sqrt(left) : 1;
    for (int64_t i = k + 1; i < count; ++i)
      row[i] = known ? row[i] * scales[k] : 0;
  }
  for (int64_t j = 0; j < first + count; ++j)
    for (int64_t i = std::max<int64_t>(0, j - first + 1); i < count; ++i)
      s[j * stride + i] = -s[j * stride + i];
  return again;
}

} // namespace lstmc
