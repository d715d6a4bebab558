#include "executor/base/Pages.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace lstmc {

namespace {

/// Pages per read.
constexpr size_t kMostPages = 4096;

/// Says for each page whether it is resident or swapped out.
class PageMap {
public:
  PageMap() : file_(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}
  ~PageMap() {
    if (file_ >= 0)
      ::close(file_);
  }
  PageMap(const PageMap &) = delete;
  PageMap &operator=(const PageMap &) = delete;

  /// Indexed by page; false if the state is unknown.
  bool read(uintptr_t first, size_t count, std::vector<bool> &touched) {
    touched.assign(count, false);
    entries_.resize(count);
    auto bytes = ssize_t(count * sizeof(uint64_t));
    if (file_ >= 0 &&
        ::pread(file_, entries_.data(), size_t(bytes), off_t(first * sizeof(uint64_t))) == bytes) {
      for (size_t i = 0; i < count; ++i)
        touched[i] = entries_[i] >> 62 != 0; // present, or swapped
      return true;
    }
    // Fallback without /proc; it does not see swapped pages.
    states_.resize(count);
    auto page = uintptr_t(::sysconf(_SC_PAGE_SIZE));
    // NOLINTNEXTLINE(performance-no-int-to-ptr): pages are numbers
    if (::mincore(reinterpret_cast<void *>(first * page), count * page, states_.data()) != 0)
      return false;
    for (size_t i = 0; i < count; ++i)
      touched[i] = states_[i] & 1;
    return true;
  }

private:
  int file_;
  std::vector<uint64_t> entries_;
  std::vector<unsigned char> states_;
};

} // namespace

uint64_t touchedBytes(const void *begin, uint64_t bytes) {
  if (bytes == 0)
    return 0;
  auto page = uintptr_t(::sysconf(_SC_PAGE_SIZE)), from = reinterpret_cast<uintptr_t>(begin),
       to = from + bytes;
  uint64_t sum = 0;
  PageMap map;
  std::vector<bool> touched;
  for (uintptr_t at = from / page, end = (to + page - 1) / page; at < end; at += touched.size()) {
    if (!map.read(at, std::min<size_t>(kMostPages, end - at), touched))
      return 0;
    for (size_t i = 0; i < touched.size(); ++i)
      if (touched[i])
        sum += std::min(to, (at + i + 1) * page) - std::max(from, (at + i) * page);
  }
  return sum;
}

uint64_t peakResidentBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    unsigned long long kibibytes = 0;
    if (std::sscanf(line.c_str(), "VmHWM: %llu kB", &kibibytes) == 1)
      return uint64_t(kibibytes) << 10;
  }
  return 0;
}

} // namespace lstmc
