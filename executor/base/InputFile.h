// Reading a whole file into memory that we own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Status.h"

namespace lstmc {

using Bytes = std::vector<uint8_t>;

/// Reads all of a regular file. `pread`, never a mapping: a file that shrinks meanwhile is an error
/// (E0602) and no signal, one that grows or is written to is refused (E0605). What is no regular
/// file, missing or unreadable is E0601. The path may go through symlinks; a user typed it.
Result<Bytes> readFile(const std::string &path);

/// As above for a NAME that came out of a file in `folder`: one part, no separators, no link, a
/// regular file with one name.
Result<Bytes> readFileBeneath(const std::string &folder, const std::string &name);

inline std::string_view asText(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}
inline std::span<const uint8_t> asBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

} // namespace lstmc
