// Under AddressSanitizer a launch can touch its operands and nothing else of the arena. Other
// builds have an empty class.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "executor/base/Poison.h"
#include "executor/device/Device.h"

namespace lstmc {

/// Of the launches of a program: which bytes of the arena each may touch. Bytes that another
/// device's launch reads (the receive of a message) are never poisoned, since it does so at a
/// moment of its own; every fence says which these are.
class Fence {
public:
  using Bytes = std::pair<const std::byte *, const std::byte *>; ///< from, to

  Fence() = default;
  Fence(const std::vector<LaunchSpec> &launches, Bytes arena);
  ~Fence();
  Fence(const Fence &) = delete;
  Fence &operator=(const Fence &) = delete;

  /// Poisons the arena but for the operands of that launch.
  void enter(size_t launch) const;
  /// Poisons nothing.
  void leave() const;

private:
  Bytes arena_{};
  std::vector<std::vector<Bytes>> operands_; ///< of each launch, those in the arena
  std::vector<Bytes> elsewhere_;             ///< those that are in other arenas
};

} // namespace lstmc
