// Every loader of the runtime with a small valid file for it, for tests that check the same of all
// loaders.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "executor/base/Status.h"
#include "tests/executor/data/Files.h"

namespace lstmc::test {

struct Loader {
  std::string name;
  std::string path; ///< path of a valid file or folder
  std::function<Status(const std::string &path)> load;
};

/// Writes the files into `folder`.
std::vector<Loader> makeLoaders(const TemporaryFolder &folder);

} // namespace lstmc::test
