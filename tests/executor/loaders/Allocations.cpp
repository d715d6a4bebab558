#include "tests/executor/loaders/Allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

#include <malloc.h>

namespace {

std::atomic<int64_t> left{INT64_MAX}; // number of allocations before one fails
std::atomic<bool> everAfter{false}, failed{false};
std::atomic<int64_t> liveCount{0}, liveBytes{0}, peakBytes{0};

} // namespace

void *operator new(size_t size) {
  int64_t before = left.fetch_sub(1);
  void *memory = nullptr;
  if (before > 0 || (before < 0 && !everAfter))
    memory = std::malloc(size ? size : 1);
  else
    failed = true;
  if (!memory)
    throw std::bad_alloc();
  ++liveCount;
  int64_t now = liveBytes += int64_t(::malloc_usable_size(memory));
  for (int64_t peak = peakBytes; now > peak && !peakBytes.compare_exchange_weak(peak, now);) {
  }
  return memory;
}

void operator delete(void *memory) noexcept {
  if (!memory)
    return;
  --liveCount;
  liveBytes -= int64_t(::malloc_usable_size(memory));
  std::free(memory);
}

void operator delete(void *memory, size_t) noexcept { operator delete(memory); }

namespace lstmc::test {

void failAllocation(int64_t index, Failing failing) {
  everAfter = failing == Failing::EverAfter;
  failed = false;
  left = index;
}

bool endFailing() {
  left = INT64_MAX;
  return failed.exchange(false);
}

Allocated allocated() { return {liveCount, liveBytes, peakBytes}; }
void resetPeak() { peakBytes = liveBytes.load(); }

} // namespace lstmc::test
