// Disturbances of numbers, to see how far roundings can move a result.
#pragma once

#include <cstdint>

#include "executor/base/Philox.h"

namespace lstmc::nets::plain {

/// A stream of random numbers between -size and size.
struct Noise {
  double size = 0;
  uint64_t seed = 0;
  uint64_t drawn = 0;

  double next() { return size * (2 * randomUniform(seed, drawn++, 0, 17) - 1); }
};

} // namespace lstmc::nets::plain
