// Counts pages in a mapping of which only some are used.
#include <cstring>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "executor/base/Pages.h"

namespace lstmc {
namespace {

TEST(Pages, OnlyThoseThatWereUsedAreCounted) {
  const auto page = size_t(::sysconf(_SC_PAGE_SIZE));
  constexpr size_t kPages = 5000; // more than one read covers
  auto *memory = static_cast<char *>(::mmap(nullptr, kPages * page, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  ::madvise(memory, kPages * page, MADV_NOHUGEPAGE);
  EXPECT_EQ(touchedBytes(memory, kPages * page), 0u);
  memory[0] = 1;
  memory[4500 * page] = 1;
  memory[kPages * page - 1] = 1;
  EXPECT_EQ(touchedBytes(memory, kPages * page), 3 * page);
  // For a page that is only partly in the range, the part in the range counts.
  EXPECT_EQ(touchedBytes(memory + 100, page), page - 100);
  EXPECT_EQ(touchedBytes(memory + page, page), 0u);
  ::munmap(memory, kPages * page);
}

TEST(Pages, ThePeakIsThatOfTheProcess) {
  constexpr size_t kBytes = 64 << 20;
  const uint64_t before = peakResidentBytes();
  ASSERT_GT(before, 0u);
  auto *memory = static_cast<char *>(
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, kBytes);
  ::munmap(memory, kBytes);
  EXPECT_GE(peakResidentBytes(), kBytes);
}

} // namespace
} // namespace lstmc
