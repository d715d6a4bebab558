#include "executor/package/Streams.h"

#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "executor/abi/Streams.h"

namespace lstmc::package {

namespace {

/// Per stream: how many launches of the list, counted from its begin, are done as far as they are
/// on that stream.
using Clock = std::array<uint32_t, kMaxStreams>;

void merge(Clock &into, const Clock &other) {
  for (size_t s = 0; s < into.size(); ++s)
    into[s] = std::max(into[s], other[s]);
}

/// Of each launch, what is done when it begins.
class Clocks {
public:
  Clocks(const std::vector<StreamPlace> &launches, uint32_t commit)
      : launches_(launches), commit_(commit), recordedBy_(launches.size(), kNobody) {}

  std::optional<StreamFault> run() {
    for (uint32_t i = 0; i < launches_.size(); ++i)
      if (auto fault = add(i))
        return fault;
    return std::nullopt;
  }
  uint32_t at(uint32_t launch, size_t stream) const { return clocks_[launch][stream]; }

private:
  static constexpr uint32_t kNobody = ~uint32_t(0);

  static StreamFault fault(uint32_t launch, std::string field, std::string text) {
    return {launch, std::move(field), std::move(text)};
  }

  std::optional<StreamFault> add(uint32_t i) {
    const StreamPlace &launch = launches_[i];
    if (launch.stream >= kMaxStreams)
      return fault(i, "stream", fmt::format("found {}, want below {}", launch.stream, kMaxStreams));
    if (launch.transfer && launch.stream != 0)
      return fault(i, "stream", fmt::format("found {} of a transfer, want 0", launch.stream));
    if (i == commit_)
      for (Clock &tail : tails_)
        tail.fill(i);
    Clock clock = tails_[launch.stream];
    for (size_t k = 0; k < launch.waits.size(); ++k) {
      const uint32_t event = launch.waits[k];
      const uint32_t by = event < recordedBy_.size() ? recordedBy_[event] : kNobody;
      const std::string field = fmt::format("waits[{}]", k);
      if (by == kNobody)
        return fault(i, field,
                     fmt::format("found event {}, want one that a launch before records", event));
      if (launches_[by].stream == launch.stream || (by < commit_) != (i < commit_))
        return fault(i, field,
                     fmt::format("found event {} of launches[{}], want one of another stream, on "
                                 "the same side of `commit`",
                                 event, by));
      merge(clock, clocks_[by]);
      clock[launches_[by].stream] = std::max(clock[launches_[by].stream], by + 1);
    }
    clocks_.push_back(clock);
    tails_[launch.stream] = clock;
    tails_[launch.stream][launch.stream] = i + 1;
    if (launch.event == -1)
      return std::nullopt;
    if (launch.event < -1 || size_t(launch.event) >= launches_.size())
      return fault(i, "event",
                   fmt::format("found {}, want -1 to {}", launch.event, launches_.size() - 1));
    if (recordedBy_[size_t(launch.event)] != kNobody)
      return fault(i, "event", fmt::format("found {} again, want it once", launch.event));
    recordedBy_[size_t(launch.event)] = i;
    return std::nullopt;
  }

  const std::vector<StreamPlace> &launches_;
  const uint32_t commit_;
  std::vector<uint32_t> recordedBy_; ///< by event: the launch
  std::vector<Clock> clocks_;
  std::array<Clock, kMaxStreams> tails_{}; ///< of each stream: when its last launch is done
};

/// Over ranges of bytes: the last launch that touched any of them. Launches come in order.
class LastTouch {
public:
  explicit LastTouch(size_t leaves)
      : leaves_(std::bit_ceil(std::max<size_t>(leaves, 1))), best_(2 * leaves_),
        whole_(2 * leaves_) {}

