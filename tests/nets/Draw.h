// Random choices that depend only on a seed, on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace lstmc::nets {

/// SplitMix64.
class Draw {
public:
  explicit Draw(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// 0 to n - 1; 0 if n is less than 1.
  int64_t below(int64_t n) { return n < 1 ? 0 : int64_t(next() % uint64_t(n)); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(double p) { return double(next() >> 11) * 0x1p-53 < p; }

  template <typename T> T oneOf(std::initializer_list<T> values) {
    return values.begin()[below(int64_t(values.size()))];
  }
  template <typename T> const T &oneOf(const std::vector<T> &values) {
    return values[size_t(below(int64_t(values.size())))];
  }
  template <typename T> void shuffle(std::vector<T> &values) {
    for (size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[size_t(below(int64_t(i)))]);
  }

private:
  uint64_t state_;
};

} // namespace lstmc::nets
