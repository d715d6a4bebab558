// Changes to a package's fields, as the bytes of a fuzzer say. Whoever serialises it again seals
// it: what is wrong then is what the fields say.
#pragma once

#include <cstdint>
#include <span>

#include "executor/package/PackageData.h"

namespace lstmc::fuzz {

/// A reader of the fuzzer's bytes, with 0 after the last.
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
  /// Below `count`, which is not 0.
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
