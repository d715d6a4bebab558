#include "executor/base/Arena.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/mman.h>

#include "executor/abi/Packing.h"
#include "executor/base/SafeSize.h"

namespace lstmc {

namespace {
constexpr size_t kHugePage = size_t(2) << 20;
} // namespace

Arena &Arena::operator=(Arena &&other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(peakBytes_, other.peakBytes_);
  return *this;
}

Status Arena::allocate(uint64_t bytes, std::string_view owner) {
  release();
  bool huge = bytes >= kHugePage;
  // A page starts on a border of kAlignment; at least one is mapped, so that data() is never null.
  std::optional<uint64_t> size =
      (SafeSize(std::max<uint64_t>(bytes, kAlignment)) + SafeSize(huge ? kHugePage : 0)).value();
  void *memory = size ? mmap(nullptr, *size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                      : MAP_FAILED;
  if (memory == MAP_FAILED)
    return fail(ErrorCode::E0901, "{}: found no memory for an arena of {} bytes: {}", owner, bytes,
                size ? std::strerror(errno) : "the size does not fit in 63 bits");
  mapping_ = memory;
  mapped_ = *size;
  auto at = reinterpret_cast<uintptr_t>(memory);
  if (huge)
    at = (at + kHugePage - 1) / kHugePage * kHugePage;
  data_ = reinterpret_cast<std::byte *>(at);
  if (huge)
    madvise(data_, bytes, MADV_HUGEPAGE);
  bytes_ = bytes;
  peakBytes_ = std::max(peakBytes_, bytes);
  return {};
}

void Arena::release() {
  if (mapping_)
    munmap(mapping_, mapped_);
  mapping_ = nullptr;
  data_ = nullptr;
  mapped_ = 0;
  bytes_ = 0;
}

} // namespace lstmc
