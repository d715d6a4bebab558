#include "backends/cuda/emulated/OrderCheck.h"

#include <algorithm>

namespace lstmc::cuda {

size_t OrderCheck::newStream() {
  known_.push_back(host_);
  return known_.size() - 1;
}

size_t OrderCheck::newEvent() {
  recorded_.emplace_back();
  return recorded_.size() - 1;
}

std::optional<std::string> OrderCheck::add(size_t stream, std::string what,
                                           std::span<const MemoryUse> uses) {
  Clock &known = known_[stream];
  merge(known, host_);
  known.resize(std::max(known.size(), stream + 1));
  Operation added{stream, ++known[stream], std::move(what), {}};
  for (const MemoryUse &use : uses)
    added.uses.push_back({use.begin, use.bytes, use.writes, std::string(use.name)});

  std::optional<std::string> conflict;
  for (const Operation &other : open_) {
    if (conflict || other.number <= at(known, other.stream))
      continue;
    for (const Use &a : added.uses)
      for (const Use &b : other.uses)
        if ((a.writes || b.writes) && a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes)
          conflict = fmt::format("{} on stream {} {} bytes ({}) that {} on stream {} {} ({}), and "
                                 "no event orders the two",
                                 added.what, stream, a.writes ? "writes" : "reads", a.name,
                                 other.what, other.stream, b.writes ? "writes" : "reads", b.name);
  }
  open_.push_back(std::move(added));
  return conflict;
}

void OrderCheck::synchronized(size_t stream) {
  merge(host_, known_[stream]);
  std::erase_if(open_, [&](const Operation &operation) {
    return operation.number <= at(host_, operation.stream);
  });
}

void OrderCheck::merge(Clock &clock, const Clock &other) {
  clock.resize(std::max(clock.size(), other.size()));
  for (size_t i = 0; i < other.size(); ++i)
    clock[i] = std::max(clock[i], other[i]);
}

} // namespace lstmc::cuda
