// Initial values element by element. Compiled once.
#pragma once

#include "executor/device/KernelLaunch.h"

namespace lstmc::cpu {

/// Kinds whose elements do not depend on one another: elements begin to end - 1 of w.
void initialElements(const InitialiseLaunch &launch, int64_t begin, int64_t end);

/// What Orthogonal starts from: elements begin to end - 1 of w as a matrix of w.shape[0] rows, to
/// where they are in `vectors`: its rows or its columns, the fewer, one after the other. Of f32,
/// f64.
template <typename Real>
void orthogonalStart(const InitialiseLaunch &launch, Real *vectors, int64_t begin, int64_t end);

} // namespace lstmc::cpu
