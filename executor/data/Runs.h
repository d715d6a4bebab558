// Ascending numbers in little memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace lstmc::data {

/// Ascending numbers, kept as runs of adjacent ones.
class Runs {
public:
  /// Adds a number above all others.
  void add(int64_t number) {
    if (runs_.empty() || number != runs_.back().first + (count_ - runs_.back().before))
      runs_.push_back({count_, number});
    ++count_;
  }
  int64_t size() const { return count_; }
  /// Number `i` of them.
  int64_t operator[](int64_t i) const {
    auto after = std::ranges::upper_bound(runs_, i, {}, &Run::before);
    const Run &run = *(after - 1);
    return run.first + (i - run.before);
  }

private:
  struct Run {
    int64_t before; ///< how many numbers are in the runs before
    int64_t first;
  };
  std::vector<Run> runs_;
  int64_t count_ = 0;
};

} // namespace lstmc::data
