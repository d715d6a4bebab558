#include "executor/package/Check.h"

#include <algorithm>
#include <map>

#include "executor/abi/EntryNames.h"
#include "executor/package/PackedLife.h"

namespace lstmc::package {

namespace {

/// Whether launch `launch` reads a view of buffer `dying` and writes the same view of `born`, which
/// its kernel allows.
bool inPlace(const PackageData &data, const Launch &launch, uint32_t dying, uint32_t born) {
  const KernelRecord &record = kernelRecord(launch.kernel);
  bool fused = launch.kernel == KernelId::Fused;
  if (dtypeBytes(data.buffers[dying].dtype) != dtypeBytes(data.buffers[born].dtype))
    return false;
  for (size_t out = 0; out < launch.operands.size(); ++out) {
    const Operand &to = launch.operands[out];
    if (to.buffer != born || !writes(data, launch, out))
      continue;
    for (size_t in = 0; in < launch.operands.size(); ++in) {
      const Operand &from = launch.operands[in];
      bool allowed = fused ? !writes(data, launch, in)
                           : out < record.operands.size() && record.operands[out].itself == int(in);
      if (allowed && from.buffer == dying && from.offset == to.offset && from.shape == to.shape &&
          stridesOf(from) == stridesOf(to))
        return true;
    }
  }
  return false;
}

struct Held {
  uint32_t buffer;
  uint64_t end;
};

/// The bytes of one device that hold values at a launch, disjoint, by offset.
class Occupied {
public:
  /// The buffer that holds a byte of [offset, end), if any.
  const Held *find(uint64_t offset, uint64_t end) const {
    auto next = held.lower_bound(offset);
    if (next != held.end() && next->first < end)
      return &next->second;
    if (next != held.begin() && std::prev(next)->second.end > offset)
      return &std::prev(next)->second;
    return nullptr;
  }
  void insert(uint64_t offset, Held what) { held[offset] = what; }
  void erase(uint64_t offset, uint32_t buffer) {
    auto at = held.find(offset);
    if (at != held.end() && at->second.buffer == buffer)
      held.erase(at);
  }
  void shrink(uint64_t offset, uint64_t end) {
    if (auto at = held.find(offset); at != held.end())
      at->second.end = end;
  }

private:
  std::map<uint64_t, Held> held;
};

uint64_t endOf(const Buffer &buffer) { return buffer.offset + buffer.bytes; }

Error taken(const PackageData &data, uint32_t buffer, uint32_t holder, std::string when) {
  const Buffer &b = data.buffers[buffer], &h = data.buffers[holder];
  return refuse(Path(Path("buffers", buffer), "offset"), ErrorCode::E0611,
                "found bytes {} to {}, want none of those that buffers[{}] holds{}, {} to {}",
                b.offset, endOf(b), holder, when, h.offset, endOf(h));
}

/// The buffers of one device that live in one entry.
Status checkEntry(const PackageData &data, const Occupied &persistent, std::vector<uint32_t> local,
                  const std::vector<Launch> &launches) {
  auto buffer = [&](uint32_t i) -> const Buffer & { return data.buffers[i]; };
  std::vector<uint32_t> dying = local;
  std::ranges::sort(local, {}, [&](uint32_t i) { return std::pair(buffer(i).from, i); });
  std::ranges::sort(dying, {}, [&](uint32_t i) { return std::pair(buffer(i).to, i); });
  Occupied now;
  std::vector<uint32_t> grown; // hold more than their own bytes, until the launch is over
  uint32_t time = 0;
  size_t dead = 0;
  for (uint32_t i : local) {
    const Buffer &b = buffer(i);
    if (const Held *holder = persistent.find(b.offset, endOf(b)))
      return taken(data, i, holder->buffer, " always");
    if (b.from != time) {
      for (uint32_t g : grown)
        now.shrink(buffer(g).offset, endOf(buffer(g)));
      grown.clear();
      time = b.from;
    }
    for (; dead < dying.size() && buffer(dying[dead]).to < time; ++dead)
      now.erase(buffer(dying[dead]).offset, dying[dead]);
    uint64_t end = endOf(b);
    const Held *holder = now.find(b.offset, end);
    if (holder) {
      uint32_t other = holder->buffer;
      const Buffer &h = buffer(other);
      bool replaces = h.to == b.from && h.from < b.from && h.offset == b.offset &&
                      inPlace(data, launches[b.from], other, i);
      if (replaces) {
        end = std::max(end, holder->end);
        now.erase(h.offset, other);
        grown.push_back(i);
        holder = now.find(b.offset, end);
      }
      if (holder)
        return taken(data, i, holder->buffer, fmt::format(" at launch {}", b.from));
    }
    now.insert(b.offset, {i, end});
  }
  return {};
}

/// The entry X that `entry` prepares by its name prepare:X; -1 for another. Its inputs are given
/// before it runs.
int32_t preparedEntry(const PackageData &data, int32_t entry) {
  std::string_view name = data.entries[size_t(entry)].name;
  if (name.starts_with(kPreparePrefix))
    for (size_t i = 0; i < data.entries.size(); ++i)
      if (data.entries[i].name == name.substr(kPreparePrefix.size()))
        return int32_t(i);
  return -1;
}

} // namespace

Status checkLives(const PackageData &data) {
  // By device and entry, what persists first; workspaces of initial values last.
  std::vector<uint32_t> order(data.buffers.size());
  for (uint32_t i = 0; i < order.size(); ++i)
    order[i] = i;
  auto key = [&](uint32_t i) {
    const Buffer &buffer = data.buffers[i];
    return std::pair(buffer.device, buffer.entry == kInitial ? INT32_MAX : buffer.entry);
  };
  std::ranges::sort(order, {}, [&](uint32_t i) { return std::pair(key(i), i); });
  Occupied persistent;
  for (size_t first = 0; first < order.size();) {
    auto [device, entry] = key(order[first]);
    size_t last = first;
    while (last < order.size() && key(order[last]) == std::pair(device, entry))
      ++last;
    if (first == 0 || key(order[first - 1]).first != device)
      persistent = {};
    std::vector<uint32_t> group(order.begin() + int64_t(first), order.begin() + int64_t(last));
    if (entry == kPersistent) {
      for (uint32_t i : group) {
        const Buffer &b = data.buffers[i];
        if (const Held *holder = persistent.find(b.offset, endOf(b)))
          return taken(data, i, holder->buffer, " always");
        persistent.insert(b.offset, {i, endOf(b)});
      }
    } else if (entry == INT32_MAX) { // one launch at a time: they may share bytes
      for (uint32_t i : group)
        if (const Held *holder = persistent.find(data.buffers[i].offset, endOf(data.buffers[i])))
          return taken(data, i, holder->buffer, " always");
    } else {
      const std::vector<bool> discards = discardsPacked(data, data.entries[size_t(entry)]);
      Occupied around = persistent;
      for (uint32_t i = 0; i < data.buffers.size(); ++i)
        if (discards[i] && data.buffers[i].device == device)
          around.erase(data.buffers[i].offset, i);
      for (uint32_t i : group) // inputs are given while packed weights may still be read
        if (const Buffer &b = data.buffers[i]; b.kind == Kind::Input)
          if (const Held *holder = persistent.find(b.offset, endOf(b)))
            return taken(data, i, holder->buffer, " always");
      // And the inputs of the entry that this one prepares.
      if (int32_t prepared = preparedEntry(data, entry); prepared >= 0)
        for (uint32_t i = 0; i < data.buffers.size(); ++i) {
          const Buffer &b = data.buffers[i];
          if (b.device == device && b.entry == prepared &&
              (b.kind == Kind::Input || b.kind == Kind::Scalar))
            around.insert(b.offset, {i, endOf(b)});
        }
      const std::vector<DeviceProgram> &programs = data.entries[size_t(entry)].programs;
      auto program = std::ranges::find(programs, device, &DeviceProgram::device);
      if (program != programs.end())
        LSTMC_TRY(checkEntry(data, around, std::move(group), program->launches));
    }
    first = last;
  }
  return {};
}

} // namespace lstmc::package
