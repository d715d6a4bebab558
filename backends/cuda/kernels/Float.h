// One f32 with the operations that base/ElementaryFunctions.h needs, so that exp, tanh, sigmoid and
// log give the same bits as on the CPU.
#pragma once

#include <bit>

#include "backends/cuda/kernels/Gpu.h"
#include "executor/base/ElementaryFunctions.h"

namespace lstmc::gpu {

struct Float {
  using Stored = float;
  struct Mask {
    bool on;
    LSTMC_DEVICE operator bool() const { return on; }
  };

  float v;

  static LSTMC_DEVICE Float broadcast(float x) { return {x}; }

  friend LSTMC_DEVICE Float operator+(Float a, Float b) { return {added(a.v, b.v)}; }
  friend LSTMC_DEVICE Float operator-(Float a, Float b) { return {subtracted(a.v, b.v)}; }
  friend LSTMC_DEVICE Float operator*(Float a, Float b) { return {multiplied(a.v, b.v)}; }
  friend LSTMC_DEVICE Float operator/(Float a, Float b) { return {divided(a.v, b.v)}; }
  // Sign operations work on bits, so that they do not flush a denormal.
  friend LSTMC_DEVICE Float operator-(Float a) { return withBits(a.bits() ^ 0x80000000u); }
  friend LSTMC_DEVICE Float abs(Float a) { return withBits(a.bits() & 0x7fffffffu); }
  friend LSTMC_DEVICE Float copySign(Float a, Float sign) {
    return withBits((a.bits() & 0x7fffffffu) | (sign.bits() & 0x80000000u));
  }
  friend LSTMC_DEVICE Float fma(Float a, Float b, Float c) { return {multiplyAdd(a.v, b.v, c.v)}; }
  friend LSTMC_DEVICE Float multiplyAdd(Float a, Float b, Float c) { return fma(a, b, c); }
  /// a < b ? a : b, which is b if either is NaN; `max` likewise. A denormal becomes 0, as by the
  /// CPU's instructions: by flushed(), because ptxas may make a comparison and a selection one
  /// instruction that does not flush.
  friend LSTMC_DEVICE Float min(Float a, Float b) { return flushed(a < b ? a : b); }
  friend LSTMC_DEVICE Float max(Float a, Float b) { return flushed(b < a ? a : b); }
  friend LSTMC_DEVICE Float roundEven(Float a) { return {roundToEven(a.v)}; }
  friend LSTMC_DEVICE Float floor(Float a) { return {roundDown(a.v)}; }

  friend LSTMC_DEVICE Mask operator<(Float a, Float b) { return {operand(a.v) < operand(b.v)}; }
  friend LSTMC_DEVICE Mask operator<=(Float a, Float b) { return {operand(a.v) <= operand(b.v)}; }
  friend LSTMC_DEVICE Mask operator==(Float a, Float b) { return {operand(a.v) == operand(b.v)}; }
  friend LSTMC_DEVICE bool isNan(Float a) { return a.v != a.v; }
  friend LSTMC_DEVICE Float root(Float a) { return {squareRoot(a.v)}; }
  /// A denormal becomes a zero of its sign. A multiplication by 1 would do it too, but compilers
  /// leave it out.
  friend LSTMC_DEVICE Float flushed(Float a) {
    return a.bits() & 0x7f800000u ? a : withBits(a.bits() & 0x80000000u);
  }
  friend LSTMC_DEVICE Float select(Mask m, Float a, Float b) { return m.on ? a : b; }

  /// 2^n for whole n in [-126, 127]; unspecified for NaN.
  friend LSTMC_DEVICE Float powerOf2(Float n) {
    return withBits((uint32_t(n.v == n.v ? int32_t(n.v) : 0) + 127) << 23);
  }
  /// p * 2^n for 0.5 <= p < 4 and whole n in [-151, 129], rounded once.
  friend LSTMC_DEVICE Float scaleByPowerOf2(Float p, Float n) {
    Float half = floor(n * broadcast(0.5f));
    return p * powerOf2(half) * powerOf2(n - half);
  }
  /// For positive normal x = 2^e m, m in [0.707, 1.414): returns m.
  friend LSTMC_DEVICE Float splitExponent(Float x, Float &e) {
    constexpr uint32_t kRootHalf = 0x3f3504f3;
    uint32_t from = x.bits() - kRootHalf;
    e.v = float(int32_t(from) >> 23);
    return withBits((from & 0x007fffffu) + kRootHalf);
  }

private:
  LSTMC_DEVICE uint32_t bits() const { return std::bit_cast<uint32_t>(v); }
  static LSTMC_DEVICE Float withBits(uint32_t bits) { return {std::bit_cast<float>(bits)}; }
};

LSTMC_DEVICE float sigmoidOf(float x) { return sigmoid(Float{x}).v; }
LSTMC_DEVICE float tanhOf(float x) { return hyperbolicTangent(Float{x}).v; }

} // namespace lstmc::gpu
