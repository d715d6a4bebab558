// What the system has really given this process, in pages.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lstmc {

/// How many of the `bytes` from `begin` on lie in pages that were read or written since they were
/// mapped. Exact where no huge pages are used. 0 where the system does not say.
uint64_t touchedBytes(const void *begin, uint64_t bytes);

/// The most memory that the process has had resident at one time, all of it: code, heap, stacks and
/// arenas. 0 where the system does not say.
uint64_t peakResidentBytes();

} // namespace lstmc