  /// One more than the last launch that touched one of [from, to); 0: none.
  uint32_t find(size_t from, size_t to) const { return find(1, 0, leaves_, from, to); }
  void touch(size_t from, size_t to, uint32_t launch) {
    touch(1, 0, leaves_, from, to, launch + 1);
  }

private:
  uint32_t find(size_t node, size_t low, size_t high, size_t from, size_t to) const {
    if (to <= low || high <= from)
      return 0;
    if (from <= low && high <= to)
      return best_[node];
    const size_t middle = (low + high) / 2;
    return std::max({whole_[node], find(2 * node, low, middle, from, to),
                     find(2 * node + 1, middle, high, from, to)});
  }
  void touch(size_t node, size_t low, size_t high, size_t from, size_t to, uint32_t value) {
    if (to <= low || high <= from)
      return;
    best_[node] = value;
    if (from <= low && high <= to) {
      whole_[node] = value;
      return;
    }
    const size_t middle = (low + high) / 2;
    touch(2 * node, low, middle, from, to, value);
    touch(2 * node + 1, middle, high, from, to, value);
  }

  size_t leaves_;
  std::vector<uint32_t> best_;  ///< of a node: of any of its bytes
  std::vector<uint32_t> whole_; ///< by a touch of all of them
};

/// The pair of launches with the least second one that is not ordered.
class Unordered {
public:
  Unordered(const std::vector<StreamPlace> &launches, const std::vector<ByteAccess> &accesses,
            const Clocks &clocks)
      : launches_(launches), accesses_(accesses), clocks_(clocks) {
    for (const ByteAccess &access : accesses)
      boundaries_.insert(boundaries_.end(), {access.begin, access.end});
    std::ranges::sort(boundaries_);
    boundaries_.erase(std::unique(boundaries_.begin(), boundaries_.end()), boundaries_.end());
  }

  std::optional<StreamFault> run() {
    uint32_t streams = 0;
    for (const StreamPlace &launch : launches_)
      streams = std::max(streams, launch.stream + 1);
    for (uint32_t stream = 0; stream < streams; ++stream)
      lookFor(stream);
    if (!found_)
      return std::nullopt;
    auto [launch, earlier] = *found_;
    return StreamFault{launch, "waits",
                       fmt::format("found none that orders it after launches[{}], which is on "
                                   "stream {} and touches bytes that this one does too, want one",
                                   earlier, launches_[earlier].stream)};
  }

private:
  /// What it takes of launches of that stream is done.
  void lookFor(uint32_t stream) {
    LastTouch reads(boundaries_.size()), writes(boundaries_.size());
    for (size_t first = 0; first < accesses_.size();) {
      const uint32_t launch = accesses_[first].launch;
      size_t last = first;
      while (last < accesses_.size() && accesses_[last].launch == launch)
        ++last;
      if (found_ && found_->first <= launch)
        return;
      for (size_t i = first; i < last; ++i) {
        const ByteAccess &access = accesses_[i];
        uint32_t other = writes.find(index(access.begin), index(access.end));
        if (access.writes)
          other = std::max(other, reads.find(index(access.begin), index(access.end)));
        if (other > clocks_.at(launch, stream)) {
          found_ = {launch, other - 1};
          return;
        }
      }
      if (launches_[launch].stream == stream)
        for (size_t i = first; i < last; ++i)
          (accesses_[i].writes ? writes : reads)
              .touch(index(accesses_[i].begin), index(accesses_[i].end), launch);
      first = last;
    }
  }

  size_t index(uint64_t boundary) const {
    return size_t(std::ranges::lower_bound(boundaries_, boundary) - boundaries_.begin());
  }

  const std::vector<StreamPlace> &launches_;
  const std::vector<ByteAccess> &accesses_;
  const Clocks &clocks_;
  std::vector<uint64_t> boundaries_;
  std::optional<std::pair<uint32_t, uint32_t>> found_; ///< a launch and an earlier one
};

} // namespace

std::optional<StreamFault> findStreamFault(const std::vector<StreamPlace> &launches,
                                           uint32_t commit,
                                           const std::vector<ByteAccess> &accesses) {
  if (std::ranges::all_of(launches, &StreamPlace::plain))
    return std::nullopt;
  if (accesses.size() > kMaxStreamedOperands)
    return StreamFault{accesses[kMaxStreamedOperands].launch, "operands",
                       fmt::format("found {} in a program of several streams, want at most {}",
                                   accesses.size(), kMaxStreamedOperands)};
  Clocks clocks(launches, commit);
  if (auto fault = clocks.run())
    return fault;
  return Unordered(launches, accesses, clocks).run();
}

} // namespace lstmc::package
