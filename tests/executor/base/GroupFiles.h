// A machine's files of control groups in a folder, as a process sees them.
#pragma once

#include <filesystem>
#include <string>

#include "tests/executor/data/Files.h"

namespace lstmc::test {

class GroupFiles {
public:
  void write(const std::string &file, const std::string &text) {
    const std::filesystem::path path = folder_ / file;
    std::filesystem::create_directories(path.parent_path());
    writeText(path.string(), text);
  }
  std::string at(const std::string &file) { return folder_ / file; }

private:
  TemporaryFolder folder_;
};

} // namespace lstmc::test
