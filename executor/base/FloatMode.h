// The floating-point mode for all arithmetic on values: round to nearest, treat denormals as 0.
#pragma once

#include <xmmintrin.h>

namespace lstmc {

/// Sets round-to-nearest, FTZ and DAZ for the calling thread; the destructor restores the old mode
/// (docs/numerics.md rule 11). Without it, a multiply-add on a denormal is 15 times slower.
class FloatMode {
public:
  FloatMode() : saved_(_mm_getcsr()) { _mm_setcsr((saved_ & ~kRounding) | kFlush); }
  ~FloatMode() { _mm_setcsr(saved_); }
  FloatMode(const FloatMode &) = delete;
  FloatMode &operator=(const FloatMode &) = delete;

private:
  static constexpr unsigned kRounding = 0x6000;
  static constexpr unsigned kFlush = 0x8040; // FTZ, DAZ
  unsigned saved_;
};

} // namespace lstmc
