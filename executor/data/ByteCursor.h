// Reads fields of a binary file one after the other, never beyond its end.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "executor/data/StoredBytes.h"

namespace lstmc::data {

/// A position in bytes of `file`. Every read names its field. If fewer bytes are left than the
/// field needs, it fails with E0602 at the position.
class ByteCursor {
public:
  ByteCursor(StoredBytes bytes, std::string file, uint64_t position = 0)
      : bytes_(std::move(bytes)), file_(std::move(file)), position_(position) {}

  uint64_t position() const { return position_; }
  uint64_t left() const { return bytes_.size() - position_; }
  Place place() const { return placeAt(position_); }
  Place placeAt(uint64_t byte) const { return {file_, 0, 0, int64_t(byte)}; }

  /// The next bytes. Those of a file are valid until the next call.
  Result<std::span<const uint8_t>> take(uint64_t count, std::string_view field) {
    uint64_t begin = position_;
    LSTMC_TRY(skip(count, field));
    if (bytes_.inMemory())
      return bytes_.read(begin, count, ahead_);
    if (begin < aheadBegin_ || begin + count > aheadBegin_ + ahead_.size()) {
      ahead_.resize(std::max(count, std::min<uint64_t>(kAhead, bytes_.size() - begin)));
      aheadBegin_ = begin;
      LSTMC_TRY(bytes_.readTo(begin, ahead_));
    }
    return std::span<const uint8_t>(ahead_).subspan(begin - aheadBegin_, count);
  }
  Status skip(uint64_t count, std::string_view field) {
    if (count > left())
      return failAt(place(), ErrorCode::E0602, "{}: found {} bytes left, want {}", field, left(),
                    count);
    position_ += count;
    return {};
  }

  template <std::unsigned_integral T> Result<T> little(std::string_view field) {
    LSTMC_ASSIGN(std::span<const uint8_t> raw, take(sizeof(T), field));
    T value = 0;
    for (size_t i = 0; i < sizeof(T); ++i)
      value = T(value | T(T(raw[i]) << (8 * i)));
    return value;
  }
  template <std::unsigned_integral T> Result<T> big(std::string_view field) {
    LSTMC_ASSIGN(std::span<const uint8_t> raw, take(sizeof(T), field));
    T value = 0;
    for (size_t i = 0; i < sizeof(T); ++i)
      value = T(uint64_t(value) << 8 | raw[i]);
    return value;
  }

private:
  static constexpr uint64_t kAhead = 4096; ///< bytes of a file that are read for the next fields

  StoredBytes bytes_;
  std::string file_;
  uint64_t position_;
  Bytes ahead_; ///< bytes of a file from `aheadBegin_` on
  uint64_t aheadBegin_ = 0;
};

} // namespace lstmc::data
