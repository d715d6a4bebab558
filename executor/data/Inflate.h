// Unpacks deflate streams within limits, so that a small file cannot fill the memory.
#pragma once

#include <functional>

#include "executor/base/Limits.h"
#include "executor/data/StoredBytes.h"

namespace lstmc::data {

/// Takes unpacked bytes, a block at a time.
using TakeBlock = std::function<Status(std::span<const uint8_t>)>;

/// Unpacks the raw deflate stream `packed` into exactly `bytes` bytes. E0605 for another length or
/// trailing bytes, E0606 above `limits.ratio`, E0603 for data that are not deflate; `take` then had
/// some of them. `place` is the place of packed[0].
Status inflateRaw(const StoredBytes &packed, uint64_t bytes, const Place &place,
                  const Limits &limits, const TakeBlock &take);

/// Unpacks a gzip file of one or more members and checks the CRC of each. Unpacks less than
/// `limits.ratio` times the file. Bytes after the last member that are no member are refused.
Status gunzip(const StoredBytes &packed, const std::string &file, const Limits &limits,
              const TakeBlock &take);

/// Whether a gzip member begins at byte `begin`.
Result<bool> isGzip(const StoredBytes &bytes, uint64_t begin = 0);

} // namespace lstmc::data
