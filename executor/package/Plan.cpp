#include "executor/package/Plan.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "executor/abi/Packing.h"
#include "executor/package/PackedLife.h"

namespace lstmc::package {

namespace {

uint64_t sum(const DevicePlan &plan, std::initializer_list<Kind> kinds) {
  uint64_t bytes = 0;
  for (Kind kind : kinds)
    bytes += plan.bytesOfKind[size_t(kind)];
  return bytes;
}

uint64_t total(const BytesOfKind &bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), uint64_t(0));
}

BytesOfKind persistent(const PackageData &data, uint32_t device) {
  BytesOfKind bytes{};
  for (const Buffer &buffer : data.buffers)
    if (buffer.device == device && buffer.entry == kPersistent)
      bytes[size_t(buffer.kind)] += buffer.bytes;
  return bytes;
}

size_t launchesOf(const PackageData &data, uint32_t device, size_t entry) {
  for (const DeviceProgram &program : data.entries[entry].programs)
    if (program.device == device)
      return program.launches.size();
  return 0;
}

/// Calls f(old, fresh, common bytes) where a launch makes `fresh` in the place of `old`. In
/// `events` are the buffers that begin or end with the launch; of either kind no two overlap.
template <typename F>
void eachInPlace(const PackageData &data, std::vector<uint32_t> &events, uint32_t launch, F f) {
  std::ranges::sort(events, {}, [&](uint32_t i) { return data.buffers[i].offset; });
  std::array<const Buffer *, 2> last{}; // that ends, that begins
  for (uint32_t i : events) {
    const Buffer &buffer = data.buffers[i];
    const bool begins = buffer.from == launch;
    if (const Buffer *other = last[!begins]) {
      uint64_t end = std::min(other->offset + other->bytes, buffer.offset + buffer.bytes);
      if (end > buffer.offset)
        begins ? f(*other, buffer, end - buffer.offset) : f(buffer, *other, end - buffer.offset);
    }
    if (const Buffer *same = last[begins];
        !same || same->offset + same->bytes < buffer.offset + buffer.bytes)
      last[begins] = &buffer;
  }
}

/// Per launch of an entry: the buffers that begin or end with it.
std::vector<std::vector<uint32_t>> eventsOf(const PackageData &data, uint32_t device,
                                            size_t entry) {
  std::vector<std::vector<uint32_t>> events(launchesOf(data, device, entry));
  for (uint32_t i = 0; i < data.buffers.size(); ++i) {
    const Buffer &buffer = data.buffers[i];
    if (buffer.device != device || buffer.entry != int32_t(entry) || buffer.from >= events.size())
      continue;
    events[buffer.from].push_back(i);
    if (buffer.to != buffer.from && buffer.to < events.size())
      events[buffer.to].push_back(i);
  }
  return events;
}

} // namespace

uint64_t DevicePlan::weightBytes() const {
  return sum(*this, {Kind::Parameter, Kind::Auxiliary, Kind::Packed});
}
uint64_t DevicePlan::gradientBytes() const { return sum(*this, {Kind::Gradient}); }
uint64_t DevicePlan::optimizerBytes() const { return sum(*this, {Kind::Optimizer}); }
uint64_t DevicePlan::activationBytes() const {
  return sum(*this, {Kind::Activation, Kind::State, Kind::Input, Kind::Output, Kind::Scalar});
}
uint64_t DevicePlan::workspaceBytes() const { return sum(*this, {Kind::Workspace}) + unusedBytes; }

std::vector<BytesOfKind> bytesAlive(const PackageData &data, uint32_t device, size_t entry) {
  std::vector<std::vector<uint32_t>> events = eventsOf(data, device, entry);
  std::vector<BytesOfKind> alive(events.size());
  BytesOfKind now = persistent(data, device);
  const std::vector<bool> discards = discardsPacked(data, data.entries[entry]);
  for (size_t i = 0; i < data.buffers.size(); ++i)
    if (discards[i] && data.buffers[i].device == device)
      now[size_t(Kind::Packed)] -= data.buffers[i].bytes;
  for (uint32_t launch = 0; launch < events.size(); ++launch) {
    for (uint32_t i : events[launch])
      if (data.buffers[i].from == launch)
        now[size_t(data.buffers[i].kind)] += data.buffers[i].bytes;
    alive[launch] = now;
    eachInPlace(data, events[launch], launch,
                [&](const Buffer &old, const Buffer &, uint64_t common) {
                  alive[launch][size_t(old.kind)] -= common;
                });
    for (uint32_t i : events[launch])
      if (data.buffers[i].to == launch)
        now[size_t(data.buffers[i].kind)] -= data.buffers[i].bytes;
  }
  return alive;
}

