// A view of a device's memory, as an operand of a launch is one, for the host to look at.
#pragma once

#include <vector>

#include "executor/base/Numeric.h"
#include "executor/base/Tensor.h"
#include "executor/device/MemoryRange.h"

namespace lstmc {

/// What an operand is without an address: the host reads it through its range alone.
struct DeviceTensor {
  Tensor layout;      ///< dtype, shape and strides; `data` is null
  MemoryRange range;  ///< from the first byte that the view touches to the last
  uint64_t first = 0; ///< byte of the range that element [0, ..., 0] begins at
  bool present = false;

  /// False for an optional operand that is absent.
  explicit operator bool() const { return present; }

  /// To be read by the host: a view of the memory itself where the host sees it, else of a copy in
  /// `scratch`, which grows where it is too small. Good until the next launch or use of `scratch`.
  Tensor forHost(std::vector<std::byte> &scratch) const;

  /// As launches of its device take it.
  Tensor forLaunch() const;

  /// Writes element [0, ..., 0].
  template <typename T> void set(T value) const {
    std::byte bytes[sizeof(double)];
    writeElement(bytes, layout.dtype, 0, value);
    range.write(first, std::span(bytes).first(dtypeBytes(layout.dtype)));
  }
};

} // namespace lstmc
