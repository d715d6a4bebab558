// The error of a loader that runs out of memory, with the same form as its other errors.
#pragma once

#include <new>
#include <string>

#include "executor/base/Status.h"

namespace lstmc {

/// E0601. Allocates nothing but the file's name, which is left out if there is no memory for it.
/// The message is short enough to be stored in the string object itself.
inline Error noMemory(const std::string &file) {
  Error error{ErrorCode::E0601, "out of memory", {}};
  try {
    error.place.file = file;
  } catch (const std::bad_alloc &) {
  }
  return error;
}

} // namespace lstmc
