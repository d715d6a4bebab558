#include "executor/c/Guard.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace {

/// Fixed size, so that a failed allocation can be reported too.
thread_local char message[4096] = "";

void keep(const char *text) {
  size_t length = std::min(std::strlen(text), sizeof(message) - 1);
  std::memcpy(message, text, length);
  message[length] = 0;
}

} // namespace

namespace lstmc::c {

lstmc_status failed(const Error &error) noexcept {
  try {
    keep(error.text().c_str());
  } catch (const std::bad_alloc &) {
    std::string_view code = errorRecord(error.code).name;
    std::snprintf(message, sizeof(message), "error[%.*s]: %s", int(code.size()), code.data(),
                  error.message.c_str());
  }
  return lstmc_status(int(errorRecord(error.code).exit));
}

lstmc_status nullArgument() noexcept {
  keep("error[E0001]: found a null pointer, want an argument");
  return LSTMC_USAGE;
}

lstmc_status outOfMemory() noexcept {
  keep("error[E0901]: out of memory");
  return LSTMC_OUT_OF_MEMORY;
}

lstmc_status unexpected(const char *what) noexcept {
  keep(what);
  return LSTMC_INTERNAL;
}

} // namespace lstmc::c

extern "C" {

const char *lstmc_message(void) { return message; }

const char *lstmc_version(void) { return LSTMC_VERSION; }
}
