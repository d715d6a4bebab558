// An entry of a package with its programs made ready on devices.
#pragma once

#include <iterator>
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
#include "executor/session/IndexCounter.h"
#include "executor/session/Transport.h"

namespace lstmc::session {

/// Sessions that share their arenas have the same ones.
using Devices = std::vector<std::shared_ptr<Device>>;
inline Devices shareable(std::vector<std::unique_ptr<Device>> devices) {
  return {std::make_move_iterator(devices.begin()), std::make_move_iterator(devices.end())};
}

/// The part of a program before `commit`, the part from there on, or both.
enum class Part : uint8_t { BeforeCommit, Committed, All };

/// What a device runs without a look at the others: consecutive launches of one stream, its end of
/// a transfer, or a wait until a message that it sent has been taken, because `launch` overwrites
/// it. A launch whose indices are counted is the first of its segment.
struct Segment {
  enum class Kind : uint8_t { Launches, Send, Receive, Await };
  Kind kind;
  size_t launch;      ///< index of the first one in the package's program
  size_t first, last; ///< among the prepared launches; empty for a transfer or a wait
  size_t message = 0; ///< in `messages`
  uint32_t stream = 0;
  std::span<const uint32_t> waits = {}; ///< events before the first launch
  int32_t event = -1;                   ///< after the last one
  size_t graphEnd = 0; ///< where the graph that begins here ends, in `segments`; 0: none begins
};

struct BoundProgram {
  size_t device;
  const package::DeviceProgram *source;
  std::unique_ptr<PreparedProgram> launches;
  std::vector<Segment> segments;
  size_t commitSegment; ///< the first segment from `commit` on
  uint32_t streams = 1;
  std::unique_ptr<std::vector<LaunchInterval>> times =
      nullptr; ///< one per launch of the package; null if not timed
  std::unique_ptr<IndexCounter> indices = nullptr; ///< null if there is nothing to count

  size_t firstSegment(Part part) const { return part == Part::Committed ? commitSegment : 0; }
  size_t lastSegment(Part part) const {
    return part == Part::BeforeCommit ? commitSegment : segments.size();
  }
  /// E0604 if the launch that the segment, or the graph from there on, begins with refuses an
  /// index. Called before it.
  Status checkIndices(Device &target, const Segment &segment) const;
  // Called for each segment in this order, on the program's device:
  void begin(Device &target, const Segment &segment) const; ///< waits for its events
  void launch(Device &target, const Segment &segment) const;
  void end(Device &target, const Segment &segment) const; ///< records its event
  /// Whether a graph begins at this segment that the device keeps and nobody times.
  bool beginsGraph(const Device &target, size_t at) const {
    return segments[at].graphEnd > 0 && target.keepsGraphs() && !times;
  }
  /// All three, for all segments of it. Returns the segment after them.
  size_t runGraph(Device &target, size_t at) const;
  /// Where the times of that launch and later ones are written; null if not timed.
  LaunchInterval *timesFrom(size_t launch) const {
    return times ? times->data() + launch : nullptr;
  }
};

/// One end of a message.
struct MessageEnd {
  size_t program; ///< in `programs`
  size_t segment;
};

/// A message of the entry, and the segments at its two ends.
struct BoundMessage {
  Message message;
  MessageEnd send, receive;
  MessageId id = 0; ///< given by the transport
};

/// A scalar input. It is kept on the host and written before each run (HostScalars), because other
/// entries may use its memory in between.
struct ScalarInput {
  std::string_view name;
  DeviceTensor place;
  double real = 0;
  int64_t integer = 0;
  bool isInteger = false;

  void write() const;
};

class SharedGraph;

struct BoundEntry {
  const package::Entry *source = nullptr;
  std::string_view name;
  std::vector<BoundProgram> programs;
  std::vector<BoundMessage> messages; ///< by ascending number
  std::vector<ScalarInput> scalars;
  std::vector<std::pair<std::string_view, DeviceTensor>>
      mustBeFinite; ///< on devices of this process; checked before anything that persists changes
  std::vector<std::byte> scratch; ///< holds those of them that the host cannot see
  std::optional<size_t> prepare;  ///< the entry `prepare:NAME`
  uint64_t preparedFor = 0;       ///< version of the parameters
  bool changesParameters = false;
  bool looksAtNumbers = false;         ///< mustBeFinite, of all devices, is not empty
  std::shared_ptr<SharedGraph> shared; ///< null where its devices share no graph

  /// Whether all values in mustBeFinite are finite.
  bool finite();
  /// The device's program; null if it has none.
  const BoundProgram *programOf(size_t device) const;
};

/// E0402 if a device has no kernel for a launch. The messages are not yet added to a transport.
Result<BoundEntry> bindEntry(const package::Package &package, size_t index, const Devices &devices);
/// The same of `source`, which has launches of that entry, and outlives what is made of it.
Result<BoundEntry> bindEntry(const package::Package &package, size_t index,
                             const package::Entry &source, const Devices &devices);

} // namespace lstmc::session
