// Counts the allocations of this process, and makes them fail.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lstmc::test {

enum class Failing { Once, EverAfter };

/// From now on, allocation number `index`, counted from 0 over all threads, fails with
/// std::bad_alloc; with EverAfter all later ones fail too.
void failAllocation(int64_t index, Failing failing);

/// All allocations succeed again; returns whether any failed.
bool endFailing();

struct Allocated {
  int64_t count = 0; ///< not yet freed
  int64_t bytes = 0; ///< not yet freed
  int64_t peak = 0;  ///< most bytes since resetPeak()
};
Allocated allocated();
void resetPeak();

} // namespace lstmc::test
