#include "tests/executor/session/Allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<size_t> count{0};

// Sanitizers replace these functions themselves; then nothing is counted.
#ifdef __has_feature
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define LSTMC_SANITIZED
#endif
#endif
#ifndef LSTMC_SANITIZED
void *operator new(size_t bytes) {
  ++count;
  if (void *memory = std::malloc(bytes))
    return memory;
  std::abort();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
#endif

namespace lstmc::test {

size_t allocations() { return count; }

} // namespace lstmc::test
