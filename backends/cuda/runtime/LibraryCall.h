// What a library carries out in the place of a kernel.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "backends/cuda/runtime/Driver.h"

namespace lstmc::cuda {

/// Of an address: what the library may count on. 0: there is none.
inline uint32_t alignmentOf(const void *address) {
  constexpr uintptr_t kMost = 256;
  const auto number = reinterpret_cast<uintptr_t>(address) | kMost;
  return address ? uint32_t(number & -number) : 0;
}

/// The library does not do what it is asked for, and has done nothing.
struct LibraryRefusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Given to a stream it takes no memory but what the plan has for it, and its bits do not change
/// from run to run.
class LibraryCall {
public:
  LibraryCall() = default;
  virtual ~LibraryCall() = default;
  LibraryCall(const LibraryCall &) = delete;
  LibraryCall &operator=(const LibraryCall &) = delete;

  /// Throws an exception with the library's words if it fails: a LibraryRefusal if the stream got
  /// nothing.
  virtual void giveTo(DriverStream stream) const = 0;

  /// It will be given from now on in the place of a call that the library refused at its first run,
  /// for this reason.
  virtual void takeOver(const std::string & /*why*/) {}
};

} // namespace lstmc::cuda
