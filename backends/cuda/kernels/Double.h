// One f64 with denormals counted as 0, as inputs and as results: GPUs have no such mode for f64
// (docs/numerics.md rule 11).
#pragma once

#include <bit>

#include "backends/cuda/kernels/Flushing.h"
#include "backends/cuda/kernels/Gpu.h"
#include "executor/base/functions/Exponentials.h"
#include "executor/base/functions/Logarithms.h"

namespace lstmc::gpu {

struct Double {
  using Stored = double;

  double v;

  friend LSTMC_DEVICE Double operator+(Double a, Double b) { return {flushing::sum(a.v, b.v)}; }
  friend LSTMC_DEVICE Double operator-(Double a, Double b) {
    return {flushing::difference(a.v, b.v)};
  }
  friend LSTMC_DEVICE Double operator*(Double a, Double b) { return {flushing::product(a.v, b.v)}; }
  friend LSTMC_DEVICE Double operator/(Double a, Double b) {
    return {flushing::quotient(a.v, b.v)};
  }
  friend LSTMC_DEVICE Double multiplyAdd(Double a, Double b, Double c) {
    return {flushing::multiplyAdd(a.v, b.v, c.v)};
  }
  friend LSTMC_DEVICE Double root(Double a) { return {flushing::root(a.v)}; }
  // Sign operations do not flush.
  friend LSTMC_DEVICE Double operator-(Double a) {
    return {std::bit_cast<double>(std::bit_cast<uint64_t>(a.v) ^ kSign)};
  }
  friend LSTMC_DEVICE Double abs(Double a) {
    return {std::bit_cast<double>(std::bit_cast<uint64_t>(a.v) & ~kSign)};
  }

  friend LSTMC_DEVICE bool operator<(Double a, Double b) { return a.in() < b.in(); }
  friend LSTMC_DEVICE bool operator>(Double a, Double b) { return a.in() > b.in(); }
  friend LSTMC_DEVICE bool operator==(Double a, Double b) { return a.in() == b.in(); }
  friend LSTMC_DEVICE bool isNan(Double a) { return a.v != a.v; }

  /// A denormal becomes a zero of its sign.
  friend LSTMC_DEVICE Double flushed(Double a) { return {a.in()}; }

  friend LSTMC_DEVICE Double exponential(Double a) { return of(real::exponential(a.in())); }
  friend LSTMC_DEVICE Double logarithm(Double a) { return of(real::logarithm(a.in())); }
  friend LSTMC_DEVICE Double sigmoid(Double a) { return of(real::sigmoid(a.in())); }
  friend LSTMC_DEVICE Double hyperbolicTangent(Double a) {
    return of(real::hyperbolicTangent(a.in()));
  }

private:
  static constexpr uint64_t kSign = uint64_t(1) << 63;

  LSTMC_DEVICE double in() const { return flushing::flushed(v); }
  static LSTMC_DEVICE Double of(double v) { return {Double{v}.in()}; }
};

} // namespace lstmc::gpu
