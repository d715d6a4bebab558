// The elementary functions, compiled for each level of the CPU.
#pragma once

#include <cstddef>

namespace lstmc::cpu {

enum class Elementary { Exp, Tanh, Sigmoid, Log };

// y[i] = function(x[i]) for `count` values, a multiple of 16.
namespace scalar {
void evaluate(Elementary function, const float *x, float *y, size_t count);
}
namespace avx2 {
void evaluate(Elementary function, const float *x, float *y, size_t count);
}
namespace avx512 {
void evaluate(Elementary function, const float *x, float *y, size_t count);
}

} // namespace lstmc::cpu
