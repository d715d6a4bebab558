// Random numbers for initial values: functions of seed, op and element, at update 0.
#pragma once

#include <cstdint>

#include "executor/base/Philox.h"
#include "executor/base/functions/Normal.h"

namespace lstmc {

/// The numbers of one parameter.
struct InitialNumbers {
  uint64_t seed;
  uint32_t ordinal;

  LSTMC_PORTABLE double uniform(uint64_t element) const {
    return randomUniform(seed, element, ordinal, 0);
  }

  /// The words of elements `first` to first + 3; `first` is a multiple of 4.
  void uniformFour(uint64_t first, double (&four)[4]) const {
    const PhiloxBlock words = randomBlock(seed, first / 4, ordinal, 0);
    for (int i = 0; i < 4; ++i)
      four[i] = uniformFromWord(words[i]);
  }

  /// Normal numbers, mean 0, deviation 1. Elements 2i and 2i + 1 share two words: the first gives
  /// the radius, the second the angle; the even element takes the cosine, the odd one the sine.
  LSTMC_PORTABLE double normal(uint64_t element) const {
    double even, odd;
    normalPair(element & ~uint64_t(1), even, odd);
    return element & 1 ? odd : even;
  }
  LSTMC_PORTABLE void normalPair(uint64_t element, double &even, double &odd) const {
    const PhiloxBlock words = randomBlock(seed, element / 4, ordinal, 0);
    real::normalPair(uniformFromWord(words[element % 4]), uniformFromWord(words[element % 4 + 1]),
                     even, odd);
  }
};

} // namespace lstmc
