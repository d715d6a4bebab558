// How much memory the system has really given this process, in pages.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lstmc {

/// How many of the `bytes` from `begin` lie in pages that were read or written since they were
/// mapped. Exact if no huge pages are used. 0 if the system does not say.
uint64_t touchedBytes(const void *begin, uint64_t bytes);

/// The largest resident memory of the process so far, including code, heap, stacks and arenas. 0 if
/// the system does not say.
uint64_t peakResidentBytes();

} // namespace lstmc
