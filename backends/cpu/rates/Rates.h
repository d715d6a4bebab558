// Measures the peak rates of this machine, with which the times of kernels are compared.
#pragma once

#include <cstddef>

#include "executor/device/ThreadTeam.h"

namespace lstmc::cpu {

/// Peak floating-point operations per second of f32 multiply-adds on registers, on all threads of
/// the team; a multiply-add counts as two. The best of a few rounds at the level in use.
double multiplyAddRate(ThreadTeam &team);

/// Bytes per second at which threads read a set of weights of `bytes` in total again and again; the
/// best of a few passes. Measured once per size and then remembered.
double streamRate(size_t bytes, int threads);

} // namespace lstmc::cpu
