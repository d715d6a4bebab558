// Position of the batch axis in a tensor.
#pragma once

#include <cstdint>

namespace lstmc::sym {

/// The batch is inside axis `axis`, whose extent is outer * batch * inner, row-major: element i of
/// the axis belongs to row (i / inner) % batch. `outer` and `inner` are 1 unless a reshape merged
/// axes.
struct BatchPosition {
  int axis = -1; ///< -1: the value has no batch
  int64_t outer = 1;
  int64_t batch = 1;
  int64_t inner = 1;

  static BatchPosition none() { return {}; }
  explicit operator bool() const { return axis >= 0; }
  bool operator==(const BatchPosition &) const = default;
};

} // namespace lstmc::sym
