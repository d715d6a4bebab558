#include "frontend/cli/AutoRanks.h"

#include <algorithm>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "executor/abi/Devices.h"
#include "executor/base/OwnProgram.h"
#include "executor/device/DeviceKinds.h"
#include "frontend/launch/Network.h"
#include "frontend/launch/Ssh.h"

namespace lstmc::cli {

namespace {

constexpr const char *kHere = "localhost";

struct Answer {
  int gpus = 0;
  std::string missing; ///< why there are none
};

/// Of `lstmc devices --all --json` on a host.
Result<Answer> readAnswer(const std::string &host, const std::string &text, DeviceKind kind) {
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  if (!document.is_object() || document.value("schema", "") != "lstmc.devices/1")
    return fail(ErrorCode::E0801, "host {} has an lstmc whose `devices` cannot be read", host);
  Answer answer;
  const KindFacts &facts = factsOf(kind);
  const std::string prefix = fmt::format("{}:", facts.name);
  for (const nlohmann::json &device : document["devices"])
    if (device.value("name", "").starts_with(prefix))
      answer.gpus += device.value("cards", 1);
  if (!facts.isEmulated) {
    answer.missing = document[std::string(facts.name)].value("missing", "");
    if (!answer.missing.empty())
      answer.gpus = 0;
  } else if (answer.gpus == 0) {
    answer.missing = "LSTMC_EMU_CARDS is 0";
  } else if (answer.gpus == kMaxDevices) {
    return fail(ErrorCode::E0001,
                "--ranks auto with -d emu:local: LSTMC_EMU_CARDS says how many emulated GPUs a "
                "host has; on {} it is not set",
                host);
  }
  return answer;
}

/// This machine too, whatever its names.
std::vector<launch::Host> eachOnce(const std::vector<launch::Host> &hosts) {
  std::vector<launch::Host> once;
  for (const launch::Host &host : hosts)
    if (std::ranges::none_of(once, [&](const launch::Host &known) {
          return known.name == host.name ||
                 (launch::isThisMachine(known.name) && launch::isThisMachine(host.name));
        }))
      once.push_back(host);
  return once;
}

/// With the environment that the ranks have.
std::vector<std::string> question(const launch::Start &start) {
  std::vector<std::string> words = {"env"};
  for (const auto &[name, value] : start.environment)
    words.push_back(fmt::format("{}={}", name, value));
  words.insert(words.end(), {ownProgram(), "devices", "--all", "--json"});
  return words;
}

} // namespace

bool asksForAutoRanks(const Options &options) { return options.ranks == "auto"; }

Result<std::vector<launch::Host>>
hostsByGpus(const Options &command, std::vector<launch::Host> hosts, const launch::Start &start) {
  const std::string list = fmt::format("{}", fmt::join(*command.devices, ","));
  const std::optional<DeviceKind> kind = localGpus(list);
  if (!kind)
    return fail(ErrorCode::E0001,
                "--ranks auto is a rank for each GPU: it wants -d gpu:local of what the ranks run, "
                "found -d {}",
                list);
  if (start.launcher != launch::Launcher::Local && start.launcher != launch::Launcher::Ssh)
    return fail(ErrorCode::E0001,
                "--ranks auto counts GPUs here or by ssh; for another launcher give their number");
  if (hosts.empty())
    hosts.push_back({kHere});
  hosts = eachOnce(hosts);
  std::vector<std::string> names;
  for (const launch::Host &host : hosts)
    names.push_back(host.name);
  const auto outputs = launch::outputsOn(names, start.sshPort, question(start));
  std::vector<std::string> missing;
  for (size_t i = 0; i < hosts.size(); ++i) {
    if (!outputs[i].ok())
      return fail(ErrorCode::E0801, "host {}: {}", names[i], outputs[i].error().message);
    LSTMC_ASSIGN(Answer answer, readAnswer(names[i], *outputs[i], *kind));
    hosts[i].slots = answer.gpus;
    if (answer.gpus == 0)
      missing.push_back(fmt::format("host {}: {}", names[i], answer.missing));
  }
  std::erase_if(hosts, [](const launch::Host &host) { return host.slots == 0; });
  if (hosts.empty())
    return fail(ErrorCode::E0501, "--ranks auto: no GPU on any host: {}; -n N with -d cpu would do",
                fmt::join(missing, "; "));
  return hosts;
}

} // namespace lstmc::cli
