// Memory of a device for what launches read besides their operands.
#pragma once

#include <cstdint>

#include "executor/device/Device.h"

namespace lstmc {

/// What a device is besides if its launches read tables, which it makes when they are prepared: of
/// pointers and strides, say. They are in the arena, where the plan has a place for them, or the
/// session has made one.
class TableKeeper {
public:
  virtual ~TableKeeper() = default;
  /// At most, for a launch of so many operands, none of a higher rank, with so many integers, and a
  /// program of so many instructions, if it is fused.
  virtual uint64_t tableBytes(KernelId kernel, size_t operands, size_t rank, size_t ints,
                              size_t instructions) const = 0;
  /// Where the programs that are prepared from now on keep their tables, one after the other. What
  /// finds no place there takes memory besides.
  virtual void keepTables(uint64_t offset, uint64_t bytes) = 0;
  /// Others have used the arena since this program ran.
  virtual void placeAgain(PreparedProgram &program) = 0;
};

} // namespace lstmc
