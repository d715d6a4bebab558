// Memory that several mappings of this process show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "executor/base/Status.h"

namespace lstmc {

/// Whole pages of constant contents, in memory once, at any number of addresses. The memory is
/// given back when this object and all mappings are gone.
class SharedPages {
public:
  /// Moves `bytes` at `at`, both multiples of the page size, to memory that can be mapped elsewhere
  /// too. The contents stay readable at `at`; a write there is from now on a fault. `at` must be
  /// mapped from the system. E0901 if the system has no memory; then nothing has changed.
  static Result<std::shared_ptr<const SharedPages>> move(std::byte *at, uint64_t bytes);
  ~SharedPages();
  SharedPages(const SharedPages &) = delete;
  SharedPages &operator=(const SharedPages &) = delete;

  uint64_t bytes() const { return bytes_; }
  /// Shows `bytes` of them from `offset` on, multiples of the page size, at `at`, for reading, in
  /// place of what is mapped there. E0901 as above.
  Status show(std::byte *at, uint64_t offset, uint64_t bytes) const;
  /// Copies contents from `offset` on. E0901 if the system cannot read them.
  Status read(uint64_t offset, std::span<std::byte> to) const;

private:
  SharedPages(int file, uint64_t bytes) : file_(file), bytes_(bytes) {}

  int file_;
  uint64_t bytes_;
};

} // namespace lstmc
