#include "frontend/symbol/Lifetime.h"

#include <deque>
#include <mutex>
#include <vector>

namespace lstmc::symbol {

namespace {

struct Slots {
  std::mutex mutex;
  std::deque<Lifetime> all; // where they are they stay
  std::vector<Lifetime *> unused;
};

/// Never destroyed, because symbols may be used while the process ends.
Slots &slots() {
  static Slots &kSlots = *new Slots;
  return kSlots;
}

} // namespace

LifetimeHold::LifetimeHold() {
  Slots &kept = slots();
  std::lock_guard lock(kept.mutex);
  if (kept.unused.empty()) {
    slot_ = &kept.all.emplace_back();
  } else {
    slot_ = kept.unused.back();
    kept.unused.pop_back();
  }
}

LifetimeHold::~LifetimeHold() {
  slot_->generation.fetch_add(1, std::memory_order_release);
  Slots &kept = slots();
  std::lock_guard lock(kept.mutex);
  kept.unused.push_back(slot_);
}

} // namespace lstmc::symbol
