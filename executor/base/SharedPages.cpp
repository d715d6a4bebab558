#include "executor/base/SharedPages.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

namespace lstmc {

namespace {

Error noMemory(uint64_t bytes) {
  return fail(ErrorCode::E0901, "found no memory for {} bytes of shared weights: {}", bytes,
              std::strerror(errno));
}

} // namespace

Result<std::shared_ptr<const SharedPages>> SharedPages::move(std::byte *at, uint64_t bytes) {
  const int file = memfd_create("lstmc", MFD_CLOEXEC);
  if (file < 0)
    return noMemory(bytes);
  std::shared_ptr<const SharedPages> made(new SharedPages(file, bytes));
  for (uint64_t done = 0; done < bytes;) {
    const ssize_t wrote = pwrite(file, at + done, bytes - done, off_t(done));
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote <= 0)
      return noMemory(bytes);
    done += uint64_t(wrote);
  }
  LSTMC_TRY(made->show(at, 0, bytes));
  return made;
}

SharedPages::~SharedPages() { close(file_); }

Status SharedPages::show(std::byte *at, uint64_t offset, uint64_t bytes) const {
  if (mmap(at, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, file_, off_t(offset)) == MAP_FAILED)
    return noMemory(bytes);
  // Taken where the system allows huge pages in shared memory.
  madvise(at, bytes, MADV_HUGEPAGE);
  return {};
}

Status SharedPages::read(uint64_t offset, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t got = pread(file_, to.data(), to.size(), off_t(offset));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return noMemory(to.size());
    offset += uint64_t(got);
    to = to.subspan(size_t(got));
  }
  return {};
}

} // namespace lstmc
