// Unpacking deflate streams without being blown up by one.
#pragma once

#include "executor/base/InputFile.h"
#include "executor/base/Limits.h"

namespace lstmc::data {

/// Unpacks the raw deflate stream that fills `packed` into exactly `bytes` bytes. E0605 for another
/// length or trailing bytes, E0606 above `limits.ratio`, E0603 for what is no deflate.
/// `place` is that of packed[0].
Result<Bytes> inflateRaw(std::span<const uint8_t> packed, uint64_t bytes, const Place &place,
                         const Limits &limits);

/// Unpacks a gzip file of one or more members, each with its CRC checked; memory stays below
/// `limits.ratio` times the file. Bytes that are no gzip member after the last one are refused.
Result<Bytes> gunzip(std::span<const uint8_t> packed, const std::string &file,
                     const Limits &limits);

inline bool isGzip(std::span<const uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

} // namespace lstmc::data
