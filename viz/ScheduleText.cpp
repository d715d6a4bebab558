#include "viz/ScheduleText.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "executor/abi/Devices.h"
#include "executor/base/NumberText.h"
#include "viz/Cost.h"
#include "viz/Schedule.h"

namespace lstmc::viz {

std::string launchTitle(const package::PackageData &package, const package::Launch &launch,
                        double seconds) {
  const package::Location &at = package.locations[launch.location];
  Work work = target::workOf(package, launch);
  std::string title(kernelRecord(launch.kernel).name);
  if (!at.op.empty())
    title += fmt::format(" of {}{}{}", at.op, at.name.empty() ? "" : " ", at.name);
  title += fmt::format(": {}, {} FLOP, {}", durationText(seconds), work.flops,
                       bytesText(uint64_t(std::max<int64_t>(work.bytes, 0))));
  std::string_view line = at.text;
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return at.line ? fmt::format("{}; {}:{}:{} {}", title, at.file, at.line, at.column, line) : title;
}

/// Thread number in a trace; every stream of a device has its own.
static int64_t laneOf(uint32_t device, uint32_t stream) {
  return 1 + int64_t(device) + int64_t(stream) * kMaxDevices;
}
static std::set<uint32_t> streamsOf(const package::DeviceProgram &program) {
  std::set<uint32_t> streams = {0};
  for (const package::Launch &launch : program.launches)
    streams.insert(launch.stream);
  return streams;
}

std::vector<MessageTime> messagesOf(const package::Entry &entry,
                                    const planning::EntryTimes &times) {
  std::map<int64_t, MessageTime> messages;
  for (size_t p = 0; p < entry.programs.size(); ++p)
    for (size_t i = 0; i < entry.programs[p].launches.size(); ++i) {
      const package::Launch &launch = entry.programs[p].launches[i];
      if (!isTransfer(launch.kernel))
        continue;
      const int64_t number = argumentsOf<TransferArguments>(launch).message;
      MessageTime &message = messages[number];
      message.number = number;
      bool sends = launch.kernel == KernelId::Send;
      (sends ? message.sender : message.receiver) = entry.programs[p].device;
      (sends ? message.sent : message.taken) = times.programs[p].launches[i].begin;
    }
  std::vector<MessageTime> list;
  for (const auto &[number, message] : messages)
    list.push_back(message);
  return list;
}

std::string scheduleTrace(const package::PackageData &package, const package::Entry &entry,
                          std::span<const Timeline> timelines) {
  using Json = nlohmann::ordered_json;
  std::string text;
  auto add = [&](const Json &event) {
    text +=
        (text.empty() ? "\n" : ",\n") + event.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  for (size_t t = 0; t < timelines.size(); ++t) {
    const planning::EntryTimes &times = timelines[t].times;
    add({{"name", "process_name"},
         {"ph", "M"},
         {"pid", t + 1},
         {"args", {{"name", entry.name + ", " + timelines[t].title}}}});
    for (size_t p = 0; p < entry.programs.size(); ++p) {
      const package::DeviceProgram &program = entry.programs[p];
      for (uint32_t stream : streamsOf(program)) {
        const std::string &device = package.devices[program.device].name;
        add({{"name", "thread_name"},
             {"ph", "M"},
             {"pid", t + 1},
             {"tid", laneOf(program.device, stream)},
             {"args", {{"name", stream ? fmt::format("{} stream {}", device, stream) : device}}}});
      }
      for (size_t i = 0; i < program.launches.size(); ++i) {
        const package::Launch &launch = program.launches[i];
        const planning::LaunchTime &time = times.programs[p].launches[i];
        const package::Location &at = package.locations[launch.location];
        add({{"name", fmt::format("{} {}", kernelRecord(launch.kernel).name,
                                  at.name.empty() ? at.op : at.name)},
             {"cat", "launch"},
             {"ph", "X"},
             {"ts", time.begin * 1e6},
             {"dur", (time.end - time.begin) * 1e6},
             {"pid", t + 1},
             {"tid", laneOf(program.device, launch.stream)},
             {"args", {{"at", launchTitle(package, launch, time.end - time.begin)}}}});
      }
    }
    for (const MessageTime &message : messagesOf(entry, times))
      for (bool sends : {true, false}) {
        Json event = {{"name", "message"},
                      {"cat", "transfer"},
                      {"ph", sends ? "s" : "f"},
                      {"id", message.number},
                      {"ts", (sends ? message.sent : message.taken) * 1e6},
                      {"pid", t + 1},
                      {"tid", (sends ? message.sender : message.receiver) + 1}};
        if (!sends)
          event["bp"] = "e";
        add(event);
      }
  }
  return "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[" + text + "\n]}\n";
}

} // namespace lstmc::viz
