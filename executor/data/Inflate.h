// Unpacks deflate streams within limits, so that a small file cannot fill the memory.
#pragma once

#include "executor/base/InputFile.h"
#include "executor/base/Limits.h"

namespace lstmc::data {

/// Unpacks the raw deflate stream `packed` into exactly `bytes` bytes. E0605 for another length or
/// trailing bytes, E0606 above `limits.ratio`, E0603 for data that are not deflate. `place` is the
/// place of packed[0].
Result<Bytes> inflateRaw(std::span<const uint8_t> packed, uint64_t bytes, const Place &place,
                         const Limits &limits);

/// Unpacks a gzip file of one or more members and checks the CRC of each. Uses less memory than
/// `limits.ratio` times the file. Bytes after the last member that are no member are refused.
Result<Bytes> gunzip(std::span<const uint8_t> packed, const std::string &file,
                     const Limits &limits);

inline bool isGzip(std::span<const uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

} // namespace lstmc::data
