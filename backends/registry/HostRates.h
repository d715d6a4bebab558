// What this machine can do at best, measured by the kernels' own means: the ends of scales that
// times are read on.
#pragma once

namespace lstmc {

/// Floating-point operations a second of f32 multiply-adds from registers, on so many threads.
/// std::system_error where they cannot be had.
double hostMultiplyAddRate(int threads);

/// Bytes a second that so many threads read from memory, beyond any cache that a core has for
/// itself.
double hostStreamRate(int threads);

} // namespace lstmc
