// Makes the bytes of MXNet's .params files.
#pragma once

#include <bit>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/InputFile.h"

namespace lstmc::test {

/// The encoding of one array: since 0.7, 0.11, 0.12, and of 1.5 with NumPy's shapes.
enum class MxnetVersion { V0, V1, V2, V3 };
inline constexpr MxnetVersion kMxnetVersions[] = {MxnetVersion::V0, MxnetVersion::V1,
                                                  MxnetVersion::V2, MxnetVersion::V3};

/// A list of arrays, one after the other; named() ends it.
class MxnetFile {
public:
  MxnetFile() { put<uint64_t>(0x112).put<uint64_t>(0).put<uint64_t>(0); }

  template <typename T> MxnetFile &put(T value) {
    auto raw = std::bit_cast<std::array<uint8_t, sizeof(T)>>(value);
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
    return *this;
  }

  /// All that stands before the extents.
  MxnetFile &begin(MxnetVersion version, int32_t axes, int32_t storage = 0) {
    ++arrays_;
    if (version == MxnetVersion::V0)
      return put(axes);
    put(uint32_t(0xF993FAC7) + uint32_t(version));
    if (version != MxnetVersion::V1)
      put(storage);
    return put(axes);
  }
  /// All that stands after them, but for the elements. The device is GPU 9999.
  MxnetFile &type(int32_t flag) { return put<int32_t>(2).put<int32_t>(9999).put(flag); }

  template <typename T>
  MxnetFile &array(MxnetVersion version, const std::vector<int64_t> &shape,
                   const std::vector<T> &elements) {
    begin(version, int32_t(shape.size()));
    if (shape.empty() && version != MxnetVersion::V3)
      return *this; // no array
    for (int64_t extent : shape)
      version == MxnetVersion::V0 ? put(uint32_t(extent)) : put(extent);
    type(flagOf<T>());
    for (auto element : elements)
      put(T(element));
    return *this;
  }

  /// The bytes so far, with the count of arrays.
  const Bytes &bytes() {
    for (size_t i = 0; i < sizeof(arrays_); ++i)
      bytes_[16 + i] = uint8_t(arrays_ >> (8 * i));
    return bytes_;
  }
  /// The whole file.
  Bytes named(const std::vector<std::string> &names) {
    put(uint64_t(names.size()));
    for (const std::string &name : names) {
      put(uint64_t(name.size()));
      bytes_.insert(bytes_.end(), name.begin(), name.end());
    }
    return bytes();
  }

private:
  template <typename T> static constexpr int32_t flagOf() {
    return std::is_same_v<T, float>     ? 0
           : std::is_same_v<T, double>  ? 1
           : std::is_same_v<T, uint8_t> ? 3
           : std::is_same_v<T, int32_t> ? 4
           : std::is_same_v<T, int8_t>  ? 5
           : std::is_same_v<T, int64_t> ? 6
                                        : 7;
  }

  Bytes bytes_;
  uint64_t arrays_ = 0;
};

} // namespace lstmc::test
