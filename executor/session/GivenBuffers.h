// Which memory of an entry holds what a caller gave, on whichever device.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "executor/base/ValueRange.h"
#include "executor/package/PackageData.h"

namespace lstmc::session {

/// Which buffers of an entry hold an input or a copy of one, made on the same device or sent by
/// another.
class GivenBuffers {
public:
  GivenBuffers(const package::PackageData &data, const package::Entry &entry);

  /// The input of whose values the buffer is a copy, if it is one.
  std::optional<uint32_t> inputOf(uint32_t buffer) const;

  /// What an input was checked for when it was set: for what any of its readers accepts. Null if
  /// not at all.
  const ValueRange *rangeOf(uint32_t input) const;

private:
  /// What several launches write is no copy of one thing.
  void addWriter(const package::Launch &launch, uint32_t buffer,
                 const std::map<int64_t, uint32_t> &sent);

  const package::PackageData &data_;
  std::map<uint32_t, uint32_t> from_;     ///< by buffer, what it is a copy of
  std::map<uint32_t, ValueRange> ranges_; ///< by buffer of an input
};

} // namespace lstmc::session
