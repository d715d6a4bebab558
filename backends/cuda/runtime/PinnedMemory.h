// Memory of the host that a GPU copies from and to while the host goes on.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>

#include "backends/cuda/runtime/Driver.h"

namespace lstmc::cuda {

/// It is there from the first get() on. Called with the context set.
class PinnedMemory {
public:
  PinnedMemory(const Driver &driver, size_t bytes) : driver_(driver), bytes_(bytes) {}

  size_t bytes() const { return bytes_; }
  std::byte *get() {
    if (!memory_)
      make();
    return memory_.get();
  }
  /// When no copy uses it any more.
  void close() {
    if (pinned_)
      driver_.unpin(memory_.get());
    pinned_ = false;
  }

private:
  struct Free {
    void operator()(std::byte *memory) const { std::free(memory); }
  };

  void make() {
    constexpr size_t kPage = 4096;
    memory_.reset(static_cast<std::byte *>(std::aligned_alloc(kPage, bytes_)));
    if (!memory_)
      throw std::bad_alloc();
    // Where the system refuses, the driver copies by way of memory of its own.
    pinned_ = driver_.pin(memory_.get(), bytes_, kPinnedForAll) == 0;
  }

  const Driver &driver_;
  const size_t bytes_;
  std::unique_ptr<std::byte, Free> memory_;
  bool pinned_ = false;
};

} // namespace lstmc::cuda
