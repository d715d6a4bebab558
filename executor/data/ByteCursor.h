// Reads fields of a binary file one after the other, never beyond its end.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "executor/base/Status.h"

namespace lstmc::data {

/// A position in bytes of `file`. Every read names its field. If fewer bytes are left than the
/// field needs, it fails with E0602 at the position.
class ByteCursor {
public:
  ByteCursor(std::span<const uint8_t> bytes, std::string file, uint64_t position = 0)
      : bytes_(bytes), file_(std::move(file)), position_(position) {}

  uint64_t position() const { return position_; }
  uint64_t left() const { return bytes_.size() - position_; }
  Place place() const { return placeAt(position_); }
  Place placeAt(uint64_t byte) const { return {file_, 0, 0, int64_t(byte)}; }

  Result<std::span<const uint8_t>> take(uint64_t count, std::string_view field) {
    if (count > left())
      return failAt(place(), ErrorCode::E0602, "{}: found {} bytes left, want {}", field, left(),
                    count);
    std::span<const uint8_t> taken = bytes_.subspan(position_, count);
    position_ += count;
    return taken;
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
  std::span<const uint8_t> bytes_;
  std::string file_;
  uint64_t position_;
};

} // namespace lstmc::data
