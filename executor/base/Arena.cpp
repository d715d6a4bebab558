#include "executor/base/Arena.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "executor/abi/Packing.h"
#include "executor/base/Poison.h"
#include "executor/base/SafeSize.h"

namespace lstmc {

namespace {

constexpr uint64_t kHugePage = uint64_t(2) << 20;

/// Reserves `bytes` between two guards of `guard` bytes, aligned to `alignment`. The guards can be
/// neither read nor written. Null if the system has no memory.
std::byte *reserve(uint64_t bytes, uint64_t guard, uint64_t alignment, void *&mapping,
                   size_t &mapped) {
  mapped = bytes + 2 * guard + (alignment > guard ? alignment : 0);
  mapping = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    mapping = nullptr;
    return nullptr;
  }
  const uintptr_t start = reinterpret_cast<uintptr_t>(mapping);
  const uintptr_t at = (start + guard + alignment - 1) / alignment * alignment;
  auto *data = static_cast<std::byte *>(mapping) + (at - start);
  return mprotect(data, bytes, PROT_READ | PROT_WRITE) == 0 ? data : nullptr;
}

} // namespace

Arena &Arena::operator=(Arena &&other) noexcept {
  std::swap(source_, other.source_);
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(peakBytes_, other.peakBytes_);
  return *this;
}

Status Arena::allocate(uint64_t bytes, std::string_view owner) {
  release();
  if (source_.allocate)
    return allocateFromSource(bytes, owner);
  const bool huge = bytes >= kHugePage;
  const auto page = uint64_t(sysconf(_SC_PAGESIZE));
  // At least one page, so that data() is never null.
  const SafeSize used = roundUp(SafeSize(std::max<uint64_t>(bytes, kAlignment)), kAlignment),
                 pages = roundUp(used, int64_t(page));
  const bool fits = (pages + SafeSize(2 * page + kHugePage)).value().has_value();
  std::byte *first = nullptr;
  if (fits)
    first = reserve(*pages.value(), page, huge ? kHugePage : page, mapping_, mapped_);
  if (!first) {
    const int reason = errno;
    release();
    return fail(ErrorCode::E0901, "{}: found no memory for an arena of {} bytes: {}", owner, bytes,
                fits ? std::strerror(reason) : "the size does not fit in 63 bits");
  }
  // A small arena ends where the guard begins; a large one begins at a huge page.
  data_ = huge ? first : first + (*pages.value() - *used.value());
  if (huge)
    madvise(data_, bytes, MADV_HUGEPAGE);
  bytes_ = bytes;
  peakBytes_ = std::max(peakBytes_, bytes);
  return {};
}

Status Arena::allocateFromSource(uint64_t bytes, std::string_view owner) {
  const std::optional<uint64_t> size =
      roundUp(SafeSize(std::max<uint64_t>(bytes, kAlignment)), kAlignment).value();
  void *memory = size ? source_.allocate(source_.user, *size, kAlignment) : nullptr;
  if (!memory)
    return fail(ErrorCode::E0901, "{}: the program's allocator gave no memory for {} bytes", owner,
                bytes);
  mapping_ = memory;
  mapped_ = *size;
  if (reinterpret_cast<uintptr_t>(memory) % kAlignment != 0) {
    release();
    return fail(ErrorCode::E0901,
                "{}: the program's allocator gave memory that is not aligned to {} bytes", owner,
                kAlignment);
  }
  std::memset(memory, 0, mapped_);
  data_ = static_cast<std::byte *>(memory);
  bytes_ = bytes;
  peakBytes_ = std::max(peakBytes_, bytes);
  return {};
}

void Arena::release() {
  if (mapping_) {
    unpoison(mapping_, mapped_);
    if (source_.allocate)
      source_.release(source_.user, mapping_, mapped_);
    else
      munmap(mapping_, mapped_);
  }
  mapping_ = nullptr;
  data_ = nullptr;
  mapped_ = 0;
  bytes_ = 0;
}

} // namespace lstmc
