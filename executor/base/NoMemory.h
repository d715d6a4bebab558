// A loader that runs out of memory says so, as it says what else keeps it from reading a file.
#pragma once

#include <new>
#include <string>

#include "executor/base/Status.h"

namespace lstmc {

/// E0601. Allocates nothing but the file's name, which is left out where there is no room for it:
/// the message is short enough to lie in the string itself.
inline Error noMemory(const std::string &file) {
  Error error{ErrorCode::E0601, "out of memory", {}};
  try {
    error.place.file = file;
  } catch (const std::bad_alloc &) {
  }
  return error;
}

} // namespace lstmc
