#include "executor/device/MemoryRange.h"

#include <cassert>
#include <cstring>

#include "executor/device/AsyncCopier.h"

namespace lstmc {

void MemoryRange::read(uint64_t begin, std::span<std::byte> to) const {
  assert(begin + to.size() <= size_);
  if (to.empty())
    return;
  if (host_)
    std::memcpy(to.data(), host_ + begin, to.size());
  else
    device_->copyOut(offset_ + begin, to);
}

void MemoryRange::beginRead(uint64_t begin, std::span<std::byte> to) const {
  auto *copier = host_ ? nullptr : dynamic_cast<AsyncCopier *>(device_);
  if (copier)
    copier->copyBack(offset_ + begin, to);
  else
    read(begin, to);
}

void MemoryRange::endRead() const {
  if (auto *copier = host_ ? nullptr : dynamic_cast<AsyncCopier *>(device_))
    copier->awaitBack();
}

void MemoryRange::write(uint64_t begin, std::span<const std::byte> from) const {
  assert(begin + from.size() <= size_);
  if (from.empty())
    return;
  if (host_)
    std::memmove(host_ + begin, from.data(), from.size()); // may be a view of the same memory
  else
    device_->copyIn(offset_ + begin, from);
}

void MemoryRange::clear() const {
  if (size_ == 0)
    return;
  if (host_)
    std::memset(host_, 0, size_);
  else
    device_->clear(offset_, size_);
}

} // namespace lstmc
