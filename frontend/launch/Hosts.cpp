#include "frontend/launch/Hosts.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "executor/base/InputFile.h"
#include "executor/base/ParseNumber.h"

namespace lstmc::launch {

namespace {

std::optional<int> numberIn(std::string_view text, int most) {
  std::optional<int> value = parseNumber<int>(text);
  return value && *value >= 1 && *value <= most ? value : std::nullopt;
}

/// A host name is passed to ssh as one word of its command line, so it must not look like an
/// option.
bool isName(std::string_view text) {
  auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  };
  return !text.empty() && text[0] != '-' && std::ranges::all_of(text, fits);
}

Result<Host> readHost(std::string_view text, const Place &place, ErrorCode code) {
  Host host;
  const size_t colon = std::min(text.find(':'), text.size());
  host.name = text.substr(0, colon);
  if (!isName(host.name))
    return failAt(place, code,
                  "host: found \"{}\", want a name or an IPv4 address of letters, digits, . - _",
                  host.name);
  if (colon == text.size())
    return host;
  const std::optional<int> port = numberIn(text.substr(colon + 1), 65535);
  if (!port)
    return failAt(place, code, "port of host {}: found \"{}\", want 1 to 65535", host.name,
                  text.substr(colon + 1));
  host.port = *port;
  return host;
}

Result<std::vector<Host>> readFileOfHosts(const std::string &file) {
  LSTMC_ASSIGN(Bytes bytes, readFile(file));
  std::istringstream lines{std::string(asText(bytes))};
  std::vector<Host> hosts;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const Place place{file, ++number, 1};
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word))
      continue;
    LSTMC_ASSIGN(Host host, readHost(word, place, ErrorCode::E0604));
    while (words >> word) {
      const bool slots = word.starts_with("slots=");
      const std::optional<int> count =
          slots ? numberIn(std::string_view(word).substr(6), 1024) : std::nullopt;
      if (!count)
        return failAt(place, ErrorCode::E0604,
                      "host {}: found \"{}\", want slots=N with N from 1 to 1024", host.name, word);
      host.slots = *count;
    }
    hosts.push_back(host);
  }
  if (hosts.empty())
    return failAt({file}, ErrorCode::E0604, "hosts: found none, want one a line");
  return hosts;
}

} // namespace

Result<std::vector<Host>> readHosts(const std::string &fileOrList) {
  std::error_code error;
  if (std::filesystem::exists(fileOrList, error))
    return readFileOfHosts(fileOrList);
  std::vector<Host> hosts;
  for (std::string_view left = fileOrList; !left.empty();) {
    const size_t comma = std::min(left.find(','), left.size());
    LSTMC_ASSIGN(Host host, readHost(left.substr(0, comma), {}, ErrorCode::E0001));
    hosts.push_back(host);
    left.remove_prefix(std::min(comma + 1, left.size()));
  }
  if (hosts.empty())
    return fail(ErrorCode::E0001, "--hosts takes a file or a list such as a,b:2222, got \"\"");
  return hosts;
}

int slotsOf(const std::vector<Host> &hosts) {
  int slots = 0;
  for (const Host &host : hosts)
    slots += host.slots;
  return slots;
}

std::vector<std::string> hostsOfRanks(const std::vector<Host> &hosts, int ranks) {
  std::vector<std::string> names;
  while (int(names.size()) < ranks)
    for (const Host &host : hosts)
      for (int slot = 0; slot < host.slots && int(names.size()) < ranks; ++slot)
        names.push_back(host.name);
  return names;
}

} // namespace lstmc::launch
