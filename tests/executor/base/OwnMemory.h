// How much memory a test has taken.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace lstmc::test {

/// Bytes of heap, stacks and arenas of this process, counted page by page. Pages of files are left
/// out, which come and go as the system likes; and the counters of /proc/self/statm are late by
/// some pages for each processor. 0 if the system does not say.
inline int64_t ownBytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string word; file >> word;)
    if (word == "Anonymous:") {
      int64_t kibibytes = 0;
      file >> kibibytes;
      return kibibytes << 10;
    }
  return 0;
}

} // namespace lstmc::test
