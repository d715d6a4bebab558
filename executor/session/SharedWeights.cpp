#include "executor/session/SharedWeights.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include <unistd.h>

#include "executor/abi/EntryNames.h"
#include "executor/abi/Packing.h"
#include "executor/base/Hash.h"
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

uint64_t pageBytes() { return uint64_t(sysconf(_SC_PAGESIZE)); }

/// The whole pages inside of [begin, end) of an arena; empty at `end` if there are none.
std::pair<uint64_t, uint64_t> wholePages(const std::byte *arena, uint64_t begin, uint64_t end) {
  const uint64_t page = pageBytes(), at = uint64_t(uintptr_t(arena));
  const uint64_t first = (at + begin + page - 1) / page * page, last = (at + end) / page * page;
  return first < last ? std::pair(first - at, last - at) : std::pair(end, end);
}

} // namespace

bool writesWeights(const BoundEntry &entry) {
  return entry.changesParameters || entry.name == package::kInitEntry ||
         entry.name.starts_with(kPreparePrefix);
}

/// Finds pages of other weights by their contents.
class SharedWeights::EqualPages {
public:
  static Result<EqualPages> of(const SharedWeights *weights) {
    EqualPages made;
    if (!weights)
      return made;
    for (const Stretch &stretch : weights->stretches_)
      for (const Run &run : stretch.runs)
        for (uint64_t at = 0; at < run.bytes; at += made.page_.size()) {
          LSTMC_TRY(run.pages->read(run.offset + at, made.page_));
          made.places_.try_emplace(hashBytes(made.page_.data(), made.page_.size()),
                                   Place{run.pages, run.offset + at});
        }
    return made;
  }

  /// The pages at `at`, of `bytes` bytes, as runs of equal pages where these are long enough to be
  /// worth a mapping, and as new ones between them; `begin` is where they are in the arena. The
  /// arena then shows them.
  Result<std::vector<Run>> replace(std::byte *at, uint64_t begin, uint64_t bytes) {
    constexpr uint64_t kLeastPages = 16;
    const uint64_t page = page_.size();
    std::vector<Run> runs;
    uint64_t done = 0; // up to here the runs go
    auto addNew = [&](uint64_t end) -> Status {
      if (done == end)
        return {};
      LSTMC_ASSIGN(auto pages, SharedPages::move(at + done, end - done));
      runs.push_back({begin + done, end - done, std::move(pages), 0});
      done = end;
      return {};
    };
    for (uint64_t i = 0; i < bytes;) {
      const auto place = places_.find(hashBytes(at + i, page));
      uint64_t length = 0;
      if (place != places_.end())
        LSTMC_TRY(equalBytes(place->second, at + i, bytes - i, length));
      if (length < kLeastPages * page) {
        i += std::max(page, length);
        continue;
      }
      LSTMC_TRY(addNew(i));
      const Place &found = place->second;
      LSTMC_TRY(found.pages->show(at + i, found.offset, length));
      runs.push_back({begin + i, length, found.pages, found.offset});
      done = i += length;
    }
    LSTMC_TRY(addNew(bytes));
    return runs;
  }

private:
  struct Place {
    std::shared_ptr<const SharedPages> pages;
    uint64_t offset;
  };

  /// How many bytes are equal, in whole pages.
  Status equalBytes(const Place &place, const std::byte *at, uint64_t most, uint64_t &equal) {
    most = std::min(most, place.pages->bytes() - place.offset);
    for (equal = 0; equal < most; equal += page_.size()) {
      LSTMC_TRY(place.pages->read(place.offset + equal, page_));
      if (std::memcmp(page_.data(), at + equal, page_.size()) != 0)
        break;
    }
    return {};
  }

  std::unordered_map<uint64_t, Place> places_; ///< by the hash of a page's contents
  std::vector<std::byte> page_ = std::vector<std::byte>(pageBytes());
};

Result<SharedWeights::Pointer> SharedWeights::take(const PackageData &data,
                                                   const std::vector<BoundEntry> &entries,
                                                   const Devices &devices,
                                                   const SharedWeights *like) {
  LSTMC_ASSIGN(EqualPages equal, EqualPages::of(like));
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
    LSTMC_ASSIGN(stretch.runs, equal.replace(arena + first, first, last - first));
  }
  return Pointer(std::move(made));
}

Status SharedWeights::giveTo(const Devices &devices) const {
  for (const Stretch &stretch : stretches_) {
    std::byte *arena = devices[stretch.device]->arena();
    std::ranges::copy(stretch.head, arena + stretch.begin);
    std::ranges::copy(stretch.tail, arena + stretch.end - stretch.tail.size());
    for (const Run &run : stretch.runs)
      LSTMC_TRY(run.pages->show(arena + run.begin, run.offset, run.bytes));
  }
  return {};
}

Result<SharedWeights::Pointer>
SharedWeights::variant(const package::Package::Pointer &package, const std::vector<bool> &selected,
                       const std::function<Result<Pointer>()> &make) const {
  std::lock_guard lock(variantsMutex_);
  std::erase_if(variants_, [](const Variant &variant) { return variant.weights.expired(); });
  for (const Variant &variant : variants_)
    if (Pointer weights = variant.weights.lock();
        weights && variant.package.lock() == package && variant.selected == selected)
      return weights;
  LSTMC_ASSIGN(Pointer made, make());
  variants_.push_back({package, selected, made});
  return made;
}

} // namespace lstmc::session
