// Marks memory as unused, so that AddressSanitizer reports accesses to it; does nothing in other
// builds.
#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LSTMC_POISONS
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define LSTMC_POISONS
#endif

#ifdef LSTMC_POISONS
#include <sanitizer/asan_interface.h>
#endif

namespace lstmc {

#ifdef LSTMC_POISONS
inline constexpr bool kPoisons = true;
inline void poison(const void *from, size_t bytes) { __asan_poison_memory_region(from, bytes); }
inline void unpoison(const void *from, size_t bytes) { __asan_unpoison_memory_region(from, bytes); }
#else
inline constexpr bool kPoisons = false;
inline void poison(const void *, size_t) {}
inline void unpoison(const void *, size_t) {}
#endif

} // namespace lstmc
