// Arrays in the format of the MNIST files.
#pragma once

#include "executor/base/Limits.h"
#include "executor/data/StoredArray.h"

namespace lstmc::data {

/// Reads an idx file, which may be packed with gzip: two zero bytes, a type (u8 i8 i32 f32 f64; i16
/// is E0613), the number of axes, a big-endian u32 extent for each, then the elements, big-endian.
/// E0602 or E0605 if fewer or more bytes follow than the extents need. For a gzip file, byte
/// positions in messages count unpacked bytes.
///
/// Source: yann.lecun.com/exdb/mnist, "THE IDX FILE FORMAT".
/// The array is in memory if the bytes are, unpacked at most the limit data-memory.
Result<StoredArray> readIdx(StoredBytes bytes, const std::string &file, const Limits &limits = {});
/// The same, in memory.
Result<Array> parseIdx(std::span<const uint8_t> bytes, const std::string &file,
                       const Limits &limits = {});
Result<Array> loadIdx(const std::string &path, const Limits &limits = {});

} // namespace lstmc::data
