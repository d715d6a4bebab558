// The command line of lstmc-run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "executor/base/Completion.h"
#include "executor/base/Status.h"

namespace lstmc::run {

struct Arguments {
  std::string model, output, params, entry = "forward", devices;
  std::vector<std::string> inputs;
  int threads = 0;
  uint64_t seed = 0;
  bool checkNan = false, force = false, help = false;
  std::optional<Shell> completion;
};

/// E0001 for a word that is no flag, and for a value that is none of its flag.
Result<Arguments> parseArguments(int count, char **words);

std::string helpText();
/// What completes the words of lstmc-run.
std::string completionOf(Shell shell);

} // namespace lstmc::run
