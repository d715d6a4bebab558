#include "backends/cuda/emulated/HostPins.h"

#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>

#include "backends/cuda/emulated/EmulatedDriver.h"

namespace lstmc::cuda {

using namespace emulated;

namespace {

struct Pin {
  size_t bytes;
  const Card *card; ///< with whose context it ends
};
struct Pins {
  std::mutex mutex;
  std::map<uintptr_t, Pin> all; ///< by begin
};

Pins &pins() {
  static auto *const pins = new Pins; // devices may be destroyed after static objects
  return *pins;
}

DriverResult pin(void *memory, size_t bytes, unsigned) {
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  if (!memory || bytes == 0 || !current)
    return kInvalidValue;
  std::lock_guard lock(pins().mutex);
  auto &all = pins().all;
  const auto next = all.lower_bound(begin);
  if (next != all.end() && next->first < begin + bytes)
    return kAlreadyPinned;
  if (next != all.begin() && std::prev(next)->first + std::prev(next)->second.bytes > begin)
    return kAlreadyPinned;
  all.emplace_hint(next, begin, Pin{bytes, current});
  return kDone;
}

DriverResult unpin(void *memory) {
  std::lock_guard lock(pins().mutex);
  return pins().all.erase(reinterpret_cast<uintptr_t>(memory)) ? kDone : kNotPinned;
}

} // namespace

void emulated::addHostPins(Driver &driver) {
  driver.pin = pin;
  driver.unpin = unpin;
}

bool emulated::isPinned(const void *memory, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  std::lock_guard lock(pins().mutex);
  const auto after = pins().all.upper_bound(begin);
  return after != pins().all.begin() &&
         std::prev(after)->first + std::prev(after)->second.bytes >= begin + bytes;
}

void emulated::endHostPins(const Card &card) {
  std::lock_guard lock(pins().mutex);
  std::erase_if(pins().all, [&](const auto &pin) { return pin.second.card == &card; });
}

uint64_t emulatedPinnedBytes() {
  std::lock_guard lock(pins().mutex);
  uint64_t bytes = 0;
  for (const auto &[begin, pin] : pins().all)
    bytes += pin.bytes;
  return bytes;
}

} // namespace lstmc::cuda
