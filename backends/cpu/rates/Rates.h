// What this machine can do at best, measured: the ends of scales that times are read on.
#pragma once

#include <cstddef>

#include "executor/device/ThreadTeam.h"

namespace lstmc::cpu {

/// Floating-point operations a second that f32 multiply-adds from registers alone come to on all
/// threads of the team, two each; the best of a few rounds at the level in use.
double multiplyAddRate(ThreadTeam &team);

/// Bytes a second at which threads read a set of weights of `bytes` in all again and again; the
/// best of a few passes. Remembers what it has measured.
double streamRate(size_t bytes, int threads);

} // namespace lstmc::cpu
