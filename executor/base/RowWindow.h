// Some of the rows of a batch, side by side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace lstmc {

/// Rows `begin` to `end` - 1; all rows unless said otherwise.
struct RowWindow {
  int64_t begin = 0;
  int64_t end = std::numeric_limits<int64_t>::max();

  static RowWindow none() { return {std::numeric_limits<int64_t>::max(), 0}; }
  /// Becomes the least window that has these rows too.
  void include(RowWindow rows) {
    begin = std::min(begin, rows.begin);
    end = std::max(end, rows.end);
  }
  bool has(int64_t row) const { return row >= begin && row < end; }
  /// Without rows that a batch of so many does not have; 0 to 0 if none is left.
  RowWindow within(int64_t batch) const {
    const RowWindow kept = {std::max<int64_t>(begin, 0), std::min(end, batch)};
    return kept.begin < kept.end ? kept : RowWindow{0, 0};
  }
  bool operator==(const RowWindow &) const = default;
};

} // namespace lstmc
