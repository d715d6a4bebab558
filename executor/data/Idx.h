// Arrays in the format of the MNIST files.
#pragma once

#include "executor/base/Limits.h"
#include "executor/data/Array.h"

namespace lstmc::data {

/// Reads an idx file, unpacked first if it is gzip: two zero bytes, a type (u8 i8 i32 f32 f64; i16
/// is E0613), the number of axes, a big-endian u32 extent for each, then the elements, big-endian.
/// E0602, E0605 when more or fewer bytes follow than the extents ask for. In a gzip file the
/// positions of messages count unpacked bytes.
///
/// Source: yann.lecun.com/exdb/mnist, "THE IDX FILE FORMAT".
Result<Array> parseIdx(std::span<const uint8_t> bytes, const std::string &file,
                       const Limits &limits = {});
Result<Array> loadIdx(const std::string &path, const Limits &limits = {});

} // namespace lstmc::data
