#include "executor/package/Plan.h"

#include <algorithm>
#include <map>

namespace lstmc::package {

namespace {

uint64_t sum(const DevicePlan &plan, std::initializer_list<Kind> kinds) {
  uint64_t bytes = 0;
  for (Kind kind : kinds)
    bytes += plan.bytesOfKind[size_t(kind)];
  return bytes;
}

/// The launch of an entry at which most bytes of a device live, by the changes at each.
struct Peak {
  int32_t entry = kPersistent;
  uint32_t launch = 0;
  uint64_t bytes = 0;
};

bool livesAt(const Buffer &buffer, const Peak &peak) {
  return buffer.entry == kPersistent ||
         (buffer.entry == peak.entry && buffer.from <= peak.launch && peak.launch <= buffer.to);
}

Peak findPeak(const PackageData &data, uint32_t device) {
  Peak peak;
  for (size_t e = 0; e < data.entries.size(); ++e) {
    std::map<uint32_t, std::pair<uint64_t, uint64_t>>
        changes; // at a launch: born, and dead before it
    for (const Buffer &buffer : data.buffers)
      if (buffer.device == device && buffer.entry == int32_t(e)) {
        changes[buffer.from].first += buffer.bytes;
        changes[buffer.to + 1].second += buffer.bytes;
      }
    uint64_t live = 0;
    for (const auto &[launch, change] : changes) {
      live = live + change.first - change.second;
      if (live > peak.bytes)
        peak = {int32_t(e), launch, live};
    }
  }
  return peak;
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

std::vector<DevicePlan> planOf(const Package &package, size_t largest) {
  const PackageData &data = package.data();
  std::vector<DevicePlan> plans;
  for (uint32_t device = 0; device < data.devices.size(); ++device) {
    DevicePlan plan;
    plan.device = data.devices[device].name;
    plan.arenaBytes = data.devices[device].arenaBytes;
    Peak peak = findPeak(data, device);
    plan.peakEntry = peak.entry;
    plan.peakLaunch = peak.launch;
    // A buffer that is made in the place of another shares its bytes at that launch: they count
    // once, for the new.
    std::map<uint64_t, uint32_t> byOffset;
    for (uint32_t i = 0; i < data.buffers.size(); ++i)
      if (data.buffers[i].device == device && livesAt(data.buffers[i], peak)) {
        auto [at, fresh] = byOffset.try_emplace(data.buffers[i].offset, i);
        if (!fresh && data.buffers[i].from > data.buffers[at->second].from)
          at->second = i;
      }
    uint64_t used = 0;
    for (const auto &[offset, i] : byOffset) {
      plan.bytesOfKind[size_t(data.buffers[i].kind)] += data.buffers[i].bytes;
      used += data.buffers[i].bytes;
      plan.largest.push_back(i);
    }
    plan.unusedBytes = plan.arenaBytes - std::min(used, plan.arenaBytes);
    std::ranges::sort(plan.largest, {},
                      [&](uint32_t i) { return std::pair(~data.buffers[i].bytes, i); });
    plan.largest.resize(std::min(plan.largest.size(), largest));
    plans.push_back(std::move(plan));
  }
  return plans;
}

std::string typeText(DType dtype, const std::vector<int64_t> &shape) {
  std::string text(dtypeName(dtype));
  text += "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += fmt::format("{}{}", i ? ", " : "", shape[i]);
  return text + "]";
}

} // namespace lstmc::package
