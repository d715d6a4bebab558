// How a C function ends: nothing leaves it but a status and this thread's message.
#pragma once

#include <exception>
#include <new>

#include "executor/base/Status.h"
#include "executor/c/include/lstmc/lstmc.h"

namespace lstmc::c {

/// Keeps the message for lstmc_message(), and gives the status that its code has in the table.
lstmc_status failed(const Error &error) noexcept;
lstmc_status nullArgument() noexcept;
lstmc_status outOfMemory() noexcept;
lstmc_status unexpected(const char *what) noexcept;

/// Runs `work`, which returns a Status.
template <typename Work> lstmc_status guarded(Work work) noexcept try {
  Status status = work();
  return status.ok() ? LSTMC_OK : failed(status.error());
} catch (const std::bad_alloc &) {
  return outOfMemory();
} catch (const std::exception &error) {
  return unexpected(error.what());
}

} // namespace lstmc::c
