// Reachability of hosts, and output of commands that run there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Status.h"

namespace lstmc::launch {

/// For each host, why ssh cannot reach it; nullopt if it can. All hosts are tried concurrently,
/// within about 10 s. This machine is not tried.
std::vector<std::optional<std::string>> tryHosts(const std::vector<std::string> &hosts, int port);

/// Output of a command on each host, concurrently, by ssh except on this machine. E0801 with ssh's
/// error or the last line of the command's stderr.
std::vector<Result<std::string>> outputsOn(const std::vector<std::string> &hosts, int port,
                                           const std::vector<std::string> &words);

/// Output of a command on this machine; E0801 with the last line of its stderr, or, if that is
/// empty, naming `program`.
Result<std::string> outputHere(const std::vector<std::string> &words, std::string_view program);

/// A command line that a shell splits into these words.
std::string quotedWords(const std::vector<std::string> &words);

} // namespace lstmc::launch
