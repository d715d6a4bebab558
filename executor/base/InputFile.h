// Reads a whole file into memory that we own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Status.h"

namespace lstmc {

using Bytes = std::vector<uint8_t>;

/// Reads all of a regular file with `pread`. Mapping it would turn a file that shrinks meanwhile
/// into a signal; here that is an error (E0602). A file that grows or is written to meanwhile is
/// refused (E0605). E0601 if the path is missing, unreadable or no regular file. The path may
/// contain symlinks, because a user typed it.
Result<Bytes> readFile(const std::string &path);

/// The same for a NAME that comes from a file in `folder`. It has to be one path component without
/// separators, and name a regular file that is no link and has no other name.
Result<Bytes> readFileBeneath(const std::string &folder, const std::string &name);

inline std::string_view asText(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}
inline std::span<const uint8_t> asBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

} // namespace lstmc
