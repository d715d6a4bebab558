#include "executor/device/TeamSize.h"

#include <algorithm>

namespace lstmc {

using namespace std::chrono_literals;

/// What may be lost at once: less than a processor is lent to another process for.
static constexpr TeamSize::Duration kOnce = 2ms;
static constexpr int kShare = 20;
static constexpr TeamSize::Duration kLongest = 10s;

// With a processor each, the caller does as much as the others, and waits at most as long as it
// works. Without, others cannot but come late.
TeamSize::TeamSize(int most, int processors)
    : most_(most), usual_(most > processors ? 0.25 : 0.6), size_(most) {}

void TeamSize::grow(Clock::time_point now) {
  size_ = std::min(most_, 2 * size_);
  again_ = now + pause_;
}

void TeamSize::waited(Clock::time_point begin, Clock::time_point now, Duration waiting) {
  if (double(waiting.count()) < usual_ * double((now - begin).count()))
    return;
  debt_ = std::max(Duration(), debt_ - (begin - counted_) / kShare) + waiting;
  counted_ = now;
  if (debt_ < kOnce)
    return;
  // A pause that was long enough is forgotten.
  const bool again = now - again_ < pause_;
  pause_ = std::min(std::max(again ? 2 * pause_ : Duration(), kShare * debt_), kLongest);
  size_ = std::max(1, size_ / 2);
  again_ = now + pause_;
  debt_ = {};
}

} // namespace lstmc
