#include "executor/package/Check.h"

#include <unordered_map>
#include <unordered_set>

#include "executor/abi/Devices.h"
#include "executor/abi/Packing.h"
#include "executor/abi/ShardLimits.h"
#include "executor/base/PlainText.h"
#include "executor/base/SafeSize.h"
#include "executor/package/Plan.h"

namespace lstmc::package {

static constexpr size_t kMaxEntries = 64;
static constexpr uint32_t kMaxPlace = 1 << 30; ///< line or column

Status checkIndex(const Path &path, uint64_t index, uint64_t count, std::string_view things) {
  if (index >= count)
    return refuse(path, ErrorCode::E0604, "found {}, want below {}, the number of {}", index, count,
                  things);
  return {};
}

Status checkText(const Path &path, std::string_view text) {
  if (!isPlainText(text))
    return refuse(path, ErrorCode::E0604, "found {}, want UTF-8 without control characters",
                  inQuotes(text));
  return {};
}

namespace {

Status checkLocation(const Location &location, const Path &path) {
  for (auto [text, field] : {std::pair(&location.file, "file"),
                             {&location.text, "text"},
                             {&location.op, "op"},
                             {&location.name, "name"}})
    LSTMC_TRY(checkText(Path(path, field), *text));
  for (size_t i = 0; i < location.notes.size(); ++i)
    LSTMC_TRY(checkText(Path(path, "notes", int64_t(i)), location.notes[i]));
  for (auto [number, field] :
       {std::pair(location.line, "line"), {location.column, "column"}, {location.length, "length"}})
    if (number > kMaxPlace)
      return refuse(Path(path, field), ErrorCode::E0604, "found {}, want at most {}", number,
                    kMaxPlace);
  return {};
}

bool mustPersist(Kind kind) {
  return kind == Kind::Parameter || kind == Kind::Auxiliary || kind == Kind::Optimizer ||
         kind == Kind::State || kind == Kind::Packed;
}

Status checkShape(const Buffer &buffer, const Path &path) {
  if (uint8_t(buffer.dtype) >= kDTypeCount)
    return refuse(Path(path, "dtype"), ErrorCode::E0604, "found {}, want below {}",
                  uint8_t(buffer.dtype), kDTypeCount);
  Path shape(path, "shape");
  if (buffer.shape.size() > size_t(kMaxRank))
    return refuse(shape, ErrorCode::E0604, "found {} axes, want at most {}", buffer.shape.size(),
                  kMaxRank);
  SafeSize bytes(dtypeBytes(buffer.dtype));
  for (size_t i = 0; i < buffer.shape.size(); ++i) {
    if (buffer.shape[i] < 1)
      return refuse(Path(path, "shape", int64_t(i)), ErrorCode::E0604, "found {}, want at least 1",
                    buffer.shape[i]);
    bytes = bytes * SafeSize::fromSigned(buffer.shape[i]);
  }
  if (!bytes.value())
    return refuse(shape, ErrorCode::E0604, "found more bytes than 63 bits count");
  if (buffer.bytes < *bytes.value())
    return refuse(Path(path, "bytes"), ErrorCode::E0605, "found {}, want at least {} for {}",
                  buffer.bytes, *bytes.value(), typeText(buffer.dtype, buffer.shape));
  return {};
}

Status checkPlace(const PackageData &data, const Buffer &buffer, const Path &path) {
  LSTMC_TRY(checkIndex(Path(path, "device"), buffer.device, data.devices.size(), "devices"));
  if (buffer.offset % kAlignment != 0)
    return refuse(Path(path, "offset"), ErrorCode::E0604, "found {}, want a multiple of {}",
                  buffer.offset, kAlignment);
  uint64_t arena = data.devices[buffer.device].arenaBytes;
  if (!(SafeSize(buffer.offset) + SafeSize(buffer.bytes)).within(arena))
    return refuse(Path(path, "offset"), ErrorCode::E0604,
                  "found {} bytes at offset {}, want them within the arena's {}", buffer.bytes,
                  buffer.offset, arena);
  return {};
}

/// A place for the next value of an input is like the input, and is its only one.
Status checkNext(const PackageData &data, const Buffer &buffer, std::vector<bool> &hasNext,
                 const Path &path) {
  const Path next(path, "next_of");
  if (buffer.nextOf == kNoBuffer)
    return {};
  LSTMC_TRY(checkIndex(next, buffer.nextOf, data.buffers.size(), "buffers"));
  const Buffer &input = data.buffers[buffer.nextOf];
  auto mayHaveNext = [](const Buffer &either) {
    return either.kind == Kind::Input && either.entry == kPersistent;
  };
  if (!mayHaveNext(buffer) || !mayHaveNext(input) || input.nextOf != kNoBuffer)
    return refuse(next, ErrorCode::E0611,
                  "found buffers[{}], want an input for an input, both "
                  "persistent",
                  buffer.nextOf);
  if (buffer.device != input.device || buffer.dtype != input.dtype || buffer.shape != input.shape)
    return refuse(next, ErrorCode::E0605,
                  "found {} of device {} for {} of device {}, want the same",
                  typeText(buffer.dtype, buffer.shape), buffer.device,
                  typeText(input.dtype, input.shape), input.device);
  if (hasNext[buffer.nextOf])
    return refuse(next, ErrorCode::E0612, "found buffers[{}] again, want it once", buffer.nextOf);
  hasNext[buffer.nextOf] = true;
  return {};
}

/// Launches of a device's program in an entry.
class LaunchCounts {
public:
  explicit LaunchCounts(const PackageData &data) {
    for (size_t entry = 0; entry < data.entries.size(); ++entry)
      for (const DeviceProgram &program : data.entries[entry].programs)
        counts_.emplace(key(entry, program.device), program.launches.size());
  }
  uint64_t of(size_t entry, uint32_t device) const {
    auto found = counts_.find(key(entry, device));
    return found == counts_.end() ? 0 : found->second;
  }

private:
  static uint64_t key(size_t entry, uint32_t device) { return uint64_t(entry) << 32 | device; }
  std::unordered_map<uint64_t, uint64_t> counts_;
};

Status checkLife(const PackageData &data, const LaunchCounts &counts, const Buffer &buffer,
                 const Path &path) {
  Path entryPath(path, "entry");
  if (buffer.entry < kInitial)
    return refuse(entryPath, ErrorCode::E0604, "found {}, want at least {}", buffer.entry,
                  kInitial);
  if (buffer.entry == kInitial) {
    if (buffer.kind != Kind::Workspace)
      return refuse(entryPath, ErrorCode::E0611, "found {} of initial values, want workspace",
                    kKindNames[size_t(buffer.kind)]);
    return {};
  }
  if (buffer.entry == kPersistent) {
    if (buffer.kind == Kind::Activation)
      return refuse(entryPath, ErrorCode::E0611, "found {} that persists, want one of an entry",
                    kKindNames[size_t(buffer.kind)]);
    return {};
  }
  LSTMC_TRY(checkIndex(entryPath, uint64_t(buffer.entry), data.entries.size(), "entries"));
  if (mustPersist(buffer.kind))
    return refuse(entryPath, ErrorCode::E0611, "found {} of entry {}, want -1: it persists",
                  kKindNames[size_t(buffer.kind)], buffer.entry);
  // An entry without launches still has inputs.
  uint64_t launches = std::max<uint64_t>(1, counts.of(size_t(buffer.entry), buffer.device));
  LSTMC_TRY(checkIndex(Path(path, "to"), buffer.to, launches, "launches of its entry"));
  if (buffer.from > buffer.to)
    return refuse(Path(path, "from"), ErrorCode::E0605, "found {}, want at most {}, its `to`",
                  buffer.from, buffer.to);
  bool given = buffer.kind == Kind::Input || buffer.kind == Kind::Scalar;
  if (given && buffer.from != 0)
    return refuse(Path(path, "from"), ErrorCode::E0611, "found {}, want 0 for {}", buffer.from,
                  kKindNames[size_t(buffer.kind)]);
  if ((given || buffer.kind == Kind::Output) && buffer.to + uint64_t(1) != launches)
    return refuse(Path(path, "to"), ErrorCode::E0611, "found {}, want {}, the last launch, for {}",
                  buffer.to, launches - 1, kKindNames[size_t(buffer.kind)]);
  return {};
}

} // namespace

Status checkDevicesAndLocations(const PackageData &data) {
  if (data.shards < 1 || data.shards > kMaxShards)
    return refuse(Path("shards"), ErrorCode::E0604, "found {}, want 1 to {}", data.shards,
                  kMaxShards);
  if (data.devices.empty() || data.devices.size() > size_t(kMaxDevices))
    return refuse(Path("devices"), ErrorCode::E0604, "found {}, want 1 to {}", data.devices.size(),
                  kMaxDevices);
  std::vector<uint64_t> ends(data.devices.size());
  for (const Buffer &buffer : data.buffers)
    if (buffer.device < ends.size()) {
      SafeSize end = roundUp(SafeSize(buffer.offset) + SafeSize(buffer.bytes), kAlignment);
      ends[buffer.device] = std::max(ends[buffer.device], end.value().value_or(0));
    }
  std::unordered_set<std::string_view> names;
  for (size_t i = 0; i < data.devices.size(); ++i) {
    const Device &device = data.devices[i];
    Path path("devices", int64_t(i));
    if (device.name.empty())
      return refuse(Path(path, "name"), ErrorCode::E0604, "found no name, want one");
    LSTMC_TRY(checkText(Path(path, "name"), device.name));
    if (!names.insert(device.name).second)
      return refuse(Path(path, "name"), ErrorCode::E0612, "found {} again, want it once",
                    inQuotes(device.name));
    if (device.arenaBytes > kMaxArenaBytes)
      return refuse(Path(path, "arena_bytes"), ErrorCode::E0604, "found {}, want at most {}",
                    device.arenaBytes, kMaxArenaBytes);
    if (device.arenaBytes > ends[i])
      return refuse(Path(path, "arena_bytes"), ErrorCode::E0605,
                    "found {}, want at most {}, where the last buffer ends", device.arenaBytes,
                    ends[i]);
  }
  if (data.entries.size() > kMaxEntries)
    return refuse(Path("entries"), ErrorCode::E0604, "found {}, want at most {}",
                  data.entries.size(), kMaxEntries);
  if (data.locations.empty())
    return refuse(Path("locations"), ErrorCode::E0604, "found none, want at least 1");
  for (size_t i = 0; i < data.locations.size(); ++i)
    LSTMC_TRY(checkLocation(data.locations[i], Path("locations", int64_t(i))));
  LSTMC_TRY(checkText(Path("net"), data.net));
  return {};
}

Status checkBuffers(const PackageData &data) {
  LaunchCounts counts(data);
  std::vector<bool> hasNext(data.buffers.size());
  for (size_t i = 0; i < data.buffers.size(); ++i) {
    const Buffer &buffer = data.buffers[i];
    Path path("buffers", int64_t(i));
    if (uint8_t(buffer.kind) >= kKindCount)
      return refuse(Path(path, "kind"), ErrorCode::E0604, "found {}, want below {}",
                    uint8_t(buffer.kind), kKindCount);
    LSTMC_TRY(checkText(Path(path, "name"), buffer.name));
    LSTMC_TRY(checkShape(buffer, path));
    LSTMC_TRY(checkPlace(data, buffer, path));
    LSTMC_TRY(
        checkIndex(Path(path, "location"), buffer.location, data.locations.size(), "locations"));
    LSTMC_TRY(checkLife(data, counts, buffer, path));
    LSTMC_TRY(checkNext(data, buffer, hasNext, path));
  }
  return {};
}

} // namespace lstmc::package
