// The small part of making vectors orthonormal, which the reference and the kernels share.
//
// Vectors v (of n elements) are taken in blocks of kOrthogonalBlock, in order:
//   1. s(j, i) = the product of vectors j and i, for i in the block and j up to i. Tiles of
//      kOrthogonalTile elements in 16 lanes and their tree, in the vectors' type; tiles ascending,
//      in f64.
//   2. factor() makes of s what every vector takes of those before it, and its scale.
//   3. v(i) = scale(i) * (v(i) - sum over j < i, ascending, of coefficient(j, i) * v(j)), i
//      ascending: one fma a term, in the vectors' type; then the product.
// A block of which some vector lost three quarters of its squared length or more goes through this
// again, at most kOrthogonalPasses times. One that lost nearly all of it is only shortened by that
// pass and made of length 1 by a later one, so that no rounding error is made large by a scale that
// is one itself. What depends on the vectors before it ends as a short vector, or as 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace lstmc {

inline constexpr int kOrthogonalPasses = 4;

/// s [first + count, count] in memory of `stride` columns, s(j, i) for vector first + i; becomes
/// the coefficients, with their signs turned, so that an fma takes them. Whether the block is to be
/// done again. `epsilon` is that of the vectors' type.
inline bool factor(double *s, int64_t stride, int64_t first, int64_t count, double epsilon,
                   double *scales) {
  double *block = s + first * stride; // the products of the block's own vectors, then their factor
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
    const bool known = left > 8 * epsilon * length; // not what rounding left
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