uint64_t arenaBytes(const PackageData &data, uint32_t device, const std::vector<bool> &entries) {
  std::vector<bool> used(data.buffers.size());
  auto use = [&](const Launch &launch) {
    for (const Operand &operand : launch.operands)
      if (operand.buffer != kNoBuffer)
        used[operand.buffer] = true;
  };
  for (const Parameter &parameter : data.parameters)
    use(parameter.initialise);
  for (size_t e = 0; e < data.entries.size(); ++e)
    for (const DeviceProgram &program : data.entries[e].programs)
      for (const Launch &launch : program.launches)
        if (entries[e])
          use(launch);
  uint64_t bytes = 0;
  for (size_t i = 0; i < data.buffers.size(); ++i) {
    const Buffer &buffer = data.buffers[i];
    const bool needed =
        used[i] || (buffer.entry == kPersistent ? buffer.kind != Kind::Packed
                                                : bool(entries[size_t(buffer.entry)]));
    if (buffer.device == device && needed)
      bytes = std::max(bytes, buffer.offset + buffer.bytes);
  }
  return std::min(uint64_t(roundUp(int64_t(bytes), kAlignment)), data.devices[device].arenaBytes);
}

namespace {

/// A value that persists, and where.
struct Persistent {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  uint32_t device;
  uint64_t offset;
  bool operator==(const Persistent &) const = default;
};

std::vector<Persistent> trainedValues(const PackageData &data) {
  std::vector<Persistent> values;
  auto add = [&](const std::string &name, const std::vector<uint32_t> &buffers) {
    for (uint32_t index : buffers) {
      const Buffer &buffer = data.buffers[index];
      values.push_back({name, buffer.dtype, buffer.shape, buffer.device, buffer.offset});
    }
  };
  for (const Parameter &parameter : data.parameters) {
    add(parameter.name, parameter.buffers);
    for (const Slot &slot : parameter.slots)
      add(parameter.name + "/" + slot.name, slot.buffers);
  }
  for (const State &state : data.states)
    add(state.name, state.buffers);
  return values;
}

} // namespace

Status checkSamePlaces(const PackageData &a, const PackageData &b) {
  if (deviceList(a) != deviceList(b))
    return fail(ErrorCode::E0605, "devices: found {}, want {}", deviceList(a), deviceList(b));
  const std::vector<Persistent> found = trainedValues(a), want = trainedValues(b);
  for (size_t i = 0; i < std::max(found.size(), want.size()); ++i) {
    auto text = [i](const std::vector<Persistent> &all) {
      return i >= all.size()
                 ? "nothing"
                 : fmt::format("{} {} on device {} at byte {}", all[i].name,
                               typeText(all[i].dtype, all[i].shape), all[i].device, all[i].offset);
    };
    if (i >= found.size() || i >= want.size() || found[i] != want[i])
      return fail(ErrorCode::E0605, "what the network learns: found {}, want {}", text(found),
                  text(want));
  }
  return {};
}

/// Which buffers live at the peak, but for those that others take the place of; largest first.
static std::vector<uint32_t> largestAtPeak(const PackageData &data, uint32_t device,
                                           const DevicePlan &plan, size_t most) {
  std::vector<uint32_t> found;
  std::vector<const Buffer *> gone;
  if (plan.peakEntry != kPersistent) {
    eachInPlace(data, eventsOf(data, device, size_t(plan.peakEntry))[plan.peakLaunch],
                plan.peakLaunch,
                [&](const Buffer &old, const Buffer &, uint64_t) { gone.push_back(&old); });
    const std::vector<bool> discards = discardsPacked(data, data.entries[size_t(plan.peakEntry)]);
    for (size_t i = 0; i < discards.size(); ++i)
      if (discards[i])
        gone.push_back(&data.buffers[i]);
  }
  std::ranges::sort(gone);
  for (uint32_t i = 0; i < data.buffers.size(); ++i) {
    const Buffer &buffer = data.buffers[i];
    bool lives = buffer.entry == kPersistent ||
                 (buffer.entry == plan.peakEntry && buffer.from <= plan.peakLaunch &&
                  plan.peakLaunch <= buffer.to);
    if (buffer.device == device && lives && !std::ranges::binary_search(gone, &buffer))
      found.push_back(i);
  }
  std::ranges::sort(found, {}, [&](uint32_t i) { return std::pair(~data.buffers[i].bytes, i); });
  found.resize(std::min(found.size(), most));
  return found;
}

