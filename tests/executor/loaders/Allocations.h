// The allocations of this process, counted, and made to fail.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lstmc::test {

enum class Failing { Once, EverAfter };

/// From here on the allocation number `index`, from 0, fails with std::bad_alloc, and with
/// EverAfter all after it, in whatever thread.
void failAllocation(int64_t index, Failing failing);

/// All succeed again; whether any failed.
bool endFailing();

struct Allocated {
  int64_t count = 0; ///< not yet freed
  int64_t bytes = 0; ///< not yet freed
  int64_t peak = 0;  ///< most bytes since resetPeak()
};
Allocated allocated();
void resetPeak();

} // namespace lstmc::test
