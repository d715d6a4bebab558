// Whether the streams and events of a program put its launches into an order that is enough.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lstmc::package {

/// Where a launch is carried out, as executor/abi/Package.fbs says of its fields.
struct StreamPlace {
  uint32_t stream = 0;
  int32_t event = -1;
  std::vector<uint32_t> waits;
  bool transfer = false;

  /// As in a program of one stream.
  bool plain() const { return stream == 0 && event == -1 && waits.empty(); }
};

/// Bytes of the arena, from the first that a launch may touch by one of its operands to the one
/// after the last.
struct ByteAccess {
  uint32_t launch;
  bool writes;
  uint64_t begin, end;
};

struct StreamFault {
  uint32_t launch;
  std::string field; ///< of the launch: "waits[1]"
  std::string text;  ///< "found X, want Y"
};

/// The first thing wrong with the streams of a program, if there is one: a number out of range, an
/// event that nobody records before, or two launches that touch the same byte, one writing it, of
/// which either may be first. `commit`: where all streams come together. `accesses` by ascending
/// launch.
///
/// n log n in the accesses, times streams. Shares no code with what assigns streams and offsets.
std::optional<StreamFault> findStreamFault(const std::vector<StreamPlace> &launches,
                                           uint32_t commit,
                                           const std::vector<ByteAccess> &accesses);

} // namespace lstmc::package
