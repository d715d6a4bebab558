// Initial values element by element. Compiled once.
#pragma once

#include "executor/device/KernelLaunch.h"

namespace lstmc::cpu {

/// Elements begin to end - 1 of w, for kinds whose elements do not depend on one another.
void initialElements(const InitialiseLaunch &launch, int64_t begin, int64_t end);

/// The start values of Orthogonal: elements begin to end - 1 of w, a matrix of w.shape[0] rows,
/// written to their place in `vectors`. The vectors are its rows or its columns, the fewer, one
/// after the other, of f32 or f64.
template <typename Real>
void orthogonalStart(const InitialiseLaunch &launch, Real *vectors, int64_t begin, int64_t end);

} // namespace lstmc::cpu
