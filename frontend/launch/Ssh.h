// Which hosts answer, and what commands print there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Status.h"

namespace lstmc::launch {

/// For each host, why ssh does not reach it; nothing where it does. All are tried at once, within
/// about 10 s. This machine is not asked.
std::vector<std::optional<std::string>> tryHosts(const std::vector<std::string> &hosts, int port);

/// What a command prints on each host, all at once, by ssh but on this machine. E0801 with ssh's
/// reason or the command's last line of stderr.
std::vector<Result<std::string>> outputsOn(const std::vector<std::string> &hosts, int port,
                                           const std::vector<std::string> &words);

/// What a command prints here; E0801 with its last line of stderr, or as if `program` had failed
/// without a word.
Result<std::string> outputHere(const std::vector<std::string> &words, std::string_view program);

/// A command line that a shell splits into these words.
std::string quotedWords(const std::vector<std::string> &words);

} // namespace lstmc::launch
