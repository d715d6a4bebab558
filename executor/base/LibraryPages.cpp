#include "executor/base/LibraryPages.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace lstmc {

namespace {

std::atomic<bool> isOwn{false};

constexpr uint64_t kLarge = uint64_t(8) << 20; ///< bytes of a segment

/// Segments that nothing writes: relocations and data are elsewhere, and would be lost.
bool isLargeAndConstant(const ElfW(Phdr) & segment) {
  return segment.p_type == PT_LOAD && !(segment.p_flags & PF_W) && segment.p_memsz >= kLarge;
}

/// Keeps the pages of the program itself: kernels are in them.
int release(dl_phdr_info *library, size_t, void *) {
  if (!library->dlpi_name || !*library->dlpi_name)
    return 0;
  const auto page = uint64_t(::sysconf(_SC_PAGE_SIZE));
  for (size_t i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = library->dlpi_phdr[i];
    if (!isLargeAndConstant(segment))
      continue;
    const uint64_t begin = library->dlpi_addr + segment.p_vaddr, end = begin + segment.p_memsz;
    const uint64_t first = (begin + page - 1) / page * page, last = end / page * page;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): pages are numbers
    (void)::madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
  }
  return 0;
}

} // namespace

void ownLibraryPages() { isOwn = true; }

void releaseLibraryPages() {
  if (isOwn)
    dl_iterate_phdr(release, nullptr);
}

} // namespace lstmc
