// Lets symbols check whether their graph still exists: they are handles that do not keep it alive.
#pragma once

#include <atomic>
#include <cstdint>

namespace lstmc::symbol {

/// A slot that graphs use one after the other. Never freed, so that the oldest symbol may look.
struct Lifetime {
  std::atomic<uint64_t> generation = 1; ///< of the graph that has the slot; grows when it ends
};

/// A graph's slot. There are as many as there were graphs at one time.
class LifetimeHold {
public:
  LifetimeHold();
  ~LifetimeHold();
  LifetimeHold(const LifetimeHold &) = delete;
  LifetimeHold &operator=(const LifetimeHold &) = delete;
  const Lifetime *slot() const { return slot_; }

private:
  Lifetime *slot_;
};

} // namespace lstmc::symbol
