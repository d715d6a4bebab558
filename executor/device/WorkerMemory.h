// The memory that a worker has beside the arena.
#pragma once

#include <cstddef>

namespace lstmc {

/// Bytes for what a kernel keeps during a launch: it may run on a thread of a caller, whose stack
/// may be small, so it keeps at most 16 KiB there (cmake/LstmcRoom.cmake).
inline constexpr size_t kWorkerBytes = 1280 << 10;

/// That of the worker which the thread is, aligned to kAlignment; of any contents when a launch
/// begins. Null on a thread that is no worker.
inline constinit thread_local std::byte *workerMemory = nullptr;

} // namespace lstmc
