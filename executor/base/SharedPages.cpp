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
  LSTMC_TRY(made->show(at));
  return made;
}

SharedPages::~SharedPages() { close(file_); }

Status SharedPages::show(std::byte *at) const {
  if (mmap(at, bytes_, PROT_READ, MAP_SHARED | MAP_FIXED, file_, 0) == MAP_FAILED)
    return noMemory(bytes_);
  // Taken where the system allows huge pages in shared memory.
  madvise(at, bytes_, MADV_HUGEPAGE);
  return {};
}

} // namespace lstmc
