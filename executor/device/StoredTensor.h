// A tensor that is kept (a weight, an optimizer slot, a state), for the host to read and to set.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "executor/base/Tensor.h"
#include "executor/device/MemoryRange.h"

namespace lstmc {

/// Row-major without holes, in one range of memory or in several, one after the other: devices may
/// have a slice each.
struct StoredTensor {
  std::string name;
  /// Its dtype and shape. `data` is its memory where the host sees it in one piece, else null.
  Tensor tensor;
  std::vector<MemoryRange> ranges;

  StoredTensor() = default;
  StoredTensor(std::string name, Tensor shape, std::vector<MemoryRange> ranges);
  /// Of the host's own memory, which `tensor` points at.
  StoredTensor(std::string name, Tensor tensor);

  uint64_t bytes() const;
  /// All of it, as MemoryRange does; the spans have bytes() bytes.
  void read(std::span<std::byte> to) const;
  void beginRead(std::span<std::byte> to) const;
  void endRead() const;
  void write(std::span<const std::byte> from) const;
  void clear() const;
  /// XXH3-64 of its bytes.
  uint64_t hash() const;

  /// As MemoryRange::eachPiece, range by range.
  template <typename F> Status eachPiece(F f) const {
    for (const MemoryRange &range : ranges)
      LSTMC_TRY(range.eachPiece(f));
    return {};
  }
};

} // namespace lstmc
