// A package that has been checked: every index, extent, offset, program and argument in it may be
// trusted.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Diagnostic.h"
#include "executor/base/Status.h"
#include "executor/package/PackageData.h"

namespace lstmc::package {

/// Immutable, and shared by the sessions that run it.
class Package {
public:
  using Pointer = std::shared_ptr<const Package>;

  /// Reads and checks a file. E0601 to E0606, E0611, E0612, with the file, the byte and the field;
  /// exit 6.
  static Result<Pointer> open(const std::string &file);
  /// The same for bytes in memory, as the compiler hands them over; `file` is for messages.
  static Result<Pointer> open(std::span<const uint8_t> bytes, std::string file = {});

  const PackageData &data() const { return data_; }
  /// SHA-256 of the bytes, in hex: what a checkpoint says it belongs to.
  const std::string &digest() const { return digest_; }
  const std::string &file() const { return file_; }
  uint64_t bytes() const { return bytes_; }

  std::optional<size_t> findEntry(std::string_view name) const;
  std::optional<size_t> findParameter(std::string_view name) const;
  std::optional<size_t> findState(std::string_view name) const;

  const Location &location(uint32_t index) const { return data_.locations[index]; }

private:
  Package() = default;

  PackageData data_;
  std::string digest_;
  std::string file_;
  uint64_t bytes_ = 0;
};

/// Which operands of a launch are written, as its kernel's record (or fused program) says.
bool writes(const PackageData &data, const Launch &launch, size_t operand);

/// Whether a slot's buffers are slices of it, rather than copies.
bool isSliced(const PackageData &data, const Parameter &parameter, const Slot &slot);

/// Where that is in the user's source.
SourceRange rangeOf(const Location &location);

/// From the first byte of the arena that an operand may touch to the one after the last; of a
/// package whose launches have been checked.
struct ByteRange {
  uint64_t begin, end;
  bool overlaps(const ByteRange &other) const { return begin < other.end && other.begin < end; }
};
ByteRange bytesOf(const PackageData &data, const Operand &operand);

/// Extent by extent strides of a dense shape, or the operand's own.
std::vector<int64_t> stridesOf(const Operand &operand);

} // namespace lstmc::package
