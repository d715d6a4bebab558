// What the compiler decides for the CPU target: figures, level-independent, since a package runs on
// every level.
#pragma once

#include <cstdint>

namespace lstmc::cpu {

/// Rows that a product needs to run at full speed; more only pushes weights out of the cache
/// (tests/bench/RESULTS.md).
inline constexpr int64_t kProjectionRows = 200;

/// Steps whose input projection is made at once: as many as make up about kProjectionRows rows, at
/// most `steps`, and no more than `maxBytes` for [chunk, batch, width] elements; 1 where two steps
/// are too much.
int64_t projectionSteps(int64_t steps, int64_t batch, int64_t width, int64_t elementBytes,
                        uint64_t maxBytes);

/// Figures of one core in a machine of the kind that tests/bench/RESULTS.md measures, for estimates
/// that compare plans (never for choosing between kernels that differ in bits).
struct CoreFigures {
  double flopsPerSecond = 80e9; ///< f32, fma counted as two, products of packed weights
  double bytesPerSecond = 12e9; ///< streamed from memory
  double launchSeconds = 1e-6;  ///< barrier and dispatch
};

/// The longer of computing and moving, and the launch.
double estimateSeconds(int64_t flops, int64_t movedBytes, const CoreFigures &figures = {});

} // namespace lstmc::cpu
