#include "executor/session/SharedWeights.h"

#include <algorithm>
#include <cstring>

#include <unistd.h>

#include "executor/abi/EntryNames.h"
#include "executor/abi/Packing.h"
#include "executor/package/Plan.h"

namespace lstmc::session {

namespace {

using package::Kind;
using package::PackageData;

/// By buffer: whether it holds weights that no entry writes which may still run.
std::vector<bool> constantBuffers(const PackageData &data, const std::vector<BoundEntry> &entries) {
  std::vector<bool> constant(data.buffers.size());
  for (size_t i = 0; i < data.buffers.size(); ++i) {
    const package::Buffer &buffer = data.buffers[i];
    constant[i] = buffer.entry == package::kPersistent && buffer.bytes > 0 &&
                  (buffer.kind == Kind::Parameter || buffer.kind == Kind::Auxiliary ||
                   buffer.kind == Kind::Packed);
  }
  for (const BoundEntry &entry : entries) {
    if (!entry.source || writesWeights(entry))
      continue;
    for (const package::DeviceProgram &program : entry.source->programs)
      for (const package::Launch &launch : program.launches)
        for (size_t k = 0; k < launch.operands.size(); ++k)
          if (launch.operands[k].buffer != package::kNoBuffer && package::writes(data, launch, k))
            constant[launch.operands[k].buffer] = false;
  }
  return constant;
}

/// The whole pages inside of [begin, end) of an arena; empty at `end` if there are none.
std::pair<uint64_t, uint64_t> wholePages(const std::byte *arena, uint64_t begin, uint64_t end) {
  const auto page = uint64_t(sysconf(_SC_PAGESIZE)), at = uint64_t(uintptr_t(arena));
  const uint64_t first = (at + begin + page - 1) / page * page, last = (at + end) / page * page;
  return first < last ? std::pair(first - at, last - at) : std::pair(end, end);
}

} // namespace

bool writesWeights(const BoundEntry &entry) {
  return entry.changesParameters || entry.name == package::kInitEntry ||
         entry.name.starts_with(kPreparePrefix);
}

Result<std::shared_ptr<const SharedWeights>>
SharedWeights::take(const PackageData &data, const std::vector<BoundEntry> &entries,
                    const Devices &devices) {
  auto made = std::make_shared<SharedWeights>();
  std::vector<Stretch> &stretches = made->stretches_;
  const std::vector<bool> constant = constantBuffers(data, entries);
  for (size_t i = 0; i < data.buffers.size(); ++i)
    if (const package::Buffer &buffer = data.buffers[i]; constant[i])
      stretches.push_back({buffer.device, buffer.offset, buffer.offset + buffer.bytes});
  std::ranges::sort(stretches, {}, [](const Stretch &s) { return std::pair(s.device, s.begin); });
  size_t count = 0;
  for (const Stretch &next : stretches) {
    Stretch &last = stretches[count - (count > 0)];
    // Between buffers there is at most what aligns the second.
    if (count > 0 && last.device == next.device &&
        next.begin <= uint64_t(roundUp(int64_t(last.end), kAlignment)))
      last.end = std::max(last.end, next.end);
    else
      stretches[count++] = next;
  }
  stretches.erase(stretches.begin() + ptrdiff_t(count), stretches.end());
  for (Stretch &stretch : stretches) {
    std::byte *arena = devices[stretch.device]->arena();
    const auto [first, last] = wholePages(arena, stretch.begin, stretch.end);
    stretch.head.assign(arena + stretch.begin, arena + first);
    stretch.tail.assign(arena + last, arena + stretch.end);
    if (first < last) {
      LSTMC_ASSIGN(stretch.pages, SharedPages::move(arena + first, last - first));
    }
  }
  return std::shared_ptr<const SharedWeights>(std::move(made));
}

Status SharedWeights::giveTo(const Devices &devices) const {
  for (const Stretch &stretch : stretches_) {
    std::byte *arena = devices[stretch.device]->arena();
    std::ranges::copy(stretch.head, arena + stretch.begin);
    std::ranges::copy(stretch.tail, arena + stretch.end - stretch.tail.size());
    if (stretch.pages)
      LSTMC_TRY(stretch.pages->show(arena + stretch.begin + stretch.head.size()));
  }
  return {};
}

} // namespace lstmc::session
