// Changes a package's fields as the fuzzer's bytes say. The caller serialises the package again,
// with a right digest, so only the values of the fields are wrong.
#pragma once

#include <cstdint>
#include <span>

#include "executor/package/PackageData.h"

namespace lstmc::fuzz {

/// Reads the fuzzer's bytes, then zeros after the last one.
class Choices {
public:
  explicit Choices(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  uint8_t byte() {
    if (bytes_.empty())
      return 0;
    uint8_t value = bytes_[0];
    bytes_ = bytes_.subspan(1);
    return value;
  }
  /// A number below `count`, which is not 0.
  size_t index(size_t count) {
    size_t value = byte();
    if (count > 256)
      value |= size_t(byte()) << 8;
    return value % count;
  }

private:
  std::span<const uint8_t> bytes_;
};

/// Changes one number, list, operand, launch, buffer or binding.
void mutate(package::PackageData &data, Choices &choices);

} // namespace lstmc::fuzz
