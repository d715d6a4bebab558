#include "backends/cuda/emulated/CardMemory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace lstmc::cuda {

namespace {

constexpr int kUnused = 0xcb; ///< of bytes that nothing wrote

void *mapped(size_t bytes, int protection) {
  void *range =
      mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return range == MAP_FAILED ? nullptr : range;
}

} // namespace

DeviceAddress CardMemory::allocate(CardNumber card, size_t bytes) {
  // One page more, for a view without elements that begins at the end.
  const auto page = size_t(sysconf(_SC_PAGESIZE)), size = (bytes / page + 2) * page;
  if (size < bytes)
    return 0;
  void *addresses = mapped(size, PROT_NONE);
  void *memory = mapped(size, PROT_READ | PROT_WRITE);
  if (!addresses || !memory) {
    for (void *range : {addresses, memory})
      if (range)
        munmap(range, size);
    return 0;
  }
  std::memset(memory, kUnused, bytes);
  std::lock_guard lock(mutex_);
  const auto begin = DeviceAddress(reinterpret_cast<uintptr_t>(addresses));
  allocations_[begin] = {card, bytes, size, static_cast<std::byte *>(memory)};
  return begin;
}

bool CardMemory::free(DeviceAddress address) {
  std::lock_guard lock(mutex_);
  auto found = allocations_.find(address);
  if (found == allocations_.end())
    return false;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): addresses of a card are numbers
  munmap(reinterpret_cast<void *>(uintptr_t(address)), found->second.mapped);
  munmap(found->second.memory, found->second.mapped);
  allocations_.erase(found);
  return true;
}

std::byte *CardMemory::find(DeviceAddress address, uint64_t bytes) const {
  std::lock_guard lock(mutex_);
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin())
    return nullptr;
  const auto &[begin, allocation] = *std::prev(after);
  const uint64_t offset = address - begin;
  return offset <= allocation.bytes && bytes <= allocation.bytes - offset
             ? allocation.memory + offset
             : nullptr;
}

bool CardMemory::isOf(CardNumber card, DeviceAddress address) const {
  std::lock_guard lock(mutex_);
  auto after = allocations_.upper_bound(address);
  return after == allocations_.begin() ||
         address >= std::prev(after)->first + std::prev(after)->second.bytes ||
         std::prev(after)->second.card == card;
}

uint64_t CardMemory::given(CardNumber card) const {
  std::lock_guard lock(mutex_);
  uint64_t bytes = 0;
  for (const auto &[begin, allocation] : allocations_)
    if (allocation.card == card)
      bytes += allocation.bytes;
  return bytes;
}

} // namespace lstmc::cuda
