// What a call of the C interface told its thread: statuses and diagnostics; no exception leaves.
#pragma once

#include <exception>
#include <new>

#include "executor/base/Checked.h"
#include "executor/base/Diagnostic.h"
#include "frontend/library/include/lstmc/lstmc_compiler.h"

namespace lstmc::library {

/// The place in the caller's program; an origin without a file for null.
SourceRange placeOf(const lstmc_place *place);

/// Keeps what was told, and gives the status of its first error, LSTMC_OK if there is none. An
/// error without a place gets `place`, and a place in a file that is there the line of it.
lstmc_status tell(Diagnostics diagnostics, const lstmc_place *place = nullptr) noexcept;
lstmc_status tellError(ErrorCode code, std::string message,
                       const lstmc_place *place = nullptr) noexcept;

/// Runs `work`, which gives Diagnostics or warnings, and turns exceptions into a status.
template <typename Work> lstmc_status guarded(const lstmc_place *place, Work work) noexcept try {
  return tell(work(), place);
} catch (const std::bad_alloc &) {
  return tellError(ErrorCode::E0901, "out of memory");
} catch (const std::exception &error) {
  return tellError(ErrorCode::E0099, error.what());
}

/// The same for what gives a value and cannot fail but for memory.
template <typename Value, typename Work> Value guardedValue(Value otherwise, Work work) noexcept {
  Value value = otherwise;
  guarded(nullptr, [&]() -> Diagnostics {
    value = work();
    return {};
  });
  return value;
}

} // namespace lstmc::library
