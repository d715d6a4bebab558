// Every C function ends with a status, and on failure with a message for this thread; no exception
// leaves it.
#pragma once

#include <exception>
#include <new>

#include "executor/base/Status.h"
#include "executor/c/include/lstmc/lstmc.h"

namespace lstmc::c {

/// Stores the message for lstmc_message() and returns the exit code that belongs to the error's
/// code.
lstmc_status failed(const Error &error) noexcept;
lstmc_status nullArgument() noexcept;
lstmc_status outOfMemory() noexcept;
lstmc_status unexpected(const char *what) noexcept;

/// Runs `work`, which returns a Status, and turns its error or exception into a status of lstmc.h.
template <typename Work> lstmc_status guarded(Work work) noexcept try {
  Status status = work();
  return status.ok() ? LSTMC_OK : failed(status.error());
} catch (const std::bad_alloc &) {
  return outOfMemory();
} catch (const std::exception &error) {
  return unexpected(error.what());
}

} // namespace lstmc::c
