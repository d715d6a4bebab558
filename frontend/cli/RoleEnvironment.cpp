#include "frontend/cli/RoleEnvironment.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "frontend/driver/Ranks.h"

namespace lstmc::cli {

namespace {

constexpr const char *kOfWorkers = "LSTMC_ENV_WORKER", *kOfServers = "LSTMC_ENV_SERVER";
/// Between variables; a value has none.
constexpr char kSeparator = '\x1f';

Result<std::pair<std::string, std::string>> split(const std::string &text, const char *flag) {
  const size_t at = text.find_first_of(":=");
  if (at == 0 || at == std::string::npos)
    return fail(ErrorCode::E0001, "--{} takes NAME:VALUE, got \"{}\"", flag, text);
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

Status take(const std::vector<std::string> &texts, const char *flag, const char *variable,
            launch::Start &start) {
  std::string all;
  for (const std::string &text : texts) {
    LSTMC_ASSIGN(auto both, split(text, flag));
    all += both.first + "=" + both.second + kSeparator;
  }
  if (!all.empty())
    start.environment[variable] = all;
  return {};
}

/// The words of this process, as it was started; none where there is no /proc.
std::vector<std::string> ownWords() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> words;
  for (size_t begin = 0; begin < all.size(); begin += words.back().size() + 1)
    words.emplace_back(all.c_str() + begin);
  return words;
}

} // namespace

Status setRoleEnvironment(const std::vector<std::string> &ofWorkers,
                          const std::vector<std::string> &ofServers, launch::Start &start) {
  start.environment.erase(kOfWorkers);
  start.environment.erase(kOfServers);
  if (start.environment.contains("LSTMC_SERVERS")) {
    LSTMC_TRY(take(ofWorkers, "env-worker", kOfWorkers, start));
    return take(ofServers, "env-server", kOfServers, start);
  }
  for (const std::string &text : ofWorkers) { // all ranks are workers
    LSTMC_ASSIGN(auto both, split(text, "env-worker"));
    start.environment[both.first] = both.second;
  }
  return {};
}

void takeRoleEnvironment() {
  const char *text = std::getenv(isServerRank() ? kOfServers : kOfWorkers);
  const std::string own = text ? text : "";
  ::unsetenv(kOfWorkers);
  ::unsetenv(kOfServers);
  if (own.empty())
    return;
  for (std::string_view left = own; !left.empty();) {
    const std::string variable(left.substr(0, left.find(kSeparator)));
    left.remove_prefix(variable.size() + 1);
    const size_t equal = variable.find('=');
    ::setenv(variable.substr(0, equal).c_str(), variable.c_str() + equal + 1, 1);
  }
  // Libraries and their loader read some of them before a program begins.
  std::vector<std::string> words = ownWords();
  if (words.empty())
    return;
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv("/proc/self/exe", arguments.data());
}

} // namespace lstmc::cli
