// What a library carries out in the place of a kernel.
#pragma once

#include "backends/cuda/runtime/Driver.h"

namespace lstmc::cuda {

/// Given to a stream it takes no memory but what the plan has for it, and its bits do not change
/// from run to run.
class LibraryCall {
public:
  LibraryCall() = default;
  virtual ~LibraryCall() = default;
  LibraryCall(const LibraryCall &) = delete;
  LibraryCall &operator=(const LibraryCall &) = delete;

  /// Throws an exception with the library's words if it refuses.
  virtual void giveTo(DriverStream stream) const = 0;
};

} // namespace lstmc::cuda
