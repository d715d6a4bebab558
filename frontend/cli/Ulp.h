// Distances between numbers, as --ulp, --rtol and --atol measure them.
#pragma once

#include "executor/abi/DType.h"
#include "frontend/cli/Options.h"

namespace lstmc::cli {

/// In units in the last place of the larger one, of f64 or else of f32; 0 for equal values and for
/// two NaN.
double ulps(DType dtype, double a, double b);

/// How far two numbers may be from each other: `--ulp`, or `--atol` + `--rtol` times the second.
struct Tolerance {
  double ulp = 0, rtol = 0, atol = 0;

  static Tolerance asked(const Options &options);
  bool near(DType dtype, double a, double b) const;
};

} // namespace lstmc::cli
