// Sizes computed from numbers in a file.
#pragma once

#include <cstdint>
#include <optional>

namespace lstmc {

/// A count of bytes or elements that remembers an overflow. Loaders multiply and add sizes in this
/// type and ask `value()` once, before anything is allocated or indexed.
class SafeSize {
public:
  constexpr SafeSize(uint64_t value) : value_(value) {}
  /// A signed number from a file; a negative one is out of range.
  static constexpr SafeSize fromSigned(int64_t value) {
    SafeSize size(uint64_t(value < 0 ? 0 : value));
    size.wrapped_ = value < 0;
    return size;
  }

  constexpr SafeSize operator+(SafeSize other) const {
    SafeSize sum(0);
    sum.wrapped_ = __builtin_add_overflow(value_, other.value_, &sum.value_);
    sum.wrapped_ |= wrapped_ || other.wrapped_;
    return sum;
  }
  constexpr SafeSize operator*(SafeSize other) const {
    SafeSize product(0);
    product.wrapped_ = __builtin_mul_overflow(value_, other.value_, &product.value_);
    product.wrapped_ |= wrapped_ || other.wrapped_;
    return product;
  }
  /// Rounds down; the divisor must not be 0.
  constexpr SafeSize operator/(SafeSize other) const {
    SafeSize quotient(value_ / other.value_);
    quotient.wrapped_ = wrapped_ || other.wrapped_;
    return quotient;
  }

  /// The size, unless it or any number that it was computed from does not fit in 63 bits.
  constexpr std::optional<uint64_t> value() const {
    if (wrapped_ || value_ > uint64_t(INT64_MAX))
      return std::nullopt;
    return value_;
  }
  /// True when the size is known and at most `limit`.
  constexpr bool within(uint64_t limit) const { return value() && value_ <= limit; }

private:
  uint64_t value_;
  bool wrapped_ = false;
};

} // namespace lstmc
