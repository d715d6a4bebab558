#include "executor/device/Fence.h"

#include <algorithm>
#include <mutex>

#include "executor/abi/Hull.h"

namespace lstmc {

namespace {

/// What devices read of each other's arenas.
std::mutex sharedMutex;
std::vector<Fence::Bytes> shared;

/// From the least byte that a view touches to the one after the last.
Fence::Bytes bytesOf(const Tensor &view) {
  const Hull hull = *hullOf(std::span(view.shape).first(size_t(view.rank)),
                            std::span(view.strides).first(size_t(view.rank)));
  const auto *first = static_cast<const std::byte *>(view.data);
  const auto size = int64_t(dtypeBytes(view.dtype));
  return {first + hull.low * size, first + (hull.high + 1) * size};
}

bool meet(const Fence::Bytes &a, const Fence::Bytes &b) {
  return a.first < b.second && b.first < a.second;
}

} // namespace

Fence::Fence(const std::vector<LaunchSpec> &launches, Bytes arena) : arena_(arena) {
  if constexpr (!kPoisons)
    return;
  operands_.resize(launches.size());
  for (size_t i = 0; i < launches.size(); ++i)
    for (const Tensor &operand : launches[i].operands) {
      if (!operand || operand.elements() == 0)
        continue;
      Bytes bytes = bytesOf(operand);
      (meet(bytes, arena_) ? operands_[i] : elsewhere_).push_back(bytes);
    }
  std::lock_guard lock(sharedMutex);
  shared.insert(shared.end(), elsewhere_.begin(), elsewhere_.end());
}

Fence::~Fence() {
  std::lock_guard lock(sharedMutex);
  for (const Bytes &bytes : elsewhere_)
    shared.erase(std::ranges::find(shared, bytes));
}

void Fence::enter(size_t launch) const {
  if constexpr (!kPoisons)
    return;
  std::vector<Bytes> open = operands_[launch];
  {
    std::lock_guard lock(sharedMutex);
    std::ranges::copy_if(shared, std::back_inserter(open),
                         [&](const Bytes &bytes) { return meet(bytes, arena_); });
  }
  std::ranges::sort(open);
  const std::byte *at = arena_.first;
  for (auto [from, to] : open) {
    if (from > at)
      poison(at, size_t(from - at));
    at = std::max(at, to);
  }
  if (arena_.second > at)
    poison(at, size_t(arena_.second - at));
  for (auto [from, to] : open)
    unpoison(from, size_t(to - from));
}

void Fence::leave() const {
  if constexpr (kPoisons)
    unpoison(arena_.first, size_t(arena_.second - arena_.first));
}

} // namespace lstmc