std::vector<DevicePlan> planOf(const PackageData &data, size_t largest) {
  std::vector<DevicePlan> plans;
  for (uint32_t device = 0; device < data.devices.size(); ++device) {
    DevicePlan plan;
    plan.device = data.devices[device].name;
    plan.arenaBytes = data.devices[device].arenaBytes;
    plan.bytesOfKind = persistent(data, device);
    for (size_t entry = 0; entry < data.entries.size(); ++entry) {
      std::vector<BytesOfKind> alive = bytesAlive(data, device, entry);
      for (uint32_t launch = 0; launch < alive.size(); ++launch)
        if (plan.peakEntry == kPersistent || total(alive[launch]) > total(plan.bytesOfKind)) {
          plan.peakEntry = int32_t(entry);
          plan.peakLaunch = launch;
          plan.bytesOfKind = alive[launch];
        }
    }
    plan.unusedBytes = plan.arenaBytes - std::min(total(plan.bytesOfKind), plan.arenaBytes);
    plan.largest = largestAtPeak(data, device, plan, largest);
    plans.push_back(std::move(plan));
  }
  return plans;
}

/// [T, ...] of an operand that every launch of these kernels has: y, or the gradient of the gates.
static std::optional<PeakLaunch::Steps> stepsOf(const Launch &launch) {
  if (launch.kernel != KernelId::RnnForward && launch.kernel != KernelId::RnnBackward)
    return std::nullopt;
  bool forward = launch.kernel == KernelId::RnnForward;
  bool reverse = forward ? argumentsOf<RnnForwardArguments>(launch).reverse
                         : argumentsOf<RnnBackwardArguments>(launch).reverse;
  size_t stepped = forward ? size_t(RnnForwardOperand::y) : size_t(RnnBackwardOperand::gates);
  int64_t steps = launch.operands[stepped].shape[0];
  int64_t low = launch.firstStep, high = low + steps - 1;
  return forward != reverse ? PeakLaunch::Steps{low, high} : PeakLaunch::Steps{high, low};
}

std::string opNameOf(const PackageData &data, const Location &location) {
  std::string name = location.name;
  for (const Location &other : data.locations) {
    bool there =
        other.line && std::tie(other.file, other.line, other.column, other.notes) ==
                          std::tie(location.file, location.line, location.column, location.notes);
    if (!location.name.empty() || !there || other.name.empty() || other.name == name)
      continue;
    if (!name.empty())
      return {};
    name = other.name;
  }
  return name;
}

std::optional<PeakLaunch> launchAtPeak(const PackageData &data, const DevicePlan &plan) {
  if (plan.peakEntry == kPersistent)
    return std::nullopt;
  const Entry &entry = data.entries[size_t(plan.peakEntry)];
  for (const DeviceProgram &program : entry.programs)
    if (data.devices[program.device].name == plan.device) {
      const Launch &launch = program.launches[plan.peakLaunch];
      return PeakLaunch{entry.name, opNameOf(data, data.locations[launch.location]),
                        std::string(kernelRecord(launch.kernel).name), stepsOf(launch),
                        launch.chunk < 0 ? std::nullopt : std::optional(launch.chunk)};
    }
  return std::nullopt;
}

std::string deviceList(const PackageData &data) {
  std::string list;
  for (const Device &device : data.devices)
    list += (list.empty() ? "" : ",") + device.name;
  return list;
}

std::string typeText(DType dtype, const std::vector<int64_t> &shape) {
  std::string text(dtypeName(dtype));
  text += "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += fmt::format("{}{}", i ? ", " : "", shape[i]);
  return text + "]";
}

} // namespace lstmc::package
