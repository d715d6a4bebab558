// The rate at which threads read a set of weights again and again, bytes a second.
#pragma once

#include <cstddef>

namespace lstmc::bench {

/// `bytes` in all, split over the threads; the best of a few passes. Remembers what it has measured.
double streamRate(size_t bytes, int threads);

} // namespace lstmc::bench
