// What a file may ask of its loader: the values that `--limit NAME=VALUE` sets.
#pragma once

#include <cstdint>
#include <string_view>

#include "executor/base/Status.h"

namespace lstmc {

/// Bounds on what a loader spends, whatever the file says.
struct Limits {
  uint64_t depth = 256;               ///< nesting of brackets, objects, tables
  uint64_t nodes = 1'000'000;         ///< nodes of a graph
  uint64_t rank = 16;                 ///< axes of a tensor; never above kMaxRank
  uint64_t name = 4096;               ///< bytes of a name
  uint64_t jsonString = 64ull << 20;  ///< bytes of a string in JSON
  uint64_t csvLine = 64ull << 20;     ///< bytes of a line of text or of a table
  uint64_t record = 64ull << 20;      ///< bytes of a record
  uint64_t ratio = 1000;              ///< unpacked bytes per packed byte
  uint64_t header = 100'000'000;      ///< bytes of a safetensors header
  uint64_t dataMemory = 256ull << 20; ///< bytes of a file of data that are held in memory
};

/// Sets the limit called NAME (`depth`, `nodes`, `rank`, `name`, `json-string`, `csv-line`,
/// `record`, `ratio`, `header`, `data-memory`). E0001 for another name, or a rank above kMaxRank.
Status setLimit(Limits &limits, std::string_view name, uint64_t value);

} // namespace lstmc
