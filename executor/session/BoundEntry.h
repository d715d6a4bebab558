// An entry of a package with its programs made ready on devices.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/base/Status.h"
#include "executor/base/Tensor.h"
#include "executor/device/Device.h"
#include "executor/device/DeviceTensor.h"
#include "executor/package/Package.h"
#include "executor/session/Transport.h"

namespace lstmc::session {

using Devices = std::vector<std::unique_ptr<Device>>;

/// The part of a program before `commit`, the part from there on, or both.
enum class Part : uint8_t { BeforeCommit, Committed, All };

/// A stretch of launches of one stream that a device carries out by itself, its end of a transfer,
/// or a wait until a message that it has sent is taken, before `launch` writes over it.
struct Segment {
  enum class Kind : uint8_t { Launches, Send, Receive, Await };
  Kind kind;
  size_t launch;      ///< the first, in the package's program
  size_t first, last; ///< those made ready; none of a transfer or a wait
  size_t message = 0; ///< in `messages`
  uint32_t stream = 0;
  std::span<const uint32_t> waits = {}; ///< events before the first launch
  int32_t event = -1;                   ///< after the last one
};

struct BoundProgram {
  size_t device;
  const package::DeviceProgram *source;
  std::unique_ptr<PreparedProgram> launches;
  std::vector<Segment> segments;
  size_t commitSegment; ///< the first segment from `commit` on
  uint32_t streams = 1;
  std::unique_ptr<std::vector<LaunchInterval>> times =
      nullptr; ///< of the package's launches; null: untimed

  size_t firstSegment(Part part) const { return part == Part::Committed ? commitSegment : 0; }
  size_t lastSegment(Part part) const {
    return part == Part::BeforeCommit ? commitSegment : segments.size();
  }
  // Of a segment, in this order, on the device that the program is of:
  void begin(Device &target, const Segment &segment) const; ///< what its stream waits for
  void launch(Device &target, const Segment &segment) const;
  void end(Device &target, const Segment &segment) const; ///< what waits for it
  /// Where the times of that launch and those after it go; null: untimed.
  LaunchInterval *timesFrom(size_t launch) const {
    return times ? times->data() + launch : nullptr;
  }
};

/// One end of a message.
struct MessageEnd {
  size_t program; ///< in `programs`
  size_t segment;
};

/// A message of the entry: for the transport, and where its ends stand.
struct BoundMessage {
  Message message;
  MessageEnd send, receive;
  MessageId id = 0; ///< as the transport knows it
};

/// A scalar input, kept on the host and written before each run: its place may be another entry's
/// in between.
struct ScalarInput {
  std::string_view name;
  DeviceTensor place;
  double real = 0;
  int64_t integer = 0;
  bool isInteger = false;

  void write() const;
};

struct BoundEntry {
  const package::Entry *source;
  std::string_view name;
  std::vector<BoundProgram> programs;
  std::vector<BoundMessage> messages; ///< by ascending number
  std::vector<ScalarInput> scalars;
  std::vector<std::pair<std::string_view, DeviceTensor>>
      mustBeFinite;               ///< before what persists changes
  std::vector<std::byte> scratch; ///< room for the largest of them, where the host cannot see it
  std::optional<size_t> prepare;  ///< the entry `prepare:NAME`
  uint64_t preparedFor = 0;       ///< version of the parameters
  bool changesParameters = false;

  /// Whether all of mustBeFinite is.
  bool finite();
  /// The device's program, if it has one; null otherwise.
  const BoundProgram *programOf(size_t device) const;
};

/// E0402 when a device has no kernel for a launch. Its messages are not known to a transport yet.
Result<BoundEntry> bindEntry(const package::Package &package, size_t index, const Devices &devices);

} // namespace lstmc::session
